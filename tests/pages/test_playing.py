"""Sessions in which people and agents sit, the server that shows them, and the terminal."""

import asyncio
import json
import threading
import time

import pytest

from agents.playing import text_play
from agents.playing.session import Session
from mcts_envs.replay import Replay, seal

WALL = {"board_size": 4}


@pytest.fixture
def session():
    made = Session("WallSurvival-v0", ["human", "greedy"], seed=2, hint="mcts:simulations=20", offered=["mcts"], **WALL)
    yield made
    made.close()


def until(session, done, seconds=60.0):
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end
        session.wait(session.since()["serial"], 0.2)


def choose_first(session):
    option = session.since()["frames"][-1]["legal"][0]
    step = len(session.replay.actions)
    session.ask({"do": "choose", "player": option["player"], "action": option["action"], "step": step})


def first_of(session):
    """Return the name of the first legal action."""
    return session.since()["frames"][-1]["legal"][0]["name"]


class TestSession:
    @pytest.mark.parametrize(
        ("id", "seats"),
        [
            ("LaneDefense3x3-v0", ["human"]),
            ("WallSurvival-v0", ["human", "greedy"]),
            ("BomberDuel-v0", ["rule_based", "human"]),
            ("Football1-v0", ["human", "scripted"]),
        ],
    )
    def test_a_whole_game(self, id, seats):
        session = Session(id, seats, seed=1)
        try:
            for _ in range(2000):
                until(session, lambda: session.people() or session.replay.over)
                if session.replay.over:
                    break
                choose_first(session)
            news = session.since()
            assert news["frames"][-1]["points"] == session.replay.outcome
            assert len(news["frames"]) == len(session.replay.actions) + 1
        finally:
            session.close()

    def test_what_is_taken_back_was_never_played(self, session):
        before = session.replay.hashes[0]
        choose_first(session)
        until(session, session.people)
        epoch = session.since()["epoch"]
        session.ask({"do": "undo"})
        assert session.replay.hashes == [before]
        assert session.since(epoch, 3)["epoch"] != epoch
        assert session.people() == [0]
        with pytest.raises(ValueError, match="nothing to take back"):
            session.ask({"do": "undo"})

    @pytest.mark.parametrize("settings", [{"view": 2}, {}])
    def test_a_person_sees_only_what_its_player_may_know(self, settings):
        settings = {**settings, "max_steps": 6}
        session = Session("Bomber-v0", ["random", "human", "mcts:simulations=5", "random"], seed=1, **settings)
        try:
            while not session.replay.over:
                until(session, lambda: session.people() or session.replay.over)
                now = session.since()["frames"][-1]
                game, state = session.replay.game, session.replay.state
                assert now["picture"] == game.picture(state, viewer=1, seat=1).to_svg() != game.picture(state).to_svg()
                told = [each["player"] for frame in session.since()["frames"] for each in frame["decisions"]]
                assert set(told) <= {1}
                choose_first(session)
                until(session, lambda: session.people() or session.replay.over)
            *_, before, last = session.since()["frames"]
            assert last["picture"] == session.replay.game.picture(session.replay.state).to_svg()
            assert {each["player"] for each in before["decisions"]} >= {1, 2}
            assert any("search" in each for each in before["decisions"])
        finally:
            session.close()

    def test_a_person_in_a_terminal_sees_only_what_its_player_may_know(self):
        session = Session("BomberTeam-v0", ["random", "human", "random", "random"], seed=1, max_steps=4)
        lines, said = [], iter(["0", "0", "0", "0", "quit"])
        try:
            text_play.play(session, read=lambda prompt: next(said), write=lines.append)
        finally:
            session.close()
        boards = [line for line in lines if "step " in line]
        assert ["as player 1 sees it" in board for board in boards] == [True] * 4 + [False]
        assert not any(line.startswith("random: ") for line in lines[: lines.index(boards[3])])

    def test_several_people_at_one_screen_see_everything(self):
        session = Session("BomberTeam-v0", ["random", "human", "human", "random"], seed=1)
        try:
            shown = session.since()["frames"][0]["picture"]
            assert (session.viewer, shown) == (None, session.replay.game.picture(session.replay.state).to_svg())
        finally:
            session.close()

    def test_those_who_choose_at_once_do_not_see_each_other(self):
        session = Session("Bomber-v0", ["random", "human", "random", "human"], seed=1)
        try:
            until(session, lambda: len(session._now) == 2)
            assert session.people() == [1, 3]
            choose_first(session)
            (frame,) = session.since()["frames"]
            assert frame["decisions"] == []
            assert {each["player"] for each in frame["legal"]} == {3}
            choose_first(session)
            assert len(session.since()["frames"][0]["decisions"]) == 4
        finally:
            session.close()

    def test_a_choice_that_waits_for_others_is_taken_back(self):
        session = Session("Bomber-v0", ["human", "random", "human", "random"], seed=1)
        try:
            for steps in (0, 1):
                until(session, lambda: len(session._now) == 2)
                hashes, before = list(session.replay.hashes), session.since()["frames"][-1]["legal"]
                choose_first(session)
                assert session.people() == [2]
                session.ask({"do": "undo"})
                assert session.people() == [0, 2]
                assert (session.replay.hashes, session.since()["frames"][-1]["legal"]) == (hashes, before)
                assert len(session.replay.actions) == steps
                choose_first(session)
                choose_first(session)
            session.ask({"do": "undo"})
            assert len(session.replay.actions) == 1
        finally:
            session.close()

    def test_a_second_click_plays_nothing(self):
        session = Session("LaneDefense3x3-v0", ["human"])
        try:
            option = session.since()["frames"][-1]["legal"][-1]
            asked = {"do": "choose", "player": 0, "action": option["action"], "step": 0}
            session.ask(asked)
            with pytest.raises(ValueError, match="that was for step 0; the game is at 1"):
                session.ask(asked)
        finally:
            session.close()

    def test_news_alone_are_told(self, session):
        first = session.since()
        assert session.since(first["epoch"], 1)["first"] == 0
        choose_first(session)
        until(session, session.people)
        news = session.since(first["epoch"], 1)
        assert (news["first"], len(news["frames"])) == (0, 3)
        assert session.since(first["epoch"], 3)["first"] == 2

    def test_hints(self, session):
        session.ask({"do": "hint"})
        until(session, lambda: session.said.startswith("hint"))
        (hint,) = session.since()["frames"][-1]["decisions"]
        assert hint["action"] is None
        assert hint["search"]["simulations"] == 20
        assert session.people() == [0]

    def test_another_seat_another_game_and_a_position(self, session):
        session.ask({"do": "seat", "player": 1, "agent": "human"})
        choose_first(session)
        assert session.people() == [1]
        position = session.position()
        session.ask({"do": "new", "seed": None})
        assert session.replay.seed == 3
        session.ask({"do": "position", "position": position})
        assert session.position() == position
        session.ask({"do": "seat", "player": 1, "agent": "greedy"})
        until(session, lambda: session.people() == [0])

    def test_an_agent_that_fails_is_told_and_can_be_replaced(self, session, monkeypatch):
        monkeypatch.setattr(session._agents[1], "act", lambda env: 1 / 0)
        choose_first(session)
        until(session, lambda: session.stuck)
        assert "greedy failed: ZeroDivisionError" in session.said
        session.ask({"do": "seat", "player": 1, "agent": "greedy"})
        until(session, session.people)

    def test_a_saved_game_goes_on(self, session):
        choose_first(session)
        until(session, session.people)
        text, frames = session.saved(), session.since()["frames"]
        again = Session(Replay.from_json(text), ["greedy", "human"], offered=["mcts"])
        try:
            until(again, lambda: again.people() == [1])
            assert again.replay.hashes[:3] == session.replay.hashes
            same = [[each["name"] for each in frame["decisions"]] for frame in frames[:2]]
            assert [[each["name"] for each in frame["decisions"]] for frame in again.since()["frames"][:2]] == same
            assert again.position() != session.position()
        finally:
            again.close()
        with pytest.raises(TypeError, match=r"has its settings, \{'board_size': 4\}; leave \['board_size'\] out"):
            Session(Replay.from_json(text), ["human", "human"], board_size=5)

    def test_a_saved_game_is_opened(self, session):
        choose_first(session)
        until(session, session.people)
        text, epoch = session.saved(), session.since()["epoch"]
        session.ask({"do": "new", "seed": None})
        session.ask({"do": "open", "game": text})
        assert session.replay.hashes == Replay.from_json(text).hashes
        assert session.since()["epoch"] > epoch
        assert session.people() == [0]
        other = Replay("WallSurvival-v0", board_size=5).to_json()
        for damaged, match in ((text.replace('"seed":2', '"seed":3'), "damaged"), (other, "mcts-envs play FILE")):
            before = session.replay.hashes
            with pytest.raises(ValueError, match=match):
                session.ask({"do": "open", "game": damaged})
            assert session.replay.hashes == before

    def test_a_game_is_kept_after_every_step(self, tmp_path):
        file = tmp_path / "game.json"
        session = Session("WallSurvival-v0", ["human", "greedy"], keep=file, **WALL)
        try:
            assert Replay.load(file).actions == []
            choose_first(session)
            until(session, session.people)
            assert Replay.load(file).hashes == session.replay.hashes
            session.ask({"do": "undo"})
            assert Replay.load(file).actions == []
            file.unlink()
            tmp_path.rmdir()
            choose_first(session)
            until(session, session.people)
            assert "the game is not kept" in session.said
        finally:
            session.close()

    @pytest.mark.parametrize(
        "asked",
        [
            None,
            [],
            {},
            {"do": 3},
            {"do": "_think"},
            {"do": "close"},
            {"do": "choose"},
            {"do": "choose", "player": 0, "action": 10**9, "step": 0},
            {"do": "choose", "player": 1, "action": 0, "step": 0},
            {"do": "choose", "player": "0", "action": 0, "step": 0},
            {"do": "choose", "player": 0, "action": True, "step": 0},
            {"do": "choose", "player": 0, "action": 1, "step": 1},
            {"do": "choose", "player": 0, "action": 1, "step": "0"},
            {"do": "undo", "steps": 3},
            {"do": "new", "seed": -1},
            {"do": "new", "seed": "x"},
            {"do": "seat", "player": 7, "agent": "human"},
            {"do": "seat", "player": 0, "agent": "nobody"},
            {"do": "seat", "player": 0, "agent": ["mcts"]},
            {"do": "seat", "player": 0, "agent": "sb3:/etc/passwd"},
            {"do": "seat", "player": 0, "agent": "mcts:simulations=1"},
            {"do": "position", "position": {"t": 1}},
            {"do": "position", "position": None, "seed": 1},
            {"do": "open", "game": None},
            {"do": "open", "game": "{}"},
        ],
    )
    def test_nonsense_changes_nothing(self, session, asked):
        before = session.replay.hashes, session.since()["names"]
        with pytest.raises((ValueError, TypeError, OSError)):
            session.ask(asked)
        assert (session.replay.hashes, session.since()["names"]) == before

    def test_mistakes(self):
        with pytest.raises(ValueError, match="1 seats are taken; give 2"):
            Session("WallSurvival-v0", ["human"])
        with pytest.raises(ValueError, match="unknown agent"):
            Session("WallSurvival-v0", ["human", "nobody"])


class TestTerminal:
    def test_a_few_moves(self, session):
        said, lines = [], iter(["list", "", "hint", "nonsense", "0", "1,0 up", "undo", "quit"])
        text_play.play(session, lambda prompt: next(lines), said.append)
        text = "\n".join(said)
        for part in ("list, hint, undo", "to move", "hint: ", "'nonsense' is no legal action"):
            assert part in text

    @pytest.mark.parametrize("word", ["undo", "new"])
    def test_moves_are_told_after_undo_and_in_a_new_game(self, word):
        session = Session("WallSurvival-v0", ["human", "greedy"], seed=2, board_size=6)
        said, lines = [], iter(["", "", word, "", "quit"])
        text_play.play(session, lambda prompt: next(lines) or first_of(session), said.append)
        session.close()
        told = [line.partition(": ") for line in said if line.startswith(("human: ", "greedy: "))]
        chosen = [each for frame in session.since()["frames"] for each in frame["decisions"]]
        assert [who for who, _, _ in told] == ["human", "greedy"] * 3
        assert [name for _, _, name in told[-2:]] == [each["name"] for each in chosen[-2:]]

    def test_of_several_people_it_says_who_chose(self):
        session = Session("WallSurvival-v0", ["human", "human"], seed=2, **WALL)
        said, lines = [], iter(["", "", "quit"])
        text_play.play(session, lambda prompt: next(lines) or first_of(session), said.append)
        session.close()
        assert [line.partition(": ")[0] for line in said if ": " in line and "human" in line] == [
            "player 0, human",
            "player 1, human",
        ]

    def test_it_says_for_whom_one_waits(self, session, monkeypatch):
        slow = session._agents[1]
        act = slow.act
        monkeypatch.setattr(text_play, "_LONG", 0.05)
        monkeypatch.setattr(slow, "act", lambda env: time.sleep(0.5) or act(env))
        said, lines = [], iter(["", "quit"])
        text_play.play(session, lambda prompt: next(lines) or first_of(session), said.append)
        assert said.count("waiting for greedy") == 1

    def test_a_move_that_is_hidden_leaves_no_empty_line(self):
        session = Session("leduc:Leduc-v0", ["human", "random"], seed=1)
        said, lines = [], iter(["call", "quit"])
        text_play.play(session, lambda prompt: next(lines), said.append)
        session.close()
        assert "human: call" in said
        assert not any(line == "" or line.startswith("random: ") for line in said)

    def test_a_game_that_fails_does_not_end_it(self, session):
        def fail(*_):
            raise ZeroDivisionError("rules")

        session.replay.play = fail
        said, lines = [], iter(["", "quit"])
        text_play.play(session, lambda prompt: next(lines) or first_of(session), said.append)
        assert "ZeroDivisionError: rules" in said

    def test_the_end_of_input_ends_it(self, session):
        def nothing(prompt):
            raise EOFError

        said = []
        text_play.play(session, nothing, said.append)
        assert said[-1] == ""  # the line of the prompt is ended

    @pytest.mark.parametrize(
        ("name", "value", "coloured"), [("TERM", "xterm", True), ("TERM", "dumb", False), ("NO_COLOR", "1", False)]
    )
    def test_colours_are_for_terminals_that_want_them(self, session, monkeypatch, name, value, coloured):
        monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
        for each in ("NO_COLOR", "TERM"):
            monkeypatch.delenv(each, raising=False)
        monkeypatch.setenv(name, value)
        said = []
        text_play.play(session, lambda prompt: "quit", said.append)
        assert ("\x1b[" in "\n".join(said)) == coloured


class TestServer:
    @pytest.fixture
    def served(self, session):
        pytest.importorskip("httpx")
        client_of = pytest.importorskip("starlette.testclient").TestClient
        from agents.playing.server import Server

        server = Server(session, ("127.0.0.1:8000",))
        with client_of(server.app, base_url="http://127.0.0.1:8000") as client:
            yield client, f"/{server.token}"

    def test_pages(self, served):
        client, at = served
        for name, kind in (("", "text/html"), ("page.js", "text/javascript"), ("play.css", "text/css")):
            answer = client.get(f"{at}/{name}")
            assert answer.status_code == 200
            assert answer.headers["content-type"].startswith(kind)
            assert "default-src 'none'" in answer.headers["content-security-policy"]

    def test_a_move(self, served):
        client, at = served
        news = client.get(f"{at}/state").json()
        option = news["frames"][-1]["legal"][0]
        asked = {"do": "choose", "player": option["player"], "action": option["action"], "step": 0}
        assert client.post(f"{at}/ask", json=asked).json() == {}
        news = client.get(f"{at}/state", params={"epoch": news["epoch"], "known": 1, "serial": news["serial"]}).json()
        assert len(news["frames"]) > 1
        assert client.get(f"{at}/replay").json()["actions"][0][0] == option["action"]
        assert "board_size" not in client.get(f"{at}/position").json()

    def test_whoever_may_not_ask_is_refused(self, served):
        client, at = served
        assert client.get("/").status_code == 404
        assert client.get("/wrong/state").status_code == 404
        for headers in ({"host": "evil.example"}, {"origin": "http://evil.example"}, {"origin": "null"}):
            assert client.get(f"{at}/state", headers=headers).status_code == 403
            assert client.post(f"{at}/ask", json={"do": "new", "seed": 1}, headers=headers).status_code == 403
        assert client.get(f"{at}/ask").status_code == 405
        assert client.get(f"{at}/../../pyproject.toml").status_code == 404

    @pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 5000, b"null", b'{"do": "choose"}', b"1" * 5000])
    def test_nonsense_is_answered(self, served, body):
        client, at = served
        answer = client.post(f"{at}/ask", content=body)
        assert answer.status_code == 400
        assert answer.json()["error"]

    def test_an_agent_that_cannot_be_seated_says_why(self, served, session, monkeypatch):
        def lacking(text):
            raise ModuleNotFoundError("No module named 'torch'")

        monkeypatch.setattr(session, "_seated", lacking)
        client, at = served
        answer = client.post(f"{at}/ask", json={"do": "seat", "player": 1, "agent": "mcts"})
        assert (answer.status_code, answer.json()["error"]) == (500, "ModuleNotFoundError: No module named 'torch'")

    def test_a_message_that_utf8_has_not_is_told(self, served, session):
        client, at = served
        game = json.loads(session.saved()) | {"mcts_envs": "\ud800", "game": "another"}
        text = json.dumps(game | {"seal": seal(game)})
        answer = client.post(f"{at}/ask", json={"do": "open", "game": text})
        assert (answer.status_code, "was another game" in answer.json()["error"]) == (400, True)
        session.said = "a file called \udcff"
        assert client.get(f"{at}/state").json()["said"] == session.said

    def test_too_much(self, served):
        client, at = served
        assert client.post(f"{at}/ask", content=b" " * 1_100_000).status_code == 413
        assert client.get(f"{at}/state?epoch=x").status_code == 400

    @pytest.mark.parametrize("gone", [True, False])
    def test_a_request_that_never_arrives_is_let_go(self, session, monkeypatch, gone):
        pytest.importorskip("starlette")
        from agents.playing import server as module

        monkeypatch.setattr(module, "_PATIENCE", 0.05)
        server, sent = module.Server(session, ("127.0.0.1:8000",)), []
        parts = [{"type": "http.request", "body": b"{", "more_body": True}]
        parts += [{"type": "http.disconnect"}] if gone else []

        async def receive():
            return parts.pop(0) if parts else await asyncio.sleep(60)

        async def send(message):
            sent.append(message)

        scope = {"type": "http", "method": "POST", "path": f"/{server.token}/ask", "query_string": b""}
        asyncio.run(server.app({**scope, "headers": [(b"host", b"127.0.0.1:8000")]}, receive, send))
        assert sent[0]["status"] == 408

    def test_those_who_wait_for_news_keep_nobody_from_asking(self, served, session):
        client, at = served
        now, codes = session.since(), []
        query = {"epoch": now["epoch"], "known": 1, "serial": now["serial"]}
        ask = lambda: codes.append(client.get(f"{at}/state", params=query).status_code)  # noqa: E731
        threads = [threading.Thread(target=ask) for _ in range(60)]  # reloaded again and again
        for thread in threads:
            thread.start()
        time.sleep(1.0)
        began = time.monotonic()
        assert client.post(f"{at}/ask", json={"do": "new", "seed": None}).status_code == 200
        assert time.monotonic() - began < 10.0
        for thread in threads:
            thread.join()
        assert codes == [200] * 60

    def test_many_at_once(self, served):
        client, at = served
        answers = []
        ask = lambda: answers.append(client.post(f"{at}/ask", json={"do": "new", "seed": None}).status_code)  # noqa: E731
        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers == [200] * 8


def test_the_page_of_a_game_without_positions_says_so():
    client_of = pytest.importorskip("starlette.testclient").TestClient
    from agents.playing.server import Server

    session = Session("connect_four:ConnectFour-v0", ["human", "random"])
    server = Server(session, ("127.0.0.1:8000",))
    try:
        with client_of(server.app, base_url="http://127.0.0.1:8000") as client:
            answer = client.get(f"/{server.token}/position")
            assert (answer.status_code, "defines no position" in answer.json()["error"]) == (400, True)
    finally:
        session.close()
