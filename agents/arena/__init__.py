"""Comparing agents: paired episodes over processes, durable results, figures with intervals."""

import agents
from mcts_envs.core.errors import require_own_agents

require_own_agents(agents)  # before the imports below fail without saying why

# ruff: noqa: E402
from agents.arena.comparison import compare
from agents.arena.limits import Limits
from agents.arena.plan import Plan
from agents.arena.report import Report
from agents.arena.spec import (
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
    "compare",
    "parse_agent",
    "parse_agents",
    "parse_budget",
    "parse_meeting",
    "parse_part",
    "parse_settings",
]
