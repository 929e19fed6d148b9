"""Comparing agents: paired episodes over processes, durable results, figures with intervals."""

from agents.arena.comparison import compare
from agents.arena.plan import Plan
from agents.arena.report import Report
from agents.arena.spec import AgentSpec, parse_agent, parse_agents, parse_budget, parse_settings

__all__ = ["AgentSpec", "Plan", "Report", "compare", "parse_agent", "parse_agents", "parse_budget", "parse_settings"]
