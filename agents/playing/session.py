"""A game in which people and agents sit, as a document of :mod:`mcts_envs.page` that goes on while it is looked at.

Agents think in a thread of the session's own; what people ask for is done at once, and drops what was thought for
another state.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from agents.arena.guarded import Guarded, made
from agents.arena.plan import Plan
from agents.arena.replays import env_of
from agents.arena.spec import AgentSpec, parse_agent
from agents.inspection.showing import decision
from agents.watching import asked
from mcts_envs.core import errors
from mcts_envs.core.api.env import GameEnv
from mcts_envs.core.showing import draws_views
from mcts_envs.core.view import View
from mcts_envs.page import frame, header, options
from mcts_envs.page.frames import Data
from mcts_envs.registry import find
from mcts_envs.replay import Replay

HUMAN = "human"

_COMMANDS: dict[str, tuple[str, ...]] = {
    "choose": ("player", "action", "step"),
    "undo": (),
    "hint": (),
    "new": ("seed",),
    "seat": ("player", "agent"),
    "position": ("position",),
    "open": ("game",),
}
"""What may be asked for, and what has to be said with it."""

_Job: TypeAlias = tuple[Callable[[], Data], str, Callable[[Data, str], None]]
"""``(think, name, take)``: what came of thinking is taken with the word for what went wrong, if anything did."""


class Session:
    """A game under way.

    Parameters
    ----------
    id : str or Replay
        An environment, with or without ``mcts_envs/``; or a game that was saved, which goes on where it stands.
    seats : sequence of str
        For each seat ``"human"`` or an agent, such as ``"mcts:simulations=500"``.
    seed : int
        Of the first game; the next ones count on from there.
    hint : str
        Who is asked for hints.
    offered : sequence of str
        Agents who may be seated later, besides those who sit here at first.
    limits : mapping, optional
        A budget for agents that take one, as :func:`agents.arena.spec.parse_budget` returns it.
    keep : path, optional
        A file in which the game is kept after every step, as a replay; a new game takes its place.
    **settings
        Of the game; a saved one has its own.

    Raises
    ------
    ValueError, TypeError
        If there is no such environment, setting or agent, or another number of seats.
    """

    def __init__(
        self,
        id: str | Replay,
        seats: Sequence[str],
        *,
        seed: int = 0,
        hint: str = "best",
        offered: Sequence[str] = (),
        limits: Mapping[str, Any] | None = None,
        keep: Path | None = None,
        **settings: Any,
    ) -> None:
        self._changed = threading.Condition(threading.RLock())
        if isinstance(id, Replay) and settings:
            raise TypeError(f"a saved game has its settings, {id.settings}; leave {sorted(settings)} out")
        given = id if isinstance(id, Replay) else Replay(id, seed=seed, **settings)
        self._limits, self._settings, self._keep = limits, given.settings, keep
        self.replay = given.anew()
        if len(seats) != self.replay.game.players:
            raise ValueError(f"{len(seats)} seats are taken; give {self.replay.game.players}: 'human' or agents")
        self._keys = _keys_of(self.replay)
        self._adviser = self._seated(hint)
        self._agents = [self._seated(each) for each in seats]
        self._names = list(seats)
        self.offered = tuple(dict.fromkeys((HUMAN, *seats, *offered)))
        self._closed, self._hinting, self._stuck, self.said = False, False, False, ""
        self._epoch = self._serial = 0
        self._unaware: list[Any] = []
        self._now: dict[int, Data] = {}
        self._clocks: list[list[float]] = []
        self._frames: list[Data] = []
        self._start(given)
        self.said = self._written()
        self._thread = threading.Thread(target=self._think, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Let nobody think any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    # What people ask for.

    def ask(self, asked: Any) -> None:
        """Do what somebody asks for: a dictionary with ``"do"`` and what belongs to it.

        ``choose`` (player, action, and ``step``, how many steps were made before, so that nothing is chosen twice),
        ``undo``, ``hint``, ``new`` (seed, or None), ``seat`` (player, and one of ``offered`` as agent), ``position``
        (to begin a game with), ``open`` (game, what :meth:`saved` returned, of these settings).

        Raises
        ------
        ValueError, TypeError
            If that cannot be done; nothing has changed.
        """
        if not isinstance(asked, dict) or not isinstance(asked.get("do"), str):
            raise TypeError("a request is a dictionary with 'do'")
        if asked["do"] not in _COMMANDS:
            raise ValueError(errors.unknown("request", asked["do"], _COMMANDS))
        errors.keys("part of a request", set(asked) - {"do"}, _COMMANDS[asked["do"]])
        with self._changed:
            given = {name: value for name, value in asked.items() if name != "do"}
            with self._whole():
                getattr(self, f"_do_{asked['do']}")(**given)
            self.said, self._stuck = self._written(), False
            self._changed.notify_all()

    def _do_choose(self, player: Any, action: Any, step: Any) -> None:
        if type(step) is not int or step != len(self.replay.actions):
            raise ValueError(f"that was for step {step!r}; the game is at {len(self.replay.actions)}")
        if type(player) is not int or player not in self._waiting() or self._agents[player] is not None:
            raise ValueError(f"player {player!r} is not one who is to choose here; those are {self.people()}")
        legal = self.replay.view(player).legal_actions()
        if type(action) is not int or action not in legal:
            raise ValueError(f"action {action!r} is not legal now")
        self._chosen(player, decision(self.replay.view(player), action))

    def _do_undo(self) -> None:
        """Go back to before the last choice of somebody who sits here."""
        if waiting := [player for player in self._now if self._agents[player] is None]:
            del self._now[waiting[-1]]
            self._frames[-1] = self._fresh()
            return
        steps = len(self.replay.actions)
        while steps:
            steps -= 1
            if any(each is not None and self._agents[p] is None for p, each in enumerate(self.replay.actions[steps])):
                break
        else:
            raise ValueError("there is nothing to take back")
        self.replay.cut(steps)
        self._epoch += 1
        self._frames[steps + 1 :] = []
        self._clocks[steps + 1 :] = []
        self._now = {}
        self._frames[steps] = self._fresh()

    def _do_hint(self) -> None:
        if not self.people():
            raise ValueError("nobody who sits here is to choose")
        self._hinting, self._thinking = True, "the hint"

    def _do_new(self, seed: Any) -> None:
        seed = self.replay.seed + 1 if seed is None else errors.integer("seed", seed, 0, 2**63 - 1)
        self._start(Replay(self.replay.id, seed=seed, **self._settings))

    def _do_position(self, position: Any) -> None:
        self._start(Replay(self.replay.id, seed=self.replay.seed, position=position, **self._settings))

    def _do_open(self, game: Any) -> None:
        if not isinstance(game, str):
            raise TypeError("game must be the text of a saved game")
        given = Replay.from_json(game)
        if (given.id, given.settings) != (self.replay.id, self._settings):
            raise ValueError(f"that is a game of {given.id} with {given.settings}; open it with mcts-envs play FILE")
        self._start(given)

    def _do_seat(self, player: Any, agent: Any) -> None:
        player = errors.integer("player", player, 0, self.replay.game.players - 1)
        if agent not in self.offered:  # names of files would be loaded
            raise ValueError(errors.unknown("agent", agent, self.offered))
        self._agents[player] = self._seated(agent)
        self._names[player] = agent
        self._epoch += 1
        self._titled()
        self._frames[-1] = self._fresh()

    # What is looked at.

    def since(self, epoch: int = -1, known: int = 0) -> Data:
        """Return what is new to somebody who knows so many frames of an epoch: those from the last known on, or all."""
        with self._changed:
            same = epoch == self._epoch
            first = max(0, min(known, len(self._frames)) - 1) if same else 0
            frames = [self._seen(each) for each in self._frames[first:]]
            new: Data = {"epoch": self._epoch, "first": first, "frames": frames, "said": self.said}
            new |= {"thinking": self._thinking, "serial": self._serial, "names": self._names}
            return new if same else new | {name: self._document[name] for name in ("title", "players")}

    def wait(self, serial: int, seconds: float) -> None:
        """Wait until something has changed since a serial number, or so long."""
        with self._changed:
            self._changed.wait_for(lambda: self._serial != serial or self._closed, seconds)

    def saved(self) -> str:
        """Return the game as :class:`mcts_envs.replay.Replay` saves it."""
        with self._changed:
            self.replay.players = list(self._names)
            return self.replay.to_json()

    def position(self) -> Data:
        """Return the state in words."""
        with self._changed:
            return self.replay.position_now()

    def people(self) -> list[int]:
        """Return the seats of those who sit here and are to choose."""
        with self._changed:
            return [player for player in self._waiting() if self._agents[player] is None]

    @property
    def viewer(self) -> int | None:
        """The player whose knowledge is shown: of the only person, in a game that hides something and is not over."""
        people = [player for player, agent in enumerate(self._agents) if agent is None]
        hidden = len(people) == 1 and draws_views(self.replay.game) and not self.replay.over
        return people[0] if hidden else None

    def name(self, player: int) -> str:
        """Return who sits in a seat."""
        return self._names[player]

    @property
    def stuck(self) -> bool:
        """Whether an agent has failed, and nobody else was seated yet."""
        return self._stuck

    # Inside.

    def _seated(self, text: str) -> Any:
        """Return an agent; None for a person."""
        if text == HUMAN:
            return None
        spec: AgentSpec = parse_agent(text, self._limits)
        agent = made(self._plan(spec), spec)
        agent.reseed(self.replay.seed)
        return agent

    def _plan(self, *specs: AgentSpec) -> Plan:
        return Plan(self.replay.id, specs, self._settings, self.replay.seed, dict(self._limits or {}))

    def _start(self, given: Replay) -> None:
        """Begin as a game did, and go as far as it went."""
        self.replay = given.anew()
        self._epoch += 1
        self._now, self._thinking = {}, ""
        self._unaware = [self._adviser, *self._agents]  # of that another game has begun
        self._clocks = [[0.0] * self.replay.game.players]
        self._titled()
        self._frames = [self._fresh()]
        for chosen in given.choices():
            for player, action in chosen.items():
                self._chosen(player, decision(self.replay.view(player), action))

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """Change all or nothing: rules and pictures of people's own may fail."""
        kept, choices = vars(self).copy(), self.replay.choices()
        kept |= {name: kept[name].copy() for name in ("_agents", "_names", "_clocks", "_now")}
        kept["_frames"] = [*self._frames[:-1], self._frames[-1].copy()]
        try:
            yield
        except BaseException:
            vars(self).update(kept)
            if self.replay.choices() != choices:
                self.replay.cut(0)
                for chosen in choices:
                    self.replay.play(chosen)
            raise

    def _written(self) -> str:
        """Write the game down, where it is to be kept; return what people should know of that."""
        if self._keep is None:
            return ""
        self.replay.players = list(self._names)
        try:
            self.replay.save(self._keep)
        except OSError as error:
            return f"the game is not kept: {error}"
        return ""

    def _titled(self) -> None:
        names = ["you" if name == HUMAN and self._names.count(HUMAN) == 1 else name for name in self._names]
        self._document = header(self.replay.game, self.replay.id.removeprefix("mcts_envs/"), names)
        self._serial += 1

    def _waiting(self) -> list[int]:
        """Return players who are to choose and have not."""
        return [player for player in self.replay.choosing if player not in self._now]

    def _seen(self, frame: Data) -> Data:
        """Return a frame without what others chose and thought, where the only person may not know it."""
        if (viewer := self.viewer) is None:
            return frame
        return frame | {"decisions": [each for each in frame["decisions"] if each["player"] == viewer]}

    def _fresh(self) -> Data:
        """Return the frame of the state now, with what people may choose."""
        replay, game = self.replay, self.replay.game
        drawn = frame(game, replay.state, self.viewer, self.viewer)
        new = drawn | {"returns": replay.returns.tolist(), "clocks": self._clocks[-1]}
        new |= {"decisions": [], "legal": []}
        for player in self.people():
            new["legal"] += options(game, replay.state, player, self._keys)
        if replay.over:
            new["points"] = replay.outcome
        self._serial += 1
        return new

    def _chosen(self, player: int, decided: Data) -> None:
        """Take a choice in, and make the step when all have chosen; nobody sees a choice before."""
        self._now[player] = decided
        now = self._frames[-1]
        now["legal"] = [each for each in now["legal"] if each["player"] != player]
        if not self._waiting():
            now["decisions"], self._now = list(self._now.values()), {}
            clocks = list(self._clocks[-1])
            for each in now["decisions"]:
                clocks[each["player"]] = round(clocks[each["player"]] + each.get("seconds", 0.0), 4)
            self.replay.play({each["player"]: each["action"] for each in now["decisions"]})
            self._clocks.append(clocks)
            self._frames.append(self._fresh())
            if self.replay.over:
                self._epoch += 1  # what was hidden is told now
        self._serial += 1

    def _think(self) -> None:
        while (job := self._next()) is not None:
            think, name, take = job
            try:
                decided, failed = think(), ""
            except BaseException as error:  # also one that would end the program, or nobody would think any more
                decided, failed = {}, f"{name} failed: {type(error).__name__}: {error}"
            with self._changed:
                self._thinking = ""
                try:
                    with self._whole():
                        take(decided, failed)
                except Exception as error:
                    self._fail(f"the game failed: {type(error).__name__}: {error}")
                self._serial += 1
                self._changed.notify_all()

    def _next(self) -> _Job | None:
        """Wait for somebody to think for; None when the session is closed."""
        with self._changed:
            while not self._closed:
                if self._hinting and (people := self.people()):
                    self._hinting = False
                    return self._job(self._adviser, people[0], "the hint", self._take_hint)
                self._hinting = False
                waiting = [player for player in self._waiting() if self._agents[player] is not None]
                if waiting and not self._stuck:
                    return self._job(self._agents[waiting[0]], waiting[0], self._names[waiting[0]], self._take_choice)
                self._changed.wait()
        return None

    def _job(self, agent: Any, player: int, name: str, take: Callable[[int, Data, str], None]) -> _Job:
        self._thinking, epoch, steps = name, self._epoch, len(self.replay.actions)
        self._serial += 1
        self._changed.notify_all()
        view = self.replay.view(player).copied()
        replay, choices, episode = self.replay, self.replay.choices(), self.replay.episode
        seed = self.replay.seed if any(agent is each for each in self._unaware) else None
        self._unaware = [each for each in self._unaware if each is not agent]

        def think() -> Data:
            if seed is not None:
                agent.reseed(seed)
            own, seen = isinstance(agent, Guarded), View(view.game, view.state.copy(), player, episode)
            return _thought(agent, env_of(self._plan(), replay, choices, view) if own else seen, view)

        def taken(decided: Data, failed: str) -> None:
            if (self._epoch, len(self.replay.actions)) == (epoch, steps):
                take(player, decided, failed)

        return think, name, taken

    def _take_choice(self, player: int, decided: Data, failed: str) -> None:
        if failed:
            self._fail(failed)
        else:
            self._chosen(player, decided)
            self.said = self._written()

    def _fail(self, failed: str) -> None:
        self.said, self._stuck = f"{failed}; take it back, or seat somebody else", True

    def _take_hint(self, player: int, hint: Data, failed: str) -> None:
        if failed:
            self.said = failed
            return
        self.said = f"hint: {hint['name']}"
        self._frames[-1]["decisions"] = [{**hint, "action": None}]


def _thought(agent: Any, shown: Any, view: View) -> Data:
    """Return what an agent chooses that is shown this, as a page shows it; a view of its own tells what is legal."""
    action, found, seconds = asked(agent, shown)
    if int(action) not in view.legal_actions():
        raise ValueError(f"it chose {action}, which is not legal")
    return decision(view, int(action), found, round(seconds, 4))


def _keys_of(replay: Replay) -> dict[str, int]:
    """Return the keys of a game that has some, with the actions that they stand for."""
    entry = find(replay.id)
    env_class = entry.env_class()
    if env_class.get_keys_to_action is GameEnv.get_keys_to_action:
        return {}
    found: dict[str, int] = env_class(**{**entry.settings, **replay.settings}).get_keys_to_action()
    return found
