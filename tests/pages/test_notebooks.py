"""The notebooks: they run from top to bottom, are kept without what they printed, and lead somewhere."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
SECONDS = 120


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda file: file.stem)
@pytest.mark.filterwarnings("default")  # of Jupyter's own libraries
def test_notebooks_run_from_top_to_bottom(notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    pytest.importorskip("stable_baselines3")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    cells = nbformat.read(notebook, as_version=4)
    where = {"metadata": {"path": str(tmp_path)}}
    client.NotebookClient(cells, timeout=SECONDS, kernel_name="python3", resources=where).execute()
    drawing = [cell for cell in cells.cells if "plt." in re.sub("import .*", "", cell.source)]
    assert all(any("image/png" in output.get("data", {}) for output in cell.outputs) for cell in drawing)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda file: file.stem)
def test_notebooks_are_kept_without_outputs_and_their_links_lead_somewhere(notebook: Path) -> None:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    assert [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")] == []
    text = "".join("".join(cell["source"]) + "\n" for cell in cells if cell["cell_type"] == "markdown")
    assert text.startswith("# ")
    for target in re.findall(r"\]\(([^)]+)\)", text):
        assert target.startswith("https://") or (notebook.parent / target.partition("#")[0]).exists(), target


def test_there_is_a_notebook_for_every_beginning() -> None:
    assert [file.stem.partition("_")[2] for file in NOTEBOOKS] == [
        "quickstart",
        "plan_in_your_own_environment",
        "planning_against_learning",
        "look_into_a_search",
        "your_policy_searches",
    ]
