"""Who plays the other seats of a batch: players with weights, drawn anew for every game, past selves among them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from mcts_envs.core import errors
from mcts_envs.core.api.adapter import checked_action
from mcts_envs.core.api.turn import EXTERNAL, RANDOM, SCRIPTED
from mcts_envs.core.contract import Game
from mcts_envs.core.players import player, random_model, scripted_players, seated
from mcts_envs.core.typing import Bytes, Floats, Ints
from mcts_envs.core.view import View

SELF = "self"
"""The opponent who is whatever the learner was before."""

_MEMORY = 100
"""Games after which old results of an opponent fade."""

_HEAVIEST = 1e9


class Players(Protocol):
    """Whoever chooses for many games at once."""

    def act_all(self, game: Game, states: Bytes, players: Ints, seeds: Any) -> Ints:
        """Return an action [k] for each of the players [k] who look at states [k, size]; chance starts from seeds [k].

        The seeds are random 64-bit numbers, one for each game: the same ones, the same actions.
        """


class OneByOne:
    """A player for one game who plays many, one after another."""

    def __init__(self, player: Any) -> None:
        self._player = player

    def act_all(self, game: Game, states: Bytes, players: Ints, seeds: Any) -> Ints:
        """Ask the player about each game, its randomness started by that game's seed."""
        chosen = np.empty(len(states), np.int64)
        for i, (state, seat, seed) in enumerate(zip(states, players.tolist(), seeds.tolist(), strict=True)):
            self._player.reseed(seed)
            view = View(game, state, seat)
            chosen[i] = checked_action(self._player.act(view), game, view.legal_actions())
        return chosen


def many(player: Any) -> Players:
    """Return a player as one who plays many games at once, one after another if it does not say how."""
    found: Players = player if hasattr(player, "act_all") else OneByOne(player)
    return found


@dataclass
class Opponent:
    """One of a mixture.

    Attributes
    ----------
    name : str
    players : Players or None
        None: it is built in, or a past self that is not there yet.
    kind : int
        How the compiled code plays it; see :mod:`mcts_envs.core.api.turn`.
    table : function table
        Of the game or the model of it in which it chooses.
    games : float
        How many games it has had against the learner, at most 100: older ones fade.
    points : float
        The learner's mean points in them.
    """

    name: str
    players: Players | None
    kind: int
    table: Any
    games: float = 0.0
    points: float = 0.5

    def note(self, points: float) -> None:
        """Take note of the learner's points in a game."""
        self.games = min(self.games + 1.0, _MEMORY)
        self.points += (points - self.points) / self.games


class Mixture:
    """Opponents with weights.

    Each game draws for each of the other seats who plays it, with probability in proportion to the weights, when it
    starts; a change of the weights holds for the games that start after it.

    Parameters
    ----------
    game : Game
    given : str, Player or mapping of names to weights, optional
        Names are ``"random"``, the scripted players of the game, ``"agents:NAME"``, ``"sb3:PATH"``, other entry points,
        and ``"self"``: past selves of the learner, which :meth:`add_self` brings.

    Raises
    ------
    ValueError, TypeError
        If a name is unknown, or of two players, or of one that cannot play this game or many games at once, or the
        weights are not numbers from 0 on, one of them above 0.
    """

    def __init__(self, game: Game, given: Any) -> None:
        if game.players == 1 and given is not None:
            raise ValueError(f"opponent {given!r}: {game.name} is a game for one; leave opponent out")
        if isinstance(given, (list, tuple)):
            raise ValueError(
                f"opponent {given!r} is a list; a batch draws who plays each other seat: give one opponent, or weights "
                "such as {'scripted': 1, 'random': 1}"
            )
        pairs = given.items() if isinstance(given, Mapping) else [("random" if given is None else given, 1.0)]
        opponents = [(_name(key), key, weight) for key, weight in pairs]
        names = [name for name, _, _ in opponents]
        if twice := {name for name in names if names.count(name) > 1}:
            raise ValueError(
                f"opponents {', '.join(names)} are not told apart: several are called {', '.join(sorted(twice))}; give "
                "each player a name of its own (player.name = ...)"
            )
        weights = checked_weights("opponents", {name: weight for name, _, weight in opponents}, None)
        self._random = _opponent(game, "random")
        self.named: dict[str, Opponent] = {name: _opponent(game, key) for name, key, _ in opponents if key != SELF}
        self.selves: list[Opponent] = []
        self.gone = 0
        self._weights, self._shares = weights, np.zeros(0)
        self._arrange()

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each name. To set it changes those that are given."""
        return dict(self._weights)

    @weights.setter
    def weights(self, given: Mapping[str, Any]) -> None:
        self._weights = checked_weights("opponents", {**self._weights, **given}, self._weights)
        self._arrange()

    @property
    def waits_for_self(self) -> bool:
        """Whether there is a weight for past selves, and none of them yet."""
        return self._weights.get(SELF, 0.0) > 0.0 and not self.selves

    def add_self(self, name: str, players: Players, most: int = 2**16) -> Opponent:
        """Add a past self; beyond ``most`` of them the oldest goes.

        It is drawn as often as the others until :meth:`share` says otherwise. Games against one that goes are played on
        against the oldest that stays; ``gone`` counts them.

        Raises
        ------
        ValueError
            If no opponent of the mixture is named ``"self"``.
        """
        if SELF not in self._weights:
            raise ValueError(f"opponents {', '.join(self._weights)} have no past selves among them; add 'self'")
        self.selves.append(Opponent(name, players, EXTERNAL, self._random.table))
        goes = max(0, len(self.selves) - errors.integer("most", most, 1, 2**16))
        del self.selves[:goes]
        self.gone += goes
        self.share(np.ones(len(self.selves)))
        return self.selves[-1]

    def forget_selves(self) -> None:
        """Take all past selves away; games against them are played on against whoever comes, at random until then."""
        self.selves.clear()
        self._arrange()

    def share(self, shares: Any) -> None:
        """Say in what proportion the past selves, the oldest first, share their weight.

        Raises
        ------
        ValueError
            If these are not as many numbers from 0 on, one of them above 0.
        """
        found = np.asarray(shares, np.float64)
        if found.shape != (len(self.selves),) or not (np.isfinite(found).all() and found.min() >= 0 < found.max()):
            raise ValueError(f"shares {shares!r} are not {len(self.selves)} numbers from 0 on, one of them above 0")
        self._shares = found / found.sum()
        self._arrange()

    def _arrange(self) -> None:
        """Lay out what compiled code reads; past selves come last, so that the others keep their places."""
        selves = self.selves or ([self._random] if SELF in self._weights else [])
        shares = self._shares if self.selves else np.ones(len(selves))
        self.all: list[Opponent] = [*self.named.values(), *selves]
        self.drawn: Floats = np.array(
            [*(self._weights[name] for name in self.named), *(self._weights.get(SELF, 0.0) * shares)]
        )
        self.kinds: Ints = np.array([opponent.kind for opponent in self.all], np.int64)
        self.tables: Any = np.array([opponent.table for opponent in self.all])


def _name(key: Any) -> str:
    return key if isinstance(key, str) else str(getattr(key, "name", type(key).__name__))


def _opponent(game: Game, given: Any) -> Opponent:
    """Return an opponent by its name, or the player that is given."""
    known = scripted_players(game)
    if given == "random":
        model = random_model(game)
        return Opponent("random", None, RANDOM, (game.variant(model) if model else game.bare).table)
    if isinstance(given, str) and given in known:
        model = known[given]
        return Opponent(given, None, SCRIPTED, (game.variant(model) if model else game).table)
    found = seated(player(given, known), game, at_once=True)
    return Opponent(_name(given), many(found), EXTERNAL, game.bare.table)


def checked_weights(what: str, given: Mapping[str, Any], known: Mapping[str, float] | None) -> dict[str, float]:
    """Return weights by name as numbers.

    Raises
    ------
    ValueError, TypeError
        If a name is none of those known, a weight is no number from 0 on, or none is above 0.
    """
    for name in given:
        if known is not None and name not in known:
            raise ValueError(errors.unknown(what.removesuffix("s"), name, known))
    weights = {name: errors.number(f"weight of {name}", weight, 0.0, _HEAVIEST) for name, weight in given.items()}
    if not math.fsum(weights.values()):
        raise ValueError(f"{what} {dict(given)!r} have no weight above 0; give one, as in {{'NAME': 1}}")
    return weights
