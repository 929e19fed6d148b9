"""What happens during a training besides learning: checkpoints, evaluations, limits, a clean end when interrupted."""

import signal
import threading
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

from stable_baselines3.common.callbacks import BaseCallback, EvalCallback, EveryNTimesteps
from stable_baselines3.common.vec_env import VecEnv, VecNormalize

from agents.arena.interrupt import SECONDS_OF_ECHO, SIGNALS
from agents.learning.diverging import not_finite
from agents.learning.saved.notices import notice

_PATIENCE = 5.0
"""Seconds for a rollout to come to its end."""

_LONGEST = 10_000
"""Steps after which a game is taken for one that does not end."""


class Checkpoints(BaseCallback):
    """Save every so many steps, before the next rollout begins: there a training is whole.

    Stable-Baselines3's ``CheckpointCallback`` cannot take its place: it writes at once under the final name, the policy
    and the statistics of ``VecNormalize`` one after the other, so a kill leaves a torn zip, or one without its
    statistics, that looks like the last checkpoint; and it keeps nothing else to go on with.

    Parameters
    ----------
    steps : int
        Of all environments, between one and the next.
    due : int
        Steps of the first.
    save : callable
        Writes a checkpoint.
    """

    def __init__(self, steps: int, due: int, save: Callable[[], Any]) -> None:
        super().__init__()
        self._steps, self._due, self._save = steps, due, save

    def _on_rollout_start(self) -> None:
        if self.num_timesteps >= self._due:
            self._due = self.num_timesteps + self._steps
            self._save()

    def _on_step(self) -> bool:
        return True


class _GivenUpError(Exception):
    """An evaluation will not be over, or not in time."""


class _Evaluations(EveryNTimesteps):
    """Evaluate, and give that up where a game does not end, as where the best action is to turn in a circle."""

    def __init__(self, steps: int, evaluation: Any, over: Callable[[], bool]) -> None:
        super().__init__(steps, evaluation)
        note = evaluation._log_success_callback

        def noting(seen: dict[str, Any], outside: dict[str, Any]) -> None:
            note(seen, outside)
            if over() or seen["current_lengths"][seen["i"]] > _LONGEST:
                raise _GivenUpError

        evaluation._log_success_callback = noting
        self._over = over

    def _on_event(self) -> bool:
        try:
            return super()._on_event()
        except _GivenUpError:
            if not self._over():
                notice(
                    f"an evaluation was given up: a game of the policy's best actions was not over after {_LONGEST:,} "
                    "steps; let the game end by itself after some (TRUNCATED)"
                )
            return True


def evaluations(
    steps: int, done: int, env: VecEnv, games: int, masked: bool, over: Callable[[], bool] = lambda: False
) -> BaseCallback:
    """Return a callback that logs ``eval/mean_reward``, ``eval/success_rate`` (games won) and ``eval/mean_ep_length``.

    Parameters
    ----------
    steps, done : int
        Of all environments, between one and the next, and before the first.
    env : VecEnv
        Wrapped as the training's.
    games : int
        Played in each evaluation, with the best action everywhere.
    masked : bool
        Whether the policy takes masks.
    over : callable, optional
        Says whether the training is to end, and an evaluation with it.
    """
    if isinstance(env, VecNormalize):
        env.training = False  # it has the training's statistics, and adds none
    settings: dict[str, Any] = {"n_eval_episodes": games, "eval_freq": 1, "verbose": 0}
    kind: type[EvalCallback] = EvalCallback
    if masked:
        from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback

        kind = MaskableEvalCallback
    found = _Evaluations(steps, kind(env, **settings), over)
    found.last_time_trigger = done
    return found


class Ended(Exception):  # noqa: N818 - nothing is wrong
    """A training ends before the rollout that would be next."""


class Finite(BaseCallback):
    """End the training before a rollout with weights that are not finite: nothing comes of it any more."""

    def _on_rollout_start(self) -> None:
        if not_finite(self.model.policy):
            raise Ended

    def _on_step(self) -> bool:
        return True


class Limits(BaseCallback):
    """End the training after some minutes, or when it is asked to stop: between two rollouts, if that is soon.

    Parameters
    ----------
    minutes : float, optional
    stop : StopRequest

    Attributes
    ----------
    broken : bool
        Whether it ended within a rollout, which took too long; what was played in it is lost.
    """

    def __init__(self, minutes: float | None, stop: "StopRequest") -> None:
        super().__init__()
        self._seconds = None if minutes is None else 60 * minutes
        self._stop = stop
        self._start = 0.0
        self._since: float | None = None
        self.broken = False

    def _on_training_start(self) -> None:
        self._start = time.monotonic()

    def _on_rollout_start(self) -> None:
        if self.over():
            raise Ended

    def _on_step(self) -> bool:
        if not self.over():
            return True
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        self.broken = now - self._since >= _PATIENCE
        return not self.broken

    def over(self) -> bool:
        """Say whether the training is to end."""
        late = self._seconds is not None and time.monotonic() - self._start >= self._seconds
        return late or self._stop.requested


class StopRequest:
    """While it is open, the first Ctrl-C, SIGTERM or SIGHUP is taken as a wish to stop; a later one acts as ever.

    What comes within a second of the first is its echo: ``timeout``, batch queues and closing terminals send a signal
    to the process and to its group. SIGHUP stays ignored where it is, as under ``nohup``. Only the main thread can
    receive signals; in another thread nothing changes.

    Attributes
    ----------
    signal : int, optional
        Which of them came.
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        self._came = 0.0
        self._before: dict[int, Any] = {}

    @property
    def requested(self) -> bool:
        """Whether one came."""
        return self.signal is not None

    def __enter__(self) -> "StopRequest":
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                asked = number in (signal.SIGINT, signal.SIGTERM)
                if asked or signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._restore()

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.signal is None:
            self.signal, self._came = number, time.monotonic()
        elif time.monotonic() - self._came > SECONDS_OF_ECHO:
            self._restore()
            signal.raise_signal(number)

    def _restore(self) -> None:
        while self._before:
            number, handler = self._before.popitem()
            signal.signal(number, handler)
