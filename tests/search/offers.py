"""Candidates and stores made by hand, for policies that are called one by one."""

import math

import numpy as np

from agents.policies.parameters import pack
from agents.policies.signatures import Candidates, needs_of
from agents.search.records import CANDIDATE, Store, compiled, rows


def offered(visits, sums, prior=None, k=None, **given):
    """Return candidates with these statistics: action and edge of the first are 0, of the next 1, and so on."""
    prior = [0.0] * len(visits) if prior is None else prior
    numbers = [(i, i, int(n), float(s), float(p)) for i, (n, s, p) in enumerate(zip(visits, sums, prior, strict=True))]
    seen = {"low": math.inf, "high": -math.inf, "player": 0, "depth": 0, "searching": True, "worth": 0.0, **given}
    return Candidates(k=k or len(visits), actions=len(visits), rows=rows(CANDIDATE, numbers, False), **seen)


def store_of(policy, edges=(), tree=(), **parameters):
    """Return what a policy keeps, with these parameters and else its own."""
    return Store(
        np.array(edges, float) if len(edges) else np.zeros((0, 0)),
        np.array(tree, float),
        pack(needs_of(policy).parameters, parameters, False),
    )


def selected(policy, candidates, stream, **kept):
    """Return what a policy selects."""
    return policy(compiled(candidates), store_of(policy, **kept), stream)
