"""What is installed, what is missing, and how to get it: ``mcts-envs doctor``.

Ends with 1 if something is wrong that everybody needs. Nothing but Python's own is imported at first.
"""

import importlib
import os
import platform
import shutil
import sys
from pathlib import Path

from _pages import CHECKOUT
from _requirements import NAME, Requirement, install, requirements

_USAGE = """\
usage: mcts-envs doctor

Look at the installation: releases, extras, compiled code, pictures; say what is missing, and the line that mends it."""
_EXTRAS = {
    "commands": "compare, watch, reproduce, compile",
    "rl": "train, and policies of Stable-Baselines3",
    "plots": "compare --plot",
    "play": "play, in a browser",
    "human": 'windows: render_mode="human"',
    "rivals": "benchmark rivals",
    "docs": "make docs",
    "release": "make release",
    "notebooks": "examples/notebooks, run by make test-all",
    "test": "make test",
}
"""What they are for; of others the names say it."""

_OF_A_CHECKOUT = ("docs", "notebooks", "release", "rivals", "test")

_MB = 10**6
_LEAST_MB = 500
_OK, _NO, _BAD = "ok", "--", "!!"


class Findings:
    """What was found, printed as it comes; whether anything is wrong."""

    wrong = False

    def say(self, mark: str, what: str, cure: str = "") -> None:
        """Print a line, and the cure below it."""
        self.wrong = self.wrong or mark == _BAD
        print(f"  {mark}  {what}", *([f"      {cure}"] if cure else []), sep="\n", flush=True)


def main(arguments: list[str]) -> int:
    """Print what was found, and say whether something is wrong."""
    if arguments:
        print(_USAGE)
        return 0 if arguments in (["--help"], ["-h"]) else 2
    found = Findings()
    print(f"{NAME} {_release()} on Python {platform.python_version()} ({sys.executable}), {platform.platform()}")
    needed = requirements()
    print("needed by all")
    _core(found, [one for one in needed if not one.extra])
    for extra in dict.fromkeys(one.extra for one in needed if one.extra):
        if CHECKOUT or extra not in _OF_A_CHECKOUT:
            _extra(found, extra, [one for one in needed if one.extra == extra])
    if found.wrong:
        print("compiled code and pictures are looked at when this is mended")
        return 1
    print("compiled code")
    _cache(found)
    print("pictures")
    _pictures(found)
    return int(found.wrong)


def _release() -> str:
    """Return the release, read where nothing that may be missing is imported."""
    folder = next((Path(p) / "mcts_envs" for p in sys.path if (Path(p) / "mcts_envs/version.py").is_file()), None)
    spec = None if folder else importlib.util.find_spec("mcts_envs")
    file = folder / "version.py" if folder else Path(str(spec and spec.origin)).with_name("version.py")
    return (
        file.read_text(encoding="utf-8").rpartition("=")[2].strip().strip('"') if file.is_file() else "(not installed)"
    )


def _core(found: Findings, needed: list[Requirement]) -> None:
    for one in needed:
        if one.met:
            found.say(_OK, f"{one.name} {one.release}")
        else:
            here = f"is {one.release}" if one.release else "is missing"
            found.say(_BAD, f"{one.name} {here}; {one.bound} is needed", f'pip install "{one.name}{one.bound}"')
    if all(one.met for one in needed):
        try:
            import agents
            from mcts_envs.core.errors import require_own_agents

            require_own_agents(agents)
        except ImportError as error:
            found.say(_BAD, str(error), install())
        else:
            found.say(_OK, f"mcts_envs and agents, from {Path(agents.__file__).parents[1]}")


def _extra(found: Findings, extra: str, needed: list[Requirement]) -> None:
    print(f"extra {extra}" + (f": {_EXTRAS[extra]}" if extra in _EXTRAS else ""))
    lacking = [one for one in needed if not one.met]
    if lacking:
        words = [f"{one.name} is {one.release}, not {one.bound}" if one.release else one.name for one in lacking]
        found.say(_NO, f"lacks {', '.join(words)}", install(extra))
    else:
        found.say(_OK, ", ".join(f"{one.name} {one.release}" for one in needed))


def _cache(found: Findings) -> None:
    """Say where compiled code is kept, how much there is, and of which packages."""
    from _packages import compiled, packages, shipped

    from mcts_envs.core.compiling import cache

    known = packages()
    source = known["core"]["mcts_envs.core.rng"]
    kept = cache.cache_directory(source, "mcts_envs.core.rng")
    filled = cache.filled_directories(source, "mcts_envs.core.rng")
    if kept is None and not filled:
        what = "what did not come compiled" if shipped().is_dir() else "everything"
        found.say(_BAD, f"no folder can be written to; {what} is compiled in every process", _elsewhere())
        return
    if kept is None:
        what = "can only be read; what it lacks is compiled in every process"
        found.say(_NO, f"{filled[0].parent}: {what}", _elsewhere())
    else:
        _room(found, kept)
    for name, modules in known.items():
        there = compiled(modules)
        if all(there):
            found.say(_OK, f"{name}: compiled")
        else:
            what = (
                "not compiled for this machine" if not any(there) else f"compiled in part, {sum(there)} of {len(there)}"
            )
            found.say(_NO, f"{name}: {what}; its first use will take some seconds", f"mcts-envs warm {name}")


def _room(found: Findings, kept: Path) -> None:
    """Say where compiled code is kept, and whether there is room."""
    root, free = kept.parent, shutil.disk_usage(kept).free // _MB
    asked = os.environ.get("MCTS_ENVS_CACHE_DIR")
    if asked and Path(asked) != root:
        found.say(_NO, f"MCTS_ENVS_CACHE_DIR, {asked}, is no folder that can be written to, and is passed over")
    size = sum(file.stat().st_size for file in root.glob("*/*") if file.is_file()) // _MB
    found.say(
        _OK if free >= _LEAST_MB else _BAD,
        f"{root}: can be written to, holds {size:,} MB, {free:,} MB are free",
        "" if free >= _LEAST_MB else _elsewhere(),
    )


def _elsewhere() -> str:
    return "make room, or let MCTS_ENVS_CACHE_DIR name a folder"


def _pictures(found: Findings) -> None:
    from mcts_envs.core.render import Canvas

    canvas = Canvas(2, 1, "#ffffff")
    canvas.text(0.5, 0.5, "7", "#000000")
    drawn = canvas.to_rgb(32)
    found.say(
        _OK if drawn.min() < 128 else _BAD, 'render_mode="rgb_array"', "" if drawn.min() < 128 else "pip install pillow"
    )
    shown = sys.platform in ("win32", "darwin") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if not shown:
        found.say(
            _NO, 'render_mode="human" finds no display', "export DISPLAY, or use rgb_array, or SDL_VIDEODRIVER=dummy"
        )
    elif importlib.util.find_spec("pygame") is None:
        found.say(_NO, 'render_mode="human" needs pygame-ce', install("human"))
    else:
        found.say(_OK, 'render_mode="human"')
