"""How a script reads the line that begins it."""

from collections.abc import Callable
from typing import Any

import _own  # noqa: F401
import typer
from _commands import cut_short
from typer.core import TyperCommand

from mcts_envs.core.shell import quoted

_ELSEWHERE = {
    "--env": ("ID alone, as the first word",),
    "--episodes": ("--games 100",),
    "--games": ("--episodes 100",),
    "--jobs": ("--workers 2",),
    "--n-jobs": ("--workers 2",),
    "--opponent": ("--against scripted", "--seats human,mcts", "--agents mcts,scripted", "--set opponent=scripted"),
    "--processes": ("--workers 2",),
    "--simulations": ("--budget simulations=1000",),
    "--steps": ("--timesteps 1000000", "--budget steps=20000"),
    "--time": ("--budget time=0.1",),
    "--time-limit": ("--budget time=0.1",),
    "--total-timesteps": ("--timesteps 1000000",),
}
"""What other programs, and other commands here, call an option, and what to write: the first that a command has."""


class Line(TyperCommand):
    """A command that says what to write in place of words left over, and of options misnamed, empty or given twice."""

    allow_extra_args = True

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words of a line, as Typer does, which would take the last of an option given twice."""
        self._check(args)
        _, _, read = self.make_parser(ctx).parse_args(args=list(args))
        rest = super().parse_args(ctx, args)
        for option in read:
            once = option.param_type_name == "option" and not option.multiple and not option.is_flag
            if once and read.count(option) > 1:
                _refuse(f"{option.opts[-1]} is given twice; give it once: a list has commas, random,mcts")
        if rest:
            words = " ".join(map(quoted, rest))
            _refuse(f"no option takes {words}; write lists without spaces, random,mcts, and --set before each setting")
        return rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command; of an ``EOFError`` Typer would say that it was aborted, and not why."""
        try:
            return super().invoke(ctx)
        except EOFError as error:
            _refuse(cut_short(error))

    def _check(self, args: list[str]) -> None:
        """Refuse options that have another name here, and empty ones, which as a path would be the present folder."""
        known = {name for param in self.params for name in (*param.opts, param.metavar)}
        for before, word in zip(["", *args], args, strict=False):
            name, _, value = word.partition("=")
            cures = [cure for cure in _ELSEWHERE.get(name, ()) if cure.split()[0] in known]
            if cures and name not in known:
                _refuse(f"there is no option {name}; write {cures[0]}")
            if not value and (not word or (word != name and name in known)):
                _refuse(
                    f"{name or before or 'the first word'} is empty, as by a variable that is not set; fill or omit it"
                )


def _refuse(why: str) -> None:
    typer.secho(f"error: {why}", err=True, fg="red")
    raise typer.Exit(2)


def begin(main: Callable[..., None]) -> None:
    """Run a script by the line that began it, like ``typer.run``."""
    app = typer.Typer(add_completion=False)
    app.command(cls=Line)(main)
    app()
