"""What happens during a training besides learning: checkpoints, the time limit, and a clean end when interrupted."""

import signal
import threading
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

from stable_baselines3.common.callbacks import BaseCallback


class Checkpoints(BaseCallback):
    """Save the policy every so many steps.

    Parameters
    ----------
    every : int
        Steps, over all environments together.
    save : callable
        ``save(timesteps)``.
    """

    def __init__(self, every: int, save: Callable[[int], Any]) -> None:
        super().__init__()
        self.every = every
        self._save = save
        self._next = 0

    def _on_training_start(self) -> None:
        self._next = self.num_timesteps + self.every

    def _on_step(self) -> bool:
        if self.num_timesteps >= self._next:
            self._next += self.every
            self._save(self.num_timesteps)
        return True


class Limits(BaseCallback):
    """End the training after some minutes, or when it is asked to stop.

    Parameters
    ----------
    minutes : float, optional
    stop : StopRequest
    """

    def __init__(self, minutes: float | None, stop: "StopRequest") -> None:
        super().__init__()
        self._seconds = None if minutes is None else 60 * minutes
        self._stop = stop
        self._start = 0.0

    def _on_training_start(self) -> None:
        self._start = time.monotonic()

    def _on_step(self) -> bool:
        late = self._seconds is not None and time.monotonic() - self._start >= self._seconds
        return not (late or self._stop.requested)


class StopRequest:
    """While it is open, the first Ctrl-C or SIGTERM is taken as a wish to stop; the second acts as ever.

    Only the main thread can receive signals; in another thread nothing changes.
    """

    def __init__(self) -> None:
        self.requested = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "StopRequest":
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._restore()

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.requested = True
        self._restore()

    def _restore(self) -> None:
        while self._before:
            number, handler = self._before.popitem()
            signal.signal(number, handler)
