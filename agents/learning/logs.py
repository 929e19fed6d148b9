"""TensorBoard's log of a training, which goes on where that cannot be written."""

import contextlib
import glob
import importlib.util
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stable_baselines3.common.logger import KVWriter, Logger, configure
from stable_baselines3.common.utils import get_latest_run_id

from agents.learning.algorithms import EXTRA
from agents.learning.curves import FILES, begun
from mcts_envs.core.own_code import warn

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm


class _GivenUp(KVWriter):
    """Writes as another does, up to the first error: what comes after it would be in doubt.

    That of a folder which is no longer there is raised.
    """

    def __init__(self, writer: KVWriter, folder: str) -> None:
        self._writer, self._folder, self._given_up = writer, folder, False

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        if self._given_up:
            return
        try:
            self._writer.write(key_values, key_excluded, step)
        except OSError as error:
            if not Path(self._folder).is_dir():
                raise
            self._given_up = True
            warn(
                f"{self._folder} cannot be written ({error.strerror or error}): the training goes on, without curves "
                f"from {step:,} steps on",
            )

    def close(self) -> None:
        if not self._given_up:
            self._writer.close()


@contextlib.contextmanager
def logging(model: "BaseAlgorithm", name: str, anew: bool) -> Iterator[None]:
    """Let a model log where its ``tensorboard_log`` says, in a folder of this name and a number, or nowhere.

    Parameters
    ----------
    model : BaseAlgorithm
    name : str
    anew : bool
        Whether a training begins: in a folder of its own, else in the last one, unless the clock has gone back since.

    Raises
    ------
    OSError
        If the log cannot be begun.
    ImportError
        If TensorBoard is not installed.
    """
    if model.tensorboard_log is None:
        model.set_logger(Logger(None, []))  # else it makes a folder in the temporary one
        yield
        return
    before = threading.excepthook

    def heard(args: Any) -> None:
        if not isinstance(args.exc_value, OSError):  # which the thread that writes gives to those who log, too
            before(args)

    threading.excepthook = heard
    try:
        log = configure(str(_folder(Path(model.tensorboard_log), name, anew)), ["tensorboard"])
        log.output_formats = [_GivenUp(writer, str(log.dir)) for writer in log.output_formats]
        model.set_logger(log)
        yield
    finally:
        threading.excepthook = before


def _folder(log: Path, name: str, anew: bool) -> Path:
    """Return where in a log a training goes on: who reads a folder takes its files in the order of their clocks."""
    if importlib.util.find_spec("tensorboard") is None:
        raise ImportError(f"TensorBoard, which logs trainings, is not installed; get it with: {EXTRA}")
    last = get_latest_run_id(glob.escape(str(log)), name)
    later = any(begun(file)[1] > time.time() for file in (log / f"{name}_{last}").glob(FILES))
    return log / f"{name}_{last + 1 if anew or later else max(1, last)}"
