"""Our search with a network beside gumbel-mcts on connect four, both asking the same model."""

import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from numba import njit

import agents
import mcts_envs
from agents.learning.algorithms import one_thread
from agents.learning.saved.storage import SavedPolicy
from mcts_envs.core.contract import OBSERVE
from mcts_envs.core.kernel import count_bits, kernel, record
from mcts_envs.core.view import View
from speed.figure import Figure, least
from speed.network import GAMES, counted, made

sys.path.append(str(Path(__file__).parents[2] / "examples"))

from connect_four import BOTTOM, GAME, ONE, STATE

ID, SIMULATIONS = "ConnectFourCells-v0", 256
_OVER = np.uint64((1 << 63) - 1)


@kernel(OBSERVE)
def cells(state: Any, player: int, out: Any) -> None:
    """Fill in the cells: 1 a stone of the player's own, -1 of the other."""
    s = record(state, STATE)
    stones = (s.landing & _OVER) - BOTTOM
    mine = s.mine if count_bits(stones) & 1 == player else s.mine ^ stones
    for column in range(7):
        for row in range(6):
            cell = np.uint64(7 * column + row)
            out[6 * column + row] = 0.0
            if stones >> cell & ONE:
                out[6 * column + row] = 1.0 if mine >> cell & ONE else -1.0


@njit
def _step(board: Any, action: int, player: int) -> Any:
    """Drop a stone; the reward, who won, whether the game is over, and the board [7, 6]: ``fast_step``."""
    top = 0
    while board[action, top]:
        top += 1
    board[action, top] = player
    for across, up in ((1, 0), (0, 1), (1, 1), (1, -1)):
        length = 1
        for way in (1, -1):
            x, y = action + way * across, top + way * up
            while 0 <= x < 7 and 0 <= y < 6 and board[x, y] == player:
                length += 1
                x, y = x + way * across, y + way * up
        if length >= 4:
            return 1.0, player, True, board
    return 0.0, 0, np.all(board[:, 5] != 0), board


@njit
def _mask(board: Any, player: int) -> Any:
    """Return 1 for each column that is not full [7]: ``get_valid_mask``."""
    return (board[:, 5] == 0).astype(np.float32)


class Logic:
    """The rules of connect four as gumbel-mcts wants them."""

    NUM_ACTIONS = MAX_LEGAL_MOVES = 7
    BOARD_SHAPE, MAX_MOVES, PLAYER_1, PLAYER_2 = (7, 6), 42, 1, 2
    fast_step, get_valid_mask = staticmethod(_step), staticmethod(_mask)


class Model:
    """A model of Stable-Baselines3 as gumbel-mcts wants it; counts the boards that it was shown."""

    logic = Logic()

    def __init__(self, policy: Any) -> None:
        self.policy, self.leaves = policy, 0

    def forward_for_mcts(self, batch: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """Return probabilities and values of boards."""
        boards, player = batch["boards"], batch["current_player"][:, None]
        shown = (boards == player).float() - (boards == 3 - player).float()
        actor, critic = self.policy.mlp_extractor(self.policy.extract_features(shown))
        self.leaves += len(boards)
        return {"policy": self.policy.action_net(actor).softmax(1), "value": self.policy.value_net(critic)[:, 0]}


SEEN = replace(GAME, observe=cells, observation_shape=(42,), observation_low=-1.0)


def _environment() -> Any:
    """Return connect four that shows its cells."""
    if ID not in gym.registry:
        mcts_envs.register(ID, SEEN)
    return gym.make(ID)


def _positions(count: int, moves: int = 6) -> tuple[list[View], Any]:
    """Return positions after moves in different columns, which end no game: views, and boards [count, 7, 6]."""
    rng, views, seen = np.random.default_rng(0), [], np.zeros(42, np.float32)
    boards = np.zeros((count, 7, 6), np.int8)
    for board in boards:
        state, rewards = SEEN.new_state(), np.zeros(2)
        SEEN.restart(state, 0)
        for action in rng.permutation(7)[:moves]:
            SEEN.step(state, np.full(2, action), rewards)
        SEEN.observe(state, 0, seen)
        board[:] = np.where(seen < 0, 2, seen).reshape(7, 6)
        views.append(View(SEEN, state, int(SEEN.active(state)) - 1))
    return views, boards


def connect_four(rounds: int) -> list[Figure]:
    """Measure leaves a second of Gumbel searches after six random moves; nothing where gumbel-mcts is not installed."""
    try:
        from gumbel_mcts import GumbelDense
    except ImportError as error:
        print(f"{error}: connect four is left out; pip install --no-deps gumbel-mcts==0.2.0", file=sys.stderr)
        return []
    views, boards = _positions(GAMES)
    model = made(_environment(), "MLP")
    policy, theirs = SavedPolicy(Path("MLP"), "ppo", model), Model(model.policy)

    def other(games: int) -> Callable[[], int]:
        tree = GumbelDense(games, games * (SIMULATIONS + 2) * 2, Logic, device="cpu")
        players = np.array([1 + view.player for view in views[:games]], np.int8)

        def work() -> int:
            before = theirs.leaves
            tree.reset()
            tree.initialize_roots(range(games), boards[:games], players)
            tree.run_simulation_batch(theirs, list(range(games)), num_simulations=SIMULATIONS)
            return theirs.leaves - before

        return work

    def ours(consulted: Any, games: int) -> Any:
        agent = agents.make("gumbel", policy=consulted, simulations=SIMULATIONS)
        return counted(agent, SEEN, lambda: agent.choose_all(views[:games], [None] * games))

    works = ours(model, 1), ours(policy, 1), ours(policy, GAMES), other(1), other(GAMES)
    with one_thread():
        compiled, asked, together, one, many = least(rounds, *works)
    name = f"gumbel-mcts {version('gumbel-mcts')}, GumbelDense"
    pairs = (
        ("compiled", compiled, "one game", one),
        ("compiled", compiled, f"{GAMES} games", many),
        ("asking torch", asked, "one game", one),
        (f"asking torch, {GAMES} games", together, f"{GAMES} games", many),
    )
    return [
        Figure(
            *(f"connect four, Gumbel: MLP {what}", 1e3 / us, "k leaves/s", f"{name}, {which}", 1e3 / them),
            f"{them / us:.1f} x as many",
        )
        for what, us, which, them in pairs
    ]
