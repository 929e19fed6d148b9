"""Environments of others, at which people sit: drawn, chosen in, taken back, and thought about."""

import copy
import threading

import play as playing
import pytest
import typer.testing

from agents.playing import text_play
from agents.playing.foreign_table import ForeignTable
from agents.playing.session import Session
from agents.playing.table import table_of
from tests.agents.test_watching_others import Nim
from tests.pages import strangers
from tests.pages.strangers import Endless, First, Fragile, Slow
from tests.pages.test_playing import until

HERE = "tests.pages.strangers"
CLASSIC = "pettingzoo.classic"


@pytest.fixture
def begun():
    """Begin sessions, which end with the test."""
    sessions = []

    def begin(name, *given, **more):
        id = f"{HERE}:{name}" if hasattr(strangers, name) else name
        sessions.append(Session(id, *given, **more))
        return sessions[-1]

    yield begin
    for session in sessions:
        session.close()


def choose(session, number=0):
    """Choose an action by its place among the legal ones; return what the last frame is then."""
    until(session, lambda: session.people() or session.over or session.stuck)
    option = session.since()["frames"][-1]["legal"][number]
    asked = {"do": "choose", "player": option["player"], "action": option["action"]}
    session.ask({**asked, "step": len(session.table.actions)})
    until(session, lambda: session.people() or session.over or session.stuck)
    return session.since()["frames"][-1]


def told(session):
    """Return all that a session shows, but for its serial number."""
    return copy.deepcopy({name: value for name, value in session.since().items() if name not in ("serial", "epoch")})


def test_alone_to_the_end(begun):
    session = begun("Path", ["human"], seed=1)
    frames = told(session)["frames"]
    while not frames[-1]["over"]:
        frames.append(choose(session, 1))
    assert [each["name"] for each in frames[0]["legal"]] == ["back", "on"]
    assert all(frame["picture"].startswith("<svg") and frame["turn"] == [0] for frame in frames[:-1])
    assert frames[-1]["returns"] == [1.0] == session.table.returns
    assert "points" not in frames[-1]
    news = session.since()
    assert (news["saves"], news["title"], news["players"][0]["agent"]) == (False, f"{HERE}:Path", "you")
    session.ask({"do": "new", "seed": None})
    assert (session.table.plan.seed, session.table.actions, session.over) == (2, [], False)


def test_only_legal_actions_are_offered_and_keys_play_them(begun):
    session = begun("Keyed", ["human"], seed=1)
    assert [(each["name"], each["key"]) for each in session.since()["frames"][0]["legal"]] == [
        ("back", "a"),
        ("on", "d"),
    ]
    assert [each["name"] for each in choose(session, 1)["legal"]] == ["back"]
    with pytest.raises(ValueError, match="action 1 is not legal now"):
        session.ask({"do": "choose", "player": 0, "action": 1, "step": 1})


def test_what_is_taken_back_comes_out_as_before(begun):
    session = begun("Path", ["human"], seed=5)
    before = [told(session)["frames"]]
    for number in (1, 0):
        choose(session, number)
        before.append(told(session)["frames"])
    session.ask({"do": "undo"})
    assert (told(session)["frames"], session.table.actions) == (before[1], [[1]])
    choose(session, 0)
    assert told(session)["frames"] == before[2]
    session.ask({"do": "undo"})
    session.ask({"do": "undo"})
    assert told(session)["frames"] == before[0]
    with pytest.raises(ValueError, match="nothing to take back"):
        session.ask({"do": "undo"})


def test_where_it_comes_out_otherwise_nothing_is_taken_back(begun):
    session = begun("Worn", ["human"])
    choose(session)
    before, env = told(session), session.table._course.env
    with pytest.raises(ValueError, match="comes out otherwise: it cannot take moves back, and nothing has changed"):
        session.ask({"do": "undo"})
    assert (told(session), session.table._course.env is env) == (before, True)
    assert choose(session)["returns"] == [2.0]


@pytest.mark.parametrize("name", ["Path", "Worn"])
def test_what_an_agent_thinks_about_is_left_alone(begun, name):
    session = begun(name, ["human"], seed=3, hint="random")
    session._adviser = slow = Slow()
    stood = session.table._course.env.unwrapped.place
    session.ask({"do": "hint"})
    assert slow.begun.wait(60)
    if name == "Worn":
        with pytest.raises(ValueError, match="it cannot go on, as somebody thinks about it; wait"):
            choose(session)
    else:
        choose(session)
        session.ask({"do": "undo"})
        choose(session)
    slow.go.set()
    until(session, lambda: not session.since()["thinking"])
    assert slow.saw == stood
    assert len(session.table.actions) == (name == "Path")
    choose(session)
    assert len(session.table.actions) == 1 + (name == "Path")


def test_hints(begun):
    session = begun("Path", ["human"], hint="mcts:simulations=20")
    session.ask({"do": "hint"})
    until(session, lambda: session.said in ("hint: on", "hint: back"))
    (hint,) = session.since()["frames"][-1]["decisions"]
    assert (hint["action"], hint["search"]["simulations"], session.people()) == (None, 20, [0])
    assert {each["name"] for each in hint["search"]["actions"]} == {"back", "on"}


@pytest.mark.parametrize("how", ["step", "picture"])
def test_a_step_that_fails_leaves_everything_as_it_was(begun, monkeypatch, how):
    session = begun("Fragile", ["human"], seed=3)
    choose(session)
    before = told(session)
    if how == "step":
        monkeypatch.setattr(Fragile, "broken", ("step",))
    else:
        monkeypatch.setattr(session.table._stage, "seen", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        choose(session)
    assert told(session) == before
    monkeypatch.undo()
    choose(session)
    assert (len(session.table.actions), session.table._course.env.unwrapped.place) == (2, 4)


@pytest.mark.parametrize(("what", "why"), [("pencil", "ZeroDivisionError: pencil"), ("paper", "it draws nothing")])
def test_a_picture_that_is_not_of_now_says_so(begun, monkeypatch, what, why):
    session = begun("Fragile", ["human"], hint="random", text=what == "paper")
    drew = session.since()["frames"][0]
    monkeypatch.setattr(Fragile, "broken", (what,))
    kind = "text" if what == "paper" else "picture"
    for _ in range(2):
        frame = choose(session)
        assert (frame[kind], frame["note"]) == (drew[kind], f"as it was drawn last; now {why}")
    assert session.table.text(None, [0], True).endswith(f"\n{frame['note']}")
    monkeypatch.undo()
    assert "note" not in choose(session)


def test_a_step_that_never_ends_keeps_nobody_from_leaving(begun):
    session = begun("Endless", ["human"], hint="random")
    wrong = []

    def choose_back():
        try:
            choose(session)
        except RuntimeError as error:
            wrong.append(str(error))

    thread = threading.Thread(target=choose_back)
    thread.start()
    assert Endless.begun.wait(60)
    session.close()
    thread.join(60)
    Endless.go.set()
    assert wrong == ["the game is left, in which something was still to be done"]
    with pytest.raises(RuntimeError, match="the game is left"):
        session.ask({"do": "new", "seed": None})


def test_a_step_that_would_end_the_program_is_one_that_fails(begun):
    session = begun("Endless", ["human"], hint="random")
    before = told(session)
    with pytest.raises(RuntimeError, match="SystemExit: 3, which would end the program"):
        choose(session, 1)
    assert told(session) == before


def test_who_has_left_is_passed_over(begun):
    session = begun("Leaving", ["human", "human", "human"])
    for number in (0, 1, 0):  # the second leaves
        choose(session, number)
    frame = session.since()["frames"][-1]
    assert (frame["turn"], frame["text"], frame["returns"]) == ([0], "3 turns", [0.0, 2.0, 0.0])
    assert (session.table.choosing, session.table.actions[:2]) == ([0], [[0, None, None], [None, 1, None]])
    frame = choose(session, 1)
    assert (frame["over"], frame["returns"], frame["points"]) == (True, [4.0, 2.0, 0.0], [1.0, 0.0, 0.0])
    session.ask({"do": "undo"})
    assert (session.people(), session.table.returns) == ([0], [0.0, 2.0, 0.0])


def test_against_an_agent_in_turns(begun):
    session = begun(f"{Nim.__module__}:Nim", ["human", "mcts:simulations=30"], seed=1)
    while not session.over:
        frame = choose(session)
    assert sorted(frame["returns"]) == [-1.0, 1.0]
    assert sorted(frame["points"]) == [0.0, 1.0]
    decisions = [each for frame in session.since()["frames"] for each in frame["decisions"]]
    assert [each["player"] for each in decisions] == [0, 1] * (len(decisions) // 2) + [0] * (len(decisions) % 2)
    assert all("search" in each for each in decisions[1::2])


def test_who_choose_at_once_do_not_see_each_other(begun):
    session = begun("Pennies", ["mcts:simulations=20", "human"])
    until(session, lambda: 0 in session._now)
    (frame,) = session.since()["frames"]
    assert (frame["turn"], frame["decisions"], session.people()) == ([0, 1], [], [1])
    assert "draws nothing" in frame["text"]
    for _ in range(3):
        until(session, lambda: len(session._now) == 1)
        frame = choose(session)
    assert (frame["over"], len(session.table.actions)) == (True, 3)
    assert frame["returns"][0] == -frame["returns"][1] != 0.0
    assert [len(each["decisions"]) for each in session.since()["frames"]] == [2, 2, 2, 0]
    session.ask({"do": "undo"})
    assert (len(session.table.actions), session.people()) == (2, [1])


def test_each_who_chooses_at_once_is_shown_its_own(begun):
    session = begun("Dealt", ["human", "human"], hint="random")
    shown = [frame["text"].split()[-1] for frame in (session.since()["frames"][-1], choose(session))]
    assert (shown, session.people()) == (["3", "7"], [1])
    session.ask({"do": "undo"})
    assert session.since()["frames"][-1]["text"].split()[-1] == "3"


def test_agents_of_ones_own_are_asked_when_it_is_their_turn(begun):
    First.asked.clear()
    session = begun("Pennies", ["human", f"{HERE}:First"])
    choose(session)
    assert session.said == ""
    choose(session, 1)
    assert (session.said, session.table.returns) == ("", [0.0, 0.0])
    assert First.asked[:2] == [0, 1]  # for the third step it may have been asked already


def test_games_are_neither_saved_nor_opened(begun, tmp_path):
    session = begun("Path", ["human"])
    before = told(session)
    for asked in ({"do": "position", "position": {}}, {"do": "open", "game": "{}"}):
        with pytest.raises(ValueError, match="Path is an environment of others, whose games have no positions and are"):
            session.ask(asked)
    with pytest.raises(ValueError, match="are not saved"):
        session.saved()
    assert told(session) == before
    with pytest.raises(ValueError, match="are not saved"):
        begun("Path", ["human"], keep=tmp_path / "game.json")
    assert not (tmp_path / "game.json").exists()


def test_what_cannot_be_played(begun):
    with pytest.raises(ValueError, match="ours makes a game of mcts_envs; give the id"):
        begun("ours", ["human"])
    with pytest.raises(ValueError, match="opens a window of its own; make it with render_mode='rgb_array', or none"):
        begun("window")
    with pytest.raises(ValueError, match="2 seats are taken; give 1"):
        begun("Path", ["human", "human"])
    with pytest.raises(ValueError, match="unknown environment"):
        begun("Nothing-v0")


def test_a_window_that_is_asked_for_is_a_picture(begun):
    session = begun("Path", ["human"], render_mode="human")
    assert (session.table._stage.env.render_mode, "picture" in session.since()["frames"][0]) == ("rgb_array", True)


def test_it_is_drawn_by_one_thread(begun):
    session = begun("Bound", ["human"], seed=5)
    thread = threading.Thread(target=choose, args=(session, 1))
    thread.start()
    thread.join()
    session.ask({"do": "undo"})
    thread = threading.Thread(target=choose, args=(session, 0))
    thread.start()
    thread.join()
    first, second = told(session)["frames"]
    assert first["picture"] != second["picture"]


def test_a_hint_stays_while_the_others_choose(begun):
    session = begun("Pennies", ["human", "random"], hint="random")
    session.ask({"do": "hint"})
    until(session, lambda: session.said and 1 in session._now and not session.since()["thinking"])
    assert session.said.startswith("hint: ")


def test_a_number_that_is_a_name_is_that(begun):
    session = begun("numbered", text=True)
    said, lines = [], iter(["3", "0", "quit"])
    text_play.play(session, lambda prompt: next(lines), said.append)
    assert [line for line in said if line.startswith("human: ")] == ["human: 3", "human: 3"]
    assert session.table.actions == [[0], [0]]


def test_a_game_in_a_terminal(begun):
    session = begun("Path", ["human"], seed=1, hint="mcts:simulations=20", text=True)
    said, lines = [], iter(["list", "hint", "on", "undo", "back", "nonsense", "quit"])
    text_play.play(session, lambda prompt: next(lines), said.append)
    text = "\n".join(said)
    for part in ("[..x]", "hint: ", "human: on", "human: back", "'nonsense' is no legal action"):
        assert part in text
    assert "\x1b" not in text


def test_a_terminal_takes_words_in_any_case(begun):
    session = begun("Path", ["human"], seed=1, text=True)
    said, lines = [], iter(["ON", "Undo", "Bac", "LIST", "Quit"])
    text_play.play(session, lambda prompt: next(lines), said.append)
    assert [line for line in said if line.startswith("human: ")] == ["human: on", "human: back"]
    assert not any("is no legal action" in line for line in said)


def test_a_terminal_says_how_many_more_a_word_could_mean():
    session = Session("LaneDefense5x9-v0", ["human"])
    said, lines = [], iter(["Sunflower", "quit"])
    text_play.play(session, lambda prompt: next(lines), said.append)
    session.close()
    assert any(line.startswith("'Sunflower' could be sunflower 0,0, ") and line.endswith(" more") for line in said)


def test_what_a_terminal_shows():
    text = lambda table, coloured: table.text(None, [0], coloured)  # noqa: E731
    drawn, shown = table_of(f"{HERE}:Keyed", {}, 0, True), table_of(f"{HERE}:Pennies", {}, 0, True)
    assert (text(drawn, True), text(drawn, False)) == ("\x1b[41m..x\x1b[0m", "[..x]")
    assert text(shown, True) == "0"
    pixels = table_of(f"{HERE}:path", {"render_mode": "rgb_array"}, 0, True)
    assert isinstance(pixels, ForeignTable)
    rows = text(pixels, True).split("\n")
    assert {row.count("\u2580") for row in rows} == {64}
    assert (len(rows) <= 24, text(pixels, False)) == (True, "2")


def test_the_command(tmp_path):
    app = typer.Typer()
    app.command()(playing.main)

    def said(*arguments):
        result = typer.testing.CliRunner().invoke(app, [*arguments, "--terminal"], input="on\nundo\nquit\n")
        return result.exit_code, " ".join(result.output.split())

    code, words = said(f"{strangers.__file__}:path", "--hint", "random", "--seed", "1")
    assert (code, words.count("[..x]"), "human: on" in words) == (0, 2, True)
    code, words = said(f"{HERE}:path", f"--replay={tmp_path / 'game.json'}")
    assert (code, "whose games have no positions and are not saved" in words) == (2, True)


class TestServer:
    @pytest.fixture
    def served(self, begun):
        client_of = pytest.importorskip("starlette.testclient").TestClient
        from agents.playing.server import Server

        session = begun("Path", ["human"], seed=5)
        server = Server(session, ("127.0.0.1:8000",))
        with client_of(server.app, base_url="http://127.0.0.1:8000") as client:
            yield client, f"/{server.token}", session

    def test_each_picture_is_sent_once(self, served):
        client, at, session = served
        lines, known = [], {"epoch": -1, "known": -1, "serial": -1, "lines": 0}
        for number in (1, 1, None):
            news = client.get(f"{at}/state", params=known).json()
            lines = (lines if news["epoch"] == known["epoch"] else []) + news["lines"]
            known = {"epoch": news["epoch"], "known": news["first"] + len(news["frames"]), "serial": news["serial"]}
            known["lines"] = len(lines)
            shown = ["\n".join(lines[line] for line in frame["picture"]) for frame in news["frames"]]
            assert shown == [frame["picture"] for frame in session.since()["frames"][news["first"] :]]
            if number is not None:
                choose(session, number)
        assert client.get(f"{at}/state", params={**known, "serial": -1}).json()["lines"] == []
        assert len(set(lines)) == len(lines)

    def test_pictures_of_earlier_games_are_let_go(self, served):
        client, at, session = served
        sizes = []
        for seed in range(4):
            session.ask({"do": "new", "seed": seed})
            choose(session, 1)
            news = client.get(f"{at}/state").json()
            shown = ["\n".join(news["lines"][line] for line in frame["picture"]) for frame in news["frames"]]
            assert shown == [frame["picture"] for frame in session.since()["frames"]]
            sizes.append(len(news["lines"]))
        late = client.get(f"{at}/state", params={"epoch": news["epoch"] - 1, "lines": 99}).json()
        assert late["lines"] == news["lines"]
        assert max(sizes) == min(sizes)

    def test_there_is_nothing_to_save(self, served):
        client, at, _ = served
        for path in ("position", "replay"):
            answer = client.get(f"{at}/{path}")
            assert (answer.status_code, "not saved" in answer.json()["error"]) == (400, True)
        assert client.get(f"{at}/state").json()["saves"] is False


@pytest.mark.parametrize(
    ("id", "seats", "steps"),
    [
        ("FrozenLake-v1", 1, 5),
        ("CliffWalking-v1", 1, 3),
        ("Taxi-v4", 1, 3),
        ("Blackjack-v1", 1, 1),
        (f"{CLASSIC}.tictactoe_v3", 2, 3),
        (f"{CLASSIC}.connect_four_v3", 2, 3),
        (f"{CLASSIC}.rps_v2", 2, 3),
    ],
)
def test_those_that_a_student_knows(begun, id, seats, steps):
    pytest.importorskip("pygame")
    session = begun(id, ["human"] + ["mcts:simulations=10"] * (seats - 1), seed=4)
    for _ in range(steps):
        frame = choose(session)
    assert "picture" in frame
    before = told(session)["frames"]
    session.ask({"do": "undo"})
    *earlier, now = told(session)["frames"]
    assert earlier == before[: len(earlier)]
    assert {each["player"] for each in now["legal"]} == {0}
