"""Rosters: the kinds of plants and zombies of a game and its waves, as plain data.

A roster is given to a game by name or as a dictionary of the same fields (``dataclasses.asdict`` turns one into the
other), so that it can be written to JSON::

    roster = dataclasses.asdict(ROSTERS["standard"])
    roster["plants"][0]["sun"] = 0.10
    env = gym.make("mcts_envs/LaneDefense5x9-v0", roster=roster)
"""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any, TypeAlias, TypeVar

from mcts_envs.core import errors
from mcts_envs.games.lane_defense.rules.roster.layout import MAX_PLANTS, MAX_WAVES, MAX_ZOMBIES

BYTE = 255
MAX_STEPS = 10_000


@dataclass(frozen=True)
class Plant:
    """A kind of plant.

    Parameters
    ----------
    name : str
        Unique among the plants of a roster.
    cost : int
        Price in sun, 0 .. 255.
    hp : int
        Bites that it takes to eat it, 1 .. 255.
    recharge : int
        Decisions for which this kind cannot be planted again, 0 .. 255.
    sun : float
        Probability of one sun a step.
    damage : int
        Hit points taken a step from the nearest zombie to its right that it can hurt, 0 .. 255.
    splash : int
        The same damage is done to zombies up to so many cells away from that one, in any direction, 0 .. 15.
    arms : float
        Probability a step of getting armed. An armed plant explodes when a zombie that it can hurt walks into it.
    blast : int
        Cells to the right of the plant that its explosion clears, 0 .. 15; at least 1 for plants that arm.
    """

    name: str
    cost: int
    hp: int = 1
    recharge: int = 0
    sun: float = 0.0
    damage: int = 0
    splash: int = 0
    arms: float = 0.0
    blast: int = 0

    def __post_init__(self) -> None:
        name = f"plant {self.name!r}:"
        errors.integer(f"{name} cost", self.cost, 0, BYTE)
        errors.integer(f"{name} hp", self.hp, 1, BYTE)
        errors.integer(f"{name} recharge", self.recharge, 0, BYTE)
        errors.number(f"{name} sun", self.sun, 0, 1)
        errors.integer(f"{name} damage", self.damage, 0, BYTE)
        errors.integer(f"{name} splash", self.splash, 0, 15)
        errors.number(f"{name} arms", self.arms, 0, 1)
        errors.integer(f"{name} blast", self.blast, 1 if self.arms > 0 else 0, 15)


@dataclass(frozen=True)
class Zombie:
    """A kind of zombie.

    Parameters
    ----------
    name : str
        Unique among the zombies of a roster.
    hp : int
        Hit points, 1 .. 255.
    p_move : float
        Probability a step of moving one cell, or of biting the plant ahead.
    leaps : int
        Plants over which it leaps, if the cell behind them is empty, before it starts to bite; 0 .. 255.
    hurt_by : sequence of str, optional
        Names of the only plants that can hurt it; by default all can.
    """

    name: str
    hp: int
    p_move: float = 0.25
    leaps: int = 0
    hurt_by: Sequence[str] | None = None

    def __post_init__(self) -> None:
        name = f"zombie {self.name!r}:"
        errors.integer(f"{name} hp", self.hp, 1, BYTE)
        errors.number(f"{name} p_move", self.p_move, 0, 1)
        errors.integer(f"{name} leaps", self.leaps, 0, BYTE)
        if isinstance(self.hurt_by, str) or not isinstance(self.hurt_by, Sequence | None):
            raise TypeError(f"{name} hurt_by {self.hurt_by!r} is not a list of names of plants, nor None for all")


@dataclass(frozen=True)
class Wave:
    """A stretch of time in which zombies arrive.

    Parameters
    ----------
    steps : int
        Its length, at least 1.
    p_new : float
        Probability a step that one zombie enters.
    flag : int
        Zombies that enter besides in its last step, 0 .. 255.
    mix : sequence of int
        Weight of each kind of zombie in the order of the roster, 0 .. 255, not all 0.
    """

    steps: int
    p_new: float
    flag: int
    mix: Sequence[int]

    def __post_init__(self) -> None:
        errors.integer("wave: steps", self.steps, 1, MAX_STEPS)
        errors.number("wave: p_new", self.p_new, 0, 1)
        errors.integer("wave: flag", self.flag, 0, BYTE)
        if isinstance(self.mix, str) or not isinstance(self.mix, Sequence):
            raise TypeError(f"wave: mix {self.mix!r} is not a list with one weight for each kind of zombie")
        if not sum(errors.integer("wave: weight in mix", weight, 0, BYTE) for weight in self.mix):
            raise ValueError(f"wave: mix {list(self.mix)!r} has no weight above 0; at least one kind must enter")


@dataclass(frozen=True)
class Roster:
    """The kinds of plants [1 .. 6] and zombies [1 .. 6] of a game, and its waves [1 .. 6], one after the other."""

    plants: Sequence[Plant]
    zombies: Sequence[Zombie]
    waves: Sequence[Wave]

    def __post_init__(self) -> None:
        for kind, entries, most in (
            ("plants", self.plants, MAX_PLANTS),
            ("zombies", self.zombies, MAX_ZOMBIES),
            ("waves", self.waves, MAX_WAVES),
        ):
            errors.integer(f"number of {kind} in the roster", len(entries), 1, most)
        for names in ([plant.name for plant in self.plants], [zombie.name for zombie in self.zombies]):
            for name in names:
                if not isinstance(name, str) or names.count(name) > 1:
                    raise ValueError(f"the roster has the name {name!r} {names.count(name)} times; use other strings")
        plants = [plant.name for plant in self.plants]
        for zombie in self.zombies:
            for name in zombie.hurt_by or ():
                if name not in plants:
                    raise ValueError(f"zombie {zombie.name!r}: " + errors.unknown("plant in hurt_by", name, plants))
        for wave in self.waves:
            if len(wave.mix) != len(self.zombies):
                raise ValueError(
                    f"wave: mix {list(wave.mix)!r} has {len(wave.mix)} weights; give one for each of the roster's "
                    f"{len(self.zombies)} zombies"
                )


RosterSetting: TypeAlias = str | Roster | Mapping[str, Any]
_Entry = TypeVar("_Entry", Plant, Zombie, Wave)


STANDARD = Roster(
    plants=(
        Plant("sunflower", cost=2, recharge=2, sun=0.08),
        Plant("shooter", cost=4, recharge=2, damage=1),
        Plant("wall", cost=2, hp=8, recharge=10),
        Plant("mine", cost=1, recharge=10, arms=0.2, blast=2),
    ),
    zombies=(
        Zombie("normal", hp=9),
        Zombie("cone", hp=18),
        Zombie("runner", hp=7, p_move=0.5),
        Zombie("bucket", hp=30),
    ),
    waves=(
        Wave(steps=26, p_new=0.20, flag=1, mix=(100, 0, 0, 0)),
        Wave(steps=26, p_new=0.35, flag=2, mix=(70, 20, 10, 0)),
        Wave(steps=26, p_new=0.50, flag=3, mix=(50, 30, 20, 0)),
        Wave(steps=26, p_new=0.65, flag=5, mix=(35, 30, 20, 15)),
    ),
)

SPECIALISTS = Roster(
    plants=(
        Plant("sunflower", cost=2, recharge=2, sun=0.08),
        Plant("shooter", cost=4, recharge=2, damage=1),
        Plant("wall", cost=2, hp=8, recharge=10),
        Plant("mine", cost=1, recharge=10, arms=0.2, blast=2),
        Plant("torch", cost=5, recharge=4, damage=1),
        Plant("catapult", cost=7, recharge=6, damage=1, splash=1),
    ),
    zombies=(
        Zombie("normal", hp=9),
        Zombie("vaulter", hp=9, p_move=0.4, leaps=1),
        Zombie("frozen", hp=8, hurt_by=("mine", "torch")),
        Zombie("swarm", hp=4, p_move=0.35),
    ),
    waves=(
        Wave(steps=26, p_new=0.20, flag=1, mix=(100, 0, 0, 0)),
        Wave(steps=26, p_new=0.30, flag=2, mix=(60, 30, 0, 10)),
        Wave(steps=26, p_new=0.40, flag=3, mix=(40, 25, 15, 20)),
        Wave(steps=26, p_new=0.50, flag=5, mix=(25, 25, 20, 30)),
    ),
)

ROSTERS = {"standard": STANDARD, "specialists": SPECIALISTS}
"""The rosters that can be given by name. In "specialists" vaulters leap over the first plant, frozen zombies are hurt
by torches and mines only, and catapults hit an area."""


def read_roster(setting: RosterSetting) -> Roster:
    """Return the roster that a setting stands for: a name, a dictionary of the fields, or the roster itself.

    Raises
    ------
    TypeError, ValueError
        If the setting is of another type, the name or a field is not known, or a value is out of its bounds.
    """
    if isinstance(setting, Roster):
        return setting
    if isinstance(setting, str):
        errors.choice("roster", setting, ROSTERS)
        return ROSTERS[setting]
    if not isinstance(setting, Mapping):
        raise TypeError(f"roster {setting!r} is {type(setting).__name__}; give a name or a dictionary of its fields")
    errors.keys("roster", setting, ("plants", "zombies", "waves"))
    return Roster(
        plants=_read_entries("plant", Plant, setting["plants"]),
        zombies=_read_entries("zombie", Zombie, setting["zombies"]),
        waves=read_waves(setting["waves"]),
    )


def read_waves(entries: Any) -> tuple[Wave, ...]:
    """Return the waves that a list of dictionaries (or of waves) stands for; raises like :func:`read_roster`."""
    return _read_entries("wave", Wave, entries)


def _read_entries(kind: str, entry_type: type[_Entry], entries: Any) -> tuple[_Entry, ...]:
    if isinstance(entries, str | Mapping) or not isinstance(entries, Sequence):
        raise TypeError(f"the {kind}s {entries!r} are {type(entries).__name__}; give a list of dictionaries")
    required = [f.name for f in fields(entry_type) if f.default is MISSING]
    optional = [f.name for f in fields(entry_type) if f.default is not MISSING]
    result = []
    for entry in entries:
        if not isinstance(entry, entry_type | Mapping):
            raise TypeError(f"{kind} {entry!r} is {type(entry).__name__}; give a dictionary of its fields")
        if isinstance(entry, Mapping):
            errors.keys(kind, entry, required, optional)
            values: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in entry.items()}
            entry = entry_type(**values)
        result.append(entry)
    return tuple(result)


def fill_tables(record: Any, roster: Roster) -> None:
    """Write a roster into the settings of a state (a record of ``layout.STATE``); ``first_wave`` is already there.

    Raises
    ------
    ValueError
        If the waves last too long.
    """
    record.plants, record.zombies, record.waves = len(roster.plants), len(roster.zombies), len(roster.waves)
    for i, plant in enumerate(roster.plants):
        for name, value in asdict(plant).items():
            if name != "name":
                record[f"plant_{name}"][i] = value
    names = [plant.name for plant in roster.plants]
    for i, zombie in enumerate(roster.zombies):
        record.zombie_hp[i], record.zombie_move[i], record.zombie_leaps[i] = zombie.hp, zombie.p_move, zombie.leaps
        hurt_by = names if zombie.hurt_by is None else zombie.hurt_by
        record.zombie_hurt_by[i] = sum(1 << names.index(name) for name in set(hurt_by))
    end = int(record.first_wave)
    errors.integer("end of the last wave", end + sum(int(wave.steps) for wave in roster.waves), 1, MAX_STEPS)
    for i, wave in enumerate(roster.waves):
        end += int(wave.steps)
        record.wave_end[i], record.wave_new[i], record.wave_flag[i] = end, wave.p_new, wave.flag
        record.wave_mix[i, : len(wave.mix)] = wave.mix
    record.top_plant_hp = max(plant.hp for plant in roster.plants)
    record.top_zombie_hp = max(zombie.hp for zombie in roster.zombies)
    record.top_leaps = max(zombie.leaps for zombie in roster.zombies)
    record.top_recharge = max(plant.recharge for plant in roster.plants)
