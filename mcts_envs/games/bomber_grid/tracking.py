"""What one player remembers of a game in the original engine: whose bombs are whose, and what the others have taken."""

from dataclasses import dataclass
from typing import NamedTuple

from mcts_envs.core.contract import Game
from mcts_envs.core.kernel import record
from mcts_envs.core.typing import Bytes
from mcts_envs.core.view import Episode
from mcts_envs.games.bomber_grid.observation import Bomb, Seen
from mcts_envs.games.bomber_grid.rules.layout import (
    AMMO_CAP,
    DOWN,
    EXTRA_BOMB,
    LEFT,
    RANGE,
    RIGHT,
    SEATS,
    STATE,
    STOP,
    TRAIL,
    UP,
)
from mcts_envs.games.bomber_grid.rules.memory import START, remember
from mcts_envs.games.bomber_grid.template import Cell

_STEPS = {STOP: (0, 0), UP: (-1, 0), DOWN: (1, 0), LEFT: (0, -1), RIGHT: (0, 1)}


class Tracked(NamedTuple):
    """A bomb with the step in which it was last seen, and its owner, None if nobody saw who laid it."""

    bomb: Bomb
    step: int
    owner: int | None


@dataclass
class Kit:
    """What a player can be known to carry: bombs in hand or laid, strength, the ability to kick."""

    bombs: int = 1
    strength: int = 2
    kicks: int = 0


class Memory:
    """What one player remembers between the observations of a game.

    Give a fresh one with the first observation and the same with all that follow; a new game empties it.

    Attributes
    ----------
    words : tuple of (int, int)
        The words that the player sent in the last step; whoever plays for it writes them here.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self.game: Game | None = None
        self.player = self.step = -1
        self.complete = False
        self.episode = Episode()
        self.words = (0, 0)
        self.bombs: list[Tracked] = []
        self.kits: dict[int, Kit] = {}
        self.stands: dict[int, Cell] = {}
        self.died: dict[int, int] = {}
        self.trail: list[Cell] = []
        self.remembered: Bytes | None = None
        self._alive: frozenset[int] = frozenset()
        self._items: dict[Cell, int] = {}

    def goes_on(self, seen: Seen) -> bool:
        """Say whether an observation is of the game that is remembered.

        Raises
        ------
        ValueError
            If it is another player's.
        """
        if self.game is None or seen.step == 0 or seen.step < self.step:
            return False
        if seen.player != self.player:
            raise ValueError(
                f"this Memory is of player {self.player} at step {self.step}, and the observation of player "
                f"{seen.player} at step {seen.step}; give each player a Memory of its own, and each game a fresh one"
            )
        return True

    def follow(self, seen: Seen, game: Game) -> int:
        """Take in what a player sees, once for each step; return how many steps have passed since the last look."""
        s = record(game.template, STATE)
        if not self.goes_on(seen):
            self.clear()
            self.game, self.player = game, seen.player
            self.complete = seen.step == 0 and seen.radius is None and not seen.bombs
            self.kits = {player: Kit() for player in range(int(s.players)) if player != seen.player}
        elif seen.step == self.step:
            return 0
        elif seen.step > self.step + 1:
            self.complete, self.trail = False, []
        else:
            self.trail = [self.stands[seen.player], *self.trail][:TRAIL]
        self.died |= dict.fromkeys(self._alive - seen.alive, seen.step)
        for player, cell in seen.stands.items():
            if cell in self._items and player != seen.player:
                self._take(player, self._items[cell], int(s.blast_cap))
        self._follow_bombs(seen, int(s.fuse))
        passed = seen.step - max(self.step, 0)
        self.step, self._alive, self._items = seen.step, seen.alive, seen.items
        self.stands |= {**seen.stands, seen.player: seen.cell}
        return passed

    def recall(self, state: Bytes, passed: int) -> None:
        """Write what the player remembers, so many steps later, to a state of a game with a memory, and keep it."""
        mine = state[START:].reshape(SEATS, -1)[self.player]
        if self.remembered is not None:
            mine[:] = self.remembered
            for _ in range(passed):
                remember(state, self.player)
        self.remembered = mine.copy()

    def owners(self) -> dict[Cell, int]:
        """Return whose the bombs in sight are, as far as that is known."""
        return {of.bomb.cell: of.owner for of in self.bombs if of.step == self.step and of.owner is not None}

    def _take(self, player: int, item: int, blast_cap: int) -> None:
        kit = self.kits[player]
        if item == EXTRA_BOMB:
            kit.bombs = min(kit.bombs + 1, AMMO_CAP)
        elif item == RANGE:
            kit.strength = min(kit.strength + 1, blast_cap)
        else:
            kit.kicks = 1

    def _follow_bombs(self, seen: Seen, fuse: int) -> None:
        """Find each bomb in sight again among those remembered; a new one is its owner's who stands on it."""
        standing = {cell: player for player, cell in seen.stands.items()}
        pairs = [
            (_distance(old, bomb), i, j)
            for i, bomb in enumerate(seen.bombs)
            for j, old in enumerate(self.bombs)
            if _may_be(old, bomb, seen.step)
        ]
        found: dict[int, int] = {}
        for _, i, j in sorted(pairs):
            if i not in found and j not in found.values():
                found[i] = j
        now = []
        for i, bomb in enumerate(seen.bombs):
            if bomb.life == fuse - 1 and bomb.cell in standing:
                owner: int | None = standing[bomb.cell]
            else:
                owner = self.bombs[found[i]].owner if i in found else None
            if i in found and bomb.way not in (STOP, self.bombs[found[i]].bomb.way):
                self._kicked(standing.get(_behind(bomb)))
            if owner in self.kits:
                self.kits[owner].strength = max(self.kits[owner].strength, bomb.strength)
            now.append(Tracked(bomb, seen.step, owner))
        covered = [
            old
            for j, old in enumerate(self.bombs)
            if j not in found.values() and old.bomb.life > seen.step - old.step and seen.hides(old.bomb.cell)
        ]
        self.bombs = now + covered
        for player, kit in self.kits.items():
            kit.bombs = max(kit.bombs, sum(of.owner == player for of in self.bombs))

    def _kicked(self, player: int | None) -> None:
        if player in self.kits:
            self.kits[player].kicks = 1


def _behind(bomb: Bomb) -> Cell:
    """Return the cell from which a bomb rolled last, its own if it lies."""
    down, right = _STEPS[bomb.way]
    return bomb.cell[0] - down, bomb.cell[1] - right


def _distance(old: Tracked, bomb: Bomb) -> int:
    """Return how far apart a bomb lay from where it should have if it is one remembered."""
    (row, column), (was_row, was_column) = old.bomb.cell, _behind(bomb)
    return abs(row - was_row) + abs(column - was_column)


def _may_be(old: Tracked, bomb: Bomb, step: int) -> bool:
    """Say whether a bomb may be one remembered.

    A bomb at rest has not moved in this step; one that rolls has come from the cell behind it, or from a cell beside
    that one if it was kicked while it rolled. In every step in which it was not seen it may have gone two cells.
    """
    elapsed = step - old.step
    far = 2 * (elapsed - 1) + (bomb.way != STOP)
    same = old.bomb.strength == bomb.strength and old.bomb.life - elapsed == bomb.life
    return same and _distance(old, bomb) <= far
