"""A game in which people and agents sit, as a document of :mod:`mcts_envs.page` that goes on while it is looked at.

Agents think in a thread of the session's own; what people ask for is done at once, and drops what was thought for
another state.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agents.arena.faults import message_of
from agents.arena.running.guarded import Guarded, made
from agents.inspection.review import review, told
from agents.playing.requests import read
from agents.playing.table import OwnTable, Table, table_of
from agents.playing.thinking import Job, reviewed, thought, with_review
from agents.spec import AgentSpec, parse_agent
from mcts_envs.core import errors
from mcts_envs.core.showing import draws_views
from mcts_envs.page.frames import Data
from mcts_envs.replay import Replay

HUMAN = "human"
_MOMENT = 1.0
"""Seconds that who still thinks is given when a session is closed."""


class Session:
    """A game under way.

    Parameters
    ----------
    id : str or Replay
        An environment, as :class:`agents.arena.plan.Plan` takes it; or a game that was saved, which goes on where it
        stands.
    seats : sequence of str, optional
        For each seat ``"human"`` or an agent, such as ``"mcts:simulations=500"``; by default a person and ``best``.
    seed : int
        Of the first game; the next ones count on from there.
    hint : str
        Who is asked for hints.
    offered : sequence of str, optional
        Agents who may be seated later, besides those who sit here at first; by default some, and all of the game.
    limits : mapping, optional
        A budget for agents that take one, as :func:`agents.spec.parse_budget` returns it.
    keep : path, optional
        A file in which the game is kept after every step, as a replay; a new game takes its place. For games of ours.
    text : bool
        Whether an environment of others is to draw itself as text.
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
        seats: Sequence[str] | None = None,
        *,
        seed: int = 0,
        hint: str = "best",
        offered: Sequence[str] | None = None,
        limits: Mapping[str, Any] | None = None,
        keep: Path | None = None,
        text: bool = False,
        **settings: Any,
    ) -> None:
        self._changed = threading.Condition(threading.RLock())
        if isinstance(id, Replay) and settings:
            raise TypeError(f"a saved game has its settings, {id.settings}; leave {sorted(settings)} out")
        self._limits, self._keep = limits, keep
        self.table: Table = table_of(id, settings, seed, text)
        game = self.table.game
        seats = [HUMAN] + ["best"] * (game.players - 1) if seats is None else seats
        if len(seats) != game.players:
            raise ValueError(f"{len(seats)} seats are taken; give {game.players}: 'human' or agents")
        self._adviser = self._seated(hint)
        self._agents = [self._seated(each) for each in seats]
        self._names = list(seats)
        offered = ("best", "mcts", "random", *sorted(game.presets)) if offered is None else offered
        self.offered = tuple(dict.fromkeys((HUMAN, *seats, *offered)))
        self._closed, self._stuck, self.said = False, False, ""
        self._epoch = self._serial = 0
        self._unaware: list[Any] = []
        self._now: dict[int, Data] = {}
        self._clocks: list[list[float]] = []
        self._frames: list[Data] = []
        self._start(self.table, id.choices() if isinstance(id, Replay) else ())
        self.said = self._written()
        self._thread = threading.Thread(target=self._think, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Let nobody think any more, and give who does a moment: PyTorch aborts a program that ends meanwhile."""
        self._closed = True
        self.table.leave()  # who waits there holds the lock
        with self._changed:
            self._changed.notify_all()
        self._thread.join(_MOMENT)

    # What people ask for.

    def ask(self, asked: Any) -> None:
        """Do what somebody asks for: a dictionary with ``"do"`` and what belongs to it.

        ``choose`` (player, action, and ``step``, how many steps were made before, so that nothing is chosen twice),
        ``undo``, ``hint`` (when the game is over, a review of it), ``new`` (seed, or None), ``seat`` (player, and one
        of ``offered`` as agent), ``position`` (to begin a game with), ``open`` (game, what :meth:`saved` returned, of
        these settings).

        Raises
        ------
        ValueError, TypeError
            If that cannot be done; nothing has changed.
        """
        command, given = read(asked)
        with self._changed:
            with self._whole():
                getattr(self, f"_do_{command}")(**given)
            self.said, self._stuck = self._written(), False
            self._changed.notify_all()

    def _do_choose(self, player: Any, action: Any, step: Any) -> None:
        if type(step) is not int or step != len(self.table.actions):
            raise ValueError(f"that was for step {step!r}; the game is at {len(self.table.actions)}")
        if type(player) is not int or player not in self._waiting() or self._agents[player] is not None:
            raise ValueError(f"player {player!r} is not one who is to choose here; those are {self.people()}")
        legal = [option["action"] for option in self.table.options(player)]
        if type(action) is not int or action not in legal:
            raise ValueError(f"action {action!r} is not legal now")
        self._chosen(player, self.table.decided(player, action))

    def _do_undo(self) -> None:
        """Go back to before the last choice of somebody who sits here."""
        if waiting := [player for player in self._now if self._agents[player] is None]:
            del self._now[waiting[-1]]
            self._frames[-1] = self._fresh()
            return
        steps = len(self.table.actions)
        while steps:
            steps -= 1
            if any(each is not None and self._agents[p] is None for p, each in enumerate(self.table.actions[steps])):
                break
        else:
            raise ValueError("there is nothing to take back")
        self.table.cut(steps)
        self._epoch += 1
        del self._frames[steps + 1 :], self._clocks[steps + 1 :]
        self._now = {}
        self._frames[steps] = self._fresh()

    def _do_hint(self) -> None:
        if self.over:
            self.saved()  # or there is nothing to review
        elif not self.people():
            raise ValueError("nobody who sits here is to choose")
        self._hinting, self._thinking = True, "the review" if self.over else "the hint"
        self._serial += 1

    def _do_new(self, seed: Any) -> None:
        seed = self.table.plan.seed + 1 if seed is None else errors.integer("seed", seed, 0, 2**63 - 1)
        self._start(self.table.anew(seed))

    def _do_position(self, position: Any) -> None:
        now = self.replay
        self._start(OwnTable(Replay(now.id, seed=now.seed, position=position, **now.settings)))

    def _do_open(self, game: Any) -> None:
        now = self.replay
        if not isinstance(game, str):
            raise TypeError("game must be the text of a saved game")
        given = Replay.from_json(game)
        if (given.id, given.settings) != (now.id, now.settings):
            raise ValueError(f"that is a game of {given.id} with {given.settings}; open it with mcts-envs play FILE")
        self._start(OwnTable(given.anew()), given.choices())

    def _do_seat(self, player: Any, agent: Any) -> None:
        player = errors.integer("player", player, 0, self.table.game.players - 1)
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
            new |= {"thinking": self._thinking, "serial": self._serial, "names": self._names, "saves": self.table.saves}
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
        hidden = len(people) == 1 and draws_views(self.table.game) and not self.over
        return people[0] if hidden else None

    @property
    def stuck(self) -> bool:
        """Whether an agent has failed, and nobody else was seated yet."""
        return self._stuck

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return not self.table.choosing

    @property
    def replay(self) -> Replay:
        """The game as a replay; ``ValueError`` says of an environment of others that it has none."""
        return self.table.replay

    # Inside.

    def _seated(self, text: str) -> Any:
        """Return an agent; None for a person."""
        if text == HUMAN:
            return None
        spec: AgentSpec = parse_agent(text, self._limits)
        agent = made(self.table.plan, spec)
        agent.reseed(self.table.plan.seed)
        return agent

    def _start(self, table: Table, choices: Iterable[Mapping[int, int]] = ()) -> None:
        """Begin a game, and go as far as these choices lead."""
        self.table = table
        self._epoch += 1
        self._now, self._thinking, self._hinting = {}, "", False
        self._unaware = [self._adviser, *self._agents]  # of that another game has begun
        self._clocks = [[0.0] * table.game.players]
        self._titled()
        self._frames = [self._fresh()]
        for chosen in choices:
            for player, action in chosen.items():
                self._chosen(player, table.decided(player, action))

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """Change all or nothing: rules and pictures of people's own may fail."""
        kept, choices = vars(self).copy(), self.table.choices()
        kept |= {name: kept[name].copy() for name in ("_agents", "_names", "_clocks", "_now")}
        kept["_frames"] = [*self._frames[:-1], self._frames[-1].copy()]
        try:
            yield
        except BaseException:
            vars(self).update(kept)
            if (gone := len(self.table.actions)) > len(choices):
                self.table.cut(len(choices))
            for chosen in choices[gone:]:
                self.table.play(chosen)
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
        self._document = self.table.header(names)
        self._serial += 1

    def _waiting(self) -> list[int]:
        """Return players who are to choose and have not."""
        return [player for player in self.table.choosing if player not in self._now]

    def _seen(self, frame: Data) -> Data:
        """Return a frame without what others chose and thought, where the only person may not know it."""
        if (viewer := self.viewer) is None:
            return frame
        return frame | {"decisions": [each for each in frame["decisions"] if each["player"] == viewer]}

    def _fresh(self) -> Data:
        """Return the frame of the state now, with what people may choose."""
        table, people = self.table, self.people()
        new = table.frame(self.viewer, people) | {"returns": table.returns, "clocks": self._clocks[-1]}
        new |= {"decisions": [], "legal": [each for player in people for each in table.options(player)]}
        if (points := table.outcome) is not None:
            new["points"] = points
        self._serial += 1
        return new

    def _chosen(self, player: int, decided: Data) -> None:
        """Take a choice in, and make the step when all have chosen; nobody sees a choice before."""
        self._now[player] = decided
        now, people = self._frames[-1], self.people()
        now = now | {"legal": [each for each in now["legal"] if each["player"] in people]}
        self._frames[-1] = now = now | (self.table.frame(self.viewer, people) if people else {})
        if not self._waiting():
            now["decisions"], self._now = [self._now[each] for each in sorted(self._now)], {}
            clocks = list(self._clocks[-1])
            for each in now["decisions"]:
                clocks[each["player"]] = round(clocks[each["player"]] + each.get("seconds", 0.0), 4)
            self.table.play({each["player"]: each["action"] for each in now["decisions"]})
            self._clocks.append(clocks)
            self._frames.append(self._fresh())
            if self.over:
                self._epoch += 1  # what was hidden is told now
        self._serial += 1

    def _think(self) -> None:
        while (job := self._next()) is not None:
            decided, failed = job.done()
            with self._changed:
                self._thinking = ""
                try:
                    with self._whole():
                        job.take(decided, failed)
                except Exception as error:
                    self._fail(f"the game failed: {type(error).__name__}: {message_of(error)}")
                self._serial += 1
                self._changed.notify_all()

    def _next(self) -> Job | None:
        """Wait for somebody to think for; None when the session is closed."""
        with self._changed:
            while not self._closed:
                if self._hinting and self.over:
                    self._hinting = False
                    return self._review()
                if self._hinting and (people := self.people()):
                    self._hinting = False
                    return self._job(self._adviser, people[0], "the hint", self._take_hint)
                self._hinting = False
                waiting = [player for player in self._waiting() if self._agents[player] is not None]
                if waiting and not self._stuck:
                    return self._job(self._agents[waiting[0]], waiting[0], self._names[waiting[0]], self._take_choice)
                self._changed.wait()
        return None

    def _job(self, agent: Any, player: int, name: str, take: Callable[[int, Data, str], None]) -> Job:
        self._thinking, epoch, steps, table = name, self._epoch, len(self.table.actions), self.table
        self._serial += 1
        self._changed.notify_all()
        look = table.lend(player, isinstance(agent, Guarded))
        seed = table.plan.seed if any(agent is each for each in self._unaware) else None
        self._unaware = [each for each in self._unaware if each is not agent]

        def think() -> Data:
            if seed is not None:
                agent.reseed(seed)
            return thought(agent, *look())

        def taken(decided: Data, failed: str) -> None:
            table.take_back()
            if (self._epoch, len(self.table.actions)) == (epoch, steps):
                take(player, decided, failed)

        return Job(think, name, taken)

    def _review(self) -> Job:
        saved, epoch = self.saved(), self._epoch

        def wanted() -> bool:
            return self._epoch == epoch and not self._closed

        def taken(found: Data, failed: str) -> None:
            if not wanted():
                return
            self.said = failed
            if not failed:
                self._frames = with_review(self._frames, found["frames"])
                self._epoch += 1
                rows = review(found)
                self.said = told([row for row in rows if self._agents[row["player"]] is None] or rows)

        return Job(lambda: reviewed(saved, self._adviser, wanted), "the review", taken)

    def _take_choice(self, player: int, decided: Data, failed: str) -> None:
        if failed:
            self._fail(failed)
        else:
            self._chosen(player, decided)
            self.said = self._written() or self.said  # such as a hint

    def _fail(self, failed: str) -> None:
        self.said, self._stuck = f"{failed}; take it back, or seat somebody else", True

    def _take_hint(self, player: int, hint: Data, failed: str) -> None:
        if failed:
            self.said = failed
            return
        self.said = f"hint: {hint['name']}"
        self._frames[-1]["decisions"] = [{**hint, "action": None}]
