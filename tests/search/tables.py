"""A game of tables, in which chance, payments and what is hidden are set by hand."""

import math

import numpy as np

from agents.mcts import MCTS
from agents.policies.parameters import pack
from agents.policies.signatures import needs_of
from agents.search.records import Store, new_work
from mcts_envs.core import contract
from mcts_envs.core.contract import Game, blank, state_dtype
from mcts_envs.core.defaults import default_determinize
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.rng import below, coin, combine, new_stream, seed_stream
from mcts_envs.core.view import View

# A game of tables: at each place some players choose, and chance picks one of two outcomes. Players see where they are,
# or one of several places that look the same to them: their information set.

PLACES, ACTIONS = 25, 4
END = PLACES - 1
TABLES = state_dtype(
    [
        ("at", "i8"),
        ("who", "i8", PLACES),
        ("seen", "i8", (PLACES, 2)),
        ("allowed", "i8", (PLACES, 2)),
        ("chance", "f8", (PLACES, ACTIONS, ACTIONS)),
        ("to", "i8", (PLACES, ACTIONS, ACTIONS, 2)),
        ("pay", "f8", (PLACES, ACTIONS, ACTIONS, 2, 2)),
        ("worth", "f8", (PLACES, 2)),
        ("advice", "f8", ACTIONS),
    ]
)


@kernel(contract.RESET)
def tables_reset(state, seed):
    seed_stream(state, seed)
    record(state, TABLES).at = 0


@kernel(contract.ACTIVE)
def tables_active(state):
    s = record(state, TABLES)
    return s.who[s.at]


@kernel(contract.LEGAL)
def tables_legal(state, player, actions):
    s = record(state, TABLES)
    count = 0
    for action in range(ACTIONS):
        if s.allowed[s.at, player] >> action & 1:
            actions[count] = action
            count += 1
    return count


@kernel(contract.STEP)
def tables_step(state, actions, rewards):
    s = record(state, TABLES)
    at, who = s.at, s.who[s.at]
    first = actions[0] if who & 1 else 0
    second = actions[1] if who & 2 else 0
    outcome = 1 if who and coin(state, s.chance[at, first, second]) else 0
    for player in range(rewards.shape[0]):
        rewards[player] = s.pay[at, first, second, outcome, player] if who else 0.0
    if who:
        s.at = s.to[at, first, second, outcome]


@kernel(contract.STATUS)
def tables_status(state, player):
    s = record(state, TABLES)
    return 0 if s.who[s.at] else 1


@kernel(contract.KEY)
def tables_key(state, observer):
    s = record(state, TABLES)
    return combine(np.uint64(7), np.uint64(s.at if observer < 0 else s.seen[s.at, observer]))


@kernel(contract.DETERMINIZE)
def tables_determinize(state, observer, seed):
    seed_stream(state, seed)
    s = record(state, TABLES)
    seen, alike = s.seen[s.at, observer], 0
    for place in range(PLACES):
        if s.seen[place, observer] == seen:
            alike += 1
            if below(state, alike) == 0:
                s.at = place


@kernel(contract.EVALUATE)
def tables_evaluate(state, values):
    s = record(state, TABLES)
    for player in range(values.shape[0]):
        values[player] = s.worth[s.at, player]


@kernel(contract.ADVISE)
def tables_advise(state, player, weights):
    for action in range(ACTIONS):
        weights[action] = record(state, TABLES).advice[action]


@kernel(contract.STEP)
def step_for_twice(state, actions, rewards):
    tables_step(state, actions, rewards)
    for player in range(rewards.shape[0]):
        rewards[player] *= 2.0


@kernel(contract.ADVISE)
def always_first(state, player, weights):
    for action in range(ACTIONS):
        weights[action] = 1.0 if action == 0 else 0.0


@kernel(contract.DETERMINIZE)
def only_the_viewers(state, observer, seed):
    if observer >= 0:
        tables_determinize(state, observer, seed)
    else:
        seed_stream(state, seed)


@kernel(contract.STATUS)
def second_is_out(state, player):
    return 1 if player == 1 else tables_status(state, player)


KERNELS = {name: globals()[f"tables_{name}"] for name in ("reset", "active", "legal", "step", "status", "key")}
KERNELS |= {"determinize": tables_determinize, "evaluate": tables_evaluate, "advise": tables_advise}
VARIANTS = {"cheat": {"determinize": default_determinize}, "twice": {"step": step_for_twice}}


def outcomes_of(given):
    """Write ``(to, pay)`` out as ``[(probability, to, pays)]``; what one number pays the first, the second loses."""
    outcomes = given if isinstance(given, list) else [(1.0, *given)]
    return [(p, to, pay if isinstance(pay, tuple) else (pay, -pay)) for p, to, pay in outcomes]


def table_game(places, worth=0.0, advice=1.0, seen=None, players=2):
    """Return the game of ``{place: (who, {action or pair of actions: outcomes})}``; it ends everywhere else."""
    state = blank(TABLES)
    s = record(state, TABLES)
    s.worth[:, 0], s.worth[:, 1], s.advice[:] = worth, -np.asarray(worth), advice
    s.seen[:] = np.arange(PLACES)[:, None] if seen is None else seen
    for place, (who, moves) in places.items():
        s.who[place] = who
        for actions, given in moves.items():
            pair = actions if isinstance(actions, tuple) else (actions, 0) if who == 1 else (0, actions)
            for player in range(2):
                s.allowed[place, player] |= (who >> player & 1) << pair[player]
            for i, (probability, to, pays) in enumerate(outcomes_of(given)):
                s.to[place][pair][i], s.pay[place][pair][i] = to, pays
                s.chance[place][pair] = i * probability
    simultaneous = any(who == 3 for who, _ in places.values())
    return Game("tables", players, ACTIONS, state, simultaneous=simultaneous, variants=VARIANTS, **KERNELS)


def view_of(game, player=0, at=0):
    state = game.new_state()
    game.reset(state, np.uint64(0))
    record(state, TABLES).at = at
    return View(game, state, player)


def chain(pays, who=(1,), actions=(0,), **given):
    """Return a game of one legal action a step: who chooses, and what, comes round again and again."""
    places = {i: (who[i % len(who)], {actions[i % len(actions)]: (i + 1, pay)}) for i, pay in enumerate(pays)}
    return table_game(places, **given)


def at_once(*pays):
    """Return the matrix game in which two players choose 0 or 1: what is paid for 00, 01, 10 and 11."""
    return table_game({0: (3, {(i // 2, i % 2): (END, pay) for i, pay in enumerate(pays)})})


def within_chance(count, n, p):
    """Say whether a count of n trials lies within four standard deviations."""
    return abs(count - n * p) < 4 * math.sqrt(n * p * (1 - p))


def roll(simulate, game, depth=0, limit=50, discount=1.0, shared=(), seed=0):
    """Return steps, returns, and what was played in a rollout from the first state."""
    work = new_work(game, new_stream(seed), depth + limit)
    work.played[:] = 77
    game.reset(work.state, np.uint64(seed))
    needs = needs_of(simulate)
    per_tree = np.array(shared, float) if len(shared) else np.zeros(needs.tree(game))
    assert len(per_tree) >= needs.tree(game), "compiled code checks no bounds"
    store = Store(np.zeros((0, 0)), per_tree, pack(needs.parameters, {}, False))
    how = MCTS(discount=discount).prepare(game).settings
    steps = simulate(game.table, how, work, store, depth, limit)
    return steps, work.values.tolist(), work.played.tolist()
