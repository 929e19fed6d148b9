"""The roster game as one plays it by hand: plants, zombies, and forced dice."""

from typing import Any

import numpy as np

from mcts_envs.core.place import position_of, state_from_position
from mcts_envs.games.lane_defense.spec.roster import roster_defense

WAIT = "wait"


def plant(kind: str, lane: int, column: int, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "lane": lane, "column": column, **more}


zombie = plant


class Play:
    """A game set up by hand: acts by name, and reads the position back."""

    def __init__(self, plants=(), zombies=(), t=0, sun=0, dice=(), recharge=(), mowers=None, **settings):
        self.game = roster_defense(**settings, **({} if mowers is None else {"mowers": True}))
        position = {"t": t, "sun": sun, "plants": list(plants), "zombies": list(zombies), "recharge": dict(recharge)}
        if mowers is not None:
            position["mowers"] = mowers
        self.state = state_from_position(self.game, {**position, "dice": list(dice)})
        self.names = {self.game.action_name(action): action for action in range(self.game.actions)}

    def act(self, action=WAIT) -> float:
        rewards = np.zeros(1)
        self.game.step(self.state, np.array([self.names[action]]), rewards)
        return float(rewards[0])

    @property
    def position(self) -> dict[str, Any]:
        return position_of(self.game, self.state)

    def plants(self, key="hp"):
        return {(p["kind"], p["lane"], p["column"]): p[key] for p in self.position["plants"]}

    def zombies(self, key="hp"):
        return {(z["kind"], z["lane"], z["column"]): z[key] for z in self.position["zombies"]}

    def legal(self) -> set[str]:
        actions = np.zeros(self.game.actions, np.int64)
        count = self.game.legal(self.state, 0, actions)
        assert np.all(np.diff(actions[:count]) > 0)
        return {self.game.action_name(action) for action in actions[:count]}

    @property
    def dice_left(self) -> int:
        return int(self.state[8])
