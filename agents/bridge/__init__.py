"""Any Gymnasium or PettingZoo environment with discrete actions, made searchable.

``agents.make("mcts").act(env)`` is all that a user writes: the search looks at foreign environments through this
package. It copies the environment inside all wrappers, plays the copy, and brings it back for the next simulation.

What is looked after
    Random generators in the copy are seeded anew for every simulation: planning foresees nothing that is yet to be
    drawn from them, and leaves the environment's own generators, and the global ones of ``random``, ``numpy.random``
    and PyTorch, as they were. Time limits of wrappers end simulations where they end the episode. Legal actions
    come from ``env.action_masks()``, from ``info["action_mask"]``, or from ``observation["action_mask"]``.
    Agents that have ended are passed by. Who moves later in a cycle of agents that choose at once, as ``metadata`` with
    ``is_parallelizable`` says, does not know what the others chose.

What is hidden
    What the environment has drawn or been told already, and the player cannot know, is drawn anew for every simulation:
    by an :class:`Adapter`, or by replay of what :func:`remember` has kept, in courses of the game that showed the
    player the same (:mod:`agents.bridge.hidden`). Where neither is possible, a warning says what is foreseen.

What is not looked after
    Chance that cannot be found: seeds that an environment keeps as plain numbers and draws from, and simulators in
    compiled code, are copied with their future. State outside the environment's object (class attributes, module
    globals, files, other processes) is not copied, and refused where a few steps show it; nor is the action that an
    Atari game may repeat (a "sticky" one): its emulator leaves it out of snapshots. Rewards and observations are those
    inside all wrappers. A Gymnasium environment does not know by itself that it has ended, nor what its last ``info``
    said, which :class:`Remember` keeps. :func:`check_planning` looks at all of this, but not for recordings that are
    played back, as prices: planners read on in them.

How it is copied
    By the first means that passes a check (:mod:`agents.bridge.means`): what the environment or its adapter saves and
    restores; what :mod:`agents.bridge.copying` does to Python objects, where bringing a copy back takes a microsecond
    for each dozen of its containers; ``copy.deepcopy``; or replay from the last reset.

What a leaf is worth can be told by ``evaluate``, a plain Python function ``(state, values)`` that writes a value for
every player; ``state.env`` is the copied environment.
"""

from agents.bridge.adapters import Adapter, register
from agents.bridge.checking import check_planning
from agents.bridge.functional import PgxEnvironment, pgx_environment
from agents.bridge.hidden import Copies
from agents.bridge.live import view
from agents.bridge.remembering import Remember, remember

__all__ = [
    "Adapter",
    "Copies",
    "PgxEnvironment",
    "Remember",
    "check_planning",
    "pgx_environment",
    "register",
    "remember",
    "view",
]
