"""Comparisons on several machines: executors, parts, and folders that are merged; options from a file."""

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from agents.arena import Limits, Plan, compare, parse_agents, parse_meeting, parse_part
from agents.arena.merging import plan_of
from agents.arena.replays import REPLAYS
from agents.arena.running.executing import RayExecutor, play_matches
from agents.arena.storage import EPISODES, TRANSITIONS, Results

ROOT = Path(__file__).resolve().parents[2]
ID = "LaneDefense3x3-v0"


def plan(**more: Any) -> Plan:
    return Plan(ID, parse_agents("random,uniform"), **more)


def facts(report: Any) -> list[tuple[Any, ...]]:
    return [(s.agent, s.games, s.errors, s.win_rate, s.mean_return) for s in report.summaries]


class Flaky(Executor):
    """Fails the first tasks it is given."""

    def __init__(self, failures: int) -> None:
        self.failures, self.tasks = failures, 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.tasks += 1
        future: Future[Any] = Future()
        if self.tasks <= self.failures:
            future.set_exception(OSError("the machine is gone"))
        else:
            future.set_result(fn(*args, **kwargs))
        return future


class Job:
    """What submitit gives: no future, but alike."""

    def __init__(self, result: Any) -> None:
        self._result, self._looks = result, 0

    def done(self) -> bool:
        self._looks += 1
        return self._looks > 1

    def result(self) -> Any:
        return self._result

    def cancel(self) -> None:
        pass


class Batch:
    def submit(self, function: Any, *args: Any) -> Job:
        return Job(function(*args))


@pytest.mark.slow
def test_an_executor_plays_the_same_games(tmp_path: Path) -> None:
    here = compare(plan(), 6, folder=tmp_path / "here")
    with ThreadPoolExecutor(1) as threads:
        there = compare(plan(), 6, folder=tmp_path / "there", executor=threads)
    batch = compare(plan(), 6, folder=tmp_path / "batch", executor=Batch(), workers=2)
    assert facts(here) == facts(there) == facts(batch)


def test_a_task_that_fails_is_given_out_again(tmp_path: Path) -> None:
    flaky = Flaky(2)
    assert compare(plan(), 3, folder=tmp_path / "a", executor=flaky).finished
    with pytest.raises(RuntimeError, match="a task of the executor failed 3 times; at last: the machine is gone"):
        compare(plan(), 3, folder=tmp_path / "b", executor=Flaky(99))
    assert compare(plan(), 3, folder=tmp_path / "b").finished


def test_parts_are_played_apart_and_merged(tmp_path: Path) -> None:
    whole = compare(plan(record=True), 7, folder=tmp_path / "whole")
    parts = [tmp_path / str(number) for number in (1, 2, 3)]
    for number, folder in enumerate(parts, 1):
        report = compare(plan(record=True), 7, folder=folder, part=(number, 3))
        assert not report.finished
    merged = compare(plan(record=True), 7, folder=parts[0], merge=parts)
    assert merged.reused == 14
    assert facts(merged) == facts(whole)
    again = compare(plan(record=True), 7, folder=parts[0], merge=parts)
    assert (again.reused, facts(again)) == (14, facts(whole))
    moves = [sorted((tmp_path / name / "transitions.jsonl").read_text().splitlines()) for name in ("whole", "1")]
    assert moves[0] == moves[1]


@pytest.mark.parametrize("kept", ["none", "half a move", "half of the moves", "moves of others"])
def test_games_whose_moves_were_lost_are_not_taken_but_played(tmp_path: Path, kept: str) -> None:
    whole = compare(plan(record=True), 6, folder=tmp_path / "whole")
    compare(plan(record=True), 6, folder=tmp_path / "part", part=(1, 2))
    file = tmp_path / "part" / TRANSITIONS
    content = file.read_bytes()
    half = content[: len(content) // 2]
    if kept == "none":
        file.unlink()
    else:
        before = half.rfind(b"\n") + 1
        cut = {"half a move": half, "half of the moves": half[:before]}
        file.write_bytes(cut.get(kept, content[before:] + content[:before]))
    merged = compare(plan(record=True), 6, folder=tmp_path / "merged", merge=[tmp_path / "part"])
    assert merged.reused < 6
    assert facts(merged) == facts(whole)
    moves = [sorted((tmp_path / name / TRANSITIONS).read_text().splitlines()) for name in ("whole", "merged")]
    assert moves[0] == moves[1]


def test_games_that_lost_their_replays_are_not_taken_where_those_are_kept(tmp_path: Path) -> None:
    compare(plan(replays=True), 2, folder=tmp_path / "a")
    for file in (tmp_path / "a" / REPLAYS).iterdir():
        file.unlink()
        break
    assert compare(plan(replays=True), 2, folder=tmp_path / "b", merge=[tmp_path / "a"]).reused == 3
    assert len([*(tmp_path / "b" / REPLAYS).iterdir()]) == 4
    assert compare(plan(), 2, folder=tmp_path / "c", merge=[tmp_path / "a"]).reused == 4


def test_the_folder_whose_first_line_is_damaged_is_named(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    for folder in (a, b):
        compare(plan(), 1, folder=folder)
    b.joinpath(EPISODES).write_bytes(b.joinpath(EPISODES).read_bytes()[9:])
    with pytest.raises(ValueError, match=r"b/episodes\.jsonl, line 1, .* is damaged"):
        compare(plan(), 1, folder=a, merge=[b])
    with pytest.raises(ValueError, match=r"b/episodes\.jsonl, line 1, .* is damaged"):
        plan_of([a, b], Limits())


def test_what_does_not_fit_is_not_merged(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    compare(plan(), 2, folder=a)
    compare(plan(seed=1), 2, folder=b)
    with pytest.raises(
        ValueError, match=r"b holds results of another configuration: seed 1, now 0\. Merge what is played alike"
    ):
        compare(plan(), 2, folder=a, merge=[b])
    with pytest.raises(FileNotFoundError, match="holds no results"):
        compare(plan(), 2, folder=a, merge=[tmp_path / "none"])
    b.joinpath(EPISODES).write_text(a.joinpath(EPISODES).read_text())
    assert compare(plan(), 2, folder=a, merge=[b]).reused == 4
    first, row, *others = b.joinpath(EPISODES).read_text().splitlines()
    odd = json.loads(row)
    odd["seats"][0]["length"] += 1
    b.joinpath(EPISODES).write_text("\n".join([first, json.dumps(odd), *others]) + "\n")
    with pytest.raises(
        ValueError, match=r"random, episode 0, is in .*b and .*a and came out otherwise \(length of seat 0"
    ):
        compare(plan(), 2, folder=a, merge=[b])


@pytest.mark.parametrize(("env_id", "settings"), [(ID, {}), ("WallSurvival-v0", {"board_size": 3})])
def test_games_of_the_same_agents_are_taken_from_another_plan(
    tmp_path: Path, env_id: str, settings: dict[str, Any]
) -> None:
    def between(agents: str, **more: Any) -> Plan:
        return Plan(env_id, parse_agents(agents), settings, **more)

    duel = bool(settings)
    compare(between("random,other=mcts:simulations=9,third=uniform"), 3, folder=tmp_path / "a")
    wanted = between("third=uniform,random,other=mcts:simulations=8")
    whole = compare(wanted, 3, folder=tmp_path / "whole")
    merged = compare(wanted, 3, folder=tmp_path / "b", merge=[tmp_path / "a"])
    assert merged.reused == 6  # of random and third, alone or against each other
    assert facts(merged) == facts(whole)
    if duel:
        against = between("third=uniform,random,other=mcts:simulations=9", against="random")
        assert compare(against, 3, folder=tmp_path / "c", merge=[tmp_path / "a"]).reused == 12
    strangers = between("random:seed=1,other=mcts:simulations=8")
    alike = r"a holds games of random, other, third, and none of these agents is the same"
    with pytest.raises(ValueError, match=alike):
        compare(strangers, 3, folder=tmp_path / "d", merge=[tmp_path / "a"])
    first, *rows = (tmp_path / "a" / EPISODES).read_text().splitlines()
    said = json.loads(first)
    del said["configuration"]["agents"], said["configuration"]["version"]
    (tmp_path / "a" / EPISODES).write_text("\n".join([json.dumps(said), *rows]) + "\n")
    with pytest.raises(ValueError, match="a holds results of another configuration: version null, now"):
        compare(wanted, 3, folder=tmp_path / "b", merge=[tmp_path / "a"])


@pytest.mark.slow
def test_folders_say_by_which_plan_they_are_merged(tmp_path: Path) -> None:
    line = (ID, "--agents", "random,again=random", "--episodes", "4", "--seed", "3", "--workers", "1")
    for part in ("1", "2"):
        done = command(tmp_path, *line, "--part", f"{part}/2", "--out", f"part{part}")
        assert done.returncode == 0, done.stderr
    merge = ("--merge", "part1", "--merge", "part2", "--workers", "1")
    done = command(tmp_path, *merge, "--out", "both")
    assert done.returncode == 0, done.stderr
    assert "4 episodes of seed 3" in done.stdout
    assert "8 episodes were there from before" in done.stdout
    more = command(tmp_path, *merge, "--out", "both", "--episodes", "6")
    assert (more.returncode, "6 episodes of seed 3" in more.stdout) == (0, True), more.stderr
    file = tmp_path / "part2" / EPISODES
    file.write_text(file.read_text().replace('"seed": 3, "budget"', '"seed": 4, "budget"', 1))
    refused = command(tmp_path, *merge, "--out", "other")
    assert refused.returncode == 2
    assert "part2 holds results of another configuration: seed 4, now 3. Leave it out" in refused.stderr
    assert not (tmp_path / "other" / EPISODES).exists()
    assert "ID is missing" in command(tmp_path, "--agents", "random").stderr
    told = command(tmp_path, *merge, "--seed", "4", "--record").stderr
    assert "--seed, --record beside --merge alone: the folders say it; leave it out" in told


@pytest.mark.parametrize(
    ("id", "agents"),
    [
        ("Bomber-v0", "random,uniform,random,random"),
        ("BomberTeam-v0", "uniform,random,random,uniform"),
        ("BomberTeam-v0", "uniform,random,uniform,random"),
        ("BomberTeam-v0", "uniform,random"),
        ("BomberTeam-v0", "uniform,random,again=random"),
    ],
)
def test_a_folder_says_who_sits_several_times_in_its_line_up(id: str, agents: str, tmp_path: Path) -> None:
    played = Plan(id, parse_meeting(agents, None)[0])
    Results(tmp_path, played.configuration()).close()
    found, _ = plan_of([tmp_path], Limits())
    assert found.configuration() == played.configuration()
    assert [match.key for match in found.jobs(3)] == [match.key for match in played.jobs(3)]


def test_parts_are_read() -> None:
    assert (parse_part(None), parse_part("2/4")) == ((1, 1), (2, 4))
    for text in ("0/4", "5/4", "2", "a/b"):
        with pytest.raises(ValueError, match="write 2/4 for the second of four"):
            parse_part(text)


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, str(ROOT / "scripts/compare.py"), *arguments]
    path = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "160", "NO_COLOR": "1", "TERM": "dumb"}
    return subprocess.run(line, cwd=folder, env=path, capture_output=True, text=True, check=False)


def test_a_date_in_a_file_is_what_is_written_there() -> None:
    sys.path.insert(0, str(ROOT / "scripts"))
    import _config
    import yaml

    given = yaml.safe_load("out: 2026-11-23\nset: {since: 2026-11-23, n: 2, some: [2026-11-23]}\nepisodes: 3.0")
    assert _config._value(given["out"], Path | None) == "2026-11-23"
    assert _config._value(given["set"], list[str] | None) == ["since=2026-11-23", "n=2", 'some=["2026-11-23"]']
    assert _config._value(given["episodes"], int) == 3
    assert _config._value(2**63 - 1, int) == 2**63 - 1


def test_options_come_from_a_file_and_what_is_typed_goes_before_it(tmp_path: Path) -> None:
    (tmp_path / "match.yml").write_text(
        f"environment: {ID}\nagents: [random, again=random]\nepisodes: 2\nbudget: {{simulations: 5}}\nworkers: 1\n"
        "set: {illegal: raise}\nmove-limit: 5\nout: there\nrecord: true\n"
    )
    done = command(tmp_path, "--config", "match.yml", "--episodes", "3")
    assert done.returncode == 0, done.stderr
    assert "3 episodes of seed 0" in done.stdout
    assert "illegal=raise" in done.stdout
    assert (tmp_path / "there/transitions.jsonl").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("episode: 3", r"match.yml: unknown key 'episode'; did you mean 'episodes'"),
        ("episodes: many", r'match.yml, episodes: "many" is not an integer; write it as after --episodes'),
        ("episodes: 2.7", "match.yml, episodes: 2.7 is not an integer"),
        ("workers: .inf", "match.yml, workers: Infinity is not an integer"),
        ("seed: 2026-11-23", 'match.yml, seed: "2026-11-23" is not an integer'),
        ("record: 3", "match.yml, record: 3 is neither true nor false"),
        ("seed:", "match.yml, seed: null is not an integer"),
        ("- a\n- b", "match.yml holds no keys; write options as lines"),
        ("episodes: 2\nepisodes: 3", "match.yml has episodes twice, of which the last alone would count"),
        ("a: [", "match.yml is no YAML"),
        (None, "match.yml cannot be read"),
    ],
)
def test_mistakes_in_a_file_name_file_and_key(tmp_path: Path, text: str | None, message: str) -> None:
    import typer

    sys.path.insert(0, str(ROOT / "scripts"))
    import _config
    import compare as script

    app = typer.Typer(add_completion=False)
    app.command()(script.main)
    context = typer.Context(typer.main.get_command(app))  # type: ignore[arg-type]
    if text is not None:
        (tmp_path / "match.yml").write_text(text)
    with pytest.raises(typer.BadParameter, match=message):
        _config.read(context, tmp_path / "match.yml")


def _killed_once(marker: str, fn: Any, *args: Any) -> Any:
    """Play; the first few tasks are given to workers that are killed in the middle of them."""
    file = Path(marker)
    played = fn(*args)
    if not file.exists() and args[1][0].episode > 3:
        file.write_text(str(os.getpid()))
        os.kill(os.getpid(), signal.SIGKILL)
    return played


@pytest.mark.slow
def test_ray_plays_the_same_games_though_a_worker_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False)

    class Deadly(RayExecutor):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            return super().submit(_killed_once, str(tmp_path / "killed"), fn, *args)

    try:
        there = compare(plan(), 200, folder=tmp_path / "ray", workers=3, executor=Deadly())
    finally:
        ray.shutdown()
    assert int((tmp_path / "killed").read_text()) != os.getpid()
    assert facts(there) == facts(compare(plan(), 200, folder=tmp_path / "here"))


def test_tasks_are_functions_of_a_plan_and_matches() -> None:
    first = plan().jobs(1)
    assert [played.row.key for played in play_matches(plan(), first)] == [match.key for match in first]


_MANY_GAMES = """
import resource, sys
from concurrent.futures import Executor, Future
from pathlib import Path
from agents.arena import Limits, Plan, compare, parse_agents
from agents.arena.rows import Played, blank_row

plan = Plan("LaneDefense3x3-v0", parse_agents("random,uniform"))

class Quick(Executor):
    def submit(self, fn, /, plan, matches):
        done = Future()
        done.set_result([Played(blank_row(match, plan.seed), []) for match in matches])
        for played in done.result():
            played.row.seats[0].discounted_return = float(played.row.episode % 7)
        return done

def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**10 if sys.platform == "linux" else 2**20)

seen = []
first = lambda found: seen or seen.append(most())
report = compare(plan, 5000, folder=Path(sys.argv[1]), executor=Quick(), watch=first)
assert report.finished and sum(s.games for s in report.summaries) == 10_000
assert "scipy.stats" not in sys.modules
print(round(most() - seen[0]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="it has no resource module")
def test_ten_thousand_games_take_no_more_than_thirty_megabytes(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _MANY_GAMES, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert int(done.stdout) <= 30
