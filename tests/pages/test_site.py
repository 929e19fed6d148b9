"""The site: pages are put together, links between them lead somewhere, their code runs, and Sphinx builds it all."""

import importlib
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import agents
from agents.policies import signatures
from mcts_envs.core.rng import below
from mcts_envs.registry import ENTRIES

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
LARGEST = 300_000


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "scripts"))
        patch.syspath_prepend(str(DOCS))
        importlib.import_module("stage").main(folder)
    return folder


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def test_links_of_the_site_lead_somewhere(site: Path) -> None:
    pages = sorted(site.rglob("*.md"))
    assert len(pages) > 40
    for page in pages:
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
            assert target.startswith("http") or (page.parent / target).exists(), (page, target)


def test_everything_is_in_the_contents(site: Path) -> None:
    listed = set()
    for page in (site / "index.md", *(site / "games").glob("*.md")):
        lines = [line for tree in blocks(page.read_text(encoding="utf-8"), "{toctree}") for line in tree.splitlines()]
        below = page.parent.relative_to(site)
        listed |= {(below / line).as_posix() for line in lines if line and not line.startswith(":")}
    pages = {page.relative_to(site).with_suffix("").as_posix() for page in site.rglob("*.md")}
    assert pages - {"index"} == listed


def test_every_planner_has_its_page(site: Path) -> None:
    for name, path in agents.NAMES.items():
        module, kind = path.split(":")
        page = site / "api" / f"{module}.md"
        assert page.exists(), name
        assert kind in page.read_text(encoding="utf-8"), name


def test_each_environment_has_its_page_with_a_game_and_code_that_runs(site: Path) -> None:
    texts = {page.stem: page.read_text(encoding="utf-8") for page in (site / "games").glob("*.md")}
    for id in (id for id in ENTRIES if id.startswith("mcts_envs/")):
        name = id.removeprefix("mcts_envs/")
        assert [page for page, text in texts.items() if f"| [`{id}`]({name}.md) |" in text], id
        own = texts.pop(name)
        assert f"# {name}\n" in own
        (picture,) = re.findall(r"\(../(pictures/\S+\.svg)\)", own)
        assert (site / picture).stat().st_size < LARGEST
        (code,) = blocks(own, "python")
        exec(code, {})
    for text in texts.values():
        for section in ("Arguments", "Observation Space", "Version History", "Agents of the game"):
            assert f"\n## {section}\n" in text
        (game,) = re.findall(r"\(../(pictures/\w+\.gif)\)", text)
        assert (site / game).stat().st_size < LARGEST
        (code,) = blocks(text, "python")
        exec(code, {})


def test_the_policy_that_contributing_shows_is_one() -> None:
    (code,) = blocks((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), "python")
    names: dict[str, Any] = {"policy": signatures.policy, "SIMULATE": signatures.SIMULATE, "below": below}
    exec(code, names)
    signatures.check_form("simulate", names["never_pass"])


@pytest.mark.slow
def test_sphinx_builds_the_site_without_a_warning(site: Path, tmp_path: Path) -> None:
    for module in ("sphinx", "myst_parser", "furo", "stable_baselines3"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed: pip install -e '.[docs,rl]'")
    line = [sys.executable, "-m", "sphinx", "-c", str(DOCS), "-W", "--keep-going", "-q", "-b", "html", site, tmp_path]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    built = subprocess.run(line, capture_output=True, text=True, env=environment)
    assert built.returncode == 0, built.stderr
    for page in ("index", "games/football", "api/agents.mcts", "tree_search", "search"):
        assert (tmp_path / f"{page}.html").is_file()
