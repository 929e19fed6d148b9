"""Doors through which bytes reach kernels, which check no bounds: each is shut before the first reset and to damage."""

import contextlib
import copy
import pickle
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded

import agents
import mcts_envs
from mcts_envs.core.api.multi import GameAECEnv
from mcts_envs.core.contract import Game
from mcts_envs.core.players import player
from mcts_envs.core.snapshot import Seal, Snapshot
from mcts_envs.core.view import View
from mcts_envs.registry import ENTRIES
from tests.toys import Stakes, StakesVector, TicTacToe

IDS = [id for id in ENTRIES if id.startswith("mcts_envs/")]
LANE = "mcts_envs/LaneDefense3x3-v0"
SETTING = {  # another value of one setting of each game, which leaves the size of its states as it is
    "LaneDefense5": {"sky_sun": 0.123},
    "LaneDefense": {"p_new": 0.123},
    "Wall": {"max_steps": 77},
    "Bomber": {"max_steps": 77},
    "Football": {"max_steps": 77},
}


def faces_of(id, **settings):
    """Return every face of an environment by name; the batch of Stable-Baselines3 where that is installed."""
    faces = {"single": gymnasium.make(id, **settings).unwrapped, "batch": mcts_envs.make_vec(id, 2, **settings)}
    with contextlib.suppress(ImportError):
        faces["sb3"] = mcts_envs.make_sb3_vec_env(id, 2, **settings)
    if ENTRIES[id].players > 1:
        faces["last seat"] = gymnasium.make(id, seat=ENTRIES[id].players - 1, **settings).unwrapped
        faces["aec"] = mcts_envs.make_aec(id, **settings)
        faces["parallel"] = mcts_envs.make_parallel(id, **settings)
    return faces


def other_settings(id):
    """Return the first that fits; none for a game without settings."""
    return next((settings for name, settings in SETTING.items() if name in id), {})


# Before the first reset


def looks(name, env):
    """Yield all that looks at the state of a face, or changes it."""
    inner = env.unwrapped
    one = (lambda: inner.view(0)) if name in ("batch", "sb3") else lambda: env
    for agent in ("random", "scripted", "uniform", "mcts", "one_step", "halving", "gumbel", "rhea", "best"):
        yield f"{agent}.act", lambda agent=agent: agents.make(agent).act(one())
    yield "search", lambda: agents.make("mcts", simulations=5).search(one())
    yield "start", lambda: agents.make("mcts", simulations=5).start(one())
    if name in ("aec", "parallel"):
        yield from looks_of_several(name, env)
        return
    space = env.observation_space
    seen = np.zeros(space.shape if name != "sb3" else (2, *space.shape), np.float32)
    yield "predict", lambda: agents.make("mcts", simulations=5).bind(env).predict(seen)
    games = range(2) if name == "batch" else [None]
    if name == "sb3":
        yield "step", lambda: env.step(np.zeros(2, np.int64))
        for method in ("action_masks", "legal_actions", "position", "clone_state", "view", "observe", "render"):
            yield method, lambda method=method: env.env_method(method)
            yield f"got {method}", lambda method=method: [each() for each in env.get_attr(method)]
        yield "over", lambda: env.get_attr("over")
        return
    yield "step", lambda: env.step(0 if name != "batch" else np.zeros(2, np.int64))
    for method in ("view", "position", "clone_state"):
        for i in games:
            yield method, lambda method=method, i=i: getattr(inner, method)(*([] if i is None else [i]))
    yield "action_masks", inner.action_masks
    yield "render", inner.render
    if name != "batch":
        yield "legal_actions", inner.legal_actions


def looks_of_several(name, env):
    inner, first = env.unwrapped, env.possible_agents[0]
    for method in ("observe", "view", "legal_actions", "action_masks"):
        yield method, lambda method=method: getattr(inner, method)(first)
    for method in ("view", "legal_actions", "action_masks", "state", "render", "position", "clone_state"):
        yield method, getattr(inner, method)
    yield "bound", lambda: agents.make("mcts").bind(env).predict(np.zeros(3))
    if name == "aec":
        yield "step", lambda: env.step(0)
        yield "last", env.last
        yield "last, unobserved", lambda: env.last(observe=False)
        yield "agent_iter", lambda: [*env.agent_iter()]
    else:
        yield "state of the conversion", env.state
        yield "step", lambda: env.step(dict.fromkeys(env.possible_agents, 0))


@pytest.mark.parametrize("id", IDS)
def test_nothing_is_seen_before_the_first_reset(id):
    seen, checked = [], 0
    for name, env in faces_of(id).items():
        for what, look in looks(name, env):
            try:
                look()
            except ResetNeeded as error:
                checked += "call reset() before" in str(error)
            else:
                seen.append((name, what))
    assert not seen
    assert checked > 35


def test_wrapped_and_in_a_dummy_vec_env():
    env = gymnasium.make("mcts_envs/Football11-v0")
    with pytest.raises(ResetNeeded, match=r"call reset\(\) before view\(\)"):
        agents.make("mcts", simulations=20).act(env)
    vec_env = pytest.importorskip("stable_baselines3.common.vec_env")
    dummy = vec_env.DummyVecEnv([lambda: gymnasium.make(LANE)])
    agent = agents.make("mcts", simulations=5).bind(dummy)
    with pytest.raises(ResetNeeded):
        agent.predict(np.zeros((1, *dummy.observation_space.shape), np.float32))
    with pytest.raises(ResetNeeded):
        dummy.env_method("action_masks")
    assert mcts_envs.make_sb3_vec_env(LANE, 2).has_attr("action_masks"), "sb3-contrib asks before it resets"


@pytest.mark.parametrize("name", ["step", "reset", "clone_state", "restore_state", "redraw"])
def test_an_opponent_that_takes_its_view_for_an_environment_is_told(name):
    class Looker:
        def act(self, env):
            return getattr(env, name)(0)

        def reseed(self, seed):
            pass

    env = gymnasium.make("mcts_envs/WallSurvival-v0", opponent=Looker(), seat=1)
    with pytest.raises(AttributeError, match=rf"a view has no {name}: an opponent looks .*view\.game\.step"):
        env.reset(seed=0)


def test_views_by_hand():
    env = gymnasium.make(LANE).unwrapped
    env.reset(seed=0)
    game, state = env.game, env.view().state
    assert View(game, state.copy(), 0).legal_actions().size
    with pytest.raises(ResetNeeded, match=r"random stream of this state is 0.*call game.reset"):
        View(game, game.new_state(), 0)
    for bad in (state[:-8], np.zeros(0, np.uint8), np.tile(state, 2)):
        with pytest.raises(ValueError, match=f"a state of {bad.size} bytes .* has states of {state.size} bytes"):
            View(game, bad, 0)
    for seat in (-1, 1):
        with pytest.raises(ValueError, match=f"looked at by player {seat}; .* and players 0 to 0"):
            View(game, state, seat)


# Damaged snapshots


class Fuzz:
    """Damages snapshots of one environment's faces, and restores them.

    Parameters
    ----------
    id : str
    seed : int
    """

    def __init__(self, id, seed):
        self.rng = np.random.default_rng(seed)
        self.faces, self.strangers, other = faces_of(id), faces_of(IDS[IDS.index(id) - 1]), other_settings(id)
        self.others = faces_of(id, **other) if other else self.strangers
        for env in (*self.faces.values(), *self.others.values(), *self.strangers.values()):
            env.reset() if env.unwrapped.__class__.__name__ == "GameVecEnv" else env.reset(seed=seed)
        self.trials, self.accepted = 0, []

    def saved(self, name, faces=None):
        env = (faces or self.faces)[name]
        if name == "sb3":
            return env.env_method("clone_state", indices=0)[0]
        return env.unwrapped.clone_state()

    def restore(self, name, snapshot):
        env = self.faces[name]
        if name == "sb3":
            env.env_method("restore_state", snapshot, indices=0)
        else:
            env.unwrapped.restore_state(*([0, snapshot] if name == "batch" else [snapshot]))

    def play(self, name, steps=25):
        """Play, look, and search: what a user does with a snapshot that was accepted."""
        env = self.faces[name]
        inner = env.unwrapped
        for _ in range(steps):
            if name in ("batch", "sb3"):
                masks = np.asarray(inner.action_masks() if name == "batch" else env.env_method("action_masks"))
                env.step(np.array([self.rng.choice(np.flatnonzero(m)) if m.any() else 0 for m in masks]))
            elif name == "aec":
                if not env.agents:
                    break
                legal = inner.legal_actions()
                env.step(int(self.rng.choice(legal)) if len(legal) else None)
            elif name == "parallel":
                env.step({a: int(self.rng.integers(inner.game.actions)) for a in env.agents})
            elif len(legal := inner.legal_actions()):
                env.step(int(self.rng.choice(legal)))
        view = inner.view()
        if len(view.legal_actions()):
            agents.make("mcts", simulations=10).search(view)
        view.game.text(view.state)
        view.game.picture(view.state)

    def changed(self, raw):
        """Return bytes with one of them, or four, changed."""
        raw = bytearray(raw)
        for i in self.rng.choice(len(raw), min(len(raw), 1 if self.rng.random() < 0.5 else 4), replace=False):
            raw[i] ^= int(self.rng.integers(1, 256))
        return bytes(raw)

    def damaged(self, name):
        """Return a damaged or foreign snapshot, and what is wrong with it."""
        good, kind = self.saved(name), int(self.rng.integers(10))
        if kind <= 2:
            return good._replace(state=self.changed(good.state)), "state"
        if kind == 3 and isinstance(good.face, bytes):
            return good._replace(face=self.changed(good.face)), "face"
        if kind == 3:
            return good._replace(face=self.changed_turn(good.face)), "face"
        if kind == 4:
            return good._replace(seal=int.from_bytes(self.changed(good.seal.to_bytes(8, "little")), "little")), "seal"
        if kind == 5:
            return good._replace(game=self.changed(good.game.encode()).decode("latin-1")), "fingerprint"
        if kind == 6:
            cut = int(self.rng.integers(1, 40))
            states = good.state[:-cut], good.state[cut:], good.state + bytes(cut), b""
            return good._replace(state=states[self.rng.integers(4)]), "length"
        if kind == 7:
            other = self.saved(name if name in self.others else "single", self.others)
            return (other, other._replace(game=good.game), good._replace(state=other.state))[self.rng.integers(3)], "of"
        if kind == 8:
            release = good.game[:-8] + f"{self.rng.integers(2**32):08x}"
            old = good._replace(game=release), good._replace(seal=None), Snapshot(*good[:3])
            return old[self.rng.integers(3)], "release"
        foreign = [each for each in map(self.saved, self.faces) if self.kind(each) != self.kind(good)]
        foreign.append(self.saved(name if name in self.strangers else "single", self.strangers))
        return foreign[self.rng.integers(len(foreign))], "seat or game"

    def kind(self, snapshot):
        """Return what tells whether two faces of one environment take each other's snapshots."""
        return snapshot.face[-8:] if isinstance(snapshot.face, bytes) else type(snapshot.face)

    def changed_turn(self, face):
        """Return what the PettingZoo faces keep beside the state with one part of it changed."""
        if not len(face):
            return (1,)
        wild = [10**6, -7, float("nan"), "player_9", None, (), 2.5, b"x"]
        parts = list(face)
        i = int(self.rng.integers(len(parts)))
        part = list(parts[i])
        if part and self.rng.random() < 0.7:
            part[self.rng.integers(len(part))] = wild[self.rng.integers(len(wild))]
            parts[i] = tuple(part)
        else:
            parts[i] = wild[self.rng.integers(len(wild))]
        changed = type(face)(*parts)
        return changed if changed != face else self.changed_turn(face)

    def run(self, trials):
        """Restore so many damaged snapshots; return which were accepted, and what was wrong with them."""
        names = [*self.faces]
        for trial in range(trials):
            name = names[trial % len(names)]
            if trial % (4 * len(names)) < len(names):
                self.play(name, int(self.rng.integers(1, 4)))
            before, (bad, wrong) = self.saved(name), self.damaged(name)
            self.trials += 1
            refused = ""
            try:
                self.restore(name, bad)
            except ValueError as error:
                refused = str(error)
            if refused:
                assert any(cure in refused for cure in ("anew", "made with", "that took it")), refused
                assert self.saved(name) == before, "a refused snapshot changed something"
            else:
                self.accepted.append((name, wrong))
                self.play(name)
        for name, env in self.faces.items():
            if name != "sb3":
                env.reset(seed=3)
                fresh = faces_of(self.faces["single"].spec.id)[name]
                fresh.reset(seed=3)
                assert fresh.unwrapped.clone_state() == env.unwrapped.clone_state(), "the rules have changed"
        return self.accepted


@pytest.mark.parametrize("id", IDS)
def test_damaged_snapshots_are_refused(id):
    assert not Fuzz(id, seed=1).run(40)


@pytest.mark.slow
@pytest.mark.parametrize("id", IDS)
def test_damaged_snapshots_by_the_hundred(id):
    """In processes of their own, so that signals and hangs are seen."""
    code = f"from tests.core.test_guards import Fuzz; fuzz = Fuzz({id!r}, 2); print(fuzz.run(400), fuzz.trials)"
    root = Path(__file__).parents[2]
    run = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=300)
    assert (run.returncode, run.stdout.strip()) == (0, "[] 400"), run.stderr


def test_old_and_forged_snapshots_say_what_is_wrong():
    env = gymnasium.make(LANE).unwrapped
    env.reset(seed=0)
    good = env.clone_state()
    with pytest.raises(ValueError, match=r"has no seal: an older release took it.*take it anew by clone_state\(\)"):
        env.restore_state(Snapshot(good.game, good.state, good.face))
    with pytest.raises(ValueError, match=r"another release took it, which lays states out differently; take it anew"):
        env.restore_state(good._replace(game=good.game[:-8] + "00000000"))
    with pytest.raises(ValueError, match="its seal does not fit its bytes; take it anew"):
        env.restore_state(good._replace(seal=good.seal ^ 1))
    state = bytearray(good.state)
    state[env.game.settings.start] ^= 1
    seal = Seal(env.game).number(bytes(state), good.face)
    with pytest.raises(ValueError, match=r"settings in the snapshot's state are not those of its game; .*gym.make"):
        env.restore_state(good._replace(state=bytes(state), seal=seal))
    assert env.clone_state() == good


def test_seals_are_of_all_that_is_saved():
    env, twin = (GameAECEnv(TicTacToe) for _ in range(2))
    for face in (env, twin):
        face.reset(seed=0)
        face.step(4)
    twin.rewards["player_0"] = -0.0
    assert env.clone_state() == twin.clone_state()
    assert hash(env.clone_state()) == hash(twin.clone_state())
    seals = {env.clone_state().seal, env.clone_state(include_rng=False).seal}
    env.step(0)
    assert len(seals | {env.clone_state().seal}) == 3


# Resets


@pytest.mark.parametrize("id", IDS)
def test_changed_settings_do_not_survive_a_reset(id):
    for name, env in faces_of(id).items():
        if name == "sb3":
            continue
        env.reset(seed=1)
        first = env.unwrapped.clone_state()
        state, kept = env.unwrapped.view().state, env.unwrapped.game.settings
        state[kept] ^= 255  # nothing where a game has no settings
        state[kept.stop + 8 :] = 255
        env.reset(seed=1)
        assert env.unwrapped.clone_state() == first


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_batches_start_anew_from_the_template(mode):
    batch = mcts_envs.make_vec(LANE, 2, autoreset_mode=mode, max_steps=3)
    batch.reset(seed=0)
    state, kept = batch.view(1).state, batch.game.settings
    state[kept][:8] = np.frombuffer(np.float64(0.77).tobytes(), np.uint8)  # p_plant
    ended = False
    for _ in range(4):
        ended |= batch.step([9, 9])[3][1]
    assert ended
    assert np.array_equal(state[kept], batch.game.template[kept])


# Pickles


def test_damaged_pickles_of_environments_are_refused():
    env = gymnasium.make("mcts_envs/Bomber-v0").unwrapped
    env.reset(seed=0)
    batch = StakesVector(3, seat=1)
    batch.reset(seed=0)
    aec = GameAECEnv(Stakes)
    aec.reset(seed=0)
    state = env.view().state
    for face, part in ((env, state[40:].tobytes()), (batch, batch._states.tobytes()), (aec, aec._state.tobytes())):
        whole = pickle.dumps(face)
        at = whole.index(part)
        assert pickle.loads(whole).unwrapped.clone_state() == face.clone_state()
        with pytest.raises(ValueError, match="damaged: its seal does not fit its bytes"):
            pickle.loads(whole[: at + 9] + bytes([whole[at + 9] ^ 5]) + whole[at + 10 :])


def test_pickled_games_belong_to_their_release():
    game = gymnasium.make(LANE).unwrapped.game
    assert pickle.loads(pickle.dumps(game)).fingerprint == game.fingerprint
    for key, value in (("template", game.template[::-1].copy()), ("pickled", ("0.0.1", game.fingerprint))):
        with pytest.raises(ValueError, match="it is damaged or of another release; make the game anew"):
            Game.__new__(Game).__setstate__(game.__getstate__() | {key: value})


def test_damaged_streams_of_agents_are_refused():
    agent = agents.make("rhea", seed=4)
    assert np.array_equal(pickle.loads(pickle.dumps(agent)).stream, agent.stream)
    agent.stream[8] = 200
    with pytest.raises(ValueError, match="pickle of agent 'rhea' is damaged: its random stream is none"):
        pickle.loads(pickle.dumps(agent))


@pytest.mark.parametrize("opponent", ["random", "scripted"])
def test_batches_are_pickled_into_other_processes(opponent):
    """Tables of kernels are addresses, which mean nothing there."""
    batch = mcts_envs.make_vec("Football1-v0", 2, opponent=opponent, autoreset_mode="SameStep")
    batch.reset(seed=0)
    code = (
        "import pickle, sys; batch = pickle.load(sys.stdin.buffer)\n"
        "for _ in range(30): batch.step(batch.action_masks().argmax(axis=1))\n"
        "sys.stdout.buffer.write(pickle.dumps([batch.clone_state(i) for i in range(2)]))"
    )
    given = pickle.dumps(batch)
    run = subprocess.run([sys.executable, "-c", code], input=given, capture_output=True, check=True, timeout=300)
    for _ in range(30):
        batch.step(batch.action_masks().argmax(axis=1))
    assert pickle.loads(run.stdout) == [batch.clone_state(i) for i in range(2)]


@pytest.mark.parametrize("make", ["vec", "sb3"])
def test_batches_are_copied_with_their_chance(make):
    if make == "vec":
        batch = mcts_envs.make_vec(LANE, 2)
    else:
        pytest.importorskip("stable_baselines3")
        batch = mcts_envs.make_sb3_vec_env(LANE, 2, seed=5).venv  # SB3's own monitor cannot be copied
    early = copy.deepcopy(batch)
    batch.reset()
    batch.step(np.array([9, 9]))
    copies = batch, copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))
    for each in copies:
        each.reset()
    first, *others = (np.asarray(each.step(np.array([9, 0]))[0]) for each in copies)
    assert all(np.array_equal(first, other) for other in others)
    with pytest.raises(ResetNeeded):
        early.step(np.array([9, 9]))


# Opponents


class Bot:
    """A player."""

    def act(self, env):
        return 0

    def reseed(self, seed):
        """It has no chance."""


BOT = Bot()


def make_bot():
    raise AssertionError("functions are not called")


def test_entry_points_are_known_to_be_players_before_they_are_called():
    assert isinstance(player(f"{__name__}:Bot"), Bot)
    assert player(f"{__name__}:BOT") is BOT
    assert player("agents:mcts").name == "mcts"
    assert repr(player("agents:mcts:simulations=20:c=2")) == "mcts(simulations=20, c=2)"
    assert player("agents.mcts:MCTS").name == "mcts"
    for name in ("os:abort", "os:getcwd", "builtins:exit", "builtins:dict", "sys:argv", f"{__name__}:make_bot"):
        with pytest.raises(TypeError, match=f"opponent {name} is .*, neither a player nor a class of players"):
            TicTacToe(opponent=name)
    with pytest.raises(ValueError, match="gymnasium has no CartPole-v1"):
        TicTacToe(opponent="gymnasium:CartPole-v1")
    with pytest.raises(TypeError, match=r"Bot'> is a class; give an object of it, such as Bot\(\)"):
        TicTacToe(opponent=Bot)
