"""Environments of Jumanji, through its wrapper for Gymnasium: legal actions are shown, and no tile is foreseen."""

import numpy as np
import pytest

import agents
from agents import bridge
from agents.bridge import means
from agents.bridge.mirroring import mirrored
from mcts_envs.core.contract import EVERYTHING
from tests.bridge.worlds import mcts


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_2048_is_searched_with_chance_of_its_own():
    jumanji = pytest.importorskip("jumanji")
    from jumanji.wrappers import JumanjiToGymWrapper

    env = agents.remember(JumanjiToGymWrapper(jumanji.make("Game2048-v1")))
    seen, _ = env.reset(seed=3)
    view = bridge.view(env)
    assert view.action_masks().tolist() == seen["action_mask"].tolist()
    state, boards = view.state.copy(), set()
    assert view.game.notes["means"] == means.NATIVE
    legal = view.legal_actions()[0]
    for seed in range(8):
        state[:] = view.state.copy()
        view.game.determinize(state, EVERYTHING, seed << 32)
        view.game.step(state, [legal], [0.0])
        boards.add(np.asarray(state.seen["board"]).tobytes())
    assert len(boards) > 1
    assert mcts(20, horizon=5).act(env) in view.legal_actions()
    assert not mirrored(bridge.view(env).state, 1, 10).differs
