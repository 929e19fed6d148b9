"""What every command does first: to be imported before all else of ours.

It ends, with a line that says why, where ``agents`` is another package than ours, and shows warnings as a line.
"""

import sys
import warnings

import agents
from mcts_envs.core.errors import require_own_agents


def _line(message: object, *_: object, **__: object) -> str:
    return f"warning: {' '.join(str(message).split())}\n"


warnings.formatwarning = _line
try:
    require_own_agents(agents)
except ImportError as error:
    print(f"error: {error}", file=sys.stderr)
    sys.exit(2)
