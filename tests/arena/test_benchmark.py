"""The page of speed: what it is written from, and what stays there."""

from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from speed.figure import Figure
from speed.page import TITLES, keep, kept, write

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results"
FIGURE = Figure("a step", 1.8, "us", "nothing", 0.2, "9.0 x")


def test_the_page_is_what_its_data_say():
    assert (RESULTS / "speed.md").read_text() == write(kept(RESULTS / "data" / "speed.jsonl"))


def test_a_part_is_kept_with_its_circumstances(tmp_path):
    assert keep(tmp_path, "api", 3, 0.25, [FIGURE])
    page = (tmp_path / "speed.md").read_text()
    assert "1. `python scripts/benchmark.py" in page
    assert "3 rounds; load 0.2 before and" in page
    assert "| a step |   1.8 us | nothing   |        0.2 |      9.0 x |" in page
    assert page.count("Not measured: `python scripts/benchmark.py") == len(TITLES) - 1


def test_figures_of_more_rounds_stay(tmp_path):
    assert keep(tmp_path, "api", 15, 0.0, [FIGURE])
    assert not keep(tmp_path, "api", 3, 0.0, [])
    assert keep(tmp_path, "search", 3, 0.0, [])
    parts = kept(tmp_path / "data" / "speed.jsonl")
    assert {name: (part.rounds, part.figures) for name, part in parts.items()} == {
        "api": (15, [FIGURE]),
        "search": (3, []),
    }
    assert keep(tmp_path, "api", 15, 0.0, [])


@pytest.mark.parametrize("line", ["{", "[]", '{"part": "api"}', "7"])
def test_damaged_data_are_refused(line, tmp_path):
    (tmp_path / "speed.jsonl").write_text(line)
    with pytest.raises(ValueError, match=r"line 1, is not what scripts/benchmark\.py writes"):
        kept(tmp_path / "speed.jsonl")


class TestNetwork:
    @pytest.mark.parametrize("name", ["MLP", "CNN"])
    def test_leaves_are_the_states_that_the_network_was_run_on(self, name):
        pytest.importorskip("stable_baselines3")
        from speed import network

        from agents.learning.saved.storage import SavedPolicy

        env = gym.make("mcts_envs/LaneDefense3x3-v0", observation="planes")
        env.reset(seed=0)
        model = network.made(env, name)
        policy, asked = SavedPolicy(Path(name), "ppo", model), network.searching(env, model, 50)
        for work in (asked, network.searching(env, policy, 50)):
            leaves, idle = work()
            assert 1 < leaves <= 51  # the root too; a state that was met before is not asked about
            assert idle > 0.0

    def test_compiled_and_in_batches_the_same_states_are_asked_about(self):
        pytest.importorskip("stable_baselines3")
        from speed import network

        from agents.learning.saved.storage import SavedPolicy

        env = gym.make("mcts_envs/LaneDefense3x3-v0", observation="planes")
        env.reset(seed=0)
        model = network.made(env, "MLP")
        policies = model, SavedPolicy(Path("MLP"), "ppo", model)
        compiled, batched = (network.searching(env, policy, 200)()[0] for policy in policies)
        assert compiled == batched

    def test_the_rules_of_connect_four_for_gumbel_mcts_are_ours(self):
        pytest.importorskip("stable_baselines3")
        from speed import halving

        game, rng = halving.SEEN, np.random.default_rng(0)
        state, rewards, seen, legal = game.new_state(), np.zeros(2), np.zeros(42, np.float32), np.zeros(7, np.int64)
        ended = 0
        for seed in range(60):
            game.restart(state, seed)
            board, over = np.zeros((7, 6), np.int8), False
            while not over:
                player = int(game.active(state)) - 1
                allowed = legal[: game.legal(state, player, legal)]
                assert np.flatnonzero(halving.Logic.get_valid_mask(board, player + 1)).tolist() == sorted(allowed)
                action = int(rng.choice(allowed))
                reward, winner, over, board = halving.Logic.fast_step(board, action, player + 1)
                game.step(state, np.full(2, action), rewards)
                game.observe(state, 0, seen)
                assert (np.where(seen < 0, 2, seen).reshape(7, 6) == board).all()
                assert (reward, winner) == (rewards[player], (player + 1) * int(rewards[player]))
                assert over == (game.active(state) == 0)
            ended += winner > 0
        assert ended > 40
