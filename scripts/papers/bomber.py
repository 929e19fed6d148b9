"""Pommerman: a student report on progressive bias, and D. Perez-Liebana et al. (AIIDE 2019), which it extends."""

from collections.abc import Mapping, Sequence
from typing import Any

from agents.arena.lineups import Teams
from agents.arena.rows import Row
from agents.arena.statistics.estimates import wilson
from mcts_envs.games.bomber_grid.presets import GAMMA
from papers.measures import Found, Line, Measure, Rate, Shares, Standings, Triple, mean, percent, verdict
from papers.study import Cell, Entrant, Study, Table

PLANNING = "BomberPlanning-v0"
TEAM = {"mode": "team"}
OSLA, RHEA, MCTS = Entrant("OSLA", "osla_aiide"), Entrant("RHEA", "rhea_aiide"), Entrant("MCTS", "mcts_aiide")
RULES = Entrant("rule-based", "rule_based_aiide")
WARY = Entrant("rule-based", "rule_based_aiide_wary")
"""The version that evolution meets in the games recorded with a view of 1; against MCTS it is the other there."""
SIMPLE = Entrant("rule-based", "rule_based")
"""In the manner of the original's SimpleAgent; that of the older paper is less careful."""

COLLAPSE = [500, 575, 650, 725]

CUSTOM, ADVANCED = 0.0, 1.0
"""The report's two heuristics of the progressive bias."""

PAIRS: dict[int, Triple] = {2: (50, 24, 26), 3: (40, 24, 36)}
MIXED: dict[int, Triple] = {4: (62, 8, 30), 5: (62, 6, 32)}
"""What the team with MCTSBias won, tied and lost in a table of the report."""

EACH: dict[int, dict[str, Triple]] = {
    6: {"OSLA": (0, 0, 100), "RHEA": (18, 6, 76), "MCTS": (18, 18, 64), "MCTSBias": (44, 20, 36)},
    7: {"OSLA": (0, 0, 100), "RHEA": (30, 10, 60), "MCTS": (22, 8, 70), "MCTSBias": (32, 14, 54)},
    8: {"OSLA": (0, 0, 100), "RHEA": (32, 2, 66), "MCTS": (28, 10, 62), "MCTSBias": (28, 12, 60)},
    9: {"OSLA": (0, 0, 100), "RHEA": (24, 6, 70), "MCTS": (28, 16, 56), "MCTSBias": (30, 16, 54)},
}

AGAINST_THREE: list[tuple[Entrant, Entrant, Triple]] = [
    (MCTS, RULES, (46.5, 42.0, 11.5)),
    (MCTS, OSLA, (91.5, 5.0, 3.5)),
    (RHEA, RULES, (33.0, 22.0, 45.0)),
    (RHEA, OSLA, (65.5, 1.0, 33.5)),
]

VIEWS: tuple[int | None, ...] = (1, 2, 4, None)
ONE_OF_EACH: dict[str, Sequence[tuple[float, float]]] = {
    "MCTS": ((67.5, 7.5), (18.0, 54.0), (16.5, 59.0), (21.0, 61.5)),
    "RHEA": ((20.5, 5.0), (21.0, 43.0), (19.0, 57.0), (13.0, 51.5)),
    "rule-based": ((1.5, 3.0), (4.5, 23.0), (3.0, 17.0), (1.5, 32.0)),
    "OSLA": ((2.5, 0.5), (0.0, 3.5), (0.0, 2.0), (0.0, 3.5)),
}
"""Won and tied with these views."""

TEAMS: list[tuple[Entrant, Entrant, Sequence[Triple]]] = [
    (RHEA, OSLA, ((76.5, 1.5, 22), (88.5, 3.5, 8), (90.5, 2.5, 7), (81, 0.5, 18.5))),
    (MCTS, OSLA, ((97, 1, 2), (95, 2, 3), (97, 2.5, 0.5), (98.5, 1.5, 0))),
    (RHEA, RULES, ((76.5, 3, 20.5), (45, 27, 28), (55, 22.5, 22.5), (40.5, 23.5, 36))),
    (MCTS, RULES, ((68.5, 19.5, 12), (74, 22.5, 3.5), (70, 28, 2), (73, 23, 4))),
    (MCTS, RHEA, ((68.5, 14, 17.5), (22.5, 59, 18.5), (7.5, 85.5, 7), (9, 84, 7))),
]


def _cell(
    title: str,
    note: str,
    players: tuple[Entrant, ...],
    games: int,
    settings: Mapping[str, Any],
    published: Mapping[str, Triple] | None = None,
    against: Entrant | None = None,
    environment: str = PLANNING,
) -> Cell:
    known = None if published is None else Shares(published, games)
    return Cell((title, note), players, environment, games, settings, against, known)


def _mcts(**settings: Any) -> Entrant:
    return Entrant("MCTS", "mcts_aiide", settings)


def _bias(bias: float, decay: str = "depth", label: str = "MCTSBias", **settings: Any) -> Entrant:
    """Return the report's agent."""
    if decay == "depth":
        return Entrant(label, "mcts_bias", {"bias": bias, **settings})
    return Entrant(label, "mcts_bias_once", {"bias": bias / GAMMA, **settings})


def _seen(view: int | None) -> dict[str, Any]:
    return {} if view is None else {"view": view}


def _report_tables() -> list[Cell]:
    cells = []
    for number in range(2, 10):
        bias = CUSTOM if number % 2 == 0 else ADVANCED
        far = number in (4, 5, 8, 9)
        depth = {"horizon": 20} if far else {}
        readings: list[tuple[str, int | None, bool]] = [
            (decay, view, True) for decay in ("depth", "once") for view in ((1, 2, 4) if far else (None,))
        ]
        for decay, view, collapse in readings if far else [*readings, ("depth", None, False)]:
            settings = _seen(view) | ({"collapse": COLLAPSE} if collapse else {})
            note = "decay by depth" if decay == "depth" else "decay once"
            note += (f", view {view}" if view else "") + ("" if collapse else ", no collapse")
            cells.append(_report_table(number, _mcts(**depth), _bias(bias, decay, **depth), settings, note))
    return cells


def _report_table(number: int, mcts: Entrant, bias: Entrant, board: dict[str, Any], note: str) -> Cell:
    """Return a table of the report in one reading of it."""
    if number in PAIRS:
        players: tuple[Entrant, ...] = (mcts, bias)
        won, tied, lost = PAIRS[number]
        published = {"MCTS": (lost, tied, won), "MCTSBias": (won, tied, lost)}
    elif number in MIXED:
        players = OSLA, RHEA, mcts, bias
        won, tied, lost = MIXED[number]
        published = {"MCTS + OSLA": (lost, tied, won), "MCTSBias + RHEA": (won, tied, lost)}
    else:
        players, published = (OSLA, RHEA, mcts, bias), EACH[number]
    settings = board | (TEAM if number < 6 else {})
    return _cell(f"table {number}", note, players, 50, settings, published)


def _aiide() -> list[Cell]:
    cells = [
        _cell("against three", f"{other.label}, full view", (player,), 200, {}, {player.label: shares}, other)
        for player, other, shares in AGAINST_THREE
    ]
    for at, view in enumerate(VIEWS):
        note = f"view {view}" if view else "full view"
        pairs = {name: rates[at] for name, rates in ONE_OF_EACH.items()}
        shares = {name: (won, tied, 100 - won - tied) for name, (won, tied) in pairs.items()}
        cells.append(_cell("one of each", note, (MCTS, RHEA, RULES, OSLA), 200, _seen(view), shares))
        for player, other, rows in TEAMS:
            settings = TEAM | _seen(view)
            published = {player.label: rows[at]}
            met = WARY if view == 1 and (player, other) == (RHEA, RULES) else other
            cells.append(_cell(f"team against {other.label}", note, (player, met), 200, settings, published))
    return cells


def _future() -> list[Cell]:
    """The report's wishes: its agent with one number changed in a team against MCTS, and against evolution alone."""
    changes: list[tuple[str, Entrant, Entrant]] = []
    for simulations in (50, 100, 200, 400, 800):
        budget = {"simulations": simulations}
        changes.append((f"iterations of both {simulations}", _bias(CUSTOM, "once", **budget), _mcts(**budget)))
    depths = (6, 12, 20, 40)
    changes += [
        (f"depth of both {depth}", _bias(CUSTOM, "once", horizon=depth), _mcts(horizon=depth)) for depth in depths
    ]
    changes += [(f"h = {h:g}", _bias(h, "once"), MCTS) for h in (0.0, 0.25, 0.5, 1.0, 2.0, 5.0)]
    changes += [
        (f"gamma = {gamma:g}", _bias(CUSTOM, discount=gamma), MCTS) for gamma in (0.5, 0.7, 0.8, 0.9, 0.95, 1.0)
    ]
    changes += [
        ("equation 2: C sqrt(t) / n", Entrant("MCTSBias", "mcts_bias", {"select": "ucb_linear", "bias": None}), MCTS),
        ("last choice with C = 0", _bias(CUSTOM, "once", recommend="max_value"), MCTS),
    ]
    board = TEAM | {"collapse": COLLAPSE}
    cells = [_cell("one change", note, (bias, mcts), 100, board) for note, bias, mcts in changes]
    pair = _bias(CUSTOM, "once"), RHEA
    for view in VIEWS:
        note = f"teams, view {view}" if view else "teams, full view"
        cells.append(_cell("against evolution", note, pair, 100, board | _seen(view)))
    duel = {"mode": "duel", "board_size": 8, "n_rigid": 16, "n_wood": 16}
    return [*cells, _cell("against evolution", "duel, 8x8", pair, 100, duel)]


def _ours() -> list[Cell]:
    """What we play ourselves, as it is shipped."""
    best = Entrant("best", "best")
    return [
        _cell("against three", "planning constants", (best,), 200, {}, against=SIMPLE),
        _cell("against three", "the original's constants", (best,), 200, {}, against=SIMPLE, environment="Bomber-v0"),
        _cell("teams, view 4", "the original's constants", (best, SIMPLE), 200, {}, environment="BomberTeam-v0"),
    ]


def _ladder() -> list[Cell]:
    """Return `best` against the other players, who search as long as it does.

    Who searches is met on boards that collapse too: on others most or all of these games are ties.
    """
    limit = {"time_limit": 0.02}
    best = Entrant("best", "best", limit)
    cells = []
    for name, given in (("mcts_model", limit), ("pessimist", limit), ("careful", {}), ("rule_based", {})):
        rung = Entrant(name, name, given)
        for words, players, environment in (
            ("duel", (best, rung), "BomberDuel-v0"),
            ("against three", (best,), "Bomber-v0"),
            ("teams, view 4", (best, rung), "BomberTeam-v0"),
            ("teams, view 4, radio", (best, rung), "BomberRadio-v0"),
        ):
            against = rung if len(players) == 1 else None
            boards: list[tuple[str, dict[str, Any]]] = [(words, {})]
            if given:
                boards += [(f"{words}, collapsing", {"collapse": COLLAPSE[:3] if words == "duel" else COLLAPSE})]
            for title, settings in boards:
                cells.append(
                    _cell(title, f"`{name}`", players, 200, settings, against=against, environment=environment)
                )
    return cells


def _plain() -> list[Cell]:
    """MCTS that knows how rule-based players move, and no heuristic, against three in the original's own constants."""
    known = {
        "opponents": "advised",
        "opponent_model": "rule_based",
        "simulate": "advised_own",
        "horizon": 20,
        "loop": "open",
    }
    rewards = {100: -0.736, 1000: -0.105}
    cells = []
    for simulations, reward in rewards.items():
        settings = {"simulations": simulations, "discount": 0.9, "rollout_model": "unadvised", **known}
        player = Entrant(f"MCTS, {simulations} iterations", "mcts", settings)
        note = f"theirs: mean reward {reward}, so {50 * (1 + reward):.0f} % won"
        cells.append(_cell("against three", note, (player,), 100, {}, against=SIMPLE, environment="Bomber-v0"))
    return cells


class Length(Measure):
    """How long games are, and how often they are tied; published as the steps and the ties of so many games."""

    columns = "published steps", "steps", "published ties %", "ties %", "games", "verdict on ties"
    ours = "steps"

    def result(self, cell: Cell, rows: Sequence[Row], teams: Teams) -> list[int]:
        """Return the steps of a game, which its last players make all of, and whether nobody won it alone."""
        (row,) = rows
        return [max(seat.length for seat in row.seats), int(max(seat.outcome or 0.0 for seat in row.seats) < 1.0)]

    def lines(self, cell: Cell, found: Found) -> list[Line]:
        """Return the means."""
        words = {"consistent": "consistent", "better": "more", "below": "fewer"}
        ties = wilson(sum(tied for _, tied in found.results), len(found.results))
        line = {"steps": mean([steps for steps, _ in found.results]), "ties %": percent(ties)}
        line |= {
            "games": f"{len(found.results):,}",
            "verdict on ties": words[verdict(ties, cell.published[1].estimate)],
        }
        return [self.known(cell)[0] | line]

    def known(self, cell: Cell) -> list[Line]:
        """Return what is published."""
        steps, ties = cell.published
        return [{"published steps": str(steps), "published ties %": str(ties)}]


def _anchors() -> list[Cell]:
    four = (SIMPLE,) * 4
    teams = {"mode": "team", "view": 4, "blast_cap": 4}
    return [
        Cell(("all by themselves",), four, "Bomber-v0", 300, published=(329, Rate(10, 30))),
        Cell(("teams, view 4",), four, "Bomber-v0", 300, teams, published=(370, Rate(800 / 30, 30))),
    ]


def _tables() -> list[Table]:
    words, standings = ("game", "reading"), Standings()
    return [
        Table("Our best", words, standings, (*_ours(),)),
        Table(
            "The ladder",
            ("game", "against"),
            standings,
            (*_ladder(),),
            """At 20 ms a move: `best`, and who it meets, where they search. Collapsing: from step 500 on the board
            loses its rings, by which the competition of 2018 broke ties.""",
        ),
        Table(
            "Four rule-based players",
            ("game",),
            Length(),
            (*_anchors(),),
            "Published: 30 games of four of the original's SimpleAgents.",
        ),
        Table("Plain MCTS", words, standings, (*_plain(),), "The original gives mean rewards, from -1 to 1."),
        Table("The report", words, standings, (*_report_tables(),)),
        Table("Perez-Liebana et al., AIIDE 2019", words, standings, (*_aiide(),)),
        Table(
            "What the report leaves to the future",
            words,
            standings,
            (*_future(),),
            """Returns decay once, which is the reading that agrees with its tables; gamma is that of a decay by depth.
            Boards collapse, for on others nearly all games of two teams that search are ties.""",
        ),
    ]


STUDY = Study(
    "bomber",
    "Pommerman",
    """A student report on progressive bias, and D. Perez-Liebana et al. (AIIDE 2019), whose program it extends. The
    report plays 10 boards five times for each table: 50 games. Its depth is that of the rollouts of both tree searches;
    evolution keeps its length. No radius is given where the players see a part of the board. Boards collapse as they do
    in later versions of the program, and in a second reading not; the older paper plays without. "rule-based" is the
    older paper's player, which is less careful than the original's SimpleAgent, and with a view of 1 against evolution
    its program's other version, which stays on a bomb where it sees no way out, as it does in the paper's recorded
    games; among our best and in plain MCTS it is one in that agent's manner. Every start board is played in all orders
    of seats, in four where there are more than eight; shares are of games, intervals over the boards.""",
    _tables,
)
