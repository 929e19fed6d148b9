"""Games of players who are paid together: each agent plays all seats, in the same episodes as the others."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agents.arena.formats.base import Figures
from agents.arena.formats.solo import Solo
from agents.arena.lineups import Lineup, sides
from agents.arena.rows import Row, Rows, Seat
from mcts_envs.core.contract import Game

if TYPE_CHECKING:
    from agents.arena.plan import Plan
    from agents.arena.report.report import Report


class Cooperative(Solo):
    """Each agent in all seats, as players of its own; what they are paid in the mean counts."""

    def check(self, plan: "Plan") -> None:
        """Check that agents can be told apart, and that there are several players.

        Raises
        ------
        ValueError
            If not, or if the players of a game of ours are in several teams.
        """
        game = getattr(plan.make_env().unwrapped, "game", None)
        if plan.seats < 2:
            raise ValueError(f"{plan.id} has one player, as it is set up here; leave cooperative out")
        if isinstance(game, Game) and len(game.teams) > 1:
            raise ValueError(f"the players of {plan.id} are {len(game.teams)} teams, which meet; leave cooperative out")
        super().check(plan)

    def lineups(self, plan: "Plan") -> list[Lineup]:
        """Return each agent in all seats."""
        return [sides((spec,), plan.teams) for spec in plan.agents]

    def configuration(self, plan: "Plan") -> dict[str, Any]:
        """Return that each agent plays all seats."""
        return {"matches": {"seats": plan.seats, "cooperative": True}}

    def name(self, row: Row) -> str:
        """Say who played what, and which player was to move where something went wrong."""
        asked = "" if row.last_asked is None or row.fault is None else f", player {row.last_asked} to move"
        return super().name(row) + asked

    def figures(self, plan: "Plan", rows: Rows, episodes: int, resamples: int) -> Figures:
        """Sum up each agent's episodes, as those of one."""
        return super().figures(plan, _alone(rows), episodes, resamples)

    def score(self, plan: "Plan", rows: Rows, episode: int) -> float | None:
        """Return what the first has of the two, as where each plays alone."""
        played = {key: rows[key] for label in self.contest(plan) if (key := ((label,) * plan.seats, episode)) in rows}
        return super().score(plan, _alone(played), episode)

    def played(self, report: "Report") -> str:
        """Say which episodes, and by how many players."""
        return f"{super().played(report)}, an agent in all {report.plan.seats} seats"

    def legend(self, report: "Report") -> str:
        """Say how to read the figures."""
        return f"return: of a player, in the mean; {super().legend(report)}"


def _alone(rows: Rows) -> Rows:
    """Return games as if one had played all seats."""
    alone = [replace(row, seats=[_of_all(row.seats)], last_asked=row.last_asked and 0) for row in rows.values()]
    return {row.key: row for row in alone}


def _of_all(seats: list[Seat]) -> Seat:
    """Return what all seats of a game did together, and what each had in the mean."""

    def total(name: str) -> Any:
        return sum(getattr(seat, name) for seat in seats)

    sums = ("length", "decisions", "seconds", "simulations", "model_steps", "overruns", "cpu")
    outcomes = [seat.outcome for seat in seats if seat.outcome is not None]
    return Seat(
        seats[0].agent,
        seats[0].agent_seed,
        outcome=sum(outcomes) / len(outcomes) if outcomes else None,
        episode_return=total("episode_return") / len(seats),
        discounted_return=total("discounted_return") / len(seats),
        is_success=all(seat.is_success for seat in seats),
        p99=max(seat.p99 for seat in seats),
        slowest=max(seat.slowest for seat in seats),
        **{name: total(name) for name in sums},
    )
