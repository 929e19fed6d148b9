"""Comparisons left alone: agents that hang, end the program, eat memory or crash; full disks; damaged rows; signals."""

import ctypes
import errno
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from agents.arena import AgentSpec, Limits, Plan, compare, parse_agents
from agents.arena.formats.lineup_figures import ranks
from agents.arena.report.report import report
from agents.arena.report.table import remarks, render
from agents.arena.rows import Match
from agents.arena.running import runner, worker
from agents.arena.running.room import Room
from agents.arena.running.runner import Crew
from agents.arena.storage import EPISODES
from mcts_envs.core.players import BuiltIn

ROOT = Path(__file__).resolve().parents[2]
ID = "LaneDefense3x3-v0"
HOARD: list[bytearray] = []


class Odd(BaseException):
    def __str__(self) -> str:
        raise RuntimeError("no message")


class Hostile(BuiltIn):
    """A random player; in its second move of an episode it does what its name says."""

    def __init__(self, deed: str) -> None:
        super().__init__("random")
        self.deed, self.moves, self.seed = deed, 0, 0
        self.env: Any

    def reseed(self, seed: int) -> None:
        super().reseed(seed)
        self.moves, self.seed = 0, seed

    def act(self, env: Any) -> int:
        self.moves, self.env = self.moves + 1, env
        if self.moves == 2 and self.seed and self.deed != "good":
            done = getattr(self, self.deed)()
            return super().act(env) if done is None else int(done)
        return super().act(env)

    def hang(self) -> None:
        time.sleep(1e6)

    def slow(self) -> None:
        time.sleep(0.2)

    def dawdle(self) -> None:
        time.sleep(0.1)
        self.moves = 1  # and so in every move

    def illegal(self) -> int:
        return 99

    def exit(self) -> None:
        sys.exit(3)

    def interrupt(self) -> None:
        raise KeyboardInterrupt

    def odd(self) -> None:
        raise Odd

    def die(self) -> None:
        os._exit(0)

    def abort(self) -> None:
        os.abort()

    def crash(self) -> None:
        ctypes.string_at(0)

    def eat(self) -> None:
        while True:
            HOARD.append(bytearray(10**8))

    def leak(self) -> None:
        HOARD.append(bytearray(7 * 10**8))

    def killed(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(1e6)

    def mean(self) -> None:
        def broken(action: int) -> None:
            raise RuntimeError("the floor broke")

        self.env.unwrapped.step = broken

    def fork(self) -> None:
        os.fork()


def make_hostile(spec: AgentSpec) -> Hostile:
    return Hostile(spec.name)


def hostile(*deeds: str, **more: object) -> Plan:
    return Plan(ID, tuple(AgentSpec(deed, deed) for deed in deeds), make=make_hostile, **more)  # type: ignore[arg-type]


DEEDS = {
    "hang": ("time", "TimeoutError", "no move within 3 s (--move-limit)"),
    "illegal": ("illegal", "IllegalMoveError", "action 99 is none of 0 to 9"),
    "exit": ("crash", "SystemExit", "3"),
    "interrupt": ("crash", "KeyboardInterrupt", ""),
    "odd": ("crash", "Odd", "(its message raises RuntimeError)"),
    "die": ("crash", "ProcessDied", "the process that played it ended itself (exit code 0)"),
    "abort": ("crash", "ProcessDied", "the process that played it was ended by SIGABRT"),
    "crash": ("crash", "ProcessDied", "the process that played it was ended by SIGSEGV"),
}


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_whatever_an_agent_does_loses_its_game_and_the_rest_goes_on(tmp_path: Path, workers: int) -> None:
    plan = hostile("good", *DEEDS, limits=Limits(move=3.0))
    result = compare(plan, 1, workers=workers, folder=tmp_path)
    good, *others = result.summaries
    assert result.finished
    assert result.signal is None
    assert (good.games, good.errors) == (result.episodes, 0)
    assert [(s.games, s.errors, s.win_rate.value) for s in others] == [(result.episodes, 0, 0.0)] * len(DEEDS)
    assert [s.forfeits for s in others] == [{reason: result.episodes} for reason, *_ in DEEDS.values()]
    assert all(np.isnan(s.mean_return.value) for s in others)
    forfeits = [(row.agents[0], row.forfeit) for row in result.forfeited if row.forfeit]
    told = {(agent, forfeit["reason"], forfeit["type"], forfeit["message"]) for agent, forfeit in forfeits}
    assert told == {(deed, *forfeit) for deed, forfeit in DEEDS.items()}
    again = compare(plan, result.episodes, workers=workers, folder=tmp_path)
    assert again.reused == len(forfeits) + good.games
    assert repr(again.summaries) == repr(result.summaries)  # NaN is not equal to itself


@pytest.mark.parametrize("deaths", [2, 3])
def test_a_worker_that_is_killed_as_it_begins_has_a_successor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deaths: int
) -> None:
    begin, left = worker.Worker.__init__, [deaths]

    def begun(self: worker.Worker, plan: Plan) -> None:
        begin(self, plan)
        if left[0]:
            left[0] -= 1
            self._process.terminate()

    monkeypatch.setattr(worker.Worker, "__init__", begun)
    plan = Plan(ID, (AgentSpec("random", "random"),))
    if deaths == 2:
        assert compare(plan, 2, workers=1, folder=tmp_path).finished
        return
    with pytest.raises(RuntimeError, match=r"3 worker processes in a row were killed as they began, .* fewer workers"):
        compare(plan, 2, workers=1, folder=tmp_path)


def test_who_was_late_is_thinking_until_its_process_has_said_so() -> None:
    plan, calls = hostile("slow", "good", limits=Limits(move=0.1)), list[int | None]()
    late, good = (Room(plan, calls.append).play(job).row for job in plan.jobs(1))
    assert (late.forfeit and late.forfeit["reason"], good.forfeit) == ("time", None)
    first, last = calls[: calls.index(0, calls.index(0) + 1) + 1], calls[-2:]
    assert first == [-1, None, -1, None, 0, None, 0]  # made and stepped, made ready, a move in time, and one late
    assert last == [-1, None]  # what comes after a game is no move


def test_who_ended_its_process_did_not_think_for_as_long_as_nobody_looked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "wait", lambda *_: time.sleep(2.0))
    plan = hostile("die", limits=Limits(move=0.3))
    with Crew(plan, 1) as crew:
        (played,) = crew.play(plan.jobs(1))
    assert played.row.forfeit is not None
    assert (played.row.forfeit["reason"], played.row.forfeit["type"]) == ("crash", "ProcessDied")


def test_a_process_whose_parent_has_gone_as_it_began_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    ours, theirs = worker._SPAWN.Pipe()
    ours.close()
    plan = Plan(ID, (AgentSpec("random", "random"),))
    process = worker._SPAWN.Process(target=worker.serve, args=(theirs, worker._shared(3), plan))
    process.start()
    process.join()
    assert process.exitcode == 0
    assert capfd.readouterr().err == ""


@pytest.mark.slow
def test_a_late_move_loses_even_where_it_came(tmp_path: Path) -> None:
    late, good = compare(hostile("slow", "good", limits=Limits(move=0.1)), 1, workers=1, folder=tmp_path).summaries
    assert (late.forfeits, good.forfeits) == ({"time": 1}, {})


def test_in_a_game_for_two_the_other_wins(tmp_path: Path) -> None:
    agents = (AgentSpec("odd", "odd"), AgentSpec("a", "good"))
    result = compare(Plan("WallSurvival-v0", agents, {"board_size": 6}, make=make_hostile), 2, folder=tmp_path)
    odd, good = result.summaries
    assert (odd.wins, odd.losses, odd.forfeits) == (0, 4, {"crash": 4})
    assert (good.wins, good.losses, good.forfeits) == (4, 0, {})
    console = Console(width=150)
    with console.capture() as said:
        console.print(render(result))
    assert "4 crash" in said.get()
    assert "4 games were lost by forfeit and count as lost; the first: a - odd, board 0" in said.get()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_what_is_killed_from_outside_is_an_error_and_tried_again(tmp_path: Path) -> None:
    result = compare(hostile("killed", "good"), 1, workers=1, folder=tmp_path)
    assert [(s.games, s.errors, s.forfeits) for s in result.summaries] == [(0, 1, {}), (1, 0, {})]
    assert compare(hostile("killed", "good"), 1, workers=1, folder=tmp_path).reused == 1


def test_an_environment_that_raises_is_nobodys_fault() -> None:
    plan = hostile("mean")
    row = Room(plan).play(plan.jobs(1)[0]).row
    assert row.forfeit is None
    assert row.error is not None
    assert row.error["message"] == "the floor broke"


@pytest.mark.parametrize("size", [3, 4])
def test_a_game_that_the_first_move_ends_is_played(tmp_path: Path, size: int) -> None:
    specs = (AgentSpec("good", "good"), AgentSpec("a", "good"))
    result = compare(Plan("WallSurvival-v0", specs, {"board_size": size}, make=make_hostile), 4, folder=tmp_path)
    assert not result.failed
    assert {seat.outcome for row in result.rows.values() for seat in row.seats} >= {0.0, 1.0}


def test_rows_say_how_long_moves_took_and_where(tmp_path: Path) -> None:
    compare(hostile("slow", record=True), 1, folder=tmp_path)
    _, row = (json.loads(line) for line in (tmp_path / EPISODES).read_text().splitlines())
    (seat,) = row["seats"]
    assert seat["seconds"] >= seat["slowest"] == seat["p99"] >= 0.2
    assert seat["overruns"] == 0
    assert "cores; mcts-envs" in row["played_on"]
    assert "numpy" in row["played_on"]


def test_in_one_process_only_the_person_interrupts() -> None:
    plan = hostile("exit", "interrupt", "odd")
    told = [played.row.forfeit["type"] for played in Crew(plan).play(plan.jobs(1)) if played.row.forfeit]
    assert told == ["SystemExit", "KeyboardInterrupt", "Odd"]


def test_an_episode_has_a_limit_too() -> None:
    plan = hostile("hang", limits=Limits(episode=0.5))
    with Crew(plan, 1) as crew:
        (played,) = crew.play(plan.jobs(1))
    assert played.row.forfeit["reason"] == "time"
    assert played.row.forfeit["message"] == "no move within 0.5 s (--episode-limit)"


@pytest.mark.slow
def test_an_episode_that_takes_too_long_is_truncated(tmp_path: Path) -> None:
    plan = hostile("dawdle", record=True, replays=True, limits=Limits(episode=0.25))
    late = Room(plan).play(plan.jobs(1)[0])
    (seat,) = late.row.seats
    assert (late.row.truncated, late.row.fault) == ("no end within 0.25 s (--episode-limit)", None)
    assert 2 <= seat.length <= 5
    assert (seat.outcome, seat.is_success) == (0.0, False)
    assert [move["truncated"] for move in late.transitions] == [False] * (seat.length - 1) + [True]
    assert late.replay
    for reused in (0, 1):  # it counts, and is not played again
        found = compare(plan, 1, workers=1, folder=tmp_path)
        assert [(s.games, s.errors, s.win_rate.value) for s in found.summaries] == [(1, 0, 0.0)]
        assert (found.reused, len(found.truncated)) == (reused, 1)
    assert "1 episodes were truncated: not won, with the return they had; the first: dawdle" in "".join(remarks(found))


def test_those_still_in_a_truncated_game_share_its_point() -> None:
    plan = replace(hostile("dawdle", "good", limits=Limits(episode=0.25)), environment="WallSurvival-v0")
    row = Room(plan).play(plan.jobs(1)[0]).row
    assert (row.truncated, row.fault) == ("no end within 0.25 s (--episode-limit)", None)
    assert [(seat.outcome, seat.is_success) for seat in row.seats] == [(0.5, False)] * 2
    assert row.seats[0].ended == row.seats[1].ended > 0


THREE = """
import time
import numpy as np
from gymnasium.spaces import Box, Discrete
from pettingzoo import ParallelEnv

class Last(ParallelEnv):
    \"\"\"Whoever plays 0 is out; nobody is ever paid.\"\"\"

    metadata, render_mode = {"name": "last"}, None
    possible_agents = ["a", "b", "c"]

    def observation_space(self, agent): return Box(0, 1, (1,))
    def action_space(self, agent): return Discrete(2)

    def reset(self, seed=None, options=None):
        self.agents = self.possible_agents[:]
        return self.told(np.zeros(1, np.float32)), self.told({})

    def told(self, what): return {agent: what for agent in self.agents}

    def step(self, actions):
        found = self.told(np.zeros(1, np.float32)), self.told(0.0)
        out = {agent: action == 0 for agent, action in actions.items()}
        found = *found, out, self.told(False), self.told({})
        self.agents = [agent for agent in self.agents if not out[agent]]
        return found

def out(env): return 0
def slow(env):
    time.sleep(0.06)
    return 1
"""


def test_who_is_left_in_a_truncated_game_of_others_comes_before_who_was_out(tmp_path: Path) -> None:
    bots = tmp_path / "last_of_three.py"
    bots.write_text(THREE)
    players = parse_agents(f"out={bots}:out,slow={bots}:slow,late={bots}:slow")
    plan = Plan(f"{bots}:Last", players, limits=Limits(episode=0.3))
    row = Room(plan).play(Match(players, 0)).row
    assert (row.error, row.forfeit, row.truncated) == (None, None, "no end within 0.3 s (--episode-limit)")
    assert [seat.outcome for seat in row.seats] == [pytest.approx(1 / 3)] * 3
    assert ranks(row.seats) == [3.0, 1.5, 1.5]
    told = remarks(report(plan, tmp_path, {row.key: row}, 1, 1, 1.0))
    assert "1 games were truncated: decided by the rewards so far; the first: out - slow - late, board 0" in "".join(
        told
    )


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs RLIMIT_DATA")
def test_memory_has_a_limit_and_what_was_left_behind_is_nobody_elses_fault(tmp_path: Path) -> None:
    result = compare(hostile("leak", "eat", "good", limits=Limits(memory=1.6)), 2, workers=1, folder=tmp_path)
    assert [(s.games, s.errors) for s in result.summaries] == [(2, 0)] * 3
    assert [s.forfeits for s in result.summaries] == [{}, {"memory": 2}, {}]


@pytest.mark.skipif(os.name != "posix", reason="needs fork")
def test_the_child_of_an_agent_plays_nothing(tmp_path: Path) -> None:
    plan = hostile("fork", "good")
    with Crew(plan, 2) as crew:
        rows = [played.row for played in crew.play(plan.jobs(4))]
    assert len({row.key for row in rows}) == len(rows) == 8
    assert all(row.error is None for row in rows)


def test_limits_are_checked() -> None:
    for limits, message in [
        ({"move": 0}, "move limit"),
        ({"episode": -1}, "episode limit"),
        ({"memory": -1}, "memory"),
    ]:
        with pytest.raises(ValueError, match=f"{message}.* is outside"):
            Limits(**limits)
    for gb in (0, 0.1):
        with pytest.raises(ValueError, match=f"memory limit {gb} GB is less than the 0.5 .*; give 0.5 or more"):
            Limits(memory=gb)
    with pytest.raises(ValueError, match="limits need processes"):
        Crew(hostile("good", limits=Limits(move=1.0)))
    assert hostile("good").configuration() == hostile("good", limits=Limits(move=1.0)).configuration()


# Rows on disk


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"outcome": 7.5}, r"outcome 7\.5 is outside \[0\.0, 1\.0\]"),
        ({"outcome": "1"}, "outcome '1' is str"),
        ({"outcome": None}, r"the outcome of good is null, in a game that is won or lost: it is in \[0, 1\]"),
        ({"length": 3.5}, "length 3.5 is float"),
        ({"length": -1}, "length -1 is outside"),
        ({"is_success": 1}, "is_success 1 is int, not bool"),
        ({"error": "no"}, "error 'no' is str, not dict"),
        ({"error": {"type": 3}}, r"error\['type'\] 3 is int, not str"),
        ({"forfeit": {}}, "forfeit lacks 'message', 'reason', 'type'"),
        ({"last_asked": 7}, r"last_asked 7 is outside \[0, 0\]"),
        ({"transitions": [1, "a"]}, r"transitions\[1\] 'a' is str"),
        ({"outcomes": 1.0}, "unknown row key 'outcomes'; did you mean 'outcome'"),
        ({"agent": None}, "agent None is NoneType, not str"),
        ({"discounted_return": float("nan")}, "discounted_return nan"),
    ],
)
def test_a_damaged_row_is_named(tmp_path: Path, change: dict[str, object], message: str) -> None:
    plan = hostile("good")
    compare(plan, 2, folder=tmp_path)
    file = tmp_path / EPISODES
    first, row, *others = file.read_text().splitlines(keepends=True)
    whole = json.loads(row)
    of_row = change.keys() <= whole.keys()
    damaged = whole | change if of_row else whole | {"seats": [whole["seats"][0] | change]}
    file.write_text("".join([first, json.dumps(damaged) + "\n", *others]))
    with pytest.raises(ValueError, match=f"{EPISODES}, line 2, is not .*{message}.* delete the line"):
        compare(plan, 2, folder=tmp_path)
    file.write_text("".join([first, *others]))
    assert compare(plan, 2, folder=tmp_path).reused == 1


def test_damaged_rows_of_matches_are_named(tmp_path: Path) -> None:
    plan = Plan(
        "WallSurvival-v0", (AgentSpec("good", "good"), AgentSpec("a", "good")), {"board_size": 3}, make=make_hostile
    )
    compare(plan, 1, folder=tmp_path)
    file = tmp_path / EPISODES
    text = file.read_text()
    outcome, seats = '"outcome": 1.0', '"seats": ['
    for old, new, message in [
        (outcome, '"outcome": 21.0', "outcome 21.0"),
        (outcome, '"outcome": null', "the outcome of (good|a) is null"),
        (seats, '"seat": [', "row key"),
    ]:
        assert old in text
        file.write_text(text.replace(old, new))
        with pytest.raises(ValueError, match=message):
            compare(plan, 1, folder=tmp_path)


_FULL = """
import resource
from pathlib import Path
from tests.arena.test_accidents import hostile, compare
resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))
try:
    compare(hostile("good", record=True), 40, folder=Path({folder!r}))
except OSError as error:
    print(error)
"""


@pytest.mark.skipif(os.name != "posix", reason="needs RLIMIT_FSIZE")
def test_a_limit_on_the_size_of_files_is_named_and_the_same_command_goes_on(tmp_path: Path) -> None:
    code = _FULL.format(size=12345, folder=str(tmp_path))
    path = {**os.environ, "PYTHONPATH": str(ROOT)}
    said = subprocess.run([sys.executable, "-c", code], env=path, capture_output=True, text=True, check=True)
    cure = "raise the limit on the size of files (ulimit -f), and the same command, without --fresh, goes on"
    assert f"jsonl cannot be written; {cure}" in said.stdout
    plan = hostile("good", record=True)
    result = compare(plan, 40, folder=tmp_path)
    assert result.reused > 0
    assert result.summaries[0].games == 40


def test_no_room_for_what_processes_share(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.EFBIG, "File too large")

    monkeypatch.setattr(worker._SPAWN, "RawArray", full)
    with pytest.raises(OSError, match=r"no room for 24 bytes that processes share \(File too large\); make room"):
        compare(Plan(ID, (AgentSpec("random", "random"),)), 2, workers=1)
