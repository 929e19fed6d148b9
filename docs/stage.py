"""Put together what Sphinx builds the site from: ``python docs/stage.py FOLDER``, as ``make docs`` does.

The pages of ``docs`` as they are, README as the front page, a page for each environment class, written from its
docstring, with one below it for each id, and one for each public module. Links between files of the repository, which a
git host follows, become links between pages, or downloads.
"""

import inspect
import os
import posixpath
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import gymnasium
from contents import API, CHAPTERS

from agents.learning.saved.shipped import FOLDER
from mcts_envs.core.showing import picture_of
from mcts_envs.registry import ENTRIES, Entry

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
_LINK = re.compile(r"(\]\()([^)#\s]+)((?:#[^)]*)?\))")
TOP = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""Pages of the site that lie at the top of the repository."""

PLACES = {**TOP, "docs/search.md": "tree_search.md"}
"""Pages that lie elsewhere in the site; ``search`` is Sphinx's own."""


def main(folder: Path) -> None:
    """Write everything to a folder, which is emptied before."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copytree(DOCS / "pictures", folder / "pictures")
    for file in [*(ROOT / name for name in TOP), *DOCS.rglob("*.md")]:
        source = file.relative_to(ROOT).as_posix()
        write(folder / place(source), linked(file.read_text(encoding="utf-8"), source, folder))
    for file in [*DOCS.glob("*.png"), *DOCS.glob("results/*.png")]:
        shutil.copy(file, folder / file.relative_to(DOCS))
    for entries in by_class().values():
        write(folder / "games" / f"{slug(entries[0])}.md", "\n".join(game_page(entries)))
        for entry in entries:
            write(folder / "games" / f"{short(entry)}.md", "\n".join(id_page(entry, folder)))
    for module, names in API.items():
        write(folder / "api" / f"{module}.md", api_page(module, names))
    index = folder / "index.md"
    index.write_text(index.read_text(encoding="utf-8") + contents(), encoding="utf-8")


def write(file: Path, text: str) -> None:
    """Write a page, in a folder that may not be there yet."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text + "\n", encoding="utf-8")


def place(source: str) -> str:
    """Return where a file of the repository lies in the site."""
    return PLACES.get(source) or source.removeprefix("docs/")


def linked(text: str, source: str, folder: Path) -> str:
    """Return a page with its links as the site needs them."""

    def moved(found: re.Match[str]) -> str:
        before, target, after = found.groups()
        if target.startswith("http"):
            return found[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        here = posixpath.dirname(place(source))
        if path.startswith("docs/") or path in TOP:
            return f"{before}{posixpath.relpath(place(path), here or '.')}{after}"
        return f"{before}{os.path.relpath(ROOT / path, folder / here)})"  # a file to be downloaded has no anchors

    return _LINK.sub(moved, text)


def by_class() -> dict[str, list[Entry]]:
    """Return the entries of this package by environment class."""
    classes: dict[str, list[Entry]] = {}
    for entry in ENTRIES.values():
        if entry.id.startswith("mcts_envs/"):
            classes.setdefault(entry.env, []).append(entry)
    return classes


def slug(entry: Entry) -> str:
    """Return the name of an environment class as that of a page."""
    return "_".join(words(entry)).lower()


def short(entry: Entry) -> str:
    """Return the id of an environment without the package's name."""
    return entry.id.removeprefix("mcts_envs/")


def words(entry: Entry) -> list[str]:
    """Return the words in the name of an environment class."""
    return re.findall("[A-Z][a-z]*", entry.env.rpartition(":")[2])


def game_page(entries: list[Entry]) -> Iterator[str]:
    """Yield the lines of an environment's page: what there is, a game, the docstring, its agents."""
    from _listing import AGENTS, GAMES

    kind = entries[0].env_class()
    summary, _, page = inspect.getdoc(kind).partition("\n")
    yield from (f"# {' '.join(words(entries[0])).capitalize()}", "", summary, "")
    if (DOCS / "pictures" / f"{kind.__name__}.gif").exists():
        yield from (f"![A game of the best players that we know](../pictures/{kind.__name__}.gif)", "")
    yield from ("| id | players | what it is | action space | observation space |", "|---|---|---|---|---|")
    for entry in entries:
        actions, seen = spaces(entry)
        about = GAMES.get(short(entry), ("", ""))[1]
        yield f"| [`{entry.id}`]({short(entry)}.md) | {entry.players} | {about} | `{actions}` | `{seen}` |"
    yield from ("", "```{toctree}", ":hidden:", "", *map(short, entries), "```")
    yield from ("", "```python", "import gymnasium as gym, mcts_envs", "", f'env = gym.make("{entries[0].id}")', "```")
    yield page
    yield from ("## Agents of the game", "")
    yield from ("Those [of every environment](../agents.md#for-every-game) play it too.", "", "| name | what it is |")
    yield "|---|---|"
    yield from (f"| `{name}` | {AGENTS.get(name, '')} |" for name in entries[0].presets)


def spaces(entry: Entry) -> tuple[str, str]:
    """Return the action space and the observation space of an environment in words."""
    env = gymnasium.make(entry.id)
    seen = env.observation_space
    return str(env.action_space), f"Box({seen.low.min():g}, {seen.high.max():g}, {seen.shape}, {seen.dtype})"


def id_page(entry: Entry, folder: Path) -> Iterator[str]:
    """Yield the lines of an id's page: how it begins, drawn here, its spaces, what it sets, and its policies."""
    from _listing import GAMES

    env, name = gymnasium.make(entry.id), short(entry)
    env.reset(seed=0)
    picture = picture_of(env.unwrapped.game, env.unwrapped.view().state)
    (folder / "pictures" / f"{name}.svg").write_text(picture.to_svg(), encoding="utf-8")
    about = GAMES.get(name, ("", ""))[1]
    page = f"[{' '.join(words(entry)).capitalize()}]({slug(entry)}.md)"
    yield from (f"# {name}", "", f"{about[:1].upper()}{about[1:]}. Rules, arguments and observations: {page}.", "")
    yield from (f"![How {name} begins with seed 0](../pictures/{name}.svg)", "")
    actions, seen = spaces(entry)
    facts = {"players": str(entry.players), "action space": f"`{actions}`", "observation space": f"`{seen}`"}
    facts["it sets"] = ", ".join(f"`{key}={value!r}`" for key, value in entry.settings.items()) or "nothing"
    policies = sorted(file.stem for file in (FOLDER / name).glob("*.zip"))
    facts["policies that are shipped"] = ", ".join(f"`{each}`" for each in policies) or "none"
    yield from ("| | |", "|---|---|", *(f"| {key} | {value} |" for key, value in facts.items()), "")
    yield from ("```python", "import gymnasium as gym, mcts_envs", "", f'env = gym.make("{entry.id}")')
    yield from ("observation, info = env.reset(seed=0)", "```", "")
    meet = "--agents best,scripted --against random" if entry.players > 2 else "--agents best,scripted,random"
    yield from ("```sh", f"mcts-envs compare {name} {meet} --episodes 20", "```")


def api_page(module: str, names: str) -> str:
    """Return the page of a module: the members named, or all that it says are public."""
    lines = [f".. automodule:: {module}", f"   :members: {names}".rstrip(), "   :show-inheritance:"]
    return "\n".join([f"# {module}", "", "```{eval-rst}", *lines, "```"])


def contents() -> str:
    """Return the contents of the site, hidden: they stand at its side."""
    games = [f"games/{slug(entries[0])}" for entries in by_class().values()]
    chapters = {**CHAPTERS, "Environments": games, "Reference": [f"api/{module}" for module in API]}
    trees = (
        "\n".join(["", "```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```", ""])
        for caption, pages in chapters.items()
    )
    return "\n".join(trees)


if __name__ == "__main__":
    sys.path.append(str(ROOT / "scripts"))
    main(Path(sys.argv[1]).resolve())
