"""Every law, and everything that it requires, has a game that breaks it."""

import ast
import inspect
import traceback
import warnings
from dataclasses import fields, replace

import numpy as np
import pytest

from mcts_envs.core import known_laws, laws, sampling, shown_laws
from mcts_envs.core.contract import Game
from mcts_envs.core.kernel import record
from mcts_envs.core.render import Canvas
from mcts_envs.core.rng import CHANCE_BYTES
from mcts_envs.core.sampling import LawError, sample
from tests.toys import STAKES, stakes

GAME = stakes(goal=20)
PLAYED = sample(GAME, 2, 1_000, 0)
UNUSED = CHANCE_BYTES - 1
"""A byte of the state, the last forced die, that changes no game."""


def mark(state, *rest):
    state[UNUSED] += 1


def a_hundred_and_one(state, player, actions):
    for i in range(101):
        actions[i] = 0
    return 101


def then(name, more):
    """Return the kernel of this name, and after it something else with the same arguments."""

    def changed(*arguments):
        result = getattr(GAME, name)(*arguments)
        more(*arguments)
        return result

    return changed


def after_the_end(more):
    """Return a step that does something else once the game is over."""

    def step(state, actions, rewards):
        over = GAME.active(state) == 0
        GAME.step(state, actions, rewards)
        if over:
            more(state, rewards)

    return step


def reset_but_for_the_clock(state, seed):
    t = record(state, STAKES).t
    GAME.reset(state, seed)
    record(state, STAKES).t = t


def one_action_twice(state, player, actions):
    actions[:2] = 0
    return 2


def leave_a_chip(state, observer, seed):
    record(state, STAKES).chips[observer] = 1


def pass_the_turn(state, observer, seed):
    record(state, STAKES).turn ^= 1


def draw_the_same(state, observer, seed):
    GAME.determinize(state, observer, np.uint64(3))


def take_all_chips(state, observer, seed):
    GAME.determinize(state, observer, seed)
    record(state, STAKES).chips[:] = 0


def beyond(state, player, actions):
    return actions[len(actions)]


def a_place_too_many(state, player, actions):
    actions[GAME.actions] = 0
    return GAME.legal(state, player, actions)


def the_first_alone(state, player, actions):
    actions[0] = 0
    return 1


def forget_the_actions(state, actions, rewards):
    GAME.step(state, actions, rewards)
    actions[:] = 0


def key_of_the_clock(state, observer):
    return np.uint64(record(state, STAKES).t)


def empty_the_dice(state, observer, seed):
    state[8] = 0


def place_at_the_start(state, position):
    GAME.place(state, {**position, "t": 0})


def step_into_the_past(state, actions, rewards):
    GAME.step(state, actions, rewards)
    for source in PLAYED.states:
        mark(source)


PAID = []


def step_that_pays_more_each_time(state, actions, rewards):
    GAME.step(state, actions, rewards)
    PAID.append(1)
    rewards += len(PAID)


def blind(state, observer):
    return np.uint64(0)


def nothing(*arguments):
    return 0


def games_can_be_played(game, played):
    sample(game, 1, 50, 0)


def obey_player_0(state, actions, rewards):
    GAME.step(state, np.full_like(actions, actions[0]), rewards)


def turn_the_board(state, player, out):
    """Change what a second look changes back."""
    GAME.observe(state, player, out)
    state[UNUSED] ^= 1


def pay_what_is_hidden(state, actions, rewards):
    rewards[:] = state[UNUSED]


def reset_and_hide(state, seed):
    GAME.reset(state, seed)
    state[UNUSED] = seed % 2


BROKEN = [
    (games_can_be_played, "games begin: nobody is to choose after reset", {"active": nothing}),
    (games_can_be_played, "games end: one was not over after 50 steps", {"step": nothing}),
    (games_can_be_played, "can: player 0 has no legal action", {"legal": nothing}),
    (games_can_be_played, "legal actions: player 0 has 9, and the game 3", {"legal": lambda *arguments: 9}),
    (games_can_be_played, "legal actions: player 0 has 101, and the game 3", {"legal": a_hundred_and_one}),
    (games_can_be_played, "legal actions: player 0 has -1, and the game 3", {"legal": lambda *arguments: -1}),
    (games_can_be_played, r"player 0 has \[0 0\], not distinct and in 0 .. 2", {"legal": one_action_twice}),
    (laws.arrays_have_ends, r"arrays have ends: test_laws.py:\d+: index 4099 is out of bounds", {"legal": beyond}),
    (laws.arrays_have_ends, r"index 3 is out of bounds for axis 0 with size 3", {"legal": a_place_too_many}),
    (laws.signatures, "step is no kernel, not .*: use @kernel", {"step": GAME.step.py_func}),
    (
        laws.those_who_are_to_choose_can,
        "active gave 0b1001, and there are players 0 to 2",
        {"active": lambda state: GAME.active(state) | 8},
    ),
    (laws.those_who_are_to_choose_can, r"players \[0\] are to choose and have ended", {"status": lambda *arguments: 1}),
    (
        laws.those_who_are_to_choose_can,
        r"players \[0, 1\] choose at the same time: make",
        {"active": lambda state: 3 * (GAME.active(state) != 0)},
    ),
    (laws.same_seed_same_game, "seed 0 ended differently", {"reset": reset_but_for_the_clock}),
    (laws.each_seed_has_its_own_chance, "seed 0 leaves a stream of zeros", {"reset": nothing}),
    (
        laws.each_seed_has_its_own_chance,
        "seeds 0 and 1 start the same stream",
        {"reset": lambda state, seed: GAME.reset(state, np.uint64(3))},
    ),
    *(
        (laws.looking_changes_nothing, f"{name} wrote to the state", {name: then(name, mark)})
        for name in ("active", "legal", "status", "outcome", "key", "evaluate", "advise", "observe")
    ),
    (laws.looking_changes_nothing, "observe wrote to the state", {"observe": turn_the_board}),
    (
        laws.rewards_are_finite,
        r"rewards are finite: step 1 of seed 0 paid \[nan",
        {"step": then("step", lambda state, actions, rewards: rewards.fill(np.nan))},
    ),
    (laws.rewards_are_finite, "paid .nan nan nan.; it sets every reward", {"step": nothing}),
    (laws.copies_are_independent, r"step changed its actions \[2 0 0\]", {"step": forget_the_actions}),
    (laws.copies_are_independent, "stepping a copy changed the source", {"step": step_into_the_past}),
    (laws.copies_are_independent, "gave different futures", {"step": step_that_pays_more_each_time}),
    (
        laws.legal_actions_are_sound,
        "action 0 gave .*inf",
        {"step": then("step", lambda state, actions, rewards: rewards.fill(np.inf))},
    ),
    (
        laws.only_those_who_choose_act,
        r"players \[1\] are to choose, and the action of player 0 changed what came; read actions\[player\]",
        {"step": obey_player_0},
    ),
    (
        known_laws.chance_is_redrawn_and_nothing_known,
        "the key depends on forced dice",
        {"key": lambda state, observer: state[8]},
    ),
    (known_laws.chance_is_redrawn_and_nothing_known, "forced dice in the queue", {"determinize": nothing}),
    (known_laws.chance_is_redrawn_and_nothing_known, "random stream as it was", {"determinize": empty_the_dice}),
    (known_laws.chance_is_redrawn_and_nothing_known, "the same chance by two seeds", {"determinize": draw_the_same}),
    (
        known_laws.chance_is_redrawn_and_nothing_known,
        "player 0's key says that something is hidden: it is not that of -1",
        {"key": lambda state, observer: np.uint64(observer + 1)},
    ),
    (known_laws.what_is_redrawn_can_be_played, "for player 0: .* no legal action", {"determinize": take_all_chips}),
    (
        known_laws.chance_is_redrawn_and_nothing_known,
        "key changed",
        {"determinize": then("determinize", pass_the_turn)},
    ),
    (
        known_laws.chance_is_redrawn_and_nothing_known,
        "legal actions changed",
        {"determinize": then("determinize", leave_a_chip), "key": blind},
    ),
    (
        known_laws.chance_is_redrawn_and_nothing_known,
        "the observation changed",
        {"determinize": then("determinize", pass_the_turn), "key": blind},
    ),
    (
        known_laws.settings_stay,
        "the fields in front of first_field 't' are settings, and reset or step wrote to them",
        {"template": stakes(goal=19).template, "layout": STAKES, "first_field": "t"},
    ),
    (
        known_laws.what_is_hidden_is_redrawn,
        r"players \[0, 1, 2\] have keys that are not that of -1, and determinize changed nothing",
        {"key": lambda state, observer: np.uint64(observer + 1)},
    ),
    (
        known_laws.what_is_to_come_is_drawn,
        "two states with the same key of -1 come to different ones by the same actions; let determinize redraw",
        {"reset": reset_and_hide, "step": pay_what_is_hidden},
    ),
    (laws.observations_are_in_their_space, "leaves its bounds or has gaps", {"observe": nothing}),
    (known_laws.keys_tell_apart_what_is_seen, "sees two states apart", {"key": blind}),
    (known_laws.keys_tell_apart_what_is_seen, "sees two states apart", {"key": key_of_the_clock}),
    (
        known_laws.keys_tell_apart_what_is_seen,
        "has other legal actions in two states",
        {"key": blind, "observe": lambda state, player, out: out.fill(0.0)},
    ),
    (
        laws.symmetries_keep_what_is_legal,
        "are others when they are turned",
        {"symmetries": (((0, 1, 2, 3), (2, 1, 0)),)},
    ),
    (laws.heuristics_are_finite, "evaluate: gave", {"evaluate": lambda state, values: values.fill(np.inf)}),
    (laws.heuristics_are_finite, "advise: gave", {"advise": lambda state, player, weights: weights.fill(-1.0)}),
    (
        laws.the_end_is_absorbing,
        "for players who had ended",
        {"step": then("step", lambda state, actions, rewards: rewards.fill(1.0))},
    ),
    (laws.the_end_is_absorbing, "only these have ended", {"status": nothing}),
    (laws.the_end_is_absorbing, "after the end changed the state", {"step": after_the_end(mark)}),
    (
        laws.the_end_is_absorbing,
        "after the end paid",
        {"step": after_the_end(lambda state, rewards: rewards.fill(1.0))},
    ),
    (laws.the_end_is_absorbing, r"are not in \[0, 1\]", {"outcome": lambda state, points: points.fill(2.0)}),
    (laws.the_end_is_absorbing, r"are not those of teams \(\(0, 1, 2\),\)", {"teams": ((0, 1, 2),)}),
    (
        laws.the_end_is_absorbing,
        "status: unknown value",
        {"status": lambda state, player: 3 * GAME.status(state, player)},
    ),
    (laws.positions_come_back, "gave another state", {"place": place_at_the_start}),
    (
        laws.positions_come_back,
        r"Object of type int64 is not JSON serializable; int\(...\) makes a number",
        {"position": lambda state: {**GAME.position(state), "turn": record(state, STAKES).turn}},
    ),
    (
        laws.positions_come_back,
        "a position has 'dice'",
        {"position": lambda state: {**GAME.position(state), "dice": []}},
    ),
    (shown_laws.what_is_shown_can_be, "text gave NoneType, not str", {"text": lambda state: None}),
    (shown_laws.what_is_shown_can_be, "text or picture wrote", {"text": lambda state: mark(state) or ""}),
    (shown_laws.what_is_shown_can_be, r"action_name\(0\) gave 0, not a str", {"action_name": int}),
    (
        shown_laws.places_lie_on_the_picture,
        "there is where, but no picture",
        {"where": lambda state, player, action: None, "picture": None},
    ),
    (
        shown_laws.places_lie_on_the_picture,
        r"action 0 is at \(99, 0, 1, 1\), the picture",
        {"where": lambda state, player, action: (99, 0, 1, 1)},
    ),
]


class TwoForms(Game):
    """A game whose interpreted form is another game."""

    other: Game

    def interpreted(self):
        return self.other


def two_forms(**changes):
    game = TwoForms(**{f.name: getattr(GAME, f.name) for f in fields(Game)})
    object.__setattr__(game, "other", replace(GAME, **changes))
    return game


INTERPRETED = [
    ("step paid", {"step": step_that_pays_more_each_time}),
    ("states differ after the same actions", {"step": then("step", mark)}),
    ("active differs", {"active": lambda state: 8}),
    ("evaluate gave", {"evaluate": lambda state, values: values.fill(5.0)}),
    ("outcome gave", {"outcome": lambda state, points: points.fill(5.0)}),
    ("status differs", {"status": lambda state, player: 8}),
    ("observe differs", {"observe": nothing}),
    ("legal differs", {"legal": the_first_alone}),
    ("key differs", {"key": blind}),
    ("advise differs", {"advise": lambda state, player, weights: weights.fill(5.0)}),
    ("determinize differs", {"determinize": empty_the_dice}),
    ("interpreted, a kernel fails: .*negative number for np.uint64", {"active": lambda state: np.uint64(-1)}),
    ("interpreted, a kernel warns: too much", {"active": lambda state: warnings.warn("too much", stacklevel=1)}),
]

EXAMPLES = [
    *((law, message, replace(GAME, **changes)) for law, message, changes in BROKEN),
    *((laws.compiled_equals_interpreted, message, two_forms(**changes)) for message, changes in INTERPRETED),
]


@pytest.mark.parametrize(("law", "message", "game"), EXAMPLES, ids=[message for _, message, _ in EXAMPLES])
def test_a_law_refuses(law, message, game):
    with pytest.raises(LawError, match=message):
        law(game, PLAYED)


@pytest.mark.parametrize("law", laws.LAWS)
def test_a_law_lets_the_game_itself_pass(law):
    law(GAME, PLAYED)


class Paper(Canvas):
    """A picture of a class of its own."""


@pytest.mark.parametrize("law", [shown_laws.what_is_shown_can_be, shown_laws.places_lie_on_the_picture])
def test_what_is_shown_may_be_of_a_kind_of_its_own_and_ask_for_the_seat(law):
    shown = {"text": lambda state: np.str_("dice"), "picture": lambda state, seat: Paper(9, 9)}
    law(replace(GAME, where=lambda state, player, action: (0, 0, 1, 1), **shown), PLAYED)


def test_every_law_and_all_that_it_requires_has_a_counter_example():
    assert {law for law, *_ in EXAMPLES} - {games_can_be_played} == set(laws.LAWS)
    refused = set()
    for law, _, game in EXAMPLES:
        with pytest.raises(LawError) as error:
            law(game, PLAYED)
        frames = [frame for frame in traceback.extract_tb(error.value.__traceback__) if frame.name != "require"]
        refused.add((frames[-1].name, frames[-1].lineno))
    required = {
        (function.name, node.lineno)
        for module in (known_laws, laws, sampling, shown_laws)
        for function in ast.parse(inspect.getsource(module)).body
        if isinstance(function, ast.FunctionDef) and function.name != "require"
        for node in ast.walk(function)
        if isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and ast.unparse(node.func) == "require")
    }
    assert refused == required
