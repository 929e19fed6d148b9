"""All commands under one name.

    mcts-envs list              every environment, agent and policy
    mcts-envs info NAME         all about an environment or an agent
    mcts-envs doctor            what is installed, what is missing, and how to get it
    mcts-envs completion SHELL  what makes bash, zsh or fish complete words
    mcts-envs compare ...       what python scripts/compare.py does, and so with every script

A script is a command by being in this folder. In a checkout that is not installed, write ``python scripts`` for
``mcts-envs``.
"""

import sys
from pathlib import Path


def main() -> None:
    """Run the command that is named; without one, say what there is."""
    sys.path.insert(0, str(Path(__file__).resolve().parent))  # as for a file that is run: scripts find each other there
    import _commands

    _commands.main()


if __name__ == "__main__":
    main()
