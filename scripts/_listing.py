"""Environments, agents and policies, a line each. Loads no game."""

from collections.abc import Iterator
from pathlib import Path

import agents
from agents.planners.preset import EVERYWHERE
from mcts_envs.registry import ENTRIES

GAMES = {
    "LaneDefense3x3-v0": (10, "a simplified Plants vs. Zombies"),
    "LaneDefense10x10-v0": (101, "the same on a large board"),
    "LaneDefense5x9-v0": (181, "the richer one: sun, four plants, waves"),
    "WallSurvival-v0": (576, "move, build walls, own more cells"),
    "Bomber-v0": (6, "bombs and items, everyone for itself"),
    "BomberTeam-v0": (6, "two against two, who see little"),
    "BomberRadio-v0": (384, "the same, with words to the mate"),
    "BomberDuel-v0": (6, "one against one on 8x8"),
    "BomberPlanning-v0": (6, "constants of the planning literature"),
    "Football1-v0": (69, "a ball game of dice, 1 a side"),
    "Football3-v0": (185, "3 a side"),
    "Football5-v0": (373, "5 a side"),
    "Football7-v0": (465, "7 a side"),
    "Football11-v0": (925, "11 a side"),
}
"""Actions with the default settings, and the game in a few words; other games are listed without."""

WIDTH = 21
"""Of the column of names."""

AGENTS = {
    "alpha_beta": "iterative deepening, for deterministic games of two",
    "auto": "looks at the environment and picks a planner",
    "best": "the strongest planner that we know for the game",
    "best_with_policy": "the strongest search with the shipped policy",
    "careful": "never walks into fire that it can foresee",
    "determinized": "a tree for each of several guesses at what is hidden",
    "dqn": "the policy that is shipped, of action values",
    "expert_iteration": "the policy that is shipped, taught by a search",
    "flat_mc": "rollouts shared equally between the actions",
    "gatherer": "best, but for items and wood first",
    "graph": "solves games for one whose states recur",
    "greedy": "one ply ahead by rules",
    "gumbel": "a prior improved by few simulations",
    "halving": "sequential halving; all actions meet the same chance",
    "maskable_ppo": "the policy that is shipped, which sees legal actions",
    "mcts": "Monte Carlo tree search, UCT by default",
    "mcts_aiide": "the tree search of Perez-Liebana et al. (2019)",
    "mcts_bias": "the report's search, returns decay by depth",
    "mcts_bias_once": "the report's search, returns decay once",
    "mcts_model": "a tree of own moves against a guess at the others",
    "mcts_paper": "the lane paper's search after its programs",
    "mcts_report": "the wall game report's search",
    "mcts_text": "the lane paper's search after its text",
    "mcts_tutorial": "the football tutorial's search without rollouts",
    "mcts_tutorial_turn": "the same with rollouts to the next turn",
    "mcts_voronoi": "tree search, Voronoi evaluation, no rollouts",
    "mcts_widening": "tree with chance nodes, progressive widening",
    "mobility": "one ply ahead by the cells within reach",
    "one_step": "one step ahead",
    "osla_aiide": "one step ahead, of Perez-Liebana et al. (2019)",
    "pessimist": "depth-limited tree, pessimistic evaluation",
    "policy_search": "linear policies of what is seen, bettered by chance",
    "ppo": "the policy that is shipped",
    "puct": "tree search that consults the shipped policy",
    "random": "the game's random player",
    "random_active": "random, without ending a turn early",
    "random_safe": "random among moves that avoid foreseeable fire",
    "random_types": "random by type of action",
    "random_walk": "the reference's own random player",
    "rhea": "rolling horizon evolution of action sequences",
    "rhea_aiide": "the evolution of Perez-Liebana et al. (2019)",
    "rule_based": "in the manner of the original's SimpleAgent",
    "rule_based_aiide": "the less careful one of Perez-Liebana et al. (2019)",
    "rule_based_aiide_wary": "the same, which stays on a bomb without a way out",
    "runs": "a line of actions in runs, kept and bettered by chance",
    "scripted": "the game's rule-based player",
    "tactical": "scripted, and stronger than the scripted player",
    "uniform": "uniform among the legal actions",
}
"""What each of :func:`agents.names` is; of others the settings are shown."""


_USAGE = """\
usage: mcts-envs list

Print all environments, agents and shipped policies, a line each; mcts-envs info NAME tells of one."""


def main(arguments: list[str]) -> int:
    """Print the list: ``mcts-envs list``."""
    if arguments in (["--help"], ["-h"]):
        print(_USAGE)
        return 0
    if arguments:
        raise ValueError(f"list takes nothing more, not {arguments[0]!r}; mcts-envs info NAME tells of one")
    print(listing())
    return 0


def listing() -> str:
    """Return all environments, the agents that play any of them, those that a few have of their own, and policies."""
    return "\n".join([*_environments(), "", *_general(), *_own(), "", *_policies()])


def _environments() -> Iterator[str]:
    yield f"{'environment':19}  players  actions  game"
    for id in _ids():
        actions, about = GAMES.get(id, ("", ""))
        yield f"{id:19}  {ENTRIES[f'mcts_envs/{id}'].players:>7}  {actions:>7}  {about}".rstrip()


def _ids() -> list[str]:
    """Return the ids of the package, without its name."""
    return [id.removeprefix("mcts_envs/") for id in ENTRIES if id.startswith("mcts_envs/")]


def _general() -> Iterator[str]:
    yield "agents of every environment"
    brought = {name for entry in ENTRIES.values() for name in entry.presets} - {*EVERYWHERE, *agents.NAMES}
    yield from (_line(name) for name in agents.names() if name not in brought)


def _own() -> Iterator[str]:
    """Yield the agents that games bring, the environments of a game together."""
    together: dict[tuple[str, ...], list[str]] = {}
    for id in _ids():
        together.setdefault(tuple(ENTRIES[f"mcts_envs/{id}"].presets), []).append(id.removesuffix("-v0"))
    for presets, ids in together.items():
        if names := [name for name in presets if name not in (*EVERYWHERE, *agents.NAMES)]:
            yield from ("", f"agents of {', '.join(ids)}", *map(_line, names))


def _policies() -> Iterator[str]:
    yield "policies shipped"
    for file in sorted((Path(agents.__file__).parent / "learning" / "policies").glob("*/*.zip")):
        yield f"  {file.stem:{WIDTH}}  {file.parent.name}"


def _line(name: str) -> str:
    return f"  {name:{WIDTH}}  {AGENTS.get(name) or _settings(name)}".rstrip()


def _settings(name: str) -> str:
    """Return the settings of an agent that a game brings, cut to a line; of one of ours nothing."""
    preset = next((entry.presets[name] for entry in ENTRIES.values() if name in entry.presets), None)
    if preset is None:
        return ""
    settings = ", ".join(f"{key}={value}" for key, value in preset.items() if key != "agent")
    return f"{preset['agent']}({settings})"[:58]
