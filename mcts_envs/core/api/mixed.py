"""Batches in which anybody may play the other seats: policies, past selves, agents, a mixture of them."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, NoReturn

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from mcts_envs.core.api import infos
from mcts_envs.core.api.by_index import Games
from mcts_envs.core.api.env import GameEnv
from mcts_envs.core.api.live import begin
from mcts_envs.core.api.mixed_turns import draw_opponents, go_on, look
from mcts_envs.core.api.mixture import SELF, Mixture
from mcts_envs.core.api.parts import Part, for_each
from mcts_envs.core.api.quantized import quantized
from mcts_envs.core.api.starts import Starts
from mcts_envs.core.api.vector import GameVectorEnv, Played
from mcts_envs.core.contract import RUNNING, TERMINATED, TRUNCATED
from mcts_envs.core.place import copy_except_rng
from mcts_envs.core.rng import draw, seed_stream
from mcts_envs.core.typing import Bytes, Floats, Ints, Masks, Singles
from mcts_envs.core.view import Episode, View

ALL = "all"
"""The seat of batches that play all seats in turn."""


class MixedVectorEnv(GameVectorEnv):
    """N copies of one environment whose opponents are a :class:`~mcts_envs.core.api.mixture.Mixture`.

    Compiled players choose in compiled code; of the others each is asked once for all games that wait for it. Games
    that end start anew in the same step.

    Parameters
    ----------
    num_envs : int
        N.
    seat : int or "all"
        Which player the environment is for; ``"all"``: game i is for seat ``i % P``, and then for the next with every
        new episode.
    opponent : str, Player or mapping, optional
        See :class:`~mcts_envs.core.api.mixture.Mixture`.
    starts : str, Path or mapping, optional
        See :class:`~mcts_envs.core.api.starts.Starts`; by default the game's own first states.
    **settings
        As for :class:`~mcts_envs.core.api.vector.GameVectorEnv`.

    Attributes
    ----------
    opponents : Mixture
    starts : Starts or None
    seats : int64 array [N]
        The seat of each game.
    """

    lives_in: ClassVar[tuple[str, ...]] = (*GameVectorEnv.lives_in, "_next", "_who")

    def __init__(
        self, num_envs: int = 1, *, seat: int | str = 0, opponent: Any = None, starts: Any = None, **settings: Any
    ) -> None:
        first = 0 if seat == ALL else seat
        super().__init__(num_envs, autoreset_mode=AutoresetMode.SAME_STEP, seat=first, **settings)  # type: ignore[arg-type]
        self._arguments |= {"seat": seat, "opponent": opponent, "starts": starts}
        self.opponents, self._gone = Mixture(self.game, opponent), 0
        self.starts = None if starts is None else Starts(self.game, starts)
        n, players = num_envs, self.game.players
        self._in_turn = seat == ALL
        self._next = np.arange(n) % players if self._in_turn else np.full(n, self.seat)
        self.seats = self._next.copy()
        self._who, self._acts = np.zeros((n, players), np.int64), np.zeros((n, players), np.int64)
        self._waits, self._chosen = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self._seeds, self._totals = np.zeros((n, players), np.uint64), np.zeros(n)
        self._single = np.empty((n, self._size), np.float32)
        self._company: dict[int, dict[str, Any]] = {}

    def play(self, actions: Any) -> Played:
        """Play one action [N] in each game.

        Raises
        ------
        TypeError, ValueError
            If the actions are not N integers in range; also before the first past self is there, if there is to be one.
        gymnasium.error.ResetNeeded
            Before the first reset.
        """
        chosen, illegal = self._checked(actions)
        if self.opponents.waits_for_self:
            raise ValueError(
                "opponent 'self' has no past selves yet: give learn(callback=SelfPlay()) of agents.learning.selfplay, "
                "or call env.unwrapped.opponents.add_self(name, players)"
            )
        n = self.num_envs
        self._follow()
        self._acts[np.arange(n), self.seats], self._chosen[:] = chosen, 1 << self.seats
        self._totals[:] = 0.0
        self._play_on(np.ones(n, np.bool_))
        rewards, self._pending[:] = self._totals + self._pending, 0.0
        self._look(np.arange(n))
        ended = np.flatnonzero(self._status != RUNNING)
        status, points = self._status.copy(), self._points[np.arange(n), self.seats]
        observations = self._shown(np.arange(n))
        if len(ended):
            self._final_observations[ended], self._final_masks[ended] = observations[ended], self._masks[ended]
            self._note(ended, points)
            for i in ended.tolist():
                self._begin(i, int(draw(self._states[i])), None)
            self._first_turn(ended)
            observations[ended] = self._shown(ended)
        shape = (n, *self.game.observation_shape)
        return Played(
            observations.reshape(shape),
            rewards,
            status == TERMINATED,
            status == TRUNCATED,
            illegal,
            self._masks,
            points,
            self._final_masks,
            self._final_observations.reshape(shape),
        )

    def company(self, i: int) -> dict[str, Any]:
        """Return seat and opponents, by name, of the game that ended last in a place of the batch."""
        return self._company[i]

    def view(self, index: int = 0) -> View:
        """Return the live state of one game as its seat sees it."""
        self._live.check_started("view()")
        i = self._index(index)
        return View(self.game, self._states[i], int(self.seats[i]), self._episodes.setdefault(i, Episode()))

    def clone_state(self, index: int = 0, include_rng: bool = True) -> NoReturn:
        """Refuse: the opponents of a mixture are not part of a snapshot."""
        raise ValueError(
            "single games of a batch with a mixture of opponents are not saved: who plays is no part of a snapshot; "
            "take clone_games(), which saves all of them, or a batch with one built-in opponent and one seat"
        )

    def restore_state(self, index: int, snapshot: Any) -> NoReturn:
        """Refuse, like :meth:`clone_state`."""
        self.clone_state(index)

    def __reduce__(self) -> Any:
        self.clone_state()

    def _saved(self) -> Games:
        self._follow()
        return super()._saved()

    def _restart(
        self, seeds: list[int | None], chosen: npt.NDArray[np.bool_], starts: Sequence[Bytes | None]
    ) -> tuple[Singles | Bytes, dict[str, Any]]:
        super(GameVectorEnv, self).reset(seed=next((seed for seed in seeds if seed is not None), None))
        self._follow()
        started = self._live.started
        for i in np.flatnonzero(chosen).tolist():
            seed = seeds[i]
            if seed is None:
                seed = int(draw(self._states[i])) if started else int(self.np_random.integers(2**63))
            self._begin(i, seed, starts[i])
        self._live.started = True
        self._company.clear()
        self._first_turn(np.flatnonzero(chosen))
        observations = self._shown(np.arange(self.num_envs))
        masks = np.where(chosen[:, None], self._masks, np.int8(0))
        shaped = observations.reshape(self.num_envs, *self.game.observation_shape)
        return shaped, infos.add({}, "action_mask", masks, chosen)

    def _follow(self) -> None:
        """Let games under way keep their past selves where the oldest have gone since, or all were forgotten."""
        first = len(self.opponents.named)
        went, self._gone = self.opponents.gone - self._gone, self.opponents.gone
        if went:
            self._who[:] = np.where(self._who < first, self._who, np.maximum(self._who - went, first))
        np.minimum(self._who, len(self.opponents.all) - 1, out=self._who)

    def _begin(self, i: int, seed: int, start: Bytes | None) -> None:
        """Reset one game, and draw where it starts, if that is not said, and who plays it."""
        seed_stream(self._streams[i], begin(self.game, self._states[i], seed, start))
        if start is None and self.starts is not None:
            drawn = self.starts.draw(self._streams[i])
            if drawn is not None:
                copy_except_rng(self._states[i], drawn)
        self.seats[i] = self._next[i]
        self._next[i] = (self._next[i] + self._in_turn) % self.game.players
        draw_opponents(self._streams[i], self.opponents.drawn, self.seats[i], self._who[i])
        self._episodes.pop(i, None)
        self._last[i], self._chosen[i] = 0.0, 0

    def _first_turn(self, games: Ints) -> None:
        """Play games that begin until their seat is to choose."""
        begins = np.zeros(self.num_envs, np.bool_)
        begins[games] = True
        self._totals[games] = 0.0
        self._play_on(begins)
        self._pending[games] = self._totals[games]
        self._look(games)

    def _play_on(self, games: npt.NDArray[np.bool_]) -> None:
        """Play games until their seats are to choose, and ask all others who are not built in."""
        self._waits[:] = games
        while True:
            for_each(self._parts, self._go_on)
            if not self._waits.any():
                return
            self._ask()

    def _go_on(self, part: Part) -> None:
        """Play some of the games on."""
        rows, others = part.rows, self.opponents
        go_on(
            self.game.bare.table,
            others.tables,
            others.kinds,
            self._who[rows],
            self._states[rows],
            self._streams[rows],
            self.seats[rows],
            self._waits[rows],
            self._chosen[rows],
            self._acts[rows],
            self._seeds[rows],
            self._last[rows],
            self._totals[rows],
            part.legal,
            part.weights,
        )

    def _ask(self) -> None:
        """Ask each opponent who is not built in about all games that wait for it."""
        games, players = np.nonzero(self._waits[:, None] >> np.arange(self.game.players) & 1)
        players, asked = players.astype(np.int64), self._who[games, players]
        for k in np.unique(asked).tolist():
            opponent, these = self.opponents.all[k], asked == k
            if opponent.players is not None:
                game, player = games[these], players[these]
                given = opponent.players.act_all(self.game, self._states[game], player, self._seeds[game, player])
                self._acts[game, player] = _in_range(given, len(game), self.game.actions, opponent.name)

    def _look(self, games: Ints) -> None:
        """Read status, masks, observations and points of some games."""
        if len(games) == self.num_envs:
            for_each(self._parts, lambda part: self._look_at(part.rows, part.legal))
        else:
            self._masks[games], self._single[games] = self._look_at(games, self._legal)
            self._status[games] = RUNNING

    def _look_at(self, rows: Any, legal: Ints) -> tuple[Masks, Singles]:
        status, points = self._status[rows], self._points[rows]
        masks, seen = self._masks[rows], self._single[rows]
        look(
            self.game.bare.table,
            self._states[rows],
            self.seats[rows],
            status,
            legal,
            self._last[rows],
            points,
            masks,
            seen,
        )
        return masks, seen

    def _shown(self, games: Ints) -> Any:
        """Return fresh observations [k, n] of some games, as their seats see them."""
        seen = self._single[games]
        return quantized(seen) if self._final_observations.dtype == np.uint8 else seen

    def _note(self, ended: Ints, points: Floats) -> None:
        """Take note of the results of games that ended, against opponents, and of who played them, mates too."""
        for i in ended.tolist():
            seat, names = int(self.seats[i]), []
            mates = next(team for team in self.game.teams if seat in team)
            for player, k in enumerate(self._who[i].tolist()):
                if player != seat:
                    opponent = self.opponents.all[k]
                    if player not in mates:
                        opponent.note(float(points[i]))
                    names.append(opponent.name)
            self._company[i] = {"seat": seat, "opponents": tuple(names)}


def _in_range(given: Any, count: int, actions: int, name: str) -> Any:
    chosen = np.asarray(given)
    if chosen.shape != (count,) or not np.issubdtype(chosen.dtype, np.integer):
        raise TypeError(f"opponent {name} returned {chosen.dtype} of shape {chosen.shape}; return {count} integers")
    if chosen.min() < 0 or chosen.max() >= actions:
        bad = chosen[(chosen < 0) | (chosen >= actions)][0]
        raise ValueError(f"opponent {name} chose action {bad}, which is outside Discrete({actions})")
    return chosen


def mixes(settings: Mapping[str, Any]) -> bool:
    """Return whether settings of an environment ask for what only a :class:`MixedVectorEnv` does."""
    seat, opponent = settings.get("seat", 0), settings.get("opponent")
    named = isinstance(opponent, str) and (":" in opponent or opponent == SELF)
    started = settings.get("starts") is not None
    return started or seat == ALL or named or isinstance(opponent, Mapping) or hasattr(opponent, "act")


@cache
def mixed(env_class: type[GameEnv]) -> type[MixedVectorEnv]:
    """Return the batched class of an environment class with a mixture of opponents."""
    return type(f"{env_class.__name__}Mixed", (MixedVectorEnv,), {"env_class": env_class})
