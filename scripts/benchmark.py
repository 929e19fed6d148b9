"""Measure speed, each figure beside a named yardstick in the same run.

    python scripts/benchmark.py                    the faces and the search
    python scripts/benchmark.py faces              the faces and the rules
    python scripts/benchmark.py search             the search
    python scripts/benchmark.py training           PPO on each game and on an empty environment (pip install -e ".[rl]")
    python scripts/benchmark.py rivals             OpenSpiel and gymcts (pip install -e ".[rivals]")
    python scripts/benchmark.py --quick            fewer repetitions

Times are the least of several rounds in which the candidates take turns, so that a noisy machine disturbs them alike;
those of training are medians.
"""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import _own  # noqa: F401
import typer

if TYPE_CHECKING:
    from speed.figure import Figure

LARGE = "mcts_envs/LaneDefense10x10-v0"


class Part(StrEnum):
    """What can be measured on its own."""

    FACES = "faces"
    SEARCH = "search"
    TRAINING = "training"
    RIVALS = "rivals"


def measured(part: Part, rounds: int) -> "list[Figure]":
    """Return the figures of a part."""
    # Late, so that --help loads no game.
    from speed import faces, search

    import mcts_envs

    ids = mcts_envs.environment_ids()
    if part == Part.FACES:
        return [figure for id in ids for measure in (faces.faces, faces.rules) for figure in measure(id, rounds)]
    if part == Part.SEARCH:
        trees = [figure for id in ids for figure in search.searches(id, rounds)]
        return trees + search.published(rounds) + search.threads(LARGE, rounds) + search.first_search(LARGE, rounds)
    if part == Part.TRAINING:
        from speed import training

        return training.ppo(rounds) + training.vec_env(rounds) + training.sizes(rounds)
    from speed import rivals

    try:
        return rivals.connect_four(rounds) + rivals.cart_pole(rounds) + rivals.match(400 if rounds > 3 else 40)
    except ImportError as error:
        raise typer.BadParameter(f'{error}; install the rivals with: pip install -e ".[rl,rivals]"') from None


def main(
    parts: Annotated[list[Part] | None, typer.Argument(help="What to measure.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer repetitions.")] = False,
) -> None:
    """Measure what is named, or the faces and the search."""
    from rich.console import Console
    from rich.table import Table

    rounds = 3 if quick else 15
    table = Table("what", "measured", "yardstick", "its figure", "so", title="of several rounds")
    for part in parts or [Part.FACES, Part.SEARCH]:
        for figure in measured(part, rounds):
            cells = figure.what, f"{figure.value:.3g} {figure.unit}", figure.yardstick
            table.add_row(*cells, f"{figure.reference:.3g}", figure.verdict)
    Console(width=150).print(table)


if __name__ == "__main__":
    typer.run(main)
