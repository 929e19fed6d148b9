"""Any Gymnasium or PettingZoo environment with discrete actions, made searchable.

``agents.make("mcts").act(env)`` is all that a user writes: the search looks at foreign environments through this
package. It copies the environment inside all wrappers, plays the copy, and brings it back for the next simulation.

What is looked after
    Random generators in the copy are seeded anew for every simulation: planning foresees nothing that is yet to be
    drawn from them, and leaves the environment's own generators, and the global ones of ``random`` and
    ``numpy.random``, as they were. Time limits of wrappers end simulations where they end the episode. Legal actions
    come from ``env.action_masks()``, from ``info["action_mask"]``, or from PettingZoo's ``observation["action_mask"]``.
    Agents that have ended are passed by.

What is not
    What the environment has drawn or been told already, and hides, is copied as it is, not redrawn: a search sees the
    dealer's second card in Blackjack, other players' hands, and in PettingZoo's rock-paper-scissors what the first
    player has chosen. Chance that cannot be found: seeds or keys that an environment keeps as plain numbers and draws
    from, and simulators in compiled code, are copied with their future. State outside the environment's object (class
    attributes, module globals, files, other processes) is not copied. Rewards and observations are those inside all
    wrappers. A Gymnasium environment does not know by itself that it has ended, nor what its last ``info`` said:
    :class:`Remember` keeps both.

How it is copied
    By ``clone_state(include_rng=False)`` and ``restore_state`` where the environment has them, as the Atari games do.
    Else by what :mod:`agents.bridge.copying` does to Python objects: bringing a copy back takes a microsecond for each
    dozen of its containers. Environments that hold objects of compiled code are deep-copied for every simulation.

What a leaf is worth can be told by ``evaluate``, a plain Python function ``(state, values)`` that writes a value for
every player; ``state.env`` is the copied environment.
"""

from agents.bridge.adapters import Adapter, register
from agents.bridge.hidden import Copies
from agents.bridge.live import view
from agents.bridge.remembering import Remember, remember

__all__ = ["Adapter", "Copies", "Remember", "register", "remember", "view"]
