"""Three ways to learn, with the same network in the same time: what the policy is worth alone, and in a search."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from agents.arena import compare
from agents.arena.storage import read_rows
from agents.learning.algorithms import one_thread
from agents.learning.expert import expert_iteration
from agents.learning.expert_plan import Plan
from agents.learning.training import train
from papers.measures import Means, Measure, Points, Wins
from papers.study import Cell, Entrant, Table, boards_of, plan_of

ALGORITHM = "maskable_ppo"
MINUTES, SEEDS = 8.0, 3
"""Of each training, and how many there are of each arm."""

ARMS = {
    "PPO": "ppo self-play",
    "PPO, then expert iteration": "ppo first",
    "expert iteration": "expert iteration",
}
"""What the lines say, and how the players are called."""

_ENDLESS = 10**9
_GAMES, _FEWEST = 128, 8
_TESTS = 200
_SIMULATIONS = 200


@dataclass(frozen=True)
class School:
    """A game to be learned.

    Attributes
    ----------
    title, environment : str
    settings : dict
        Of the game that is played.
    lessons : dict
        Settings of the trainings besides, the same in every arm.
    teacher : dict
        Who is imitated in iteration 0 of the third arm.
    rival : str, optional
        Who the policies are measured against, with its settings; None in a game for one.
    openings : int
        Random moves at the start of the games of expert iteration, at most.
    """

    title: str
    environment: str
    teacher: Mapping[str, Any]
    rival: Entrant | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    lessons: Mapping[str, Any] = field(default_factory=dict)
    openings: int = 0


def table_of(school: School) -> Table:
    """Return the table of a game: an arm each line."""
    cells = [
        Cell(
            (words,),
            (Entrant(label, ALGORITHM, {"minutes": MINUTES}),),
            school.environment,
            SEEDS,
            school.settings,
            measure=partial(learned, school, label),
            minutes=MINUTES,
        )
        for words, label in ARMS.items()
    ]
    against = "alone" if school.rival is None else f"against `{school.rival.label}`"
    measured = f"of {_TESTS} games {against}" if school.rival is None else f"points of {_TESTS} games {against}"
    note = (
        f"{measured[0].upper()}{measured[1:]}, the mean of {SEEDS} trainings of {MINUTES:g} minutes and each of them. "
        f"In a search: PUCT, {_SIMULATIONS} simulations."
    )
    return Table(f"{school.title}: three ways to learn", ("learned by",), FOUND, tuple(cells), note)


def _shares(name: str) -> Any:
    def shown(results: list[Mapping[str, float]]) -> str:
        shares = [100 * each[name] for each in results]
        return f"{np.mean(shares):.1f} ({', '.join(f'{share:.1f}' for share in shares)})"

    return shown


def _mean(name: str, form: str) -> Any:
    return lambda results: format(np.mean([each[name] for each in results]), form)


FOUND = Means(
    {
        "policy alone %": _shares("alone"),
        "in a search %": _shares("searching"),
        "steps": _mean("steps", ",.0f"),
        "minutes": _mean("minutes", ".1f"),
        "bytes": _mean("bytes", ",.0f"),
    },
    "trainings",
)


def learned(school: School, arm: str, seed: int, minutes: float) -> dict[str, float]:
    """Train a policy for so many minutes, play its games, and return what came of it.

    Raises
    ------
    KeyboardInterrupt
        If the training was interrupted; it is lost.
    """
    with TemporaryDirectory() as folder:
        policy, steps, seconds = _trained(school, arm, seed, minutes, Path(folder))
        with_policy = {"policy": str(policy), "simulations": _SIMULATIONS}
        searching = Entrant("searching", "mcts", {"select": "puct", "evaluate": "policy", **with_policy})
        alone = Entrant("alone", f"sb3:{policy}")
        games = max(_FEWEST, round(_TESTS * minutes / MINUTES))
        with one_thread():
            found = {player.label: _share(school, player, games, Path(folder)) for player in (alone, searching)}
        return {**found, "steps": steps, "minutes": seconds / 60, "bytes": policy.stat().st_size}


def _trained(school: School, arm: str, seed: int, minutes: float, out: Path) -> tuple[Path, int, float]:
    """Return the policy of an arm, its steps, and how long they took, in seconds."""
    settings: dict[str, Any] = {**school.settings, **school.lessons}
    if arm == "expert iteration":
        return _expert(school, settings, seed, minutes, out / "expert", None)
    share = 1.0 if arm == "ppo self-play" else 0.5
    against = {} if school.rival is None else {"seat": "all", "opponent": {"self": 1}}
    changes: dict[str, Any] = {"learning_rate": 3e-4, "n_timesteps": _ENDLESS}
    if against:
        changes["self_play"] = {"every": 200_000, "most": 8}
    trained = train(
        school.environment,
        ALGORITHM,
        out=out / "ppo",
        seed=seed,
        minutes=share * minutes,
        settings={**settings, **against},
        changes=changes,
        checkpoint_every=_ENDLESS,
        tensorboard=False,
        progress=False,
    )
    if trained.interrupted:
        raise KeyboardInterrupt
    if share == 1.0:
        return trained.path, trained.timesteps, trained.seconds
    path, steps, seconds = _expert(school, settings, seed, minutes - share * minutes, out / "expert", trained.path)
    return path, trained.timesteps + steps, seconds + trained.seconds


def _expert(
    school: School, settings: dict[str, Any], seed: int, minutes: float, out: Path, start: Path | None
) -> tuple[Path, int, float]:
    games = max(_FEWEST, round(_GAMES * minutes / MINUTES))
    plan = Plan(_ENDLESS, games, imitate=school.teacher, openings=school.openings, match_games=0)
    found = expert_iteration(
        school.environment,
        ALGORITHM,
        out=out,
        plan=plan,
        minutes=minutes,
        seed=seed,
        settings=settings,
        start=start,
        workers=1,
    )
    if found.interrupted and found.seconds < 60 * minutes:
        raise KeyboardInterrupt
    path = found.path or start
    if path is None:
        raise ValueError(f"{minutes:g} minutes are too short for {school.teacher} to play {games} games")
    return path, sum(each["positions"] for each in found.history), found.seconds


def _share(school: School, player: Entrant, games: int, folder: Path) -> float:
    """Return what a player has of its games won, or of the points."""
    measure: Measure = Wins() if school.rival is None else Points()
    cell = Cell(("",), (player,), school.environment, games, school.settings, school.rival)
    plan = plan_of([cell], measure.keep)
    boards = boards_of(cell, plan, 1.0)
    if not compare(plan, boards, folder=folder / player.label).finished:
        raise KeyboardInterrupt
    by_board: dict[int, list[Any]] = {}
    for row in read_rows(folder / player.label).values():
        by_board.setdefault(row.episode, []).append(row)
    return float(np.mean([measure.result(cell, rows, plan.teams) for rows in by_board.values()]))
