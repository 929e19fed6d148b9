"""Searches as pages and pictures: what is shown of them, alone and as they grow, and what is no search."""

import json
import re
from dataclasses import replace

import gymnasium as gym
import pytest
from connect_four import GAME as CONNECT_FOUR  # noqa: F401  # registers it
from one_ply import OnePly

import agents
import mcts_envs  # noqa: F401
from agents.base import view_of
from agents.inspection.ranking import ranked
from agents.inspection.showing import search_data


def decisions_of(document):
    return [each for frame in document["frames"] for each in frame["decisions"]]


def test_planners_of_every_kind_show_themselves():
    env = gym.make("mcts_envs/WallSurvival-v0", board_size=5)
    env.reset(seed=4)
    for name in ("mcts", "alpha_beta", "rhea", "halving", "gumbel", "one_step"):
        result = agents.make(name, **({} if name in ("gumbel", "one_step") else {"max_steps": 2000})).search(env)
        data = search_data(result)
        assert data["action"] == result.action
        assert data.get("actions") or data.get("text")
        assert agents.show(result)._repr_html_()
        assert result.view.state is not env.unwrapped.view().state
    own = OnePly(simulations=50).search(env)
    assert search_data(own, view_of(env))["action"] == own.action
    with pytest.raises(ValueError, match=r"does not hold the state that was searched; call show\(result, env\)"):
        agents.show(own)
    for each in (env, env.unwrapped):
        with pytest.raises(TypeError, match=r"not a search; mcts_envs.show\(env\) shows it"):
            agents.show(each)
    assert "iframe" in agents.show(own, env)._repr_html_()


def test_a_search_is_shown_as_it_was_when_the_game_has_gone_on():
    env = gym.make("mcts_envs/LaneDefense3x3-v0")
    env.reset(seed=0)
    result = agents.make("mcts", simulations=50).search(env)
    before = agents.show(result).document
    env.step(result.action)
    assert agents.show(result).document == before
    (frame,) = before["frames"]
    assert frame["decisions"][0]["action"] is None


def test_a_line_begins_on_the_board_where_others_are_out_of_sight():
    env = gym.make("mcts_envs/BomberTeam-v0")
    env.reset(seed=0)
    view = view_of(env)
    result = agents.make("mcts", simulations=50).search(env)
    assert isinstance(result.principal_variation[0], int)  # what the others do tells no nodes apart
    first = search_data(result)["line"][0]
    assert first["place"] == list(view.game.where(view.state, view.player, result.action))


def test_a_search_is_shown_as_it_grows():
    env = gym.make("mcts_envs/LaneDefense3x3-v0")
    env.reset(seed=1)
    search = agents.make("mcts").start(env)
    results = [search.run(simulations=more).result() for more in (1, 9, 90)]
    shown = agents.show(results)
    assert repr(shown) == "Shown(lane_defense: 3 results, 3 frames)"
    thought = [each["search"] for each in decisions_of(shown.document)]
    assert [each["simulations"] for each in thought] == [each["tree"]["visits"] for each in thought] == [1, 10, 100]
    assert all(each["line"][0]["action"] == each["action"] for each in thought)
    for result, frame in zip(results, shown.document["frames"], strict=True):
        assert agents.show(result).document["frames"] == [frame]
    assert agents.show(tuple(results)).document == agents.show(results, env).document == shown.document
    assert len({agents.picture(each).to_rgb(16).shape for each in results}) == 1
    own = OnePly(simulations=20).search(env)  # a named tuple is one result
    assert len(agents.show([own, own], env).document["frames"]) == 2
    assert len(agents.show(own, env).document["frames"]) == 1


def test_what_is_no_search_of_this_state_is_refused_with_its_cure():
    env, other, larger = (
        gym.make(f"mcts_envs/{id}-v0") for id in ("LaneDefense3x3", "WallSurvival", "LaneDefense10x10")
    )
    for each in (env, other, larger):
        each.reset(seed=1)
    agent = agents.make("mcts", simulations=5)
    search, result = agent.start(env), agent.search(env)
    for given, cure in (
        (search, r"Search is a search under way; call \.result\(\), and {} that"),
        (result.tree, "SearchTree is the tree of a search; {} the result"),
        (agent, r"MCTS is an agent; {} what its search\(env\) returns"),
        (3, "{} takes a result, .* this is int: 3"),
        (None, "{} takes a result, .* this is NoneType: None"),
    ):
        for call in (agents.show, agents.picture):
            for more in ((), (env,)):
                with pytest.raises(TypeError, match=cure.format(call.__name__)):
                    call(given, *more)
    for call in (agents.show, agents.picture):
        with pytest.raises(ValueError, match="search was one of lane_defense, and the state is one of wall_survival"):
            call(result, other)
        with pytest.raises(ValueError, match="one of lane_defense with other settings"):
            call(result, larger)
    with pytest.raises(ValueError, match="no result in the list"):
        agents.show([])
    with pytest.raises(TypeError, match="Search is a search under way"):
        agents.show([result, search])
    with pytest.raises(ValueError, match="search was one of lane_defense, and the state is one of wall_survival"):
        agents.show([result, agent.search(other)])


def test_the_search_of_a_foreign_environment_is_shown_too():
    env = gym.make("FrozenLake-v1")
    env.reset(seed=0)
    shown = agents.show(agents.make("mcts", simulations=40).search(env))
    assert shown.document["frames"][0]["decisions"][0]["search"]["actions"]
    json.dumps(shown.document, allow_nan=False)


def test_overlays_are_pictures():
    env = gym.make("mcts_envs/WallSurvival-v0", board_size=5)
    env.reset(seed=4)
    result = agents.make("mcts", simulations=200).search(env)
    board = env.unwrapped.game.picture(env.unwrapped.view().state)
    alone, beside = agents.picture(result, panel=False), agents.picture(result)
    assert (alone.width, alone.height) == (board.width, board.height)
    assert beside.width > board.width
    assert alone.to_rgb(16).shape == board.to_rgb(16).shape
    assert (alone.to_rgb(16) != board.to_rgb(16)).any()
    words = re.findall("<text[^>]*>([^<]*)", agents.picture(result, actions=3, line=0).to_svg())
    assert "200 simulations" in words
    assert words[-1].endswith(" more")
    with pytest.raises(ValueError, match="actions"):
        agents.picture(result, actions=0)
    four = gym.make("ConnectFour-v0")
    four.reset(seed=0)
    with pytest.raises(ValueError, match="connect_four has no picture"):
        agents.picture(agents.make("mcts", simulations=10).search(four))


def test_environments_of_others_are_shown_by_their_searches():
    lake = gym.make("FrozenLake-v1")
    lake.reset(seed=0)
    with pytest.raises(TypeError, match=r"TimeLimit is an environment.* and show what agent\.search\(env\) returns"):
        agents.show(lake)
    result = agents.make("mcts", simulations=10).search(lake)
    with pytest.raises(ValueError, match=r"FrozenLake-v1 has no picture.*; agents\.show\(result\) shows"):
        agents.picture(result)
    assert repr(agents.show(result)) == "Shown(FrozenLake-v1: a search, 1 frame)"


def test_what_is_recommended_is_listed_however_seldom_it_was_visited():
    env = gym.make("mcts_envs/WallSurvival-v0", board_size=5)
    env.reset(seed=4)
    result = agents.make("mcts", simulations=500).search(env)
    last = int(ranked(result.visits, result.values)[-1])
    found = replace(result, action=last)
    data, rows = search_data(found), found.table(3).splitlines()
    assert [row[:2] for row in rows] == ["  ", "  ", "  ", "> ", "  "]
    assert sum(int(row.split()[-3]) for row in rows[1:4]) + int(rows[4].split()[-2]) == result.visits.sum()
    assert data["actions"][-1]["action"] == last
    assert data["omitted"]["visits"] + sum(row["visits"] for row in data["actions"]) == result.visits.sum()
    assert data["actions"][-1]["name"][:17] in agents.picture(found, actions=2).to_svg()
