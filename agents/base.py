"""What every agent is: something that looks at a live environment and chooses an action."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from agents.budget import LIMITS
from agents.settings import defaults_of, settings_of, written
from agents.wrappers import OF_OBSERVATIONS, check_around, check_masks, check_wrappers, resets_next
from mcts_envs.core import errors
from mcts_envs.core.api.quantized import quantized
from mcts_envs.core.contract import SIGNATURES, Game
from mcts_envs.core.kernel import reference, resolve
from mcts_envs.core.rng import CHANCE_BYTES, MAX_SEED, new_stream, reseed
from mcts_envs.core.view import View


class Agent(ABC):
    """Base of all agents.

    Subclasses choose in :meth:`choose`. Randomness comes from ``self.stream`` alone, so the same seed in the same
    state gives the same choice.

    Parameters
    ----------
    seed : int
        Start of the agent's random stream.
    """

    name = "agent"
    takes_budget = False
    """Whether it has ``simulations``, ``time_limit`` and ``max_steps`` among its settings."""
    _transient: tuple[str, ...] = ("_prepared",)
    """Attributes that a copy or a pickle leaves out, besides those of the classes above."""
    _prepared: tuple[Game, Any] | None = None
    _given: dict[str, str]
    """The settings that it was made with, as they are written."""

    def __new__(cls, *args: Any, **settings: Any) -> "Agent":
        """Keep the settings for the name that an agent shows."""
        agent = super().__new__(cls)
        agent._given = {name: written(value) for name, value in settings.items()}
        return agent

    def __init__(self, *, seed: int = 0) -> None:
        self.stream = new_stream(errors.integer("seed", seed, 0, MAX_SEED))
        self.last_result: Any = None
        self._bound: list[Callable[[], View]] = []
        self._shapes: set[tuple[int, ...] | None] = set()
        self._leaf: tuple[Any, ...] = ()
        self._compares = False

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute.

        Raises
        ------
        AttributeError
            If it is a setting that an agent of this package would go on without.
        """
        if type(self).__module__.startswith("agents.") and self._settled(name):
            cure = f"agents.make({self.name!r}, {name}={written(value)})"
            raise AttributeError(f"{name} of an agent is settled when it is made; make another: {cure}")
        super().__setattr__(name, value)

    def _settled(self, name: str) -> bool:
        """Say whether nothing would look at an attribute: limits, parameters, and settings once the agent has acted."""
        if name in LIMITS or name in vars(self).get("parameters", ()):
            return True
        acted = self._prepared is not None or vars(self).get("last_result") is not None
        return acted and not name.startswith("_") and name in settings_of(type(self))

    def __getstate__(self) -> dict[str, Any]:
        left_out = {name for kind in type(self).__mro__ for name in vars(kind).get("_transient", ())}
        kept = {name: reference(value) for name, value in vars(self).items() if name not in left_out}
        return kept | {"_bound": [], "last_result": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update({name: resolve(value) for name, value in state.items()})
        if self.stream.shape != (CHANCE_BYTES,) or self.stream[8]:  # the queue of forced dice is never used
            raise ValueError(f"the pickle of agent {self.name!r} is damaged: its random stream is none; make it anew")
        self.stream = self.stream.copy()  # copy.copy would share it

    def __repr__(self) -> str:
        """Return the name, the budget, and the settings that are not the default."""
        named, usual = (repr(self.name), repr(self.name.removeprefix("sb3:"))), defaults_of(type(self))
        given = {name: v for name, v in self._given.items() if v not in named and (name, v) not in usual}
        limits = {} if given.keys() & set(LIMITS) else self._limits()
        held = {name: written(value) for name, value in limits.items()} | given
        order = sorted(held, key=lambda name: (name not in LIMITS, name == "seed"))
        return f"{self.name}({', '.join(f'{name}={held[name]}' for name in order)})"

    def _limits(self) -> dict[str, Any]:
        """Return the budget that it has by default, as settings."""
        return {}

    @abstractmethod
    def choose(self, view: View) -> int:
        """Return a legal action for the player of this view."""

    def choose_among(self, view: View, mask: npt.NDArray[np.bool_]) -> int:
        """Return a legal action that a mask [A] allows.

        Raises
        ------
        ValueError
            If the agent, which looks at the game itself, chooses another.
        """
        action = self.choose(view)
        if not mask[action]:
            raise ValueError(
                f"{self.name} chose action {action}, which is legal in the game but not in action_masks; pass the "
                "masks of the bound environment, or leave them out (use_masking=False)"
            )
        return action

    def act(self, env: Any) -> int:
        """Return an action for whoever is to choose in an environment (wrapped or not) or a view.

        It is the first of all where ``Autoreset`` will not play it.

        Raises
        ------
        TypeError
            If agents cannot look into the environment.
        ValueError
            If the player is not to choose: the game is over, or it is another's turn.
        """
        view = view_of(env).still()
        if resets_next(env):
            return outward(view, 0)
        check_turn(view)
        return outward(view, self.choose(view))

    def search(self, env: Any) -> Any:
        """Refuse: planners search (:class:`agents.planner.Planner`).

        Raises
        ------
        TypeError
            Always.
        """
        raise TypeError(f"{self.name} acts without a search; call act(env), or search with a planner, such as 'mcts'")

    def start(self, env: Any) -> Any:
        """Refuse: searches that grow trees go on (:meth:`agents.mcts.MCTS.start`).

        Raises
        ------
        TypeError
            Always.
        """
        raise TypeError(f"{self.name} has no search that goes on; start one of an 'mcts' agent")

    def prepare(self, game: Game) -> Any:
        """Return what the agent makes once for a game, such as a variant of it or work arrays; for :meth:`prepared`."""
        return game

    def prepared(self, game: Game) -> Any:
        """Return what :meth:`prepare` made for this game, or one like it; it is kept until another game is played."""
        held = self._prepared  # once: another thread may play another game
        if held is None or not _alike(held[0], game):
            self._prepared = held = game, self.prepare(game)
        return held[1]

    def check_seat(self, game: Game, at_once: bool) -> None:
        """Raise ``ValueError`` if the agent cannot play a game, or many games of it at once, as an opponent inside."""
        self.prepared(game)

    def reseed(self, seed: int) -> None:
        """Start the random stream anew, as at construction; it is unrelated to that of a game with the same seed."""
        reseed(self.stream, errors.integer("seed", seed, 0, MAX_SEED))

    def bind(self, env: Any) -> "Agent":
        """Let :meth:`predict` act on this live environment, or batch of them, and return the agent itself.

        Raises
        ------
        TypeError
            If the environment cannot be looked into, as when its games live in other processes.
        """
        bound, game = _live_views(env)
        path, shown = _shown_shapes(env, game.observation_shape)
        says = not hasattr(game, "outward")  # environments that are not ours do not say again what they have shown
        self._compares = says and shown == {game.observation_shape} and not _changes_observations(env)
        self._bound, self._shapes, self._leaf = bound, shown, path
        return self

    def predict(
        self,
        observation: Any,
        state: tuple[npt.NDArray[Any], ...] | None = None,
        episode_start: npt.NDArray[np.bool_] | None = None,
        deterministic: bool = True,
        action_masks: Any = None,
    ) -> tuple[npt.NDArray[np.int64], tuple[npt.NDArray[Any], ...] | None]:
        """Choose for the bound environments: the interface of ``evaluate_policy`` of Stable-Baselines3 and sb3-contrib.

        Parameters
        ----------
        observation : array [n, ...], or a dictionary or tuple of them
            What the bound environments show now. Planners look at the environments themselves; it only serves to
            detect that another environment is being played.
        state, episode_start, deterministic
            Accepted and handed back unchanged, as Stable-Baselines3 expects of memoryless policies.
        action_masks : bool array [n, A], optional
            What each game allows, as sb3-contrib passes it. A policy that takes masks chooses among these actions;
            planners ask the environments themselves, and what they choose must be among them.

        Returns
        -------
        actions : int64 array [n]
        state

        Raises
        ------
        RuntimeError
            If no environment is bound.
        ValueError
            If the observations or the masks are not those of the bound environments.
        """
        if not self._bound:
            raise RuntimeError(f"{self.name} has no environment to look at; call agent.bind(env) before predict")
        views = [view().still() for view in self._bound]
        for part in self._leaf if isinstance(observation, (Mapping, tuple)) else ():
            observation = observation[part]
        observations = np.asarray(observation)
        single = observations.shape in self._shapes
        if single:
            observations = observations[None]
        if len(observations) != len(views):
            raise ValueError(
                f"{len(observations)} observations for {len(views)} bound environments; bind the one played"
            )
        if self._compares and any(not _shows(view, seen) for seen, view in zip(observations, views, strict=True)):
            raise ValueError(
                "the observation is not that of the bound environment; bind the environment that is played"
            )
        masks = [None] * len(views) if action_masks is None else _masks(action_masks, len(views), views[0].game.actions)
        actions = np.zeros(len(views), np.int64)  # 0 in a game that was over before the player's first
        asked = [i for i, view in enumerate(views) if view.game.active(view.state)]
        chosen = self.choose_all([views[i] for i in asked], [masks[i] for i in asked])
        actions[asked] = [outward(views[i], action) for i, action in zip(asked, chosen, strict=True)]
        return (actions[0] if single else actions), state

    def choose_all(self, views: Sequence[View], masks: Sequence[npt.NDArray[np.bool_] | None]) -> list[int]:
        """Return a legal action for each of several views, which its mask [A] allows if there is one."""
        pairs = zip(views, masks, strict=True)
        return [self.choose(view) if mask is None else self.choose_among(view, mask) for view, mask in pairs]


def _alike(one: Game, other: Game) -> bool:
    """Say whether games, as environments made one by one have them, are the same to an agent."""
    return one is other or (
        one.fingerprint == other.fingerprint
        and all(getattr(one, name) is getattr(other, name) for name in SIGNATURES)
        and one.observation_shape == other.observation_shape
        and getattr(one, "seats", None) == getattr(other, "seats", None)
        and _changes(one) == _changes(other)
    )


def _changes(game: Game) -> dict[str, dict[str, Any]]:
    """Return what the variants of a game change in play; symmetries, which are arrays, are for learning."""
    return {
        name: {field: value for field, value in change.items() if field != "symmetries"}
        for name, change in game.variants.items()
    }


def _shows(view: View, seen: npt.NDArray[Any]) -> bool:
    """Say whether this is the observation of a view, or the same in bytes."""
    shown = view.observe()
    return np.array_equal(seen, quantized(shown) if seen.dtype == np.uint8 else shown)


def _masks(given: Any, n: int, actions: int) -> npt.NDArray[np.bool_]:
    """Return action masks as booleans [n, A]."""
    masks = np.asarray(given, np.bool_)
    if masks.size != n * actions:
        raise ValueError(f"action_masks of shape {masks.shape} for {n} games of {actions} actions; bind the one played")
    return masks.reshape(n, actions)


def view_of(env: Any) -> View:
    """Return the live view of an environment's player to move.

    Environments without a ``view()`` of their own are looked at through :mod:`agents.bridge`.

    Raises
    ------
    TypeError
        If this is no environment, one whose actions are not discrete, or in a wrapper that changes them.
    """
    view = own_view(env)
    if view is not None:
        return view
    from agents import bridge

    return bridge.view(env)


def own_view(env: Any, agent: Any = None) -> View | None:
    """Return the view that an environment gives of itself, for an agent or whoever is to choose; None if it gives none.

    Raises
    ------
    TypeError
        If a wrapper changes actions, or it holds several games and none is named.
    """
    inner = getattr(env, "unwrapped", env)
    if not _has_view(inner):
        return None
    check_around(env, inner)
    if agent is None:  # an environment of those who choose at once does not know for whom a wrapper asks
        agent = getattr(env, "agent_selection", None)
    if agent is None and getattr(inner, "num_envs", 1) > 1:
        raise TypeError(
            f"{type(inner).__name__} holds {inner.num_envs} games, and act and search look at one: give them "
            "env.unwrapped.view(i) for game i, or let bind(env) and predict(observations) choose for all"
        )
    view: View = inner.view() if agent is None else inner.view(agent)
    check_masks(env, inner, view)
    return view


def outward(view: View, action: int) -> int:
    """Return an action as the environment's action space has it: one that is not ours may not count from 0."""
    own: Callable[[int, int], int] | None = getattr(view.game, "outward", None)
    return action if own is None else own(view.player, action)


def from_0(view: View, action: Any) -> int:
    """Return an action of the environment's action space, counted from 0: the reverse of :func:`outward`."""
    return int(action) - outward(view, 0)


def check_turn(view: View) -> None:
    """Raise ``ValueError`` unless the player of a view is to choose."""
    choosing = view.game.active(view.state)
    if not choosing >> view.player & 1:
        others = [str(player) for player in range(view.game.players) if choosing >> player & 1]
        why = f"those who are: {', '.join(others)}" if others else "nobody is; where the game is over call reset()"
        raise ValueError(f"player {view.player} is not to choose now; {why}")


def _has_view(inner: Any) -> bool:
    """Say whether an environment gives views of itself: of its ``game``, or of several."""
    return hasattr(inner, "view") and (hasattr(inner, "num_envs") or isinstance(getattr(inner, "game", None), Game))


def _live_views(env: Any) -> tuple[list[Callable[[], View]], Game]:
    """Return how to look at each game of an environment, which need not have begun, and what game it is."""
    inner = getattr(env, "unwrapped", env)
    if hasattr(inner, "num_envs"):
        check_wrappers(env)
    if _has_view(inner) and hasattr(inner, "num_envs"):
        return [lambda i=i: inner.view(i) for i in range(inner.num_envs)], inner.game  # type: ignore[misc]
    if hasattr(inner, "envs"):
        parts: Sequence[Any] = inner.envs
        return [lambda part=part: view_of(part) for part in parts], _live_views(parts[0])[1]  # type: ignore[misc]
    if hasattr(inner, "num_envs"):
        raise TypeError(
            f"{type(inner).__name__} keeps its environments where a planner cannot look at them; "
            "use DummyVecEnv, SyncVectorEnv or mcts_envs.make_sb3_vec_env"
        )
    game: Game = inner.game if _has_view(inner) else view_of(env).game
    return [lambda: view_of(env)], game


def _shown_shapes(env: Any, default: tuple[int, ...]) -> tuple[tuple[Any, ...], set[tuple[int, ...] | None]]:
    """Return where an observation of an environment has its array, the first if none is called so, and its shapes.

    In PettingZoo each agent may have a shape of its own. The default is that where the environment does not say.
    """
    path: list[Any] = []
    shapes = set()
    for space in _observation_spaces(env):
        path = []
        while isinstance(space, (spaces.Dict, spaces.Tuple)):
            named = isinstance(space, spaces.Dict) and "observation" not in space.spaces
            path.append(0 if isinstance(space, spaces.Tuple) else next(iter(space.spaces)) if named else "observation")
            space = space[path[-1]]
        shapes.add(space.shape)
    return tuple(path), shapes or {default}


def _observation_spaces(env: Any) -> list[Any]:
    """Return the spaces of what an environment shows, those in a batch, or agents of PettingZoo; none if unsaid."""
    for name in ("single_observation_space", "observation_space"):
        space: Any = getattr(env, name, None)
        if isinstance(space, gymnasium.Space):
            return [space]
        if callable(space):
            return [space(agent) for agent in env.possible_agents]
    return []


def _changes_observations(env: Any) -> bool:
    """Say whether a wrapper that changes observations stands between the game and what a policy is shown."""
    layers = [env]
    while layers:
        layer = layers.pop()
        if isinstance(layer, OF_OBSERVATIONS) or getattr(layer, "norm_obs", False):
            return True
        layers += [inner for name in ("env", "venv") if (inner := getattr(layer, name, None)) is not None]
        layers += getattr(layer, "envs", [])
    return False
