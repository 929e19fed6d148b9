"""The folder of an expert iteration: what lies where in it, and whether it belongs to a call."""

import dataclasses
import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agents.arena.environments import digests_of
from agents.learning.algorithms import TRAINED
from agents.learning.expert_plan import Plan
from agents.learning.run import Run, protect
from agents.learning.saved import storage
from mcts_envs.core.own_code import warn

PLAN = "plan.json"


def checkpoints(out: Path, algorithm: str) -> list[Path]:
    """Return the policies after the iterations that are over, in their order."""
    found = (out / "checkpoints").glob(f"{algorithm}_*.json")  # written after the zip
    zips = (path.with_suffix(".zip") for path in found if path.stem.removeprefix(f"{algorithm}_").isdecimal())
    return sorted((path for path in zips if path.is_file()), key=_number)


def _number(path: Path) -> int:
    """Return the iteration that a checkpoint is of; its name has four digits up to the 9,999th, then more."""
    return int(path.stem.rpartition("_")[2])


def checkpoint(run: Run, iteration: int) -> Path:
    """Return where the policy after an iteration is."""
    return run.out / "checkpoints" / f"{run.algorithm}_{iteration:04}.zip"


def done(run: Run) -> int:
    """Return the last iteration that is over; -1 if none is."""
    there = checkpoints(run.out, run.algorithm)
    return _number(there[-1]) if there else -1


def about_last(run: Run, last: Path) -> dict[str, Any]:
    """Return the sidecar of the last checkpoint; raise ``ValueError`` with the cure if one of the two is damaged."""
    try:
        return storage.described(last, run.algorithm, run.env_id)[1]
    except ValueError as error:
        raise ValueError(
            f"{str(error).partition(';')[0]}; delete {last} and its .json, and iteration {_number(last)} is learned "
            "again from the games that are kept"
        ) from error


def games_folder(run: Run, iteration: int) -> Path:
    """Return where the games of an iteration are."""
    return run.out / "games" / f"{iteration:04}"


def description(run: Run, plan: Plan) -> dict[str, Any]:
    """Return, as JSON has it, what must stay the same where an expert iteration goes on.

    The policy to begin with is known by what it holds: on another machine it may lie elsewhere.
    """
    hyper = {"normalize": run.hyper.normalize, "n_envs": run.hyper.n_envs, **run.hyper.model}
    about: dict[str, Any] = {"environment": run.env_id, "algorithm": run.algorithm, "settings": run.settings}
    about |= {"hyperparameters": hyper, "seed": run.seed, "start": _known_by(run)}
    about |= {name: value for name, value in asdict(plan).items() if name != "iterations"}
    found: dict[str, Any] = json.loads(json.dumps(about, default=str))
    return found


def _known_by(run: Run) -> str | None:
    """Return what the policy to begin with is, if there is one."""
    if run.resume is None:
        return None
    return f"a policy of {run.done} steps, sha256 {hashlib.sha256(run.resume.read_bytes()).hexdigest()[:16]}"


def check_folder(run: Run, plan: Plan) -> dict[str, str]:
    """Raise an error if the folder holds what another call began; return the hashes of the game's files as it began.

    Where they were edited since, games and weights are of before, and a warning says so.
    """
    file = run.out / PLAN
    played = (run.out / "games").exists() or (run.out / "checkpoints").exists()
    if not file.is_file() and (run.out / "games").is_dir():
        policies = checkpoints(run.out, run.algorithm)
        start = f" with --start {policies[-1]}" if policies else ""
        raise FileExistsError(
            f"{run.out} holds the games of an expert iteration without its {PLAN}; bring that back from a copy, or "
            f"begin in another folder{start}"
        )
    if not file.is_file() or not played:  # nothing was played by a plan that is there
        for algorithm in TRAINED:
            protect(dataclasses.replace(run, algorithm=algorithm, resume=None, about={}))
        return _files(run)
    try:
        there: dict[str, Any] = {**json.loads(file.read_text(encoding="utf-8"))}
    except (ValueError, TypeError) as error:
        raise ValueError(f"{file} is damaged ({error}); bring it back from a copy, or choose another out") from error
    here = description(run, plan)
    for name, value in here.items():
        if there.get(name) != value:
            raise ValueError(
                f"{run.out} holds an expert iteration with {name} {there.get(name)!r}, not {value!r}; "
                "go on with the same, or choose another out"
            )
    files = _files(run)
    before: dict[str, str] = there.get("files", files)
    if edited := sorted(name for name in files if files[name] != before.get(name)):
        warn(
            f"{', '.join(edited)} was edited since {run.out} was begun: what is there is of the game as it was; "
            "choose another out, unless the rules are the same",
        )
    return before


def _files(run: Run) -> dict[str, str]:
    """Return the hashes of the files that a game of one's own is of; none of a game that a notebook defines."""
    try:
        return digests_of(run.env_id)
    except ValueError:
        return {}
