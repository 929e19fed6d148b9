"""Two agents of ours against two of the original Pommerman engine, in that engine; it needs the package pommerman."""

import pommerman
from pommerman.agents import BaseAgent, SimpleAgent

import agents
from mcts_envs.games.bomber_grid.playground import PlaygroundAgent


class Ours(PlaygroundAgent, BaseAgent):
    """An agent of ours, as the original takes them."""


first, second = (Ours(agents.make("best", time_limit=0.08)) for _ in range(2))
env = pommerman.make("PommeTeamCompetition-v0", [first, SimpleAgent(), second, SimpleAgent()])
observations, done = env.reset(), False
while not done:
    observations, rewards, done, info = env.step(env.act(observations))
print(info)
