"""The parameters of policies: declared beside each with default, bounds and meaning, given to the agent by name."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agents.policies import load, names
from agents.search.records import record_type, rows
from mcts_envs.core import errors

NOT_GIVEN = math.nan
"""The value of a parameter that is None."""


@dataclass(frozen=True)
class Parameter:
    """A number that a policy is given.

    Parameters
    ----------
    default : float, bool or None
        A flag where it is a bool. None, which policies see as NaN, where the policy has a rule of its own.
    low, high : float
        Bounds, inclusive.
    meaning : str
    """

    default: float | bool | None
    low: float
    high: float
    meaning: str

    def read(self, name: str, given: Any) -> float:
        """Return a value as policies see it.

        Raises
        ------
        ValueError, TypeError
            If it is no number within the bounds, or no flag.
        """
        if given is None and self.default is None:
            return NOT_GIVEN
        if isinstance(self.default, bool):
            return float(errors.flag(name, given))
        return errors.number(name, given, self.low, self.high)

    def described(self, name: str) -> str:
        """Return a line of documentation."""
        if isinstance(self.default, bool):
            return f"{name} : bool, default {self.default}. {self.meaning}"
        return f"{name} : float in [{self.low:g}, {self.high:g}], default {self.default}. {self.meaning}"


def exploration(c: float = 0.5, normalize: bool = True) -> dict[str, Parameter]:
    """Return the parameters of policies that weigh an action's mean against how seldom it was tried.

    Others of a policy come after them: ``agents.policies.ucb1.in_returns`` reads these first.
    """
    return {
        "c": Parameter(c, 0.0, 1e9, "Exploration constant."),
        "normalize": Parameter(normalize, 0, 1, "Count c and fpu in ranges of the returns seen so far."),
        "fpu": Parameter(
            None, -1e9, 1e9, "First-play urgency: what an untried action counts; None: as the policy has it."
        ),
    }


def parameter_record(parameters: Mapping[str, Parameter]) -> Any:
    """Return the type of the record in which a policy finds its parameters."""
    return record_type(**dict.fromkeys(parameters, "f8"))


def pack(parameters: Mapping[str, Parameter], given: Mapping[str, Any], plain: bool) -> Any:
    """Return the values of a policy's parameters as a record: in bytes, or as an object for an interpreted search."""
    values = {name: parameter.read(name, given.get(name, parameter.default)) for name, parameter in parameters.items()}
    return rows(parameter_record(parameters), [tuple(values.values())], plain)


_CALLED = {
    "c_puct": "c",
    "exploration": "c",
    "gamma": "discount",
    "iterations": "simulations",
    "num_simulations": "simulations",
    "playouts": "simulations",
    "rollouts": "simulations",
    "sims": "simulations",
}
"""What settings are called elsewhere."""


def read_parameters(chosen: Mapping[str, Any], given: Mapping[str, Any], settings: Iterable[str]) -> dict[str, Any]:
    """Return the parameters of policies by name: those given, or the default of the first policy that declares it.

    A name means the same to all of them. None leaves a parameter as it is.

    Parameters
    ----------
    chosen : mapping
        Policies by what they are for.
    given : mapping
    settings : names
        What else the agent is given by name, and may have been meant.

    Raises
    ------
    TypeError, ValueError
        If none has a parameter of that name, or it is out of bounds.
    """
    declared: dict[str, Parameter] = {}
    for policy in chosen.values():
        declared = {**_declared(policy), **declared}
    for name, value in given.items():
        if value is None:
            continue
        if name not in declared:
            raise TypeError(_unknown(name, chosen, {*declared, *settings}))
        declared[name].read(name, value)
    return {name: parameter.default if given.get(name) is None else given[name] for name, parameter in declared.items()}


def _declared(policy: Any) -> Mapping[str, Parameter]:
    needs = getattr(policy, "needs", None)
    return needs.parameters if needs else {}


def _unknown(name: str, chosen: Mapping[str, Any], known: set[str]) -> str:
    """Say whose parameter this is, or what may have been meant."""
    those = ", ".join(f"{kind}={getattr(policy, '__name__', policy)!r}" for kind, policy in chosen.items())
    owners = [f"{kind}={owner!r}" for kind in chosen for owner in names(kind) if name in _declared(load(kind, owner))]
    meant = called if (called := _CALLED.get(name.lower())) in known else None
    if owners:
        cure = f"; did you mean {meant!r}?" if meant else ""
        return f"{name!r} is a parameter of {' and of '.join(owners)}, not of {those}{cure}"
    return f"{errors.unknown('setting or parameter', name, known, meant)}; parameters are those of {those}"
