"""What a search says of choices that others made: where it would have chosen otherwise, and what that is worth."""

import math
from statistics import median
from typing import Any

from mcts_envs.core.view import View
from mcts_envs.page.frames import Data, named

_FEW = 20
"""Tries of an action, in the mean, below which what a search says of choices is mostly chance."""


def better(result: Any, view: View, action: int) -> Data | None:
    """Return what a search recommends in place of an action, and by how much it is better, in units of reward.

    ``by`` is the difference of the mean returns that the search found, None where it did not look at the action, or
    tells the value of its own choice alone (:func:`settle`). None in place of all that where the action is recommended,
    or as good.
    """
    if getattr(result, "action", None) in (None, action):  # an agent of one's own may not tell
        return None
    by = None
    if hasattr(result, "visits") and hasattr(result, "tree") and result.visits[action]:
        by = float(result.values[result.action] - result.values[action])
        if not by > 0.0:
            return None
    return named(view.game, view.state, view.player, int(result.action)) | {"by": by and float(f"{by:.4g}")}


def settle(frame: Data, after: Data) -> None:
    """Say how much is better where the search tells the value of its own choice alone: by what it finds a step later.

    So it is with alpha-beta. In games of two, one of whom wins what the other loses.

    Parameters
    ----------
    frame, after : dict
        A frame of a document, and the next, which has its decisions, or the points of the end.
    """
    for each in frame["decisions"]:
        search, player = each.get("search", {}), each["player"]
        then = after["decisions"][0] if after["decisions"] else {}
        if "better" not in each or "line" not in search or "heat" in search or search.get("value") is None:
            continue
        if "points" in after:
            worth = after["points"][player] - after["points"][1 - player]
        elif then.get("search", {}).get("value") is not None:
            worth = then["search"]["value"] * (1 if then["player"] == player else -1)
        else:
            continue
        by = search["value"] - worth
        if by > 0.0:
            each["better"]["by"] = float(f"{by:.4g}")
        else:
            del each["better"]


def review(document: Data) -> list[Data]:
    """Return what the search says of each player of a document: those whose choices it looked at.

    Returns
    -------
    list of dict
        ``player``, ``who`` it is in words, ``moves`` that were looked at, ``same``: how many of them nothing is better
        than, ``loss``, the mean of ``by`` (NaN where one of them is not known), ``worst``, the number of the frame with
        the largest ``by`` and its decision, or None, and ``tries``, the median of the simulations for each action that
        was tried (NaN where the search counts no visits).
    """
    found, names = [], [player["agent"] for player in document["players"]]
    for seat, player in enumerate(document["players"]):
        alone = player["agent"] is not None and names.count(player["agent"]) == 1
        looked = [
            (number, each)
            for number, frame in enumerate(document["frames"])
            for each in frame["decisions"]
            if each["player"] == seat and "search" in each
        ]
        if not looked:
            continue
        losses = {number: each["better"]["by"] if "better" in each else 0.0 for number, each in looked}
        known = {number: by for number, by in losses.items() if by is not None}
        largest = max(known, key=lambda number: known[number], default=-1)
        found.append(
            {
                "player": seat,
                "who": ", ".join(filter(None, (player["agent"], None if alone else player["seat"]))),
                "moves": len(looked),
                "same": sum("better" not in each for _, each in looked),
                "loss": sum(known.values()) / len(known) if len(known) == len(looked) else math.nan,
                "worst": (largest, dict(looked)[largest]) if known.get(largest) else None,
                "tries": _tries([each["search"] for _, each in looked]),
            }
        )
    return found


def told(rows: list[Data]) -> str:
    """Return a review as lines of text."""
    lines = []
    for row in rows:
        loss = "" if math.isnan(row["loss"]) else f", {_brief(row['loss'])} of reward given away each"
        line = f"{row['who']}: {row['same']} of {row['moves']} choices stand{loss}"
        if row["worst"] is not None:
            number, each = row["worst"]
            name, by = each["better"]["name"], _brief(each["better"]["by"])
            line += f";\n  most at {number}, {each['name']}: {name} is better by {by}"
        lines.append(line)
    if rough := [row["tries"] for row in rows if row["tries"] < _FEW]:
        lines.append(f"rough: the search tried each action {_brief(min(rough))} times; a larger budget says more")
    return "\n".join(lines)


def _tries(searches: list[Data]) -> float:
    """Return how often an action was tried, in the median search."""
    found = []
    for each in searches:
        shown, omitted = each.get("actions", ()), each.get("omitted", {})
        if shown and all("visits" in action for action in shown):
            visits = sum(action["visits"] for action in shown) + omitted.get("visits", 0)
            found.append(visits / (len(shown) + omitted.get("actions", 0)))
    return median(found) if found else math.nan


def _brief(number: float) -> str:
    """Return a number with two digits, as the page has it."""
    return f"{float(f'{number:.2g}'):g}"
