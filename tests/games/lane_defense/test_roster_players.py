"""The roster game: scripts step by step, and how often they win."""

from dataclasses import replace

import numpy as np
import pytest

from mcts_envs.core.kernel import kernel
from mcts_envs.core.rng import below, new_stream
from mcts_envs.games.lane_defense.players.roster import advise_h, advise_s
from mcts_envs.games.lane_defense.rules.roster.kernels import active, legal, outcome, reset, step
from mcts_envs.games.lane_defense.spec.roster import roster_defense
from mcts_envs.games.lane_defense.tables import ROSTERS, STANDARD, Plant, Roster, Wave, Zombie
from tests.games.lane_defense.play import WAIT, Play, plant, zombie

ODD_ROSTERS = {
    "sunless": Roster(STANDARD.plants[1:], STANDARD.zombies, STANDARD.waves),
    "walls only": Roster(STANDARD.plants[2:3], STANDARD.zombies, STANDARD.waves),
    "shooters only": Roster(STANDARD.plants[1:2], STANDARD.zombies, STANDARD.waves),
    "mines only": Roster((Plant("mine", 0, arms=1, blast=15),), (Zombie("horde", 255, 1),), (Wave(9, 1, 9, (1,)),)),
    "specialists": ROSTERS["specialists"],
}


@pytest.mark.parametrize("size", [(5, 9), (1, 2), (8, 16)])
@pytest.mark.parametrize("roster", ODD_ROSTERS)
def test_scripts_play_any_roster_by_legal_actions(roster, size):
    game = roster_defense(*size, roster=ODD_ROSTERS[roster])
    actions, rewards, weights = np.zeros(game.actions, np.int64), np.zeros(1), np.zeros(game.actions)
    for variant in (game, game.variant("scripted_s")):
        state = game.new_state()
        for seed in range(3):
            game.reset(state, seed)
            while game.active(state):
                variant.advise(state, 0, weights)
                chosen = np.flatnonzero(weights)
                assert len(chosen) == 1
                assert weights[chosen[0]] == 1
                assert chosen[0] in actions[: game.legal(state, 0, actions)]
                game.step(state, chosen, rewards)


def advice(advise, **start) -> str:
    play = Play(**start)
    weights = np.zeros(play.game.actions)
    advise(play.state, 0, weights)
    return play.game.action_name(int(weights.argmax()))


def test_script_s_step_by_step():
    near, far = zombie("normal", 3, 4), zombie("bucket", 1, 8)
    assert advice(advise_s, zombies=[far, near], sun=4) == "shooter 3,1", "the nearest unguarded zombie first"
    assert advice(advise_s, zombies=[near, far], plants=[plant("shooter", 3, 1)], sun=4) == "shooter 1,1"
    row = [plant("wall", 1, column) for column in range(1, 7)]
    assert advice(advise_s, plants=row, zombies=[far], sun=4) == "shooter 1,0", "column 7 is too close to the entry"
    assert advice(advise_s, zombies=[zombie("normal", 3, 3)], sun=3) == "wall 3,2"
    barred = {"wall": 3}
    assert advice(advise_s, zombies=[zombie("normal", 3, 3)], sun=3, recharge=barred) == "mine 3,0"
    assert advice(advise_s, zombies=[zombie("normal", 3, 5)], sun=3) == WAIT, "saves for a shooter"
    assert advice(advise_s, sun=2) == "sunflower 0,0"
    assert advice(advise_s, zombies=[zombie("runner", 0, 6)], sun=3) == "sunflower 0,0"
    flowers = [plant("sunflower", lane, column) for lane in range(3) for column in range(2)]
    assert advice(advise_s, plants=flowers, sun=5) == "shooter 0,2"
    guards = [plant("shooter", lane, column) for lane in range(5) for column in range(2, 5)]
    assert advice(advise_s, plants=flowers + guards, zombies=[zombie("normal", 2, 8)], sun=6) == "wall 2,5"
    assert advice(advise_s, plants=flowers + guards, zombies=[zombie("normal", 2, 8)], sun=5) == WAIT


def test_shooters_are_counted_whatever_damage_they_do():
    strong = Roster((STANDARD.plants[0], replace(STANDARD.plants[1], damage=3)), STANDARD.zombies, STANDARD.waves)
    flowers = [plant("sunflower", lane, column) for lane in range(3) for column in range(2)]
    guards = [plant("shooter", lane, 2) for lane in range(5)]
    assert advice(advise_s, roster=strong, plants=flowers + guards[:4], sun=4) == "shooter 4,1"
    assert advice(advise_s, roster=strong, plants=flowers + guards, sun=4) == "shooter 0,3", "three in each lane"


def test_script_h_lays_mines_first():
    assert advice(advise_h, zombies=[zombie("bucket", 1, 7), zombie("cone", 2, 8)], sun=4) == "mine 1,3"
    mined = [plant("mine", 1, 3)]
    assert advice(advise_h, plants=mined, zombies=[zombie("bucket", 1, 7)], sun=4) == "shooter 1,1"
    assert advice(advise_h, zombies=[zombie("bucket", 1, 1)], sun=4) == "shooter 1,0", "too late for a mine"


@kernel()
def win_rate(state, games, player, stream, actions, chosen, weights, rewards):
    """Play games by 0 waiting, 1 uniform legal actions, 2 script S, 3 script H; return wins and steps per game."""
    wins, steps = 0.0, 0
    for game in range(games):
        reset(state, np.uint64(1000 + game))
        while active(state) != 0:
            count = legal(state, 0, actions)
            chosen[0] = actions[count - 1]
            if player == 1:
                chosen[0] = actions[below(stream, count)]
            elif player == 2:
                advise_s(state, 0, weights)
                chosen[0] = np.argmax(weights)
            elif player == 3:
                advise_h(state, 0, weights)
                chosen[0] = np.argmax(weights)
            step(state, chosen, rewards)
            steps += 1
        outcome(state, rewards)
        wins += rewards[0]
    return wins / games, steps / games


def softer(hp=1.0, sun=0.08):
    """Return the standard roster with other hit points of zombies and another income from sunflowers."""
    zombies = tuple(replace(kind, hp=round(kind.hp * hp)) for kind in STANDARD.zombies)
    return Roster((replace(STANDARD.plants[0], sun=sun), *STANDARD.plants[1:]), zombies, STANDARD.waves)


@pytest.mark.parametrize(
    ("player", "games", "expected", "settings"),
    [
        (0, 200, 0.0, {}),
        (1, 20_000, 0.0016, {}),
        (2, 2_000, 0.461, {}),
        (3, 2_000, 0.495, {}),
        (1, 4_000, 0.071, {"mowers": True}),
        (2, 2_000, 0.606, {"mowers": True}),
        (3, 2_000, 0.704, {"mowers": True}),
        (2, 2_000, 0.69, {"roster": softer(hp=2 / 3)}),
        (3, 2_000, 0.72, {"roster": softer(hp=2 / 3)}),
        (2, 2_000, 0.71, {"roster": softer(sun=0.10)}),
        (3, 2_000, 0.74, {"roster": softer(sun=0.10)}),
    ],
)
def test_win_rates(player, games, expected, settings):
    work = np.zeros(181, np.int64), np.zeros(1, np.int64), np.zeros(181), np.zeros(1)
    rate, length = win_rate(roster_defense(**settings).new_state(), games, player, new_stream(77), *work)
    assert abs(rate - expected) <= 4 * np.sqrt(expected * (1 - expected) / games)
    if player == 1 and not settings:
        assert abs(length - 69) < 1
