"""A sequential test in the course of a comparison: it follows the boards in their order, however they are finished."""

from collections import Counter
from collections.abc import Iterable

from agents.arena.plan import Plan
from agents.arena.report.figures import Trial
from agents.arena.rows import Match, Rows
from agents.arena.statistics.sprt import Sprt


class Course:
    """Where a test stands.

    It looks at a board when all its games and all boards before it are finished. Which boards it has looked at when it
    stops depends on the results alone: not on which processes were quick, and not on interruptions.

    Parameters
    ----------
    plan : Plan
    sprt : Sprt
    episodes : int
        Boards at most.
    missing : iterable of Match
        What is still to be played.

    Raises
    ------
    ValueError
        If the plan compares more or fewer than two agents.
    """

    def __init__(self, plan: Plan, sprt: Sprt, episodes: int, missing: Iterable[Match]) -> None:
        self._plan, self._sprt, self._episodes = plan, sprt, episodes
        self._pair, self._games = plan.format.contest(plan), plan.format.games(plan)
        self._left = Counter(match.episode for match in missing)
        self._scores: list[float] = []
        self._llr, self.boards = 0.0, 0

    def finish(self, episode: int) -> None:
        """Note that a game on a board is finished."""
        self._left[episode] -= 1

    def follow(self, rows: Rows) -> bool:
        """Look at the boards that have become ready, and return whether it is decided."""
        while self.trial.verdict is None and self.boards < self._episodes and not self._left[self.boards]:
            score = self._plan.format.score(self._plan, rows, self.boards)
            self.boards += 1
            if score is not None:
                self._scores.append(score)
                self._llr = self._sprt.llr(self._scores, self._games)
        return self.trial.verdict is not None

    @property
    def trial(self) -> Trial:
        """What there is to report."""
        verdict = self._sprt.verdict(self._llr)
        return Trial(self._sprt, *self._pair, self.boards, len(self._scores), self._llr, verdict)
