"""Planning, learning, or both: the same search with a trained policy and without, and the policy alone."""

from collections.abc import Iterator

from papers.measures import Points, Wins
from papers.study import Cell, Entrant, Study, Table

POLICY = "maskable_ppo"
TAUGHT = {"WallSurvival-v0": "expert_iteration"}
"""Where the best policy for a search is another one."""

_GAMES = 200
_HEAD = ("player", "against")
_POLICY, _PUCT, _PROVING, _GUMBEL, _UCT = (
    "the policy alone",
    "PUCT with the policy",
    "PUCT that proves, with the policy",
    "Gumbel with the policy",
    "UCT with rollouts, no policy",
)

BUDGETS = {
    "LaneDefense5x9-v0": ((1_400, 300), (7_000, 1_500)),
    "WallSurvival-v0": ((1_300, 4_500), (6_500, 22_000)),
    "Football3-v0": ((1_000, 330), (5_000, 1_650)),
}
"""Simulations a move with the policy, which evaluates leaves, and without it, which rolls out: about 10 ms on a quiet
core, and 50."""


def _lone(env_id: str) -> Entrant:
    return Entrant("policy", TAUGHT.get(env_id, POLICY))


def _searches(env_id: str, at: int) -> tuple[Entrant, Entrant, Entrant]:
    """Return PUCT and Gumbel with the policy, and the search without it, at one of the two budgets."""
    consulting, rolling = BUDGETS[env_id][at]
    both = {"policy": _lone(env_id).agent, "simulations": consulting}
    return (
        Entrant("puct+policy", "mcts", {"select": "puct", "evaluate": "policy", **both}),
        Entrant("gumbel+policy", "gumbel", both),
        Entrant("mcts", "mcts", {"simulations": rolling}),
    )


def _alone(env_id: str, at: int) -> Iterator[Cell]:
    puct, gumbel, without = _searches(env_id, at)
    alone = [] if at else [(_POLICY, _lone(env_id))]  # it takes no time to speak of, and stands in the first table
    for words, player in (*alone, (_PUCT, puct), (_GUMBEL, gumbel), (_UCT, without)):
        yield Cell((words,), (player,), env_id, _GAMES)


def _met(env_id: str, at: int, **settings: object) -> Iterator[Cell]:
    (puct, gumbel, without), lone = _searches(env_id, at), _lone(env_id)
    pairs = [(_PUCT, puct, _POLICY, lone), (_GUMBEL, gumbel, _POLICY, lone), (_PUCT, puct, _UCT, without)]
    if env_id in TAUGHT:
        proving = {**puct.settings, "select": "puct_solver", "recommend": "proved"}
        pairs.append((_PROVING, Entrant("puct-solver", "mcts", proving), _PUCT, puct))
    for words, player, theirs, against in pairs:
        yield Cell((words, theirs), (player,), env_id, _GAMES, settings, against)


_DICE = {
    "as it comes": {},
    "no noise at the root": {"gumbel_scale": 0},
    "and values count for less": {"gumbel_scale": 0, "value_scale": 0.02},
    "and four actions are considered": {"gumbel_scale": 0, "value_scale": 0.02, "considered": 4},
}
"""Settings of Gumbel where dice decide: from the first line to the last one more is changed."""


def _dice(env_id: str) -> Iterator[Cell]:
    for words, settings in _DICE.items():
        player = Entrant(words.replace(" ", "-"), "gumbel", {"policy": POLICY, "simulations": 200, **settings})
        yield Cell((words, _POLICY), (player,), env_id, _GAMES, {}, _lone(env_id))


def _tables() -> list[Table]:
    lanes, walls, football = BUDGETS
    tables = []
    for at, about in enumerate(("about 10 ms", "about 50 ms")):
        tables += [
            Table(f"Lane defense 5x9, {about}", ("player",), Wins(), (*_alone(lanes, at),)),
            Table(f"Wall survival 6x6, {about}", _HEAD, Points(), (*_met(walls, at, board_size=6),)),
            Table(f"Football with three a side, {about}", _HEAD, Points(), (*_met(football, at),)),
        ]
    note = """200 simulations; from the first line to the last one setting more is changed, chosen on other boards for
    the search as it was before."""
    title = "Football with three a side: Gumbel where dice decide"
    return [*tables, Table(title, ("Gumbel with the policy", "against"), Points(), (*_dice(football),), note)]


STUDY = Study(
    "policies",
    "A trained policy in the search",
    """The shipped policies (MaskablePPO; on walls the one that the search has taught) alone, the search that consults
    them for prior and value, and the same search without them. Budgets are simulations, chosen to take about 10 and 50
    ms a move on one quiet core; what moves took where the games were played stands beside them. Lines of games for two
    are points of the player, a draw being half a point, from both seats of each board.""",
    _tables,
    earlier="""The search counted the rewards of the environment, and not those of the policy's training, of which its
    values are made: in football it kept from touchdowns, which pay nothing by default. So the policy alone had nearly
    as many points as PUCT with it, 57.0 % [50.9, 62.8] at about 10 ms and 66.2 [60.8, 71.1] at about 50, and as Gumbel,
    53.5 [48.1, 58.8] and 55.8 [49.7, 61.6].

    Where dice decide, Gumbel had 43.2 [37.7, 49.0], 45.8 [39.9, 51.7], 56.5 [51.0, 61.8] and 67.0 [61.1, 72.2], in the
    order of the table: what was taken for the effect of dice was that of the rewards.

    Gumbel told the values of a node apart by its own spread alone, as published, however long it searched: in lane
    defense it won 91.0 [83.8, 95.2] at about 10 ms and 72.5 [57.2, 83.9] at about 50; on walls it had 98.0 [91.9,
    100.0] and 100.0 [89.2, 100.0], in football 75.0 [65.7, 82.4] and 83.8 [68.9, 92.4], and where dice decide 70.0
    [61.3, 77.2], 73.0 [64.3, 80.0], 68.5 [59.2, 76.4] and 70.5 [61.0, 78.4], in the order of the table.

    In lane defense PUCT won 89.5 [84.5, 93.0] and Gumbel 90.0 [85.1, 93.4] at about 10 ms, 90.0 [76.9, 96.0] and 62.5
    [47.0, 75.8] at about 50. Before the policy's layers were wider, it won 85.0 [79.4, 89.3] alone, PUCT 89.0 [81.4,
    93.7] and 91.0 [83.8, 95.2], and Gumbel 84.0 [75.6, 89.9] and 88.0 [80.2, 93.0].

    UCT without a policy, in football at about 50 ms, met PUCT with the policy that shipped before, which had 72.8 %
    [70.0, 75.5] of the points against `scripted`; that of now, which played the rest, has 84.2 [81.8, 86.3].""",
)
