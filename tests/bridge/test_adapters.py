"""Adapters: what classes of environments do not say themselves; those that come with the package, and one's own."""

import gymnasium as gym
import numpy as np
import pytest

import agents
from agents import bridge
from agents.bridge import adapters, means
from agents.bridge.cloning import Clone, Replay
from agents.bridge.copying.digest import digest
from agents.bridge.mirroring import mirrored
from tests.bridge.worlds import Walk, mcts, playing


@pytest.fixture
def registered(monkeypatch):
    """Forget adapters that a test registers."""
    monkeypatch.setattr(adapters, "_REGISTERED", {})
    adapters.adapter_of.cache_clear()
    yield
    adapters.adapter_of.cache_clear()


class Secret(Walk):
    """Keeps its state where nothing can copy it, and a number that its player cannot know."""

    def __init__(self):
        super().__init__()
        self.box = iter(range(10**9))
        self.number = 0

    def reset(self, *, seed=None, options=None):
        said = super().reset(seed=seed)
        self.number = int(self.np_random.integers(1000))
        return said

    def step(self, action):
        at, reward, *rest = super().step(action)
        return at, reward + (action == self.number % 2), *rest


class ForSecrets(bridge.Adapter):
    def copy(self, env):
        return env.at, env.number

    def restore(self, env, snapshot):
        env.at, env.number = snapshot

    def key(self, env):
        return env.at

    def determinize(self, env, agent, chance):
        assert agent is None
        env.number = int(chance.integers(1000))

    def legal(self, env, agent):
        return [True, env.at != 2]

    def evaluate(self, env):
        return [7.0 + env.at]


class Listing(ForSecrets):
    legal = None

    def actions(self, env, agent):
        return [0] if env.at == 2 else [0, 1]


@pytest.mark.usefixtures("registered")
def test_an_adapter_may_list_what_is_legal():
    bridge.register("tests.bridge.test_adapters.Secret", Listing())
    env = Secret()
    env.reset(seed=1)
    view, actions = bridge.view(env), [9, 9]
    assert view.game.legal(view.state, 0, actions) == 2
    assert actions == [0, 1]
    env.at = 2
    assert view.game.legal(view.state, 0, actions) == 1


class Lenient(Secret):
    def step(self, action):
        return super().step(action % 2)


def listed(actions):
    """Return an environment whose adapter lists these actions, whatever its state."""
    listing = Listing()
    listing.actions = lambda env, agent: actions
    bridge.register("tests.bridge.test_adapters.Secret", listing)
    env = Lenient()
    env.reset(seed=1)
    return env


@pytest.mark.usefixtures("registered")
def test_what_an_adapter_lists_wrongly_is_named():
    with pytest.raises(ValueError, match="the adapter of Lenient lists no legal action and the episode goes on"):
        mcts(50).act(listed([]))
    law = bridge.check_planning(listed([0, 3]))["masks"]
    assert law.verdict == "FAILS"
    assert law.evidence == "action 3, counted from 0, is said to be legal, and there are 2"


class Loaded(Secret):
    """Moves by one or two, and can be looked into."""

    def __init__(self):
        super().__init__()
        del self.box

    def step(self, action):
        self.at = min(self.at + int(action), 4)
        return super().step(action)


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize(
    ("wrong", "verdict", "said"),
    [
        ({}, "holds", "keys, worths and draws are sound where it says them"),
        ({"key": lambda env: 0}, "FAILS", "two states have one key, and show something else: it leaves something out"),
        (
            {"evaluate": lambda env: [np.nan]},
            "FAILS",
            "the adapter of Loaded evaluates [nan]; a worth is a finite",
        ),
        ({"evaluate": lambda env: [0.0, 1.0]}, "FAILS", "the adapter of Loaded evaluates 2 player(s), and there are 1"),
        ({"evaluate": lambda env: [vars(env).update(number=9) or 0.0]}, "FAILS", "evaluate changed the state"),
        (
            {"determinize": lambda env, agent, chance: None},
            "FAILS",
            "states, and games that show the same differ in num",
        ),
    ],
)
def test_what_an_adapter_says_wrongly_is_named(wrong, verdict, said):
    adapter = ForSecrets()
    vars(adapter).update({"copy": None, "restore": None, "key": lambda env: (env.at, env.number), **wrong})
    bridge.register("tests.bridge.test_adapters.Loaded", adapter)
    env = Loaded()
    env.reset(seed=1)
    law = bridge.check_planning(env)["adapter"]
    assert (law.verdict, said in law.evidence) == (verdict, True), law


class Blurred(Loaded):
    """Shows noise, and keeps what it showed."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (), np.float64)

    def step(self, action):
        at, *rest = super().step(action)
        self.shown = at + self.np_random.normal()
        return self.shown, *rest


@pytest.mark.usefixtures("registered")
def test_a_search_refuses_a_worth_that_is_no_finite_number():
    adapter = ForSecrets()
    adapter.evaluate = lambda env: [np.nan]
    bridge.register("tests.bridge.test_adapters.Secret", adapter)
    env = Secret()
    env.reset(seed=1)
    with pytest.raises(ValueError, match=r"the adapter of Secret evaluates \[nan\]; a worth is a finite number"):
        agents.make("mcts", simulations=20, rollout_depth=1).act(env)


@pytest.mark.usefixtures("registered")
def test_noise_and_what_is_worth_nothing_at_the_end_break_no_law_of_adapters():
    adapter = ForSecrets()
    worth = {"evaluate": lambda env: [np.inf if env.at == 5 else 0.0]}
    vars(adapter).update({"copy": None, "restore": None, "key": lambda env: (env.at, env.number), **worth})
    bridge.register("tests.bridge.test_adapters.Blurred", adapter)
    env = Blurred()
    env.reset(seed=1)
    law = bridge.check_planning(env)["adapter"]
    assert law.verdict == "holds", law
    adapter.key = lambda env: env.number
    assert bridge.check_planning(env)["adapter"].verdict == "FAILS"


@pytest.mark.usefixtures("registered")
def test_an_adapter_says_what_an_environment_does_not():
    bridge.register("tests.bridge.test_adapters.Secret", ForSecrets())
    env = Secret()
    env.reset(seed=1)
    env.step(0)
    view = bridge.view(env)
    result = mcts(40).search(env)
    assert result.copies == bridge.Copies(means.NATIVE, "drawn by the adapter")
    state, other = view.state.copy(), view.state.copy()
    assert state.env.number == env.number
    for seed in (1, 2):
        view.game.determinize(other, 0, seed)
        assert other.env.at == env.at
        assert other.env.number != env.number
    assert view.game.key(state, -1) == view.game.key(other, -1)
    view.game.step(state, [1], [0.0])
    assert view.game.key(state, -1) != view.game.key(other, -1)
    assert state.game.legal(state, 0, [0, 0]) == 1
    values = [0.0]
    view.game.evaluate(state, values)
    assert values == [9.0]
    assert (env.at, env.number) == (1, env.number)


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("told", [True, False], ids=["told", "found"])
def test_an_adapter_may_say_what_chance_is_drawn_from(told):
    class Telling(ForSecrets):
        generators = staticmethod(lambda env: [env.np_random]) if told else None

    bridge.register("tests.bridge.test_adapters.Secret", Telling())
    env = Secret()
    env.reset(seed=1)
    env.other = np.random.default_rng(2)
    copy = Clone(env)
    copy.env.other = np.random.default_rng(3)
    drawn = []
    for _ in range(2):
        copy.seed(5)
        drawn.append((copy.env.np_random.random(), copy.env.other.random()))
    assert drawn[0][0] == drawn[1][0]
    assert (drawn[0][1] != drawn[1][1]) == told


@pytest.mark.usefixtures("registered")
def test_an_adapter_that_copies_nothing_may_say_so_too():
    class Still(bridge.Adapter):
        def generators(self, env):
            return []

    env = agents.remember(gym.make("FrozenLake-v1"))
    env.reset(seed=1)
    bridge.register(type(env.unwrapped), Still())
    copy = Replay(env.history, env.unwrapped, False)
    before = copy.env.np_random.bit_generator.state
    copy.seed(5)
    assert copy.env.np_random.bit_generator.state == before


@pytest.mark.usefixtures("registered")
def test_adapters_are_those_of_the_nearest_class():
    class Derived(Secret):
        pass

    assert adapters.adapter_of(Derived) is None
    mine, nearer = ForSecrets(), ForSecrets()
    bridge.register(Secret, mine)
    assert adapters.adapter_of(Derived) is mine
    bridge.register(Derived, nearer)
    assert adapters.adapter_of(Derived) is nearer
    assert adapters.adapter_of(Secret) is mine


@pytest.mark.usefixtures("registered")
def test_packages_bring_adapters_by_entry_points(monkeypatch):
    class Point:
        name = "tests.bridge.test_adapters.Secret"

        def load(self):
            return ForSecrets

    adapters._brought.cache_clear()
    monkeypatch.setattr(adapters, "entry_points", lambda group: [Point()] if group == "mcts_envs.adapters" else [])
    assert isinstance(adapters.adapter_of(Secret), ForSecrets)
    adapters._brought.cache_clear()


def test_what_is_no_adapter_is_refused():
    with pytest.raises(TypeError, match=r"is no agents\.bridge\.Adapter"):
        bridge.register(Secret, 3)

    class Half(bridge.Adapter):
        def copy(self, env):
            return 0

    with pytest.raises(TypeError, match="Half has one of copy and restore; give both, or neither"):
        bridge.register(Secret, Half())


def same_futures(env, actions):
    """Check that copies play on as the environment does, bit by bit, and another copy as the first."""
    root = bridge.view(env).state.copy()
    rewards, plays = [0.0] * root.game.players, []
    for _ in range(2):
        work = root.copy()
        play = []
        for action in actions:
            work.game.step(work, [action] * root.game.players, rewards)
            play.append((digest(work.seen), list(rewards), work.bits))
        plays.append(play)
    assert plays[0] == plays[1]
    for action, (seen, paid, bits) in zip(actions, plays[0], strict=True):
        said = env.step(action)
        if said is not None:
            assert (digest(said[0]), [said[1]], bool(bits)) == (seen, paid, not (said[2] or said[3]))
            if said[2] or said[3]:
                break


@pytest.mark.parametrize("env_id", ["MiniGrid-DoorKey-6x6-v0", "MiniGrid-ObstructedMaze-1Dlhb-v0", "BabyAI-GoToObj-v0"])
def test_minigrid_is_told_apart_by_its_adapter(env_id):
    pytest.importorskip("minigrid")
    env = agents.remember(gym.make(env_id))
    env.reset(seed=3)
    rng = np.random.default_rng(0)
    for action in rng.integers(6, size=10):
        env.step(int(action))
    view = bridge.view(env)
    state = view.state.copy()
    assert view.game.key(view.state, -1) == view.game.key(state, -1)
    keys = {view.game.key(state, -1)}
    for action in (2, 0, 2, 1, 2):
        view.game.step(state, [action], [0.0])
        keys.add(view.game.key(state, -1))
    assert len(keys) == 6
    same_futures(env, [int(action) for action in rng.integers(6, size=30)])
    env.reset(seed=3)
    assert mcts(10, horizon=10, loop="closed", information="full").act(env) in range(7)


def test_copies_are_of_a_class_that_is_derived_from_the_environments(registered):
    class Other(bridge.Adapter):
        def hastened(self, kind):
            return dict

    bridge.register(Secret, Other())
    env = Secret()
    env.reset(seed=1)
    with pytest.raises(TypeError, match=r"Other.hastened\(Secret\) is <class 'dict'>; return a class that is derived"):
        bridge.view(env)


def test_wrapped_grids_are_planned_in():
    pytest.importorskip("minigrid")
    from minigrid.wrappers import FlatObsWrapper, FullyObsWrapper, ImgObsWrapper

    for wrapper in (FlatObsWrapper, FullyObsWrapper, ImgObsWrapper):
        env = agents.remember(wrapper(gym.make("MiniGrid-Empty-5x5-v0")))
        env.reset(seed=1)
        assert mcts(10, horizon=10).act(env) in range(7)
    behind = agents.remember(gym.make("MiniGrid-DoorKey-5x5-v0"))
    behind.reset(seed=1)
    agent, rng = mcts(10, horizon=10), np.random.default_rng(1)
    for _ in range(4):
        copies = agent.search(behind).copies
        assert copies.hidden == "drawn by replay"
        assert copies.particles > 4
        behind.step(int(rng.integers(3)))


@pytest.mark.filterwarnings("ignore:.*precision lowered by casting")
@pytest.mark.parametrize("name", ["leduc_holdem", "texas_holdem", "texas_holdem_no_limit"])
def test_holdem_is_dealt_anew_and_nothing_is_shown_otherwise(name):
    pytest.importorskip("rlcard")
    import importlib

    env = importlib.import_module(f"pettingzoo.classic.rlcard_envs.{name}").env()
    hands = set()
    for seed in range(6):
        env.reset(seed=seed)
        for step in range(4):
            if env.terminations[env.agent_selection]:
                break
            view = bridge.view(env)
            state, me = view.state.copy(), env.agent_selection
            others = [agent for agent in env.possible_agents if agent != me]
            seen = digest((env.observe(me), env.unwrapped.env.game.get_legal_actions()))
            cards = len(state.env.env.game.dealer.deck)
            for chance in range(4):
                work = state.copy()
                view.game.determinize(work, view.player, chance * 0x9E3779B97F4A7C15 % 2**64)
                inner = work.env
                assert digest((inner.observe(me), inner.env.game.get_legal_actions())) == seen
                assert len(inner.env.game.dealer.deck) == cards
                hands.add(digest(inner.observe(others[0])["observation"]))
            legal = np.flatnonzero(env.observe(me)["action_mask"])
            env.step(int(legal[step % 2 if len(legal) > 1 else 0]))
    assert len(hands) > 4  # Leduc shows 5 in all
    env.reset(seed=1)
    assert mcts(20).act(env) in range(env.action_space(env.agent_selection).n)


def test_blackjack_is_copied_bit_by_bit():
    for seed in range(20):
        same_futures(playing("Blackjack-v1", seed=seed), [1, 1, 0])


def test_snapshots_of_an_adapter_are_put_into_twins(registered):
    bridge.register(Secret, ForSecrets())
    env = Secret()
    env.reset(seed=1)
    env.step(1)
    clone = Clone(env)
    clone.env.step(1)
    assert (env.at, clone.env.at) == (1, 2)
    clone.restore()
    assert clone.env.at == 1
    assert clone.again().env.at == 1


def test_simulated_cars_are_drawn_only_where_they_are_looked_at(monkeypatch):
    pytest.importorskip("Box2D")
    env = agents.remember(gym.make("CarRacing-v3", continuous=False))
    env.reset(seed=0)
    for _ in range(3):
        env.step(3)
    live = bridge.view(env).state
    found = mirrored(live, 0, 4)
    assert found.steps == 4
    assert not found.differs
    env.reset(seed=1)
    env.step(3)
    view, drawn = bridge.view(env), []
    kind = type(env.unwrapped)
    draw = kind._render
    monkeypatch.setattr(kind, "_render", lambda self, mode: drawn.append(mode) or draw(self, mode))
    state = view.state.copy()
    assert len(drawn) == 1  # what was shown last, which is compared
    for _ in range(5):
        view.game.step(state, [3], [0.0])
    assert len(drawn) == 1
    assert np.shape(state.seen) == (96, 96, 3)


def test_an_adapter_draws_and_observes_or_neither():
    class Half(bridge.Adapter):
        def observe(self, env, agent):
            return env.at

    with pytest.raises(TypeError, match="Half has one of draws and observe; give both, or neither"):
        bridge.register("tests.bridge.test_adapters.Secret", Half())


def test_an_adapter_says_what_is_legal_where_a_package_says_it_by_another_name(registered):
    class Listed(bridge.Adapter):
        def actions(self, env, agent):
            return env.said()["valid_actions"]

    env = type("Packaged", (Walk,), {"said": lambda self: {"valid_actions": [1]}})()
    env.reset(seed=0)
    with pytest.warns(UserWarning, match=r"not yours to write, register an agents\.bridge\.Adapter with actions\(env,"):
        mcts(20).search(env)
    bridge.register(type(env), Listed())
    assert mcts(20).search(env).visits.tolist() == [0, 20]


def test_an_adapter_allows_something_where_a_mask_allows_nothing(registered):
    class Some(bridge.Adapter):
        def legal(self, env, agent):
            return [True, True]

    env = type("Full", (Walk,), {"said": lambda self: {"action_mask": np.zeros(2, np.int8)}})()
    env.reset(seed=0)
    with pytest.raises(TypeError, match=r"allows none of 2 .* an agents\.bridge\.Adapter with legal\(env,") as raised:
        mcts(20).search(env)
    assert "say it as info['action_mask']" not in str(raised.value)
    bridge.register(type(env), Some())
    assert mcts(20).search(env).visits.sum() == 20
