"""Ideas of the field, each in the same search, against that search without it; and the price of being told."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from agents.arena.statistics.estimates import Estimate
from papers.measures import Points, Standings, Wins, percent
from papers.record import Record
from papers.study import Cell, Entrant, Study, Summary, Table

WITHOUT = "as it is"
_CONNECT_FOUR = "examples/connect_four_cells.py:ConnectFourCells-v0"


@dataclass(frozen=True)
class Ground:
    """A game in which ideas are tried.

    Attributes
    ----------
    title, environment : str
    games : int
        Of each idea.
    milliseconds : float
        A move.
    settings : dict
        Of the environment.
    search : dict
        Settings of the search, with an idea and without.
    traits : frozenset of str
        What ideas need: ``advice`` and ``worth`` (an evaluation) of the game, ``at once`` (several players choose at
        the same time), ``luck`` (chance decides), ``many outcomes`` (of one action), ``certain`` (no luck, and nothing
        is hidden), ``in a row`` (a player may choose several times before another does).
    """

    title: str
    environment: str
    games: int
    milliseconds: float
    traits: frozenset[str]
    settings: Mapping[str, Any] = field(default_factory=dict)
    search: Mapping[str, Any] = field(default_factory=dict)

    @property
    def alone(self) -> bool:
        """Whether it is a game for one."""
        return self.environment.startswith("LaneDefense")


GROUNDS = (
    Ground(
        "Lane defense 5x9",
        "LaneDefense5x9-v0",
        60,
        10,
        frozenset({"advice", "luck", "many outcomes", "in a row"}),
        search={"simulate": "advised"},
    ),
    Ground(
        "Wall survival 6x6",
        "WallSurvival-v0",
        200,
        10,
        frozenset({"advice", "worth", "certain"}),
        {"board_size": 6},
    ),
    Ground("Connect four", _CONNECT_FOUR, 200, 10, frozenset({"certain"}), {"opening": 4}),
    Ground(
        "Bomber, one against one",
        "BomberDuel-v0",
        60,
        3,
        frozenset({"advice", "worth", "at once"}),
        search={"horizon": 20},
    ),
    Ground(
        "Football with one a side",
        "Football1-v0",
        100,
        5,
        frozenset({"advice", "worth", "luck", "many outcomes", "in a row"}),
        search={"horizon": 40},
    ),
)


@dataclass(frozen=True)
class Idea:
    """An idea: what it is called, where it comes from, and how the search is told of it.

    Attributes
    ----------
    name, source : str
    settings : dict
        Beside or in place of those of the search.
    needs : str
        A trait of games without which there is nothing to try.
    agent : str
        Whose setting it is.
    """

    name: str
    source: str
    settings: Mapping[str, Any]
    needs: str = ""
    agent: str = "mcts"

    @property
    def label(self) -> str:
        """Its name in one word."""
        return self.name.replace(" ", "-").replace(",", "")


_WIDENING = {"select": "double_progressive_widening"}

IDEAS = (
    Idea("UCB1-Tuned", "Auer et al. 2002", {"select": "ucb1_tuned"}),
    Idea("RAVE", "Gelly, Silver 2007", {"select": "rave"}),
    Idea("GRAVE", "Cazenave 2015", {"select": "grave"}),
    Idea("progressive history", "Nijssen, Winands 2011", {"select": "progressive_history"}),
    Idea("progressive bias", "Chaslot et al. 2008", {"select": "progressive_bias"}, "advice"),
    Idea("progressive widening", "Coulom 2007", {"select": "progressive_widening"}, "advice"),
    Idea("double progressive widening", "Couetoux et al. 2011", _WIDENING, "many outcomes"),
    Idea("widening of outcomes alone", "Couetoux et al. 2011", {**_WIDENING, "exponent": 1.0}, "many outcomes"),
    Idea("PUCT", "Silver et al. 2017", {"select": "puct"}, "advice"),
    Idea("Gumbel", "Danihelka et al. 2022", {}, "advice", "gumbel"),
    Idea("epsilon-greedy, a bandit at the root", "the lecture", {"select": "epsilon_greedy", "tree_depth": 1}),
    Idea("UCB1, a bandit at the root", "the lecture", {"tree_depth": 1}),
    Idea("sequential halving at the root", "Karnin et al. 2013", {}, agent="halving"),
    Idea("regret matching", "Hart, Mas-Colell 2000", {"select": "regret_matching", "recommend": "mixed"}, "at once"),
    Idea("Exp3", "Auer et al. 1995", {"select": "exp3", "recommend": "mixed"}, "at once"),
    Idea("implicit minimax", "Lanctot et al. 2014", {"select": "implicit_minimax"}, "worth"),
    Idea("MCTS-Solver", "Winands et al. 2008", {"select": "mcts_solver", "recommend": "proved"}, "certain"),
    Idea("MAST", "Finnsson, Bjornsson 2008", {"simulate": "mast"}),
    Idea("rollouts by the game's advice", "the lecture", {"simulate": "advised"}, "advice"),
    Idea("decisive moves", "Teytaud, Teytaud 2010", {"simulate": "decisive"}),
    Idea("evaluation in place of rollouts", "the tutorial", {"rollout_depth": 0}, "worth"),
    Idea("rollouts of five steps", "Lorentz 2008", {"rollout_depth": 5}, "worth"),
    Idea("max child", "Chaslot et al. 2008", {"recommend": "max_value"}),
    Idea("secure child", "Chaslot et al. 2008", {"recommend": "secure"}),
    Idea("lower confidence bound", "KataGo", {"recommend": "lcb"}),
    Idea("options that repeat an action", "Powley et al. 2012", {"option": "repeat"}, "in a row"),
    Idea("options that follow the advice", "de Waard et al. 2016", {"option": "follow"}, "in a row"),
    Idea("tree kept between moves", "the lecture", {"reuse": True}),
    Idea("open loop", "Perez et al. 2015", {"loop": "open"}, "luck"),
    Idea("closed loop", "Perez et al. 2015", {"loop": "closed"}, "luck"),
)


HIDDEN = (
    Ground("Leduc hold'em", "examples/leduc.py:Leduc-v0", 4000, 5, frozenset()),
    Ground(
        *("Bomber, one against one, view 4", "BomberDuel-v0", 200, 3, frozenset()),
        settings={"view": 4},
        search={"horizon": 20},
    ),
    Ground("Bomber, teams of two, view 4", "BomberTeam-v0", 200, 3, frozenset(), search={"horizon": 20}),
)
"""Games in which something is hidden from players."""


def tried(ground: Ground) -> Iterator[Idea]:
    """Yield the ideas that can be tried in a game and that its search has not already."""
    for idea in IDEAS:
        new = idea.agent != "mcts" or any(ground.search.get(name) != idea.settings[name] for name in idea.settings)
        if new and (not idea.needs or idea.needs in ground.traits):
            yield idea


def cells_of(ground: Ground) -> Iterator[Cell]:
    """Yield the games of all ideas in a game; alone, the search without any plays them too."""
    search = {**ground.search, "time_limit": ground.milliseconds / 1000}
    without = Entrant("without", "mcts", search)
    common: dict[str, Any] = {"environment": ground.environment, "games": ground.games, "settings": ground.settings}
    if ground.alone:
        yield Cell((WITHOUT,), (without,), **common)
    for idea in tried(ground):
        player = Entrant(idea.label, idea.agent, {**search, **idea.settings})
        yield Cell((idea.name,), (player,), **common, against=None if ground.alone else without)


def _blind_cells(ground: Ground) -> Iterator[Cell]:
    """Yield who is told the truth, and who guesses and believes its guess, against who knows what its player does."""
    search = {**ground.search, "time_limit": ground.milliseconds / 1000}
    fair = Entrant("fair", "mcts", search)
    told = Entrant("told", "mcts", {**search, "information": "full"})
    common: dict[str, Any] = {"environment": ground.environment, "games": ground.games, "settings": ground.settings}
    for name, player in (("told the truth", told), ("`determinized`", Entrant("determinized", "determinized", search))):
        words = ground.title, name, f"{ground.milliseconds:g}"
        if ground.environment == "BomberTeam-v0":
            yield Cell(words, (player, fair), **common)
        else:
            yield Cell(words, (player,), **common, against=fair)


def _blind_tables() -> list[Table]:
    """Return what it is worth to be told what is hidden: for two, and in teams."""
    heads = "game", "player", "ms"
    *for_two, teams = HIDDEN
    cells = tuple(cell for ground in for_two for cell in _blind_cells(ground))
    return [
        Table("The price of cheating", heads, Points(), cells, _CHEATING),
        Table("The price of cheating, in teams", heads, Standings(), tuple(_blind_cells(teams)), _IN_TEAMS),
    ]


_CHEATING = """The search that is told the whole state but chance to come (`information="full"`), as many papers have
it, and that which draws what is hidden and searches as if it were known, ten times a move (`determinized`), each
against the search over information sets that knows what its player does, at the same time a move (ms). Bomber with
`horizon=20`. Points in Leduc hold'em are chips: 50 % is an even game, and all that can be won, 13 chips in every game,
is 100 %."""

_IN_TEAMS = "The same in teams: two who are told, or who guess, against two who are not."


def _tables() -> list[Table]:
    tables = []
    for ground in GROUNDS:
        measure = Wins() if ground.alone else Points()
        given = ", ".join(f"`{name}={value}`" for name, value in ground.search.items())
        note = f"The search: UCT{f' with {given}' if given else ''}, {ground.milliseconds} ms a move."
        tables.append(Table(ground.title, ("with",), measure, (*cells_of(ground),), note))
    return tables + _blind_tables()


class Ideas(Summary):
    """Every idea in every game."""

    note = """Percent of games won alone (the first line: without any idea), or of points against the search without
    the idea: above 50 it helps. Empty: it is nothing there that the search would not have, or the game gives it
    nothing to work with."""

    def heads(self, record: Record) -> tuple[str, ...]:
        """Return the heads of its columns."""
        return ("idea", "source", *(ground.title for ground in GROUNDS))

    def lines(self, record: Record) -> list[list[str]]:
        """Return a line for the search without any idea, and one for each idea."""
        shares = [{cell.words[0]: record.share(cell) for cell in cells_of(ground)} for ground in GROUNDS]
        named = [(WITHOUT, ""), *((idea.name, idea.source) for idea in IDEAS)]
        return [[name, source, *(_written(name, ground) for ground in shares)] for name, source in named]


def _written(name: str, shares: Mapping[str, Estimate | None]) -> str:
    if name not in shares:
        return ""
    share = shares[name]
    return "not yet played" if share is None else percent(share)


def conclusion(record: Record) -> str:
    """Return which ideas are better than the search without, and which worse, as far as the intervals tell."""
    better, worse = [], []
    for ground in GROUNDS:
        shares = {cell.words[0]: share for cell in cells_of(ground) if (share := record.share(cell))}
        without = shares.pop(WITHOUT, None)
        low, high = (without.low, without.high) if without else (0.5, 0.5)
        for word, names, said in (
            ("Better", [name for name, share in shares.items() if share.low > high], better),
            ("Worse", [name for name, share in shares.items() if share.high < low], worse),
        ):
            said += [f"{word} in {ground.title}: {'; '.join(names)}."] if names else []
    lead = "By the intervals, of which one in twenty misses by chance, these differ from the search without."
    return " ".join([lead, *better, *worse]) if better or worse else ""


STUDY = Study(
    "ideas",
    "Ideas of the field, one by one",
    """Each idea that the search knows, in the same search at the same time a move, against that search without it. All
    with their own defaults, tuned for no game. Alone the games are those of the search without; in pairs both seats of
    each board are played. The last tables are of what it is worth to be told what is hidden.""",
    _tables,
    Ideas(),
    conclusion=conclusion,
)
