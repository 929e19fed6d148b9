"""AlphaZero's search: a tree whose selection follows a policy's prior, and whose leaves are worth what it says."""

from typing import Any

from agents.learning.saved.shipped import BEST
from agents.mcts import MCTS, POLICY
from agents.policies.puct import puct


class PUCT(MCTS):
    """Planning with a trained policy: it says where to look, and what leaves are worth; nothing is rolled out.

    ``mcts`` with ``select="puct"``, ``evaluate="policy"`` and a policy: by default the one that is shipped for the game
    at hand (D. Silver et al. 2017, "Mastering the Game of Go without Human Knowledge"; its noise at the root, for
    self-play, is ``dirichlet_alpha``).

    Parameters
    ----------
    policy : str, Path or model
        ``"shipped"``, or the name of one that is, ``"maskable_ppo"``; or a trained policy of yours, as for
        :class:`agents.mcts.MCTS`.
    **settings
        Those of :class:`agents.mcts.MCTS` but for ``select``.

    Raises
    ------
    ValueError
        At the first move, if no policy is shipped for the game.
    """

    name = "puct"

    def __init__(self, *, policy: Any = BEST, **settings: Any) -> None:
        if "select" in settings:
            raise TypeError("puct has no setting 'select'; take an 'mcts' agent with the policy")
        super().__init__(select=puct, policy=policy, **{"evaluate": POLICY, **settings})
