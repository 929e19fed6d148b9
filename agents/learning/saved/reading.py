"""Models of Stable-Baselines3 read from the zips that it writes."""

import re
import warnings
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.learning.algorithms import algorithm_class, is_recurrent
from agents.learning.diverging import not_finite
from agents.learning.saved import trust
from agents.learning.saved.gym_spaces import unpickled_as_gymnasium

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

_UNREAD = r"Could not deserialize object (policy_class|policy_kwargs|observation_space|action_space)\."
"""What Stable-Baselines3 warns of where it goes on without a part that makes the network: another one, then."""


def read_model(path: Path, algorithm: str, **arguments: Any) -> "BaseAlgorithm":
    """Return the model in a zip; ``arguments`` go to Stable-Baselines3's ``load``.

    Raises
    ------
    ValueError
        If the file is damaged, no policy of this algorithm, wants a module that is not found, or has weights that are
        not finite.
    """
    cls = algorithm_class(algorithm)
    trust.warn_of_pickles(path)
    chosen_again: dict[str, Any] = {"replay_buffer_class": None, "replay_buffer_kwargs": {}}
    try:
        with zipfile.ZipFile(path) as file:
            data = file.read("data")
        with warnings.catch_warnings(), unpickled_as_gymnasium(data):
            warnings.filterwarnings("error", _UNREAD)
            model = cls.load(path, custom_objects=chosen_again, **{"device": "cpu", **arguments})
    except ModuleNotFoundError as error:
        where = "let PYTHONPATH name the folder that holds it, or install it"
        raise ValueError(f"{path} wants the module {error.name!r}, which is not found here; {where}") from error
    except Exception as error:
        raise _not_read(path, algorithm, error) from error
    derived = isinstance(model.policy, next(iter(cls.policy_aliases.values())))  # recurrent ones are derived from PPO's
    if not derived or is_recurrent(model.policy) != (algorithm == "recurrent_ppo"):
        kind = type(model.policy).__name__
        raise ValueError(f"{path} holds a {kind}, which is no policy of {algorithm}; name the algorithm that made it")
    if name := not_finite(model.policy):
        raise ValueError(f"{path}: {name} is not finite: training has diverged; take an earlier checkpoint")
    return model


def _not_read(path: Path, algorithm: str, error: Exception) -> ValueError:
    """Return why a zip is not read, and the cure."""
    detail = f"{type(error).__name__}: {error}"
    what, cure = f"is damaged, or no policy of {algorithm}", "save or train it anew"
    if unread := re.match(_UNREAD, str(error)):
        detail = detail.rpartition("Exception: ")[2]
        what = f"has a {unread[1]} that cannot be made here"
        cure = "bring back the classes and the Python of its training"
    elif "loading state_dict" in detail:
        what, cure = "has weights of another network than its classes make now", "bring back those of its training"
    return ValueError(f"{path} {what} ({' '.join(detail.split())[:200]}); {cure}")
