"""The model card of a policy: how it was trained, and how it plays."""

import json
from collections.abc import Mapping
from typing import Any

from agents.arena.statistics.estimates import wilson
from agents.learning.saved.shipped import TAUGHT


def written(figures: Mapping[str, Any], about: Mapping[str, Any]) -> str:
    """Return a model card in Markdown.

    Parameters
    ----------
    figures : mapping
        What :func:`agents.learning.baselines.finish` keeps beside it.
    about : mapping
        The sidecar of the policy.
    """
    baseline, seeds = figures["baseline"], len(figures["selection"])
    taught = baseline["name"].endswith(f"/{TAUGHT}")
    expert = f"Taught by the search that it guides, by expert iteration with {json.dumps(baseline['expert'])},"
    how = expert if taught else "Trained"
    against = [name for name in figures["final"] if name]
    lines = [
        f"# `{baseline['name']}`",
        "",
        f"{how} on `{about['environment']}` with {json.dumps(about['settings'])} "
        f"for {about['timesteps']:,} steps; "
        + (f"begun with the weights of `{baseline['start']}`; " if baseline.get("start") else "")
        + (
            f"the best of {seeds} seeds, seed {figures['seed']}, by the rule that was fixed before: {figures['rule']}."
            if seeds > 1
            else f"one seed, {figures['seed']}."
        ),
        "",
        "| opponent | games | won | points, 95 % interval |" if against else "| games | won, 95 % interval |",
        "|---|---|---|---|" if against else "|---|---|",
        *(_row(name, found, not against) for name, found in figures["final"].items()),
        "",
        "New games, from all seats in turn, with the best action everywhere. Points: a tie is shared."
        if against
        else "New games, with the best action everywhere.",
    ]
    if baseline["wanted"] is not None:
        name, first = next(iter(figures["final"].items()))
        share = f"of the points against `{name}`" if against else "of games won"
        reached = "reached" if first["points"] >= baseline["wanted"] else "not reached"
        lines += ["", f"Aimed at: {baseline['wanted']:.0%} {share}; {reached}."]
    lines += [
        "",
        f"| seed | minutes{'' if taught else ', without imitation'} | "
        + " | ".join(f"selection {name}".strip() for name in figures["final"])
        + " |",
    ]
    lines += ["|---" * (2 + len(figures["final"])) + "|"]
    for seed, (found, minutes) in enumerate(zip(figures["selection"], figures["minutes"], strict=True)):
        shares = " | ".join(f"{each['points']:.1%}" for each in found.values())
        lines.append(f"| {seed} | {minutes:.1f} | {shares} |")
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    return "\n".join(
        [
            *lines,
            "",
            "![Games won over the steps of each seed](curves.png)",
            "",
            "The data are in `curves.csv`; "
            + (
                f"games against `{against[0]}`."
                if taught and against
                else "the opponents there are those of the training, without past selves."
            ),
            "",
            f"Hyper-parameters: `{json.dumps(about['hyperparameters'])}`. Versions: {versions}.",
            "",
        ]
    )


def _row(name: str, found: Mapping[str, Any], alone: bool) -> str:
    share = wilson(found["points"] * found["games"], found["games"])
    shown = f"{100 * share.value:.1f} % [{100 * share.low:.1f}, {100 * share.high:.1f}]"
    if alone:
        return f"| {found['games']:,} | {shown} |"
    return f"| `{name}` | {found['games']:,} | {found['wins']:,} | {shown} |"
