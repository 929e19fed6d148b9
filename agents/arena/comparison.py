"""Comparing agents from start to end: play what is missing, keep it, sum it up."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from time import monotonic

from agents.arena.plan import Plan
from agents.arena.report import Report, report
from agents.arena.runner import run
from agents.arena.storage import Results, default_folder
from mcts_envs.core import errors

_QUICK_RESAMPLES = 300
_SECONDS_BETWEEN_VIEWS = 0.5
_PLAYING_TO_VIEWING = 9.0


def compare(
    plan: Plan,
    episodes: int = 100,
    *,
    workers: int = 1,
    folder: Path | None = None,
    fresh: bool = False,
    watch: Callable[[Report], None] | None = None,
    tell: Callable[[int, int], None] | None = None,
) -> Report:
    """Let agents play the same episodes, alone or in games for several against each other, and report.

    Episodes that are in the folder already are not played again, so that the same call goes on after an interruption,
    and more episodes of the same plan can be added later. Ctrl-C ends the playing and reports what there is.

    Parameters
    ----------
    plan : Plan
    episodes : int
        For each agent; in games for several, start boards for each line-up, each played in several orders of seats.
    workers : int
        Processes to play in.
    folder : Path, optional
        Of the results; by default one below ``results/`` that is named after the plan.
    fresh : bool
        Throw away what is there.
    watch : callable, optional
        Is given a report, with rough bootstrap intervals, about twice a second; less often where that would take more
        than a tenth of the time.
    tell : callable, optional
        Is told how many games are there, and how many there will be: at the start and after each.

    Returns
    -------
    Report
        ``finished`` says whether everything has been played.

    Raises
    ------
    ValueError, TypeError, ImportError, OSError
        If something is wrong with the plan or with the folder, or another comparison is writing to it. Nothing has been
        played then.
    """
    errors.integer("episodes", episodes, 1, 10**9)
    errors.integer("workers", workers, 1, 1024)
    plan.check()
    discount = plan.make_env().unwrapped.game.discount
    configuration = plan.configuration()
    folder = folder or default_folder(configuration)
    due = 0.0
    with Results(folder, configuration, fresh) as results:
        jobs = plan.jobs(episodes)
        missing = [job for job in jobs if not results.has(job)]
        done = len(jobs) - len(missing)
        if tell is not None:
            tell(done, len(jobs))
        try:
            with closing(run(plan, missing, workers)) as playing:
                for played in playing:
                    results.add(played)
                    done += 1
                    if tell is not None:
                        tell(done, len(jobs))
                    if watch is not None and (now := monotonic()) >= due:
                        watch(report(plan, folder, results.rows, episodes, workers, discount, _QUICK_RESAMPLES))
                        due = monotonic() + max(_SECONDS_BETWEEN_VIEWS, _PLAYING_TO_VIEWING * (monotonic() - now))
        except KeyboardInterrupt:
            pass
        found = report(plan, folder, results.rows, episodes, workers, discount)
    return replace(found, reused=len(jobs) - len(missing))
