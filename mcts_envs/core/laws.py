"""The laws of the contract, one function each, on kernels alone.

A law takes a game and a sample of its states (:mod:`mcts_envs.core.sampling`), and raises :class:`LawError`.
"""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numba.core.config import DISABLE_JIT

from mcts_envs.core.compiling.early import compile_at_once
from mcts_envs.core.contract import EVERYTHING, RUNNING, SIGNATURES, TRUNCATED, Game
from mcts_envs.core.known_laws import (
    chance_is_redrawn_and_nothing_known,
    keys_tell_apart_what_is_seen,
    settings_stay,
    what_is_hidden_is_redrawn,
    what_is_redrawn_can_be_played,
    what_is_to_come_is_drawn,
)
from mcts_envs.core.place import copy_except_rng, position_of, state_from_position
from mcts_envs.core.rng import CHANCE_BYTES
from mcts_envs.core.sampling import (
    LawError,
    Sample,
    active_players,
    legal_actions,
    plainly,
    require,
    seen,
    some,
    some_choice,
    stepped,
)
from mcts_envs.core.shown_laws import places_lie_on_the_picture, what_is_shown_can_be
from mcts_envs.core.typing import Bytes, Ints


def signatures(game: Game, sample: Sample | None = None) -> None:
    """Every kernel has the signature of the contract, in the game and in its variants."""
    for owner in (game, *(game.variant(name) for name in game.variants)):
        for name, signature in SIGNATURES.items():
            function = getattr(owner, name)
            found = signature if DISABLE_JIT else getattr(function, "declared", "no kernel")
            require(
                found == signature, "signatures", f"{name} is {found}, not {signature}: use @kernel({name.upper()})"
            )


def arrays_have_ends(game: Game, sample: Sample) -> None:
    """No kernel goes beyond an array, whatever the action: compiled code checks no index."""
    plain = game.interpreted()
    with plainly():
        for state in (*some(sample.states), *sample.ends):
            for _, look in _looks(plain, state):
                look(state.copy())
            for observer in (EVERYTHING, *active_players(plain, state)):
                plain.determinize(state.copy(), observer, np.uint64(7))
            for player in active_players(plain, state):
                plain.legal(state.copy(), player, np.zeros(game.actions, np.int64))  # with no more room than in play
            for action in {0, game.actions // 2, game.actions - 1}:
                stepped(plain, state, np.full(game.players, action, np.int64))


def those_who_are_to_choose_can(game: Game, sample: Sample) -> None:
    """Whoever is to choose is a player and has not ended; several are only in games that say so."""
    law = "who is to choose"
    for state in (*sample.states, *sample.ends):
        bits, players = game.active(state), active_players(game, state)
        require(bits >> game.players == 0, law, f"active gave {bits:#b}, and there are players 0 to {game.players - 1}")
        ended = [player for player in players if game.status(state, player) != RUNNING]
        require(not ended, law, f"players {ended} are to choose and have ended")
        told = game.simultaneous or len(players) <= 1
        require(told, law, f"players {players} choose at the same time: make the Game with simultaneous=True")


def same_seed_same_game(game: Game, sample: Sample) -> None:
    """Seed and actions decide everything, and a reset leaves nothing of the game before."""
    for seed, choices, end in zip(sample.seeds, sample.choices, sample.ends, strict=True):
        state, rewards = sample.ends[0].copy(), np.zeros(game.players)
        game.reset(state, np.uint64(seed))
        for actions in choices:
            game.step(state, actions, rewards)
        same = np.array_equal(state, end)
        cure = "reset sets every field, and chance comes from mcts_envs.core.rng alone"
        require(same, "same seed, same game", f"seed {seed} ended differently the second time; {cure}")


def each_seed_has_its_own_chance(game: Game, sample: Sample | None = None) -> None:
    """``reset`` starts the random stream from its seed: else every die would be the same in all games."""
    law, streams = "each seed has its own chance", dict[bytes, int]()
    for seed in (0, 1, 2**32, 2**63):
        state = game.new_state()
        game.reset(state, np.uint64(seed))
        stream = state[:8].tobytes()
        require(any(stream), law, f"seed {seed} leaves a stream of zeros; call seed_stream(state, seed) in reset")
        other = streams.setdefault(stream, seed)
        require(other == seed, law, f"seeds {other} and {seed} start the same stream; call seed_stream(state, seed)")


def looking_changes_nothing(game: Game, sample: Sample) -> None:
    """Only ``reset``, ``step`` and ``determinize`` write to a state."""
    for state in some(sample.states):
        for name, look in _looks(game, state):
            looked_at = state.copy()
            look(looked_at)
            require(np.array_equal(looked_at, state), "looking changes nothing", f"{name} wrote to the state")


def _looks(game: Game, state: Bytes) -> Iterator[tuple[str, Callable[[Bytes], Any]]]:
    """Yield each call of a kernel that reads a state, with its name: one by one, as two may undo what they write."""
    yield "active", game.active
    yield "outcome", lambda looked_at: game.outcome(looked_at, np.zeros(game.players))
    yield "evaluate", lambda looked_at: game.evaluate(looked_at, np.zeros(game.players))
    yield "key", lambda looked_at: game.key(looked_at, EVERYTHING)
    for player in range(game.players):
        yield "key", partial(lambda player, looked_at: game.key(looked_at, player), player)
        yield "status", partial(lambda player, looked_at: game.status(looked_at, player), player)
        yield "observe", partial(lambda player, looked_at: seen(game, looked_at, player), player)
    for player in active_players(game, state.copy()):
        yield "legal", partial(lambda player, looked_at: legal_actions(game, looked_at, player), player)
        weights = np.zeros(game.actions)
        yield "advise", partial(lambda player, into, looked_at: game.advise(looked_at, player, into), player, weights)


def rewards_are_finite(game: Game, sample: Sample) -> None:
    """Every step sets every reward, and pays no NaN and nothing without bound."""
    cure = "it sets every reward, those of 0 too: they come in as the step before left them"
    for seed, choices in zip(sample.seeds, sample.choices, strict=True):
        state = game.new_state()
        game.reset(state, np.uint64(seed))
        for t, actions in enumerate(choices, 1):
            state, rewards = stepped(game, state, actions)
            require(np.isfinite(rewards).all(), "rewards are finite", f"step {t} of seed {seed} paid {rewards}; {cure}")


def copies_are_independent(game: Game, sample: Sample) -> None:
    """Stepping a copy leaves the source as it was, and two copies have the same future."""
    for state in sample.states:
        before, actions = state.copy(), some_choice(game, state)
        chosen = actions.copy()
        first, first_rewards = stepped(game, state, actions)
        require(np.array_equal(actions, chosen), "copies are independent", f"step changed its actions {chosen}")
        second, second_rewards = stepped(game, state, actions)
        require(np.array_equal(state, before), "copies are independent", "stepping a copy changed the source")
        same = np.array_equal(first, second) and np.array_equal(first_rewards, second_rewards, equal_nan=True)
        require(same, "copies are independent", "the same actions on two copies gave different futures")


def legal_actions_are_sound(game: Game, sample: Sample) -> None:
    """Any action in range is survived, where it is illegal too."""
    for state in sample.states:
        for player in active_players(game, state):
            for action in {0, game.actions // 2, game.actions - 1}:
                actions = some_choice(game, state)
                actions[player] = action
                _, rewards = stepped(game, state, actions)
                require(np.isfinite(rewards).all(), "rewards", f"action {action} gave {rewards}")


def only_those_who_choose_act(game: Game, sample: Sample) -> None:
    """A step heeds the actions of those who are to choose: what stands in the places of others is left from before."""
    cure = "read actions[player] of whom active names"
    for state in sample.states:
        players, actions = active_players(game, state), some_choice(game, state)
        after, paid = stepped(game, state, actions)
        for idle in set(range(game.players)) - set(players):
            for action in {legal_actions(game, state, players[0])[0], game.actions - 1}:
                actions[idle] = action
                again, paid_again = stepped(game, state, actions)
                same = np.array_equal(again, after) and np.array_equal(paid_again, paid, equal_nan=True)
                told = f"players {players} are to choose, and the action of player {idle} changed what came"
                require(same, "only those who choose act", f"{told}; {cure}")


def observations_are_in_their_space(game: Game, sample: Sample) -> None:
    """Observations are complete, finite and within their bounds, in the game and in its variants."""
    for owner in (game, *(game.variant(name) for name in game.variants)):
        for state in (*sample.states[::5], *sample.ends):
            for player in range(game.players):
                out = seen(owner, state, player)
                low, high = owner.observation_low, owner.observation_high
                told = f"{out} of player {player} leaves its bounds or has gaps; observation_low is {low}, "
                inside = (out >= low).all() and (out <= high).all()
                require(inside, "observations", f"{told}observation_high {high}, and NaN is what observe did not set")


def symmetries_keep_what_is_legal(game: Game, sample: Sample) -> None:
    """A state that looks the same when it is turned has the same legal actions, turned."""
    for looks, turned in game.symmetries:
        for state in sample.states:
            for player in active_players(game, state):
                shown = seen(game, state, player)
                if np.array_equal(looks(shown[None])[0] if callable(looks) else shown[np.asarray(looks)], shown):
                    legal = legal_actions(game, state, player)
                    same = set(np.asarray(turned)[legal].tolist()) == set(legal.tolist())
                    require(same, "symmetries keep what is legal", f"{legal.tolist()} are others when they are turned")


def heuristics_are_finite(game: Game, sample: Sample) -> None:
    """``evaluate`` is finite; ``advise`` is finite and not negative."""
    for state in sample.states:
        values = np.full(game.players, np.nan)
        game.evaluate(state, values)
        require(np.isfinite(values).all(), "evaluate", f"gave {values}")
        for player in active_players(game, state):
            weights = np.full(game.actions, np.nan)
            game.advise(state, player, weights)
            require((weights >= 0).all() and np.isfinite(weights).all(), "advise", f"gave {weights}")


def the_end_is_absorbing(game: Game, sample: Sample) -> None:
    """After the end nothing happens and nothing is paid, to a player whose own end came early as well."""
    for seed, choices, end in zip(sample.seeds, sample.choices, sample.ends, strict=True):
        state = game.new_state()
        game.reset(state, np.uint64(seed))
        over, points = np.zeros(game.players, np.bool_), np.zeros(game.players)
        for actions in choices:
            state, points = stepped(game, state, actions)
            paid = points[over].any()
            require(not paid, "the end is paid once", f"rewards {points} for players who had ended: {over}")
            over = np.array([game.status(state, player) != RUNNING for player in range(game.players)])
        cure = "active returns 1 << player, a bit for each who is to choose, and 0 after the end alone"
        require(over.all(), "the end", f"nobody is to choose, but only these have ended: {over}; {cure}")
        after, rewards = stepped(game, end, np.zeros(game.players, np.int64))
        require(np.array_equal(after, end), "the end is absorbing", "a step after the end changed the state")
        require(not rewards.any(), "the end is absorbing", f"a step after the end paid {rewards}")
        game.outcome(end, points)
        require((points >= 0).all() and (points <= 1).all(), "outcome", f"points {points} are not in [0, 1]")
        same = all(len(set(points[list(team)])) == 1 for team in game.teams)
        require(same, "outcome", f"points {points} are not those of teams {game.teams}, who win and lose together")
        require(all(0 <= game.status(end, p) <= TRUNCATED for p in range(game.players)), "status", "unknown value")


def positions_come_back(game: Game, sample: Sample) -> None:
    """A position is JSON-able and sets up the same state, but for chance."""
    if game.position is None:
        return
    own = game.position(sample.states[0])
    require("dice" not in own, "positions come back", "a position has 'dice', which are forced dice; name it otherwise")
    for state in sample.states:
        try:
            position = json.loads(json.dumps(position_of(game, state)))
        except TypeError as error:
            raise LawError(f"positions come back: {error}; int(...) makes a number, and tolist() a list") from error
        again = state.copy()
        copy_except_rng(again, state_from_position(game, position))
        same = np.array_equal(again[CHANCE_BYTES:], state[CHANCE_BYTES:])
        require(same, "positions come back", f"reset from {position} gave another state")


def compiled_equals_interpreted(game: Game, sample: Sample) -> None:
    """Compiled and interpreted kernels give the same bytes and numbers, in the variants too, and overflow nowhere."""
    compile_at_once()
    with plainly():
        _compare_modes(game, sample)


def _compare_modes(game: Game, sample: Sample) -> None:
    plain = game.interpreted()
    for seed, choices in zip(sample.seeds, sample.choices, strict=True):
        state, other = game.new_state(), game.new_state()
        game.reset(state, np.uint64(seed))
        plain.reset(other, np.uint64(seed))
        _compare_readers(game, plain, state, other)
        for actions in choices:
            state, other = _compare_steps(game, plain, state, other, actions)
    for name in game.variants:
        owner = game.variant(name)
        plain = owner.interpreted()
        for state in some(sample.states):
            _compare_steps(owner, plain, state, state, some_choice(owner, state))


def _compare_steps(game: Game, plain: Game, state: Bytes, other: Bytes, actions: Ints) -> tuple[Bytes, Bytes]:
    """Step a state compiled and another interpreted; return both after comparing everything that can be read."""
    state, rewards = stepped(game, state, actions)
    other, other_rewards = stepped(plain, other, actions)
    law, cure = "compiled equals interpreted", "compiled, globals are constants; what changes is a field"
    require(np.array_equal(rewards, other_rewards), law, f"step paid {rewards} and {other_rewards}; {cure}")
    _compare_readers(game, plain, state, other)
    return state, other


def _compare_readers(game: Game, plain: Game, state: Bytes, other: Bytes) -> None:
    law = "compiled equals interpreted"
    require(np.array_equal(state, other), law, "states differ after the same actions")
    require(game.active(state) == plain.active(state), law, "active differs")
    for fill in ("evaluate", "outcome"):
        values, others = np.zeros(game.players), np.zeros(game.players)
        getattr(game, fill)(state, values)
        getattr(plain, fill)(state, others)
        require(np.array_equal(values, others), law, f"{fill} gave {values} and {others}")
    for player in range(game.players):
        require(game.status(state, player) == plain.status(state, player), law, "status differs")
        require(np.array_equal(seen(game, state, player), seen(plain, state, player)), law, "observe differs")
    for player in active_players(game, state):
        same = np.array_equal(legal_actions(game, state, player), legal_actions(plain, state, player))
        require(same, law, "legal differs")
        require(game.key(state, player) == plain.key(state, player), law, "key differs")
        weights, theirs = np.zeros(game.actions), np.zeros(game.actions)
        game.advise(state, player, weights)
        plain.advise(state, player, theirs)
        require(np.array_equal(weights, theirs), law, "advise differs")
        redrawn, likewise = state.copy(), state.copy()
        game.determinize(redrawn, player, np.uint64(7))
        plain.determinize(likewise, player, np.uint64(7))
        require(np.array_equal(redrawn, likewise), law, "determinize differs")


LAWS: tuple[Callable[[Game, Sample], None], ...] = (
    signatures,
    arrays_have_ends,
    those_who_are_to_choose_can,
    same_seed_same_game,
    each_seed_has_its_own_chance,
    looking_changes_nothing,
    rewards_are_finite,
    copies_are_independent,
    legal_actions_are_sound,
    only_those_who_choose_act,
    settings_stay,
    observations_are_in_their_space,
    chance_is_redrawn_and_nothing_known,
    what_is_hidden_is_redrawn,
    what_is_to_come_is_drawn,
    what_is_redrawn_can_be_played,
    keys_tell_apart_what_is_seen,
    symmetries_keep_what_is_legal,
    heuristics_are_finite,
    the_end_is_absorbing,
    positions_come_back,
    what_is_shown_can_be,
    places_lie_on_the_picture,
    compiled_equals_interpreted,
)
"""Every law on kernels, cheapest first."""
