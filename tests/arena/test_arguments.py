"""What comparisons are asked for in Python: arguments of another kind are refused before anything is written."""

import re
from typing import Any

import gymnasium
import pytest

from agents.arena import AgentSpec, Plan, compare, parse_agent, parse_agents, parse_budget, parse_settings, records

ID = "LaneDefense3x3-v0"
RANDOM = parse_agents("random")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"agents": "random,mcts"}, "agents 'random,mcts' are str; give parse_agents('random,mcts')"),
        ({"agents": {*RANDOM}}, "are set; give parse_agents("),
        ({"agents": iter(RANDOM)}, "are tuple_iterator; give parse_agents("),
        ({"agents": None}, "agents None are NoneType; give parse_agents("),
        ({"environment": gymnasium.make("CartPole-v1")}, "not text such as 'LaneDefense3x3-v0'"),
        ({"record": "no"}, "record 'no' is not True or False"),
        ({"replays": "no"}, "replays 'no' is not True or False"),
        ({"keep": "board"}, "keep 'board' is str; give a tuple of names"),
        ({"make": 3}, "make 3 is int; give a function"),
        ({"executor": "ray"}, "executor 'ray' is str; give an object with submit()"),
        ({"crew": 2}, "crew 2 is int; give Crew(plan, 4), or workers=4"),
        ({"watch": True}, "watch True is bool; give a function"),
        ({"tell": "print"}, "tell 'print' is str; give a function"),
        ({"every": "fast"}, "every 'fast' is str, not a number"),
        ({"merge": 3}, "merge 3 is int, not a list of folders"),
        ({"merge": [3]}, "merge 3 is int, not a path"),
        ({"folder": 3}, "folder 3 is int, not a path"),
    ],
)
def test_arguments_of_another_kind_are_refused(tmp_path, monkeypatch, asked: dict[str, Any], words: str) -> None:
    monkeypatch.chdir(tmp_path)
    planned = {name: asked.pop(name) for name in list(asked) if name in Plan.__dataclass_fields__}
    with pytest.raises(TypeError, match=re.escape(words)):
        compare(Plan(**{"environment": ID, "agents": RANDOM, **planned}), 2, **{"folder": "out", **asked})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: parse_agents("mcts", "simulations=3"), "not a dictionary such as parse_budget('simulations=1000')"),  # type: ignore[arg-type]
        (lambda: parse_agent(None), "agent None is NoneType, not text such as 'mcts:simulations=500'"),  # type: ignore[arg-type]
        (lambda: parse_budget(100), "budget 100 is int, not text such as 'simulations=1000'"),  # type: ignore[arg-type]
        (lambda: parse_settings({"board_size": 4}), "are dict, not a list of texts such as ['board_size=4']"),  # type: ignore[arg-type]
        (lambda: parse_settings("board_size=4"), "are str, not a list of texts"),
        (lambda: AgentSpec(3, "random"), "label 3 is int, not text"),  # type: ignore[arg-type]
        (lambda: AgentSpec("a", "mcts", None), "settings None is NoneType, not a dictionary"),  # type: ignore[arg-type]
        (lambda: records(3), "folder 3 is int, not a path"),  # type: ignore[arg-type]
    ],
)
def test_what_is_not_as_people_write_it_is_refused(call: Any, words: str) -> None:
    with pytest.raises(TypeError, match=re.escape(words)):
        call()
