"""A browser, for tests of pages; they are skipped where there is none."""

import shutil

import pytest

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
QUIET = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


@pytest.fixture(scope="module")
def browser():
    if BROWSER is None:
        pytest.skip("no chromium")
    from playwright import sync_api

    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=BROWSER, args=QUIET)
        yield opened
        opened.close()
