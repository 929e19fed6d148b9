"""Comparing agents from start to end: play what is missing, keep it, sum it up."""

import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from math import inf
from pathlib import Path
from time import monotonic
from typing import Any

from agents.arena.course import Course
from agents.arena.interrupt import interruptible
from agents.arena.plan import Plan
from agents.arena.report.report import Report, report
from agents.arena.running.executing import RemoteCrew
from agents.arena.running.runner import Crew
from agents.arena.statistics.sprt import Sprt
from agents.arena.storage import Results, default_folder
from mcts_envs.core import errors
from mcts_envs.core.own_code import warn

MOST_EPISODES = 10**9
_QUICK_RESAMPLES = 300
_PLAYING_TO_VIEWING = 9.0


def compare(
    plan: Plan,
    episodes: int = 100,
    *,
    workers: int | None = None,
    folder: Path | str | None = None,
    fresh: bool = False,
    sprt: Sprt | None = None,
    watch: Callable[[Report], None] | None = None,
    every: float = 0.5,
    tell: Callable[[int, int], None] | None = None,
    executor: Any = None,
    crew: Crew | RemoteCrew | None = None,
    merge: Sequence[Path | str] = (),
    part: tuple[int, int] = (1, 1),
) -> Report:
    """Let agents play the same episodes, alone or in games for several against each other, and report.

    Episodes that are in the folder already are not played again, so that the same call goes on after an interruption,
    and more episodes of the same plan can be added later. Ctrl-C, SIGTERM or SIGHUP end the playing, and
    what there is is reported.

    Parameters
    ----------
    plan : Plan
    episodes : int
        For each agent; in games for several, start boards for each line-up, each played in several orders of seats.
    workers : int, optional
        Processes to play in; None plays in this one, which no limit and no crash can be kept from.
    folder : str or Path, optional
        Of the results; by default one below ``results/`` that is named after the plan.
    fresh : bool
        Throw away what is there.
    sprt : Sprt, optional
        Stop when this test of the two agents is decided. The report is then of the boards that it has looked at; games
        of later boards, begun by then, are kept. ``episodes`` is how many it may look at.
    watch : callable, optional
        Is given a report, with rough ratings, about every so many seconds; less often where that would take
        more than a tenth of the time.
    every : float
        Seconds.
    tell : callable, optional
        Is told how many games are there, and how many there will be: at the start and after each.
    executor : concurrent.futures.Executor, optional
        Where to play instead, ``workers`` at a time; anything with ``submit`` whose jobs have ``done`` and ``result``,
        as those of submitit (:mod:`agents.arena.running.executing`). It is not shut down.
    crew : Crew, optional
        Who play by this plan already, in place of ``workers``, and go on to live after it.
    merge : sequence of str or Path
        Folders of comparisons whose games are taken in before anything is played: all of those by the same plan, of
        others those that are in this plan, played alike by agents that are the same in both.
    part : tuple of int
        ``(k, n)`` plays the k-th of n parts of the start boards.

    Returns
    -------
    Report
        ``finished`` says whether everything has been played, ``signal`` what ended it early.

    Raises
    ------
    ValueError, TypeError, ImportError, OSError
        If something is wrong with the plan or with the folder, or another comparison is writing to it. Nothing has been
        played then.
    """
    errors.integer("episodes", episodes, 1, MOST_EPISODES)
    _check_types(watch, tell, every, executor, crew)
    _check(plan, sprt, merge, part)
    fresh = errors.flag("fresh", fresh)
    folder = None if folder is None else errors.path("folder", folder)
    kept = crew is not None
    if crew is None:
        crew = Crew(plan, workers) if executor is None else RemoteCrew(plan, executor, workers or 1)
    if sprt is not None:
        plan.format.contest(plan)
        if part[1] > 1:
            raise ValueError(f"sprt looks at all boards in their order, not at part {part[0]}/{part[1]}; leave one out")
    discount = 1.0 if plan.discount is None else plan.discount
    configuration = plan.configuration()
    folder = default_folder(configuration) if folder is None else folder
    errors.writable("out", folder, folder=True)
    processes, due, ended_by = crew.processes, 0.0, None
    with ExitStack() as stack:
        stack.enter_context(interruptible())
        if not kept:
            stack.enter_context(crew)
        crew.check()
        configuration = plan.unwritten(configuration)
        results = stack.enter_context(Results(folder, configuration, fresh, replays=plan.replays, scored=plan.scored))
        jobs = plan.jobs(episodes)
        for other in merge:
            results.take(Path(other), configuration, jobs)
        reused = sum(map(results.has, jobs))
        jobs = [job for job in jobs if job.episode % part[1] == part[0] - 1]
        missing = [job for job in jobs if not results.has(job)]
        done = len(jobs) - len(missing)
        course = Course(plan, sprt, episodes, missing) if sprt is not None else None
        decided = course is not None and course.follow(results.rows)
        if tell is not None:
            tell(done, len(jobs))
        try:
            for played in crew.play([] if decided else missing):
                results.add(played)
                done += 1
                if tell is not None:
                    tell(done, len(jobs))
                if course is not None:
                    course.finish(played.row.episode)
                    if decided := course.follow(results.rows):
                        crew.close()
                        break
                if watch is not None and (now := monotonic()) >= due:
                    seen = report(plan, folder, results.rows, episodes, processes, discount, _QUICK_RESAMPLES)
                    watch(replace(seen, trial=course.trial if course else None))
                    due = monotonic() + max(every, _PLAYING_TO_VIEWING * (monotonic() - now))
        except KeyboardInterrupt as error:
            crew.close()
            ended_by = getattr(error, "number", signal.SIGINT)
        if missing:
            _warn_of_changes(plan, configuration)
        looked = course.boards if course is not None and decided else episodes
        found = report(plan, folder, results.rows, looked, processes, discount)
    reused = min(reused, len(plan.jobs(looked)))
    return replace(found, trial=course.trial if course else None, reused=reused, signal=ended_by)


def _check_types(watch: Any, tell: Any, every: float, executor: Any, crew: Any) -> None:
    """Raise TypeError if who is told, or who plays, is of another kind."""
    for name, told in (("watch", watch), ("tell", tell)):
        if told is not None:
            errors.able(name, told, "a function")
    errors.number("every", every, 0.0, inf)
    if executor is not None:
        cure = "an object with submit(), such as ProcessPoolExecutor(4) or RayExecutor()"
        errors.able("executor", executor, cure, "submit")
    if crew is not None:
        errors.able("crew", crew, "Crew(plan, 4), or workers=4 in its place", "play")


def _check(plan: Plan, sprt: Sprt | None, merge: Sequence[Path | str], part: tuple[int, int]) -> None:
    """Raise ValueError or TypeError if what is to be compared is none, or is given as the command line takes it."""
    if not isinstance(plan, Plan):
        raise TypeError(f"plan {plan!r} is {type(plan).__name__}; give Plan(ID, parse_agents('random,mcts'))")
    if sprt is not None and not isinstance(sprt, Sprt):
        raise TypeError(f"sprt {sprt!r} is {type(sprt).__name__}; give Sprt(elo0=0, elo1=20)")
    if isinstance(merge, (str, Path)):
        raise TypeError(f"merge {merge!r} is one folder, not a list of them; write merge=[{str(merge)!r}]")
    if not errors.is_list(merge):
        raise TypeError(f"merge {merge!r} is {type(merge).__name__}, not a list of folders")
    for other in merge:
        errors.path("merge", other)
    if not errors.is_list(part) or len(part) != 2:
        raise TypeError(f"part {part!r} is no pair; (2, 4) is the second of four")
    errors.integer("part[0]", part[0], 1, errors.integer("part[1]", part[1], 1, MOST_EPISODES))
    plan.check()


def _warn_of_changes(plan: Plan, configuration: Mapping[str, Any]) -> None:
    """Say what was replaced while games were played, by which those of processes begun since may have been played."""
    try:
        changed = plan.changed_since(configuration)
    except Exception as error:  # of the environment or of files that are gone; what was played is reported all the same
        changed = [f"what is played by ({error})"]
    if changed:
        warn(
            f"{', '.join(changed)}: changed while games were played, so that some may be of before and some of after; "
            "play all again with --fresh, by files that stay as they are",
        )
