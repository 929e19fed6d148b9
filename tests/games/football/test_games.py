"""Football-lite against recorded games of random players: every count, on every size."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from mcts_envs.core.compiling.table import TABLE, active_of, advise_of, legal_of, reset_of, step_of
from mcts_envs.core.contract import BYTES, FLOATS, INTS, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.rng import choose_among, draw, new_stream
from mcts_envs.games.football.rules import events
from mcts_envs.games.football.rules.layout import STATE
from mcts_envs.games.football.spec import football

DATA = Path(__file__).parent / "data"
RUNS = json.loads(gzip.decompress((DATA / "games.json.gz").read_bytes()))["runs"]
NAMES = {
    "turnover": "turnovers",
    "touchdown": "touchdowns",
    "turn_start": "turns",
    "knocked_down": "knock_downs",
    "armor_broken": "armour_broken",
    "armor_not_broken": "armour_held",
    "stunned": "stunned",
    "knocked_out": "knocked_out",
    "casualties": "casualties",
    "player_ejected": "ejected",
    "pushed": "pushed",
    "pushed_into_crowd": "pushed_into_crowd",
    "follow_up": "follow_ups",
    "block_roll": "blocks",
    "foul": "fouls",
    "handoff": "handoffs",
    "accurate_pass": "passes_accurate",
    "inaccurate_pass": "passes_inaccurate",
    "interception": "interceptions",
    "failed_interception": "interceptions_failed",
    "successful_dodge": "dodges",
    "failed_dodge": "dodges_failed",
    "successful_gfi": "rushes",
    "failed_gfi": "rushes_failed",
    "successful_pickup": "pickups",
    "failed_pickup": "pickups_failed",
    "successful_catch": "catches",
    "failed_catch": "catches_failed",
    "stand_up": "stand_ups",
    "touchback": "touchbacks",
    "throw_in": "throw_ins",
    "reroll_used": "rerolls",
    "player_ready": "recovered",
    "player_not_ready": "not_recovered",
}
DECISIONS_BEFORE_THE_MATCH = 3  # toss, kick or receive, start: chance and nothing else here


@kernel(types.void(TABLE, BYTES, BYTES, INTS, INTS, FLOATS, FLOATS, types.int64[:, ::1]))
def play_games(functions, state, stream, actions, legal, weights, rewards, results):
    """Play games by advice; a row of the results has the counts of a game, the decisions, and both scores."""
    for game in range(results.shape[0]):
        reset_of(functions)(state, draw(stream))
        decisions = 0
        while active_of(functions)(state) != 0:
            player = active_of(functions)(state) >> 1
            count = legal_of(functions)(state, player, legal)
            advise_of(functions)(state, player, weights)
            actions[player] = choose_among(stream, weights, legal, count)
            step_of(functions)(state, actions, rewards)
            decisions += 1
        s = record(state, STATE)
        for event in range(len(events.NAMES)):
            results[game, event] = s.events[event]
        results[game, len(events.NAMES)] = decisions
        results[game, len(events.NAMES) + 1] = s.score[0]
        results[game, len(events.NAMES) + 2] = s.score[1]


def played(size, player, games, seed=1, **settings):
    """Return counts of games by name: int64 arrays [games]."""
    game = football(size, **settings).variant(player)
    results = np.zeros((games, len(events.NAMES) + 3), np.int64)
    work = np.zeros(2, np.int64), np.zeros(game.actions, np.int64), np.zeros(game.actions), np.zeros(2)
    play_games(game.table, game.new_state(), new_stream(seed), *work, results)
    counts = dict(zip((*events.NAMES, "decisions", "td_home", "td_away"), results.T, strict=True))
    counts["decisions"] = counts["decisions"] + DECISIONS_BEFORE_THE_MATCH
    return counts


def distances(run, counts):
    """Return by name how many combined standard errors a mean is away from the recorded one."""
    result = {}
    for name, recorded in run["per_game"].items():
        own = counts.get(NAMES.get(name, name))
        if own is not None:
            error = np.hypot(recorded["se"], own.std(ddof=1) / np.sqrt(len(own)))
            gap = abs(own.mean() - recorded["mean"])
            result[name] = 0.0 if gap == 0 else gap / max(error, 1 / run["games"])
    return result


STEPS = [key for key in RUNS if key.endswith("step")]


@pytest.mark.slow
@pytest.mark.parametrize("key", STEPS)
def test_many_random_games_have_the_recorded_statistics(key):
    compare(key, 20_000)


@pytest.mark.parametrize("key", STEPS)
def test_random_games_have_the_recorded_statistics(key):
    compare(key, 1000)


def compare(key, games):
    mode, size, _ = key.split("/")
    player = {"lite": "random_types", "lite-active": "random_active"}[mode]
    found = distances(RUNS[key], played(int(size), player, games, skip_forced=False))
    assert len(found) > 30
    assert {name: round(gap, 1) for name, gap in found.items() if gap > 4} == {}


@pytest.mark.parametrize(
    "key",
    [pytest.param(key, marks=[pytest.mark.slow] * ("11" in key or "7" in key)) for key in RUNS if key.endswith("path")],
)
def test_path_mode_is_about_as_recorded(key):
    """The engine's walks may also begin by standing up, and are not always the safest."""
    counts = played(int(key.split("/")[1]), "random_types", 500, skip_forced=False, movement="path")
    recorded = RUNS[key]["per_game"]
    for name in ("decisions", "turnover", "knocked_down", "block_roll", "foul"):
        assert counts[NAMES.get(name, name)].mean() == pytest.approx(recorded[name]["mean"], rel=0.2), name
