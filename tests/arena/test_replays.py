"""Replays that a comparison keeps: one for each finished game, whatever happened on the way."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from agents.arena import AgentSpec, Plan, compare, parse_agents, parse_meeting
from agents.arena.replays import REPLAYS, file_of
from agents.arena.report.report import Report
from agents.arena.report.table import remarks
from agents.arena.storage import EPISODES, read_rows, read_transitions
from mcts_envs.core.players import BuiltIn
from mcts_envs.replay import Replay
from tests.arena.reports import figures, timeless_rows
from tests.arena.single import ID, TWO, fakes

GAMES = [
    (ID, "random,scripted", {}),
    ("WallSurvival-v0", "greedy,random", {"board_size": 4}),
    ("BomberDuel-v0", "rule_based,random", {"max_steps": 40}),
    ("BomberTeam-v0", "scripted,random", {"max_steps": 30}),
    ("Football1-v0", "scripted,random", {"halves": 1, "turns": 2}),
]


def plan_of(id: str, names: str, settings: dict[str, Any], **more: Any) -> Plan:
    return Plan(id, parse_meeting(names, None)[0], settings, replays=True, **more)


def replays_in(folder: Path) -> list[str]:
    return sorted(file.name for file in (folder / REPLAYS).iterdir())


def check_whole(folder: Path) -> None:
    """Check that every game has its replay, which proves itself, and that there is nothing else."""
    rows = read_rows(folder).values()
    assert replays_in(folder) == sorted(file_of(folder, row.key).name for row in rows)
    for row in rows:
        replay = Replay.load(file_of(folder, row.key))
        assert (replay.seed, replay.players) == (row.seed, [*row.agents])
        assert row.replay == json.loads(replay.to_json())["seal"]
        if row.fault is None:
            assert replay.outcome is not None
            assert replay.returns[0] == row.seats[0].episode_return


@pytest.mark.parametrize(("id", "names", "settings"), GAMES)
def test_every_game_is_kept_as_it_was_played(tmp_path: Path, id: str, names: str, settings: dict[str, Any]) -> None:
    plan = plan_of(id, names, settings, record=True)
    compare(plan, 2, folder=tmp_path)
    check_whole(tmp_path)
    moves: dict[tuple[tuple[str, ...], int], list[tuple[int, int]]] = {}
    for move in read_transitions(tmp_path, 2):
        key = tuple(move.get("agents", [move.get("agent")])), move["episode"]
        moves.setdefault(key, []).append((move.get("seat", 0), move["action"]))
    for key, chosen in moves.items():
        steps = Replay.load(file_of(tmp_path, key)).choices()
        assert [pair for step in steps for pair in step.items()] == chosen


def test_replays_change_nothing_else(tmp_path: Path) -> None:
    found = [compare(fakes(*TWO, replays=kept), 5, folder=tmp_path / str(kept)) for kept in (True, False)]
    assert figures(found[0]) == figures(found[1])
    rows = [timeless_rows(tmp_path / name) for name in ("True", "False")]
    for row in (*rows[0], *rows[1]):
        row.pop("replay")
    assert rows[0] == rows[1]
    assert not (tmp_path / "False" / REPLAYS).exists()
    assert compare(fakes(*TWO), 5, folder=tmp_path / "True").reused == 10
    again = compare(fakes(*TWO, replays=True), 6, folder=tmp_path / "False")
    assert (again.reused, len(replays_in(tmp_path / "False"))) == (10, 2)
    assert any("10 episodes were there from before, all without a replay; --fresh" in line for line in remarks(again))


def test_a_game_that_is_lost_by_forfeit_is_kept_as_far_as_it_went(tmp_path: Path) -> None:
    plan = fakes("good:base=random", "bad:base=random:accident=raise", replays=True)
    found = compare(plan, 20, folder=tmp_path, workers=2)
    assert found.forfeited
    check_whole(tmp_path)
    for row in found.forfeited:
        assert len(Replay.load(file_of(tmp_path, row.key)).actions) == 1


def interrupt(found: Report) -> None:
    raise KeyboardInterrupt


def test_what_was_interrupted_goes_on_with_one_replay_a_game(tmp_path: Path) -> None:
    plan = fakes(*TWO, replays=True)
    assert not compare(plan, 30, folder=tmp_path, watch=interrupt).finished
    lines = (tmp_path / EPISODES).read_bytes().splitlines(keepends=True)
    (tmp_path / EPISODES).write_bytes(b"".join(lines[:-1]))  # killed when the replay was there, and its row not yet
    (tmp_path / REPLAYS / ".00001-a-b-0123abcd.json.77").write_text("half")
    (tmp_path / REPLAYS / "00099-a-b-0123abcd.json").write_text("of no game")
    assert compare(plan, 20, folder=tmp_path).finished
    check_whole(tmp_path)
    compare(plan, 2, folder=tmp_path, fresh=True)
    assert len(replays_in(tmp_path)) == 4
    check_whole(tmp_path)


def test_what_somebody_else_put_beside_replays_stays(tmp_path: Path) -> None:
    (tmp_path / REPLAYS / "films").mkdir(parents=True)
    names = ["notes.txt", "mygame.json", "00001-mine.json", "00001-a-b-0123abcd.gif"]
    for name in names:
        (tmp_path / REPLAYS / name).write_text("mine")
    for fresh in (False, True):
        compare(fakes(*TWO, replays=True), 2, folder=tmp_path, fresh=fresh)
    compare(fakes(*TWO), 2, folder=tmp_path, fresh=True)
    assert {file.name for file in (tmp_path / REPLAYS).iterdir()} == {*names, "films"}


def damage(file: Path) -> None:
    file.write_bytes(file.read_bytes().replace(b"1", b"2"))


def empty(file: Path) -> None:
    file.write_bytes(b"")


@pytest.mark.parametrize("lose", [os.unlink, empty, damage])
def test_games_that_lost_their_replay_are_played_again(tmp_path: Path, lose: Any) -> None:
    plan = fakes(*TWO, replays=True)
    whole = compare(plan, 6, folder=tmp_path)
    before = {file.name: file.read_bytes() for file in (tmp_path / REPLAYS).iterdir()}
    lose(tmp_path / REPLAYS / min(before))
    again = compare(plan, 6, folder=tmp_path)
    assert again.reused == 11
    assert figures(again) == figures(whole)
    assert {file.name: file.read_bytes() for file in (tmp_path / REPLAYS).iterdir()} == before


class Meddler(BuiltIn):
    """Takes its first move back."""

    def reseed(self, seed: int) -> None:
        super().reseed(seed)
        self.states: list[Any] = []

    def act(self, env: Any) -> int:
        self.states.append(env.unwrapped.clone_state())
        if len(self.states) == 2:
            env.unwrapped.restore_state(self.states[0])
        return super().act(env)


def meddling(spec: AgentSpec) -> BuiltIn:
    return Meddler("random") if spec.name == "meddler" else BuiltIn("random")


def test_a_game_that_its_agent_changed_is_an_error(tmp_path: Path) -> None:
    plan = Plan(ID, parse_agents("honest,meddler"), make=meddling, replays=True)
    found = compare(plan, 3, folder=tmp_path)
    assert [(s.agent, s.games, s.errors) for s in found.summaries] == [("honest", 3, 0), ("meddler", 0, 3)]
    assert {row.error["message"] for row in found.failed if row.error} == {
        "played again, the game comes out otherwise: its agents must have changed the environment"
    }


def test_names_of_files_are_safe_and_tell_games_apart(tmp_path: Path) -> None:
    labels: Iterable[tuple[str, ...]] = [
        ("a", "b"), ("b", "a"), ("../../x:y=<1>",), ("sb3:/home/x/é.zip",), ("x" * 300,), ("x" * 301,), ("",),
    ]  # fmt: skip
    files = {file_of(tmp_path, (each, 7)) for each in labels}
    assert len(files) == 7
    assert all(file.parent == tmp_path / REPLAYS and len(file.name) < 80 and file.name.isascii() for file in files)


@pytest.mark.parametrize(
    ("id", "settings", "message"),
    [
        ("WallSurvival-v0", {"opponent": "random"}, "cannot be kept as replays: .*'opponent'"),
        ("CartPole-v1", {}, "CartPole-v1 is no environment of mcts_envs"),
    ],
)
def test_games_that_cannot_be_kept_are_refused(tmp_path: Path, id: str, settings: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare(plan_of(id, "random", settings), 1, folder=tmp_path)
    assert not list(tmp_path.iterdir())
