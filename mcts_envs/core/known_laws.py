"""The laws on what players know: keys, determinize, and the settings, which all know."""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from mcts_envs.core.contract import EVERYTHING, Game
from mcts_envs.core.defaults import default_determinize
from mcts_envs.core.sampling import (
    LawError,
    Sample,
    active_players,
    legal_actions,
    play_on,
    require,
    seen,
    some,
    some_choice,
    stepped,
)
from mcts_envs.core.typing import Bytes, Ints

_RESETS = 100
"""Beginnings among which two hands of cards are likely to be the same."""
_SEEDS = 20
"""Draws that are all the same by chance less often than once in a hundred thousand games."""

_Next: TypeAlias = tuple[int, bytes]


def settings_stay(game: Game, sample: Sample) -> None:
    """The settings, which are all fields in front of ``first_field``, are read and never written."""
    field, settings = repr(game.first_field), game.settings
    told = f"the fields in front of first_field {field} are settings, and reset or step wrote to them"
    for state in (*sample.states, *sample.ends):
        same = np.array_equal(state[settings], game.template[settings])
        require(same, "settings stay", f"{told}; first_field names the first that is no setting")


def chance_is_redrawn_and_nothing_known(game: Game, sample: Sample) -> None:
    """``determinize`` changes nothing that the observer knows, and empties the forced dice; keys leave both out."""
    law = "no clairvoyance"
    for number, state in enumerate(sample.states):
        forced = state.copy()
        forced[8:11] = (2, 1, 1)
        everything = game.key(state, EVERYTHING)
        for player in (EVERYTHING, *active_players(game, state)):
            require(game.key(forced, player) == game.key(state, player), law, "the key depends on forced dice")
            redrawn = forced.copy()
            game.determinize(redrawn, player, np.uint64(2**63 + number))
            require(redrawn[8] == 0, law, "determinize leaves forced dice in the queue")
            require(not np.array_equal(redrawn[:8], state[:8]), law, "determinize leaves the random stream as it was")
            again = forced.copy()
            game.determinize(again, player, np.uint64(number))
            told = "determinize draws the same chance by two seeds; call seed_stream(state, seed) in it"
            require(not np.array_equal(redrawn[:8], again[:8]), law, told)
            require(game.key(redrawn, player) == game.key(state, player), law, f"player {player}'s key changed")
            if player == EVERYTHING:
                continue
            known = game.determinize is not default_determinize or game.key(state, player) == everything
            told = f"player {player}'s key says that something is hidden: it is not that of {EVERYTHING}, who knows all"
            cure = "give the Game a determinize that redraws it, or where nothing is hidden, one key for all"
            require(known, law, f"{told}; {cure}")
            same = np.array_equal(legal_actions(game, redrawn, player), legal_actions(game, state, player))
            require(same, law, f"player {player}'s legal actions changed")
            require(
                np.array_equal(seen(game, redrawn, player), seen(game, state, player)), law, "the observation changed"
            )


def what_is_hidden_is_redrawn(game: Game, sample: Sample) -> None:
    """What a player's key leaves out is drawn anew, and told by the key of who knows everything.

    In some states nothing may be left to draw; in all of play there is something.
    """
    hidden: dict[int, bool] = {}
    for number, state in enumerate(sample.states):
        everything = game.key(state, EVERYTHING)
        for player in active_players(game, state):
            if hidden.get(player, True) and game.key(state, player) != everything:
                redrawn = state.copy()
                game.determinize(redrawn, player, np.uint64(number))
                hidden[player] = bool(game.key(redrawn, EVERYTHING) == everything)
    told = f"players {sorted(player for player, kept in hidden.items() if kept)} have keys that are not that of -1"
    cure = "redraw what each cannot know, and let the key of -1 hold all that is hidden"
    require(
        not any(hidden.values()), "what is hidden", f"{told}, and determinize changed nothing that this holds; {cure}"
    )


def what_is_to_come_is_drawn(game: Game, sample: Sample) -> None:
    """Where the key of -1 is the same and no chance is drawn, the same actions lead to the same.

    Else something that it leaves out decides, as the order of a deck: ``determinize`` is to draw that anew.
    """
    told = "two states with the same key of -1 come to different ones by the same actions"
    cure = "let determinize redraw what decides, as the rest of a deck, for -1 too, or let the key hold it"
    met: dict[tuple[int, bytes], _Next] = {}
    for state in (*_beginnings(game), *sample.states):
        actions = some_choice(game, state)
        if came := _only_next(game, state, actions):
            first = met.setdefault((int(game.key(state, EVERYTHING)), actions.tobytes()), came)
            require(first == came, "what is to come", f"{told}; {cure}")


def _only_next(game: Game, state: Bytes, actions: Ints) -> _Next | None:
    """Return what the actions lead to, as its key and the rewards; None where chance or what is redrawn decides."""
    found = set[_Next]()
    for seed in range(_SEEDS):
        before = state.copy()
        game.determinize(before, EVERYTHING, np.uint64(seed))
        after, rewards = stepped(game, before, actions)
        found.add((int(game.key(after, EVERYTHING)), rewards.tobytes()))
        if len(found) > 1 or not np.array_equal(after[:8], before[:8]):
            return None
    return found.pop()


def what_is_redrawn_can_be_played(game: Game, sample: Sample) -> None:
    """States that ``determinize`` made come to an end, and whoever is to choose can."""
    rng = np.random.default_rng(0)
    for number, state in enumerate(some(sample.states, 5)):
        for player in active_players(game, state):
            redrawn = state.copy()
            game.determinize(redrawn, player, np.uint64(number))
            try:
                play_on(game, redrawn, rng, sample.most)
            except LawError as error:
                raise LawError(f"what is redrawn can be played: drawn anew for player {player}: {error}") from None


def keys_tell_apart_what_is_seen(game: Game, sample: Sample) -> None:
    """States with the same key for a player look the same to it: by it, answers of a policy are kept."""
    law = "keys"
    shown = (game, *(game.variant(name) for name, changes in game.variants.items() if "observe" in changes))
    met: dict[tuple[int, int], Bytes] = {}
    for state in (*sample.states, *_siblings(game, sample)):
        for player in active_players(game, state):
            first = met.setdefault((player, int(game.key(state, player))), state)
            for owner in shown:
                same = np.array_equal(seen(owner, first, player), seen(owner, state, player))
                require(same, law, f"player {player} sees two states apart that have the same key")
            same = np.array_equal(legal_actions(game, first, player), legal_actions(game, state, player))
            require(same, law, f"player {player} has other legal actions in two states that have the same key")


def _siblings(game: Game, sample: Sample) -> Iterator[Bytes]:
    """Yield what comes of several actions, and several dice, in the same state: states that differ in little else."""
    for state in some(sample.states):
        for player in active_players(game, state):
            actions, legal = some_choice(game, state), legal_actions(game, state, player)
            for number, action in enumerate(legal[:: -(-len(legal) // 4)]):
                before, actions[player] = state.copy(), action
                game.determinize(before, EVERYTHING, np.uint64(number))
                yield stepped(game, before, actions)[0]


def _beginnings(game: Game) -> list[Bytes]:
    states = [game.new_state() for _ in range(_RESETS)]
    for seed, state in enumerate(states):
        game.reset(state, np.uint64(seed))
    return states


def seen_apart_by_another(game: Game, sample: Sample) -> tuple[int, int] | None:
    """Return a player to whom two states look the same, and another to whom they do not: something may be hidden."""
    met: dict[tuple[int, bytes], list[bytes]] = {}
    for state in (*_beginnings(game), *sample.states, *_siblings(game, sample)):
        views = [seen(game, state, player).tobytes() for player in range(game.players)]
        for player in active_players(game, state):
            first = met.setdefault((player, views[player]), views)
            for other in range(game.players):
                if first[other] != views[other]:
                    return player, other
    return None
