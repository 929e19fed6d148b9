"""Search random trees with DeepMind's mctx, and write what was given and what was found into ``mctx.json``.

For a virtual environment with ``mctx`` and ``jax`` (recorded with mctx 0.0.71, jax 0.10.2): ``python record_mctx.py``.

A tree is complete: ``branches`` actions at every node above the leaves, and child ``a`` of node n is
``branches * n + 1 + a``. Logits, rewards and values are for whoever moves at the node, in hundredths.
"""

import functools
import json
from pathlib import Path

import jax
import jax.numpy as jnp
import mctx
import numpy as np

SIZES = ((4, 3), (5, 3), (3, 4))
"""Branches and depth."""

KINDS = ((1, 1.0), (2, 1.0), (1, 0.9), (2, 0.9))
"""Players and discount of the trees of each size, which are searched as one batch."""

SIMULATIONS = (3, 16, 50)
CONSIDERED = (16, 2)
UNVISITED = {"zero": 0.0, "mean": None}


def random_tree(rng, branches, depth, players):
    inner = sum(branches**level for level in range(depth))
    nodes = inner * branches + 1
    return {
        "branches": branches,
        "players": players,
        "logits": rng.integers(-200, 201, (inner, branches)).tolist(),
        "rewards": rng.integers(-50, 51, (inner, branches)).tolist(),
        "values": rng.integers(-100, 101, nodes).tolist(),
    }


def tables(trees):
    """Return what mctx is told of a batch of trees; after the end, nodes lead to themselves and count nothing."""
    rest = len(trees[0]["values"]) - len(trees[0]["logits"])
    more = [[0] * trees[0]["branches"]] * rest
    change = [tree["discount"] if tree["players"] == 1 else -tree["discount"] for tree in trees]
    whole = {name: [tree[name] + more for tree in trees] for name in ("logits", "rewards")}
    whole["values"] = [tree["values"] for tree in trees]
    return {name: jnp.array(numbers) / 100.0 for name, numbers in whole.items()} | {"change": jnp.array(change)}


def recurrent(branches, inner, given, key, action, at):
    """Make a step in each tree."""
    each = jnp.arange(len(at))
    child = jnp.where(at < inner, branches * at + 1 + action, at)
    return mctx.RecurrentFnOutput(
        reward=given["rewards"][each, at, action],
        discount=jnp.where(child < inner, given["change"], 0.0),
        prior_logits=given["logits"][each, child],
        value=given["values"][each, child],
    ), child


def plain_values(unvisited, tree, node):
    """Count an action its mean as it is, and without a visit ``unvisited`` or the mean of the node's returns."""
    visits, values = tree.children_visits[node], tree.qvalues(node)
    mean = jnp.sum(visits * values) / jnp.maximum(1, jnp.sum(visits))
    return jnp.where(visits > 0, values, mean if unvisited is None else unvisited)


def visits_of(size, found, i):
    """Return how often each node of a tree was reached, by its number: those after the end are left out."""
    visits = np.zeros(size, int)
    at, parents, times = (np.array(part[i]) for part in (found.embeddings, found.parents, found.node_visits))
    for node in range(len(at)):
        if times[node] and (node == 0 or at[node] != at[parents[node]]):
            visits[at[node]] = times[node]
    visits[0] -= 1  # mctx counts the root once beforehand
    return visits.tolist()


def searched(trees, policy, simulations, **settings):
    """Return what a policy of mctx finds in a batch of trees."""
    branches, inner, given = trees[0]["branches"], len(trees[0]["logits"]), tables(trees)
    step = functools.partial(recurrent, branches, inner)

    @jax.jit
    def run(given):
        at = jnp.zeros(len(trees), jnp.int32)
        root = mctx.RootFnOutput(prior_logits=given["logits"][:, 0], value=given["values"][:, 0], embedding=at)
        return policy(given, jax.random.PRNGKey(0), root, step, simulations, **settings)

    return run(given)


def main():
    rng, trees = np.random.default_rng(2022), []
    for branches, depth in SIZES:
        batch = [{**random_tree(rng, branches, depth, players), "discount": d, "runs": []} for players, d in KINDS]
        trees += batch
        size = len(batch[0]["values"])
        for n in SIMULATIONS:
            for considered in CONSIDERED:
                given = {"policy": "gumbel", "simulations": n, "considered": considered}
                settings = {"max_num_considered_actions": considered, "gumbel_scale": 0.0}
                out = searched(batch, mctx.gumbel_muzero_policy, n, **settings)
                for i, tree in enumerate(batch):
                    improved = [round(float(weight), 6) for weight in out.action_weights[i]]
                    found = {"action": int(out.action[i]), "improved": improved}
                    tree["runs"].append({**given, **found, "visits": visits_of(size, out.search_tree, i)})
            for name, unvisited in UNVISITED.items():
                given = {"policy": "puct", "simulations": n, "unvisited": name}
                transform = functools.partial(plain_values, unvisited)
                out = searched(batch, mctx.muzero_policy, n, dirichlet_fraction=0.0, qtransform=transform)
                for i, tree in enumerate(batch):
                    tree["runs"].append({**given, "visits": visits_of(size, out.search_tree, i)})
            print(branches, depth, n, flush=True)
    lines = ",\n".join(json.dumps(tree, separators=(",", ":")) for tree in trees)
    Path(__file__).with_name("mctx.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
