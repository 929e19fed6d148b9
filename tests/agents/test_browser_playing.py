"""Games played in a browser. Skipped where there is none."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

sync_api = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.slow


@pytest.fixture
def played(browser):
    """Serve a game to be played by the command, and open its page; afterwards Ctrl-C ends it without a traceback."""
    script, serving, pages, wrong = Path(__file__).parents[2] / "scripts" / "play.py", [], [], []

    def open_page(*arguments):
        command = [sys.executable, script, *arguments, "--no-browser"]
        serving.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        pages.append(browser.new_page())
        pages[-1].on("pageerror", lambda error: wrong.append(str(error)))
        pages[-1].goto(serving[-1].stdout.readline().strip())
        return pages[-1]

    yield open_page
    for page, process in zip(pages, serving, strict=True):
        process.send_signal(signal.SIGINT)
        ended = process.communicate(timeout=20)[1]
        page.close()
        assert (process.returncode, "Traceback" in ended) == (130, False)
    assert wrong == []


def to_the_end(page):
    """Choose the last of the actions until the game is over."""
    end = page.locator(".said strong", has_text=re.compile("won|lost|tie|over"))
    option = page.locator(".options .list button:enabled").last
    for _ in range(300):
        sync_api.expect(option.or_(end).first).to_be_visible()
        if end.count():
            break
        before = page.text_content(".count")
        option.click()
        page.wait_for_function("before => document.querySelector('.count').textContent !== before", arg=before)
    assert end.count() == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["LaneDefense3x3-v0"],
        ["WallSurvival-v0", "--set", "board_size=4", "--seats", "human,greedy"],
        ["BomberDuel-v0", "--seats", "rule_based,human", "--set", "max_steps=12"],
        ["Football1-v0", "--seats", "human,random", "--set", "turns=2"],
        ["pettingzoo.classic.tictactoe_v3", "--seats", "human,random"],
    ],
)
def test_a_person_plays_to_the_end(played, arguments):
    page = played(*arguments)
    to_the_end(page)
    page.keyboard.press("u")
    sync_api.expect(page.locator(".options .list button").last).to_be_visible()


def test_two_at_one_screen_see_whose_turn_it_is(played):
    page = played("tests.pages.strangers:Dealt", "--seats", "human,human", "--hint", "random")
    options = page.locator(".options .list button")
    sync_api.expect(options).to_have_count(4)
    options.first.click()
    sync_api.expect(options).to_have_count(2)
    assert [each.get_attribute("aria-label") for each in options.all()] == ["even: 0", "even: 1"]
    assert page.inner_text(".board").endswith("7")


def test_a_game_is_saved_and_opened_again(played, tmp_path):
    page = played(
        "WallSurvival-v0", "--set", "board_size=5", "--seats", "human,greedy", "--hint", "mcts:simulations=50"
    )
    page.locator(".spot").first.click()
    if page.locator(".choices button").count():
        page.locator(".choices button").first.click()
    sync_api.expect(page.locator(".count")).to_have_text("2 / 2")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save").click()
    saved.value.save_as(tmp_path / "game.json")
    page.keyboard.press("n")
    sync_api.expect(page.locator(".transport")).to_be_hidden()
    with page.expect_file_chooser() as asked:
        page.get_by_role("button", name="Open").click()
    asked.value.set_files(tmp_path / "game.json")
    sync_api.expect(page.locator(".count")).to_have_text("2 / 2")
    page.keyboard.press("i")
    sync_api.expect(page.locator("#bar .said")).to_contain_text("hint: ")
    page = played(str(tmp_path / "game.json"), "--seats", "human,greedy")
    sync_api.expect(page.locator(".count")).to_have_text("2 / 2")


def test_on_a_phone_and_at_200_percent_every_action_is_reached(played):
    page = played("BomberTeam-v0", "--seats", "human,random,random,random")
    for width, height in [(360, 740), (640, 400)]:
        page.set_viewport_size({"width": width, "height": height})
        stage, actions = (page.locator(each).bounding_box() for each in (".stage", ".options"))
        assert actions["y"] >= stage["y"] + stage["height"]
        page.locator(".options button").first.click(timeout=5000)


def test_a_tall_screen_is_filled_and_nobody_is_said_to_think_in_no_time(played):
    page = played("LaneDefense3x3-v0")
    assert " ms" not in page.inner_text(".players")
    page.set_viewport_size({"width": 500, "height": 2000})
    below = page.evaluate("innerHeight - document.getElementById('page').getBoundingClientRect().bottom")
    assert below <= 0, "there is white below the page, in the dark too"


def test_a_position_is_asked_for_in_a_dialog_and_without_scripts_it_is_said_what_needs_them(browser, played):
    page = played("LaneDefense3x3-v0")
    page.get_by_role("button", name="Position").click()
    page.get_by_role("dialog", name="Position").get_by_role("textbox", name="the position").wait_for()
    with browser.new_context(java_script_enabled=False) as context:
        still = context.new_page()
        still.goto(page.url)
        assert "needs JavaScript" in still.inner_text("body")


def test_of_several_who_choose_at_once_each_option_says_whose_it_is(played):
    page = played("BomberDuel-v0", "--seats", "human,human")
    buttons = page.locator(".options .list button")
    page.wait_for_selector(".options .list button")
    titles = [each.get_attribute("title") for each in buttons.all()]
    assert len(set(titles)) == len(titles)
    assert {each.partition(":")[0] for each in titles} == {"0 (blue)", "1 (orange)"}
    assert page.locator(".options .dot").count() == len(titles)
    page.get_by_role("button", name="0 (blue): stop").last.click()
    sync_api.expect(buttons).to_have_count(len(titles) // 2)  # those of who is left, still with the name
    assert {each.get_attribute("title").partition(":")[0] for each in buttons.all()} == {"1 (orange)"}


def test_a_game_that_is_over_is_reviewed(played):
    page = played(
        "WallSurvival-v0", "--set", "board_size=4", "--seats", "human,greedy", "--hint", "mcts:simulations=50"
    )
    button = page.locator("#bar button").nth(1)
    sync_api.expect(button).to_have_text("Hint")
    to_the_end(page)
    sync_api.expect(button).to_have_text("Review")
    button.click()
    sync_api.expect(page.locator("#bar .said")).to_contain_text("choices stand")
    page.keyboard.press("m")
    sync_api.expect(page.locator(".stage .said")).to_contain_text("is better by")


def test_what_somebody_does_at_their_turn_is_let_be_while_nothing_is_new(played):
    page = played("WallSurvival-v0", "--set", "board_size=5", "--seats", "human,greedy")
    at_once = re.compile(r"serial=\d+")  # and not after the seconds that a question is kept waiting
    page.route("**/state?*", lambda route: route.continue_(url=at_once.sub("serial=-1", route.request.url)))
    page.reload()
    word = page.get_by_label("find an action")
    word.fill("1,")
    page.wait_for_timeout(300)
    assert word.input_value() == "1,"
    page.unroute("**/state?*")


def test_what_the_server_does_not_do_changes_nothing_on_the_page(played):
    page = played("WallSurvival-v0", "--set", "board_size=5", "--seats", "human,greedy")
    why = ", ".join(20 * ["there is no such file"])
    page.route("**/ask", lambda route: route.fulfill(status=400, json={"error": why}))
    page.route("**/replay", lambda route: route.abort())
    seat = page.get_by_label("1 (orange)")
    seat.select_option("best")
    sync_api.expect(page.locator("#bar .said")).to_have_text(why)
    assert page.locator("#bar").bounding_box()["height"] < 150, "what is said at length takes lines of its own"
    assert seat.input_value() == "greedy"
    page.get_by_role("button", name="Save").click()
    page.wait_for_timeout(300)
    assert page.locator(".board svg").is_visible()


def test_while_others_think_the_actions_stay_where_they_are(played):
    page = played("WallSurvival-v0", "--set", "board_size=5", "--seats", "human,mcts:time_limit=2.0")
    buttons = page.locator(".options .list button")
    sync_api.expect(buttons.last).to_be_enabled()
    buttons.last.click()
    sync_api.expect(page.locator(".count")).to_have_text("1 / 1")
    sync_api.expect(buttons.last).to_be_disabled()
    sync_api.expect(page.locator(".count")).to_have_text("2 / 2")
    sync_api.expect(buttons.last).to_be_enabled()


def test_who_gives_a_seat_away_is_offered_nothing_any_more(played):
    page = played("WallSurvival-v0", "--set", "board_size=5", "--seats", "human,mcts:time_limit=2.0")
    sync_api.expect(page.locator(".options")).to_be_visible()
    page.get_by_label("0 (blue)").select_option("mcts:time_limit=2.0")
    sync_api.expect(page.locator(".options")).to_be_hidden()


def test_a_menu_that_closes_leaves_the_page_where_it_is(played):
    page = played("LaneDefense5x9-v0")
    page.set_viewport_size({"width": 360, "height": 500})
    last = page.locator(".options .list button").last
    sync_api.expect(last).to_be_enabled()
    page.locator(".spot").first.click()
    sync_api.expect(page.locator(".choices")).to_be_visible()
    last.scroll_into_view_if_needed()
    box = last.bounding_box()
    page.mouse.click(box["x"] + 5, box["y"] + 5)
    sync_api.expect(page.locator(".count")).to_have_text("1 / 1")


def test_a_keyboard_that_changes_a_seat_stays_there(played):
    page = played("WallSurvival-v0", "--set", "board_size=4", "--seats", "human,human", "--hint", "random")
    seat = page.get_by_label("1 (orange)")
    seat.focus()
    page.keyboard.press("ArrowDown")
    page.wait_for_function("document.activeElement.value === 'best'")
    sync_api.expect(page.locator(".player .name").last).to_have_text("best")
    sync_api.expect(seat).to_be_focused()
    page.keyboard.press("ArrowDown")
    sync_api.expect(page.locator(".player .name").last).to_have_text("mcts")
