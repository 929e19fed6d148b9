"""How a script reads the line that begins it."""

from collections.abc import Callable
from typing import Any

import _own  # noqa: F401
import typer
from typer.core import TyperCommand

from mcts_envs.core.shell import quoted


class Line(TyperCommand):
    """A command that says what to write in place of words left over, and of options given twice."""

    allow_extra_args = True

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words of a line, as Typer does, which would take the last of an option given twice."""
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


def _refuse(why: str) -> None:
    typer.secho(f"error: {why}", err=True, fg="red")
    raise typer.Exit(2)


def begin(main: Callable[..., None]) -> None:
    """Run a script by the line that began it, like ``typer.run``."""
    app = typer.Typer(add_completion=False)
    app.command(cls=Line)(main)
    app()
