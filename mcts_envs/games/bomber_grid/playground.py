"""Playing in the original engine: its observations as states of our game, and our agents as players there.

The original is Pommerman's *playground*, https://github.com/MultiAgentLearning/playground. Nothing of it is imported.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from mcts_envs.core.contract import BYTES, Game, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.players import player as checked_player
from mcts_envs.core.typing import Bytes
from mcts_envs.core.view import View
from mcts_envs.games.bomber_grid.observation import Seen, read_observation
from mcts_envs.games.bomber_grid.position import place
from mcts_envs.games.bomber_grid.rules.blasts import collapse, kill, ring
from mcts_envs.games.bomber_grid.rules.kernels import judge
from mcts_envs.games.bomber_grid.rules.layout import (
    AGENT,
    DUEL,
    FFA,
    FOG,
    FULL_VIEW,
    MOVES,
    PASSAGE,
    RADIO,
    STATE,
    STOP,
    TEAM,
    WIDTH,
    WORDS,
)
from mcts_envs.games.bomber_grid.rules.memory import START
from mcts_envs.games.bomber_grid.spec import bomber_grid
from mcts_envs.games.bomber_grid.template import Cell
from mcts_envs.games.bomber_grid.tracking import Memory

__all__ = ["Memory", "PlaygroundAgent", "from_observation"]

_COLLAPSE = (500, 575, 650, 725)
_MODES = {FFA: "ffa", TEAM: "team", RADIO: "radio", DUEL: "duel"}
_SIZES = {FFA: 11, TEAM: 11, RADIO: 11, DUEL: 8}


def from_observation(observation: Mapping[str, Any], memory: Memory | None = None, game: Game | None = None) -> View:
    """Return a view of our game in which its player sees what an observation of the original shows.

    Agents act on it: ``agents.make("best").act(from_observation(observation))``; ``view.state`` is the state and
    ``view.game`` its game.

    What is seen is as it is seen. What is hidden (items under wood and fire, what the others carry, whose bombs lie
    there, all in the fog) is drawn by the laws of ``determinize``, the same for the same observation and memory. With a
    memory that is true of less: bombs stay with the players who laid them in sight, wherever they roll or are kicked;
    the items that others took in sight and the strength of their bombs are counted, exactly if the whole board was in
    sight from the first step on; and the player's own way is known. What the fog has covered since is drawn anew,
    unless the game has ``memory=True``.

    Parameters
    ----------
    observation : dict
        As the original gives it to ``act``, or as :func:`~mcts_envs.games.bomber_grid.original.as_dict` does. Players
        may be integers or members of its enumeration. Keys that are not known here are let be.
    memory : Memory, optional
        What the same player remembers of the same game; it takes the observation in. By default nothing is remembered.
    game : Game, optional
        The game, from ``mcts_envs.games.bomber_grid.spec.bomber_grid``, where its settings are none of the original's:
        by default they are recognized from ``game_type``, ``game_env`` (its second version lets the board collapse)
        and the fog; a team with fog has bombs of strength 4 at most, all others 10.

    Raises
    ------
    ValueError, TypeError
        If a key is missing, a number is out of its bounds, planes and lists contradict each other, the observation is
        none of this game, or another player's than the memory. The memory is then as it was.
    """
    seen = read_observation(observation)
    remembered = Memory() if memory is None else memory
    if game is None:
        game = remembered.game if remembered.goes_on(seen) and remembered.game else _recognized(seen)
    _check(seen, game)
    passed = remembered.follow(seen, game)
    state = game.new_state()
    game.reset(state, np.uint64(0))
    place(state, _position(seen, remembered, game))
    if state.size > START:
        remembered.recall(state, passed)
    game.determinize(state, seen.player, np.uint64(seen.step))
    _write_known(state, seen, remembered)
    return View(game, state, seen.player, None if memory is None else remembered.episode)


class PlaygroundAgent:
    """A player of the original engine which asks an agent of ours.

    The original takes only players derived from its ``BaseAgent``: derive from both, this class first. It answers with
    the move, and with the radio with a list of the move and two words.

    Parameters
    ----------
    agent : Agent, player, or str
        Whoever has ``act(view)`` and ``reseed(seed)``, such as ``agents.make("best", time_limit=0.05)``; or a name,
        ``"agents:best"``. One object for each seat.
    game : Game, optional
        As in :func:`from_observation`.
    """

    def __init__(self, agent: Any, game: Game | None = None) -> None:
        super().__init__()  # of the original's BaseAgent, where a class derives from both
        self._ours, self._game, self._memory = checked_player(agent), game, Memory()

    def act(self, obs: Mapping[str, Any], action_space: Any = None) -> int | list[int]:
        """Return a move, 0 to 5; with the radio a list of the move and two words, 0 to 7."""
        view = from_observation(obs, self._memory, self._game)
        # A collapse has just killed this player, and the original has not noticed yet: any move will do.
        action = STOP if view.over else int(self._ours.act(view))
        if view.game.actions == MOVES:
            return action
        move, words = divmod(action, WORDS * WORDS)
        self._memory.words = divmod(words, WORDS)
        return [move, *self._memory.words]

    def episode_end(self, reward: Any) -> None:
        """Forget the game, which is over."""
        self._memory.clear()


@lru_cache(maxsize=16)
def _original(mode: int, radius: int | None, collapses: bool) -> Game:
    """Return a game of the original's, always the same object for the same settings."""
    walls = {"board_size": 8, "n_rigid": 16, "n_wood": 16, "n_items": 10} if mode == DUEL else {}
    cap = 4 if mode in (TEAM, RADIO) and radius is not None else 10
    steps = _COLLAPSE if collapses else ()
    return bomber_grid(mode=_MODES[mode], view=radius, blast_cap=cap, collapse=steps, **walls)


def _recognized(seen: Seen) -> Game:
    """Return the original's game that an observation is of."""
    size = len(seen.codes)
    if size != _SIZES[seen.mode]:
        raise ValueError(
            f"observation['board'] is {size} x {size} with game_type {seen.mode}, where the original's boards have "
            f"size {_SIZES[seen.mode]}; pass game=bomber_grid(mode={_MODES[seen.mode]!r}, board_size={size}, ...)"
        )
    return _original(seen.mode, seen.radius, ".v1:" in seen.environment)


def _check(seen: Seen, game: Game) -> None:
    """Refuse an observation that is none of a game."""
    if game.name != "bomber_grid":
        raise ValueError(f"game {game.name!r} is not the bomber grid; pass one that bomber_grid(...) returned")
    s, size = record(game.template, STATE), len(seen.codes)
    if (seen.mode, size) != (s.mode, s.board_size):
        raise ValueError(
            f"the observation is of game_type {seen.mode} on a board of size {size}, and the game of game_type "
            f"{s.mode} on a board of size {s.board_size}; pass game=bomber_grid(...) with the settings in play"
        )
    if seen.radius != _radius_shown(s, seen):
        raise ValueError(
            f"observation['board'] shows a window of radius {seen.radius} (None: the whole board), which view "
            f"{None if s.radius == FULL_VIEW else int(s.radius)} of the game does not leave; pass "
            "game=bomber_grid(..., view=...)"
        )
    strengths = {f"bomb_blast_strength'][{row}][{column}": b.strength for b in seen.bombs for row, column in [b.cell]}
    lives = {f"bomb_life'][{row}][{column}": b.life for b in seen.bombs for row, column in [b.cell]}
    flames = {f"flame_life'][{row}][{column}": life for (row, column), life in seen.flames.items()}
    bounds = [({"blast_strength": seen.kit[1], **strengths}, s.blast_cap, "blast_cap"), (lives, s.fuse, "fuse")]
    bounds += [(flames, s.flame_life + 1, "flame_life"), ({"step_count": seen.step}, s.max_steps, "max_steps")]
    for values, most, setting in bounds:
        for key, value in values.items():
            if value > most:
                raise ValueError(
                    f"observation['{key}'] {value} is more than {most}, the most with {setting} {s[setting]} of the "
                    f"game; pass game=bomber_grid(..., {setting}=...)"
                )
    unseen, fog = seen.alive - set(seen.stands), int((seen.codes == FOG).sum())
    if len(unseen) > fog:
        raise ValueError(
            f"observation['alive'] has {AGENT + min(unseen)}, whom observation['board'] does not show, and the fog "
            f"covers {fog} cells; give the board with all who live"
        )


def _radius_shown(s: Any, seen: Seen) -> int | None:
    """Return the radius of the window that a game leaves its player, None if that is the whole board."""
    last = len(seen.codes) - 1
    if s.radius == FULL_VIEW or s.radius >= max(*seen.cell, last - seen.cell[0], last - seen.cell[1]):
        return None
    return int(s.radius)


def _position(seen: Seen, memory: Memory, game: Game) -> dict[str, Any]:
    """Return a position that looks as the observation does, with free cells in the fog and anybody's bombs."""
    s = record(game.template, STATE)
    board, fog = seen.codes.copy(), [tuple(map(int, cell)) for cell in np.argwhere(seen.codes == FOG)]
    board[board == FOG] = PASSAGE
    stands: dict[int, Cell] = {}
    for player in range(int(s.players)):
        home = divmod(int(s.homes[player]), WIDTH)
        if player in seen.alive:
            stands[player] = seen.stands[player] if player in seen.stands else fog.pop(0)  # type: ignore[assignment]
            board[stands[player]] = AGENT + player
        else:
            stands[player] = seen.cell if player == seen.player else memory.stands.get(player, home)
    owners, other = memory.owners(), min(set(stands) - {seen.player})
    agents = []
    for player, cell in stands.items():
        kit = seen.kit if player == seen.player else (1, 2, 0)
        agents.append([int(player in seen.alive), *cell, *kit])
    died = [0 if player in seen.alive else min(memory.died.get(player, 0), seen.step) for player in stands]
    position = {
        "board": board,
        "items": [],
        "agents": agents,
        "bombs": [[*b.cell, owners.get(b.cell, other), b.life, b.strength, b.way] for b in seen.bombs],
        "flames": [[*cell, life - 1] for cell, life in seen.flames.items()],
        "step_count": seen.step,
        "died": died,
        "trail": [memory.trail if player == seen.player else [] for player in stands],
    }
    if seen.mode == RADIO:
        mate = seen.player ^ 2
        words = {seen.player: memory.words, mate: seen.message}
        position["words"] = [list(words.get(player, (0, 0))) for player in stands]
    return position


def _write_known(state: Bytes, seen: Seen, memory: Memory) -> None:
    """Write what the memory knows over what was drawn, and let a ring turn rigid that does so at this step.

    The original shows the board before a collapse of the same step, and whom it has killed a step later.
    """
    s, owners = record(state, STATE), memory.owners()
    for bomb in range(int(s.n_bombs)):
        cell = divmod(int(s.bomb_cell[bomb]), WIDTH)
        s.bomb_owner[bomb] = owners.get(cell, s.bomb_owner[bomb])
    laid = [int(owner) for owner in s.bomb_owner[: s.n_bombs]]
    for player, kit in memory.kits.items():
        if memory.complete:
            s.strength[player], s.kicks[player] = kit.strength, kit.kicks
            s.ammo[player] = max(kit.bombs - laid.count(player), 0)
        else:
            s.strength[player] = max(int(s.strength[player]), kit.strength)
            s.kicks[player] = max(int(s.kicks[player]), kit.kicks)
    for number in range(int(s.n_rings)):
        if s.collapse[number] == seen.step:
            _let_fall(state, number)


@kernel(types.void(BYTES, types.int64))
def _let_fall(state: Bytes, number: int) -> None:
    """Let a ring turn rigid, and end the game if it kills the last."""
    s = record(state, STATE)
    collapse(state, number)
    kill(s, ring(s.board_size, number), s.t)
    judge(s)
