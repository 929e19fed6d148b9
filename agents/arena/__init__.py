"""Comparing agents: paired episodes over processes, durable results, figures with intervals."""

from typing import TYPE_CHECKING

import agents
from mcts_envs.core import loading
from mcts_envs.core.errors import require_own_agents

# Before the imports below fail without saying why.
require_own_agents(agents)
try:
    import filelock  # noqa: F401
    import rich  # noqa: F401
except ImportError as error:
    raise ImportError(f'comparisons need {error.name}: pip install "mcts-envs[commands]"') from error

# ruff: noqa: E402
from agents.arena.comparison import compare
from agents.arena.flat import records
from agents.arena.limits import Limits
from agents.arena.plan import Plan
from agents.arena.report.report import Report
from agents.arena.statistics.anytime import confidence_sequence
from agents.arena.statistics.rating import from_points, from_rankings, ratings
from agents.arena.statistics.sprt import Sprt, boards_needed, games_needed, parse_sprt
from agents.spec import (
    AgentSpec,
    parse_agent,
    parse_agents,
    parse_budget,
    parse_meeting,
    parse_part,
    parse_settings,
)

__all__ = [
    "AgentSpec",
    "Limits",
    "Plan",
    "Report",
    "Sprt",
    "boards_needed",
    "compare",
    "confidence_sequence",
    "from_points",
    "from_rankings",
    "games_needed",
    "parse_agent",
    "parse_agents",
    "parse_budget",
    "parse_meeting",
    "parse_part",
    "parse_settings",
    "parse_sprt",
    "ratings",
    "records",
]


if not TYPE_CHECKING:
    __getattr__ = loading.named_modules(__name__)
