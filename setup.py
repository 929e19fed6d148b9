"""Which packages there are; all else is in pyproject.toml. The commands are installed under a name of their own."""

from setuptools import find_packages, setup

COMMANDS = "mcts_envs_scripts"

setup(
    packages=[
        *find_packages(include=["mcts_envs*", "agents*"]),
        COMMANDS,
        *(f"{COMMANDS}.{name}" for name in find_packages("scripts")),
    ],
    package_dir={COMMANDS: "scripts"},
)
