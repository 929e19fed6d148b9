"""Line-ups in games for more than two: who meets whom, in which seats, on which boards."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pig
import pytest

import mcts_envs
from agents.arena.comparison import compare
from agents.arena.lineups import MOST_SEATINGS, lineups, seatings, sides
from agents.arena.plan import Plan
from agents.arena.rows import seeds
from agents.arena.running.runner import Crew
from agents.spec import parse_agents
from mcts_envs.core.contract import Game
from tests.arena.quitters import labels_of, met, quit_plan, specs
from tests.toys import stakes

ALONE = ((0,), (1,), (2,), (3,))
PAIRS = ((0, 2), (1, 3))


def test_who_meets() -> None:
    assert met(lineups(specs("abcd"), ALONE)) == ["a-b-c-d"]
    assert met(lineups(specs("aabb"), ALONE)) == ["a-a-b-b"]
    assert met(lineups(specs("abcde"), ALONE)) == ["a-b-c-d", "a-b-c-e", "a-b-d-e", "a-c-d-e", "b-c-d-e"]
    assert met(lineups(specs("ab"), PAIRS)) == ["aa-bb"]
    assert met(lineups(specs("abcd"), PAIRS)) == ["ac-bd"]
    assert met(lineups(specs("abc"), PAIRS)) == ["aa-bb", "aa-cc", "bb-cc"]
    assert lineups(specs("abc"), ALONE) == []


def test_who_meets_those_that_are_named() -> None:
    assert met(lineups(specs("abc"), ALONE, ["c"])) == ["a-c-c-c", "b-c-c-c"]
    assert met(lineups(specs("abcd"), ALONE, ["b", "d", "d"])) == ["a-b-d-d", "c-b-d-d"]
    assert met(lineups(specs("abc"), PAIRS, ["c"])) == ["aa-cc", "bb-cc"]
    assert met(lineups(specs("abc"), PAIRS, ["b", "c"])) == ["aa-bc"]
    assert lineups(specs("a"), ALONE, ["a"]) == []
    with pytest.raises(ValueError, match="2 agents for 3 seats; give 1 or 3"):
        lineups(specs("abc"), ALONE, ["b", "c"])
    with pytest.raises(ValueError, match="2 agents for 1 seat; give 1"):
        sides(specs("ab"), ((1,),))


# Who sits where


def seats(text: str, teams: Sequence[tuple[int, ...]] = ALONE, board: int = 0, seed: int = 0) -> list[str]:
    (lineup,) = lineups(specs(text), teams)
    return [labels_of(seating) for seating in seatings(lineup, teams, (seed, board))]


def test_few_orders_of_seats_are_all_played() -> None:
    assert seats("abbb") == ["abbb", "babb", "bbab", "bbba"]
    assert sorted(seats("aabb")) == sorted(set(map("".join, permutations("aabb"))))
    assert seats("aaaa") == ["aaaa"]
    assert seats("ab", PAIRS) == ["abab", "baba"]
    assert seats("abc", ((0,), (1,), (2,))) == ["abc", "acb", "bac", "bca", "cab", "cba"]


def test_mates_stay_mates() -> None:
    found = seats("abcd", PAIRS)
    assert len(set(found)) == len(found) == MOST_SEATINGS
    assert {frozenset((frozenset(seating[::2]), frozenset(seating[1::2]))) for seating in found} == {
        frozenset((frozenset("ac"), frozenset("bd")))
    }
    assert sorted(seats("aabc", PAIRS)) == sorted(seats("caab", PAIRS))  # a and b against a and c
    assert len(seats("aabb", PAIRS)) == 4  # a and b against b and a: who sits where is all
    assert len(seats("abab", PAIRS)) == 2


@pytest.mark.parametrize(
    ("text", "teams"),
    [
        ("abcd", ALONE),
        ("abcc", ALONE),
        ("abcdef", ((0, 1, 2), (3, 4, 5))),
        ("abcdef", ((0, 5), (1, 4), (2, 3))),
        ("abcdeeee", tuple((seat,) for seat in range(8))),
    ],
)
def test_of_many_orders_a_latin_square_is_played(text: str, teams: tuple[tuple[int, ...], ...]) -> None:
    boards = [seats(text, teams, board) for board in range(60)]
    (lineup,) = lineups(specs(text), teams)
    for found in boards:
        assert len(found) == len(text)
        for seat in range(len(text)):
            assert Counter(seating[seat] for seating in found) == Counter(text)
        for seating in found:
            mates = sorted("".join(sorted(seating[seat] for seat in team)) for team in teams)
            assert mates == sorted("".join(sorted(map(labels_of, ((spec,) for spec in side)))) for side in lineup)
    assert boards == [seats(text, teams, board) for board in range(60)]
    assert boards != [seats(text, teams, board, seed=1) for board in range(60)]
    assert len({frozenset(found) for found in boards}) >= 3  # another square, another order of neighbours


def test_every_board_has_a_square_of_its_own() -> None:
    plan = quit_plan("a,b,c,d")
    by_board: dict[int, set[str]] = {}
    for match in plan.jobs(20):
        by_board.setdefault(match.episode, set()).add(labels_of(match.agents))
    assert len(by_board) == 20
    assert len(set(map(frozenset, by_board.values()))) == 6  # of the six orders round a table
    assert plan.jobs(20) == plan.jobs(30)[:80]
    assert sorted(quit_plan("c,a,d,b").jobs(20), key=str) == sorted(plan.jobs(20), key=str)


def test_equal_orders_of_a_square_are_played_once() -> None:
    teams = tuple((seat,) for seat in range(6))
    for board in range(200):
        found = seats("aabbcc", teams, board)
        assert len(set(found)) == len(found)
        for seat in range(6):
            assert len(set(Counter(seating[seat] for seating in found).values())) == 1


def test_all_lineups_have_the_same_boards_and_seeds() -> None:
    plan = quit_plan("a,b", "c,d,d", seed=3)
    played = [item.row for item in Crew(plan).play(plan.jobs(3))]
    assert len(played) == 3 * 2 * 4
    for board in range(3):
        chance = {(row.seed, *(seat.agent_seed for seat in row.seats)) for row in played if row.episode == board}
        assert chance == {seeds(3, board, 4)}


@pytest.mark.parametrize("game", [replace(stakes(), teams=((0, 1, 2),)), replace(pig.pig(), teams=((0, 1),))])
def test_one_team_of_all_meets_nobody(game: Game, tmp_path: Path) -> None:
    mcts_envs.register("Together-v0", game)
    with pytest.raises(ValueError, match=r"are one team, and meet nobody; .* opponent=agents:mcts"):
        compare(Plan("Together-v0", parse_agents("random,mcts")), 2, folder=tmp_path / "out")
    plan = Plan("Together-v0", parse_agents("random"), settings={"opponent": "random"})
    assert plan.lineups == [((plan.agents[0],),)]
