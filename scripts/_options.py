"""Options that several commands have."""

from typing import Annotated, TypeAlias

import _own  # noqa: F401
import typer

Budget: TypeAlias = Annotated[
    str | None, typer.Option(help="For a move: simulations=1000, time=0.1 (seconds), steps=20000 (of the model).")
]
Settings: TypeAlias = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Setting of the environment; repeatable.")
]
HyperParameters: TypeAlias = Annotated[
    list[str] | None, typer.Option("--param", metavar="KEY=VALUE", help="Hyper-parameter; repeatable.")
]
