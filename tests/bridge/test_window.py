"""Copies of environments that draw in a window of pygame."""

import pytest

from agents.bridge.copying.copies import Copy
from agents.bridge.means import FAST
from tests.bridge.worlds import Walk, mcts

pygame = pytest.importorskip("pygame")


class InWindow(Walk):
    """Draws on its screen, and shows the picture there, or that in the window."""

    def __init__(self, of_window):
        super().__init__()
        self.of_window = of_window
        self.screen = pygame.display.set_mode((4, 4))

    def step(self, action):
        at, *rest = super().step(action)
        self.screen.fill((at, 0, 0))
        seen = pygame.display.get_surface() if self.of_window else self.screen
        return seen.get_at((0, 0))[0], *rest


@pytest.fixture
def window(monkeypatch):
    """Let windows be opened without a display."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    yield
    pygame.display.quit()


def test_copies_that_look_at_the_window_of_the_original_are_refused(window):
    env = InWindow(of_window=True)
    env.reset(seed=0)
    with pytest.raises(TypeError, match=r"its steps look at pygame\.display\.get_surface\(\).*kept as self\.screen"):
        mcts().act(env)
    env = InWindow(of_window=False)
    env.reset(seed=0)
    assert mcts().search(env).copies.means == FAST


def test_fonts_that_pictures_are_labelled_with_are_shared():
    fonts = pytest.importorskip("PIL.ImageFont")
    held = [fonts.load_default(size=10)]
    copied = Copy(held)
    assert copied.env[0] is held[0]
    assert not copied.opaque
