"""Environments of others, watched: as they draw themselves, with what the search thought of each decision."""

import importlib
import re
import signal
import subprocess
import sys
import textwrap
from enum import IntEnum

import gymnasium as gym
import numpy as np
import pytest
import typer.testing
import watch as watching
from pettingzoo import AECEnv
from pettingzoo.classic.tictactoe import tictactoe
from PIL import Image

import agents
from agents import bridge
from agents.arena import Plan, parse_meeting
from agents.arena.rows import Match
from agents.arena.running.room import Room
from agents.bridge.copying.classes import name_of as class_name
from agents.bridge.naming import KNOWN
from agents.inspection.pixels import pictures
from agents.watching import fitted, seated, watch
from mcts_envs.filming import write_film

HERE = "tests.agents.test_watching_others"


class Steps(IntEnum):
    """What can be done on a path."""

    back = 0
    on = 1


class Path(gym.Env):
    """A path of five places, on which it slips now and then; the last one pays."""

    metadata = {"render_modes": ["rgb_array", "ansi", "broken"]}  # noqa: RUF012
    observation_space = gym.spaces.Discrete(5)
    action_space = gym.spaces.Discrete(2, start=3)
    actions = Steps

    def __init__(self, render_mode=None, size=40, broken=False):
        self.render_mode, self.size, self.broken, self.place = render_mode, size, broken, 2

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = 2
        return self.place, {}

    def step(self, action):
        slips = self.np_random.random() < 0.2
        self.place += (1 if action == 4 else -1) * (-1 if slips else 1)
        return self.place, float(self.place == 4), self.place in (0, 4), False, {}

    def render(self):
        if self.broken:
            raise ModuleNotFoundError("no module named crayons")
        if self.render_mode == "ansi":
            return "\x1b[41m" + "." * self.place + "x\x1b[0m"
        drawn = np.zeros((self.size // 2 + 1, self.size, 3), np.uint8)
        drawn[:, self.place * self.size // 5 :] = 200
        return drawn if self.render_mode == "rgb_array" else None


class Nim(AECEnv):
    """Two take one or two of seven; who takes the last one wins."""

    metadata = {"name": "nim", "render_modes": ["ansi"]}  # noqa: RUF012

    def __init__(self, render_mode=None):
        self.possible_agents, self.render_mode = ["first", "second"], render_mode

    def observation_space(self, agent):
        return gym.spaces.Discrete(8)

    def action_space(self, agent):
        return gym.spaces.Discrete(2)

    def observe(self, agent):
        return self.left

    def reset(self, seed=None, options=None):
        self.agents, self.left = self.possible_agents[:], 7
        self.rewards = self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations, self.truncations = (dict.fromkeys(self.agents, False) for _ in range(2))
        self.infos = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[0]

    def step(self, action):
        if self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        self.left = max(0, self.left - 1 - action)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        other = self.possible_agents[1 - self.possible_agents.index(self.agent_selection)]
        if self.left == 0:
            self.rewards = {self.agent_selection: 1.0, other: -1.0}
            self.terminations = dict.fromkeys(self.agents, True)
        self.agent_selection = other
        self._accumulate_rewards()

    def render(self):
        return "|" * self.left


class Tag(Nim):
    """The same, of which nothing is drawn, and nothing known beforehand."""

    def __init__(self):
        super().__init__()
        self.metadata = {}

    def render(self):
        raise NotImplementedError


def path(**settings):
    return Path(**settings)


def tag():
    return Tag()


def drawn_already():
    return Path("rgb_array")


def collected():
    return gym.wrappers.RenderCollection(Path("rgb_array"))


def nim(**settings):
    return Nim(**settings)


def plan_of(maker, names, seed=0, **settings):
    return Plan(f"{HERE}:{maker}", parse_meeting(names, None, {"simulations": 20})[0], settings, seed)


def said(*arguments):
    app = typer.Typer()
    app.command()(watching.main)
    done = typer.testing.CliRunner().invoke(app, list(map(str, arguments)))
    return done.exit_code, re.sub(r"\s+", " ", done.output)


def test_it_is_the_game_that_a_comparison_plays_with_a_picture_for_each_state():
    plan, episode, told = plan_of("path", "mcts", 5), 3, []
    document = watch(plan, episode, lambda document: told.append(len(document["frames"])))
    row = Room(plan).play(Match(plan.agents, episode)).row
    *before, last = document["frames"]
    decided = [frame["decisions"][0] for frame in before]
    assert len(before) == row.seats[0].length == len(told) - 1
    assert last["returns"] == [row.seats[0].episode_return]
    assert [frame["over"] for frame in document["frames"]] == [False] * len(before) + [True]
    assert {each["name"] for each in decided} <= {"back", "on"}
    assert all(each["name"] == Steps(each["action"]).name for each in decided)
    assert all(each["search"]["simulations"] == 20 for each in decided)
    drawn = list(pictures(document))
    assert {each.shape for each in drawn} == {(20, 40, 3)}
    assert ((drawn[0] > 100).any((0, 2)).sum(), document["players"][0]["seat"]) == (24, "player")
    assert fitted(document).startswith("<!doctype html>")


def test_players_of_a_game_see_its_text():
    plan = plan_of("nim", "mcts,random")
    document = watch(plan)
    row = Room(plan).play(Match(seated(plan.agents, plan.teams), 0)).row
    assert [(each["seat"], each["agent"]) for each in document["players"]] == [
        ("first", row.seats[0].agent),
        ("second", "random"),
    ]
    *before, last = document["frames"]
    assert (before[0]["text"], last["text"]) == ("|||||||", "")
    assert [frame["turn"] for frame in before] == [[number % 2] for number in range(len(before))]
    assert last["points"] == [seat.outcome for seat in row.seats]
    assert sorted(last["points"]) == [0.0, 1.0]


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ({"render_mode": "ansi"}, "..x"),
        ({"render_mode": "broken"}, f"{HERE}:path draws nothing"),
        (
            {"broken": True},
            f"{HERE}:path draws nothing\nrgb_array: ModuleNotFoundError: no module named crayons\nansi: ",
        ),
    ],
)
def test_what_draws_no_picture_shows_its_text_or_why(settings, shown, tmp_path):
    document = watch(plan_of("path", "random", **settings))
    assert document["frames"][0]["text"].startswith(shown)
    with pytest.raises(ValueError, match="seed 0: "):
        pictures(document)
    out, given = tmp_path / "film.gif", [f"--set={name}={value}" for name, value in settings.items()]
    code, words = said(f"{HERE}:path", "--agents=random", f"--out={out}", *given)
    assert (code, out.exists()) == (2, False)
    assert f"{HERE}:path draws {'text' if shown == '..x' else 'nothing'}" in words
    assert "so there is no film of it" in words


def test_what_its_maker_lets_draw_is_drawn():
    assert next(pictures(watch(plan_of("drawn_already", "random")))).shape == (20, 40, 3)


def test_turns_that_look_alike_are_moves_of_their_own():
    *before, _ = watch(plan_of("tag", "random"))["frames"]
    assert before[0]["text"] == f"{HERE}:tag draws nothing\nrender(): NotImplementedError: "
    assert [[each["player"] for each in frame["decisions"]] for frame in before] == [frame["turn"] for frame in before]


@pytest.mark.parametrize(
    "given",
    [
        np.full((4, 6), 200, np.uint8),
        np.full((4, 6, 3), 200 / 255),
        np.full((4, 6, 3), 200),
        Image.new("RGB", (6, 4), (200, 200, 200)),
    ],
)
def test_pictures_of_any_kind(given, monkeypatch):
    monkeypatch.setattr(Path, "render", lambda self: given)
    shown = next(pictures(watch(plan_of("path", "random"))))
    assert (shown.shape, np.abs(shown.astype(int) - 200).max()) == ((4, 6, 3), 0)


def test_a_film_has_the_colours_of_all_its_pictures(tmp_path, monkeypatch):
    shades = np.repeat(np.dstack([np.arange(200, dtype=np.uint8)[None]] * 3), 100, 0)
    shades[30:36, 42:48] = 0, 200, 0
    red, blue = (np.full_like(shades, colour) for colour in ((255, 0, 0), (0, 0, 255)))
    drawn = iter([shades, shades, red, blue])
    monkeypatch.setattr(Path, "render", lambda self: next(drawn, shades))
    shown = list(pictures(watch(plan_of("path", "random"))))[:3]
    write_film(shown, tmp_path / "film.gif", 4.0)
    with Image.open(tmp_path / "film.gif") as film:
        for number, spot in enumerate([(0, 200, 0), (255, 0, 0), (0, 0, 255)]):
            film.seek(number)
            assert np.abs(np.asarray(film.convert("RGB"))[33, 45].astype(int) - spot).max() < 16


def test_a_film_of_pictures_that_are_given_once(tmp_path):
    assert said(f"{HERE}:collected", "--agents=random", f"--out={tmp_path / 'film.gif'}")[0] == 0


def test_a_film_of_pictures_of_one_pixel(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "render", lambda self: np.full((1, 1, 3), self.place, np.uint8))
    assert said(f"{HERE}:path", "--agents=random", f"--out={tmp_path / 'film.gif'}")[0] == 0


def test_large_pictures_are_made_smaller():
    assert next(pictures(watch(plan_of("path", "random", size=1000)))).shape == (200, 400, 3)


def test_the_command_writes_a_page_and_a_film_and_keeps_no_replay(tmp_path):
    page, film, replay = (tmp_path / name for name in ("page.html", "film.gif", "replay.json"))
    given = f"{HERE}:path", "--agents=mcts:simulations=10"
    code, words = said(*given, f"--out={page}")
    moves = int(re.search(r"page.html: (\d+) moves", words)[1])
    assert (code, page.read_text(encoding="utf-8")[:15]) == (0, "<!doctype html>")
    assert said(*given, f"--out={film}")[0] == 0
    with Image.open(film) as frames:
        assert frames.n_frames == moves + 1
    code, words = said(*given, f"--out={page}", f"--replay={replay}")
    assert (code, replay.exists()) == (2, False)
    assert "cannot be kept as replays" in words


@pytest.mark.skipif(sys.platform == "win32", reason="such a signal ends a process at once there")
def test_a_command_that_is_terminated_writes_what_was_played_and_ends_by_the_signal(tmp_path):
    text = """
        import os, signal

        class Third:
            moves = 0

            def act(self, env):
                self.moves += 1
                if self.moves == 3:
                    os.kill(os.getpid(), signal.SIGTERM)
                return int(env.unwrapped.action_masks().argmax())
        """
    (tmp_path / "ended.py").write_text(textwrap.dedent(text), encoding="utf-8")
    out = tmp_path / "game.html"
    words = ["LaneDefense3x3-v0", "--agents", f"{tmp_path / 'ended.py'}:Third", "--out", str(out)]
    done = subprocess.run([sys.executable, watching.__file__, *words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (
        128 + signal.SIGTERM,
        "interrupted: the game is written as far as it was played",
    )
    assert "2 moves" in done.stdout
    assert out.is_file()


def test_a_search_is_shown_with_the_picture_of_its_environment():
    env = path(render_mode="rgb_array")
    env.reset(seed=0)
    result = agents.make("mcts", simulations=20).search(env)
    assert agents.show(result).document["frames"][0]["text"] == "Path"
    shown = agents.show(result, env)
    assert "data:image/png;base64," in shown.document["frames"][0]["picture"]
    assert {each["name"] for each in shown.document["frames"][0]["decisions"][0]["search"]["actions"]} == {"back", "on"}
    env.broken = True
    why = "Path draws nothing\nModuleNotFoundError: no module named crayons"
    assert agents.show(result, env).document["frames"][0]["text"] == why


class Named(Path):
    """The same, whose actions have the names that it is given."""

    def __init__(self, names):
        super().__init__()
        self.names = names

    def get_action_meanings(self):
        return self.names()


class Hidden(Path):
    """The same, whose actions are not to be asked for."""

    @property
    def actions(self):
        raise RuntimeError("there are none yet")


def test_actions_that_cannot_be_asked_for_have_numbers():
    env = Hidden()
    env.reset(seed=0)
    assert agents.make("mcts", simulations=20).search(env).action in (0, 1)


@pytest.mark.parametrize(
    ("names", "shown"),
    [(lambda: ["LEFT", "RIGHT"], {"LEFT", "RIGHT"}), (lambda: ["LEFT"], {"LEFT", "4"}), (lambda: 1 / 0, {"3", "4"})],
)
def test_actions_are_called_as_the_environment_calls_them(names, shown):
    env = Named(names)
    env.reset(seed=0)
    result = agents.make("mcts", simulations=20).search(env)
    assert {line.split()[0] for line in result.table().replace(">", " ").splitlines()[1:]} == shown


@pytest.mark.parametrize("id", ["FrozenLake-v1", "CliffWalking-v1", "Taxi-v4", "Blackjack-v1", "CartPole-v1"])
def test_actions_that_only_their_pages_name_have_names_and_those_of_derived_classes_have_not(id):
    names = lambda env: [bridge.view(env).game.action_name(action) for action in range(env.action_space.n)]  # noqa: E731
    known = gym.make(id).unwrapped
    assert not any(name.isdigit() for name in names(known))
    assert len(set(names(known))) == known.action_space.n == len(KNOWN[class_name(type(known))])
    derived = type("Derived", (type(known),), {})()
    assert names(derived) == [str(action) for action in range(derived.action_space.n)]


@pytest.mark.parametrize(
    ("id", "here", "there"),
    [
        ("CliffWalking-v1", 14, {"up": 2, "right": 15, "down": 26, "left": 13}),
        ("FrozenLake-v1", 9, {"left": 8, "down": 13, "right": 10, "up": 5}),
        ("Taxi-v4", 241, {"south": 341, "north": 141, "east": 261, "west": 221}),
    ],
)
def test_names_of_ways_say_where_they_lead(id, here, there):
    env = gym.make(id, **({"is_slippery": False} if "Lake" in id else {}))
    names = KNOWN[class_name(type(env.unwrapped))]
    for way, place in there.items():
        env.reset(seed=0)
        env.unwrapped.s = here
        assert env.step(names.index(way))[0] == place


def test_names_of_places_say_where_they_are_seen():
    pytest.importorskip("pygame")
    env = tictactoe.env(render_mode="rgb_array")
    env.reset(seed=0)
    names = KNOWN[class_name(type(env.unwrapped))]
    thirds = {"top": 0, "bottom": 2, "left": 0, "right": 2}
    before = env.render()
    for number, name in enumerate(names):
        env.step(number)
        if any(env.terminations.values()):
            env.reset(seed=0)
            before = env.render()
            env.step(number)
        after = env.render()
        rows, columns = np.nonzero((after != before).any(2))
        row = next((thirds[word] for word in name.split() if word in ("top", "bottom")), 1)
        column = next((thirds[word] for word in name.split() if word in ("left", "right")), 1)
        seen = 3 * np.mean(rows) // len(after), 3 * np.mean(columns) // after.shape[1]
        assert (name, *seen) == (name, row, column)
        before = after


@pytest.mark.filterwarnings("ignore::UserWarning")  # of a space that is said not to fit
@pytest.mark.parametrize("name", ["leduc_holdem", "texas_holdem", "texas_holdem_no_limit"])
def test_names_of_cards_are_those_of_their_library(name):
    pytest.importorskip("rlcard")
    env = importlib.import_module(f"pettingzoo.classic.rlcard_envs.{name}").env()
    env.reset(seed=1)
    names = KNOWN[class_name(type(env.unwrapped))]
    said = {"fold": "fold", "check_call": "check or call", "raise_half_pot": "raise half the pot"}
    said |= {"raise_pot": "raise the pot", "all_in": "all in"}
    while env.agents and not env.terminations[env.agent_selection]:
        mask = env.observe(env.agent_selection)["action_mask"]
        legal = {str(getattr(each, "name", each)).lower() for each in env.unwrapped.env.game.get_legal_actions()}
        assert {names[action] for action in np.flatnonzero(mask)} == {said.get(each, each) for each in legal}
        env.step(int(np.flatnonzero(mask)[1 if names[0] == "fold" else 0]))
