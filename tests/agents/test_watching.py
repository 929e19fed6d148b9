"""Games between agents as pages: what is written down, what a search shows of itself, and the command."""

import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import gymnasium as gym
import numpy as np
import play as playing
import pytest
import typer
import watch as watching
from _following import comparison, games
from _live import serving
from connect_four import GAME as CONNECT_FOUR  # registers it
from typer.testing import CliRunner

import agents
import mcts_envs  # noqa: F401
from agents.arena import Plan, compare, parse_meeting
from agents.arena.rows import Match
from agents.arena.running.room import Room
from agents.arena.storage import EPISODES
from agents.base import view_of
from agents.inspection.showing import pruned, search_data
from agents.planner import Planner
from agents.watching import fitted, recorded, replayed, seated, watch
from mcts_envs.page import html
from mcts_envs.replay import Replay

ROOT = Path(__file__).parents[2]


def plan_of(id, names, seed=0, record=False, **settings):
    return Plan(id, parse_meeting(names, None)[0], settings, seed, record=record)


def decisions_of(document):
    return [each for frame in document["frames"] for each in frame["decisions"]]


GAMES = [
    ("LaneDefense3x3-v0", "mcts:simulations=30", {}),
    ("WallSurvival-v0", "mcts:simulations=30,alpha_beta:max_steps=500", {"board_size": 4}),
    ("BomberDuel-v0", "rhea:simulations=20,scripted", {"max_steps": 25}),
    ("BomberTeam-v0", "one_step:samples=4,random", {"max_steps": 10}),
    ("Football1-v0", "halving:simulations=30,scripted", {"halves": 1, "turns": 2}),
]


@pytest.mark.parametrize(("id", "names", "settings"), GAMES)
def test_it_is_the_game_that_a_comparison_plays(id, names, settings):
    plan, episode = plan_of(id, names, 3, record=True, **settings), 2
    told = []
    document = watch(plan, episode, lambda document: told.append(len(document["frames"])))
    match = Match(seated(plan.agents, plan.teams), episode)
    row, transitions, _ = Room(plan).play(match)
    assert row.error is None
    assert [(each.get("seat", 0), each["action"]) for each in transitions] == [
        (each["player"], each["action"]) for each in decisions_of(document)
    ]
    *before, last = document["frames"]
    assert (told[-1], len(told)) == (len(document["frames"]), len(transitions) + 1)
    assert not any(frame["over"] for frame in before)
    assert last["over"]
    assert document["title"] == f"{id}, seed 3, episode 2"
    assert last["points"] == [seat.outcome for seat in row.seats]
    assert last["returns"] == [seat.episode_return for seat in row.seats]
    assert [each["agent"] for each in document["players"]] == [spec.label for spec in match.agents]
    assert all(sorted(each["player"] for each in frame["decisions"]) == frame["turn"] for frame in before)
    json.dumps(document, allow_nan=False)


OWN = """
class Ahead:
    '''Plays the action after which it would have most, as far as it is shown, and leaves all as that has left it.'''

    def act(self, env):
        game, rewards = env.unwrapped, {}
        before = game.clone_state()
        for action in game.legal_actions().tolist():
            game.restore_state(before)
            rewards[action] = game.step(action)[1]
        self.last_result = type("Spent", (), {"simulations": len(rewards), "steps": len(rewards)})
        return max(rewards, key=rewards.get)


class Illegal:
    def act(self, env):
        masks = env.unwrapped.action_masks()
        return int(masks.argmin())
"""


@pytest.fixture
def own(tmp_path):
    file = tmp_path / "own_bots.py"
    file.write_text(OWN)
    return file


def test_agents_of_ones_own_are_shown_what_a_comparison_shows_them(own):
    plan = plan_of("LaneDefense3x3-v0", f"{own}:Ahead", 1)
    document = watch(plan)
    row = Room(plan).play(Match(plan.agents, 0)).row
    assert document["frames"][-1]["returns"] == [row.seats[0].episode_return]
    assert len(recorded(plan, 0, document).actions) == row.seats[0].length
    first = decisions_of(document)[0]["search"]
    assert (first["simulations"] > 1, first["action"], first["value"]) == (True, None, None)
    assert html(document)
    plan = plan_of("LaneDefense3x3-v0", f"{own}:Illegal", 1)
    assert Room(plan).play(Match(plan.agents, 0)).row.forfeit["reason"] == "illegal"
    with pytest.raises(ValueError, match="is illegal; legal now"):
        watch(plan)


def test_each_search_says_what_it_found_and_scripts_say_nothing():
    document = watch(plan_of("WallSurvival-v0", "mcts:simulations=60,greedy", 1, board_size=5))
    for frame in document["frames"][:-1]:
        (each,) = frame["decisions"]
        search = each.get("search")
        legal = each["player"] == 0 and search is not None
        assert (search is not None) == legal
        if search:
            total = sum(row["visits"] for row in search["actions"]) + search["omitted"]["visits"]
            assert search["action"] == each["action"] == search["line"][0]["action"] == search["actions"][0]["action"]
            assert total == search["simulations"] == search["tree"]["visits"] - 1 or total == 60
            assert sum(cell["visits"] for cell in search["heat"]) == total
            assert search["line"][0]["place"] == each["place"] is not None
            assert [step["player"] for step in search["line"]] == [number % 2 for number in range(len(search["line"]))]
    clocks = np.array([frame["clocks"] for frame in document["frames"]])
    assert (np.diff(clocks, axis=0) >= 0).all()
    assert clocks[-1, 0] > 0


def test_who_sits_where():
    a, b, c, d = parse_meeting("mcts,random,scripted,rhea", None)[0]
    teams = ((0, 2), (1, 3))
    assert seated([a], teams) == (a, a, a, a)
    assert seated([a, b], teams) == (a, b, a, b)
    assert seated([a, b, c, d], teams) == (a, b, c, d)
    with pytest.raises(ValueError, match="3 agents for 4 seats; give 1 or 2 or 4"):
        seated([a, b, c], teams)


def test_one_seat_of_a_game_for_several():
    document = watch(plan_of("WallSurvival-v0", "greedy", 2, board_size=4, seat=1, opponent="random"))
    assert [each["agent"] for each in document["players"]] == ["random", "greedy"]
    assert {each["player"] for each in decisions_of(document)} == {1}
    assert "points" not in document["frames"][-1]


def test_a_game_of_ones_own_is_shown_by_its_text():
    document = watch(plan_of("ConnectFour-v0", "mcts:simulations=40,random"))
    assert CONNECT_FOUR.picture is None
    assert {len(frame["text"].split("\n")) for frame in document["frames"]} == {6}
    assert all(row["place"] is None for row in document["frames"][0]["decisions"][0]["search"]["actions"])
    assert fitted(document)


def test_a_tree_keeps_its_most_visited():
    env = gym.make("mcts_envs/LaneDefense3x3-v0")
    env.reset(seed=0)
    tree = agents.make("mcts", simulations=500).search(env).tree.to_json(6)

    def count(node):
        actions = [each for choice in node["choices"] for each in choice["actions"]]
        return len(actions) + sum(count(outcome) for each in actions for outcome in each["outcomes"])

    def complete(node):
        for choice in node["choices"]:
            assert len(choice["actions"]) + choice["omitted"] == choice["tried"]
            for each in choice["actions"]:
                for outcome in each["outcomes"]:
                    complete(outcome)

    small = pruned(tree, 20)
    assert 0 < count(small) <= 20 < count(tree)
    complete(small)
    assert pruned(tree, 10**6)["visits"] == tree["visits"]


def test_a_long_game_is_cut_down_to_its_size():
    document = watch(plan_of("LaneDefense3x3-v0", "mcts:simulations=200"))
    whole = html(document)
    assert fitted(document, len(whole)) == whole
    assert len(fitted(document, len(whole) - 1)) < len(whole)
    bare = fitted(document, 1)
    assert len(bare) < len(fitted(document, len(whole) - 1))


def test_a_result_of_ones_own_needs_only_an_action():
    class First(Planner):
        def plan(self, view, clock):
            clock.spend(1, 0)
            return type("Bare", (), {"action": int(view.legal_actions()[0])})()

    env = gym.make("mcts_envs/LaneDefense3x3-v0")
    env.reset(seed=0)
    assert search_data(First().search(env), view_of(env))["value"] is None


def command(*words, script=watching):
    app = typer.Typer()
    app.command()(script.main)
    done = CliRunner().invoke(app, words)
    return done.exit_code, done.stdout, done.stderr


def test_the_command_writes_a_page(tmp_path):
    file, kept = tmp_path / "deep" / "game.html", tmp_path / "kept.json"
    code, said, _ = command("LaneDefense3x3-v0", "--agents", "random", "--out", str(file), "--replay", str(kept))
    assert code == 0
    assert said.startswith(f"{kept}: the game as a replay\n")
    assert kept.exists()
    assert re.fullmatch(r": \d+ moves, \d\d KB; open it in a browser\n", said.partition(str(file))[2])
    assert file.read_text(encoding="utf-8").startswith("<!doctype html>")
    code, _, complaint = command("WallSurvival-v0", "--agents", "a,b", "--out", str(tmp_path))
    assert (code, complaint.count("\n")) == (2, 1)
    assert "is a folder; give a file" in complaint


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C cannot be sent to one process there")
def test_a_page_is_served_until_it_is_interrupted(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["LaneDefense3x3-v0", "--agents", "random", "--out", tmp_path / "game.html", "--live", "--no-browser"]
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, ROOT / "scripts/watch.py", *words, "--port", str(port)], **streams) as run:
        try:
            address = run.stdout.readline().removeprefix("live: ").strip()
            assert re.fullmatch(rf"http://127\.0\.0\.1:{port}/[\w-]{{22}}/", address)
            assert " moves, " in run.stdout.readline()
            assert run.stdout.readline() == "the page is served until Ctrl-C\n"
            assert fetched(address)[0] == 200
            run.send_signal(signal.SIGINT)
            assert run.wait(60) == 0
        finally:
            run.kill()


@pytest.mark.parametrize(("script", "words"), [(watching, ["--agents", "random", "--live"]), (playing, [])])
def test_a_port_in_use_is_named(tmp_path, monkeypatch, script, words):
    monkeypatch.chdir(tmp_path)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        words = ["LaneDefense3x3-v0", *words, "--no-browser", "--port", str(port)]
        code, _, complaint = command(*words, script=script)
    assert code == 2
    assert re.search(rf"port {port} cannot be had \(.+\); give another --port", complaint)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["WallSurvival-v0", "--set", "opponent=random", "--replay", "{}/kept.json"], "cannot be kept as replays"),
        (["WallSurvival-v0", "--set", "opponent=random", "--out", "{}/game.gif"], "cannot be kept as replays"),
        (["WallSurvival-v0", "--out", "{}/game.gif", "--fps", "0"], "fps 0.0 is outside"),
        (["WallSurvival-v0", "--out", "{}/game.webm"], "neither a page, .html, nor a film, .gif or .mp4"),
        (["{}/game.json", "--out", "{}/game.mp4", "--fps", "nan"], "fps nan is"),
        (["{}/game.json", "--set", "board_size=5", "--seed", "0"], "settings and seed; leave --set, --seed out"),
        (["{}/game.json", "--episode", "1"], "leave --episode out"),
        (["{}/game.json", "--budget", "simulations=5"], "unless --agents names who; leave --budget out"),
        (["{}/game.json", "--agents", "mcts,greedy"], "names 2 agents; of a saved game one says"),
        (["{}/none.json"], r"there is no saved game .*none\.json; give the path of one, .* --replay"),
        (["{}/results", "--live", "--agents", "mcts", "--out", "x.html"], "comparison, .*; leave --agents, --out out"),
        (["WallSurvival-v0", "--seed", "-5"], "Invalid value for '--seed'"),
        (["WallSurvival-v0", "--port", "8000"], "only --live serves a page; leave --port out"),
    ],
)
def test_what_cannot_be_done_is_told_before_anything_is_played(tmp_path, monkeypatch, capsys, words, message):
    def play(game, host):
        raise AssertionError("it is played")

    Replay("WallSurvival-v0").save(tmp_path / "game.json")
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / EPISODES).touch()
    monkeypatch.setattr(watching, "play", play)
    monkeypatch.setattr(sys, "argv", ["watch.py", *(word.format(tmp_path) for word in words)])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        watching.typer.run(watching.main)
    assert ended.value.code == 2
    assert re.search(message, capsys.readouterr().err)


def fetched(address, host=None):
    request = urllib.request.Request(address, headers={} if host is None else {"Host": host})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, b""


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit, ZeroDivisionError])
def test_a_game_that_is_interrupted_is_kept_as_far_as_it_went(tmp_path, capsys, end):
    plan = plan_of("WallSurvival-v0", "random,greedy", board_size=5)
    whole = watch(plan)

    def interrupted(tell):
        def until_the_third(document):
            tell(document)
            if len(document["frames"]) == 3:
                raise end

        return watch(plan, 0, until_the_third)

    document, failed = watching.play(interrupted, None)
    assert isinstance(failed, end) if end is not KeyboardInterrupt else failed is None
    assert "as far as it was played" in capsys.readouterr().err
    files = tmp_path / "game.html", tmp_path / "game.json"
    watching.write(document, lambda document: recorded(plan, 0, document), *files, 4.0)
    assert len(document["frames"]) == 3
    first = [[each["action"] for each in frame["decisions"]] for frame in whole["frames"][:2]]
    assert [[action for action in step if action is not None] for step in Replay.load(files[1]).actions] == first
    with pytest.raises(end):
        watching.play(lambda tell: (_ for _ in ()).throw(end), None)


def test_a_game_is_followed_while_it_is_played():
    seen, frames, codes = 0, [], []
    with serving() as live:
        codes.append(fetched(live.address)[0])

        def tell(document):
            nonlocal seen
            live.document = document
            code, body = fetched(f"{live.address}frames?seen={seen}")
            codes.append(code)
            news = json.loads(body)
            seen, frames[news["first"] :] = news["seen"], news["frames"]

        document = watch(plan_of("BomberDuel-v0", "random", max_steps=5), tell=tell)
        assert frames == json.loads(json.dumps(document["frames"]))
        assert fetched(f"{live.address}frames?seen={seen}")[0] == 204
        assert b"connect-src 'self'" in fetched(live.address)[1]
        assert codes == [503] + [200] * (len(codes) - 1)
        wrong = live.address.replace(live.token, "x" * 22)
        for address in (wrong, f"{wrong}frames?seen=0", f"{live.address}../secret", f"{live.address}frames/"):
            assert fetched(address)[0] == 404
        assert fetched(live.address, "evil.example")[0] == 404
        assert [fetched(f"{live.address}frames?seen={what}")[0] for what in ("-1", "x", "9" * 10)] == [400] * 3


def test_a_page_that_is_closed_while_it_loads_is_nobodys_business(capfd):
    with serving() as live:
        live.document = {"title": "", "players": [], "frames": [{"text": "x" * 20_000_000, "decisions": []}]}
        with socket.create_connection(("127.0.0.1", live.server_port)) as page:
            page.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            page.sendall(f"GET /{live.token}/frames?seen=0 HTTP/1.1\r\nHost: {live.host}\r\n\r\n".encode())
            assert page.recv(8) == b"HTTP/1.0"
        assert fetched(live.address)[0] == 200
        time.sleep(0.5)
    assert capfd.readouterr().err == ""


def test_games_of_a_comparison_are_followed_one_after_the_other(tmp_path):
    plan = Plan("WallSurvival-v0", parse_meeting("random,greedy", None)[0], {"board_size": 4}, replays=True)
    compare(plan, 1, folder=tmp_path)
    assert comparison(tmp_path / "replays") == tmp_path
    followed = games(comparison(tmp_path / EPISODES), between=0.01)
    documents = [next(followed)]
    compare(plan, 3, folder=tmp_path)
    documents.append(next(followed))
    assert [each["game"] for each in documents] == [1, 2]
    titles = [each["title"] for each in documents]
    assert titles == [
        "WallSurvival-v0: greedy, random, board 0 (2 games finished, random 0.0%, greedy 100.0%)",
        "WallSurvival-v0: greedy, random, board 2 (6 games finished, random 0.0%, greedy 100.0%)",
    ]
    assert documents[0]["frames"][-1]["points"]
    with serving() as live:
        live.document = documents[1]
        code, body = fetched(f"{live.address}frames?seen=7&game=1")
        news = json.loads(body)
        assert (code, news["document"]) == (200, json.loads(json.dumps(documents[1])))
        assert fetched(f"{live.address}frames?seen={news['seen']}&game=2")[0] == 204
        assert fetched(f"{live.address}frames?seen=1&game=x")[0] == 400


@pytest.mark.slow
def test_a_comparison_of_a_game_of_ones_own_is_followed_with_its_file(tmp_path):
    root = Path(__file__).parents[2]
    plan = Plan(
        f"{root / 'examples' / 'pig.py'}:Pig-v0", parse_meeting("random,x=random", None)[0], {"goal": 5}, replays=True
    )
    compare(plan, 1, folder=tmp_path)
    code = "import sys; from _following import comparison, games; print(next(games(comparison(sys.argv[1])))['title'])"
    environment = {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{root / 'scripts'}"}
    for source, status, said in ((f"{root / 'examples' / 'pig.py'}:", 0, "random"), ("", 1, "Pig-v0")):
        line = [sys.executable, "-c", code, f"{source}{tmp_path}"]
        done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=120)
        assert (done.returncode, said in done.stdout + done.stderr) == (status, True), done.stderr


def test_a_comparison_that_cannot_be_followed_says_why(tmp_path):
    with pytest.raises(FileNotFoundError, match="is no folder of a comparison: it has no episodes"):
        comparison(tmp_path)
    compare(Plan("LaneDefense3x3-v0", parse_meeting("random", None)[0]), 1, folder=tmp_path)
    with pytest.raises(ValueError, match="no replays to show; the same comparison with --replays keeps games"):
        next(games(tmp_path))
    for more, said in (((), "--live follows it"), (("--live", "--no-browser"), "no replays to show")):
        code, _, complaint = command(str(tmp_path), *more)
        assert (code, said in complaint, complaint.count("\n")) == (2, True, 1)


def test_of_what_else_lies_in_results_it_says_what_it_is(tmp_path):
    compare(Plan("CartPole-v1", parse_meeting("random", None)[0]), 1, folder=tmp_path / "cart")
    with pytest.raises(ValueError, match="no replays to show"):
        next(games(tmp_path / "cart"))
    plan = Plan("WallSurvival-v0", parse_meeting("random,greedy", None)[0], {"board_size": 4}, replays=True)
    compare(plan, 1, folder=tmp_path)
    Replay("WallSurvival-v0").save(tmp_path / "replays" / "mine.json")
    title = "WallSurvival-v0: greedy, random, board 0 (2 games finished, random 0.0%, greedy 100.0%)"
    assert next(games(tmp_path))["title"] == title
    rows = tmp_path / EPISODES
    rows.write_text(rows.read_text(encoding="utf-8").replace('{"episode"', '{"chapter"', 1))
    with pytest.raises(ValueError, match=r"episodes.jsonl, line 2, is not what a comparison writes"):
        next(games(tmp_path))


def test_of_a_large_tree_the_most_visited_actions_are_shown():
    env = gym.make("mcts_envs/WallSurvival-v0", board_size=4)
    env.reset(seed=0)
    tree = agents.make("mcts", simulations=3000).search(env).tree
    visits = sorted((edge.visits for edge in tree.root.edges), reverse=True)
    assert tree.visits_of_rank(1) == visits[0]
    assert tree.visits_of_rank(10**6) == 0
    ranked = [tree.visits_of_rank(rank) for rank in range(1, 200)]
    assert ranked == sorted(ranked, reverse=True)
    assert ranked[len(visits) - 1] >= visits[-1]


def test_a_saved_game_is_shown_and_an_agent_says_what_it_thinks(tmp_path):
    replay = Replay("WallSurvival-v0", seed=5, players=["anna", "ben"], board_size=4)
    while not replay.over:
        replay.play({player: int(replay.view(player).legal_actions()[0]) for player in replay.choosing})
    document = replayed(replay, agents.make("mcts", simulations=20))
    assert [each["agent"] for each in document["players"]] == ["anna", "ben"]
    assert len(document["frames"]) == len(replay.actions) + 1
    assert document["frames"][-1]["points"] == replay.outcome
    done = [{each["player"]: each["action"] for each in frame["decisions"]} for frame in document["frames"][:-1]]
    assert done == [{p: action for p, action in enumerate(step) if action is not None} for step in replay.actions]
    assert document["frames"][0]["decisions"][0]["search"]["simulations"] == 20
    assert not any("search" in each for each in decisions_of(replayed(replay)))
    with pytest.raises(ValueError, match=r"random.* has searched nowhere in this game; name an agent that does"):
        replayed(replay, agents.make("random"))
    replay.save(tmp_path / "game.json")
    code, said, complaint = command(str(tmp_path / "game.json"), "--out", str(tmp_path / "game.html"))
    assert (code, complaint) == (0, "")
    assert f": {len(replay.actions)} moves" in said
    (tmp_path / "game.json").write_text("{}")
    code, _, complaint = command(str(tmp_path / "game.json"), "--out", str(tmp_path / "game.html"))
    assert (code, complaint.count("\n")) == (2, 1)
    assert "is no replay" in complaint
    code, _, complaint = command(str(sys.modules["connect_four"].__file__))
    assert (code, "is a file without an id" in complaint) == (2, True)


class Remembers:
    last_result = None

    def act(self, view):
        if self.last_result is None:
            self.last_result = agents.make("mcts", simulations=20).search(view)
        return self.last_result.action


def test_an_analyst_that_did_not_search_says_nothing():
    replay = Replay("WallSurvival-v0", seed=5, board_size=4)
    for _ in range(3):
        replay.play({player: int(replay.view(player).legal_actions()[0]) for player in replay.choosing})
    assert ["search" in each for each in decisions_of(replayed(replay, Remembers()))] == [True, False, False]


@pytest.mark.slow
def test_a_saved_game_of_ones_own_is_watched_with_the_file_that_registers_it(tmp_path):
    def started(saved):  # in a process of its own, where nothing is registered yet
        line = [sys.executable, ROOT / "scripts/watch.py", saved, "--out", tmp_path / "game.html"]
        return subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)

    file = tmp_path / "game.json"
    Replay("ConnectFour-v0").save(file)
    unknown, known = started(file), started(f"{ROOT / 'examples' / 'connect_four.py'}:{file}")
    assert (unknown.returncode, f"import that first: my_game.py:{file}" in unknown.stderr) == (2, True)
    assert (known.returncode, "0 moves" in known.stdout) == (0, True)
