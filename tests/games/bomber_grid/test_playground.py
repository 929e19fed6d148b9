"""Playing in the original engine: its observations as our states, what is tracked over them, and who acts on them."""

import enum
import runpy
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import agents
from mcts_envs.core.kernel import record
from mcts_envs.games.bomber_grid.original import as_dict
from mcts_envs.games.bomber_grid.playground import Memory, PlaygroundAgent, from_observation
from mcts_envs.games.bomber_grid.rules.hidden import _see_one_flame
from mcts_envs.games.bomber_grid.rules.layout import STATE, WIDTH
from mcts_envs.games.bomber_grid.spec import bomber_grid
from tests.games.bomber_grid.test_rules import ALL, SETTINGS, Traces, collapses, fresh, observed

Item = enum.Enum("Item", {"Dummy": 9, **{f"Agent{i}": 10 + i for i in range(4)}})
EXAMPLE = Path(__file__).parents[3] / "examples" / "original_engine.py"
OBSERVED = [name for name in ALL if not name.startswith("stress")]
REMEMBERED = ("ffa_random_0", "onevsone", "team_simple", "cautious_PommeTeamCompetition-v0", "radio_v2")


def dressed(observation, env):
    """Return an observation with the types of the original."""
    planes = {key: value.astype(np.float64) for key, value in observation.items() if np.ndim(value) == 2}
    planes["board"] = observation["board"]
    members = {"teammate": Item(observation["teammate"]), "enemies": [Item(code) for code in observation["enemies"]]}
    return observation | planes | members | {"game_env": f"pommerman.envs.{env[-2:]}:Pomme", "new_key": None}


def compare_recorded(name, every):
    """Compare what is seen in the states made of every so many recorded observations; return how many."""
    of = (traces := Traces(name)).of
    episodes = np.searchsorted(of["ep_state_off"], of["obs_state"], "right") - 1
    compared = 0
    for q in range(0, len(of["obs_state"]), every):
        env = traces.episodes[episodes[q]]["env"]
        planes = [of[f"obs_{key}"][q].ravel() for key in ("board", "blast", "life", "dir", "flame")]
        flat = np.concatenate([*planes, of["obs_scalar"][q]]).astype(np.float32)
        if collapses(env, int(flat[-1])):
            continue
        view = from_observation(dressed(as_dict(flat), env))
        if flat[-1] == 0:
            flat[-3:-1] = 0  # words of the game before
        assert view.player == of["obs_agent"][q]
        assert np.array_equal(observed(view.game.variant("original"), view.state, view.player), flat)
        compared += 1
    return compared


@pytest.mark.parametrize("name", OBSERVED)
def test_recorded_observations_look_the_same(name):
    assert compare_recorded(name, 40) > 2


@pytest.mark.slow
@pytest.mark.parametrize("name", OBSERVED)
def test_every_recorded_observation_looks_the_same(name):
    assert compare_recorded(name, 1) > 100


def remembered(game, traces, episodes):
    """Yield the states of recorded games, each player who lives, and its view, memory kept."""
    original = game.variant("original")
    for _, first, start, length in list(traces.steps())[:episodes]:
        state, rewards = fresh(game, traces.position(first)), np.zeros(game.players)
        memories = [Memory() for _ in range(game.players)]
        for k in range(length):
            s = record(state, STATE)
            for player in np.flatnonzero(s.alive >> np.arange(game.players) & 1).tolist():
                memories[player].words = tuple(map(int, s.words[player]))
                seen = as_dict(observed(original, state, player))
                yield state, player, from_observation(seen, memories[player], game), memories[player]
            game.step(state, traces.actions(start + k, game), rewards)


def bombs_of(state):
    s = record(state, STATE)
    return {divmod(int(s.bomb_cell[b]), WIDTH): (int(s.bomb_owner[b]), int(s.bomb_way[b])) for b in range(s.n_bombs)}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * name.startswith("cautious")) for name in REMEMBERED]
)
def test_with_memory_a_player_knows_its_bombs_and_its_way(name):
    """Our own observation, the key and the scripted player ask for both."""
    traces = Traces(name)
    game = bomber_grid(**SETTINGS[traces.episodes[0]["env"]])
    weights, theirs, known, compared = np.zeros(game.actions), np.zeros(game.actions), 0, 0
    for state, player, view, memory in remembered(game, traces, 1 if name == "team_simple" else 3):
        assert np.array_equal(observed(game, view.state, player), observed(game, state, player))
        assert game.key(view.state, player) == game.key(state, player)
        game.advise(state, player, weights)
        game.advise(view.state, player, theirs)
        assert np.array_equal(weights, theirs)
        bombs, owners = bombs_of(state), memory.owners()
        assert all(bombs[cell][0] == owner for cell, owner in owners.items())
        assert owners.keys() == bombs.keys() or not memory.complete
        known, compared = known + len(owners), compared + 1
    assert compared > 60
    assert known > 20


def test_bombs_keep_their_owners_over_kicks():
    """In the crowded games with nobody's bombs at the start, players can kick, and bombs change their direction."""
    traces, game = Traces("stress_0"), bomber_grid()
    known = rolling = 0
    for state, _, _, memory in remembered(game, traces, 60):
        bombs = bombs_of(state)
        for cell, owner in memory.owners().items():
            assert bombs[cell][0] == owner
            known, rolling = known + 1, rolling + (bombs[cell][1] > 0)
    assert known > 300
    assert rolling > 20


def test_where_all_is_seen_futures_are_equal():
    game, rng = bomber_grid(n_items=0, max_steps=150), np.random.default_rng(0)
    original, weights, compared = game.variant("original"), np.zeros(game.actions), 0
    for seed in range(3):
        state, memories = game.new_state(), [Memory() for _ in range(4)]
        game.reset(state, np.uint64(seed))
        while game.active(state):
            actions, living = np.zeros(4, np.int64), np.flatnonzero(record(state, STATE).alive >> np.arange(4) & 1)
            for player in living:
                game.advise(state, player, weights)
                weights += 0.02
                actions[player] = rng.choice(6, p=weights / weights.sum())
            _see_one_flame(state, 0)  # an older one under it changes nothing where no item is hidden
            after, rewards = state.copy(), np.zeros(4)
            game.step(after, actions, rewards)
            for player in living.tolist():
                view = from_observation(as_dict(observed(original, state, player)), memories[player], game)
                record(view.state, STATE).stands[:] = record(state, STATE).stands  # where the dead lie
                assert game.key(view.state, -1) == game.key(state, -1)
                theirs = np.zeros(4)
                game.step(view.state, actions, theirs)
                assert game.key(view.state, -1) == game.key(after, -1)
                assert theirs.tolist() == rewards.tolist()
                compared += 1
            state = after
    assert compared > 500


def an_observation(settings, player=0, seed=0):
    game = bomber_grid(**settings)
    state = game.new_state()
    game.reset(state, np.uint64(seed))
    return as_dict(observed(game.variant("original"), state, player))


def test_what_the_others_take_in_sight_is_counted():
    observation, memory = an_observation({"n_items": 0}), Memory()
    board = observation["board"]
    board[board == 11] = 0
    board[9, 1], board[9, 2] = 11, 7
    from_observation(observation, memory)
    later = observation | {"board": board.copy(), "step_count": 1}
    later["board"][9, 1], later["board"][9, 2] = 0, 11
    assert record(from_observation(later, memory).state, STATE).strength.tolist() == [2, 3, 2, 2]


def test_a_collapse_that_the_original_has_not_shown_yet():
    observation = an_observation({}) | {"step_count": 500, "game_env": "pommerman.envs.v1:Pomme"}
    before, after = observation["board"], from_observation(observation).position()
    assert after["board"][0] == [1] * 11
    assert not (before[0] == 1).all()
    before[1, 1], before[0, 0], observation["position"] = 0, 10, (0, 0)
    assert PlaygroundAgent(agents.make("random")).act(observation) == 0


def test_the_same_again_and_a_new_game():
    observation, memory = an_observation(SETTINGS["PommeTeamCompetition-v0"], player=1), Memory()
    first = from_observation(observation, memory)
    assert np.array_equal(first.state, from_observation(observation).state)
    later = from_observation(observation | {"step_count": 1}, memory)
    assert later.episode is first.episode
    assert later.game is first.game
    assert np.array_equal(later.state, from_observation(observation | {"step_count": 1}, memory).state)
    assert from_observation(observation, memory).episode is not first.episode
    assert from_observation(observation).episode is None


def broken(key, *where, to):
    """Return a change of one entry of an observation."""

    def change(observation):
        if where:
            observation[key][where] = to
        elif to is None:
            del observation[key]
        else:
            observation[key] = to

    return change


BAD = [
    (broken("alive", to=None), "lacks 'alive'"),
    (broken("board", to=np.zeros((12, 12))), r"\['board'\] has shape \(12, 12\)"),
    (broken("bomb_life", to=np.zeros((9, 9))), "differ in shape"),
    (broken("bomb_life", 3, 4, to=2.5), r"\['bomb_life'\]\[3\]\[4\] 2.5 is not an integer"),
    (broken("bomb_life", 1, 1, to=5), r"has 5 at \[1, 1\] and observation\['bomb_blast_strength'\] 0"),
    (broken("board", 0, 0, to=3), r"has 0 at \[0, 0\], where observation\['board'\] has 3"),
    (broken("board", 0, 0, to=4), r"\['flame_life'\] has 0 at \[0, 0\]"),
    (broken("board", 0, 0, to=11), r"has 11 at \[9, 1\]: this player stands there twice"),
    (broken("board", 0, 0, to=5), "the fog"),
    (broken("alive", to=[10, 11, 12]), r"has 13 at \[1, 9\]: this player is not in"),
    (broken("alive", to=[10, 11, 12, 14]), r"\['alive'\]\[3\] 14 is outside"),
    (broken("enemies", to=[11]), "must be all players but the one who observes"),
    (broken("position", to=(2, 2)), "it must have 10"),
    (broken("position", to=4), "is not 2 integers"),
    (broken("can_kick", to=3), "not True or False"),
    (broken("blast_strength", to=11), r"\['blast_strength'\] 11 is more than 10.*blast_cap="),
    (broken("step_count", to=801), "is more than 800.*max_steps="),
    (broken("game_type", to=7), "outside"),
    (broken("board", 1, 9, to=0), r"has 13, whom observation\['board'\] does not show"),
]


@pytest.mark.parametrize(("change", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_observations(change, message):
    observation, memory = an_observation({}), Memory()
    change(observation)
    with pytest.raises((ValueError, TypeError), match=message):
        from_observation(observation, memory)
    assert memory.step == -1


def test_observations_of_something_else():
    ffa, team = an_observation({}), an_observation(SETTINGS["PommeTeamCompetition-v0"])
    with pytest.raises(TypeError, match="not the dictionary"):
        from_observation(np.zeros(372))
    with pytest.raises(ValueError, match="game_type 1 on a board of size 11"):
        from_observation(ffa, game=bomber_grid(mode="team"))
    with pytest.raises(ValueError, match=r"window of radius 4.*view="):
        from_observation(team, game=bomber_grid(mode="team", view=2))
    small = {"board_size": 8, "n_rigid": 10, "n_wood": 20, "n_items": 4}
    with pytest.raises(ValueError, match=r"is 8 x 8 with game_type 1.*pass game="):
        from_observation(an_observation(small))
    assert from_observation(an_observation(small), game=bomber_grid(**small)).player == 0
    memory = Memory()
    from_observation(team, memory)
    with pytest.raises(ValueError, match="of player 0 at step 0, and the observation of player 2 at step 3"):
        from_observation(an_observation(SETTINGS["PommeTeamCompetition-v0"], player=2) | {"step_count": 3}, memory)


class BaseAgent:
    """What the original's base class does to those derived from it."""

    def __init__(self):
        self._character = type("Bomber", (), {"agent_id": 3, "is_alive": True})()

    def __getattr__(self, attribute):
        return getattr(self._character, attribute)


class Ours(PlaygroundAgent, BaseAgent):
    pass


@pytest.mark.parametrize("env", ["PommeFFACompetition-v0", "PommeRadioCompetition-v2", "OneVsOne-v0"])
def test_agents_play_whole_games(env):
    game = bomber_grid(max_steps=40, **SETTINGS[env])
    names = ("mcts", "rule_based", "careful", "mcts_aiide")
    settings = {"mcts": {"simulations": 8}, "mcts_aiide": {"simulations": 8}}
    players = [Ours(agents.make(name, **settings.get(name, {})), game) for name in names[: game.players]]
    assert players[0].agent_id == 3
    words = game.actions // 6
    for seed in range(2):
        state, rewards = game.new_state(), np.zeros(game.players)
        game.reset(state, np.uint64(seed))
        while active := game.active(state):
            actions = np.zeros(game.players, np.int64)
            for player, one in enumerate(players):
                if active >> player & 1:
                    answer = one.act(dressed(as_dict(observed(game.variant("original"), state, player)), env), None)
                    answer = answer if words > 1 else [answer, 0, 0]
                    assert [type(part) for part in answer] == [int] * 3
                    actions[player] = answer[0] * words + 8 * answer[1] + answer[2]
            game.step(state, actions, rewards)
        for player, one in enumerate(players):
            one.episode_end(rewards[player])


class Engine:
    """Our engine with the face of the original's."""

    def __init__(self, env, players):
        self.game, self.env, self.players = bomber_grid(max_steps=5, **SETTINGS[env]), env, players
        self.state, self.rewards = self.game.new_state(), np.zeros(len(players))

    def observations(self):
        original = self.game.variant("original")
        return [dressed(as_dict(observed(original, self.state, p)), self.env) for p in range(len(self.players))]

    def reset(self):
        self.game.reset(self.state, np.uint64(0))
        return self.observations()

    def act(self, observations):
        return [one.act(seen, None) for one, seen in zip(self.players, observations, strict=True)]

    def step(self, actions):
        self.game.step(self.state, np.array(actions), self.rewards)
        done = self.game.active(self.state) == 0
        return self.observations(), self.rewards.tolist(), done, {"result": done and "tie"}


def test_the_example(monkeypatch, capsys):
    engine, players = ModuleType("pommerman"), ModuleType("pommerman.agents")
    engine.make, players.BaseAgent = Engine, BaseAgent
    players.SimpleAgent = lambda: Ours(agents.make("rule_based"))
    monkeypatch.setitem(sys.modules, "pommerman", engine)
    monkeypatch.setitem(sys.modules, "pommerman.agents", players)
    runpy.run_path(str(EXAMPLE))
    assert capsys.readouterr().out == "{'result': 'tie'}\n"
