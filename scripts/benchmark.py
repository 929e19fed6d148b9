"""Measure speed, each figure beside a named yardstick in the same run.

    python scripts/benchmark.py                    environments and search
    python scripts/benchmark.py api                environments, one and batched, and the rules
    python scripts/benchmark.py search             the search
    python scripts/benchmark.py training           PPO on each game and on an empty environment (pip install -e ".[rl]")
    python scripts/benchmark.py network            searches that consult a network (pip install -e ".[rl]")
    python scripts/benchmark.py rivals             OpenSpiel and gymcts (pip install -e ".[rivals]")
    python scripts/benchmark.py --quick            fewer repetitions

Times are the least of several rounds in which the candidates take turns, so that a noisy machine disturbs them alike;
those of training are medians. They are kept in ``docs/results/data``, and ``docs/results/speed.md`` is written from it;
figures of more rounds stay there, when fewer follow.
"""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import _own  # noqa: F401
import typer
from _line import begin
from _pages import CHECKOUT, PAGES
from _words import refusal

from mcts_envs.core.errors import writable

if TYPE_CHECKING:
    from speed.figure import Figure

LARGE = "mcts_envs/LaneDefense10x10-v0"


class Part(StrEnum):
    """What can be measured on its own."""

    API = "api"
    SEARCH = "search"
    TRAINING = "training"
    NETWORK = "network"
    RIVALS = "rivals"


def measured(part: Part, rounds: int) -> "list[Figure]":
    """Return the figures of a part."""
    # Late, so that --help loads no game.
    from speed import api, search

    import mcts_envs

    ids = mcts_envs.environment_ids()
    if part == Part.API:
        return [figure for id in ids for measure in (api.steps, api.rules) for figure in measure(id, rounds)]
    if part == Part.SEARCH:
        trees = [figure for id in ids for figure in search.searches(id, rounds)]
        return trees + search.published(rounds) + search.threads(LARGE, rounds) + search.first_search(LARGE, rounds)
    if part in (Part.NETWORK, Part.RIVALS) and not CHECKOUT:
        raise typer.BadParameter(f"{part} plays examples/connect_four.py; run it in a checkout of the repository")
    if part == Part.TRAINING:
        from speed import training

        batches = training.ppo(rounds) + training.vec_env(rounds) + training.sizes(rounds)
        return batches + training.moves(rounds) + training.past_selves(rounds)
    if part == Part.NETWORK:
        from speed import halving, network

        return network.networks(rounds) + halving.connect_four(rounds)
    from speed import rivals

    try:
        compiled, matches = rivals.connect_four(rounds), rivals.match(400 if rounds > 3 else 40)
        return compiled + rivals.single(rounds) + rivals.in_python(rounds) + matches
    except ImportError as error:
        raise typer.BadParameter(f'{error}; install the rivals with: pip install -e ".[rl,rivals]"') from None


def main(
    parts: Annotated[list[Part] | None, typer.Argument(help="What to measure.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer repetitions.")] = False,
    pages: Annotated[Path, typer.Option(help="Folder of the page and of its data.")] = PAGES,
) -> None:
    """Measure what is named, or environments and search, and write the page."""
    # Late, so that --help loads no game.
    from speed.page import TITLES, keep, kept, load, table

    from mcts_envs.core.compiling.early import compile_at_once

    rounds = 3 if quick else 15
    compile_at_once()
    try:
        writable("page", pages / "speed.md")
        writable("page", pages / "data", folder=True)
        kept(pages / "data" / "speed.jsonl")
        for part in parts or [Part.API, Part.SEARCH]:
            before = load()
            figures = measured(part, rounds)
            typer.echo(f"{TITLES[part]}\n{table(figures)}")
            if not keep(pages, part, rounds, before, figures):
                typer.echo("the page keeps its figures of more rounds", err=True)
    except (ValueError, OSError) as error:
        raise refusal(error) from None
    typer.echo(f"page: {pages / 'speed.md'}")


if __name__ == "__main__":
    begin(main)
