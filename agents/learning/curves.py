"""Learning curves: what trainings logged to TensorBoard, as rows and as a picture."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mcts_envs.core.writing import write_whole

FILES = "events.out.tfevents.*"
"""What TensorBoard's files are called; when one was begun follows, in seconds."""

_MEASURES = ("eval/success_rate", "eval/mean_reward", "eval/mean_ep_length")


class Point(NamedTuple):
    """An evaluation during a training: steps so far, games won, mean return, mean length."""

    steps: int
    won: float
    reward: float
    length: float


def begun(file: Path) -> tuple[int, int, int, str]:
    """Return what orders files of a log as they were begun: the number of the folder, then when, by their names.

    That is a second, and which of the process's files it is: the last part. The time of a file is that of its copy.
    """
    parts = file.parent.name.rpartition("_")[2], file.name.split(".")[3], file.name.rpartition(".")[2]
    run, second, number = (int(part) if part.isdecimal() else 0 for part in parts)
    return run, second, number, file.name


def read(log: Path) -> list[Point]:
    """Return the evaluations in TensorBoard's log of a training.

    Of a training that went on from a checkpoint, what came after this checkpoint the first time does not count.

    Parameters
    ----------
    log : Path
        The folder.
    """
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    points: dict[int, Point] = {}
    for file in sorted(log.rglob(FILES), key=begun):
        events: Any = EventAccumulator(str(file), size_guidance={"scalars": 0})
        events.Reload()
        known = events.Tags()["scalars"]
        if not {*_MEASURES} <= {*known}:
            continue
        rows = zip(*(events.Scalars(tag) for tag in _MEASURES), strict=False)
        found = [Point(int(row[0].step), *(float(event.value) for event in row)) for row in rows]
        points = {steps: point for steps, point in points.items() if steps < found[0].steps}
        points |= {point.steps: point for point in found}
    return [points[steps] for steps in sorted(points)]


def write(path: Path, curves: Mapping[int, Sequence[Point]]) -> None:
    """Write curves by seed as CSV."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("seed", *Point._fields))
    rows.writerows((seed, *point) for seed, curve in curves.items() for point in curve)
    write_whole(path, text.getvalue().encode())


def draw(path: Path, title: str, curves: Mapping[int, Sequence[Point]]) -> None:
    """Draw the games won over the steps, a line for each seed; the format is that of the name.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    from matplotlib.figure import Figure

    figure: Any = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.add_subplot()
    for seed, curve in curves.items():
        axes.plot([point.steps for point in curve], [100 * point.won for point in curve], label=f"seed {seed}")
    axes.set(title=title, xlabel="steps", ylabel="games won, %", ylim=(-2, 102))
    axes.grid(alpha=0.3)
    if curves:
        axes.legend()
    figure.savefig(picture := io.BytesIO(), format=path.suffix.removeprefix("."), dpi=120)
    write_whole(path, picture.getvalue())
