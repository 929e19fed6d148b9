"""The list of policies that are trained: what the file ``hyperparams/baselines.yml`` says of each."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from agents.learning.expert_plan import Plan
from agents.learning.hyperparameters import hyperparameters
from agents.learning.saved.shipped import FOLDER, TAUGHT, made_for
from mcts_envs.core import errors
from mcts_envs.core.loading import parted
from mcts_envs.registry import find

_OF_TRAININGS = "imitate", "self_play", "n_timesteps"
"""Changes that expert iteration has no use for."""

_FIELDS = ("settings", "changes", "expert", "start", "minutes", "against", "wanted")


@dataclass(frozen=True)
class Baseline:
    """A policy to be trained; the fields of the file ``hyperparams/baselines.yml``.

    Attributes
    ----------
    name : str
        Environment, board and algorithm: ``"WallSurvival-v0,board_size=6/maskable_ppo"``, with the file of a game of
        one's own ``"games/my_game.py:MyGame-v0/ppo"``; ``expert_iteration`` is a MaskablePPO that learns from a search.
    settings, changes : dict
        Of the training's environment, besides the board; hyper-parameters in place of those of the algorithm's file.
    expert : dict
        How ``expert_iteration`` learns, as :class:`agents.learning.expert_plan.Plan` has it.
    start : str, optional
        The shipped policy whose weights trainings begin with: ``"BomberDuel-v0/maskable_ppo"``.
    minutes : float
        Of each seed.
    against : tuple of str
        Who it is measured against; empty for games for one.
    wanted : float, optional
        What was aimed at.
    """

    name: str
    settings: dict[str, Any] = field(default_factory=dict)
    changes: dict[str, Any] = field(default_factory=dict)
    expert: dict[str, Any] = field(default_factory=dict)
    start: str | None = None
    minutes: float = 60.0
    against: tuple[str, ...] = ()
    wanted: float | None = None

    @property
    def algorithm(self) -> str:
        """Its name."""
        return "maskable_ppo" if self.learned_by == TAUGHT else self.learned_by

    @property
    def learned_by(self) -> str:
        """How it is learned, as policies are called: the algorithm, or expert iteration."""
        return self.name.rpartition("/")[2]

    @property
    def env_id(self) -> str:
        """The environment, without namespace, after the file or the module that it is from."""
        source, colon, name = parted(self.name.rpartition("/")[0].partition(",")[0])
        return f"{source}{colon}{Path(name).name}"

    @property
    def place(self) -> Path:
        """Its folder, in that of all policies: a file that lies elsewhere leads nowhere else."""
        whole = Path(self.name)
        return Path(*(part for part in whole.parts if part not in (whole.anchor, "..")))

    @property
    def board(self) -> dict[str, Any]:
        """Settings of the board."""
        return made_for(Path(self.name).parent)[1]

    @property
    def starts_with(self) -> Path | None:
        """The zip of the shipped policy."""
        return None if self.start is None else FOLDER / f"{self.start}.zip"

    def scaled(self, scale: float) -> dict[str, Any]:
        """Return the changes of a training that is so much of the whole."""
        changes = dict(self.changes)
        whole = hyperparameters(self.algorithm, find(self.env_id).id, changes)
        changes["n_timesteps"] = max(1, round(scale * whole.n_timesteps))
        if "imitate" in changes:
            changes["imitate"] = {**changes["imitate"], "steps": max(1, round(scale * changes["imitate"]["steps"]))}
        return changes

    def plan(self, scale: float) -> Plan:
        """Return the plan of an expert iteration that plays so many of the games."""
        whole = Plan(**self.expert)
        games, first = (max(1, round(scale * count)) for count in (whole.games, whole.games_in(0)))
        return replace(whole, games=games, imitate_games=first)


def baselines(file: Path | None = None) -> list[Baseline]:
    """Return the policies of a file, by default of that of this package.

    Raises
    ------
    ValueError, TypeError
        If the file cannot be read, a name or a field is unknown, or a number of an expert iteration is out of its
        bounds.
    """
    there = resources.files("agents.learning") / "hyperparams" / "baselines.yml" if file is None else file
    found = []
    for name, given in _entries(there).items():
        errors.keys(f"baseline {name}", given, (), _FIELDS)
        for key in ("settings", "changes", "expert"):
            if not isinstance(given.get(key, {}), Mapping):
                raise ValueError(f"{key} {given[key]!r} of baseline {name} is no mapping; write {{key: value}}")
        if not isinstance(given.get("against", []), list):
            raise ValueError(f"against {given['against']!r} of baseline {name} is no list; write [greedy, random]")
        for key, most in (("minutes", 1e6), ("wanted", 1.0)):
            if key in given:
                errors.number(f"{key} of baseline {name}", given[key], 0.001, most)
        found.append(Baseline(name, **{**given, "against": tuple(given.get("against", ()))}))
        hyperparameters(found[-1].algorithm, find(found[-1].env_id).id, found[-1].changes)
        if found[-1].expert and found[-1].learned_by != TAUGHT:
            raise ValueError(f"baseline {name} has expert: {found[-1].expert}, which is for {TAUGHT}")
        if found[-1].learned_by == TAUGHT and (idle := sorted({*_OF_TRAININGS} & {*found[-1].changes})):
            raise ValueError(f"baseline {name} changes {', '.join(idle)}, for which {TAUGHT} has no use; see expert")
        errors.keys(f"expert of baseline {name}", found[-1].expert, (), Plan.__dataclass_fields__)
        found[-1].plan(1.0)
        if (start := found[-1].starts_with) is not None and not start.is_file():
            raise ValueError(f"baseline {name}: no policy {found[-1].start} is shipped to start with")
    return found


def _entries(file: Any) -> dict[str, dict[str, Any]]:
    """Return what a file of policies says of each."""
    try:
        text = file.read_text(encoding="utf-8")
        entries, written = yaml.safe_load(text), yaml.compose(text, yaml.SafeLoader)
    except OSError as error:
        raise ValueError(f"{file} cannot be read ({error.strerror}); give a file of NAME: {{minutes: 10}}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"{file} is no YAML ({error}); write NAME: {{minutes: 10}}") from error
    if not isinstance(entries, dict) or not all(isinstance(given or {}, dict) for given in entries.values()):
        raise ValueError(f"{file} holds {entries!r:.80}, not what policies are trained by; write NAME: {{minutes: 10}}")
    counts = Counter(name.value for name, _ in (written.value if written else ()))
    if twice := [name for name, count in counts.items() if count > 1]:
        raise ValueError(
            f"{file} has {twice[0]} {counts[twice[0]]} times, of which the last alone would be trained; write it once, "
            "and the others in files of their own, with another --out"
        )
    return {str(name): given or {} for name, given in entries.items()}
