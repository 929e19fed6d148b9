"""Comparisons in a game for one: players with accidents, and what a report of them holds."""

import os
import time

from agents.arena import AgentSpec, Plan, parse_agent
from mcts_envs.core.players import BuiltIn

ID = "LaneDefense3x3-v0"


class Fake(BuiltIn):
    """A player with an accident in episodes whose agent seed is divisible by 5."""

    def __init__(self, base: str = "random", accident: str = "", pause: float = 0.0) -> None:
        super().__init__(base)
        self.accident, self.pause, self.moves, self.unlucky = accident, pause, 0, False

    def reseed(self, seed: int) -> None:
        super().reseed(seed)
        self.moves, self.unlucky = 0, seed > 0 and seed % 5 == 0

    def act(self, env: object) -> int:
        self.moves += 1
        time.sleep(self.pause)
        if self.unlucky and self.moves == 2:
            if self.accident == "raise":
                raise RuntimeError("the agent broke")
            if self.accident == "die":
                os._exit(3)
        if self.accident == "confuse":
            raise ValueError("the agent is confused")
        return super().act(env)


def make_fake(spec: AgentSpec) -> Fake:
    return Fake(**spec.settings)


def fakes(*texts: str, **more: object) -> Plan:
    specs = tuple(parse_agent(text) for text in texts)
    return Plan(ID, specs, make=make_fake, **more)  # type: ignore[arg-type]


TWO = ("random:base=random", "scripted:base=scripted")
