"""Evaluations of policies whose best actions never end a game."""

import pytest

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

import train as training
import typer

from agents.learning import callbacks, evaluation
from agents.learning.evaluation import evaluate
from agents.learning.saved import notices
from tests.learning.quick import quick


@pytest.mark.parametrize("algorithm", ["ppo", "maskable_ppo"])
@pytest.mark.usefixtures("quietly_anew")
def test_a_training_gives_such_evaluations_up_and_goes_on(tmp_path, monkeypatch, algorithm):
    monkeypatch.setattr(callbacks, "_LONGEST", 1)
    with pytest.warns(notices.PolicyWarning, match="an evaluation was given up: a game of the policy's best actions"):
        result = quick(tmp_path, algorithm, tensorboard=True, evaluate_every=256)
    assert result.timesteps == 1024


def test_the_time_limit_ends_an_evaluation_too(tmp_path, monkeypatch):
    asked, over = [], callbacks.Limits.over

    def late(limits):
        asked.append(limits.num_timesteps)
        return over(limits) or len(asked) > 40

    monkeypatch.setattr(callbacks.Limits, "over", late)
    result = quick(tmp_path, tensorboard=True, evaluate_every=256)
    assert result.timesteps == 256
    assert not result.interrupted


def test_an_evaluation_says_so(trained, monkeypatch, capsys):
    monkeypatch.setattr(evaluation, "_LONGEST", 1)
    with pytest.raises(ValueError, match=r"ppo\.zip is not over after 1 steps; let the game end by itself"):
        evaluate(trained["ppo"], 8)
    monkeypatch.setattr("agents.learning.training.train", lambda *_, **__: training_result(trained["ppo"]))
    with pytest.raises(typer.Exit):
        training.main("LaneDefense3x3-v0", games=8)
    assert "is not over after 1 steps" in capsys.readouterr().err


def training_result(path):
    from agents.learning.training import Trained

    return Trained(path, 1024, 1.0)
