"""The learning algorithms by name."""

import contextlib
import importlib
import inspect
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

from mcts_envs.core import errors

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

ALGORITHMS = {
    "a2c": "stable_baselines3:A2C",
    "dqn": "stable_baselines3:DQN",
    "maskable_ppo": "sb3_contrib:MaskablePPO",
    "ppo": "stable_baselines3:PPO",
    "qrdqn": "sb3_contrib:QRDQN",
    "recurrent_ppo": "sb3_contrib:RecurrentPPO",
    "trpo": "sb3_contrib:TRPO",
}
"""Algorithms whose policies can be loaded; the module is imported when one is used."""

TRAINED = ("dqn", "maskable_ppo", "ppo")
"""Algorithms for which there are hyper-parameters to train with."""

EXTRA = 'pip install "mcts-envs[rl]"'


def algorithm_class(name: str) -> "type[BaseAlgorithm]":
    """Return the class of an algorithm.

    Raises
    ------
    ValueError
        If the name is unknown.
    ImportError
        If the library that has it is not installed, or cannot be imported.
    """
    errors.choice("algorithm", name, ALGORITHMS)
    module, attribute = ALGORITHMS[name].split(":")
    try:
        with _whole():
            found: type[BaseAlgorithm] = getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as error:
        raise ImportError(f"{name} needs {module}, which is not installed; get it with: {EXTRA}") from error
    except Exception as error:  # PyTorch cannot be imported again where that was interrupted: then it raises anything
        raise ImportError(
            f"{name} needs {module}, which cannot be imported ({type(error).__name__}: {error}); if Ctrl-C came while "
            "it was imported before, begin Python, or the kernel of the notebook, anew"
        ) from error
    return found


@contextlib.contextmanager
def _whole() -> Iterator[None]:
    """Let the first Ctrl-C wait: what it broke off could not be imported again in this process."""
    acts, came = signal.getsignal(signal.SIGINT), list[int]()
    if threading.current_thread() is not threading.main_thread() or not callable(acts):
        yield
        return

    def note(number: int, frame: FrameType | None) -> None:
        came.append(number)
        signal.signal(number, acts)

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, acts)
        for number in came:
            signal.raise_signal(number)


def parameters_of(name: str) -> set[str]:
    """Return the names of an algorithm's hyper-parameters, all of which can be written down."""
    reserved: set[str] = {"self", "env", "seed", "device", "verbose", "tensorboard_log", "_init_setup_model"}
    reserved |= {"rollout_buffer_class", "replay_buffer_class"}
    return {*inspect.signature(algorithm_class(name).__init__).parameters} - reserved


def takes_masks(model: Any) -> bool:
    """Say whether a model's policy wants to know which actions are legal."""
    return "action_masks" in inspect.signature(model.predict).parameters


def is_recurrent(policy: Any) -> bool:
    """Say whether a policy of a model remembers what it was shown, as that of ``RecurrentPPO``."""
    return hasattr(policy, "lstm_actor")


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Keep PyTorch to one thread: a second gains nothing on small networks, and costs much on a busy machine."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
