"""What players remember of what the fog has covered: seen, kept, told apart, redrawn around, and written down."""

import numpy as np
import pytest

import mcts_envs
from mcts_envs.core.kernel import record, row
from mcts_envs.core.place import state_from_position
from mcts_envs.games.bomber_grid.original import as_dict
from mcts_envs.games.bomber_grid.playground import Memory, from_observation
from mcts_envs.games.bomber_grid.position import cells_of, position
from mcts_envs.games.bomber_grid.rules.layout import STATE, WIDTH
from mcts_envs.games.bomber_grid.rules.memory import MEMORY, START, forget_all
from mcts_envs.games.bomber_grid.rules.sight import window
from mcts_envs.games.bomber_grid.spec import bomber_grid
from tests.games.bomber_grid.situations import disguise, some_states

TEAM = {"mode": "team", "view": 4, "blast_cap": 4}
SETTINGS = [TEAM, {"mode": "radio", "view": 2, "collapse": (30, 45)}, {"view": 1}]


def memory(state, player):
    return row(state[START:], player, MEMORY)


def played(game, seed, steps, weights_of_chance=0.02):
    """Yield the states of a game between rule-based players, some of whose moves are random."""
    rng, state = np.random.default_rng(seed), game.new_state()
    weights, rewards = np.zeros(game.actions), np.zeros(game.players)
    game.reset(state, np.uint64(seed))
    for _ in range(steps):
        yield state
        actions = np.zeros(game.players, np.int64)
        for player in range(game.players):
            game.advise(state, player, weights)
            weights += weights_of_chance
            actions[player] = rng.choice(game.actions, p=weights / weights.sum())
        game.step(state, actions, rewards)
        if not game.active(state):
            return


def seen(game, state, player):
    out = np.zeros(game.observation_shape, np.float32)
    game.observe(state, player, out.reshape(-1))
    return out


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS[:2])
def test_every_law(settings):
    mcts_envs.check_game("mcts_envs/Bomber-v0", episodes=1, memory=True, **settings)


def test_without_memory_all_is_as_it_was():
    """The memory lies behind the state: the same games are played, and the variant forgetful knows nothing of it."""
    plain, game = bomber_grid(**TEAM), bomber_grid(memory=True, **TEAM)
    forgetful = game.variant("forgetful")
    assert plain.template.size == START
    for ours, theirs in zip(played(game, 3, 150), played(plain, 3, 150), strict=True):
        assert np.array_equal(ours[:START], theirs)
        for player in range(4):
            assert forgetful.key(ours, player) == plain.key(theirs, player)
            a, b = ours.copy(), theirs.copy()
            forgetful.determinize(a, player, np.uint64(5))
            plain.determinize(b, player, np.uint64(5))
            assert np.array_equal(a[:START], b)


def in_plain_words(seen, before):
    """Return what a player remembers after an observation of the original, worked out from the dictionaries alone."""
    step, board = seen["step_count"], seen["board"].astype(int)
    shown = board != 5
    codes = np.where(shown, np.where((board == 3) | (board == 4) | (board >= 10), 0, board), before["codes"])
    bombs = {cell: (life - 1, strength) for cell, (life, strength) in before["bombs"].items() if life > 1}
    bombs = {cell: of for cell, of in bombs.items() if not shown[cell]}
    for cell in zip(*np.nonzero((seen["bomb_life"] > 0) & (seen["bomb_moving_direction"] == 0)), strict=True):
        bombs[cell] = (int(seen["bomb_life"][cell]), int(seen["bomb_blast_strength"][cell]))
    flames = {cell: life - 1 for cell, life in before["flames"].items() if life > 0 and not shown[cell]}
    flames |= {cell: int(seen["flame_life"][cell]) - 1 for cell in zip(*np.nonzero(seen["flame_life"]), strict=True)}
    last = dict(before["last"])
    for player in range(4):
        for cell in zip(*np.nonzero(board == 10 + player), strict=True):
            last[player] = (*map(int, cell), step)
    return {"codes": codes, "bombs": bombs, "flames": flames, "last": last}


@pytest.mark.parametrize("settings", [TEAM, {"view": 2}])
def test_the_memory_is_what_was_seen_last(settings):
    game = bomber_grid(memory=True, **settings)
    original, homes, fogged = game.variant("original"), ((1, 1), (9, 1), (9, 9), (1, 9)), 0
    for seed in range(3):
        start = {"codes": np.full((11, 11), 5), "bombs": {}, "flames": {}}
        minds = [start | {"last": {p: (*home, 0) for p, home in enumerate(homes)}} for _ in range(4)]
        for state in played(game, seed, 200):
            told = position(state)["memory"]
            for player in range(4):
                dictionary = as_dict(seen(original, state, player))
                mind = minds[player] = in_plain_words(dictionary, minds[player])
                found = told[player]
                assert found["board"] == mind["codes"].tolist()
                assert {(r, c): (life, strength) for r, c, _, life, strength in found["bombs"]} == mind["bombs"]
                assert {(r, c): life for r, c, life in found["flames"]} == mind["flames"]
                assert found["last"] == [list(mind["last"][p]) for p in range(4)]
                fogged += sum(dictionary["board"][cell] == 5 for cell in mind["bombs"])
    assert fogged > 20


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_player_never_forgets_a_cell(settings):
    game = bomber_grid(memory=True, **settings)
    known = [set() for _ in range(4)]
    for state in played(game, 1, 100):
        for player in range(4):
            now = cells_of(memory(state, player).known)
            assert now >= known[player] | cells_of(window(state, player))
            known[player] = now
    assert max(map(len, known)) > 16


def changed_in_the_fog(state, player, rng):
    """Return a state that looks the same to a player who remembers; the others remember something else."""
    other = disguise(state, player, rng)
    for mate in range(4):
        if mate != player:
            forget_all(other, mate)
    return other


@pytest.mark.parametrize("settings", SETTINGS)
def test_what_is_hidden_and_not_remembered_changes_nothing(settings):
    """No clairvoyance: key, observation and every redrawn state are the same whatever the truth in the fog is."""
    game, rng, differ = bomber_grid(memory=True, **settings), np.random.default_rng(1), 0
    remembered = game.variant("memory")
    for state in some_states(game, 30):
        for player in range(4):
            if not game.active(state) >> player & 1:
                continue
            other = changed_in_the_fog(state, player, rng)
            differ += game.key(other, -1) != game.key(state, -1)
            assert game.key(other, player) == game.key(state, player)
            assert np.array_equal(seen(remembered, other, player), seen(remembered, state, player))
            for seed in range(3):
                ours, theirs = state.copy(), other.copy()
                game.determinize(ours, player, np.uint64(seed))
                game.determinize(theirs, player, np.uint64(seed))
                assert np.array_equal(seen(remembered, ours, player), seen(remembered, state, player))
                assert game.key(ours, player) == game.key(state, player)
                alive = record(state, STATE).alive
                for redrawn in (ours, theirs):  # where the dead lie is of no account
                    record(redrawn, STATE).stands[[p for p in range(4) if not alive >> p & 1]] = 0
                assert np.array_equal(ours, theirs)
    assert differ > 50


@pytest.mark.parametrize("settings", SETTINGS)
def test_what_is_remembered_is_not_redrawn(settings):
    game, kept, near, far = bomber_grid(memory=True, **settings), 0, 0, 0
    for number, state in enumerate(some_states(game, 40, seed=2)):
        for player in range(4):
            if not game.active(state) >> player & 1:
                continue
            redrawn = state.copy()
            game.determinize(redrawn, player, np.uint64(number))
            s, m, sight = record(redrawn, STATE), memory(state, player), cells_of(window(state, player))
            stands = {divmod(int(s.stands[p]), WIDTH) for p in range(4)}
            covered = cells_of(m.known) - sight - stands
            assert cells_of(s.rigid) & covered == cells_of(m.rigid) & covered
            assert cells_of(s.wood) & covered == cells_of(m.wood) & covered
            lain = {divmod(int(s.bomb_cell[b]), WIDTH): b for b in range(s.n_bombs)}
            for cell in cells_of(m.bombs) - sight:
                bomb, place = lain[cell], WIDTH * cell[0] + cell[1]
                assert (s.bomb_life[bomb], s.bomb_strength[bomb]) == (m.life[place], m.strength[place])
                assert (s.bomb_owner[bomb] == player) == (cell in cells_of(m.mine))
                kept += 1
            for other in range(4):
                cell = divmod(int(s.stands[other]), WIDTH)
                if s.alive >> other & 1 and cell not in sight:
                    was, since = divmod(int(m.last_cell[other]), WIDTH), int(s.t - m.last_step[other])
                    away = abs(cell[0] - was[0]) + abs(cell[1] - was[1])
                    near, far = near + (away <= since), far + (away > since)
    assert kept > 3
    assert near > 20 * far


@pytest.mark.parametrize("settings", SETTINGS)
def test_what_is_redrawn_is_a_position_of_the_game(settings):
    game = bomber_grid(memory=True, **settings)
    for number, state in enumerate(some_states(game, 20)):
        player = int(np.log2(int(record(state, STATE).alive) & -int(record(state, STATE).alive)))
        game.determinize(state, player, np.uint64(number))
        again = state_from_position(game, position(state))
        assert np.array_equal(again[32:START], state[32:START])
        assert position(again)["memory"][player] == position(state)["memory"][player]
        rewards = np.zeros(4)
        for _ in range(30):
            game.step(state, np.zeros(4, np.int64), rewards)


def test_settings_and_positions_at_fault():
    with pytest.raises(ValueError, match="memory=True is for players who see a part of the board"):
        bomber_grid(memory=True)
    with pytest.raises(TypeError, match="memory 'yes' is not True or False"):
        bomber_grid(memory="yes", view=4)
    game = bomber_grid(memory=True, **TEAM)
    given = position(next(played(game, 0, 1)))
    for key, value, message in (
        ("memory", [], "one dictionary for each of 4 players"),
        ("memory", [1, 2, 3, 4], r"position\['memory'\]\[0\] is int"),
        ("memory", [{}] * 4, r"\['memory'\]\[0\] lacks 'board'"),
        ("memory", [given["memory"][0] | {"last": [[0, 0, 9]] * 4}] * 4, r"\['last'\]\[0\]\[2\] 9 is outside \[0, 0\]"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            state_from_position(game, given | {key: value})
    without = state_from_position(game, {key: value for key, value in given.items() if key != "memory"})
    assert np.array_equal(without[32:], state_from_position(game, given)[32:])
    with pytest.raises(ValueError, match="unknown position key 'memory'"):
        state_from_position(bomber_grid(**TEAM), given)


@pytest.mark.parametrize("settings", [TEAM, {"mode": "radio", "view": 2, "collapse": (30, 45)}])
def test_a_player_of_the_original_engine_remembers_the_same(settings):
    game = bomber_grid(memory=True, **settings)
    original, memories, compared = game.variant("original"), [Memory() for _ in range(4)], 0
    for state in played(game, 4, 120):
        for player in np.flatnonzero(record(state, STATE).alive >> np.arange(4) & 1).tolist():
            view = from_observation(as_dict(seen(original, state, player)), memories[player], game)
            assert np.array_equal(memory(view.state, player), memory(state, player))
            compared += 1
    assert compared > 60
