"""What may stand in for a kernel of the bomber grid: other observations, players, values and rules, by name."""

from dataclasses import replace
from typing import Any

from mcts_envs.core.contract import Game
from mcts_envs.core.defaults import default_advise
from mcts_envs.games.bomber_grid.original import original_size
from mcts_envs.games.bomber_grid.players import (
    anybody,
    careful,
    out_of_fire,
    pessimism,
    random_safe,
    rule_based,
    rule_based_aiide,
    values,
)
from mcts_envs.games.bomber_grid.rules import egocentric, memory, observe, radio, remembered
from mcts_envs.games.bomber_grid.rules import kernels as rules
from mcts_envs.games.bomber_grid.rules.layout import MAX_FUSE
from mcts_envs.games.bomber_grid.symmetries import symmetries

_RADIO: dict[str, dict[str, Any]] = {
    "radio": {
        "legal": radio.legal,
        "advise": rule_based.advise_rule_based_radio,
        "determinize": radio.determinize,
        "step": radio.step,
    },
    "silent": {"legal": rules.legal_silent},
    "silent_unadvised": {"legal": rules.legal_silent, "advise": default_advise},
}
"""What planners search with a radio: the moves, each with the words that there are to say, or without words."""


def variants(size: int, max_steps: int, has_radio: bool) -> dict[str, dict[str, Any]]:
    """Return the named replacements of a game on a board."""
    turned = () if has_radio else symmetries((observe.PLANES, size), (observe.NUMBERS, size))
    around = () if has_radio else symmetries((egocentric.PLANES, egocentric.SIDE), (egocentric.NUMBERS, 1))
    return {
        "planes": {
            "observe": observe.observe_planes,
            "observation_shape": (len(observe.PLANES) + len(observe.NUMBERS), size, size),
            "symmetries": turned,
        },
        "egocentric": {
            "observe": egocentric.observe_egocentric,
            "observation_shape": (len(egocentric.PLANES) * egocentric.SIDE**2 + len(egocentric.NUMBERS),),
            "any_board": True,
            "symmetries": around,
        },
        "original": {
            "observe": observe.observe_original,
            "observation_shape": (original_size(size),),
            "observation_high": float(max(max_steps, MAX_FUSE)),
        },
        "random_safe": {"advise": random_safe.advise_random_safe},
        "out_of_fire": {"advise": out_of_fire.advise_out_of_fire},
        "rule_based": {"advise": rule_based.advise_rule_based},
        "rule_based_aiide": {"advise": rule_based_aiide.advise_rule_based_aiide},
        "rule_based_aiide_wary": {"advise": rule_based_aiide.advise_rule_based_aiide_wary},
        "anybody": {"advise": anybody.advise_anybody},
        "careful": {"advise": careful.advise_careful},
        "unadvised": {"advise": default_advise},
        "safe": {"legal": rules.legal_safe},
        "aiide": {"evaluate": values.evaluate_aiide},
        "pessimistic": {"evaluate": pessimism.evaluate_pessimistic},
        "hunting": {"evaluate": pessimism.evaluate_hunting},
        "gathering": {"evaluate": pessimism.evaluate_gathering},
        **(_RADIO if has_radio else {}),
    }


def with_memory(game: Game, size: int) -> Game:
    """Return the game in which players remember; in its variant ``forgetful`` they do not, on the same states."""
    planes = (len(observe.PLANES) + len(remembered.MEMORY_PLANES)) * size * size
    parts = (observe.PLANES, size), (observe.NUMBERS, 1), (remembered.MEMORY_PLANES, size)
    has_radio = "radio" in game.variants
    shown = {
        "observe": remembered.observe_remembered,
        "observation_shape": (planes + len(observe.NUMBERS),),
        "symmetries": () if has_radio else symmetries(*parts),
    }
    forgetful = {"step": game.step, "key": game.key, "determinize": game.determinize}
    remembered_words = {"determinize": radio.determinize_remembered, "step": radio.step_remembered}
    told = {"radio": game.variants["radio"] | remembered_words} if has_radio else {}
    return replace(
        game,
        reset=memory.reset,
        step=memory.step,
        key=memory.key,
        determinize=memory.determinize,
        variants={**game.variants, **told, "memory": shown, "forgetful": forgetful},
    )
