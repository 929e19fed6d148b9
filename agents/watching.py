"""A game between agents as a document of :mod:`mcts_envs.page`: every state, and what was behind each decision."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from agents.arena.plan import Plan
from agents.arena.rows import Match, Row
from agents.arena.running.guarded import Guarded, made
from agents.arena.running.play import play
from agents.base import from_0, view_of
from agents.inspection.review import better, settle
from agents.inspection.showing import decision, pruned
from agents.spec import AgentSpec
from agents.stages import ForeignStage, OwnStage, Stage
from mcts_envs.core.api.env import GameEnv
from mcts_envs.core.api.multi import GameAECEnv
from mcts_envs.core.players import Player
from mcts_envs.core.view import View
from mcts_envs.page import html
from mcts_envs.page.frames import Data, frames_of, header_of
from mcts_envs.replay import Replay

LARGEST = 1_950_000
"""Characters of a file, above which the trees in it are cut down."""


def watch(plan: Plan, episode: int = 0, tell: Callable[[Data], None] = lambda document: None) -> Data:
    """Play a game, the one that a comparison by this plan plays as this episode, and return it as a document.

    Parameters
    ----------
    plan : Plan
        Its agents take the seats in their order; one agent takes all of them, and one for each team takes the team.
    episode : int
    tell : callable, optional
        ``tell(document)`` is called whenever the document has grown.

    Raises
    ------
    ValueError, TypeError
        If there is no such environment or agent, or the number of agents does not fit.
    """
    env = plan.make_env()
    stage: Stage = OwnStage(env, plan) if isinstance(env.unwrapped, GameEnv | GameAECEnv) else ForeignStage(env, plan)
    env = stage.env
    match = Match(seated(plan.agents, plan.teams), episode)
    row = plan.blank_row(match)
    recorder = Recorder(stage, plan, row, tell)
    for spec in dict.fromkeys(match.agents):
        plan.first_move(made(plan, spec), env)  # loaded and compiled before clocks run
    try:
        play(env, match, row, recorder.seated)
    except Exception as error:
        if row.last_asked is not None:
            error.add_note(f"{match.agents[row.last_asked].label} was asked last, for move {len(recorder.frames)}")
        raise
    recorder.end()
    return recorder.document


def recorded(plan: Plan, episode: int, document: Data) -> Replay:
    """Return a game that :func:`watch` has played, or the part that it has told of, as one that proves itself.

    Raises
    ------
    ValueError
        If somebody played in it whose choices are not in the document (``opponent``), or it comes out otherwise.
    """
    row = plan.blank_row(Match(seated(plan.agents, plan.teams), episode))
    names = [str(player["agent"]) for player in document["players"]]
    try:
        replay = Replay(plan.id, seed=row.seed, players=names, **plan.settings)
    except (TypeError, ValueError) as error:
        raise ValueError(f"a game with these settings cannot be kept as a replay: {error}") from error
    for each in document["frames"][:-1]:
        replay.play({chosen["player"]: chosen["action"] for chosen in each["decisions"]})
    finished = "points" in document["frames"][-1]
    if finished and (not replay.over or replay.returns.tolist() != document["frames"][-1]["returns"]):
        raise ValueError("played again, the game comes out otherwise: its agents must have changed the environment")
    return replay


def replayed(replay: Replay, analyst: Any = None, tell: Callable[[Data], None] = lambda document: None) -> Data:
    """Return a recorded game as a document.

    Parameters
    ----------
    replay : Replay
    analyst : Agent, optional
        Is asked about each decision; what its search finds is shown beside what was done, and what it would have done
        instead (:mod:`agents.inspection.review`).
    tell : callable, optional
        As for :func:`watch`.

    Raises
    ------
    ValueError
        If the analyst does not search.
    """
    document = header_of(replay)
    frames = document["frames"]
    for again, chosen, shown in frames_of(replay):
        frames.append(shown)
        for player, action in chosen.items():
            view = again.view(player)
            found = None if analyst is None else asked(analyst, view)[1]
            instead = None if found is None else better(found, view, action)
            shown["decisions"].append(decision(view, action, found) | ({"better": instead} if instead else {}))
        if len(frames) > 1 and again.game.players == 2:
            settle(*frames[-2:])
        tell(document)
    if analyst is not None and not any("search" in each for made in frames for each in made["decisions"]):
        raise ValueError(f"{analyst!r} has searched nowhere in this game; name an agent that does, such as mcts")
    return document


def asked(agent: Player, env: Any) -> tuple[int, Any, float]:
    """Ask an agent; return its action, what its search found, None where it has not searched, and the seconds."""
    own = agent.agent if isinstance(agent, Guarded) else agent
    before, began = getattr(own, "last_result", None), time.perf_counter()
    action = agent.act(env)
    seconds = time.perf_counter() - began
    found = getattr(own, "last_result", None)
    return action, None if found is before else found, seconds


def seated(agents: Sequence[AgentSpec], teams: Sequence[Sequence[int]]) -> tuple[AgentSpec, ...]:
    """Return who sits in each seat.

    Raises
    ------
    ValueError
        If there are neither one agent, nor one for each team, nor one for each seat.
    """
    seats = sum(map(len, teams))
    if len(agents) in (1, seats):
        return tuple(agents) * (seats if len(agents) == 1 else 1)
    if len(agents) == len(teams):
        team_of = {seat: number for number, team in enumerate(teams) for seat in team}
        return tuple(agents[team_of[seat]] for seat in range(seats))
    fits = sorted({1, len(teams), seats})
    raise ValueError(f"{len(agents)} agents for {seats} seats; give {' or '.join(map(str, fits))}")


class Recorder:
    """Writes down what agents see and do while :func:`agents.arena.running.play.play` asks them."""

    def __init__(self, stage: Stage, plan: Plan, row: Row, tell: Callable[[Data], None]) -> None:
        self._stage, self._plan, self._row, self._tell = stage, plan, row, tell
        at = f", episode {row.episode}" if row.episode else ""
        self.document = stage.header(f"{plan.id.removeprefix('mcts_envs/')}, seed {plan.seed}{at}")
        players = self.document["players"]
        for seat, each in zip(stage.seats, row.seats, strict=True):
            players[seat]["agent"] = each.agent
        self._clocks = [0.0] * len(players)
        self._last: Any = None

    @property
    def frames(self) -> list[Data]:
        """The frames so far."""
        found: list[Data] = self.document["frames"]
        return found

    def seated(self, spec: AgentSpec, seat: int) -> Player:
        """Return an agent that is written down."""
        return _Watched(made(self._plan, spec), self)

    def look(self, view: View) -> None:
        """Begin a frame, unless this is the state of the last one and the player has not chosen in it."""
        now = self._stage.state(view)
        chosen = [each["player"] for each in self.frames[-1]["decisions"]] if self.frames else []
        if now != self._last or view.player in chosen:
            self._last = now
            self._begin(self._stage.frame(view))

    def note(self, view: View, action: int, result: Any, seconds: float) -> None:
        """Write down a decision in the last frame."""
        self._clocks[view.player] += seconds
        self.frames[-1]["decisions"].append(decision(view, from_0(view, action), result, seconds))
        self._tell(self.document)

    def end(self) -> None:
        """Add the last state, and how it came out."""
        self._begin(self._stage.last())
        points = [seat.outcome for seat in self._row.seats]
        if len(points) == len(self.document["players"]) and None not in points:
            self.frames[-1]["points"] = points
        self._tell(self.document)

    def _begin(self, shown: Data) -> None:
        returns: list[float | None] = [None] * len(self._clocks)
        for seat, each in zip(self._stage.seats, self._row.seats, strict=True):
            returns[seat] = each.episode_return
        clocks = [round(seconds, 4) for seconds in self._clocks]
        self.frames.append(shown | {"returns": returns, "clocks": clocks, "decisions": []})


class _Watched:
    """An agent whose decisions are written down."""

    def __init__(self, agent: Player, recorder: Recorder) -> None:
        self._agent, self._recorder = agent, recorder
        own = agent.agent if isinstance(agent, Guarded) else agent
        self.held_to_mask = getattr(own, "held_to_mask", False)
        self.last_result: Any = None

    def reseed(self, seed: int) -> None:
        """Start the agent's randomness anew."""
        self._agent.reseed(seed)

    def act(self, env: Any) -> int:
        """Ask the agent."""
        view = view_of(env)
        self._recorder.look(view)
        action, self.last_result, seconds = asked(self._agent, env)
        self._recorder.note(view, int(action), self.last_result, seconds)
        return action


def fitted(document: Data, most: int = LARGEST) -> str:
    """Return a document as a file of HTML, with trees cut down until it has no more than so many characters.

    Where it is longer even without trees, it stays so.
    """
    text, nodes = html(document), 120
    while len(text) > most and nodes:
        nodes //= 2
        frames = [
            {**each, "decisions": [_smaller(decided, nodes) for decided in each.get("decisions", [])]}
            for each in document["frames"]
        ]
        text = html({**document, "frames": frames})
    return text


def _smaller(decided: Data, nodes: int) -> Data:
    """Return a decision with a tree of so many actions at most; without one for 0."""
    if "tree" not in decided.get("search", {}):
        return decided
    search = {name: value for name, value in decided["search"].items() if name != "tree"}
    return {**decided, "search": search | ({"tree": pruned(decided["search"]["tree"], nodes)} if nodes else {})}
