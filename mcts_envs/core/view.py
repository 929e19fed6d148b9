"""What a player sees when it is asked for a move."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from gymnasium.error import ResetNeeded

from mcts_envs.core.contract import Game
from mcts_envs.core.place import position_of
from mcts_envs.core.typing import Bytes, Ints, Singles

_NO_STREAM = bytes(8)
_OF_ENVIRONMENTS = {"clone_state", "redraw", "reset", "restore_state", "step"}


class Episode:
    """One game from its reset on: agents see by it that a new one has begun.

    It is compared by identity.
    """

    __slots__ = ("__weakref__",)


class View:
    """A live state of a game, looked at by one player.

    Every environment gives views of itself: ``env.unwrapped.view()`` in the Gymnasium and the batched API,
    ``env.unwrapped.view(agent)`` in PettingZoo's. All agents accept them in place of an environment.

    Parameters
    ----------
    game : Game
    state : uint8 array [size]
        Not copied: the view follows the game.
    player : int
        Who looks and is to choose.
    episode : Episode, optional
        The game that is being played, where the environment tells one from the next.

    Raises
    ------
    ValueError
        If the state is not of the game's size, or there is no such player: compiled code checks no bounds.
    gymnasium.error.ResetNeeded
        If the state was never reset.
    """

    __slots__ = ("episode", "game", "player", "state")

    def __init__(self, game: Game, state: Bytes, player: int, episode: Episode | None = None) -> None:
        if isinstance(state, np.ndarray):  # the states of environments that are not ours are objects
            if state.size != game.template.size or not 0 <= player < game.players:
                raise ValueError(
                    f"a state of {state.size} bytes looked at by player {player!r}; {game.name} has states of "
                    f"{game.template.size} bytes and players 0 to {game.players - 1}"
                )
            if state[:8].tobytes() == _NO_STREAM:
                raise ResetNeeded(
                    "the random stream of this state is 0, which no seed makes it: call game.reset(state, seed) "
                    "before looking, and seed_stream in a reset of your own"
                )
        self.game = game
        self.state = state
        self.player = player
        self.episode = episode

    def __repr__(self) -> str:
        return f"View({self.game.name}, player {self.player})"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Say what an agent is shown that takes a view for an environment, as in ``opponent=``."""
            if name in _OF_ENVIRONMENTS:
                raise AttributeError(
                    f"a view has no {name}: an opponent looks at the game that it is in; to try moves, step a copy: "
                    "state = view.state.copy(), then view.game.step(state, actions, rewards)"
                )
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    @property
    def unwrapped(self) -> "View":
        """The view itself, so that views and environments are used alike."""
        return self

    def view(self) -> "View":
        """Return the view itself."""
        return self

    def copied(self) -> "View":
        """Return a view of a copy of the state, which the game leaves behind when it goes on."""
        return View(self.game, self.state.copy(), self.player)

    def still(self) -> "View":
        """Return the view as it is now, of a copy of the state, whatever another thread does to the game.

        States of environments that are not ours are looked at as they are.
        """
        if not isinstance(self.state, np.ndarray):
            return self
        state = np.frombuffer(bytearray(self.state.data), np.uint8)  # copied at once: NumPy would release the GIL
        return View(self.game, state, self.player, self.episode)

    @property
    def over(self) -> bool:
        """Whether the game has ended for this player."""
        return bool(self.game.status(self.state, self.player))

    def legal_actions(self) -> Ints:
        """Return the legal actions [k], a fresh array; empty when the player is not to choose."""
        if not self.game.active(self.state) >> self.player & 1:
            return np.empty(0, np.int64)
        actions = np.empty(self.game.actions, np.int64)
        return actions[: self.game.legal(self.state, self.player, actions)]

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return which actions are legal, as booleans [A]."""
        mask = np.zeros(self.game.actions, np.bool_)
        mask[self.legal_actions()] = True
        return mask

    def observe(self) -> Singles:
        """Return the player's observation, float32 of the game's ``observation_shape``."""
        out = np.zeros(self.game.observation_shape, np.float32)
        self.game.observe(self.state, self.player, out.reshape(-1))
        return out

    def position(self) -> dict[str, Any]:
        """Return the state as a readable, JSON-able dictionary."""
        return position_of(self.game, self.state)
