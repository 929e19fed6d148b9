"""Agents of many people in one comparison: none is played by another's files, nor spoilt by what another sets."""

from pathlib import Path

import pytest

from mcts_envs.core.compiling.sources import closure_digest
from mcts_envs.core.loading import load


@pytest.mark.parametrize(
    "text",
    [
        "import math, helper{}\n",
        "import core_of_{1}\n",
        "def act(env):\n    import helper{}\n",
    ],
    ids=["in a list", "by what it imports", "later"],
)
def test_whose_helpers_have_the_same_name_is_refused_however_they_are_imported(text: str, tmp_path: Path) -> None:
    case = len(text)  # modules stay
    for name in (f"ann{case}", f"bob{case}"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"helper{case}.py").write_text(f"WHO = {name!r}\n")
        (tmp_path / name / f"core_of_{name}.py").write_text(f"import helper{case}\n")
        (tmp_path / name / f"{name}.py").write_text(text.format(case, name))
    load(f"{tmp_path}/ann{case}/ann{case}.py")
    with pytest.raises(ValueError, match=rf"import helper{case} there are two, .*bob.* and .*ann.*; rename one"):
        load(f"{tmp_path}/bob{case}/bob{case}.py")


def test_a_file_beside_an_init_is_known_by_what_it_imports_by_name(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text("")
    (tmp_path / "my_agent.py").write_text("from my_help import pick\n")
    (tmp_path / "my_help.py").write_text("def pick(env): return 0\n")
    before = closure_digest(tmp_path / "my_agent.py")
    (tmp_path / "my_help.py").write_text("def pick(env): return 10\n")
    assert closure_digest(tmp_path / "my_agent.py") != before
