"""Opponents inside a batch: mixtures, all seats in turn, policies in one forward, past selves, imitation."""

import json
from dataclasses import dataclass

import gymnasium
import numpy as np
import pytest

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecNormalize

import agents
import mcts_envs
from agents.learning.evaluation import evaluate
from agents.learning.imitation import _watch, imitate
from agents.learning.networks import PlanesExtractor
from agents.learning.saved import storage
from agents.learning.saved.notices import PolicyWarning
from agents.learning.selfplay import PastSelf, SelfPlay, shares
from mcts_envs.core.api import mixed
from mcts_envs.core.api.mixture import Mixture, OneByOne
from mcts_envs.core.kernel import interpreted
from mcts_envs.core.showing import rendered
from mcts_envs.games.wall_survival.spec import WallSurvival, wall_survival
from tests.learning.quick import make, quick

pytestmark = pytest.mark.filterwarnings("ignore::agents.learning.saved.notices.PolicyWarning")

WALL = {"env_id": "WallSurvival-v0", "settings": {"board_size": 3}}
SMALL = {"n_steps": 16, "batch_size": 64, "n_epochs": 1, "policy_kwargs": {"net_arch": [8]}}


@dataclass
class Last:
    """Chooses the last legal action; as a dataclass it has no hash."""

    def act(self, view):
        return view.legal_actions()[-1]

    def reseed(self, seed):
        pass


class Rogue:
    """Chooses what is no action."""

    name = "rogue"

    def act(self, view):
        return 0

    def act_all(self, game, states, players, seeds):
        return np.full(len(states), game.actions)

    def reseed(self, seed):
        pass


def batch(env_id="WallSurvival-v0", n=4, seed=5, **settings):
    more = {"board_size": 3} if env_id.startswith("Wall") else {}
    return mcts_envs.make_sb3_vec_env(env_id, n, seed=seed, **more, **settings)


def rollout(env, steps, seed=0):
    """Play legal actions, the k-th of a game chosen by its number alone; return what each step gave."""
    found, seen = [], env.reset()
    for step in range(steps):
        masks = np.stack(env.env_method("action_masks"))
        actions = [_pick(mask, step + seed) for mask in masks]
        found.append((seen, masks, actions, *env.step(np.array(actions))))
        seen = found[-1][3]
    return found


def _pick(mask, number):
    legal = np.flatnonzero(mask)
    return int(legal[number * 7 % len(legal)]) if len(legal) else 0


def ends(played):
    return [info for step in played for info in step[-1] if "outcome" in info]


MIXTURES = [
    ("WallSurvival-v0", {"greedy": 1, "random": 1}),
    ("WallSurvival-v0", "agents:mobility"),
    ("BomberDuel-v0", {"random_safe": 1, "agents:uniform": 2}),
    ("Football1-v0", {"scripted": 1, "random_types": 1, "random": 1}),
    ("Bomber-v0", {"rule_based": 1, "agents:uniform": 1}),
]


@pytest.mark.parametrize(("env_id", "opponent"), MIXTURES)
def test_a_game_does_not_depend_on_the_others_of_its_batch(env_id, opponent):
    together = rollout(batch(env_id, 3, seat=1, opponent=opponent), 60)
    for i in range(3):
        alone = rollout(batch(env_id, 1, seed=5 + i, seat=1, opponent=opponent), 60)
        for a, b in zip(together, alone, strict=True):
            for mine, its in zip(a[:6], b[:6], strict=True):
                assert np.array_equal(mine[i], its[0])
            assert a[6][i].get("opponents") == b[6][0].get("opponents")


@pytest.mark.parametrize(("env_id", "opponent"), MIXTURES)
def test_what_the_seat_sees_is_what_its_view_shows(env_id, opponent):
    env = batch(env_id, 4, seat="all", opponent=opponent)
    env.reset()
    for step in range(50):
        masks = np.stack(env.env_method("action_masks"))
        seen, rewards, dones, infos = env.step(np.array([_pick(mask, step) for mask in masks]))
        for i, view in enumerate(env.env_method("view")):
            assert view.player == env.get_attr("seat", i)[0]
            assert np.array_equal(view.observe().reshape(-1), seen[i].reshape(-1))
            assert np.array_equal(view.action_masks(), env.env_method("action_masks", indices=i)[0])
            assert ("outcome" in infos[i]) == dones[i]
            if dones[i] and env_id.startswith("Wall"):
                assert rewards[i] == 2 * infos[i]["outcome"] - 1


def test_all_seats_are_played_in_turn():
    played = ends(rollout(batch(seat="all", opponent="random"), 40))
    seats = [info["seat"] for info in played]
    assert {0, 1} == set(seats)
    assert abs(seats.count(0) - seats.count(1)) <= 4
    assert {info["seat"] for info in ends(rollout(batch(seat=1, opponent={"random": 1}), 40))} == {1}


def test_pictures_mark_the_seat_of_each_game():
    env = batch(n=2, seat="all", opponent=Last(), render_mode="rgb_array")
    env.reset()
    for i, shown in enumerate(env.get_images()):
        view = env.view(i)
        assert np.array_equal(shown, rendered(view.game, view.state, "rgb_array", seat=i))
        assert not np.array_equal(shown, rendered(view.game, view.state, "rgb_array", seat=1 - i))


def test_opponents_are_drawn_by_their_weights_which_may_change():
    env = batch(n=16, opponent={"random": 3, "greedy": 1})
    names = [info["opponents"] for info in ends(rollout(env, 120))]
    assert 0.65 < names.count(("random",)) / len(names) < 0.85
    mixture = env.unwrapped.opponents
    mixture.weights = {"random": 0}
    assert mixture.weights == {"random": 0, "greedy": 1}
    names = [info["opponents"] for info in ends(rollout(env, 30))]
    assert set(names) == {("greedy",)}
    found = {opponent.name: opponent for opponent in mixture.all}
    assert found["greedy"].games == 100
    assert found["random"].points > found["greedy"].points


def test_games_of_a_team_count_for_opponents_and_not_for_the_mate():
    env = batch("BomberTeam-v0", 4, opponent={"random": 1, "random_safe": 1}, max_steps=40)
    played = ends(rollout(env, 60))
    assert len(played) > 3
    games = sum(opponent.games for opponent in env.unwrapped.opponents.all)
    assert games == 2 * len(played)
    assert all(len(info["opponents"]) == 3 for info in played)


def test_an_observation_in_bytes_is_the_other_one():
    options = {"seat": "all", "opponent": {"greedy": 1}, "observation": "planes"}
    bytes_, floats = batch(observation_dtype="uint8", **options), batch(**options)
    for a, b in zip(rollout(bytes_, 20), rollout(floats, 20), strict=True):
        assert a[3].dtype == np.uint8
        assert np.array_equal(a[3], np.round(255 * b[3]))


def test_interpreted_games_go_as_compiled_ones(monkeypatch):
    class Plain(WallSurvival):
        make_game = staticmethod(lambda board_size: wall_survival(board_size).interpreted())

    def play(env_class):
        env = mixed.mixed(env_class)(3, seat="all", opponent={"greedy": 1, "random": 1, "self": 1}, board_size=3)
        env.opponents.add_self("past", OneByOne(Last()))
        found = [env.reset(seed=2)[0]]
        for step in range(25):
            actions = [_pick(mask, step) for mask in env.action_masks()]
            found += [part.copy() for part in env.play(np.array(actions))]
        return found

    compiled = play(WallSurvival)
    for name in ("go_on", "look", "draw_opponents"):
        monkeypatch.setattr(mixed, name, interpreted(getattr(mixed, name)))
    for a, b in zip(compiled, play(Plain), strict=True):
        assert np.array_equal(a, b)


def test_looking_one_step_ahead_for_many_finds_the_best_actions():
    env, agent = batch(n=16, opponent="random"), agents.make("one_step", model="mobility", samples=1)
    env.reset()
    game = env.get_attr("game", 0)[0]
    states = np.stack([view.state for view in env.env_method("view")])
    for seed in (0, 1):
        seeds = np.random.default_rng(seed).integers(2**64, size=16, dtype=np.uint64)
        found = agent.act_all(game, states, np.zeros(16, np.int64), seeds)
        assert np.array_equal(found, agent.act_all(game, states, np.zeros(16, np.int64), seeds))
        for view, action in zip(env.env_method("view"), found, strict=True):
            values = agent.search(view).values
            assert values[action] == np.nanmax(values)


def test_a_saved_policy_plays_all_games_as_it_plays_each(tmp_path):
    path = quick(tmp_path, "maskable_ppo", timesteps=256, changes=SMALL, **WALL).path
    env = batch(n=8, opponent={f"sb3:{path}": 1})
    assert len(ends(rollout(env, 20))) > 8
    game, views = env.get_attr("game", 0)[0], env.env_method("view")
    states, players = np.stack([view.state for view in views]), np.zeros(8, np.int64)
    seeds = np.arange(8, dtype=np.uint64) << np.uint64(60)
    best = agents.make(f"sb3:{path}")
    asked = game, states, players, seeds
    assert np.array_equal(best.act_all(*asked), OneByOne(best).act_all(*asked))
    drawing = agents.make(f"sb3:{path}", deterministic=False)
    for view, action in zip(views, drawing.act_all(*asked), strict=True):
        assert action in view.legal_actions()
    alone = gymnasium.make("mcts_envs/WallSurvival-v0", board_size=3, opponent=f"sb3:{path}")
    alone.reset(seed=0)


# Where games start


def positions_of(tmp_path, name, turns, env_id="WallSurvival-v0"):
    env = batch(env_id, 6, seed=1, **({"opponent": "random"} if env_id.startswith("Wall") else {}))
    env.reset()
    for step in range(turns):
        env.step(np.array([_pick(mask, step) for mask in env.env_method("action_masks")]))
    found = [position for position in env.env_method("position") if position.get("last") or position.get("t")]
    path = tmp_path / name
    path.write_text("".join(json.dumps(p) + "\n" for p in found))
    return path, found


@pytest.mark.parametrize("env_id", ["WallSurvival-v0", "LaneDefense3x3-v0"])
def test_games_start_from_the_positions_of_a_file(tmp_path, env_id):
    path, positions = positions_of(tmp_path, "late.jsonl", 1, env_id)
    env = batch(env_id, 16, starts=str(path))
    env.reset()
    assert all(position in positions for position in env.env_method("position"))
    assert len({json.dumps(position) for position in env.env_method("position")}) > 1
    assert ends(rollout(env, 30))
    mixed = batch(env_id, 16, starts={"reset": 1, str(path): 1})
    mixed.reset()
    assert 2 < sum(position in positions for position in mixed.env_method("position")) < 14
    mixed.unwrapped.starts.weights = {str(path): 0}
    mixed.reset()
    assert not any(position in positions for position in mixed.env_method("position"))


def test_a_curriculum_is_a_matter_of_weights(tmp_path):
    path = str(positions_of(tmp_path, "late.jsonl", 1)[0])
    settings = {"board_size": 3, "seat": "all", "starts": {path: 1, "reset": 1}}
    changes = {**SMALL, "self_play": {"starts": {path: [1, 0], "reset": [0, 1]}}}
    done = quick(tmp_path / "out", env_id="WallSurvival-v0", settings=settings, changes=changes)
    assert evaluate(done.path, 8).games == 8
    env = batch(n=8, starts={path: 1, "reset": 1})
    model = PPO("MlpPolicy", env, n_steps=16, batch_size=64, n_epochs=1, seed=0)
    model.learn(512, callback=SelfPlay(starts={path: (1, 0)}))
    assert env.unwrapped.starts.weights == {path: 0.25, "reset": 1}
    with pytest.raises(ValueError, match="all games start anew; make the environment with starts="):
        PPO("MlpPolicy", batch(seat="all"), n_steps=16).learn(16, callback=SelfPlay(starts={path: (1, 0)}))
    with pytest.raises(ValueError, match=r"unknown start 'late'"):
        model.learn(16, callback=SelfPlay(starts={"late": (1, 0)}))


def test_wrong_starts(tmp_path):
    path = tmp_path / "bad.jsonl"
    with pytest.raises(FileNotFoundError, match=r"there is no file .*bad\.jsonl; give one"):
        batch(starts=str(path))
    path.write_text("\n")
    with pytest.raises(ValueError, match="has no position"):
        batch(starts=str(path))
    path.write_text('\n{"M": 4}\n', "utf-8-sig")
    with pytest.raises(ValueError, match=r"bad\.jsonl, line 2: "):
        batch(starts=str(path))
    path.write_text('{"M": 4}\n', "utf-16")
    with pytest.raises(ValueError, match=r"bad\.jsonl is no text in UTF-8 .*; save it as UTF-8"):
        batch(starts=str(path))
    with pytest.raises(ValueError, match=r"starts .* have no weight above 0"):
        batch(starts={"reset": 0})


# Past selves


@pytest.mark.parametrize("algorithm", [PPO, MaskablePPO])
def test_a_past_self_draws_as_its_model_does(algorithm):
    env = VecNormalize(batch(n=1, opponent="agents:uniform"), norm_reward=False)
    model = algorithm("MlpPolicy", env, n_steps=16, batch_size=16, seed=1).learn(64)
    past = PastSelf(model)
    game, view = env.get_attr("game", 0)[0], env.env_method("view")[0]
    many = 4000
    seeds = np.random.default_rng(0).integers(2**64, size=many, dtype=np.uint64)
    found = past.act_all(game, np.tile(view.state, (many, 1)), np.zeros(many, np.int64), seeds)
    shown = model.policy.obs_to_tensor(env.normalize_obs(view.observe()[None]))[0]
    extra = (view.action_masks()[None],) if algorithm is MaskablePPO else ()
    expected = model.policy.get_distribution(shown, *extra).distribution.probs.detach().numpy()[0]
    assert np.abs(np.bincount(found, minlength=game.actions) / many - expected).max() < 0.03
    before = past.policy.state_dict()["action_net.weight"].clone()
    model.learn(64)
    assert np.array_equal(past.policy.state_dict()["action_net.weight"], before)


def test_a_past_self_with_an_extractor_for_each_tower_is_its_model():
    env = batch(n=1, observation="planes", opponent="agents:uniform")
    kwargs = {"features_extractor_class": PlanesExtractor, "share_features_extractor": False, "normalize_images": False}
    model = PPO("CnnPolicy", env, n_steps=16, batch_size=16, policy_kwargs=kwargs).learn(16)
    past = PastSelf(model).policy.state_dict()
    for name, weights in model.policy.state_dict().items():
        assert np.array_equal(past[name], weights), name


def test_past_selves_join_between_rollouts_of_an_ordinary_training():
    env = batch(n=8, seat="all", opponent={"self": 2, "greedy": 1})
    model = PPO("MlpPolicy", env, n_steps=16, batch_size=64, n_epochs=1, seed=0)
    model.learn(1280, callback=SelfPlay(every=256, most=3, weights={"greedy": (1, 0)}))
    mixture = env.unwrapped.opponents
    assert [past.name for past in mixture.selves] == ["self@512", "self@768", "self@1024"]
    assert mixture.weights["greedy"] == pytest.approx(0.1)
    assert np.allclose(mixture.drawn[1:], 2 / 3)
    assert sum(past.games for past in mixture.selves) > 20


def test_a_script_of_ones_own_keeps_past_selves_and_goes_on(tmp_path):
    path, selves = str(tmp_path / "own.zip"), {"seat": "all", "opponent": {"self": 2, "greedy": 1}}
    model, past = PPO("MlpPolicy", batch(**selves), n_steps=16, batch_size=64, n_epochs=1), SelfPlay(every=128, most=2)
    model.learn(256, callback=past)
    model.save(path)
    past.save(path, model)
    env, past = batch(n=2, **selves), SelfPlay(every=128, most=3)
    model = PPO.load(path, env=env)
    past.load(path, model)
    games = env.unwrapped.opponents.named["greedy"].games
    assert games > 0
    model.learn(128, callback=past, reset_num_timesteps=False)
    assert [each.name for each in env.unwrapped.opponents.selves] == ["self@0", "self@128", "self@256"]
    assert env.unwrapped.opponents.named["greedy"].games > games
    model.learn(128, callback=past)  # from 0 steps again, and still against whom it has become
    assert [each.name for each in env.unwrapped.opponents.selves] == ["self@128", "self@256", "self@0"]


def test_who_is_chosen_among_past_selves():
    env = batch(n=1, opponent={"self": 1})
    env.reset()
    mixture = env.unwrapped.opponents
    for points in (0.9, 0.5, 0.0):
        mixture.add_self("past", OneByOne(agents.make("uniform"))).points = points
    assert shares(mixture.selves, "latest").tolist() == [0, 0, 1]
    assert shares(mixture.selves, "uniform").tolist() == [1, 1, 1]
    assert np.allclose(shares(mixture.selves, "prioritized"), [0.01, 0.25, 1.0])
    mixture.share([0, 1, 3])
    assert mixture.drawn.tolist() == [0, 0.25, 0.75]


def test_without_past_selves_a_training_is_refused():
    env = batch(opponent="self")
    env.reset()
    with pytest.raises(ValueError, match=r"no past selves yet: give learn\(callback=SelfPlay\(\)\)"):
        env.step(np.zeros(4, np.int64))
    with pytest.raises(ValueError, match="the environment has no mixture"):
        PPO("MlpPolicy", make("WallSurvival-v0"), n_steps=16, batch_size=16).learn(16, callback=SelfPlay())
    mixed = PPO("MlpPolicy", batch(opponent={"random": 1}), n_steps=16)
    with pytest.raises(ValueError, match="unknown opponent 'rendom'; did you mean 'random'"):
        mixed.learn(64, callback=SelfPlay(weights={"rendom": (1, 0)}))


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"opponent": {"gredy": 1}}, ValueError, "did you mean 'greedy'"),
        ({"opponent": {"greedy": -1}}, ValueError, r"weight of greedy -1\.0 is outside"),
        ({"opponent": {"greedy": "much"}}, TypeError, "weight of greedy"),
        ({"opponent": {"greedy": 0, "random": 0}}, ValueError, "no weight above 0"),
        ({"opponent": {}}, ValueError, "no weight above 0"),
        ({"opponent": ["greedy"], "seat": "all"}, ValueError, "is a list"),
        ({"opponent": "sb3:nowhere.zip"}, FileNotFoundError, "there is no policy nowhere.zip"),
        ({"opponent": {"agents:rule_based": 1}}, ValueError, "wall_survival has no preset 'rule_based'"),
        ({"opponent": {Rogue(): 1, Rogue(): 2}}, ValueError, "several are called rogue; give each player a name"),
        ({"seat": "both"}, TypeError, "seat 'both'"),
        ({"seat": 2, "opponent": {"greedy": 1}}, ValueError, r"seat 2 is outside \[0, 1\]"),
    ],
)
def test_wrong_opponents(settings, error, message):
    with pytest.raises(error, match=message):
        batch(**settings)


def test_wrong_callbacks_and_games_that_cannot_be_saved():
    for options, message in (
        ({"every": 0}, "every 0 is outside"),
        ({"most": 0}, "most 0 is outside"),
        ({"choice": "last"}, "unknown choice 'last'; did you mean 'latest'"),
        ({"weights": {"random": 1}}, "are not two numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            SelfPlay(**options)
    env = batch(seat="all")
    env.reset()
    with pytest.raises(ValueError, match="are not saved: who plays is no part of a snapshot"):
        env.env_method("clone_state")
    with pytest.raises(ValueError, match="is a game for one"):
        batch("LaneDefense3x3-v0", opponent={"random": 1})
    with pytest.raises(ValueError, match="have no past selves among them; add 'self'"):
        Mixture(env.get_attr("game", 0)[0], {"greedy": 1}).add_self("x", OneByOne(agents.make("uniform")))
    with pytest.raises(ValueError, match="are not 0 numbers"):
        env.unwrapped.opponents.share([1])


def test_an_opponent_who_chooses_no_action_is_named():
    env = batch(opponent=Rogue())
    env.reset()
    with pytest.raises(ValueError, match=r"opponent rogue chose action 36, which is outside Discrete\(36\)"):
        env.step(np.array([_pick(mask, 0) for mask in env.env_method("action_masks")]))


# Trainings


def test_a_training_with_past_selves_is_saved_and_goes_on(tmp_path):
    settings = {"board_size": 3, "seat": "all", "opponent": {"self": 1, "greedy": 1}}
    changes = {**SMALL, "self_play": {"every": 256, "most": 4, "choice": "prioritized"}}
    options = {"env_id": "WallSurvival-v0", "settings": settings, "changes": changes}
    first = quick(tmp_path, "maskable_ppo", checkpoint_every=256, **options)
    about = json.loads(first.path.with_suffix(".json").read_text())
    assert about["settings"] == settings
    assert about["hyperparameters"]["self_play"]["choice"] == "prioritized"
    with np.load(tmp_path / "maskable_ppo.selves.npz") as arrays:
        saved = json.loads(arrays["about"].tobytes())
    assert [name for name, *_ in saved["selves"]] == ["self@0", "self@256", "self@512", "self@768"]
    assert len(list((tmp_path / "checkpoints").glob("*.selves.npz"))) == 3
    assert evaluate(first.path, 16).games == 16
    resumed = quick(tmp_path, "maskable_ppo", env_id="WallSurvival-v0", resume=first.path, timesteps=1280, changes={})
    with np.load(tmp_path / "maskable_ppo.selves.npz") as arrays:
        names = [name for name, *_ in json.loads(arrays["about"].tobytes())["selves"]]
    assert resumed.timesteps == 1280
    assert names == ["self@256", "self@512", "self@768", "self@1024"]
    (tmp_path / "maskable_ppo.selves.npz").write_bytes(b"torn")
    with pytest.raises(ValueError, match="is damaged, or of other networks"):
        quick(tmp_path, "maskable_ppo", env_id="WallSurvival-v0", resume=first.path, timesteps=2048, changes={})
    with pytest.raises(ValueError, match="is for trainings against a mixture of opponents"):
        quick(tmp_path / "other", changes=changes)


@pytest.mark.filterwarnings("error::agents.learning.saved.notices.PolicyWarning")
def test_a_policy_of_all_seats_and_a_mixture_is_at_home_with_each(tmp_path):
    settings = {"board_size": 3, "seat": "all", "opponent": {"self": 1, "greedy": 1}}
    path = quick(tmp_path, env_id="WallSurvival-v0", settings=settings, changes=SMALL).path
    for here in ({"seat": 1, "opponent": "greedy"}, {"opponent": {"greedy": 1}}):
        env = batch(n=1, **here)
        env.reset()
        agents.make(f"sb3:{path}").bind(env).predict(env.reset())
    env = batch(n=1)
    stranger = agents.make(f"sb3:{path}").bind(env)
    with pytest.warns(PolicyWarning, match=r"trained with opponent={'self': 1, 'greedy': 1} \(here 'random'\)"):
        stranger.predict(env.reset())


def test_same_seed_same_weights_against_past_selves(tmp_path):
    settings = {"board_size": 3, "seat": "all", "opponent": {"self": 1, "agents:mobility": 1}}
    weights = []
    for name in ("one", "two"):
        path = quick(tmp_path / name, env_id="WallSurvival-v0", settings=settings, changes=SMALL).path
        weights.append(storage.load(path).model.policy.state_dict()["action_net.weight"].numpy())
    assert np.array_equal(*weights)


def test_a_policy_learns_from_a_teacher():
    env = batch(n=16, seat="all", opponent={"self": 1})
    model = MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=64, seed=0)
    first = imitate(model, "greedy", 1)
    assert imitate(model, {"agent": "greedy"}, 8_000) > first + 0.1
    assert env.unwrapped.opponents.waits_for_self
    with pytest.raises(ValueError, match="imitate noise 2"):
        imitate(model, "greedy", 1000, noise=2)


def test_what_a_teacher_has_where_a_game_is_cut_off_goes_on():
    """Nothing is paid for the only move, and after it all are worth 8, of which half counts."""
    env = batch("LaneDefense3x3-v0", 2, max_steps=1, reward_kill=0)
    model = PPO("MlpPolicy", env, n_steps=16, batch_size=32, gamma=0.5)
    with torch.no_grad():
        model.policy.value_net.weight[:], model.policy.value_net.bias[:] = 0.0, 8.0
    _, seen = _watch(model, env, OneByOne(Last()), env.reset(), 0.0, np.random.default_rng(0))
    assert seen["returns"].tolist() == [4.0] * 256


def test_a_training_begins_with_imitation_once(tmp_path):
    changes = {**SMALL, "imitate": {"agent": "greedy", "steps": 1024}}
    path = quick(tmp_path, changes=changes, **WALL).path
    assert (tmp_path / "checkpoints" / "ppo_0.zip").is_file()
    resumed = quick(tmp_path, env_id="WallSurvival-v0", resume=path, timesteps=2048, changes={})
    assert json.loads(resumed.path.with_suffix(".json").read_text())["hyperparameters"]["imitate"] == changes["imitate"]
    with pytest.raises(ValueError, match="imitate"):
        quick(tmp_path / "x", changes={"imitate": {"agent": "greedy"}}, **WALL)
