"""Try what was built: install each file of a folder where nothing is, and play a game there.

python .ci/try_release.py dist
"""

import os
import re
import subprocess
import sys
import tempfile
import venv
import zipfile
from importlib.metadata import version
from pathlib import Path

GAME = """
import gymnasium as gym, mcts_envs, agents
env = gym.make("mcts_envs/LaneDefense3x3-v0", render_mode="rgb_array")
env.reset(seed=1)
player, over, moves = agents.make("mcts", simulations=200), False, 0
while not over:
    _, _, terminated, truncated, info = env.step(player.act(env))
    over, moves = terminated or truncated, moves + 1
env.render()
print(mcts_envs.__version__, moves, info["outcome"])
"""


def main(folder: Path) -> None:
    """Try every file of a folder; wheels must have all that git knows of, and all must play the same game."""
    files = sorted(file.resolve() for file in folder.iterdir())
    for wheel in (file for file in files if file.suffix == ".whl"):
        if lacking := known() - {*zipfile.ZipFile(wheel).namelist()}:
            sys.exit(f"{wheel.name} lacks {', '.join(sorted(lacking))}: see package-data in pyproject.toml")
    played = {file.name: tried(file) for file in files}
    for name, game in played.items():
        print(f"{name}: {game}")
    if len(set(played.values())) != 1 or len(files) < 3:
        sys.exit("the builds do not play the same game, or one is missing")


def known() -> set[str]:
    """Return the files of the packages as they are named in a wheel."""
    line = ["git", "ls-files", "mcts_envs", "agents", "scripts"]
    listed = subprocess.run(line, capture_output=True, text=True, check=True).stdout.splitlines()
    return {re.sub("^scripts/", "mcts_envs_scripts/", name) for name in listed}


def tried(file: Path) -> str:
    """Install a file into an environment of its own, play there, and return how the game went."""
    with tempfile.TemporaryDirectory() as made:
        home = Path(made)
        venv.create(home / "venv", with_pip=True)
        python = home / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        compiled = file.suffix == ".whl" and not file.name.endswith("-any.whl")
        pins = [f"{name}=={version(name)}" for name in ("numba", "numpy")] if compiled else []
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        environment["MCTS_ENVS_CACHE_DIR"] = str(home / "cache")

        def run(*line: str) -> "subprocess.CompletedProcess[str]":
            done = subprocess.run([python, *line], cwd=home, env=environment, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{file.name}: {' '.join(line)}\n{done.stdout}{done.stderr}")
            return done

        run("-m", "pip", "install", "--quiet", str(file), *pins)
        game = run("-c", GAME)
        if compiled and "compiling" in game.stderr:
            sys.exit(f"{file.name} compiles, though it has the code: {game.stderr}")
        run("-m", "mcts_envs_scripts", "doctor")
        return game.stdout.strip()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
