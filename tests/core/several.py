"""Games of several players for tests: a fixed policy, and all that a PettingZoo environment tells."""

import copy
import zlib

from gymnasium.utils.env_checker import data_equivalence

from mcts_envs.core.api.multi import GameAECEnv
from tests.toys import Stakes


def choice(view):
    """A fixed policy: the same legal action for the same state and player."""
    legal = view.legal_actions()
    return int(legal[zlib.crc32(view.state.tobytes() + bytes([view.player])) % len(legal)])


def next_action(env):
    agent = env.agent_selection
    return None if env.terminations[agent] or env.truncations[agent] else choice(env.view())


def facts(env):
    """All that an AEC environment tells."""
    return {
        "agents": list(env.agents),
        "agent_selection": env.agent_selection,
        "rewards": {agent: float(reward) for agent, reward in env.rewards.items()},
        "cumulative_rewards": {agent: float(reward) for agent, reward in env._cumulative_rewards.items()},
        "terminations": dict(env.terminations),
        "truncations": dict(env.truncations),
        "infos": copy.deepcopy(env.infos),
        "observations": {agent: env.observe(agent) for agent in env.possible_agents},
        "state": env.state(),
        "snapshot": env.clone_state(),
    }


def same(one, other):
    return data_equivalence(one, other, exact=True)


def long_stakes():
    """Return a seed with which a player drops out long before the end."""
    for seed in range(200):
        env = GameAECEnv(Stakes, goal=12)
        env.reset(seed=seed)
        while env.agents:
            alone = len(env.agents) == 2 and not any(env.terminations.values())
            env.step(next_action(env))
            if alone and len(env.agents) == 2:
                return seed
    raise AssertionError("no such seed")


class Fixed:
    """The fixed policy as an opponent."""

    def act(self, env):
        return choice(env.unwrapped.view())

    def reseed(self, seed):
        pass


def aec_record(env, seed):
    """Play the fixed policy; return what each agent was told at each of its turns."""
    env.reset(seed=seed)
    told = {agent: [] for agent in env.possible_agents}
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        told[agent].append((observation["observation"], reward, terminated, truncated, info))
        env.step(next_action(env))
    return told
