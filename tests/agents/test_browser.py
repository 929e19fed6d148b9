"""Pages opened in a browser: loaded, stepped, clicked, played to the end. Skipped where there is none."""

import json
import re

import gymnasium as gym
import pytest
from _following import games
from _live import serving

import agents
import mcts_envs
from agents.arena import Plan, compare, parse_meeting
from agents.arena.page import write_page
from agents.watching import fitted, replayed, watch
from mcts_envs.replay import Replay

sync_api = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.slow
EVIL = '</script><img src="x" onerror="window.evil=1"><b onclick=1>'


@pytest.fixture
def opened(browser, tmp_path):
    """Open HTML as a file; afterwards nothing was complained about or fetched."""
    wrong, contexts = [], []

    def open_page(text, **settings):
        file = tmp_path / "page.html"
        file.write_text(text, encoding="utf-8")
        contexts.append(browser.new_context(**settings))
        page = contexts[-1].new_page()
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda made: made.url.startswith(("file:", "data:")) or wrong.append(made.url))
        page.goto(file.as_uri())
        page.wait_for_function("document.hasFocus()")  # else its first key may be lost
        return page

    yield open_page
    for context in contexts:
        context.close()
    refused = "Executing inline event handler violates"  # what a page refuses to run is no complaint
    assert [each for each in wrong if not each.startswith(refused)] == []


def document_of(id, names, **settings):
    return watch(Plan(id, parse_meeting(names, None)[0], settings))


GAMES = [
    ("LaneDefense5x9-v0", "mcts:simulations=30", {}),
    ("WallSurvival-v0", "mcts:simulations=100,alpha_beta:max_steps=500", {"board_size": 6}),
    ("Bomber-v0", "mcts:simulations=30,scripted,rhea:simulations=20,random", {"max_steps": 40}),
    ("Football3-v0", "mcts:simulations=30,scripted", {"halves": 1, "turns": 2}),
    ("connect_four:ConnectFour-v0", "mcts:simulations=100,random", {}),
]


def test_a_move_that_is_not_made_yet_and_time_too_short_to_tell(opened):
    document = document_of("WallSurvival-v0", "mcts:simulations=20,random", board_size=4)
    frames = [{**frame, "clocks": [0.25, 0.0002]} for frame in document["frames"]]
    frames[1] |= {"decisions": [], "over": False}
    page = opened(fitted(document | {"frames": frames[:2]}))
    page.keyboard.press("End")
    assert "Nobody has chosen here yet." in page.inner_text(".search")
    assert ("250 ms" in page.inner_text(".players"), "< 1 ms" in page.inner_text(".players")) == (True, True)


@pytest.mark.parametrize(("id", "names", "settings"), GAMES)
def test_a_game_is_stepped_clicked_and_played_to_its_end(opened, id, names, settings):
    document = document_of(id, names, **settings)
    last = len(document["frames"]) - 1
    page = opened(fitted(document))

    def count():
        return page.inner_text(".count")

    page.wait_for_selector(".board > *")
    assert page.inner_text("h1") == f"{id.split(':')[-1]}, seed 0"
    assert page.locator(".player").count() == len(document["players"])
    page.keyboard.press("ArrowRight")
    assert count() == f"1 / {last}"
    page.keyboard.press("End")
    assert count() == f"{last} / {last}"
    page.keyboard.press("Home")
    page.locator(".transport input").fill(str(min(2, last)))
    assert count() == f"{min(2, last)} / {last}"
    page.locator(".transport input").focus()
    page.keyboard.press("ArrowLeft")
    assert count() == f"1 / {last}"
    page.keyboard.press("Home")
    if document["frames"][0]["decisions"][0].get("search", {}).get("tree"):
        opening = page.locator(".tree details").first
        if opening.count():
            opening.locator("summary").first.click()
            opening.locator("ul > li").first.wait_for()
        page.locator(".search tbody tr").first.hover()
    page.select_option(".transport select", "16")
    page.locator('[aria-label="play (space)"]').click()
    sync_api.expect(page.locator(".count")).to_have_text(f"{last} / {last}", timeout=60_000)
    assert page.inner_text(".said")


@pytest.mark.parametrize("settings", [{}, {"color_scheme": "dark"}, {"viewport": {"width": 360, "height": 700}}])
def test_a_report_is_read_and_its_games_are_watched(opened, tmp_path, settings):
    names = "random,greedy,few=mcts:simulations=4,many=mcts:simulations=40"
    plan = Plan("WallSurvival-v0", parse_meeting(names, None)[0], {"board_size": 4}, replays=True)
    write_page(compare(plan, 2, folder=tmp_path / "rows"), tmp_path / "page.html", "the command")
    page = opened((tmp_path / "page.html").read_text(encoding="utf-8"), **settings)
    assert page.inner_text("h1") == "WallSurvival-v0, board_size=4"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.querySelector('h1')).color") == "rgb(28, 30, 35)"
    assert page.evaluate("getComputedStyle(document.querySelector('section')).breakInside") == "auto"
    page.emulate_media(media="screen")
    for drawn in (".interval", ".box", ".path"):
        assert max(page.locator(drawn).first.bounding_box()[side] for side in ("width", "height")) > 5
    page.locator("a").first.click()
    page.wait_for_selector(".board svg")
    page.keyboard.press("End")
    assert page.inner_text(".said").endswith("won") or "tie" in page.inner_text(".said")


def test_dark_and_light(opened):
    text = fitted(document_of("LaneDefense3x3-v0", "random"))
    for theme, other in (("dark", "light"), ("light", "dark")):
        page = opened(text, color_scheme=theme)
        page.wait_for_selector(f'#page[data-theme="{theme}"]')
        page.keyboard.press("t")
        page.wait_for_selector(f'#page[data-theme="{other}"]')


def test_names_and_pictures_run_nothing(opened):
    document = document_of("WallSurvival-v0", "mcts:simulations=20,random", board_size=3)
    evil = json.loads(json.dumps(document).replace("mcts:simulations=20", json.dumps(EVIL)[1:-1]))
    shape = '<image href="https://example.com/x.png"/><script>evil=1</script><rect width="1" onload="evil=1"/>'
    for frame in evil["frames"]:
        frame["picture"] = frame["picture"].replace("</svg>", f"{shape}</svg>")
        frame["decisions"] = [{**each, "name": EVIL} for each in frame["decisions"]]
    page = opened(fitted({**evil, "title": EVIL}))
    page.wait_for_selector(".board svg")
    page.keyboard.press("End")
    assert page.inner_text("h1") == EVIL
    assert page.locator(".name").first.inner_text() == EVIL
    assert page.evaluate("window.evil") is None
    assert page.locator("img, image, [onload], [onerror], .board script").count() == 0


def test_an_environment_of_others_is_seen_as_it_draws_itself(opened):
    players, _ = parse_meeting("mcts", None, {"simulations": 10})
    document = watch(Plan("tests.agents.test_watching_others:path", players))
    page = opened(fitted(document))
    image = page.locator(".board svg image")
    first = image.get_attribute("href")
    box = image.bounding_box()
    assert box["width"] > 300
    page.keyboard.press("End")
    assert image.get_attribute("href").startswith("data:image/png;base64,")
    assert image.get_attribute("href") != first
    assert page.inner_text(".board") == ""


def test_a_place_a_button_and_a_key_choose(opened):
    env = gym.make("mcts_envs/LaneDefense5x9-v0")
    env.reset(seed=0)
    shown = mcts_envs.show(env)
    legal = shown.document["frames"][0]["legal"]
    legal[-1]["key"] = "x"
    page = opened(shown.to_html())
    page.wait_for_selector(".spot")
    page.evaluate("window.got = []; document.addEventListener('choose', event => got.push(event.detail.action))")
    page.keyboard.press("x")
    page.locator(".spot").first.click()
    page.locator(".choices button").nth(1).click()
    page.locator(".options input").fill("wait")
    page.locator(".options button").click()
    there = [each["action"] for each in legal if each["place"] == legal[0]["place"]]
    assert page.evaluate("got") == [legal[-1]["action"], there[1], legal[-1]["action"]]
    assert legal[-1]["name"] == "wait"
    page.locator(".spot").nth(1).focus()
    for key in ("Enter", "Escape", "Tab"):
        page.keyboard.press(key)
    sync_api.expect(page.locator(".spot").nth(2)).to_be_focused()  # a keyboard goes on where it was


def test_a_game_is_followed_while_it_is_played_and_saved_whole(browser, tmp_path):
    page = browser.new_page()
    with serving() as live:
        page.goto(live.address)
        assert page.inner_text("body") == "the game has not begun"
        plan = Plan("WallSurvival-v0", parse_meeting("mcts:time_limit=0.1", None)[0], {"board_size": 5})
        document = watch(plan, tell=lambda document: setattr(live, "document", document))
        last = len(document["frames"]) - 1
        sync_api.expect(page.locator(".count")).to_have_text(f"{last} / {last}")
        sync_api.expect(page.locator(".said")).to_contain_text("won")
        page.keyboard.press("Home")
        page.wait_for_selector(".search tbody tr")
        page.wait_for_timeout(1000)
        (tmp_path / "saved.html").write_text(page.content(), encoding="utf-8")
        page.goto((tmp_path / "saved.html").as_uri())
        page.keyboard.press("End")
        sync_api.expect(page.locator(".count")).to_have_text(f"{last} / {last}")
    page.close()


def test_games_of_a_comparison_are_followed_one_after_the_other(browser, tmp_path):
    plan = Plan("WallSurvival-v0", parse_meeting("random,greedy", None)[0], {"board_size": 4}, replays=True)
    compare(plan, 1, folder=tmp_path)
    followed, page = games(tmp_path, between=0.01), browser.new_page()
    with serving() as live:
        live.document = next(followed)
        page.goto(live.address)
        page.select_option(".transport select", "16")
        sync_api.expect(page.locator("h1")).to_contain_text("board 0")
        compare(plan, 2, folder=tmp_path)
        live.document = next(followed)
        sync_api.expect(page.locator("h1")).to_contain_text("board 1", timeout=20_000)
        sync_api.expect(page).to_have_title(re.compile("board 1"))
        sync_api.expect(page.locator(".said strong")).to_have_text(re.compile("won|tie"), timeout=20_000)
        page.keyboard.press("Home")
        compare(plan, 3, folder=tmp_path)
        live.document = next(followed)
        page.wait_for_timeout(2500)
        assert "board 1" in page.inner_text("h1")  # who looks at a game is not torn away from it
        page.keyboard.press("End")
        sync_api.expect(page.locator("h1")).to_contain_text("board 2", timeout=20_000)
    page.close()


def test_a_notebook_shows_a_page_and_without_scripts_a_picture(opened):
    env = gym.make("mcts_envs/WallSurvival-v0", board_size=5)
    env.reset(seed=0)
    cell = agents.show(agents.make("mcts", simulations=50).search(env))._repr_html_()
    page = opened(cell)
    frame = page.frame_locator("iframe")
    frame.locator(".search tbody tr").first.wait_for()
    assert page.get_by_title("wall_survival: a search").count() == 1  # by which it is told from other frames
    assert not page.evaluate("document.querySelector('img').checkVisibility({opacityProperty: true}) === false")
    for width, height in [(820, 720), (853, 480)]:  # a notebook on a small screen; a projector at 150 %
        page.set_viewport_size({"width": width, "height": height})
        board, search = (frame.locator(each).bounding_box() for each in (".board", ".search"))
        assert board["x"] + board["width"] <= search["x"], "the search is below the board, out of sight"
    still = opened(cell, java_script_enabled=False)
    still.frame_locator("iframe").locator("img").wait_for()
    assert still.frame_locator("iframe").locator(".board").count() == 0


def test_what_a_choice_gave_away_is_said_and_a_key_goes_to_the_next(opened):
    replay = Replay("WallSurvival-v0", seed=5, board_size=4)
    while not replay.over:
        replay.play({player: int(replay.view(player).legal_actions()[0]) for player in replay.choosing})
    document = replayed(replay, agents.make("mcts", simulations=300))
    slips = [n for n, frame in enumerate(document["frames"]) if any("better" in each for each in frame["decisions"])]
    page = opened(fitted(document))
    page.wait_for_selector(".chart .slip", state="attached")
    for number in slips:
        if number:
            page.keyboard.press("m")
        assert page.locator(".count").text_content() == f"{number} / {len(document['frames']) - 1}"
        assert " is better by " in page.locator(".said").text_content()
    assert slips


def test_it_is_said_whose_search_is_shown(opened):
    page = opened(fitted(document_of("Bomber-v0", "mcts:simulations=20", max_steps=4)))
    tabs = page.locator(".tabs button")
    for seat in (0, 2):
        tabs.nth(seat).click()
        assert [each.get_attribute("aria-pressed") == "true" for each in tabs.all()] == [at == seat for at in range(4)]


def test_a_place_is_chosen_by_space_and_by_a_double_click_no_text_is(opened):
    env = gym.make("mcts_envs/WallSurvival-v0", board_size=4)
    env.reset(seed=0)
    page = opened(mcts_envs.show(env).to_html())
    page.evaluate("window.got = 0; document.addEventListener('choose', () => got++)")
    page.locator(".spot").first.focus()
    page.keyboard.press("Space")
    assert page.evaluate("got") == 1
    page.locator(".spot").first.dblclick()
    assert page.evaluate("getSelection().toString()") == ""


def test_bars_and_colours_are_seen_in_high_contrast_and_in_print(opened):
    text = fitted(document_of("LaneDefense3x3-v0", "mcts:simulations=50"))
    page = opened(text, forced_colors="active")
    page.wait_for_selector(".search tbody tr")
    for drawn in (".search .bar i", ".tree .share i", ".player .dot"):
        assert page.evaluate(f"getComputedStyle(document.querySelector('{drawn}')).forcedColorAdjust") == "none"
    page = opened(text, color_scheme="dark")
    page.wait_for_selector(".search tbody tr")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.querySelector('h1')).color") == "rgb(28, 30, 35)"
    assert page.evaluate("getComputedStyle(document.querySelector('.bar i')).printColorAdjust") == "exact"
    assert page.locator(".board > svg").bounding_box()["width"] > 400
    assert not page.locator("header .icon").first.is_visible()


def test_the_tree_says_whole_names_on_a_projector_and_a_phone(opened):
    text = fitted(document_of("LaneDefense5x9-v0", "mcts:simulations=80", max_steps=2))
    for width, height in [(1024, 768), (360, 740)]:
        page = opened(text, viewport={"width": width, "height": height})
        page.wait_for_selector(".tree .what")
        cut = "[...document.querySelectorAll('.tree .what')].filter(each => each.scrollWidth > each.clientWidth)"
        assert page.evaluate(f"{cut}.map(each => each.textContent)") == []


def test_on_a_phone_a_player_is_told_of_on_one_line(opened):
    page = opened(
        fitted(document_of("WallSurvival-v0", "a_long_name_of_a_player=mcts:simulations=5,random", board_size=4))
    )
    page.set_viewport_size({"width": 380, "height": 800})
    page.keyboard.press("End")
    heights = page.evaluate("[...document.querySelectorAll('.player')].map(each => each.clientHeight)")
    assert page.locator(".player .name").first.is_visible()
    assert len(set(heights)) == 1, "what follows a long name is not broken"
    assert page.evaluate("document.documentElement.scrollWidth") == 380


def test_moves_that_came_together_are_shown_once(browser):
    plan = Plan("WallSurvival-v0", parse_meeting("random", None)[0], {"board_size": 4})
    document, page = watch(plan), browser.new_page()
    first, *more = document["frames"][:2] * 100
    with serving() as live:
        live.document = {**document, "frames": [first]}
        page.goto(live.address)
        page.wait_for_selector(".board svg")
        page.evaluate("window.shown = 0; addEventListener('frame', () => shown++)")
        live.document = {**document, "frames": [first, *more]}
        sync_api.expect(page.locator(".count")).to_have_text(f"{len(more)} / {len(more)}")
        assert page.evaluate("shown") <= 2  # the frame that was known, and the last
    page.close()


def test_what_is_opened_in_a_move_stays_open_while_the_game_goes_on(browser):
    document, page = document_of("LaneDefense3x3-v0", "mcts:simulations=200"), browser.new_page()
    with serving() as live:
        live.document = {**document, "frames": document["frames"][:2]}
        page.goto(live.address)
        page.wait_for_selector(".board svg")
        page.keyboard.press("Home")
        page.locator(".tree summary").first.click()
        live.document = {**document, "frames": document["frames"][:4]}
        sync_api.expect(page.locator(".count")).to_have_text("0 / 3")
        assert page.locator(".tree details[open] li").count()
        assert page.locator(".transport input").get_attribute("max") == "3"
    page.close()


def test_a_page_says_that_the_server_has_gone(browser):
    plan = Plan("WallSurvival-v0", parse_meeting("random", None)[0], {"board_size": 4})
    document, page = watch(plan), browser.new_page()
    with serving() as live:
        live.document = {**document, "frames": document["frames"][:2]}
        page.goto(live.address)
        page.wait_for_selector(".board svg")
        live.document = {**document, "frames": document["frames"][:3]}
        sync_api.expect(page.locator(".count")).to_have_text("2 / 2")
        assert page.inner_text("h1") == document["title"]
    said = f"{document['title']}: the server has gone"
    sync_api.expect(page.locator("h1")).to_have_text(said)
    with serving(live.server_port):  # another one, which knows nothing of this game
        for _ in range(2):
            page.wait_for_event("response", timeout=10_000)
        assert page.inner_text("h1") == said
    page.close()


def test_a_saved_page_of_a_server_asks_nobody_for_more(opened, browser):
    document, page = document_of("LaneDefense3x3-v0", "random"), browser.new_page()
    with serving() as live:
        live.document = {**document, "frames": document["frames"][:2]}
        page.goto(live.address)
        page.wait_for_selector(".board svg")
        text = page.content()
    page.close()
    saved = opened(text)
    saved.wait_for_timeout(700)
    assert saved.inner_text("h1") == document["title"]


def test_small_numbers_on_colours_are_read(opened, tmp_path):
    page = opened(fitted(document_of("WallSurvival-v0", "mcts:simulations=100,mcts:simulations=99", board_size=4)))
    page.wait_for_selector(".line b")
    numbers = page.locator(".line b").all()
    assert [_contrast(each) > 4.5 for each in numbers] == [True] * len(numbers)
    assert len({each.evaluate("each => getComputedStyle(each).backgroundColor") for each in numbers}) == 2
    plan = Plan("WallSurvival-v0", parse_meeting("random,greedy,flat_mc", None, {})[0], {"board_size": 4})
    write_page(compare(plan, 1, folder=tmp_path / "rows"), tmp_path / "page.html")
    for theme in ("light", "dark"):
        page = opened((tmp_path / "page.html").read_text(encoding="utf-8"), color_scheme=theme)
        assert [_contrast(each) > 4.5 for each in page.locator(".cross small").all()] == [True] * 6


def test_on_paper_all_of_twelve_are_told(opened, tmp_path):
    names = ",".join(f"player-{number}=random" for number in range(12))
    plan = Plan("WallSurvival-v0", parse_meeting(names, None)[0], {"board_size": 3})
    write_page(compare(plan, 1, folder=tmp_path / "rows"), tmp_path / "page.html")
    page = opened((tmp_path / "page.html").read_text(encoding="utf-8"), viewport={"width": 720, "height": 1000})
    page.emulate_media(media="print")
    cross = page.locator(".cross").bounding_box()
    assert cross["x"] + cross["width"] <= 720, "what is beyond the edge of the paper is lost"


def _contrast(text):
    """Return how text contrasts with what is behind it, as WCAG has it."""
    pixels = """text => {
      const context = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true}), behind = [];
      for (let each = text; each; each = each.parentElement) behind.unshift(getComputedStyle(each).backgroundColor);
      const drawn = colours => colours.map(each => { context.fillStyle = each; context.fillRect(0, 0, 1, 1); })
        && [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
      return [drawn(behind), drawn([getComputedStyle(text).color])];
    }"""
    linear = [
        [
            each / 12.92 if each <= 0.03928 else ((each + 0.055) / 1.055) ** 2.4
            for each in (part / 255 for part in pixel)
        ]
        for pixel in text.evaluate(pixels)
    ]
    dark, bright = sorted(0.2126 * red + 0.7152 * green + 0.0722 * blue for red, green, blue in linear)
    return (bright + 0.05) / (dark + 0.05)
