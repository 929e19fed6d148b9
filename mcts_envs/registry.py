"""Every environment of this package: one entry for each id.

Registering imports no game; a game and its compiled code are loaded by the first ``make``.
"""

import importlib
from dataclasses import dataclass, field
from typing import Any

import gymnasium


@dataclass(frozen=True)
class Entry:
    """One environment id.

    Attributes
    ----------
    id : str
    env : str
        ``"module:Class"`` of the Gymnasium environment; the module also has ``ClassVector``, its batched face.
    settings : dict
        Settings of the game, JSON-able.
    players : int
        Games for two and more are registered with PettingZoo too.
    presets : tuple of str
        Named agents that the game brings (see ``Game.presets``).
    """

    id: str
    env: str
    settings: dict[str, Any] = field(default_factory=dict)
    players: int = 1
    presets: tuple[str, ...] = ()

    def env_class(self) -> Any:
        """Load the environment class."""
        module, name = self.env.split(":")
        return getattr(importlib.import_module(module), name)


_CLASSIC = "mcts_envs.lane_defense.classic.spec:LaneDefense"
_ROSTER = "mcts_envs.lane_defense.roster.spec:RosterDefense"
_PAPER = ("mcts_paper", "mcts_text")

ENTRIES = {
    entry.id: entry
    for entry in (
        Entry("mcts_envs/LaneDefense3x3-v0", _CLASSIC, {"rows": 3, "columns": 3}, presets=_PAPER),
        Entry("mcts_envs/LaneDefense10x10-v0", _CLASSIC, {"rows": 10, "columns": 10}, presets=_PAPER),
        Entry("mcts_envs/LaneDefense5x9-v0", _ROSTER),
    )
}


def register_all() -> None:
    """Register every entry with Gymnasium, and with PettingZoo those for several players."""
    for entry in ENTRIES.values():
        if entry.id not in gymnasium.registry:
            gymnasium.register(
                entry.id, entry_point=entry.env, vector_entry_point=f"{entry.env}Vector", kwargs=entry.settings
            )
        if entry.players > 1:
            _register_with_pettingzoo(entry)


def _register_with_pettingzoo(entry: Entry) -> None:
    import pettingzoo

    for kind, registry in (("aec", pettingzoo.aec_registry), ("parallel", pettingzoo.parallel_registry)):
        if entry.id not in registry:
            kwargs = {"id": entry.id}
            pettingzoo.register(kind, entry.id, entry_point=f"mcts_envs:make_{kind}", kwargs=kwargs)
