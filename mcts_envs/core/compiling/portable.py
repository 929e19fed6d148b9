"""Pickles and copies of games: their kernels travel by name."""

from dataclasses import fields
from typing import Any, Self

from mcts_envs.core.kernel import reference, resolve
from mcts_envs.version import __version__


class Portable:
    """What a game is where it is pickled or copied: its fields, by name where they are kernels.

    Raises
    ------
    ValueError
        If a pickle is of another release, or what comes out of it is not what went in.
    """

    name: str
    fingerprint: Any
    variants: Any

    def __getstate__(self) -> dict[str, Any]:
        state = {f.name: reference(getattr(self, f.name)) for f in fields(self)}  # type: ignore[arg-type]
        state["variants"] = {
            name: {key: reference(value) for key, value in change.items()} for name, change in self.variants.items()
        }
        return state | {"pickled": (__version__, self.fingerprint)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        release, fingerprint = state.pop("pickled", ("another release", ""))
        state["variants"] = {
            name: {key: resolve(value) for key, value in change.items()} for name, change in state["variants"].items()
        }
        vars(self).update({name: resolve(value) for name, value in state.items()})
        if (release, fingerprint) != (__version__, self.fingerprint):
            raise ValueError(
                f"the pickle is of {fingerprint or self.name} in mcts-envs {release}, and here that would be "
                f"{self.fingerprint} in {__version__}: it is damaged or of another release; make the game anew"
            )

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self
