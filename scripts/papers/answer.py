"""Planning, learning, or both: who is best at the same time a move, and which way of learning helps a search most.

What is played was fixed, and committed, before the first of its games.
"""

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import hypot
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from PIL import Image

from agents.arena.statistics.estimates import Estimate
from agents.learning.saved.policy import read_network
from agents.learning.saved.shipped import SEARCHED, shipped
from agents.learning.saved.weights import read_zip
from papers.arms import ALGORITHM, School, table_of
from papers.measures import Points, Wins, percent
from papers.record import Record
from papers.study import Cell, Entrant, Study, Summary, Table

_ROOT = Path(__file__).resolve().parents[2]
BUDGETS = 10, 100
"""Milliseconds a move."""

PLANNER, POLICY, BOTH = "the planner", "the policy", "the policy in a search"
_CONNECT_FOUR = "examples/connect_four_cells.py:ConnectFourCells-v0"
_OPENING = {"opening": 4}
"""Random stones to begin with: players without chance would play one game again and again."""

_LEARNED_THERE = "examples/connect_four.npz"


@dataclass(frozen=True)
class Contest:
    """A game in which planner, policy and both meet.

    Attributes
    ----------
    title, environment : str
    games : tuple of int
        Of each pair, at each budget.
    settings : dict
    planner : dict
        The best that we know, with its settings but the time.
    policy : str
        The best that we have: the name of what is shipped, or a file.
    search : dict
        Settings of the search with the policy, besides.
    ladder : tuple of Entrant
        Others whom all three meet.
    """

    title: str
    environment: str
    games: tuple[int, int]
    settings: Mapping[str, Any] = field(default_factory=dict)
    planner: Mapping[str, Any] = field(default_factory=lambda: {"agent": "best"})
    policy: str = ALGORITHM
    search: Mapping[str, Any] = field(default_factory=dict)
    ladder: tuple[Entrant, ...] = ()

    @property
    def alone(self) -> bool:
        """Whether it is a game for one."""
        return self.environment.startswith("LaneDefense")

    @property
    def cost(self) -> str:
        """What the policy cost, in words."""
        if self.policy in SEARCHED:
            policy = read_zip(shipped(self.environment, self.policy, **self.settings))
        elif (file := _ROOT / self.policy).is_file():
            policy = read_network(file)
        else:
            return f"{self.policy} is not there."
        numbers = sum(layer.weights.size + layer.bias.size for tower in policy.network.towers for layer in tower)
        return f"The policy: {policy.about['timesteps']:,} steps of training, {4 * numbers:,} bytes of weights."

    def three(self, milliseconds: int) -> dict[str, Entrant]:
        """Return planner, policy and both at a budget."""
        limit = {"time_limit": milliseconds / 1000}
        planner = {**self.planner}
        agent = planner.pop("agent")
        alone = self.policy if self.policy in SEARCHED else f"sb3:{self.policy}"
        consulting = {"select": "puct", "evaluate": "policy", "policy": self.policy, **self.search}
        return {
            PLANNER: Entrant("planner", agent, {**planner, **limit}),
            POLICY: Entrant("policy", alone),
            BOTH: Entrant("both", "mcts", {**consulting, **limit}),
        }


def _named(*names: str) -> tuple[Entrant, ...]:
    return tuple(Entrant(name, name) for name in names)


CONTESTS = (
    Contest("Lane defense 5x9", "LaneDefense5x9-v0", (200, 100), ladder=_named("scripted", "random")),
    Contest(
        "Wall survival 6x6",
        "WallSurvival-v0",
        (400, 200),
        {"board_size": 6},
        policy="expert_iteration",
        search={"select": "puct_solver", "recommend": "proved", "c": 0.5},
        ladder=_named("mobility", "greedy"),
    ),
    Contest(
        "Bomber, one against one",
        "BomberDuel-v0",
        (200, 60),
        ladder=_named("rule_based", "random_safe"),
    ),
    Contest(
        "Football with three a side",
        "Football3-v0",
        (100, 30),
        policy="expert_iteration",
        ladder=_named("scripted", "random_types"),
    ),
    Contest(
        "Connect four",
        _CONNECT_FOUR,
        (400, 200),
        _OPENING,
        planner={"agent": "mcts"},
        policy=_LEARNED_THERE,
        ladder=(Entrant("mcts-100", "mcts", {"simulations": 100}), *_named("random")),
    ),
)
SCHOOLS = (
    School(
        "Lane defense 5x9",
        "LaneDefense5x9-v0",
        {"agent": "best", "simulations": 25},
        lessons={"reward_kill": 5},
    ),
    School(
        "Wall survival 6x6",
        "WallSurvival-v0",
        {"agent": "best", "max_steps": 2000},
        *_named("mobility"),
        settings={"board_size": 6},
        lessons={"observation": "distances"},
    ),
    School(
        "Bomber, one against one",
        "BomberDuel-v0",
        {"agent": "mcts_model", "simulations": 25},
        *_named("rule_based"),
        lessons={"reward_tie": 0, "observation": "egocentric", "mask": "safe"},
    ),
    School(
        "Football with three a side",
        "Football3-v0",
        {"agent": "best", "simulations": 25},
        *_named("scripted"),
        lessons={"reward_touchdown": 1},
    ),
    School(
        "Connect four",
        _CONNECT_FOUR,
        {"agent": "mcts", "simulations": 500},
        Entrant("mcts-100", "mcts", {"simulations": 100}),
        _OPENING,
        openings=8,
    ),
)


def cells_of(contest: Contest, at: int) -> Iterator[Cell]:
    """Yield who meets whom at one of the budgets; a game for one is played by each, and by the ladder."""
    three = contest.three(BUDGETS[at])
    common = _common(contest, at)
    if contest.alone:
        for words, player in three.items():
            if not (at and words == POLICY):
                yield Cell((words,), (player,), **common)
        if not at:
            yield from (Cell((f"`{rung.label}`",), (rung,), **common) for rung in contest.ladder)
        return
    for words, other in ((PLANNER, POLICY), (BOTH, POLICY), (BOTH, PLANNER)):
        yield Cell((words, other), (three[words],), **common, against=three[other])


def ladder_of(contest: Contest) -> Iterator[Cell]:
    """Yield how the three meet others; the policy, which takes no time, once."""
    for at, milliseconds in enumerate(BUDGETS):
        for rung in contest.ladder:
            for words, player in contest.three(milliseconds).items():
                if not (at and words == POLICY):
                    time = "" if words == POLICY else str(milliseconds)
                    yield Cell((words, time, f"`{rung.label}`"), (player,), **_common(contest, at), against=rung)


def _common(contest: Contest, at: int) -> dict[str, Any]:
    return {"environment": contest.environment, "games": contest.games[at], "settings": contest.settings}


def _tables() -> list[Table]:
    tables = []
    for at, milliseconds in enumerate(BUDGETS):
        for contest in CONTESTS:
            heads = ("player",) if contest.alone else ("player", "against")
            measure = Wins() if contest.alone else Points()
            title = f"{contest.title}, {milliseconds} ms a move"
            tables.append(Table(title, heads, measure, (*cells_of(contest, at),), "" if at else contest.cost))
    tables += map(table_of, SCHOOLS)
    heads = "player", "budget, ms", "against"
    several = [contest for contest in CONTESTS if not contest.alone]
    return tables + [Table(f"{c.title}: the ladder", heads, Points(), (*ladder_of(c),)) for c in several]


class Answer(Summary):
    """The three against each other: games won alone, or points against the other two."""

    note = """Games won, or points against the other two, who count alike, in percent: the planner, the policy, and the
    policy in a search. Points against the one and the other are taken to be independent. They are of the same boards,
    and correlate by 0.1 on average, so that intervals of 95 % hold about 94. Best is whose interval lies above both
    others', as of three equals one does once in a hundred times; not told apart are those whose intervals reach the
    highest of the lower ends."""

    def heads(self, record: Record) -> tuple[str, ...]:
        """Return the heads of its columns, three for each budget."""
        budgets = [BUDGETS[at] for at in self.shown(record)]
        return ("game", *(f"{name}, {ms} ms" for ms in budgets for name in ("planner", "policy", "both")))

    def lines(self, record: Record) -> list[list[str]]:
        """Return a line for each game of which anything has been played."""
        budgets = self.shown(record)
        found = {contest.title: self.shares(contest, record, budgets) for contest in CONTESTS}
        return [
            [title, *(percent(share) if share else "not yet played" for share in shares)]
            for title, shares in found.items()
            if any(shares)
        ]

    def shown(self, record: Record) -> list[int]:
        """Return the budgets at which all has been played that takes time; while there is none, those begun."""
        played = {
            at: [_share(contest, at, words, record) is not None for contest in CONTESTS for words in (PLANNER, BOTH)]
            for at in range(len(BUDGETS))
        }
        return [at for at in played if all(played[at])] or [at for at in played if any(played[at])]

    def shares(self, contest: Contest, record: Record, budgets: Sequence[int] = (0, 1)) -> list[Estimate | None]:
        """Return what planner, policy and both have, at each of some budgets."""
        return [_share(contest, at, words, record) for at in budgets for words in (PLANNER, POLICY, BOTH)]

    def draw(self, record: Record) -> Image.Image | None:
        """Draw the table as bars."""
        from matplotlib.figure import Figure

        budgets = self.shown(record)
        played = [contest for contest in CONTESTS if any(self.shares(contest, record, budgets))]
        if not played:
            return None
        figure: Any = Figure(figsize=(9.6, 3.4), layout="constrained")
        several = figure.subplots(1, len(budgets), sharey=True, squeeze=False)[0]
        for at, axes in zip(budgets, several, strict=True):
            for column, words in enumerate((PLANNER, POLICY, BOTH)):
                bars = [(x, _share(c, at, words, record)) for x, c in enumerate(played)]
                shown = [(x + 0.27 * (column - 1), share) for x, share in bars if share]
                errors = [[100 * (s.value - s.low) for _, s in shown], [100 * (s.high - s.value) for _, s in shown]]
                heights = [100 * s.value for _, s in shown]
                axes.bar([x for x, _ in shown], heights, 0.25, yerr=errors, capsize=2, label=words)
            axes.set_xticks(range(len(played)), [fill(c.title, 15) for c in played], fontsize=7)
            axes.set(title=f"{BUDGETS[at]} ms a move", ylim=(0, 100))
        figure.axes[0].set_ylabel("won alone, or points\nagainst the other two, %")
        figure.legend(*figure.axes[-1].get_legend_handles_labels(), loc="outside upper right", ncols=3, fontsize=8)
        file = io.BytesIO()
        figure.savefig(file, dpi=120)
        return Image.open(file)


def _share(contest: Contest, at: int, words: str, record: Record) -> Estimate | None:
    """Return the games won by one of the three alone, or its points against the other two; None if not yet played."""
    own = [cell for cell in cells_of(contest, 0 if contest.alone and words == POLICY else at) if words in cell.words]
    if contest.alone:
        return record.share(own[0])
    shares = []
    for cell in own:
        if (share := record.share(cell)) is None:
            return None
        shares.append(share if cell.words[0] == words else _turned(share))
    return _alike(shares)


def _turned(share: Estimate) -> Estimate:
    return Estimate(1.0 - share.value, 1.0 - share.high, 1.0 - share.low)


def _alike(shares: Sequence[Estimate]) -> Estimate:
    """Return the mean of shares of other games each, which count alike however many games they are of.

    G. Y. Zou, A. Donner (2008), "Construction of confidence limits about effect measures: a general approach".
    """
    value = float(np.mean([share.value for share in shares]))
    below, above = (hypot(*(share.value - share[end] for share in shares)) / len(shares) for end in (1, 2))
    return Estimate(value, value - below, value + above)


def conclusion(record: Record) -> str:
    """Return who of the three is best in which game, as far as the intervals tell."""
    said = []
    for at in (answer := Answer()).shown(record):
        found = []
        for contest in CONTESTS:
            shares = [share for share in answer.shares(contest, record, [at]) if share is not None]
            if len(shares) == 3:
                top = max(share.low for share in shares)
                first = [who for who, share in zip((PLANNER, POLICY, BOTH), shares, strict=True) if share.high >= top]
                *others, last = first
                who = f"{', '.join(others)} and {last} are not told apart" if others else f"{last} is best"
                found.append(f"in {contest.title} {who}")
        said += [f"At {BUDGETS[at]} ms, by their intervals: {'; '.join(found)}."] if found else []
    return " ".join(said)


STUDY = Study(
    "answer",
    "Planning, learning, or both",
    """At the same time a move on one core: the best planner that we have for a game, the best policy, and that policy
    in a search (PUCT, which takes prior and values from it); each against each, and against a ladder of scripted
    players, from both seats of each board. Then three ways to learn, with the same network in the same time: PPO, in
    games for two against itself and its past; half of the time that, then expert iteration; and expert iteration, which
    first imitates a planner. What is played was fixed, and committed, before the first of its games; where a planner or
    a policy became better it was played again, and what was found before stands at the end.""",
    _tables,
    Answer(),
    rows=True,
    conclusion=conclusion,
    earlier="""Percent of the planner, the policy, and both, in the order of the table above.

    Lane defense, 10 ms: 81.0 [75.0, 85.8], 56.0 [49.1, 62.7], 75.0 [68.6, 80.5], before the policy was trained for
    longer; 76.0 [69.6, 81.4], 85.0 [79.4, 89.3], 90.0 [85.1, 93.4], and both at 100 ms 85.0 [70.9, 92.9], before its
    layers were wider.

    Wall survival, 10 ms: 90.6 [88.4, 92.5], 1.2 [0.7, 2.2], 58.2 [53.8, 62.5], before the policy saw distances. With
    them, learned by PPO: 84.1 [81.4, 86.5], 2.4 [1.6, 3.6], 63.5 [59.3, 67.6], and at 100 ms 89.6 [86.4, 92.0],
    0.6 [0.0, 2.3], 59.8 [53.7, 65.6], before it learned from the search, and the search proved wins and losses.

    Bomber, one against one, 10 ms: 88.4 [85.1, 90.9], 28.9 [25.7, 32.5], 32.8 [29.2, 36.6], before the policy saw what
    is around it, and `best` was another planner.

    Football with three a side, 10 ms: 84.2 [78.8, 88.3], 28.7 [23.2, 35.1], 37.0 [30.6, 43.9], before `best` followed a
    better scripted player in its rollouts, and the policy learned from that player.

    In those of lane defense, bomber and football, the search with the policy counted the rewards of the environment,
    and not those of the policy's training, of which its values are made: it kept from touchdowns, which pay nothing by
    default. What stands above was played without this mistake. With it, both at 10 ms: lane defense 89.0 [83.9, 92.6],
    bomber 54.8 [52.1, 57.5], football 42.0 [35.8, 48.5]; at 100 ms lane defense 82.0 [69.2, 90.2], bomber, with the
    policy of one seed, 59.7 [48.7, 68.1] (the planner 51.4 [42.0, 60.4], the policy 38.9 [30.5, 50.2]; 18 games a
    pair), football 57.8 [41.6, 72.2]; the three ways to learn lane defense, on a slower machine: 52.5, 29.3 and 0.0
    alone, 55.3, 46.8 and 19.0 in a search; the three ways to learn bomber, on a machine that made two to four times as
    many steps in that time: 85.1, 74.8 and 53.8 alone, 89.9, 89.3 and 92.7 in a search; and the three ways to learn
    football, which the mistake taught too: 0.4, 0.5 and 3.6 alone, 0.1, 1.8 and 2.6 in a search.

    Bomber without it, 10 ms, with the policy of one seed: 56.5 [52.9, 59.6], 39.8 [36.6, 43.9], 53.8 [48.9, 58.2]. That
    policy has 90.3 % of the points of 1,000 games against `rule_based`, the best of three seeds 92.7. On the ladder of
    bomber above, the searches had 67 to 85 % of a core in some of the games, since the machine did other work.

    Football with three a side, 100 ms, with fewer games, 16 a pair, on another machine: 53.1 [36.6, 68.4], 29.7 [16.2,
    48.6], 67.2 [50.7, 78.8].

    Football without the mistake, with PPO's policy, before that learned from the search: 58.8 [52.6, 64.6], 29.2 [24.2,
    35.1], 62.0 [56.1, 67.5] at 10 ms, 60.9 [42.9, 76.6], 20.3 [10.0, 37.2], 68.8 [48.6, 84.7] at 100.

    Connect four was thrown away at 10 ms: players without chance repeated one game, and its planner was not the best.
    It begins with four random stones now, with another planner.""",
)
