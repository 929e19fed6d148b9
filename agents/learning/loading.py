"""Policies by path: what Stable-Baselines3 saved, or plain arrays; and those that come with this package."""

import os
from pathlib import Path

from agents.learning.export import plain_arrays
from agents.learning.saved import normalizing, storage
from agents.learning.saved.fitting import check_actions
from agents.learning.saved.network import SUFFIX
from agents.learning.saved.policy import Policy, read_network
from agents.learning.saved.recognizing import algorithm_in
from agents.learning.saved.recurrent import remembers
from agents.learning.saved.shipped import shipped_for
from agents.learning.saved.weights import read_zip
from mcts_envs.core.contract import Game


def load_policy(
    path: Path | str,
    algorithm: str | None = None,
    normalization: normalizing.Given = None,
    frame_stack: int = 1,
) -> Policy:
    """Read a policy to play with: ``NAME.npz`` that ``agents.export`` wrote, or else a zip of Stable-Baselines3.

    Parameters
    ----------
    path, algorithm, normalization, frame_stack
        As for :func:`agents.learning.saved.storage.load`. Plain arrays know their algorithm and bring their statistics.

    Raises
    ------
    FileNotFoundError, ValueError
        If there is no such file, it is damaged or of another kind, or the settings are not its own.
    """
    path = os.path.expanduser(path)  # in sb3:~/model.zip no shell does
    if not path.endswith(SUFFIX):
        if Path(path).is_file() and not storage.with_suffix(path).is_file():
            if algorithm_in(Path(path)):  # its save adds no .zip to a name that has a dot
                raise ValueError(f"{path} is a zip of Stable-Baselines3 under another name; rename it to {path}.zip")
            raise ValueError(
                f"{path} is no zip of Stable-Baselines3 and no {SUFFIX} of agents.export; let an agent of your own "
                "play it (docs/own_agent.md), or a search ask it by a function (docs/policies.md)"
            )
        return storage.load(path, algorithm, normalization=normalization, frame_stack=frame_stack)
    if normalization is not None:
        raise ValueError(f"normalization={normalization} does not go with {path}: give it to agents.export")
    policy = read_network(Path(path))
    if algorithm not in (None, policy.algorithm):
        raise ValueError(f"{path} was made by {policy.algorithm!r}, not by {algorithm!r}; leave algorithm out")
    return policy


def quickest(policy: Policy) -> Policy:
    """Return a policy as it plays fastest: as plain arrays, if its network can be said so.

    One forward for one state takes PyTorch and Stable-Baselines3 some ten times as long.

    Raises
    ------
    ValueError
        If its actions are not numbers from 0 on.
    """
    if not isinstance(policy, storage.SavedPolicy):
        return policy
    check_actions(policy.path, policy.model.action_space)
    return policy if remembers(policy) else plain_arrays(policy)


def load_shipped(game: Game, name: str) -> Policy:
    """Return a policy that is shipped for a game, which plays without Stable-Baselines3 and PyTorch.

    Parameters
    ----------
    game : Game
    name : str
        As for :func:`agents.learning.saved.shipped.shipped_for`.

    Raises
    ------
    ValueError
        If none is.
    """
    return read_zip(shipped_for(game, name))
