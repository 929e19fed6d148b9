"""An environment of others under trial: played in its own API, whichever that is, with chance of its own."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.random import mtrand
from pettingzoo import AECEnv, ParallelEnv

from agents.bridge.copying.chance import GLOBALS, system_apart, torch_apart
from agents.bridge.copying.copies import Copy, own
from agents.bridge.layers import turns_of
from agents.bridge.remembering import fingerprint, shown_after
from agents.bridge.returned import check_actions, tried
from agents.bridge.states import ForeignGame, ForeignState


@contextmanager
def chance_apart(seed: int) -> Iterator[None]:
    """Seed the global generators of ``random``, ``numpy.random`` and PyTorch, and put them back afterwards.

    What this thread would draw from the operating system comes from the seed as well.
    """
    with GLOBALS, torch_apart(seed % 2**64), system_apart(random.Random(seed).randbytes):
        before = random.getstate(), mtrand.get_state()
        random.seed(seed)
        mtrand.seed(seed % 2**32)
        try:
            yield
        finally:
            random.setstate(before[0])
            mtrand.set_state(before[1])


class Played:
    """An environment under trial.

    Parameters
    ----------
    game : ForeignGame
    env : environment
        One that nobody else plays, with its wrappers.
    said : object
        What its ``reset`` or ``step`` said last.
    over : bool
    held : list, optional
        What a copy refers to weakly, which would go without it.

    Attributes
    ----------
    shown : dict
        By player that is to choose: a hash of what it is shown.
    """

    def __init__(self, game: ForeignGame, env: Any, said: Any = None, over: bool = False, held: Any = ()) -> None:
        self.game, self.env, self.said, self.over, self.held = game, env, said, over, held
        self.shown: dict[Any, int] = {}

    def copy(self) -> "Played":
        """Return another one like it, with what was said: the environment may write over that."""
        made = Copy(self.env)
        return Played(self.game, made.env, Copy(self.said).env, self.over, made.held)

    def reset(self, seed: int, options: Any = None) -> None:
        """Begin an episode."""
        given = {"seed": seed} if options is None else {"seed": seed, "options": own(options)}
        self.said, self.over = self.env.reset(**given), False
        self.shown = shown_after(self.env, self.said)

    def step(self, actions: dict[Any, Any]) -> None:
        """Make a step with the actions of those who are to choose, by name."""
        if isinstance(self.env, ParallelEnv):
            self.said = self._stepped(actions)
        else:
            (action,) = actions.values()
            before = getattr(self.env, "action_space", None)  # of what is remembered: it may be inside of a wrapper
            self.said = self._stepped(action)
            self.over = self.said is not None and bool(self.said[2] or self.said[3])
            if self.said is not None and not self.over and self.env.action_space != before:  # in Gymnasium
                check_actions(self.env.action_space, self.game.seats[0], action)
        self.shown = shown_after(self.env, self.said)

    def _stepped(self, action: Any) -> Any:
        try:
            return self.env.step(action)
        except Exception as error:
            tried(error, action)
            raise

    def choosing(self) -> list[Any]:
        """Return who is to choose, by name; in an AEC environment that may be one that has ended."""
        if isinstance(self.env, AECEnv):
            return [self.env.agent_selection] if self.env.agents else []
        if isinstance(self.env, ParallelEnv):
            return list(self.env.agents)
        return [] if self.over else [None]

    def legal(self, agent: Any) -> list[Any]:
        """Return the actions among which an agent may choose: None alone for an AEC agent that has ended."""
        env: Any = self.env
        if isinstance(env, AECEnv) and (env.terminations[agent] or env.truncations[agent]):
            return [None]
        first = self.game.seats[self.game.numbers[agent]].start
        return [action + first for action in self.game.offered(self.state, agent)]

    @property
    def state(self) -> ForeignState:
        """The environment inside, as functions of a game take it."""
        return self.game.state_of(self.env, (self.seen, self.infos))

    @property
    def seen(self) -> Any:
        """The observations that were shown last, where they are handed out."""
        turns = turns_of(self.env)
        return turns._observations if turns is not None else None if self.said is None else self.said[0]

    def observation(self, agent: Any) -> Any:
        """Return what an agent is shown."""
        if isinstance(self.env, AECEnv):
            return self.env.observe(agent)
        return self.seen[agent] if isinstance(self.env, ParallelEnv) else self.seen

    @property
    def paid(self) -> int:
        """A hash of what all players were paid last, where there are several: so they choose what they choose."""
        if isinstance(self.env, AECEnv):
            return fingerprint(self.env.rewards)
        return fingerprint(self.said[1]) if isinstance(self.env, ParallelEnv) and len(self.said) > 2 else 0

    @property
    def infos(self) -> Any:
        """What was said beside them."""
        turns = turns_of(self.env)
        return turns.infos if turns is not None else None if self.said is None else self.said[-1]

    def play(self, agent: Any, own: Any, chance: np.random.Generator) -> None:
        """Let everybody choose: an agent what it is told, the others at random among what is legal."""
        actions = {}
        for name in self.choosing():
            actions[name] = own if name == agent else self._drawn(name, chance)
        self.step(actions)

    def _drawn(self, name: Any, chance: np.random.Generator) -> Any:
        legal = self.legal(name)
        return legal[int(chance.integers(len(legal)))]
