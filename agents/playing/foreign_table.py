"""An environment of others, at which people sit: played live, and taken back by playing it again."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from agents import bridge
from agents.arena.plan import Plan
from agents.arena.running.play import points_of
from agents.bridge.returned import paid
from agents.bridge.states import ForeignGame
from agents.inspection.pixels import in_blocks
from agents.inspection.showing import decision
from agents.playing.lone_thread import LoneThread
from agents.stages import PICTURE, TEXT, WINDOW, ForeignStage
from mcts_envs.core.api.env import GameEnv
from mcts_envs.core.api.multi import GameAECEnv
from mcts_envs.core.view import View
from mcts_envs.page import options
from mcts_envs.page.frames import COLOURING, Data
from mcts_envs.replay import Replay, by_player

_MOST_NUMBERS = 200
"""Of an observation in words."""

_HIGHLIGHT = re.compile("\x1b\\[4[0-9]m(.*?)\x1b\\[0m")
_OTHERWISE = "with the same seed and the same actions {} comes out otherwise"


class ForeignTable:
    """A game in an environment of others, just begun.

    All that it shows is looked at when a step was made: while an agent thinks about the environment, nobody else
    touches it, and whoever goes on meanwhile does so in another one that was played as far. So is it where a step has
    failed. Environments are made, played and drawn in one thread: some are drawn in no other than that which began.

    Parameters
    ----------
    stage : ForeignStage
        What the environment looks like; makes others like it.
    seed : int
    thread : LoneThread
    """

    saves = False

    def __init__(self, stage: ForeignStage, seed: int, thread: LoneThread) -> None:
        self._stage, self.plan, self._thread = stage, replace(stage.plan, seed=seed), thread
        self.actions: list[list[int | None]] = []
        self._lent = self._spoiled = False
        thread.do(lambda: self._look(_Course(stage.plan.make_env(), seed)))

    @classmethod
    def of(cls, plan: Plan, text: bool) -> "ForeignTable":
        """Return a game in the environment of a plan, which is to draw itself as text if that is wanted.

        Raises
        ------
        ValueError, TypeError
            If there is no such environment, or it opens a window, or it is one of ours.
        """
        env = plan.make_env()
        if isinstance(env.unwrapped, GameEnv | GameAECEnv):
            raise ValueError(f"{plan.id} makes a game of mcts_envs; give the id by which that is registered")
        stage = ForeignStage(env, plan, (TEXT, PICTURE) if text else (PICTURE, TEXT), plain=not text)
        if getattr(stage.env, "render_mode", None) == WINDOW:
            raise ValueError(f"{plan.id} opens a window of its own; make it with render_mode={PICTURE!r}, or none")
        return cls(stage, plan.seed, LoneThread())

    @property
    def replay(self) -> Replay:
        """None: it raises ``ValueError``."""
        raise ValueError(f"{self.plan.id} is an environment of others, whose games have no positions and are not saved")

    @property
    def game(self) -> ForeignGame:
        """The game, as planners see it."""
        return self._course.game

    @property
    def choosing(self) -> list[int]:
        """Players who are to choose now: several where they choose at once."""
        return self._course.choosing[-1]

    @property
    def returns(self) -> list[float]:
        """Sum of the rewards of each seat."""
        return [sum(each) for each in zip(*self._course.rewards, strict=True)]

    @property
    def outcome(self) -> list[float] | None:
        """Points of each seat at the end, by returns; None before, and for one alone."""
        return None if self.choosing or self.game.players == 1 else points_of(self.returns)

    def header(self, names: list[str]) -> Data:
        """Return the document without a frame yet."""
        document = self._stage.header(self.plan.id)
        for player, name in zip(document["players"], names, strict=True):
            player["agent"] = name
        return document

    def frame(self, viewer: int | None, people: Sequence[int]) -> Data:
        """Return what the environment draws; where it draws nothing, what it shows to whom of these people it asks."""
        drawn = self._seen if self._stage.draws else {"text": f"{self._seen['text']}\n\n{self._told(people)}".strip()}
        return {"turn": self.choosing, "over": not self.choosing} | drawn

    def text(self, viewer: int | None, people: Sequence[int], coloured: bool) -> str:
        """Return what the environment writes or, where there are colours, draws; else what it shows."""
        drawn = self._seen.get("text") if self._stage.draws else None
        if "picture" in self._seen and coloured:
            drawn = in_blocks(self._seen["picture"])
        note = f"\n{self._seen['note']}" if "note" in self._seen else ""
        written = self._told(people) if drawn is None else drawn + note
        return written if coloured else COLOURING.sub("", _HIGHLIGHT.sub(r"[\1]", written))

    def options(self, player: int) -> list[Data]:
        """Return the legal actions of a player who is to choose."""
        return self._options.get(player, [])

    def decided(self, player: int, action: int) -> Data:
        """Return what a player chose."""
        nowhere: Any = None
        return decision(View(self.game, nowhere, player), action)

    def play(self, actions: Mapping[int, int]) -> None:
        """Make a step.

        Raises
        ------
        ValueError
            If an agent still thinks about the environment, and another one cannot be played as far.
        """
        self._thread.do(lambda: self._step(actions))

    def _step(self, actions: Mapping[int, int]) -> None:
        course, before = self._course, self.choices()
        if self._lent or self._spoiled:
            why = "its last step has failed; begin a new game" if self._spoiled else "somebody thinks about it; wait"
            course = again(course, before, self.plan, f"it cannot go on, as {why}")
        try:
            course.step(actions)
            self._look(course)
        except BaseException:
            self._spoiled |= course is self._course
            raise
        self.actions.append([int(actions[p]) if p in actions else None for p in range(self.game.players)])

    def cut(self, steps: int) -> None:
        """Go back to where so many steps had been made.

        Raises
        ------
        ValueError
            If it comes out otherwise when it is played again.
        """
        if steps < len(self.actions):
            consequence = "it cannot take moves back, and nothing has changed"
            kept = self.choices()[:steps]
            self._thread.do(lambda: self._look(again(self._course, kept, self.plan, consequence)))
            del self.actions[steps:]

    def choices(self) -> list[dict[int, int]]:
        """Return for each step what each player who was to choose chose."""
        return [by_player(chosen) for chosen in self.actions]

    def anew(self, seed: int) -> "ForeignTable":
        """Return another game from the start."""
        return ForeignTable(self._stage, seed, self._thread)

    def lend(self, player: int, live: bool) -> Callable[[], tuple[Any, View]]:
        """Return what shows the environment itself: agents copy it.

        Where several choose at once, agents of people's own are shown another one, in which it is their turn.
        """
        course, choices, spoiled, self._lent = self._course, self.choices(), self._spoiled, True

        def look() -> tuple[Any, View]:
            shown, early = course, live and course.turn != player
            if early or spoiled:
                shown = again(course, choices, self.plan, "nobody can be asked in it")
            if early:
                shown.go_on_to(player)
            view = shown.view(player)
            return shown.env if shown.turn == player else view, view

        return look

    def take_back(self) -> None:
        """Note that nobody thinks about the environment any more."""
        self._lent = False

    def leave(self) -> None:
        """Let nobody wait for the environment any more."""
        self._thread.leave()

    def _look(self, course: "_Course") -> None:
        """Take an environment for the present one, and look at all that is to be shown of it."""
        keys = keys_of(course.env, course.game)
        choosing = course.choosing[-1]
        legal = {player: options(course.game, course.view(player).state, player, keys) for player in choosing}
        shows = {player: course.shows(player) for player in ([0] if course.game.players == 1 else choosing)}
        self._stage.env = course.env
        self._seen = self._stage.seen()
        self._course, self._options, self._shows = course, legal, shows
        self._lent = self._spoiled = False

    def _told(self, people: Sequence[int]) -> str:
        """Return what the only player is shown; of several, the first of those who sit here and are to choose."""
        first = 0 if self.game.players == 1 else people[0] if people else -1
        return self._shows.get(first, "")


class _Course:
    """An environment from its reset on.

    Attributes
    ----------
    env : environment
    game : ForeignGame
    rewards : list of list
        Zeros at first, and what each seat was paid in each step.
    choosing : list of list
        Who was to choose before each step, and who is now.
    """

    def __init__(self, env: Any, seed: int) -> None:
        self.env, self._several = env, hasattr(env, "possible_agents")
        env.reset(seed=seed)
        game: Any = bridge.view(env).game
        self.game: ForeignGame = game
        self.rewards = [[0.0] * game.players]
        self.choosing: list[list[int]] = []
        self._settle(False)

    @property
    def turn(self) -> int:
        """Whom the environment asks next, also where several choose at once."""
        return self.game.numbers[self.env.agent_selection] if self._several and self.env.agents else 0

    def view(self, player: int) -> View:
        """Return the live view of a player."""
        return bridge.view(self.env, self.game.seats[player].name)

    def shows(self, player: int) -> str:
        """Return in words what a player is shown."""
        seen = self.env.observe(self.game.seats[player].name) if self._several else self.env.observation
        if isinstance(seen, Mapping) and seen.keys() == {"observation", "action_mask"}:
            seen = seen["observation"]
        with np.printoptions(precision=3, suppress=True, threshold=_MOST_NUMBERS):
            return str(seen)

    def step(self, actions: Mapping[int, int]) -> None:
        """Let all choose who are to choose, each an action counted from 0."""
        rewards, ended = [0.0] * self.game.players, False
        if self._several:
            self._take_turns(dict(actions), rewards)
        else:
            action = self.game.outward(0, actions[0])
            _, reward, terminated, truncated, _ = self.env.step(action)
            rewards[0], ended = paid(reward, action), bool(terminated or truncated)
        self.rewards.append(rewards)
        self._settle(ended)

    def go_on_to(self, player: int) -> None:
        """Let those who are asked before a player choose anything."""
        while self.turn != player:
            self.env.step(self.game.outward(self.turn, int(self.view(self.turn).legal_actions()[0])))

    def like(self, other: "_Course") -> bool:
        """Say whether as much of another course was the same."""
        steps, shown = len(self.rewards), self.env.history.shown
        return (self.rewards, self.choosing) == (other.rewards[:steps], other.choosing[:steps]) and all(
            one.keys() == before.keys() and all(one[name] == before[name] or one[name] < 0 for name in one)
            for one, before in zip(shown, other.env.history.shown, strict=False)
        )  # negative: what was shown cannot be compared

    def _take_turns(self, left: dict[int, int], rewards: list[float]) -> None:
        """Ask for what was chosen, one after the other, until all is said or the turns are over."""
        while left and self.env.agents:
            player = self.turn
            if self._has_left():
                left.pop(player, None)
                self.env.step(None)
            elif player in left:
                action = self.game.outward(player, left.pop(player))
                self.env.step(action)
                for number, seat in enumerate(self.game.seats):
                    rewards[number] += paid(self.env.rewards.get(seat.name, 0.0), action)
            else:
                break

    def _settle(self, ended: bool) -> None:
        """Let those who have ended take their last, empty turn, and note who is to choose."""
        if self._several:
            for _ in tuple(self.env.agents):
                if self.env.agents and self._has_left():
                    self.env.step(None)
            ended = not self.env.agents or self._has_left()
        bits = 0 if ended else self.game.active(bridge.view(self.env).state)
        self.choosing.append([player for player in range(self.game.players) if bits >> player & 1])

    def _has_left(self) -> bool:
        """Whether the agent that is asked next has ended."""
        name = self.env.agent_selection
        return bool(self.env.terminations[name] or self.env.truncations[name])


def again(course: _Course, choices: Sequence[Mapping[int, int]], plan: Plan, consequence: str) -> _Course:
    """Return a course as far as these choices, played anew.

    Raises
    ------
    ValueError
        If it comes out otherwise; the message ends with the consequence.
    """
    try:
        played = _Course(plan.make_env(), plan.seed)
        for chosen in choices:
            if played.choosing[-1]:
                played.step(chosen)
    except Exception as error:  # whatever its code raises: an action is not legal any more, for example
        raise ValueError(f"{_OTHERWISE.format(plan.id)}: {consequence} ({error})") from error
    if not played.like(course):
        raise ValueError(f"{_OTHERWISE.format(plan.id)}: {consequence}")
    return played


def keys_of(env: Any, game: ForeignGame) -> dict[str, int]:
    """Return the keys that an environment says to stand for actions, as Gymnasium has it; those pressed one at a time.

    Behind wrappers that change actions they stand for others, and there are none.
    """
    inner, found = env.unwrapped, dict[str, int]()
    if not hasattr(inner, "possible_agents") and env.action_space != inner.action_space:
        return {}
    with suppress(Exception):  # whatever its code raises, or where it has none: keys are worth no error
        for keys, action in inner.get_keys_to_action().items():
            pressed = tuple(keys) if isinstance(keys, Sequence) else (keys,)
            number = int(action) - game.outward(0, 0)
            if len(pressed) == 1 and 0 <= number < game.actions:
                found[pressed[0] if isinstance(pressed[0], str) else chr(pressed[0])] = number
    return found
