"""Planners without a tree: the trials are shared equally between the actions."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numba import types

from agents.budget import LIMITS, Budget, Clock
from agents.mcts import MCTS
from agents.policies.recommend import max_value, max_value_drawn
from agents.search.plan import SearchPlan
from agents.search.running import Search, legal_actions
from mcts_envs.core import errors
from mcts_envs.core.api.batch import BYTE_ROWS
from mcts_envs.core.api.mixture import OneByOne
from mcts_envs.core.compiling.table import TABLE, active_of, determinize_of, evaluate_of, legal_of, status_of, step_of
from mcts_envs.core.contract import BYTES, FLOATS, INTS, RUNNING, Game
from mcts_envs.core.kernel import copy, kernel
from mcts_envs.core.rng import below, draw, new_stream, seed_stream
from mcts_envs.core.typing import Bytes, Floats, Ints
from mcts_envs.core.view import View


class FlatMonteCarlo(MCTS):
    """Flat Monte Carlo: equally many rollouts for every action, then the action with the best mean.

    Parameters
    ----------
    **settings
        Those of :class:`agents.mcts.MCTS`, which it is with a tree of depth 1 and an open loop.
    """

    name = "flat_mc"

    def __init__(self, **settings: Any) -> None:
        super().__init__(
            **{"select": "least_visited", "recommend": "max_value", "tree_depth": 1, "loop": "open", **settings}
        )

    def spending(self, search: Search, clock: Clock) -> Iterator[None]:
        """Spend a budget on all actions in turn."""
        yield from search.spending(clock, search.legal, whole_passes=False)


class OneStep(FlatMonteCarlo):
    """One-step lookahead: look at what each action leads to, evaluate it, and take the best on average.

    Parameters
    ----------
    samples : int
        How many outcomes of each action are looked at.
    **settings
        Those of :class:`agents.mcts.MCTS`, which it is with a horizon of 1; the samples are its budget.
    """

    name = "one_step"
    takes_budget = False

    def __init__(self, *, samples: int = 8, **settings: Any) -> None:
        for budget in (*LIMITS, "first_move"):
            if budget in settings:
                raise TypeError(f"one_step has no setting {budget!r}; its budget is samples, a number for each action")
        super().__init__(**{"horizon": 1, **settings})
        self.samples = errors.integer("samples", samples, 1, 10**6)

    def budget_for(self, view: View) -> Budget:
        """Return the samples of all actions that the model considers."""
        return Budget(simulations=self.samples * len(legal_actions(self.prepared(view.game).model, view)))

    def _limits(self) -> dict[str, Any]:
        return {"samples": self.samples}

    def act_all(self, game: Game, states: Bytes, players: Ints, seeds: Any) -> Ints:
        """Return an action [k] for each of the players [k] who look at states [k, size]; chance starts from seeds [k].

        Compiled for all games at once where players move one at a time and nothing but ``evaluate``, ``discount`` and a
        ``model`` with the game's legal actions is set; the best action is found as ever, but other dice decide between
        equals.
        """
        prepared = self.prepared(game)
        if game.simultaneous or prepared.model.legal is not game.legal or not self._is_plain(prepared):
            return OneByOne(self).act_all(game, states, players, seeds)
        found, work = np.empty(len(states), np.int64), game.new_state()
        numbers = np.empty(game.players), np.empty(game.players)
        choices = np.zeros(game.players, np.int64), np.empty(game.actions, np.int64)
        discount, model = float(self.discount), prepared.model
        look_ahead(
            model.table, states, players, seeds, self.samples, discount, work, new_stream(0), *numbers, *choices, found
        )
        return found

    def _is_plain(self, prepared: SearchPlan) -> bool:
        """Return whether :func:`look_ahead` finds what a search does."""
        settings = prepared.settings
        if settings.relative or settings.custom_backup or settings.waits or settings.horizon != 1:
            return False
        if prepared.rewards or prepared.interpreted or prepared.rollout_model is not prepared.model:
            return False
        return self.information == "own" and self.recommend in (max_value, max_value_drawn)


@kernel(
    types.void(
        TABLE,
        BYTE_ROWS,
        INTS,
        types.uint64[::1],
        types.int64,
        types.float64,
        BYTES,
        BYTES,
        FLOATS,
        FLOATS,
        INTS,
        INTS,
        INTS,
    )
)
def look_ahead(
    game: Any,
    states: Bytes,
    players: Ints,
    seeds: Any,
    samples: int,
    discount: float,
    work: Bytes,
    stream: Bytes,
    rewards: Floats,
    values: Floats,
    actions: Ints,
    legal: Ints,
    found: Ints,
) -> None:
    """Find for each of k players the action with the best mean over samples of reward and value of what it leads to.

    Parameters
    ----------
    game : function table
    states [k, size], players [k], seeds [k]
        What they look at, and where their chance starts.
    work [size], stream [32], rewards [P], values [P], actions [P], legal [A]
        Work arrays.
    found : int64 array [k]
        Filled in; chance decides between equals.
    """
    for i in range(states.shape[0]):
        player, best, equals = players[i], -np.inf, 0
        seed_stream(stream, seeds[i])
        for j in range(legal_of(game)(states[i], player, legal)):
            total = 0.0
            for _ in range(samples):
                copy(work, states[i])
                determinize_of(game)(work, player, draw(stream))
                actions[player] = legal[j]
                step_of(game)(work, actions, rewards)
                total += rewards[player]
                if active_of(game)(work) != 0 and status_of(game)(work, player) == RUNNING:
                    evaluate_of(game)(work, values)
                    total += discount * values[player]
            equals = 1 if total > best else equals + (total == best)
            if total > best or (total == best and below(stream, equals) == 0):
                best, found[i] = total, legal[j]
