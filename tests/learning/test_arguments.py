"""What trainings are asked for, and the libraries that they import for it."""

import re
import signal
import sys

import numpy as np
import pytest

from agents.learning.algorithms import ALGORITHMS, algorithm_class
from agents.learning.expert import expert_iteration
from agents.learning.training import train
from mcts_envs.core.writing import write_whole

LANE = "LaneDefense3x3-v0"


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        ({"timesteps": "8000"}, TypeError, "timesteps '8000' is str, not a number from 1 to 1000000000000"),
        ({"timesteps": True}, TypeError, "timesteps True is bool, not a number"),
        ({"timesteps": 8000.5}, ValueError, "n_timesteps 8000.5 is no number of steps from 1"),
        ({"changes": {"n_timesteps": True}}, ValueError, "n_timesteps True is no number of steps"),
        ({"changes": ["n_envs=4"]}, TypeError, "changes ['n_envs=4'] is list, not a dictionary, as {'name': value}"),
        ({"settings": "seat=all"}, TypeError, "settings 'seat=all' is str, not a dictionary"),
        ({"settings": False}, TypeError, "settings False is bool, not a dictionary"),
        ({"settings": np.zeros(2)}, TypeError, "is ndarray, not a dictionary"),
        ({"progress": "no"}, TypeError, "progress 'no' is not True or False"),
        ({"tensorboard": "no"}, TypeError, "tensorboard 'no' is not True or False"),
        ({"device": True}, ValueError, "device True cannot be had here"),
    ],
)
def test_what_is_no_number_of_steps_and_no_dictionary_is_refused(tmp_path, asked, error, words):
    with pytest.raises(error, match=re.escape(words)):
        train(LANE, "ppo", out=tmp_path / "out", **asked)
    assert not (tmp_path / "out").exists()


def test_a_plan_that_is_none_is_refused(tmp_path):
    with pytest.raises(TypeError, match=re.escape("plan {'games': 2} is dict, not a Plan; write Plan(games=256)")):
        expert_iteration(LANE, "ppo", out=tmp_path / "out", plan={"games": 2})


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"executor": "ray"}, "executor 'ray' is str; give an object with submit()"),
        ({"report": True}, "report True is bool; give a function of a text"),
    ],
)
def test_who_plays_or_is_told_must_be_able_to(tmp_path, asked, words):
    with pytest.raises(TypeError, match=re.escape(words)):
        expert_iteration(LANE, "ppo", out=tmp_path / "out", **asked)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("training", [train, expert_iteration])
def test_a_folder_that_is_no_path_is_refused(training):
    with pytest.raises(TypeError, match="out 3 is int, not a path such as 'results/one'"):
        training(LANE, "ppo", out=3)


@pytest.fixture
def library(tmp_path, monkeypatch):
    """Returns a function: let ``ppo`` be in a module of these lines, which was not imported yet.

    Ctrl-C acts as in a terminal: whoever runs tests in the background has it ignored.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def made(text):
        (tmp_path / "some_library.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setitem(ALGORITHMS, "ppo", "some_library:PPO")
        monkeypatch.delitem(sys.modules, "some_library", raising=False)

    yield made
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_waits_for_an_import_which_cannot_be_made_again(library):
    library("import signal\nsignal.raise_signal(signal.SIGINT)\nclass PPO: pass\n")
    with pytest.raises(KeyboardInterrupt):
        algorithm_class("ppo")
    assert algorithm_class("ppo").__module__ == "some_library"


def test_a_second_ctrl_c_does_not_wait(library):
    library("import signal\nsignal.raise_signal(signal.SIGINT)\nsignal.raise_signal(signal.SIGINT)\nclass PPO: pass\n")
    with pytest.raises(KeyboardInterrupt):
        algorithm_class("ppo")
    assert "some_library" not in sys.modules


def test_a_library_that_cannot_be_imported_is_not_said_to_be_missing(library):
    library("import sys\nsys.not_there\n")
    words = (
        "ppo needs some_library, which cannot be imported (AttributeError: module 'sys' has no attribute 'not_there'"
    )
    with pytest.raises(ImportError, match=re.escape(words)):
        algorithm_class("ppo")


def test_fewer_iterations_than_are_there_are_not_counted_beyond_their_number(tmp_path, monkeypatch, capsys):
    import expert_iteration as script
    import typer

    from agents.learning import expert

    there = expert.Learned(tmp_path / "ppo.zip", [{}, {}, {}], 1.0, False)
    monkeypatch.setattr(expert, "expert_iteration", lambda *_, **__: there)
    app = typer.Typer(add_completion=False)
    app.command()(script.main)
    with pytest.raises(SystemExit):
        app(["WallSurvival-v0", "--iterations", "1", "--out", str(tmp_path)])
    assert "iteration 2 of 2 is over" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["checkpoints", "tensorboard", "ppo.zip", "ppo.json", "ppo.resume.npz"])
def test_what_lies_where_a_training_writes_is_told_before_it_begins(tmp_path, name):
    folder = name in ("checkpoints", "tensorboard")
    (tmp_path / name).touch() if folder else (tmp_path / name).mkdir()
    said = rf"{name} is a {'file' if folder else 'folder'}, where the training writes; move it away, or give another"
    with pytest.raises(FileExistsError, match=said):
        train(LANE, "ppo", out=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_file_takes_the_place_of_no_folder(tmp_path):
    (tmp_path / "a.npz").mkdir()
    with pytest.raises(IsADirectoryError, match=r"a\.npz is a folder, where a file is to be written; move it away"):
        write_whole(tmp_path / "a.npz", b"")


def test_games_of_an_expert_iteration_without_their_plan_are_told_with_the_cure(tmp_path):
    (tmp_path / "games").mkdir()
    (tmp_path / "checkpoints").mkdir()
    for name in ("ppo_0001.zip", "ppo_0001.json"):
        (tmp_path / "checkpoints" / name).touch()
    said = r"its plan\.json; bring that back from a copy, or begin in another folder with --start .*ppo_0001\.zip"
    with pytest.raises(FileExistsError, match=said):
        expert_iteration(LANE, "ppo", out=tmp_path)
