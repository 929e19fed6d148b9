"""Tuning an agent: settings are tried on the same boards, and the best of them is tested on fresh ones."""

import json
import math
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from agents.arena.comparison import compare
from agents.arena.interrupt import interruptible
from agents.arena.parameters import Parameter
from agents.arena.plan import Plan
from agents.arena.report.report import Report
from agents.arena.running.runner import Crew
from agents.arena.statistics.estimates import Estimate
from agents.arena.statistics.sprt import Sprt
from agents.arena.storage import EPISODES
from agents.locking import only_writer
from agents.spec import AgentSpec
from mcts_envs.core import errors
from mcts_envs.core.writing import write_whole

TUNED, SHIPPED = "tuned", "shipped"
"""Labels of the agent with settings that are tried, and of the agent as it was given."""

LOOKS = 4
"""Looks at a trial while it is played; at each but the last it may be given up."""

_RECORD = "tuning.json"
_GAMES = re.compile(r"(?:trial|test)-[0-9]{3,}")
"""Folders of games."""


@dataclass(frozen=True)
class Tuning:
    """What is to be tuned.

    Attributes
    ----------
    environment : str
        As for :class:`agents.arena.plan.Plan`.
    agent : AgentSpec
        With the settings that stay as they are. Without those tried it is what is shipped, whom the best is tested on.
    parameters : tuple of Parameter
        What is tried.
    boards : int
        Of a trial; episodes in games for one.
    against : AgentSpec, optional
        In games for several: whom all play against; by default the agent as it is shipped.
    settings, budget : dict
        Of the environment, and that the agents were read with.
    seed : int
        The boards of trials come from it, and what is tried; those of the test from the next one.
    cooperative : bool
        Whether the agent plays all seats, as in :class:`agents.arena.plan.Plan`.
    """

    environment: str
    agent: AgentSpec
    parameters: tuple[Parameter, ...]
    boards: int = 40
    against: AgentSpec | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    budget: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    cooperative: bool = False

    def candidate(self, values: Mapping[str, Any]) -> AgentSpec:
        """Return the agent with some values of the parameters."""
        return replace(self.agent, label=TUNED, settings={**self.agent.settings, **values})

    def written(self, values: Mapping[str, Any]) -> str:
        """Return the agent with some values as one writes it on a command line, without the budget."""
        settings = {**self.agent.settings, **values}
        own = {name: value for name, value in settings.items() if name not in self.budget}
        return ":".join([self.agent.name, *(f"{name}={value}" for name, value in own.items())])

    @property
    def first(self) -> dict[str, Any]:
        """The lower ends of the parameters."""
        return {parameter.name: parameter.ends[0] for parameter in self.parameters}

    @property
    def shipped(self) -> AgentSpec:
        """The agent as it was given."""
        return replace(self.agent, label=SHIPPED)

    def plan(self, values: Mapping[str, Any]) -> Plan:
        """Return the comparison that a trial is."""
        alone = self._alone((self.candidate(values),), self.seed)
        return _against(alone, alone.format.rivals(self.shipped, self.against)[0])

    def test(self, values: Mapping[str, Any]) -> Plan:
        """Return the comparison of the best with what is shipped: with each other, or each with the same others."""
        alone = self._alone((self.candidate(values), self.shipped), self.seed + 1)
        return _against(alone, alone.format.rivals(self.shipped, self.against)[1])

    def _alone(self, specs: tuple[AgentSpec, ...], seed: int) -> Plan:
        return Plan(self.environment, specs, self.settings, seed, self.budget, cooperative=self.cooperative)

    def check(self) -> None:
        """Check what can be checked before anything is played.

        Raises
        ------
        ValueError, TypeError, ImportError, OSError
            If nothing is to be tuned, something twice or both tuned and given, or one of the comparisons cannot be.
        """
        errors.integer("boards", self.boards, 1, 10**6)
        errors.integer("seed", self.seed, 0, 2**63 - 2)
        names = [parameter.name for parameter in self.parameters]
        if not names:
            raise ValueError("nothing is to be tuned; give for example --param c=0.1:2:log")
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"parameter {name!r} is given twice; give each once")
            if name in self.agent.settings:
                given = self.agent.settings[name]
                raise ValueError(f"{name!r} is a parameter, and set to {given!r} for the agent; leave one out")
        test = self.test(self.first)
        if self.against is not None and test.format.rivals(self.shipped, self.against)[0] is None:
            raise ValueError(f"against {self.against.name}: nobody is met in {test.id}, as it is played; leave it out")
        for plan in (self.plan(self.first), test):
            plan.check()
        test.format.contest(test)
        for parameter in self.parameters:
            for value in parameter.ends:
                test.make(self.candidate({**self.first, parameter.name: value}))

    def described(self) -> dict[str, Any]:
        """Return, as it is written to JSON, what must be equal for trials to belong together."""
        about = {
            "environment": self.environment,
            "agent": {"name": self.agent.name, "settings": self.agent.settings},
            "parameters": [str(parameter) for parameter in self.parameters],
            "boards": self.boards,
            "against": self.against and {"name": self.against.name, "settings": self.against.settings},
            "settings": self.settings,
            "budget": self.budget,
            "seed": self.seed,
        }
        if self.cooperative:
            about["cooperative"] = True
        found: dict[str, Any] = json.loads(json.dumps(about))
        return found


def _against(plan: Plan, rival: AgentSpec | None) -> Plan:
    return plan if rival is None else replace(plan, agents=(*plan.agents, rival), against=rival.label)


@dataclass(frozen=True)
class Tried:
    """A trial.

    Attributes
    ----------
    number : int
        From 0.
    values : dict
        Of the parameters.
    boards : int
        That it was played on.
    found : Estimate
        Win rate or points; the return in environments that do not say who has won.
    looks : tuple of (int, float)
        Boards and value at each look.
    given_up : bool
        Whether it was ended early: it was worse than half of the others after as many boards.
    """

    number: int
    values: dict[str, Any]
    boards: int
    found: Estimate
    looks: tuple[tuple[int, float], ...]
    given_up: bool


@dataclass(frozen=True)
class Tuned:
    """What came of it.

    Attributes
    ----------
    tuning : Tuning
    folder : Path
    trials : tuple of Tried
    test : Report, optional
        Of the best with what is shipped, on fresh boards.
    signal : int, optional
        What ended it early.
    """

    tuning: Tuning
    folder: Path
    trials: tuple[Tried, ...]
    test: Report | None = None
    signal: int | None = None

    @property
    def best(self) -> Tried | None:
        """The trial that found most of those played to their end, the first of equals."""
        return max((t for t in self.trials if not t.given_up), key=lambda t: t.found.value, default=None)


def tune(
    tuning: Tuning,
    trials: int = 40,
    *,
    sprt: Sprt | None = None,
    confirm: int = 1000,
    workers: int | None = None,
    folder: Path,
    fresh: bool = False,
    tell: Callable[[Tried], None] | None = None,
) -> Tuned:
    """Try settings of an agent, chosen by Optuna from what was found so far, and test the best.

    All trials play the same boards. What is tried depends on the seed and on the trials before alone, and every game is
    kept when it ends, so that the same call goes on after an interruption to the end that it would have had.

    Parameters
    ----------
    tuning : Tuning
    trials : int
        In all, with those that are in the folder.
    sprt : Sprt, optional
        With it the best is tested against what is shipped on boards that no trial has seen: being the best of many
        trials makes a setting look better than it is.
    confirm : int
        Boards of that test at most.
    workers : int, optional
        As for :func:`agents.arena.compare`.
    folder : Path
        Of all that is kept.
    fresh : bool
        Throw away what is there.
    tell : callable, optional
        Is given each trial that has ended.

    Returns
    -------
    Tuned

    Raises
    ------
    ValueError, TypeError, ImportError, OSError
        If something is wrong with what is to be tuned, Optuna is missing, or the folder holds something else.
    BlockingIOError
        If another tuning is writing to the folder.

    References
    ----------
    J. Bergstra et al. (2011), "Algorithms for hyper-parameter optimization", for the tree-structured Parzen estimator;
    trials below the median of the others at the same look are given up (D. Golovin et al. 2017, "Google Vizier").
    """
    errors.integer("trials", trials, 1, 10**6)
    errors.integer("confirm", confirm, 1, 10**9)
    tuning.check()
    suggest = _suggester(tuning)
    errors.writable("out", folder, folder=True)
    folder.mkdir(parents=True, exist_ok=True)
    with only_writer(folder, "tuning"), interruptible(), Crew(tuning.plan(tuning.first), workers) as crew:
        found = _kept(folder, tuning, fresh)
        if (ended := _still_the_same(tuning, folder, crew, found)) is not None:
            return Tuned(tuning, folder, tuple(found), signal=ended)
        while len(found) < trials:
            tried = _play(tuning, suggest(found), folder / f"trial-{len(found):03}", crew, found)
            if isinstance(tried, int):
                return Tuned(tuning, folder, tuple(found), signal=tried)
            found.append(tried)
            _keep(folder, tuning, found)
            if tell is not None:
                tell(tried)
        tuned = Tuned(tuning, folder, tuple(found))
        if sprt is None or tuned.best is None:
            return tuned
        plan, place = tuning.test(tuned.best.values), folder / f"test-{tuned.best.number:03}"
        crew.turn_to(plan)
        test = compare(plan, confirm, folder=place, sprt=sprt, crew=crew)
    return replace(tuned, test=test, signal=test.signal)


def _still_the_same(tuning: Tuning, folder: Path, crew: Crew, found: Sequence[Tried]) -> int | None:
    """Raise ``ValueError`` if the last trial was played by other code or files; return the signal that ended this."""
    for tried in found[-1:]:
        place, plan = folder / f"trial-{tried.number:03}", tuning.plan(tried.values)
        if (place / EPISODES).is_file():  # those who kept tuning.json alone go on
            crew.turn_to(plan)
            return compare(plan, tried.boards, folder=place, crew=crew).signal
    return None


def _play(tuning: Tuning, asked: Any, place: Path, crew: Crew, before: Sequence[Tried]) -> "Tried | int":
    """Play a trial, look by look, and return what it found, or the signal that ended it."""
    values = {parameter.name: parameter.of(asked.params[parameter.name]) for parameter in tuning.parameters}
    plan, looks, given_up = tuning.plan(values), [], False
    crew.turn_to(plan)
    for boards in sorted({math.ceil(tuning.boards * look / LOOKS) for look in range(1, LOOKS + 1)}):
        report = compare(plan, boards, folder=place, crew=crew)
        if report.signal is not None:
            return report.signal
        found = _value(report)
        looks.append((boards, found.value))
        asked.report(found.value, boards)
        given_up = boards < tuning.boards and bool(asked.should_prune())
        if given_up:
            break
    return Tried(len(before), values, boards, found, tuple(looks), given_up)


def _value(report: Report) -> Estimate:
    """Return what a trial is judged by.

    Raises
    ------
    ValueError
        If no game of it ended without an error.
    """
    (summary,) = (each for each in report.summaries if each.agent == TUNED)
    found = summary.win_rate if report.plan.scored else summary.mean_return
    if math.isnan(found.value):
        spec = report.plan.agents[0]
        raise ValueError(f"no game of {spec.name} with {spec.settings} ended without an error; see {report.folder}")
    return found


def _suggester(tuning: Tuning) -> Callable[[Sequence[Tried]], Any]:
    """Return a function that asks Optuna for a trial, given those that have ended.

    Raises
    ------
    ImportError
        If Optuna is missing.
    """
    try:
        import optuna
    except ImportError:
        raise ImportError('tuning needs Optuna, which is not installed: pip install "mcts-envs[tune]"') from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)

    def suggest(found: Sequence[Tried]) -> Any:
        study = optuna.create_study(
            direction="maximize",
            sampler=optuna.samplers.TPESampler(seed=_seed(tuning.seed, len(found))),
            pruner=optuna.pruners.MedianPruner(n_startup_trials=4),
        )
        space = {parameter.name: parameter.space(optuna.distributions) for parameter in tuning.parameters}
        for tried in found:
            state = optuna.trial.TrialState.PRUNED if tried.given_up else optuna.trial.TrialState.COMPLETE
            inner = {parameter.name: parameter.inner(tried.values[parameter.name]) for parameter in tuning.parameters}
            study.add_trial(
                optuna.trial.create_trial(
                    params=inner,
                    distributions=space,
                    value=tried.found.value,
                    state=state,
                    intermediate_values=dict(tried.looks),
                )
            )
        return study.ask(space)

    return suggest


def _seed(seed: int, number: int) -> int:
    return int(np.random.SeedSequence((seed, number)).generate_state(1)[0])


def _kept(folder: Path, tuning: Tuning, fresh: bool) -> list[Tried]:
    """Return the trials that a folder holds; a folder that is to be begun anew is emptied.

    Raises
    ------
    ValueError
        If they are of something else, or damaged.
    """
    file = folder / _RECORD
    if fresh:
        file.unlink(missing_ok=True)  # first: it speaks of the games
        for place in folder.iterdir():  # what is not a tuning's stays
            if _GAMES.fullmatch(place.name) and (place / EPISODES).is_file():
                shutil.rmtree(place)
    if not file.exists():
        return []
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
        trials = [
            Tried(**{**tried, "found": Estimate(*tried["found"]), "looks": tuple(map(tuple, tried["looks"]))})
            for tried in kept["trials"]
        ]
        about = {**kept["tuning"]}
    except (ValueError, TypeError, KeyError, IsADirectoryError) as error:
        raise ValueError(
            f"{file} is damaged ({error}); delete it: it is then written anew from the games that are kept beside it"
        ) from None
    if about != (here := tuning.described()):
        differs = ", ".join(sorted(name for name in about | here if about.get(name) != here.get(name)))
        raise ValueError(
            f"{folder} holds trials of something else ({differs} differ); name another folder, or begin anew with fresh"
        )
    return trials


def _keep(folder: Path, tuning: Tuning, trials: Sequence[Tried]) -> None:
    kept = {"tuning": tuning.described(), "trials": [asdict(tried) for tried in trials]}
    write_whole(folder / _RECORD, (json.dumps(kept, indent=1) + "\n").encode())
