"""The canvas, and pictures and texts of the lane games."""

import pickle
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from mcts_envs.core.kernel import record
from mcts_envs.core.render import PLAYERS, Canvas, ansi, in_lines, mix, on, visible
from mcts_envs.games.lane_defense.draw import classic as classic_draw
from mcts_envs.games.lane_defense.draw import lawn
from mcts_envs.games.lane_defense.draw import roster as roster_draw
from mcts_envs.games.lane_defense.rules import classic
from mcts_envs.games.lane_defense.rules.roster import layout
from mcts_envs.games.lane_defense.spec.classic import lane_defense
from mcts_envs.games.lane_defense.spec.roster import roster_defense
from mcts_envs.games.lane_defense.tables import ROSTERS

CELL = 24
SVG = "{http://www.w3.org/2000/svg}"


def plain(text):
    return re.sub("\x1b\\[[0-9;]*m", "", text)


def pixel(canvas, x, y, cell=32):
    return tuple(int(value) for value in canvas.to_rgb(cell)[round(y * cell), round(x * cell)])


def mixed_canvas():
    canvas = Canvas(4, 3, "#102030")
    canvas.rectangle(0.2, 0.2, 1, 0.6, "#ff0000", radius=0.2, outline="#00ff00", stroke=0.1)
    canvas.ellipse(2, 1, 0.5, 0.3, fill="#0000ff", outline="white", opacity=0.5)
    inner = canvas.at(1, 1, 0.5)
    inner.polygon([(0, 0), (1, 0), (0, 1)], "#ffff00", outline="#000000")
    inner.line([(0, 1), (1, 2), (2, 1)], "#00ffff", 0.2)
    inner.text(2, 3, "7 < 9 & more", "#ffffff", 0.5, bold=True)
    return canvas


def classic_state(board, **fields):
    board = np.array(board)
    game = lane_defense(*board.shape)
    state = game.new_state()
    game.reset(state, np.uint64(1))
    s = record(state, classic.STATE)
    s.boards[:] = 0
    for (lane, column), kind in np.ndenumerate(board):
        if kind:
            s.boards[kind - 1, lane >> 2] |= np.uint64(1 << 16 * (lane & 3) + column)
    for name, value in fields.items():
        s[name] = value
    return state


def roster_state(things=(), rows=5, columns=9, roster="standard", mowers=False, **fields):
    """Return a state with things (plane of the kind, lane, column, kind, hp, mark)."""
    game = roster_defense(rows, columns, roster, mowers=mowers)
    state = game.new_state()
    game.reset(state, np.uint64(1))
    for plane, lane, column, kind, hp, mark in things:
        index = layout.CELLS + lane * columns + column
        for which, value in ((plane, kind + 1), (layout.HP, hp), (layout.MARK, mark)):
            state[index + which * rows * columns] = value
    for name, value in fields.items():
        record(state, layout.STATE)[name] = value
    return state


def mown(lanes):
    """Return a state in which the mowers of some lanes are left."""
    state = roster_state(mowers=True)
    record(state, layout.STATE).mowers[:5] = lanes
    return state


def changed_cells(before, after, header):
    """Return the cells of the lawn in which two pictures differ, and whether they differ anywhere else."""
    different = (before != after).any(axis=2)
    top, left = round(header * CELL), round(lawn.HOUSE * CELL)
    rows = (different.shape[0] - top) // CELL
    columns = (different.shape[1] - left - round(lawn.GRAVES * CELL)) // CELL
    ground = different[top : top + rows * CELL, left : left + columns * CELL]
    cells = ground.reshape(rows, CELL, columns, CELL).any(axis=(1, 3))
    return [tuple(map(int, cell)) for cell in np.argwhere(cells)], bool(different.sum() > ground.sum())


def played(game, seed):
    """Yield the states of a random game."""
    random = np.random.default_rng(seed)
    state, actions, rewards = game.new_state(), np.zeros(game.actions, np.int64), np.zeros(1)
    game.reset(state, np.uint64(seed))
    yield state
    while game.active(state):
        choice = actions[random.integers(game.legal(state, 0, actions))]
        game.step(state, np.array([choice]), rewards)
        yield state


def roster_text(state, roster="standard"):
    return plain(roster_draw.text(ROSTERS[roster], state))


def lanes_of(text):
    """Return the lines of the board in a text of the roster game."""
    return [line for line in text.splitlines() if re.match(r" ?\d+ [ >]\|", line)]


def lightness_and_colour(colour, vision):
    """Return a colour in CIE L*a*b* as somebody with this matrix of linear RGB sees it."""
    values = np.array(tuple(bytes.fromhex(colour[1:]))) / 255
    linear = np.array(vision) @ np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(np.maximum(to_xyz @ linear.clip(0, 1) / (0.9505, 1.0, 1.089), 1e-4))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


VISIONS = {  # Machado, Oliveira, Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency"
    "usual": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]],
    "deuteranopia": [[0.3673, 0.8606, -0.2280], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]],
    "tritanopia": [[1.2555, -0.0767, -0.1788], [-0.0784, 0.9308, 0.1476], [0.0047, 0.6914, 0.3039]],
}


@pytest.mark.parametrize("vision", VISIONS)
def test_everybody_can_tell_the_players_apart(vision):
    """Distances in CIE L*a*b*; blue #2b6cd4 and purple #a24bc4, say, are 18 apart in deuteranopia, 5 in protanopia."""
    seen = [lightness_and_colour(colour, VISIONS[vision]) for colour in PLAYERS]
    distances = [np.linalg.norm(a - b) for i, a in enumerate(seen) for b in seen[:i]]
    assert min(distances) > 30


class TestCanvas:
    def test_rectangle(self):
        canvas = Canvas(2, 2, "#ffffff")
        canvas.rectangle(0.5, 0.5, 1, 1, "#ff0000", outline="#0000ff", stroke=0.125)
        assert pixel(canvas, 1, 1) == (255, 0, 0)
        assert pixel(canvas, 0.55, 1) == (0, 0, 255)
        assert pixel(canvas, 0.4, 1) == pixel(canvas, 1, 1.55) == (255, 255, 255)

    def test_round_corners_leave_the_corner_free(self):
        sharp, smooth = Canvas(1, 1, "black"), Canvas(1, 1, "black")
        sharp.rectangle(0, 0, 1, 1, "white")
        smooth.rectangle(0, 0, 1, 1, "white", radius=0.4)
        assert pixel(sharp, 0, 0) == (255, 255, 255)
        assert pixel(smooth, 0, 0) == (0, 0, 0)
        assert pixel(smooth, 0.5, 0) == pixel(smooth, 0.5, 0.5) == (255, 255, 255)

    @pytest.mark.parametrize("radius", [0.05, 0.1, 0.15, 0.2])
    def test_round_rectangles_are_whole_at_every_size(self, radius):
        canvas = Canvas(1, 1, "black")
        canvas.rectangle(0.3, 0.3, 0.4, 0.45, "white", radius=radius, outline="red", stroke=0.02)
        for cell in range(1, 80):
            picture = canvas.to_rgb(cell)
            low, high = round(0.4 * cell), round(0.6 * cell)
            assert cell < 16 or (picture[low:high, low:high] == 255).all()

    def test_ellipse(self):
        canvas = Canvas(2, 2, "#ffffff")
        canvas.ellipse(1, 1, 0.8, 0.4, fill="#008000")
        assert pixel(canvas, 1, 1) == pixel(canvas, 0.3, 1) == (0, 128, 0)
        assert pixel(canvas, 1, 0.5) == pixel(canvas, 0.3, 0.7) == (255, 255, 255)

    def test_polygon_and_its_edge(self):
        canvas = Canvas(2, 2, "#ffffff")
        canvas.polygon([(0.2, 0.2), (1.8, 0.2), (0.2, 1.8)], "#ff00ff", outline="#000000", stroke=0.125)
        assert pixel(canvas, 0.6, 0.6) == (255, 0, 255)
        assert pixel(canvas, 1, 0.2) == pixel(canvas, 0.2, 1) == pixel(canvas, 1, 1) == (0, 0, 0)
        assert pixel(canvas, 1.5, 1.5) == (255, 255, 255)

    def test_line_has_round_ends(self):
        canvas = Canvas(2, 1, "#ffffff")
        canvas.line([(0.5, 0.5), (1.5, 0.5)], "#123456", 0.5)
        assert pixel(canvas, 1, 0.5) == pixel(canvas, 0.35, 0.5) == (0x12, 0x34, 0x56)
        assert pixel(canvas, 0.28, 0.3) == pixel(canvas, 1, 0.1) == (255, 255, 255)

    @pytest.mark.parametrize(("anchor", "left", "right"), [("start", 2, 4), ("middle", 1, 3), ("end", 0, 2)])
    def test_text_lies_at_its_anchor(self, anchor, left, right):
        canvas = Canvas(4, 1, "#ffffff")
        canvas.text(2, 0.5, "HI", "#000000", 0.6, anchor=anchor)
        rows, columns = np.nonzero(canvas.to_rgb(50)[..., 0] < 128)
        assert left * 50 - 1 <= columns.min()
        assert columns.max() <= right * 50 + 1
        assert abs((rows.min() + rows.max()) / 2 - 25) <= 2
        if anchor == "middle":
            assert abs((columns.min() + columns.max()) / 2 - 100) <= 3

    def test_opacity_holds_for_the_shape_as_a_whole(self):
        canvas = Canvas(2, 2, "#000000")
        canvas.line([(0.2, 1), (1, 1), (1.8, 1)], "#ffffff", 0.6, opacity=0.5)
        levels = np.unique(canvas.to_rgb(32)[24:40, 8:56])
        assert levels.min() >= 127
        assert levels.max() <= 128

    def test_at_moves_and_scales(self):
        direct, moved = Canvas(3, 3), Canvas(3, 3)
        direct.rectangle(1.5, 1.25, 0.5, 0.25, "#ff0000", radius=0.05, outline="#000000", stroke=0.04)
        moved.at(1, 1).at(0.5, 0.25, 0.5).rectangle(0, 0, 1, 0.5, "#ff0000", radius=0.1, outline="#000000", stroke=0.08)
        assert (direct.to_rgb() == moved.to_rgb()).all()
        assert direct.to_svg() == moved.to_svg()

    @pytest.mark.parametrize("cell", [1, 7, 24, 64])
    def test_sizes_are_even(self, cell):
        picture = Canvas(3.3, 2.1, "#abcdef").to_rgb(cell)
        assert picture.dtype == np.uint8
        assert picture.shape[2] == 3
        for length, cells in zip(picture.shape, (2.1, 3.3), strict=False):
            assert length % 2 == 0
            assert cells * cell - 1e-6 <= length < cells * cell + 2
        assert (picture == (0xAB, 0xCD, 0xEF)).all()

    def test_repeatable_and_picklable(self):
        canvas = mixed_canvas()
        again = pickle.loads(pickle.dumps(canvas))
        assert (canvas.to_rgb(20) == mixed_canvas().to_rgb(20)).all()
        assert (canvas.to_rgb(20) == again.to_rgb(20)).all()
        assert canvas.to_svg() == again.to_svg()

    def test_svg_is_valid_and_complete(self):
        root = ElementTree.fromstring(mixed_canvas().to_svg())
        assert root.tag == SVG + "svg"
        assert root.get("viewBox") == "0 0 4 3"
        names = [child.tag.removeprefix(SVG) for child in root]
        assert names == ["rect", "rect", "ellipse", "polygon", "polyline", "text"]
        assert root[-1].text == "7 < 9 & more"
        # The outline of a box lies inside it: the stroke, centred on a smaller box, ends at the edge.
        box = {name: float(root[1].get(name)) for name in ("x", "y", "width", "height", "stroke-width")}
        assert box == pytest.approx({"x": 0.25, "y": 0.25, "width": 0.9, "height": 0.5, "stroke-width": 0.1})

    def test_spaces_in_a_row_are_kept(self):
        canvas = Canvas(4, 1)
        canvas.text(2, 0.5, "turns 1-0/8   home: turn", "#000000")
        words = ElementTree.fromstring(canvas.to_svg())[-1].text
        assert "  " not in words  # of which a browser shows one
        assert words.replace("\u00a0", " ") == "turns 1-0/8   home: turn"

    def test_errors_name_value_and_bound(self):
        with pytest.raises(ValueError, match="0 x 3"):
            Canvas(0, 3)
        with pytest.raises(ValueError, match=r"cell 0 is outside \[1, 512\]"):
            Canvas(1, 1).to_rgb(0)
        with pytest.raises(TypeError, match="cell"):
            Canvas(1, 1).to_rgb(2.5)
        with pytest.raises(ValueError, match="did you mean 'middle'"):
            Canvas(1, 1).text(0, 0, "x", "#000000", anchor="midle")
        with pytest.raises(ValueError, match="terminal colour 'pink'"):
            ansi("x", "pink")

    def test_colours(self):
        assert mix("#000000", "#ff8040", 0.5) == "#804020"
        assert mix("white", "black", 0) == "#ffffff"
        assert ansi("x", "green") == "\x1b[32mx\x1b[0m"
        assert plain(ansi("x", "red", bold=True)) == "x"


class TestText:
    def test_black_or_white_is_written_on_a_colour(self):
        assert [on(colour) for colour in PLAYERS] == ["#ffffff", "#ffffff", "#1d1b19", "#1d1b19"]

    def test_lines_are_filled_by_what_is_seen(self):
        parts = [ansi("x" * 30, "red")] * 3
        assert [visible(line) for line in in_lines(parts, ", ")] == [62, 30]
        assert in_lines(["x" * 90, "y"], ", ") == ["x" * 90, "y"]

    def test_text_returns_its_length(self):
        canvas = Canvas(9, 1)
        assert canvas.text(0, 0, "aa", "black", 0.4) == pytest.approx(2 * canvas.text(0, 0, "a", "black", 0.4))


class TestClassic:
    @pytest.mark.parametrize(("rows", "columns"), [(3, 3), (10, 10), (1, 2), (16, 15)])
    def test_start(self, rows, columns):
        game = lane_defense(rows, columns)
        state = game.new_state()
        game.reset(state, np.uint64(3))
        canvas = classic_draw.picture(state)
        shape = canvas.to_rgb(CELL).shape
        assert shape == ((rows + 1) * CELL, (columns + lawn.HOUSE + lawn.GRAVES) * CELL, 3)
        ElementTree.fromstring(canvas.to_svg())
        lines = plain(classic_draw.text(state)).splitlines()
        assert lines[0] == "step 0 of 20: may plant"
        assert len(lines) == rows + 3
        assert sum(line.split("|")[1].count(".") for line in lines[2:-1]) == rows * columns - 1

    def test_each_kind_changes_its_own_cell_only(self):
        empty = classic_draw.picture(classic_state(np.zeros((3, 4), int))).to_rgb(CELL)
        seen = []
        for kind in range(1, 5):
            for lane, column in ((0, 0), (1, 2), (2, 3)):
                board = np.zeros((3, 4), int)
                board[lane, column] = kind
                picture = classic_draw.picture(classic_state(board)).to_rgb(CELL)
                assert changed_cells(empty, picture, 1.0) == ([(lane, column)], False)
            seen.append(picture)
        for i, first in enumerate(seen):
            for second in seen[:i]:
                assert (first != second).any(axis=2).sum() > 20

    def test_header_shows_clock_coin_and_end(self):
        board = [[1, 0, 2], [0, 3, 0], [4, 0, 0]]
        base = classic_draw.picture(classic_state(board, t=5, can_plant=1)).to_rgb(CELL)
        for fields in ({"t": 6}, {"can_plant": 0}, {"t": 20, "end": classic.WON}, {"end": classic.OUT_OF_TIME}):
            state = classic_state(board, **({"t": 5, "can_plant": 1} | fields))
            cells, elsewhere = changed_cells(base, classic_draw.picture(state).to_rgb(CELL), 1.0)
            assert cells == []
            assert elsewhere

    def test_lights_go_out_when_lost(self):
        windows = (slice(CELL, None), slice(0, round(lawn.HOUSE * CELL)))
        won, lost = (
            classic_draw.picture(classic_state([[1, 0, 0]] * 3, end=end)).to_rgb(CELL)[windows]
            for end in (classic.WON, classic.LOST)
        )
        assert won.mean() > lost.mean()

    def test_text(self):
        state = classic_state([[1, 0, 2], [0, 3, 0], [4, 0, 0]], t=7, can_plant=0)
        assert plain(classic_draw.text(state)).splitlines() == [
            "step 7 of 20: no plant now",
            "    0 1 2",
            " 0 |P . z|",
            " 1 |. S .|",
            " 2 |s . .|",
            "P plant, z normal zombie, S strong zombie, s weakened strong zombie",
        ]
        for end, word in ((classic.WON, "WON"), (classic.LOST, "LOST"), (classic.OUT_OF_TIME, "TIME UP")):
            state = classic_state([[0, 0, 0]] * 3, t=9, end=end)
            assert plain(classic_draw.text(state)).startswith(f"step 9 of 20: {word}\n")

    def test_whole_game(self):
        for state in played(lane_defense(4, 5), 2):
            board = classic.board(state)
            rows = [line.split("|")[1].split() for line in plain(classic_draw.text(state)).splitlines()[2:-1]]
            assert rows == [[".PzSs"[cell] for cell in row] for row in board]
            assert classic_draw.picture(state).to_rgb(8).shape == (40, 60, 3)
        assert plain(classic_draw.text(state)).split(": ")[1].split("\n")[0] in ("WON", "LOST")


class TestRoster:
    @pytest.mark.parametrize("roster", ["standard", "specialists"])
    @pytest.mark.parametrize(("rows", "columns"), [(5, 9), (2, 3), (8, 16)])
    def test_start(self, rows, columns, roster):
        state = roster_state((), rows, columns, roster)
        canvas = roster_draw.picture(state)
        assert canvas.to_rgb(CELL).shape == ((rows + 1.25) * CELL, (columns + lawn.HOUSE + lawn.GRAVES) * CELL, 3)
        ElementTree.fromstring(canvas.to_svg())
        lines = roster_text(state, roster).splitlines()
        assert lines[0] == "step 0 of 120, wave 1 of 4, sun 4"
        assert sum(line.split("|")[1].count(".") for line in lanes_of(roster_text(state, roster))) == rows * columns

    @pytest.mark.parametrize(("roster", "plants"), [("standard", 4), ("specialists", 6)])
    def test_each_kind_changes_its_own_cell_only(self, roster, plants):
        things = [(layout.PLANT, kind, mark) for kind in range(plants) for mark in (0, 1)]
        things += [(layout.ZOMBIE, kind, mark) for kind in range(4) for mark in (0, 1)]
        empty = roster_draw.picture(roster_state(roster=roster)).to_rgb(CELL)
        pictures = {}
        for plane, kind, mark in things:
            hp = 1 if plane == layout.PLANT else 4
            state = roster_state([(plane, 2, 5, kind, hp, mark)], roster=roster)
            picture = roster_draw.picture(state).to_rgb(CELL)
            assert changed_cells(empty, picture, 1.25) == ([(2, 5)], False)
            pictures[picture.tobytes()] = plane, kind
        assert len(set(pictures.values())) == plants + 4
        assert len(pictures) > plants + 4  # an armed mine, a leap that is left

    def test_hit_points_show(self):
        for plane, kind, hps in ((layout.PLANT, 2, (8, 5, 1)), (layout.ZOMBIE, 3, (30, 16, 2))):
            states = [roster_state([(plane, 1, 1, kind, hp, 0)]) for hp in hps]
            assert len({roster_draw.picture(state).to_rgb(CELL).tobytes() for state in states}) == 3

    def test_header_shows_clock_sun_recharge_and_end(self):
        base = roster_draw.picture(roster_state(t=50)).to_rgb(CELL)
        for fields in ({"t": 60}, {"sun": 12}, {"recharge": [2, 0, 0, 0, 0, 0]}, {"end": layout.WON}):
            state = roster_state(**({"t": 50} | fields))
            cells, elsewhere = changed_cells(base, roster_draw.picture(state).to_rgb(CELL), 1.25)
            assert cells == []
            assert elsewhere

    def test_mowers_stand_beside_their_lanes(self):
        without = roster_draw.picture(roster_state()).to_rgb(CELL)
        one = roster_draw.picture(mown((0, 0, 1, 0, 0)))
        rows = np.nonzero((without != one.to_rgb(CELL)).any(axis=(1, 2)))[0]
        assert round(3.25 * CELL) <= rows.min()
        assert rows.max() < round(4.25 * CELL)

    def test_text(self):
        things = [
            (layout.PLANT, 0, 0, 0, 1, 0),
            (layout.PLANT, 0, 1, 1, 1, 0),
            (layout.PLANT, 1, 2, 2, 8, 0),
            (layout.PLANT, 2, 3, 3, 1, 0),
            (layout.PLANT, 2, 4, 3, 1, 1),
            (layout.ZOMBIE, 3, 5, 0, 9, 0),
            (layout.ZOMBIE, 3, 6, 1, 18, 0),
            (layout.ZOMBIE, 4, 7, 2, 7, 0),
            (layout.ZOMBIE, 4, 8, 3, 30, 0),
        ]
        state = roster_state(things, t=68, sun=11, recharge=[0, 1, 9, 0, 0, 0])
        lines = roster_text(state).splitlines()
        assert lines[0] == "step 68 of 120, wave 3 of 4, sun 11"
        assert lines[1] == "F 2 sun ready | P 4 sun in 1 | W 2 sun in 9 | m 1 sun ready"
        cells = [line.split("|")[1].split() for line in lines[3:8]]
        assert cells[0] == ["F1", "P1", *"......."]
        assert cells[1] == [".", ".", "W8", *"......"]
        assert cells[2] == [".", ".", ".", "m1", "M1", *"...."]
        assert cells[3] == [*".....", "z9", "c18", ".", "."]
        assert cells[4] == [*".......", "r7", "b30"]
        assert len({len(line) for line in lines[3:8]}) == 1
        assert roster_text(mown((1, 0, 0, 0, 0))).splitlines()[3].startswith(" 0 >|")

    def test_second_roster_has_its_own_symbols(self):
        things = [(layout.PLANT, 0, 1, 4, 1, 0), (layout.PLANT, 0, 2, 5, 1, 0)]
        things += [(layout.ZOMBIE, 1, column, column, 4, 0) for column in range(4)]
        text = roster_text(roster_state(things, roster="specialists", end=layout.LOST), "specialists")
        assert text.splitlines()[0].endswith("LOST")
        lines = lanes_of(text)
        assert lines[0].split("|")[1].split()[:3] == [".", "T1", "L1"]
        assert lines[1].split("|")[1].split()[:4] == ["z4", "v4", "i4", "s4"]
        legend = (
            "F sunflower, P shooter, W wall, m mine, M armed mine, T torch, L catapult\nz normal, v vaulter, i frozen"
        )
        assert legend in text

    @pytest.mark.parametrize("roster", ["standard", "specialists"])
    def test_whole_game(self, roster):
        game = roster_defense(roster=roster, mowers=True)
        for state in played(game, 5):
            planes = state[layout.CELLS : layout.CELLS + 4 * 45].reshape(4, 5, 9).astype(int)
            rows = [line.split("|")[1].split() for line in lanes_of(roster_text(state, roster))]
            for (lane, column), hp in np.ndenumerate(planes[layout.HP]):
                plant, zombie = planes[layout.PLANT, lane, column], planes[layout.ZOMBIE, lane, column]
                known = "FPWmMTL" if plant else "zcrbvis" if zombie else "."
                assert rows[lane][column][0] in known
                assert rows[lane][column][1:] == (str(hp) if plant or zombie else "")
        assert roster_draw.picture(state).to_rgb(8).shape == (50, 92, 3)


@pytest.mark.parametrize(("header", "line"), [(1.25, 0.34), (1.0, 0.5)])
def test_stars_keep_clear_of_the_writing_in_the_sky(header, line):
    picture = lawn.scene(5, 9, header, line, 0.0, True)[0].to_rgb(CELL)
    rows = picture[round((line - 0.19) * CELL) : round((line + 0.19) * CELL)]
    assert (rows == rows[:, :1]).all()
    assert (picture[: round(header * CELL)] != picture[: round(header * CELL), :1]).any()
