"""Expert iteration: a search plays with the policy, the policy learns what the search found, and so on.

T. Anthony, Z. Tian, D. Barber, "Thinking Fast and Slow with Deep Learning and Tree Search" (2017); D. Silver et al.,
"A general reinforcement learning algorithm that masters chess, shogi, and Go through self-play" (2018); with ``gumbel``
the policy learns the one that the search improved (I. Danihelka et al. 2022, "Policy improvement by planning with
Gumbel").
"""

import contextlib
import dataclasses
import json
import math
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import agents
from agents.arena.interrupt import interruptible, signal_of
from agents.learning import positions
from agents.learning.algorithms import one_thread
from agents.learning.distilling import agreement, distil, settle
from agents.learning.diverging import noticing
from agents.learning.expert_folder import PLAN, about_last, check_folder, checkpoint, description, done, games_folder
from agents.learning.expert_plan import Plan
from agents.learning.export import plain_arrays
from agents.learning.jobs import local, play_all
from agents.learning.playing import Job, described, games_of_a_job, repeats
from agents.learning.run import Run, environment, made, planned, save
from agents.learning.run import described as sidecar_of
from agents.learning.saved import storage, trust
from agents.locking import only_writer, staying
from mcts_envs.core import errors
from mcts_envs.core.cores import most_processes
from mcts_envs.core.writing import write_together, write_whole

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

LEARNING = ("maskable_ppo", "ppo")
"""Algorithms whose policies have what a search teaches: probabilities of actions, and values."""

_MATCH_OPENINGS = 4
"""Random moves at most before a match where the game knows no chance: the same two games would be played else."""

_MATCH = 2**20
"""Where the numbers of the jobs of matches begin."""


@dataclass(frozen=True)
class Learned:
    """How an expert iteration ended.

    Attributes
    ----------
    path : Path
        The saved policy; None before the first iteration was over.
    history : list of dict
        What was noted of each iteration: games, positions, mean length, what the first player had of the points, how
        often policy and search agreed before learning, losses, result of the match, seconds.
    seconds : float
        Duration of this run.
    interrupted : bool
        Whether it was ended by Ctrl-C, SIGTERM, SIGHUP or time before its last iteration.
    signal : int, optional
        Which of these signals it was.
    """

    path: Path | None
    history: list[dict[str, Any]]
    seconds: float
    interrupted: bool
    signal: int | None = None


def expert_iteration(
    env_id: str,
    algorithm: str | None = None,
    *,
    out: Path | str,
    plan: Plan | None = None,
    minutes: float | None = None,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    changes: Mapping[str, Any] | None = None,
    start: Path | str | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    report: Callable[[str], None] = lambda text: None,
) -> Learned:
    """Let a policy learn from the search that it guides, and save it as ``out/ALGORITHM.zip``, with its sidecar.

    It is a policy as :func:`agents.learning.training.train` saves it, so that training may go on from there. Games and
    checkpoints are kept in ``out`` as soon as they are there: after whatever ended it the same call goes on, and comes
    to the same end.

    Parameters
    ----------
    env_id, algorithm, out, seed, settings, changes
        As for :func:`agents.learning.training.train`; ``"dqn"`` has no probabilities to learn. ``settings`` say which
        game is played, what the policy sees, and where games start; opponents and seat are for trainings that follow.
        Rewards are discounted by ``gamma``, each step of the game.
    plan : Plan, optional
    minutes : float, optional
        Time limit of this run, above 0: the iteration that is not over then is not learned from, but goes on the next
        time.
    start : str or Path, optional
        A policy to begin with, as :func:`agents.learning.training.train` saved it; then nobody is imitated.
    workers : int, optional
        Processes that play; by default one for each core. 1: this one plays. Of an executor: jobs, of 8 to 64 games
        each, that it has at a time; by default all of an iteration.
    executor : concurrent.futures.Executor, optional
        Who plays in their place; it must be able to import this package, and the game. It is not shut down.
    report : callable, optional
        Told now and then, in words, how far it is.

    Raises
    ------
    ValueError, TypeError, FileNotFoundError
        If a name, a setting or a number is wrong, or ``out`` holds what another call began. Nothing is written then.
    FileExistsError
        If ``out`` holds another training.
    BlockingIOError
        If another training is writing to ``out``.
    RuntimeError
        If a job failed three times, whoever was given it, or weights are no longer finite.
    """
    plan = Plan() if plan is None else plan
    if not isinstance(plan, Plan):
        raise TypeError(f"plan {plan!r} is {type(plan).__name__}, not a Plan; write Plan(games=256)")
    if minutes is not None:
        errors.number("minutes", minutes, 1e-3, math.inf)
    errors.able("report", report, "a function of a text, such as print")
    if executor is not None:
        errors.able("executor", executor, "an object with submit(), such as ProcessPoolExecutor(4)", "submit")
    began = time.monotonic()
    run = planned(env_id, algorithm, errors.path("out", out), None, settings, changes, start)
    errors.choice("algorithm to learn from a search with", run.algorithm, LEARNING)
    run = dataclasses.replace(run, seed=errors.integer("seed", seed, 0, 2**31 - 1))  # not that of the start
    if start is not None:
        plan = dataclasses.replace(plan, imitate=None)
    if workers is not None:
        errors.integer("workers", workers, 1, most_processes() if executor is None else 100_000)
    files = check_folder(run, plan)
    with one_thread(), contextlib.ExitStack() as stack:
        if there := run.out.is_dir():
            stack.enter_context(only_writer(run.out, "training"))
        loop = _Loop(env_id, run, plan, report, math.inf if executor is None or workers is None else workers)
        loop.check()
        if not there:
            run.out.mkdir(parents=True, exist_ok=True)
            stack.enter_context(only_writer(run.out, "training"))
            check_folder(run, plan)  # again: another may just have made it
        begun = {**description(run, plan), "files": files}
        write_whole(run.out / PLAN, json.dumps(begun, indent=2).encode())
        crew = stack.enter_context(local(workers) if executor is None else _kept(executor))
        stack.enter_context(staying(run.out, "give as out where it lies now, or begin anew"))
        over = loop.go_on(crew, math.inf if minutes is None else began + 60 * minutes)
        path = loop.finish() if loop.history else None
    return Learned(path, loop.history, time.monotonic() - began, not over, loop.signal)


class _Loop:
    """An expert iteration under way."""

    def __init__(self, env_id: str, run: Run, plan: Plan, report: Callable[[str], None], at_once: float) -> None:
        self._env_id, self._plan, self._report, self._at_once = env_id, plan, report, at_once
        self._fresh = run.resume is None
        self.signal: int | None = None
        self.done = done(run)
        last = checkpoint(run, self.done) if self.done >= 0 else None
        about = run.about
        if last is not None:
            about = about_last(run, last)
        self.history: list[dict[str, Any]] = about["expert_iteration"]["history"] if last is not None else []
        self.run = run = dataclasses.replace(run, resume=last or run.resume, about=about)
        self.model: BaseAlgorithm = made(run, environment(run, run.settings, run.hyper.n_envs, run.seed), None)
        self._window: dict[int, positions.Positions] = {}
        self._discount = float(run.hyper.model.get("gamma", 0.99))
        env: Any = self.model.get_env()
        game = env.get_attr("game", 0)[0]
        self._game, self._teams, self._symmetries = game, game.teams, game.symmetries
        self._alone = len(self._teams) == 1

    def check(self) -> None:
        """Make the agents, and read the games of before, so that mistakes are found before anything is played."""
        for iteration in range(self._plan.first_kept(self.done + 1), self.done + 1):
            if self.done < self._plan.iterations:
                self._of(iteration)
        for agent in (self._searching(), self._plan.imitate):
            if agent is not None:
                made_with = dict(agent)
                agents.make(made_with.pop("agent"), **made_with).check_seat(self._game, at_once=False)

    def go_on(self, crew: Executor, deadline: float) -> bool:
        """Iterate, and return whether all iterations are over."""
        self._report(f"{self._outlook()}; kept in {self.run.out}")
        try:
            with interruptible():
                while self.done < self._plan.iterations:
                    if not self._iterate(self.done + 1, crew, lambda: time.monotonic() >= deadline):
                        return False
        except KeyboardInterrupt as error:
            self.signal = signal_of(error)
            return False
        return True

    def _outlook(self) -> str:
        last, search = self._plan.iterations, self._plan.search["agent"]
        if self.done >= last:
            return f"all {last} iterations are there"
        if self.done >= 0:
            return f"goes on after iteration {self.done} of {last}"
        if self._plan.imitate is None:
            return f"iterations 0 to {last} learn from {search}"
        then = f", iterations 1 to {last} from {search}" if last else ""
        return f"iteration 0 learns from {self._plan.imitate['agent']}{then}"

    def _iterate(self, iteration: int, crew: Executor, over: Callable[[], bool]) -> bool:
        """Play, learn and play the match of an iteration; return whether it could be finished."""
        began, games = time.monotonic(), self._plan.games_in(iteration)
        if not play_all(
            crew,
            dict(self._jobs(iteration)),
            over,
            lambda there: self._report(f"iteration {iteration}: {there} of {games} games"),
            at_once=self._at_once,
        ):
            return False
        before = self._for_match()
        noted = self._learn(iteration)
        match = dict(self._match(iteration, before))
        if not play_all(crew, match, over, at_once=self._at_once):
            return False
        self._close(iteration, {**noted, "match": self._points(match), "seconds": round(time.monotonic() - began, 1)})
        return True

    def finish(self) -> Path:
        """Put the policy of the last iteration where trainings have theirs."""
        last = checkpoint(self.run, self.done)
        parts = (last, self.run.target), (last.with_suffix(".json"), self.run.target.with_suffix(".json"))
        write_together({there: here.read_bytes() for here, there in parts})
        trust.written(self.run.target)
        return self.run.target

    def _jobs(self, iteration: int) -> Iterator[tuple[Path, Job]]:
        """Yield the jobs of an iteration, with where their games are kept."""
        teacher = self._plan.imitate if iteration == 0 else None
        player = described(self._searching() if teacher is None else teacher)
        options = {"openings": self._plan.openings, "explore": teacher is None}
        folder = games_folder(self.run, iteration)
        return self._split(iteration, folder, self._plan.games_in(iteration), (player,), **options)

    def _match(self, iteration: int, before: bytes) -> Iterator[tuple[Path, Job]]:
        players, openings = (self._for_match(), before), self._plan.openings
        if not self._alone and repeats(self._env_id, self.run.settings):
            openings = max(openings, _MATCH_OPENINGS)
        options = {"openings": openings, "learn": False}
        folder = games_folder(self.run, iteration) / "match"
        return self._split(_MATCH + iteration, folder, self._plan.match_games, players, **options)

    def _split(
        self, number: int, folder: Path, games: int, players: tuple[bytes, ...], **options: Any
    ) -> Iterator[tuple[Path, Job]]:
        each = self._of_a_job(folder, games)
        for k, first in enumerate(range(0, games, each)):
            seed = int(np.random.SeedSequence([self.run.seed, number, k]).generate_state(1, np.uint64)[0])
            count = min(each, games - first)
            job = Job(self._env_id, self.run.settings, players, seed, count, discount=self._discount, **options)
            yield folder / f"{k:04}.npz", job

    def _searching(self) -> dict[str, Any]:
        """Return the search with the policy as it is now."""
        about = sidecar_of(self.run, self.model)
        policy = plain_arrays(storage.SavedPolicy(self.run.target, self.run.algorithm, self.model, about=about))
        return {"discount": self._discount, **self._plan.search, "policy": policy}

    def _for_match(self) -> bytes:
        """Return the search with the policy as it is now, described as it plays matches."""
        agent = self._searching()
        return described({**agent, "gumbel_scale": 0.0} if agent["agent"] == "gumbel" else agent)

    def _learn(self, iteration: int) -> dict[str, Any]:
        """Learn from the window; return what there is to say of the iteration."""
        self.run.out.stat()  # where it is gone, its games are not damaged
        new = [positions.read(path) for path in self._files(iteration)]
        now = self._window[iteration] = positions.together([part.positions for part in new])
        old = [self._of(i) for i in range(self._plan.first_kept(iteration), iteration)]
        if iteration == 0 and self._fresh:
            settle(self.model, now)
        agreed, plan = agreement(self.model, now), self._plan
        steps = -(-plan.epochs * len(now) // plan.batch)
        dice = np.random.default_rng([self.run.seed, 11, iteration])
        options: dict[str, Any] = {"batch": plan.batch, "learning_rate": plan.rate(iteration), "trust": plan.trust}
        options["symmetries"] = self._symmetries
        with noticing(self.model, self._slower):
            losses = distil(self.model, positions.together([*old, now]), steps, dice, **options)
        self.model.num_timesteps += len(now)
        lengths, points = (np.concatenate([getattr(part, name) for part in new]) for name in ("lengths", "points"))
        return {
            "iteration": iteration,
            "games": len(lengths),
            "positions": len(now),
            "length": round(float(lengths.mean()), 2),
            "points": round(float(points[:, 0].mean()), 4),
            "agreed": round(agreed, 4),
            "policy_loss": round(losses[0], 4),
            "value_loss": round(losses[1], 4),
        }

    def _slower(self) -> str:
        """Return how an iteration that has diverged may go on."""
        start = f" and --start {checkpoint(self.run, self.done)}" if self.done >= 0 else ""
        rate = f"a lower learning_rate than {self._plan.learning_rate:g}"
        return f"begin in another folder with {rate}{start}"

    def _of(self, iteration: int) -> positions.Positions:
        """Return the positions of an earlier iteration, from memory if they are there."""
        if iteration not in self._window:
            try:
                parts = [positions.read(path).positions for path in self._files(iteration)]
            except ValueError as error:
                raise ValueError(
                    f"games of iteration {iteration}, from which iteration {self.done + 1} is to learn, are lost "
                    f"({error.__cause__}); bring {games_folder(self.run, iteration)} back from a copy, or begin in "
                    f"another folder with --start {checkpoint(self.run, self.done)}"
                ) from error
            self._window[iteration] = positions.together(parts)
        return self._window[iteration]

    def _files(self, iteration: int) -> list[Path]:
        """Return the files of the games of an iteration."""
        games, folder = self._plan.games_in(iteration), games_folder(self.run, iteration)
        jobs = -(-games // self._of_a_job(folder, games))
        return [folder / f"{k:04}.npz" for k in range(jobs)]

    def _of_a_job(self, folder: Path, games: int) -> int:
        """Return how many games a job has: as many as those in the folder, which another release may have begun."""
        there = sorted(folder.glob("*.npz"))[:2]  # one of which is not the last and smaller
        own = games_of_a_job(games, self._game.observation_shape)
        return max((len(positions.read(path).lengths) for path in there), default=own)

    def _points(self, match: Mapping[Path, Job]) -> float | None:
        """Return what the new policy had of the points in a match, None without one."""
        teams = self._teams
        games = [enumerate(positions.read(path).points) for path in match]
        found = [points[list(teams[number % len(teams)])].mean() for job in games for number, points in job]
        return round(float(np.mean(found)), 4) if found else None

    def _close(self, iteration: int, noted: dict[str, Any]) -> None:
        """Save the policy, and what was noted; drop games that are not learned from any more."""
        self.run.out.stat()  # where it is gone, saving would make another one
        history = [*self.history, noted]
        about = {"plan": asdict(self._plan), "history": history}
        save(self.run, self.model, checkpoint(self.run, iteration), expert_iteration=about)
        self.history, self.done = history, iteration  # what is interrupted before is not over
        self._report(self._in_words(noted))
        for i in range(self._plan.first_kept(iteration + 1)):
            shutil.rmtree(games_folder(self.run, i), ignore_errors=True)
            self._window.pop(i, None)

    def _in_words(self, noted: Mapping[str, Any]) -> str:
        """Return what there is to say of an iteration as a line."""
        against = "" if self._alone else " against the last policy"
        teacher = self._plan.imitate if noted["iteration"] == 0 else None
        whom = "search" if teacher is None else teacher["agent"]
        match = "" if noted["match"] is None else f", {noted['match']:.0%} of the points{against}"
        return (
            f"iteration {noted['iteration']} of {self._plan.iterations}: {noted['games']:,} games of "
            f"{noted['length']:.1f} steps, before it policy and {whom} agreed on {noted['agreed']:.0%} of positions, "
            f"losses {noted['policy_loss']:.3f} (policy) and {noted['value_loss']:.3f} (value){match}, "
            f"{noted['seconds']:.0f} s"
        )


@contextlib.contextmanager
def _kept(executor: Executor) -> Iterator[Executor]:
    """Hand on an executor that somebody else will shut down."""
    yield executor
