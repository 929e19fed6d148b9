"""Exact values of 3x3 lane defense: against recorded transitions, known figures, and games that are played by them."""

import gymnasium as gym
import pytest
from exact import lane
from exact.judging import check, judge, on_lanes
from exact.page import Page

from agents.arena import parse_agents
from tests.games.lane_defense.test_classic import cells, transitions


@pytest.fixture(scope="module")
def survival():
    return lane.Survival(lane.game_of())


def before_the_coin(survival, board, t):
    """Return what a board is worth before it is known whether there is a plant."""
    with_plant, without = (
        max(survival.moves({"board": board, "t": t, "can_plant": can_plant}).values()) for can_plant in (True, False)
    )
    return 0.5 * with_plant + 0.5 * without


def test_a_move_is_worth_what_its_recorded_outcomes_are_worth(survival):
    for case in transitions(3):
        moves = survival.moves({"board": cells(case["board"]), "t": case["t"], "can_plant": case["can_plant"]})
        worth = sum(
            outcome["p"]
            * (
                float(outcome["won"])
                if outcome["terminated"]
                else before_the_coin(survival, cells(outcome["board"]), case["t"] + 1)
            )
            for outcome in case["outcomes"]
        )
        assert moves.get(case["action"], moves[9]) == pytest.approx(worth, abs=1e-8)


def test_the_best_player_wins_what_is_known(survival):
    assert round(survival.start(), 4) == 0.7102
    assert round(survival.start(first_plant_guaranteed=False), 4) == 0.5269


def test_games_played_by_the_values_are_won_as_often(survival):
    env, games, won = gym.make("mcts_envs/LaneDefense3x3-v0"), 1000, 0
    for seed in range(games):
        env.reset(seed=seed)
        over, info = False, {}
        while not over:
            moves = survival.moves(env.unwrapped.position())
            _, _, over, _, info = env.step(max(moves, key=lambda move: moves[move]))
        won += info["is_success"]
    assert abs(won / games - survival.start()) < 3.3 * (0.71 * 0.29 / games) ** 0.5


def test_positions_are_from_games_of_their_own_and_a_wrong_move_costs():
    asked = [*on_lanes(20, seed=0)]
    assert len(asked) == 20
    assert all(max(each.moves.values()) - min(each.moves.values()) > 0.01 for each in asked)
    assert asked == [*on_lanes(20, seed=0)]
    assert asked != [*on_lanes(20, seed=1)]


def test_agents_are_judged():
    game = lane.game_of()
    specs = parse_agents("scripted,random")
    check(game, specs)
    chance, scripted, random = judge(game, [*on_lanes(60, seed=0)], specs, lambda line: None)
    assert scripted.best.value > 0.9
    assert scripted.regret.value < 0.01 < random.regret.value
    assert random.best.value < 0.5
    assert chance.regret.value == pytest.approx(random.regret.value, abs=0.08)


def test_the_page_says_what_was_found(tmp_path):
    page = Page(tmp_path)
    page.solve_lanes()
    page.judge_lanes(parse_agents("scripted"), 5, 0, lambda line: None)
    text = (tmp_path / "exact.md").read_text()
    assert "wins 71.02% of all games, and 52.69% where a coin" in text.replace("\n", " ")
    assert "### Lane defense 3x3, 5 positions" in text
    assert "Wall survival on small boards" not in text
    assert Page(tmp_path).text() == text
