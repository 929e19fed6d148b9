"""The policies that come with this package: what is trained, from several seeds, and which of them is best."""

import json
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import mcts_envs
from agents.learning import card, curves
from agents.learning.baseline_list import Baseline
from agents.learning.curves import Point
from agents.learning.evaluation import evaluate
from agents.learning.expert import expert_iteration
from agents.learning.expert_folder import checkpoints
from agents.learning.hyperparameters import hyperparameters
from agents.learning.jobs import give_up
from agents.learning.run import latest
from agents.learning.saved import storage, trust
from agents.learning.saved.lightening import lighten
from agents.learning.saved.shipped import TAUGHT
from agents.learning.settings import to_evaluate_in
from agents.learning.training import train
from agents.locking import only_writer
from agents.waiting import as_completed
from mcts_envs.core.own_code import warn
from mcts_envs.core.writing import write_whole
from mcts_envs.registry import find

RULE = "most points in the selection games against the first opponent, or most of them won; of equals the lowest seed"
"""How the best seed is found."""

SELECTION, FINAL, CURVE = 1, 2, 3
"""Seeds of the games by which the best is found, of those that its card reports, and of a curve's."""

_CHECKPOINTS, _EVALUATIONS = 10, 20
_SETTLED = ("settings", "changes", "expert", "start", "minutes")
"""What a training depends on, besides name, seed and scale."""

_LEAST_GAMES = 8
_TRIES = 3


def train_all(
    chosen: list[Baseline],
    out: Path,
    crew: Executor,
    seeds: int = 3,
    games: int = 1000,
    scale: float = 1.0,
    report: Callable[[str], None] = lambda text: None,
) -> list[Path]:
    """Train policies from several seeds each, and make the best of each ready, as far as that was not done yet.

    Parameters
    ----------
    chosen : list of Baseline
    out : Path
        Each policy has a folder of its name in it; trainings that were broken off there go on.
    crew : Executor
    seeds : int
        Seeds 0, 1, ...
    games : int
        Of each evaluation, before scaling.
    scale : float
        Share of steps, time and games.
    report : callable, optional
        Told in words what is to be done, and of each training when it is.

    Returns
    -------
    list of Path
        The folder ``best`` of each: policy, sidecar, plain arrays, card, curves.

    Raises
    ------
    ValueError, BlockingIOError
        If a folder holds a policy that was trained by something else, or another call is training one there.
    Exception
        That of a training that failed, as one that diverges does, when all others are done and what can be is ready.
    """
    games = max(_LEAST_GAMES, round(scale * games))
    jobs = [(each, seed) for each in chosen for seed in range(seeds)]
    folders = {out / each.place / f"seed-{seed}": each for each, seed in jobs}
    if len(folders) < len(jobs):
        raise ValueError(f"two of {', '.join(each.name for each in chosen)} have one folder in {out}; train them apart")
    for each in chosen:
        _check_opponents(each)
    for here, each in folders.items():
        _settled(each, here)  # all, before a folder is made
    with _locked([out / each.place for each in chosen]):
        for here, asked in [(here, _settled(each, here)) for here, each in folders.items()]:  # again: it may be new
            here.mkdir(exist_ok=True)
            write_whole(here / "baseline.json", json.dumps(asked, indent=2).encode())
        report(f"{len(jobs)} training{'s' if len(jobs) > 1 else ''}; kept in {out}")
        failed = _trained_by(crew, [(each, seed, out / each.place, games, scale) for each, seed in jobs], report)
        ready = [finish(each, out / each.place, seeds, games) for each in chosen if each.name not in failed]
    if failed:
        name, error = next(iter(failed.items()))
        error.add_note(f"so {name} is not ready; {len(ready)} of {len(chosen)} policies are, in {out}")
        raise error
    return ready


def _locked(folders: list[Path]) -> ExitStack:
    """Make folders, and let no other call write there: each would fail at the seeds that the other has in hand."""
    with ExitStack() as stack:
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
            stack.enter_context(only_writer(folder, "training"))
        return stack.pop_all()


def _trained_by(crew: Executor, calls: list[tuple[Any, ...]], report: Callable[[str], None]) -> dict[str, Exception]:
    """Have trainings done, the arguments of :func:`train_one`; return the first error of each policy that has one.

    Where a process was killed, as when memory runs out, those that it took with it go on, a few times.
    """
    failed: dict[str, Exception] = {}
    for tries in range(1, _TRIES + 1):
        futures = {_begun(crew, call, report): call for call in calls}
        calls = []
        try:
            for future in as_completed(futures):
                each, seed = futures[future][:2]
                try:
                    if (written := future.result()) is not None:
                        trust.written(written)
                except BrokenExecutor as error:
                    calls.append(futures[future])
                    if tries == _TRIES:
                        failed.setdefault(each.name, error)
                except Exception as error:
                    failed.setdefault(each.name, error)
                    if len(futures) > 1:
                        warn(f"{each.name}, seed {seed}: {error}; the other trainings go on")
        finally:
            give_up(crew, futures)
    return failed


def _begun(crew: Executor, call: tuple[Any, ...], report: Callable[[str], None]) -> "Future[Path | None]":
    """Return the future of a training, also where it is done at once and its error comes at once."""

    def told(future: "Future[Path | None]") -> None:
        if not future.cancelled() and future.exception() is None:
            report(f"{call[0].name}, seed {call[1]}: done")

    try:
        future = crew.submit(train_one, *call)
    except Exception as error:
        future = Future()
        future.set_exception(error)
    future.add_done_callback(told)
    return future


def train_one(baseline: Baseline, seed: int, folder: Path, games: int, scale: float) -> Path | None:
    """Train a policy from one seed, or go on with it, and play its selection games; return it, if it was not there.

    Raises
    ------
    KeyboardInterrupt
        If the training was interrupted; it is saved.
    """
    here = folder / f"seed-{seed}"
    kept, opponents = here / "selection.json", _opponents(baseline)
    said = _read(kept) if kept.is_file() else None
    if said and {name: found["games"] for name, found in said["found"].items()} == dict.fromkeys(opponents, games):
        return None
    if said:
        target, points, seconds = here.joinpath(said["policy"]), said["curve"], said["seconds"]
    else:
        learned = _iterated if baseline.learned_by == TAUGHT else _trained
        target, points, seconds = learned(baseline, seed, here, games, scale)
    found = {name: _measured(baseline, target, name, games, SELECTION) for name in opponents}
    said = {"policy": target.relative_to(here).as_posix(), "found": found, "curve": points, "seconds": seconds}
    write_whole(kept, json.dumps(said, indent=2).encode())
    return target


def _settled(baseline: Baseline, here: Path) -> dict[str, Any]:
    """Return what a policy is trained by; raise ``ValueError`` if its folder holds one that was trained by other."""
    file = here / "baseline.json"
    asked: dict[str, Any] = json.loads(json.dumps({name: getattr(baseline, name) for name in _SETTLED}))
    traces = "selection.json", "checkpoints", "games", f"{baseline.algorithm}.zip"
    begun = file.is_file() and any((here / name).exists() for name in traces)
    there = _read(file) if begun else asked
    for name, value in asked.items():
        if there.get(name) != value:
            raise ValueError(
                f"{here} holds a training with {name} {there.get(name)!r}, not {value!r}; choose another --out, or "
                "remove it"
            )
    return asked


def _read(file: Path) -> dict[str, Any]:
    """Return what a file in the folder of a training says; raise ``ValueError`` if it is damaged."""
    try:
        return {**json.loads(file.read_text(encoding="utf-8"))}
    except (ValueError, TypeError) as error:
        raise ValueError(f"{file} is damaged ({error}); restore it, or delete it: it is then made anew") from error


def _trained(baseline: Baseline, seed: int, here: Path, games: int, scale: float) -> tuple[Path, list[Point], float]:
    """Train a policy in a folder, or go on; return it, its learning curve, and the seconds that it took."""
    changes = baseline.scaled(scale)
    total = hyperparameters(baseline.algorithm, find(baseline.env_id).id, changes).n_timesteps
    last = _furthest(here, baseline.algorithm)
    about = {} if last is None else storage.described(last)[1]
    minutes = scale * baseline.minutes - about.get("seconds", 0.0) / 60
    if last is None or (about["timesteps"] < total and minutes > 0):
        result = train(
            baseline.env_id,
            baseline.algorithm,
            out=here,
            seed=seed,
            minutes=max(minutes, 0.001),
            settings={**baseline.board, **baseline.settings},
            changes=changes,
            resume=last,
            start=baseline.starts_with if last is None else None,
            checkpoint_every=max(1, total // _CHECKPOINTS),
            evaluate_every=max(1, total // _EVALUATIONS),
            progress=False,
        )
        if result.interrupted:
            raise KeyboardInterrupt(result.signal)
        last = result.path
    seconds = storage.described(last)[1].get("seconds", 0.0)
    return last, curves.read(here / "tensorboard"), seconds


def _furthest(here: Path, algorithm: str) -> Path | None:
    """Return the policy of most steps in the folder of a training; None if there is none yet."""
    target = here / f"{algorithm}.zip"
    if not target.with_suffix(".json").is_file():
        target.unlink(missing_ok=True)  # killed as it was written
    return latest(here, algorithm)


def _iterated(baseline: Baseline, seed: int, here: Path, games: int, scale: float) -> tuple[Path, list[Point], float]:
    """Let a policy learn from the search in a folder, or go on; return it, its learning curve, and the seconds."""
    plan = baseline.plan(scale)

    def go_on(iterations: int, minutes: float | None) -> None:
        result = expert_iteration(
            baseline.env_id,
            baseline.algorithm,
            out=here,
            plan=replace(plan, iterations=iterations),
            minutes=minutes,
            seed=seed,
            settings={**baseline.board, **baseline.settings},
            changes=baseline.changes,
            start=baseline.starts_with,
            workers=1,
        )
        if result.interrupted and (minutes is None or result.seconds < 60 * minutes):
            raise KeyboardInterrupt(result.signal)

    if not checkpoints(here, baseline.algorithm):
        go_on(0, None)
    begun = sum(each["seconds"] for each in _history(checkpoints(here, baseline.algorithm)))
    if (minutes := scale * baseline.minutes - begun / 60) > 0:
        go_on(plan.iterations, max(minutes, 0.001))
    there = checkpoints(here, baseline.algorithm)
    history, points, every = _history(there), [], -(-len(there) // _EVALUATIONS)
    for number in range((len(there) - 1) % every, len(there), every):
        found = _measured(baseline, there[number], _opponents(baseline)[0], games // 10 + 1, CURVE)
        steps = storage.described(there[number])[1]["timesteps"]
        points.append(Point(steps, found["wins"] / found["games"], found["reward"], history[number]["length"]))
    return there[-1], points, sum(each["seconds"] for each in history)


def _history(there: list[Path]) -> list[dict[str, Any]]:
    """Return what was noted of the iterations up to the last of some checkpoints."""
    return list(storage.described(there[-1])[1]["expert_iteration"]["history"])


def finish(baseline: Baseline, folder: Path, seeds: int, games: int) -> Path:
    """Measure the best seed in new games, and write it with its card and the curves of all to the folder ``best``."""
    from agents.learning.export import export

    there = [_read(folder / f"seed-{seed}" / "selection.json") for seed in range(seeds)]
    first = _opponents(baseline)[0]
    best = max(range(seeds), key=lambda seed: (there[seed]["found"][first]["points"], -seed))
    source = folder / f"seed-{best}" / there[best]["policy"]
    to = folder / "best" / f"{baseline.learned_by}.zip"
    to.parent.mkdir(exist_ok=True)
    best_policy = storage.load(source)
    lighten(best_policy.model.policy)
    storage.save(best_policy.model, to, storage.described(source)[1])
    export(to)
    lines = {seed: [Point(*point) for point in each["curve"]] for seed, each in enumerate(there)}
    curves.write(to.parent / "curves.csv", lines)
    curves.draw(to.parent / "curves.png", baseline.name, lines)
    final = {name: _measured(baseline, to, name, games, FINAL) for name in _opponents(baseline)}
    about = {
        "baseline": asdict(baseline),
        "seed": best,
        "rule": RULE,
        "selection": [each["found"] for each in there],
        "final": final,
        "minutes": [each["seconds"] / 60 for each in there],
    }
    write_whole(to.parent / "figures.json", json.dumps(about, indent=2).encode())
    text = card.written(about, storage.described(to)[1])
    write_whole(to.parent / "README.md", text.encode())
    return to.parent


def _opponents(baseline: Baseline) -> tuple[str, ...]:
    return baseline.against or ("",)


def _check_opponents(baseline: Baseline) -> None:
    """Raise what is wrong with those that a policy is measured against, which would be met after its training."""
    for opponent in baseline.against:
        settings = _to_measure_in({**baseline.board, **baseline.settings}, opponent)
        mcts_envs.make_sb3_vec_env(baseline.env_id, 1, **settings).close()


def _to_measure_in(settings: dict[str, Any], opponent: str) -> dict[str, Any]:
    """Return the settings of the environment that a policy is measured in: where it has an opponent, from all seats."""
    return to_evaluate_in(settings) | ({"opponent": opponent, "seat": "all"} if opponent else {})


def _measured(baseline: Baseline, policy: Path, opponent: str, games: int, seed: int) -> dict[str, Any]:
    """Return games, wins, mean points and mean return of a policy's best actions, from all seats."""
    settings = _to_measure_in(storage.described(policy)[1]["settings"], opponent)
    found = evaluate(policy, games, seed=seed, settings=settings)
    means = {"points": float(found.points.mean()), "reward": float(found.returns.mean())}
    return {"games": games, "wins": found.wins, **means}
