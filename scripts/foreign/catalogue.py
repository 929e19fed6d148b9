"""Environments of others, by group; how each is made, and which package brings it."""

import importlib
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Entry:
    """An environment of others.

    Attributes
    ----------
    group : str
        Where it comes from.
    name : str
        As its package calls it.
    needs : tuple of str
        Modules without which it cannot be made.
    walk : int
        Length of the trajectories that are compared, in steps at most.
    """

    group: str
    name: str
    needs: tuple[str, ...] = ()
    walk: int = 20

    def make(self, **settings: Any) -> Any:
        """Return the environment, not yet reset."""
        return _MAKERS[self.group](self.name, **settings)


def _gymnasium(name: str, **settings: Any) -> Any:
    import gymnasium

    return gymnasium.make(name, **_SETTINGS.get(name, {}), **settings)


def _in_bins(name: str, **settings: Any) -> Any:
    """Return an environment whose continuous actions are made discrete, three numbers for each."""
    import gymnasium

    return gymnasium.wrappers.DiscretizeAction(gymnasium.make(name, **settings), 3)


def _in_pushes(name: str, **settings: Any) -> Any:
    """Return an environment in which one of nine pushes is chosen, drawn once, each of all joints together."""
    import gymnasium
    import numpy as np

    env = gymnasium.make(name, **settings)
    box: Any = env.action_space
    pushes = np.random.default_rng(0).uniform(box.low, box.high, (9, *box.shape)).astype(box.dtype)
    return gymnasium.wrappers.TransformAction(env, pushes.__getitem__, gymnasium.spaces.Discrete(9))


def _of_dm_control(name: str, **settings: Any) -> Any:
    """Return an environment of the control suite, with nine pushes."""
    import gymnasium

    gymnasium.register_envs(importlib.import_module("shimmy"))
    return _in_pushes(name, **settings)


def _with(module: str) -> Any:
    def make(name: str, **settings: Any) -> Any:
        import gymnasium

        gymnasium.register_envs(importlib.import_module(module))
        return gymnasium.make(name, **settings)

    return make


def _summed(name: str, **settings: Any) -> Any:
    """Return an environment of MO-Gymnasium, whose several rewards are added up."""
    import gymnasium

    env = _with("mo_gymnasium")(name, **settings)
    return gymnasium.wrappers.TransformReward(env, lambda rewards: float(sum(rewards)))


def _pettingzoo(folder: str) -> Any:
    def make(name: str) -> Any:
        module = importlib.import_module(f"pettingzoo.{folder}.{name}")
        return (module.parallel_env if folder == "butterfly" else module.env)(**_SETTINGS.get(name, {}))

    return make


_SETTINGS: dict[str, dict[str, Any]] = {
    "CarRacing-v3": {"continuous": False},
    "cooperative_pong_v6": {"max_cycles": 100},
    "knights_archers_zombies_v11": {"max_cycles": 100},
    "pistonball_v6": {"continuous": False, "n_pistons": 4, "max_cycles": 50},
}


def _open_spiel(name: str) -> Any:
    from shimmy import OpenSpielCompatibilityV0

    return OpenSpielCompatibilityV0(game_name=name)


def _pgx(name: str) -> Any:
    from agents.bridge import pgx_environment

    return pgx_environment(name.removeprefix("pgx/"))


_MAKERS = {
    "toy text": _gymnasium,
    "classic control": _gymnasium,
    "Box2D": _gymnasium,
    "continuous, in DiscretizeAction": _in_bins,
    "MuJoCo, in nine pushes": _in_pushes,
    "control suite of dm_control, in nine pushes": _of_dm_control,
    "MiniGrid": _with("minigrid"),
    "POPGym": _with("popgym"),
    "MO-Gymnasium, rewards added up": _summed,
    "SimpleGrid": _with("gym_simplegrid"),
    "Tetris Gymnasium": _with("tetris_gymnasium.envs.tetris"),
    "ALE": _with("ale_py"),
    "PettingZoo classic": _pettingzoo("classic"),
    "PettingZoo butterfly": _pettingzoo("butterfly"),
    "OpenSpiel, through Shimmy": _open_spiel,
    "pgx": _pgx,
}

_CARDS = ("rlcard", "pygame")


def _all(group: str, names: str, needs: tuple[str, ...] = (), walk: int = 20) -> tuple[Entry, ...]:
    return tuple(Entry(group, name, needs, walk) for name in names.split())


CATALOGUE = (
    *_all("toy text", "Blackjack-v1 CliffWalking-v1 CliffWalkingSlippery-v1 FrozenLake-v1 FrozenLake8x8-v1 Taxi-v4"),
    *_all("classic control", "CartPole-v1 MountainCar-v0 Acrobot-v1"),
    *_all("Box2D", "LunarLander-v3", ("Box2D",), 10),
    *_all("Box2D", "CarRacing-v3", ("Box2D",), 5),
    *_all("continuous, in DiscretizeAction", "Pendulum-v1 MountainCarContinuous-v0"),
    *_all("continuous, in DiscretizeAction", "BipedalWalker-v3", ("Box2D",), 10),
    *_all(
        "MuJoCo, in nine pushes",
        "InvertedPendulum-v5 InvertedDoublePendulum-v5 Reacher-v5 Pusher-v5 Swimmer-v5 HalfCheetah-v5 Hopper-v5 "
        "Walker2d-v5 Ant-v5 Humanoid-v5",
        ("mujoco",),
    ),
    *_all(
        "control suite of dm_control, in nine pushes",
        "dm_control/cartpole-swingup-v0 dm_control/ball_in_cup-catch-v0 dm_control/finger-spin-v0 "
        "dm_control/walker-walk-v0 dm_control/cheetah-run-v0 dm_control/humanoid-walk-v0",
        ("dm_control", "shimmy"),
    ),
    *_all(
        "MiniGrid",
        "MiniGrid-Empty-5x5-v0 MiniGrid-DoorKey-5x5-v0 MiniGrid-FourRooms-v0 MiniGrid-Dynamic-Obstacles-5x5-v0 "
        "MiniGrid-MemoryS7-v0 MiniGrid-LavaGapS5-v0 MiniGrid-KeyCorridorS3R1-v0 BabyAI-GoToObj-v0",
        ("minigrid",),
        10,
    ),
    *_all(
        "POPGym",
        "popgym-RepeatPreviousEasy-v0 popgym-RepeatFirstEasy-v0 popgym-ConcentrationEasy-v0 popgym-CountRecallEasy-v0 "
        "popgym-HigherLowerEasy-v0 popgym-MultiarmedBanditEasy-v0 popgym-NoisyPositionOnlyCartPoleEasy-v0",
        ("popgym",),
    ),
    *_all(
        "MO-Gymnasium, rewards added up",
        "deep-sea-treasure-v0 resource-gathering-v0 fishwood-v0 fruit-tree-v0 breakable-bottles-v0 four-room-v0",
        ("mo_gymnasium",),
    ),
    *_all("SimpleGrid", "SimpleGrid-8x8-v0", ("gym_simplegrid",)),
    *_all("Tetris Gymnasium", "tetris_gymnasium/Tetris", ("tetris_gymnasium",), 10),
    *_all("ALE", "ALE/Pong-v5 ALE/Breakout-v5 ALE/MsPacman-v5 ALE/SpaceInvaders-v5 ALE/Freeway-v5", ("ale_py",), 10),
    *_all("PettingZoo classic", "tictactoe_v3 connect_four_v3 rps_v2", ("pygame",), 10),
    *_all("PettingZoo classic", "leduc_holdem_v4 texas_holdem_v4 texas_holdem_no_limit_v6", _CARDS, 10),
    *_all("PettingZoo classic", "chess_v6", ("chess", "pygame"), 5),
    *_all("PettingZoo classic", "go_v5", ("pygame",), 5),
    *_all("PettingZoo classic", "hanabi_v5", ("pyspiel", "shimmy", "pygame"), 10),
    *_all("PettingZoo butterfly", "cooperative_pong_v6 knights_archers_zombies_v11", ("pygame",), 5),
    *_all("PettingZoo butterfly", "pistonball_v6", ("pygame", "pymunk"), 5),
    *_all(
        "OpenSpiel, through Shimmy",
        "tic_tac_toe connect_four breakthrough othello backgammon pig go hex kuhn_poker leduc_poker liars_dice hanabi "
        "goofspiel matrix_rps gin_rummy blackjack",
        ("pyspiel", "shimmy"),
        10,
    ),
    *_all(
        "pgx",
        "pgx/tic_tac_toe pgx/connect_four pgx/kuhn_poker pgx/leduc_holdem pgx/2048 pgx/minatar-breakout",
        ("pgx", "jax"),
        10,
    ),
)
"""All that the page tells of, in its order."""
