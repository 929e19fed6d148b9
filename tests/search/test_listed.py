"""Games that list actions which they do not have: searches name them, and write nowhere."""

from dataclasses import replace

import connect_four  # examples/connect_four.py
import pytest

import agents
from mcts_envs.core.contract import LEGAL
from mcts_envs.core.kernel import count_bits, kernel, record
from mcts_envs.core.view import View


@kernel(LEGAL)
def beyond(state, player, actions):
    """List an action far beyond the columns from the third stone on."""
    k = connect_four.legal(state, player, actions)
    if count_bits(record(state, connect_four.STATE).landing - connect_four.BOTTOM) > 2:
        actions[0] = 100_000_000
    return k


@kernel(LEGAL)
def below_0(state, player, actions):
    """List an action far below 0, but not in the first position."""
    k = connect_four.legal(state, player, actions)
    if count_bits(record(state, connect_four.STATE).landing - connect_four.BOTTOM) > 0:
        actions[1] = -4_000_000
    return k


@pytest.mark.parametrize(("legal", "action"), [(beyond, 100_000_000), (below_0, -4_000_000)])
@pytest.mark.parametrize(
    "agent",
    [
        agents.make("mcts", simulations=500),
        agents.make("mcts", simulations=500, rollout_depth=0),
        agents.make("alpha_beta", depth=4),
    ],
    ids=["in rollouts", "in the tree", "alpha_beta"],
)
def test_a_search_names_an_action_that_the_game_does_not_have(legal, action, agent):
    game = replace(connect_four.GAME, legal=legal)
    state = game.new_state()
    game.reset(state, 0)
    said = rf"legal of connect_four lists action {action}, outside \[0, 6\]; correct it, or give the Game more actions"
    for _ in range(2):
        with pytest.raises(ValueError, match=said):
            agent.search(View(game, state, 0))


def test_an_interpreted_search_names_it_too():
    game = replace(connect_four.GAME, legal=beyond).interpreted()
    state = game.new_state()
    game.reset(state, 0)
    with pytest.raises(ValueError, match="lists action 100000000"):
        agents.make("mcts", simulations=500).search(View(game, state, 0))
