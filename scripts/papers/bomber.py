"""Pommerman: a student report on progressive bias, and D. Perez-Liebana et al. (AIIDE 2019), whose program it extends.

The report plays 10 boards five times for each table: 50 games. Its depth is that of the rollouts of both tree searches;
evolution keeps its length. No radius is given where the players see a part of the board. Boards collapse as they do in
later versions of the program, and in a second reading not; the older paper plays without.
"""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import agents
from mcts_envs.core.multi import GameParallelEnv
from mcts_envs.games.bomber_grid.presets import GAMMA
from mcts_envs.games.bomber_grid.rules.layout import STOP
from mcts_envs.games.bomber_grid.spec import Bomber
from papers.duels import Player
from papers.meetings import Meeting, Shares, play, table

PLANNING = "BomberPlanning-v0"
TEAM = {"mode": "team"}
OSLA, RHEA, MCTS = Player("OSLA", "osla_aiide"), Player("RHEA", "rhea_aiide"), Player("MCTS", "mcts_aiide")
RULES = Player("rule-based", "rule_based_aiide")
SIMPLE = Player("rule-based", "rule_based")
"""In the manner of the original's SimpleAgent; that of the older paper is less careful."""

COLLAPSE = [500, 575, 650, 725]

CUSTOM, ADVANCED = 0.0, 1.0
"""The report's two heuristics of the progressive bias."""

PAIRS: dict[int, Shares] = {2: (50, 24, 26), 3: (40, 24, 36)}
MIXED: dict[int, Shares] = {4: (62, 8, 30), 5: (62, 6, 32)}
"""What the team with MCTSBias won, tied and lost in a table of the report."""

EACH: dict[int, dict[str, Shares]] = {
    6: {"OSLA": (0, 0, 100), "RHEA": (18, 6, 76), "MCTS": (18, 18, 64), "MCTSBias": (44, 20, 36)},
    7: {"OSLA": (0, 0, 100), "RHEA": (30, 10, 60), "MCTS": (22, 8, 70), "MCTSBias": (32, 14, 54)},
    8: {"OSLA": (0, 0, 100), "RHEA": (32, 2, 66), "MCTS": (28, 10, 62), "MCTSBias": (28, 12, 60)},
    9: {"OSLA": (0, 0, 100), "RHEA": (24, 6, 70), "MCTS": (28, 16, 56), "MCTSBias": (30, 16, 54)},
}

AGAINST_THREE: list[tuple[Player, Player, Shares]] = [
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

TEAMS: list[tuple[Player, Player, Sequence[Shares]]] = [
    (RHEA, OSLA, ((76.5, 1.5, 22), (88.5, 3.5, 8), (90.5, 2.5, 7), (81, 0.5, 18.5))),
    (MCTS, OSLA, ((97, 1, 2), (95, 2, 3), (97, 2.5, 0.5), (98.5, 1.5, 0))),
    (RHEA, RULES, ((76.5, 3, 20.5), (45, 27, 28), (55, 22.5, 22.5), (40.5, 23.5, 36))),
    (MCTS, RULES, ((68.5, 19.5, 12), (74, 22.5, 3.5), (70, 28, 2), (73, 23, 4))),
    (MCTS, RHEA, ((68.5, 14, 17.5), (22.5, 59, 18.5), (7.5, 85.5, 7), (9, 84, 7))),
]


def _mcts(**settings: Any) -> Player:
    return Player("MCTS", "mcts_aiide", settings)


def _bias(bias: float, decay: str = "depth", label: str = "MCTSBias", **settings: Any) -> Player:
    """Return the report's agent."""
    if decay == "depth":
        return Player(label, "mcts_bias", {"bias": bias, **settings})
    return Player(label, "mcts_bias_once", {"bias": bias / GAMMA, **settings})


def _seen(view: int | None) -> dict[str, Any]:
    return {} if view is None else {"view": view}


def _report_tables() -> list[Meeting]:
    meetings = []
    for number in range(2, 10):
        bias = CUSTOM if number % 2 == 0 else ADVANCED
        far = number in (4, 5, 8, 9)
        depth = {"horizon": 20} if far else {}
        readings: list[tuple[str, int | None, bool]] = [
            (decay, view, True) for decay in ("depth", "once") for view in ((1, 2, 4) if far else (None,))
        ]
        for decay, view, collapse in readings if far else [*readings, ("depth", None, False)]:
            settings = _seen(view) | ({"collapse": COLLAPSE} if collapse else {})
            note = f"decay={decay}" + (f", view {view}" if view else "") + ("" if collapse else ", no collapse")
            meetings.append(_report_table(number, _mcts(**depth), _bias(bias, decay, **depth), settings, note))
    return meetings


def _report_table(number: int, mcts: Player, bias: Player, board: dict[str, Any], note: str) -> Meeting:
    """Return a table of the report in one reading of it."""
    if number in PAIRS:
        players: tuple[Player, ...] = (mcts, bias)
        won, tied, lost = PAIRS[number]
        published = {"MCTS": (lost, tied, won), "MCTSBias": (won, tied, lost)}
    elif number in MIXED:
        players = OSLA, RHEA, mcts, bias
        won, tied, lost = MIXED[number]
        published = {"MCTS + OSLA": (lost, tied, won), "MCTSBias + RHEA": (won, tied, lost)}
    else:
        players, published = (OSLA, RHEA, mcts, bias), EACH[number]
    settings = board | (TEAM if number < 6 else {})
    return Meeting(f"Table {number}", players, PLANNING, 50, settings, published=published, of=50, note=note)


def _aiide() -> list[Meeting]:
    meetings = [
        Meeting(
            f"{player.label} against three",
            (player, other),
            PLANNING,
            200,
            {},
            other.label,
            {player.label: shares},
            200,
        )
        for player, other, shares in AGAINST_THREE
    ]
    for at, view in enumerate(VIEWS):
        note = f"view {view or 'full'}"
        pairs = {name: rates[at] for name, rates in ONE_OF_EACH.items()}
        shares = {name: (won, tied, 100 - won - tied) for name, (won, tied) in pairs.items()}
        players = MCTS, RHEA, RULES, OSLA
        meetings.append(Meeting("One of each", players, PLANNING, 200, _seen(view), "", shares, 200, note))
        for player, other, rows in TEAMS:
            published = {player.label: rows[at]}
            settings = TEAM | _seen(view)
            meetings.append(
                Meeting(f"Teams: {other.label}", (player, other), PLANNING, 200, settings, "", published, 200, note)
            )
    return meetings


def _future() -> list[Meeting]:
    """The report's wishes: its agent with one number changed in a team against MCTS, and against evolution alone.

    Returns decay once, which is the reading that agrees with its tables; gamma is that of a decay by depth. Boards
    collapse, for on others nearly all games of two teams that search are ties.
    """
    changes: list[tuple[str, Player, Player]] = []
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
        ("equation 2: C sqrt(t) / n", Player("MCTSBias", "mcts_bias", {"select": "ucb_linear", "bias": None}), MCTS),
        ("last choice with C = 0", _bias(CUSTOM, "once", recommend="max_value"), MCTS),
    ]
    board = TEAM | {"collapse": COLLAPSE}
    meetings = [Meeting("One change", (bias, mcts), PLANNING, 100, board, note=note) for note, bias, mcts in changes]
    pair = _bias(CUSTOM, "once"), RHEA
    for view in VIEWS:
        note = f"teams, view {view or 'full'}"
        meetings.append(Meeting("Against evolution", pair, PLANNING, 100, board | _seen(view), note=note))
    duel = {"mode": "duel", "board_size": 8, "n_rigid": 16, "n_wood": 16}
    return [*meetings, Meeting("Against evolution", pair, PLANNING, 100, duel, note="duel, 8x8")]


def _ours() -> list[Meeting]:
    """What we play ourselves; simulations that take well below 0.1 seconds on one core of 2024."""
    small = Player("best, 200 simulations, depth 12", "best", {"simulations": 200, "horizon": 12})
    best, few = (Player(f"best, {count} simulations", "best", {"simulations": count}) for count in (200, 60))
    return [
        Meeting("Against three, planning constants", (small, SIMPLE), PLANNING, 200, {}, SIMPLE.label),
        Meeting("Against three", (best, SIMPLE), "Bomber-v0", 200, {}, SIMPLE.label),
        Meeting("Team", (few, SIMPLE), "BomberTeam-v0", 200),
    ]


def _plain() -> list[Meeting]:
    """MCTS that knows how rule-based players move, and no heuristic, against three in the original's own constants."""
    known = {
        "opponents": "advised",
        "opponent_model": "rule_based",
        "simulate": "advised_own",
        "horizon": 20,
        "loop": "open",
    }
    rewards = {100: -0.736, 1000: -0.105}
    meetings = []
    for simulations, reward in rewards.items():
        settings = {"simulations": simulations, "discount": 0.9, "rollout_model": "unadvised", **known}
        player = Player(f"MCTS, {simulations} iterations", "mcts", settings)
        note = f"the original's: mean reward {reward}, so {50 * (1 + reward):.0f} % won"
        meetings.append(
            Meeting("Plain MCTS against three", (player, SIMPLE), "Bomber-v0", 100, {}, SIMPLE.label, note=note)
        )
    return meetings


def reproduce(folder: Path, scale: float, workers: int, say: Callable[[str], None]) -> str:
    """Play everything and return the report as Markdown.

    Parameters
    ----------
    folder : Path
    scale : float
        Share of the games to play; 20 plays 1,000 for each table of the report.
    workers : int
    say : callable
        Is told what is being played.
    """
    sections = {
        "Our best": _ours(),
        "Plain MCTS": _plain(),
        "The report": _report_tables(),
        "Perez-Liebana et al., AIIDE 2019": _aiide(),
        "What the report leaves to the future": _future(),
    }
    text = ["# Pommerman", "", *_anchors(max(5, round(30 * scale)), say)]
    for title, meetings in sections.items():
        text += [f"## {title}", "", *table(play(meetings, scale, folder, workers, say)), ""]
    return "\n".join(text)


def _anchors(games: int, say: Callable[[str], None]) -> list[str]:
    """Say how long games of four rule-based players are, beside those of the original's SimpleAgent."""
    lines = [
        "## Four rule-based players",
        "",
        f"The original: 329 steps, 3 ties of 30 for all by themselves; 370, 8 of 30 in teams. Ours, {games} games:",
        "",
        "| | steps a game, 95 % interval | ties |",
        "|---|---|---|",
    ]
    for title, settings in (("all by themselves", {}), ("teams, view 4", {"mode": "team", "view": 4, "blast_cap": 4})):
        say(f"four rule-based players, {title}")
        played = [_game(settings, seed) for seed in range(games)]
        steps = np.array([length for length, _ in played])
        margin = 1.96 * steps.std(ddof=1) / math.sqrt(games)
        lines.append(f"| {title} | {steps.mean():.0f} ± {margin:.0f} | {sum(tied for _, tied in played)} |")
    return [*lines, ""]


def _game(settings: dict[str, Any], seed: int) -> tuple[int, bool]:
    """Return the steps of a game between four rule-based players, and whether it was a tie."""
    env = GameParallelEnv(Bomber, **settings)
    players = {name: agents.make("rule_based", seed=4 * seed + at) for at, name in enumerate(env.possible_agents)}
    env.reset(seed=seed)
    steps, outcomes = 0, []
    while env.agents:
        steps += 1
        views = {name: env.view(name) for name in env.agents}
        chosen = {name: players[name].act(view) for name, view in views.items() if view.action_masks().any()}
        _, _, _, _, infos = env.step({name: chosen.get(name, STOP) for name in env.agents})
        outcomes += [info["outcome"] for info in infos.values() if "outcome" in info]
    return steps, max(outcomes) < 1.0
