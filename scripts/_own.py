"""Ends a command, with a line that says why, where ``agents`` is another package than ours; to be imported first."""

import sys

import agents
from mcts_envs.core.errors import require_own_agents

try:
    require_own_agents(agents)
except ImportError as error:
    print(f"error: {error}", file=sys.stderr)
    sys.exit(2)
