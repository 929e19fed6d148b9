"""Copies of environments that draw in a window of pygame."""

import numpy as np
import pytest

from agents.bridge.copying.copies import Copy
from agents.bridge.means import FAST
from tests.bridge.worlds import Walk, mcts

pygame = pytest.importorskip("pygame")


class OnImage(Walk):
    """Draws on an image of Pillow, and shows how many of its pixels were drawn on so far."""

    def reset(self, *, seed=None, options=None):
        shown = super().reset(seed=seed, options=options)
        self.image = pytest.importorskip("PIL.Image").new("1", (4, 4))
        self.pen = pytest.importorskip("PIL.ImageDraw").Draw(self.image)
        return shown

    def step(self, action):
        at, *rest = super().step(action)
        self.pen.point((at % 4, at // 4 % 4), fill=1)
        return int(np.asarray(self.image).sum()), *rest


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


def test_what_was_drawn_on_an_image_is_copied_and_brought_back():
    env, other = OnImage(), OnImage()
    for each in env, other:
        each.reset(seed=0)
        each.step(1)
    assert mcts().search(env).copies.means == FAST
    copy = Copy(env)
    for _ in range(2):
        shown = [copy.env.step(1)[0] for _ in range(3)]
        copy.restore()
    assert shown == [env.step(1)[0] for _ in range(3)] == [other.step(1)[0] for _ in range(3)]


def test_fonts_that_pictures_are_labelled_with_are_shared():
    fonts = pytest.importorskip("PIL.ImageFont")
    held = [fonts.load_default(size=10)]
    copied = Copy(held)
    assert copied.env[0] is held[0]
    assert not copied.opaque
