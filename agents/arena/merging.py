"""The plan of a comparison, read from the results of it: folders of several machines say what they belong to."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from agents.arena.limits import Limits
from agents.arena.lineups import seated
from agents.arena.plan import Plan
from agents.arena.storage import EPISODES, check_same, read_header, read_rows
from agents.spec import AgentSpec


def plan_of(folders: Sequence[Path], limits: Limits, replays: bool = False) -> tuple[Plan, int]:
    """Return the plan that all folders were played by, and how many episodes are in them, from the first to the last.

    Raises
    ------
    ValueError
        If a folder holds results of another plan than the first, or the plan cannot be made anew from what it says, as
        with environments and agents from files: these must be named then.
    OSError
        If a folder holds no results.
    """
    for folder in folders:
        if not (folder / EPISODES).is_file():
            raise FileNotFoundError(f"{folder} holds no results; merge folders that a comparison has written to")
    first, cure = folders[0], f"Leave it out, or merge it alone; {folders[0]} says what is merged here"
    there = [read_header(folder)["configuration"] for folder in folders]
    said = there[0]
    try:
        agents = tuple(AgentSpec(label, of["name"], of["settings"]) for label, of in said["agents"].items())
        against = said.get("matches", {}).get("against")
        cooperative = bool(said.get("matches", {}).get("cooperative"))
        kept = tuple(said.get("keep", ()))
        plan = Plan(said["environment"], agents, said["settings"], said["seed"], said["budget"], said["record"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{first / EPISODES}, line 1, does not say what was played ({error}); leave it out") from error
    for folder, other in zip(folders, there, strict=True):
        check_same(other, said, folder, cure)
    against = tuple(against) if isinstance(against, list) else against
    plan = replace(plan, against=against, keep=kept, limits=limits, replays=replays, cooperative=cooperative)
    try:
        if against is None and len(met := said.get("lineups", ())) == 1:  # agents may sit there several times
            named = {spec.label: spec for spec in agents}
            plan = replace(plan, agents=seated([[named[label] for label in side] for side in met[0]], plan.teams))
        here = plan.configuration()
    except Exception as error:
        raise ValueError(f"{first} cannot be read as a plan here: {error}; name its ID and --agents, too") from error
    check_same(said, here, first, "Merge with the release that played; what comes from files needs ID and --agents")
    return plan, 1 + max((row.episode for folder in folders for row in read_rows(folder).values()), default=0)
