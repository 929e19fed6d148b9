"""Games written down so that they prove themselves: how they began, every action, and a hash of every state.

A file is JSON: ``format``; ``mcts_envs`` (the release); ``game`` (fingerprint of the game, its settings, and how its
states are laid out); ``id``, ``settings``, ``seed``, ``position`` (how to begin); ``players`` (names, by seat);
``actions`` (for each step one number a seat, None for who was not to choose); ``hashes`` (of the first state and of
that after each step); ``returns`` and ``outcome``; ``seal`` (a digest of all this). Whoever reads it checks the seal,
plays the game again, and compares; nothing in it is run.
"""

import copy
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mcts_envs.core import errors
from mcts_envs.core.api.adapter import configured, points_at_end
from mcts_envs.core.api.live import begin
from mcts_envs.core.contract import Game
from mcts_envs.core.place import position_of, state_from_position
from mcts_envs.core.typing import Bytes, Floats
from mcts_envs.core.view import Episode, View
from mcts_envs.core.writing import write_whole
from mcts_envs.registry import ENTRIES, Entry, find, full_id
from mcts_envs.version import __version__

FORMAT = "mcts_envs replay 2"
_UNSEALED = "mcts_envs replay 1"
_MOST_BYTES = 2**24
_KEYS = ("format", "mcts_envs", "game", "id", "settings", "seed", "position", "players")
_KEYS += ("actions", "hashes", "returns", "outcome")
SEAL = "seal"
"""What a file calls the digest of the rest of it."""


class Replay:
    """A game that is played here, taken back, saved, and proved when it is read again.

    Parameters
    ----------
    id : str
        With or without ``mcts_envs/``.
    seed : int
        As for ``reset``: the game is that of an environment which was reset with it.
    position : dict, optional
        Where it begins, as ``reset(options={"position": ...})`` takes it; by default the game's own start.
    players : sequence of str
        Who plays, by seat, for people to read; empty where nobody says.
    **settings
        Of the game, as for ``gymnasium.make``; not those of one seat (``opponent``, ``seat``).

    Attributes
    ----------
    game : Game
    state : uint8 array [size]
        The state now, always the same array.
    actions : list of list
        For each step what each seat chose, None for who was not to choose.
    hashes : list of str
        Of the first state and of that after each step, all their bytes, chance included.
    returns : float64 array [P]
        Sum of the rewards.

    Raises
    ------
    ValueError, TypeError
        If there is no such environment or setting, or no such position.
    """

    def __init__(
        self, id: str, *, seed: int = 0, position: Any = None, players: Sequence[str] = (), **settings: Any
    ) -> None:
        entry: Entry = find(id)
        if "game" in settings:
            raise TypeError("a game is no setting of a replay; register it, and give its id")
        if isinstance(players, str) or not isinstance(players, Sequence):
            raise TypeError(
                f"players {players!r} is {type(players).__name__}; give the names of who plays, one for each seat, and "
                "a setting of your game that is called so another name"
            )
        settings, position = copy.deepcopy((settings, position))  # the caller may change its own later
        self.id, self.settings = entry.id, settings
        self.seed = errors.integer("seed", seed, 0, 2**63 - 1)
        self.position, self.players = position, list(players)
        self.game: Game = configured(entry.env_class().make_game, {**entry.settings, **settings}, "flat")
        if len(self.players) not in (0, self.game.players):
            raise ValueError(f"{len(self.players)} players are named; give {self.game.players}, one for each seat")
        self._start = None if position is None else state_from_position(self.game, position)
        self.state = self.game.new_state()
        self._begin()

    def _begin(self) -> None:
        begin(self.game, self.state, self.seed, self._start)
        self.actions: list[list[int | None]] = []
        self.hashes = [_hash(self.state)]
        self.returns: Floats = np.zeros(self.game.players)
        self._rewards: Floats = np.zeros(self.game.players)
        self.episode = Episode()

    def __repr__(self) -> str:
        steps = f"{len(self.actions)} step{'s' * (len(self.actions) != 1)}"
        return f"Replay({self.id}, seed {self.seed}, {steps}, {'over' if self.over else 'going on'})"

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return not self.choosing

    @property
    def choosing(self) -> list[int]:
        """Players who are to choose now."""
        bits = int(self.game.active(self.state))
        return [player for player in range(self.game.players) if bits >> player & 1]

    @property
    def outcome(self) -> list[float] | None:
        """Points of each seat, 0 to 1; None while the game goes on."""
        if not self.over:
            return None
        return [float(each) for each in points_at_end(self.game, self.state, self._rewards)]

    def view(self, player: int) -> View:
        """Return the state as a player sees it, not copied: what agents are asked with.

        Raises
        ------
        TypeError, ValueError
            If there is no such player.
        """
        return View(self.game, self.state, errors.integer("player", player, 0, self.game.players - 1), self.episode)

    def position_now(self) -> dict[str, Any]:
        """Return the state as a readable, JSON-able dictionary."""
        return position_of(self.game, self.state)

    def play(self, actions: Mapping[int, int]) -> Floats:
        """Make a step.

        Parameters
        ----------
        actions : mapping
            What each player who is to choose chooses; an illegal action has the effect that the game documents, as in
            an environment.

        Returns
        -------
        float64 array [P]
            Rewards.

        Raises
        ------
        ValueError
            If the game is over, others than those who are to choose have chosen, or an action is out of range.
        TypeError
            If an action is no integer, or there is no mapping.

        Nothing has changed then, nor if the game's own rules fail.
        """
        choosing = self.choosing
        if not isinstance(actions, Mapping):
            raise TypeError(f"actions {actions!r:.60} are {type(actions).__name__}; give a mapping such as {{0: 3}}")
        if not choosing:
            raise ValueError("the game is over; nobody is to choose")
        if sorted(actions) != choosing:
            raise ValueError(f"players {choosing} are to choose, and {sorted(actions)} have chosen")
        for player, action in actions.items():
            errors.integer(f"action of player {player}", action, 0, self.game.actions - 1)
        chosen, rewards = np.zeros(self.game.players, np.int64), np.zeros(self.game.players)
        chosen[list(actions)] = list(actions.values())
        before = self.state.copy()
        try:
            self.game.step(self.state, chosen, rewards)
        except BaseException:
            self.state[:] = before
            raise
        self.actions.append([int(actions[p]) if p in actions else None for p in range(self.game.players)])
        self.hashes.append(_hash(self.state))
        self.returns += rewards
        self._rewards = rewards.copy()
        return rewards

    def cut(self, steps: int) -> None:
        """Go back to where so many steps had been made.

        Raises
        ------
        ValueError
            If there are not so many.
        """
        kept = self.choices()[: errors.integer("steps", steps, 0, len(self.actions))]
        self._begin()
        for chosen in kept:
            self.play(chosen)

    def choices(self) -> list[dict[int, int]]:
        """Return for each step what each player who was to choose chose, as :meth:`play` takes it."""
        return [by_player(chosen) for chosen in self.actions]

    def anew(self) -> "Replay":
        """Return the same game at its beginning."""
        return Replay(self.id, seed=self.seed, position=self.position, players=self.players, **self.settings)

    def states(self) -> Iterator[Bytes]:
        """Yield a copy of the first state and of that after each step."""
        again = self.anew()
        yield again.state.copy()
        for chosen in self.choices():
            again.play(chosen)
            yield again.state.copy()

    def save(self, path: Path | str) -> None:
        """Write the game to a file, which appears whole or not at all.

        Raises
        ------
        TypeError
            If its settings are not plain data.
        OSError
            If the file cannot be written; one that was there stays.
        """
        write_whole(Path(path), self.to_json().encode())

    def to_json(self) -> str:
        """Return what :meth:`save` writes."""
        written = {
            "format": FORMAT,
            "mcts_envs": __version__,
            "game": self.game.fingerprint,
            "id": self.id,
            "settings": self.settings,
            "seed": self.seed,
            "position": self.position,
            "players": self.players,
            "actions": self.actions,
            "hashes": self.hashes,
            "returns": self.returns.tolist(),
            "outcome": self.outcome,
        }
        return _text(written | {SEAL: seal(written)}) + "\n"

    @classmethod
    def load(cls, path: Path | str) -> "Replay":
        """Read a game, play it again, and compare every state.

        Only environments that are registered already are played: import your own game first.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If it is no replay, damaged, of another release's game, or does not come out as it is written. What the
            seal tells, it tells before anything is played.
        """
        path = Path(path)
        return cls._proved(str(path), _read(path))

    @classmethod
    def from_json(cls, text: str) -> "Replay":
        """Return the game that :meth:`to_json` wrote, proved as by :meth:`load`.

        Raises
        ------
        ValueError
            As :meth:`load` does.
        """
        return cls._proved("the text", _parsed("the text", text))

    @classmethod
    def _proved(cls, path: str, written: Mapping[str, Any]) -> "Replay":
        if ":" in written["id"]:
            raise ValueError(f"{path} is no replay: its id is {written['id']!r}, which is none of an environment")
        try:
            replay = cls(
                written["id"],
                seed=written["seed"],
                position=written["position"],
                players=written["players"],
                **written["settings"],
            )
        except (ValueError, TypeError) as error:
            own = f"; if it is a game of your own, import that first: my_game.py:{path} for the commands"
            cure = "" if full_id(written["id"]) in ENTRIES else own
            raise ValueError(f"{path} cannot be played here: {error}{cure}") from error
        if replay.game.fingerprint != written["game"]:
            raise ValueError(
                f"{path} was written by mcts_envs {written['mcts_envs']}, whose {written['id']} was another game "
                f"({written['game']}, here {replay.game.fingerprint}); read it with that release"
            )
        replay._prove(path, written)
        return replay

    def _prove(self, path: str, written: Mapping[str, Any]) -> None:
        hashes, by = written["hashes"], written["mcts_envs"]
        if len(hashes) != len(written["actions"]) + 1:
            raise ValueError(f"{path} is damaged: {len(written['actions'])} steps and {len(hashes)} hashes")
        for step, expected in enumerate(hashes):
            if step:
                try:
                    self.play(by_player(written["actions"][step - 1]))
                except (ValueError, TypeError) as error:
                    raise ValueError(f"{path} does not come out as written, in step {step}: {error}") from error
            if self.hashes[step] != expected:
                raise ValueError(
                    f"{path} does not come out as written: step {step} leads to another state: it was changed, "
                    f"or the game's rules were since (mcts_envs {by} then, {__version__} now)"
                )
        found = {"returns": self.returns.tolist(), "outcome": self.outcome}
        for name, value in found.items():
            if written[name] != value:
                raise ValueError(f"{path} does not come out as written: {name} are {value}, not {written[name]}")


def seal(written: Mapping[str, Any]) -> str:
    """Return the digest of what a file says, all but its seal, however it is laid out.

    Raises
    ------
    TypeError, ValueError
        If it is not plain data.
    """
    rest = {name: value for name, value in written.items() if name != SEAL}
    return hashlib.blake2b(_text(rest).encode(), digest_size=16).hexdigest()


def _text(written: Mapping[str, Any]) -> str:
    return json.dumps(written, separators=(",", ":"), allow_nan=False, default=_plain)


def _plain(given: Any) -> Any:
    """Return what JSON has for a number or an array of NumPy."""
    if isinstance(given, (np.generic, np.ndarray)):
        return given.tolist()
    raise TypeError(f"{given!r:.60} is {type(given).__name__}; a replay holds numbers, words, lists and dictionaries")


def sealed(path: Path) -> str | None:
    """Return the seal of a file that says what it said when it was written; None of any other, or where there is none.

    Nothing is played.
    """
    try:
        return str(_read(path)[SEAL])
    except (OSError, ValueError, KeyError):
        return None


def by_player(chosen: Sequence[int | None]) -> dict[int, int]:
    """Return what each player chose in a step, of a number a seat, None for who was not to choose."""
    return {player: action for player, action in enumerate(chosen) if action is not None}


def _hash(state: Bytes) -> str:
    return hashlib.blake2b(state.tobytes(), digest_size=8).hexdigest()


def _read(path: Path) -> dict[str, Any]:
    """Return what a file says, if it has the form of a replay."""
    if path.stat().st_size > _MOST_BYTES:
        raise ValueError(f"{path} is no replay: it has {path.stat().st_size:,} bytes; none has over {_MOST_BYTES:,}")
    try:
        text = path.read_text(encoding="utf-8")
    except ValueError as error:
        raise ValueError(f"{path} is no replay, or damaged: it is no JSON ({error})") from error
    return _parsed(str(path), text)


def _parsed(path: str, text: str) -> dict[str, Any]:
    try:
        written = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no replay, or damaged: it is no JSON ({error})") from error
    said = written.get("format") if isinstance(written, dict) else None
    if said not in (FORMAT, _UNSEALED):
        raise ValueError(f"{path} is no replay that is known here: its format is {said!r}, not {FORMAT!r}")
    keys = {*_KEYS, SEAL} if said == FORMAT else {*_KEYS}
    if set(written) != keys:
        missing, more = sorted(keys - set(written)), sorted(set(written) - keys)
        raise ValueError(f"{path} is damaged: it lacks {missing} and has {more} besides")
    if said == FORMAT and not _sealed(written):
        raise ValueError(f"{path} is damaged: what it says is not what was sealed; take a whole copy of it")
    texts = [written["mcts_envs"], written["game"], written["id"], *_listed(written["players"])]
    steps, numbers = _listed(written["actions"]), (int, type(None))
    sound = (
        all(isinstance(text, str) for text in [*texts, *_listed(written["hashes"])])
        and isinstance(written["settings"], dict)
        and isinstance(written["players"], list)
        and isinstance(written["hashes"], list)
        and isinstance(written["actions"], list)
        and all(isinstance(step, list) and all(type(each) in numbers for each in step) for step in steps)
    )
    if not sound:
        raise ValueError(f"{path} is damaged: something in it is of another kind than it should be")
    return written


def _sealed(written: Mapping[str, Any]) -> bool:
    """Return whether a file says what it said when it was written."""
    try:
        return bool(written[SEAL] == seal(written))
    except (ValueError, RecursionError):  # NaN, or depths, which no replay has
        return False


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
