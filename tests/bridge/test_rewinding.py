"""Replays that are rewound: what lies in the memory of Box2D is put back, bit by bit."""

import collections
import copy
import functools
import gc
import itertools
import pickle
import sys
import weakref

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.wrappers import DiscretizeAction

import agents
from agents import bridge
from agents.bridge import means, rewinding
from agents.bridge.adapters import adapter_of
from agents.bridge.copying import box2d
from agents.bridge.mirroring import mirrored
from agents.bridge.rewinding import Kept, Rewind

pytest.importorskip("Box2D")
import Box2D
from gymnasium.envs.box2d.bipedal_walker import BipedalWalker
from gymnasium.envs.box2d.car_racing import CarRacing

LANDER = "LunarLander-v3"


def made(name):
    env = gym.make(name, **({"continuous": False} if name == "CarRacing-v3" else {}))
    return agents.remember(DiscretizeAction(env, 3) if isinstance(env.action_space, spaces.Box) else env)


def means_of(env):
    live = bridge.view(env).state
    live.copy()
    return live.game.notes["means"]


def compared(env, actions):
    """Return what a copy of an environment says to actions that are played in it before, and what that says itself."""
    live = bridge.view(env).state
    state, rewards, said = live.copy(), [0.0], []
    for action in actions:
        live.game.step(state, [action], rewards)
        said.append((np.asarray(state.seen).tobytes(), rewards[0]))
    own = [env.step(action)[:2] for action in actions]
    return said, [(np.asarray(seen).tobytes(), float(reward)) for seen, reward in own]


@pytest.mark.parametrize("name", [LANDER, "BipedalWalker-v3", "CarRacing-v3"])
def test_copies_go_on_as_the_original_in_every_episode(name):
    env = made(name)
    for seed in range(4):
        env.reset(seed=seed)
        for t in range(3 * seed):
            env.step(t % 4)
        assert means_of(env) == means.REWIND
        walk = mirrored(bridge.view(env).state, seed, 12)  # plays on in what is inside
        assert (walk.steps, walk.differs) == (12, "")


def test_rewound_it_plays_the_same_whatever_was_done():
    env = made(LANDER)
    env.reset(seed=1)
    for _ in range(60):
        env.step(2)
    copy, shown = Rewind(env.history, env.unwrapped), set()
    for wild in range(20):
        copy.restore()
        copy.seed(3)
        shown.add(b"".join(copy.env.step(t % 4)[0].tobytes() for t in range(60)))
        copy.restore()
        for t in range(5 * wild):
            copy.env.step(t * wild % 4)
    assert len(shown) == 1


def test_later_searches_go_on_from_what_earlier_ones_made(monkeypatch):
    env, resets = made(LANDER), []
    kind = type(env.unwrapped)
    reset = kind.reset

    def noted(self, *, seed=None, options=None):
        resets.append(seed)
        return reset(self, seed=seed, options=options)

    monkeypatch.setattr(kind, "reset", noted)
    env.reset(seed=1)
    planner = agents.make("mcts", simulations=4, horizon=5)
    planner.act(env)
    before = len(resets)
    for _ in range(4):
        env.step(planner.act(env))
    assert len(resets) <= before + 2  # while the last result is held
    assert len(env.history.twins) <= 4
    copy = Rewind(env.history, env.unwrapped)
    copy.env.step(2)
    again = copy.again()
    assert np.array_equal(copy.env.step(1)[0], again.env.step(1)[0])


class Bricks(gym.Env):
    """A ball under bricks that break, and come again: bodies go and come in steps, and refer to what only they do."""

    action_space = spaces.Discrete(3)
    observation_space = spaces.Box(-np.inf, np.inf, (4,), np.float32)

    def __init__(self, chain=False):
        self.chain, self.world = chain, None

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.world = Box2D.b2World(gravity=(0, -2))
        self.bricks = [self.brick(i - 4) for i in range(8)]
        if self.chain:
            self.world.CreateStaticBody(shapes=Box2D.b2ChainShape(vertices_chain=[(-9, -9), (9, -9)]))
        shape = Box2D.b2FixtureDef(shape=Box2D.b2CircleShape(radius=0.3), density=1, restitution=0.9)
        self.ball = self.world.CreateDynamicBody(position=(0, 0), fixtures=shape, linearVelocity=(0, 5))
        self.steps = 0
        return self.seen(), {}

    def brick(self, x):
        shape = Box2D.b2FixtureDef(shape=Box2D.b2PolygonShape(box=(0.4, 0.1)))
        brick = self.world.CreateStaticBody(position=(x, 3), fixtures=shape)
        brick.userData = {"worth": [1.0]}
        return brick

    def seen(self):
        return np.array([*self.ball.position, *self.ball.linearVelocity], np.float32)

    def step(self, action):
        if self.steps == getattr(self, "fails_at", -1):
            raise RuntimeError("it fails")
        self.ball.ApplyLinearImpulse((0.4 * (action - 1), 0.2), self.ball.worldCenter, True)
        self.world.Step(1 / 20, 6, 2)
        self.steps += 1
        paid = 0.0
        for brick in {edge.other for edge in self.ball.contacts} & {*self.bricks}:
            paid += brick.userData["worth"].pop()
            self.bricks.remove(brick)
            self.world.DestroyBody(brick)
        if self.steps % 5 == 0:
            self.bricks.append(self.brick(self.np_random.uniform(-4, 4)))
        return self.seen(), paid, False, False, {}


@pytest.fixture
def bricks():
    gym.register("Bricks-v0", Bricks, max_episode_steps=200, disable_env_checker=True)
    yield lambda **given: agents.remember(gym.make("Bricks-v0", **given))
    del gym.registry["Bricks-v0"]


def test_what_bodies_refer_to_outlives_them_and_no_more(bricks):
    env = bricks()
    env.reset(seed=0)
    for _ in range(7):
        env.step(1)
    copy = Rewind(env.history, env.unwrapped)
    paid = set()
    for _ in range(300):
        copy.restore()
        copy.seed(1)
        paid.add(sum(copy.env.step(t % 3)[1] for t in range(40)))
    copy.restore()
    gc.collect()
    assert len(paid) == 1
    assert paid != {0.0}
    assert len({sys.getrefcount(brick.userData) for brick in copy.env.bricks}) == 1  # those that broke, and the others
    assert all(brick.userData == {"worth": [1.0]} for brick in copy.env.bricks)
    data = [brick.userData for each in (copy.env, env.unwrapped) for brick in each.bricks]
    assert not [each for each in gc.get_objects() if type(each) is dict and [*each] == ["worth"] and each not in data]
    said, own = compared(env, [t % 3 for t in range(60)])
    assert said == own


def test_a_step_that_fails_is_rewound_too(bricks):
    env = bricks()
    env.reset(seed=0)
    env.step(1)
    copy = Rewind(env.history, env.unwrapped)
    copy.env.fails_at = 4
    for _ in range(3):
        copy.env.step(1)
    with pytest.raises(RuntimeError, match="it fails"):
        copy.env.step(1)
    copy.restore()
    assert copy.env.step(1)[0].tobytes() == env.step(1)[0].tobytes()


@pytest.mark.parametrize("how", ["chain", "elsewhere"])
def test_worlds_that_lie_elsewhere_are_replayed(bricks, monkeypatch, how):
    if how == "elsewhere":
        monkeypatch.setattr(box2d, "_SAYS", box2d._SAYS + 8)
    env = bricks(chain=how == "chain")
    env.reset(seed=0)
    env.step(1)
    assert means_of(env) == means.REPLAY
    assert agents.make("mcts", simulations=5, horizon=5).act(env) in range(3)


class Arena(Box2D.b2World):
    """A world of one's own."""


def test_worlds_of_derived_classes_are_worlds():
    env = gym.make("CartPole-v1").unwrapped
    env.world = Arena()
    assert rewinding.holds_world(env)
    body = env.world.CreateDynamicBody(position=(1, 2))
    kept = Kept(env)
    body.position = (3, 4)
    kept.restore()
    assert body.position == (1, 2)


class Data:
    """What a body may refer to."""


def test_what_is_held_elsewhere_while_a_world_is_put_back_is_counted_all_the_same():
    world = Box2D.b2World()
    body = world.CreateStaticBody(userData=Data())
    memory = box2d.Memory(world)
    held = body.userData  # as what a step has said of it
    counted = sys.getrefcount(held)
    for _ in range(5):
        world.DestroyBody(body)
        memory.restore()
        assert sys.getrefcount(held) == counted
    body.userData = None
    memory.restore()
    assert body.userData is held
    assert sys.getrefcount(held) == counted


def test_what_came_later_lets_go_of_what_it_refers_to():
    world = Box2D.b2World()
    one, other = world.CreateDynamicBody(), world.CreateDynamicBody()
    memory = box2d.Memory(world)
    data = [Data() for _ in range(4)]
    gone = [weakref.ref(each) for each in data]
    one.userData = data.pop()
    one.CreateFixture(Box2D.b2FixtureDef(shape=Box2D.b2CircleShape(radius=1), userData=data.pop()))
    world.CreateWeldJoint(bodyA=one, bodyB=other, userData=data.pop())
    world.CreateStaticBody(userData=data.pop())
    memory.restore()
    gc.collect()
    assert [ref() for ref in gone] == [None] * 4
    assert (world.bodyCount, world.jointCount, one.userData) == (2, 0, None)


class Ends(Box2D.b2ContactListener):
    count = 0

    def EndContact(self, contact):  # noqa: N802
        self.count += 1


def test_to_put_a_world_back_tells_no_listener():
    env = gym.make("CartPole-v1").unwrapped
    env.world, env.ends = Box2D.b2World(), Ends()
    env.world.contactListener = env.ends
    shape = Box2D.b2FixtureDef(shape=Box2D.b2CircleShape(radius=1), density=1)
    env.world.CreateDynamicBody(fixtures=shape)
    kept = Kept(env)
    env.world.CreateDynamicBody(position=(0.5, 0), fixtures=shape)
    env.world.Step(1 / 20, 6, 2)
    kept.restore()
    assert (env.world.bodyCount, env.world.contactCount, env.ends.count) == (1, 0, 0)


def interrupted(kept, line):
    """Put back what is kept, until that many lines were executed."""
    lines, before = itertools.count(1), sys.gettrace()

    def trace(frame, event, told):
        if frame.f_code.co_filename in (box2d.__file__, rewinding.__file__) and next(lines) == line:
            raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        kept.restore()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def test_it_can_be_interrupted_anywhere(bricks):
    env = bricks()
    env.reset(seed=0)
    copy, line, shown, left = Rewind(env.history, env.unwrapped), 0, set(), True
    while left:
        line += 1 + line // 20
        copy.restore()
        for t in range(60):
            copy.env.step(t % 3)
        for _ in range(200 * (line % 3)):  # memory grows
            copy.env.brick(0)
        left = interrupted(copy._start, line)
        copy.restore()
        shown.add(b"".join(copy.env.step(t % 3)[0].tobytes() for t in range(4)))
    assert line > 40
    assert len(shown) == 1


def test_what_is_remembered_can_be_copied_after_a_search():
    env = made(LANDER)
    env.reset(seed=1)
    agents.make("mcts", simulations=4, horizon=5).act(env)
    gc.collect()
    assert env.history.twins
    assert copy.deepcopy(env.history).twins == []
    pickle.dumps(env)


@pytest.mark.parametrize("kind", [BipedalWalker, CarRacing])
def test_a_new_world_is_set_as_the_old_one(kind):
    env = kind()
    env.world.gravity, env.world.warmStarting, env.world.contactFilter = (0, -3), False, Box2D.b2ContactFilter()
    old = env.world
    adapter_of(kind).renew(env)
    assert env.world is not old
    assert (*env.world.gravity, env.world.warmStarting, env.world.contactFilter) == (0, -3, False, old.contactFilter)
    kept = env.world
    kept.CreateStaticBody()  # as a class derived from it may
    adapter_of(kind).renew(env)
    assert env.world is kept


class Turning(Bricks):
    """Keeps something where only a class finds it, or compiled code."""

    turn = int

    def reset(self, *, seed=None, options=None):
        turns = [0]

        class Turn:
            def __call__(self):
                turns.append(0)
                return len(turns)

        self.turn = Turn() if self.chain else functools.partial(next, itertools.count())
        self.chain = False
        return super().reset(seed=seed, options=options)

    def seen(self):
        return super().seen() + self.turn()


@pytest.mark.parametrize("hidden", [True, False])
def test_what_cannot_be_rewound_is_replayed_without_another_reset(hidden):
    gym.register("Turning-v0", Turning, disable_env_checker=True)
    env = agents.remember(gym.make("Turning-v0", chain=hidden))
    del gym.registry["Turning-v0"]
    env.reset(seed=0)
    assert means_of(env) == means.REPLAY


class Slots:
    __slots__ = ("at", "never")


def test_what_an_environment_holds_is_put_back():
    env = gym.make("CartPole-v1").unwrapped
    env.reset(seed=1)
    env.slots, env.bag, env.line = Slots(), {1, 2}, collections.deque([1, 2], maxlen=2)
    env.slots.at, env.list, env.raw, env.numbers = 1, [1, [2]], bytearray(b"ab"), np.zeros((2, 2))
    env.point = np.array(1.0)
    kept, before = Kept(env), (str(vars(env)), env.slots.at)
    drawn = env.np_random.random()
    env.slots.at, env.slots.never, env.gone = 2, 2, 1
    env.bag.add(3), env.line.append(3), env.list[1].append(3), env.raw.extend(b"c")
    env.numbers[0], env.point[()] = 1, 2
    env.state = None
    env.np_random.random()
    kept.restore()
    assert (str(vars(env)), env.slots.at) == before
    assert env.np_random.random() == drawn
    assert not hasattr(env.slots, "never")


class Own(dict):
    """Counts what is set, and does not tell how it is emptied."""

    def clear(self):
        raise NotImplementedError

    update = __setitem__ = clear


def test_what_containers_mean_by_their_methods_is_not_asked():
    env = gym.make("CartPole-v1").unwrapped
    env.count, env.order, env.own = collections.Counter("aab"), collections.OrderedDict(a=1, b=2), Own(a=1)
    env.plain, env.objects, env.at = {"a": 1, "b": 2}, np.empty(1, object), Box2D.b2Vec2(1, 2)
    env.objects[0], env.partial = [1], functools.partial(max, 1)
    before = str(vars(env))
    kept = Kept(env)
    env.count.update("ab"), env.order.move_to_end("a"), dict.clear(env.own)
    env.plain["a"] = env.plain.pop("a")
    env.objects[0].append(2)
    env.at += (1, 1)
    assert str(vars(env)) != before
    kept.restore()
    assert str(vars(env)) == before


def counting():
    count = 0

    def counted():
        nonlocal count
        count += 1
        return count

    return counted


@pytest.mark.parametrize(
    "held", [iter([1]), counting(), [].append, collections.Counter().update, functools.partial(counting())]
)
def test_what_cannot_be_rewound_is_refused(held):
    env = gym.make("CartPole-v1").unwrapped
    env.known, env.held = [1], [lambda: env, len, env.reset]
    env.held += [env.known.append, functools.partial(max, 1), lambda: counting]
    Kept(env)
    env.held.append(held)
    with pytest.raises(TypeError, match=r"cannot be rewound"):
        Kept(env)
