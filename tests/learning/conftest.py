"""Policies trained once for all tests of a process, and one thread for all of them."""

import pytest


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    from tests.learning.quick import quick

    folder = tmp_path_factory.mktemp("trained")
    return {name: quick(folder / name, name).path for name in ("ppo", "maskable_ppo")}


@pytest.fixture(autouse=True)
def _one_thread():
    from agents.learning.algorithms import one_thread

    with one_thread():
        yield


@pytest.fixture
def quietly_anew(monkeypatch):
    """Nothing has been said yet of what is said once."""
    from agents.learning.saved import notices

    monkeypatch.setattr(notices, "_said", set())
