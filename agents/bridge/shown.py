"""What an agent of one's own is shown in place of a live environment."""

import random
from typing import Any

from pettingzoo import AECEnv, ParallelEnv

from agents.bridge.copying.copies import Copy
from agents.bridge.layers import turns_of
from agents.bridge.live import view

COURSES = 20
"""Courses of the game from which one is drawn for one look."""


def redrawn(env: Any, chance: random.Random) -> Any:
    """Return a copy of an environment, without wrappers, in which what the player to move cannot know is drawn anew.

    One of agents who choose at once is a copy in turns where the environment is: what those have chosen who came before
    is drawn anew too. What others observe is what they do in the game that was drawn; where an adapter draws, nothing.

    Raises
    ------
    TypeError
        If it cannot be copied.
    """
    seen = view(env)
    game: Any = seen.game
    live: Any = seen.state
    live.courses = COURSES
    state = live.copy()
    game.determinize(state, seen.player, chance.getrandbits(63))
    if not (isinstance(env, AECEnv) and isinstance(state.env, ParallelEnv)):
        return state.env
    turns = turns_of(env)
    made = Copy(turns, {id(turns.env): state.env}).env
    observed, infos, own = made._observations, made.infos, made.agent_selection
    if game.redraws:
        observed, infos = {}, {}
    elif state.hidden.noted(seen.player):  # others see what is hidden
        observed, infos = state.seen or {}, state.infos or {}
    made._observations = {**observed, own: made.observe(own)}
    made.infos = {agent: infos.get(agent, {}) for agent in made.infos} | {own: made.infos[own]}
    for agent in made.agents[: made.agents.index(made.agent_selection)]:
        if made._actions.get(agent) is not None:
            made._actions[agent] = game.outward(game.numbers[agent], chance.choice(game.offered(state, agent)))
    return made
