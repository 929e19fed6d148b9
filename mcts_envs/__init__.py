"""Four games as Gymnasium and PettingZoo environments whose states can be saved, restored, set and searched."""

from typing import TYPE_CHECKING, Any

from mcts_envs.core import loading
from mcts_envs.registry import ENTRIES, find, full_id, register, register_all
from mcts_envs.version import __version__
from mcts_envs.zoo import modules

if TYPE_CHECKING:
    from pettingzoo import ParallelEnv
    from stable_baselines3.common.vec_env import VecEnv

    from mcts_envs.core.api.multi import GameAECEnv
    from mcts_envs.core.api.vector import GameVectorEnv

__all__ = [
    "__version__",
    "check_game",
    "environment_ids",
    "make_aec",
    "make_parallel",
    "make_sb3_vec_env",
    "make_vec",
    "register",
    "show",
]

register_all()


def environment_ids() -> list[str]:
    """Return the ids of all environments, registered games of one's own included."""
    return list(ENTRIES)


def make_vec(id: str, num_envs: int = 1, **settings: Any) -> "GameVectorEnv":
    """Return the batched environment: ``gymnasium.make_vec`` with "did you mean".

    Parameters
    ----------
    id : str
        With or without ``mcts_envs/``; ``module:ID`` and ``path/to/file.py:ID`` import the module first.
    num_envs : int
    **settings
        See :class:`mcts_envs.core.api.vector.GameVectorEnv` and the environment's own page.

    Raises
    ------
    ValueError, TypeError
        If the id is unknown or no name.
    """
    import gymnasium

    env: Any = gymnasium.make_vec(find(id).id, num_envs=num_envs, **settings)
    return env


def make_sb3_vec_env(id: str, n_envs: int = 1, seed: int | None = None, **settings: Any) -> "VecEnv":
    """Return an environment batch that Stable-Baselines3 and sb3-contrib train on (``action_masks`` included).

    Parameters
    ----------
    id : str
        With or without ``mcts_envs/``.
    n_envs : int
    seed : int, optional
        Seed of the first reset.
    **settings
        See :class:`mcts_envs.core.api.env.GameEnv` and the environment's own page; ``threads``, among which the games
        are shared out. Here ``opponent`` may also be weights by name, ``{"scripted": 1, "sb3:PATH": 1, "agents:NAME":
        1, "self": 2}``, ``seat`` may be ``"all"``: all in turn, and ``starts`` says from which positions games start;
        see :class:`mcts_envs.core.api.mixed.MixedVectorEnv`.

    Raises
    ------
    ValueError, TypeError
        If the id is unknown or no name.
    ImportError
        If Stable-Baselines3 is not installed (``pip install "mcts-envs[rl]"``).
    """
    from mcts_envs.sb3 import GameVecEnv

    entry = find(id)
    return GameVecEnv.monitored(entry.env_class(), n_envs, seed, {**entry.settings, **settings})


def make_aec(id: str, **settings: Any) -> "GameAECEnv":
    """Return the PettingZoo AEC environment of a game for several players.

    Parameters
    ----------
    id : str
        With or without ``mcts_envs/``.
    **settings
        See :class:`mcts_envs.core.api.multi.GameAECEnv` (``action_mask="info"``: plain observations) and the
        environment's own page.

    Raises
    ------
    ValueError, TypeError
        If the id is unknown or no name, or the game is for one player.
    """
    from mcts_envs.core.api.multi import GameAECEnv

    entry = _multiplayer(id)
    return GameAECEnv(entry.env_class(), **{**entry.settings, **settings})


def make_parallel(id: str, **settings: Any) -> "ParallelEnv[Any, Any, Any]":
    """Return the PettingZoo parallel environment of a game for several players; see :func:`make_aec`."""
    from mcts_envs.core.api.multi import parallel

    entry = _multiplayer(id)
    return parallel(entry.env_class(), **{**entry.settings, **settings})


def check_game(game: Any, **options: Any) -> None:
    """Check every law of the contract on a game or an environment id; see :func:`mcts_envs.core.check.check_game`.

    The id is with or without ``mcts_envs/``; ``module:ID`` and ``path/to/file.py:ID`` import the module first.
    """
    from mcts_envs.core.check import check_game as check

    check(full_id(game) if isinstance(game, str) else game, **options)


def show(env: Any) -> Any:
    """Return an environment's present state, or a replay, as a page for a notebook: :func:`mcts_envs.page.show`."""
    from mcts_envs.page import show as shown

    return shown(env)


if not TYPE_CHECKING:
    __getattr__ = loading.named_modules(__name__)


def _multiplayer(id: str) -> Any:
    entry = find(id)
    if entry.players < 2:
        raise ValueError(f"{entry.id} is a game for one player: use gymnasium.make({entry.id!r})")
    return entry


globals().update(modules(make_aec, make_parallel))
