"""The pages in a browser: search as you type, keys, colours, small screens, and that nothing stored ever runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.extras.serve.inspector import hostile_store
from tests.extras.serve.inspector.site import OneStore, browser_path, fill, make_site, serving

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.skipif(browser_path() is None, reason="no Chromium")

PAGES = (
    "/", "/?q=how+long+do+access+tokens+live&why=1", "/?space=main&under=ops&state=all", "{memory}", "{untrusted}", "/graph",
    "/graph/list?space=main", "/sessions", "{session}", "/usage", "/gaps", "/audit?verify=1", "/inbox", "/memory/main/none",
)  # fmt: skip
TOUCH = """for (const one of document.querySelectorAll("*")) for (const name of ["mouseover", "focus", "load", "error"])
  one.dispatchEvent(new Event(name))"""
"""Sets off whatever an attribute of an element may have been made to do."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=browser_path(), args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, OneStore]]:
    root = tmp_path_factory.mktemp("site")
    fill(root).close()
    backend = OneStore(root)
    with serving(make_site(backend, "writer")) as address:
        yield address, backend
    backend.memory.close()


Open = Callable[..., Any]


@pytest.fixture
def page(browser: Any, site: tuple[str, OneStore]) -> Iterator[Open]:
    """Opens an address of the site; what must not happen on any page is checked at the end."""
    contexts, wrong = [], []

    def opened(path: str, width: int = 1280, **options: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 800}, base_url=site[0], **options)
        contexts.append(context)
        found = context.new_page()
        found.on("console", lambda message: wrong.append(message.text) if "Security Policy" in message.text else None)
        found.on("pageerror", lambda error: wrong.append(str(error)))
        found.on("request", lambda request: None if request.url.startswith(site[0]) else wrong.append(request.url))
        found.goto(path, wait_until="networkidle")
        return found

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


def named(path: str, backend: OneStore) -> str:
    """The address of a page, with the ids of the store."""
    memory = backend.memory
    return path.format(
        memory=f"/memory/main/{memory.get('auth/tokens', no_usage=True)['id']}",
        untrusted=f"/memory/main/{memory.get('imported/note', no_usage=True)['id']}",
        session=f"/sessions/main/{next(one['id'] for one in memory.session_list() if one['title'] == 'Slow login')}",
    )


def test_a_small_screen_needs_no_sideways_scrolling(page: Open, site: tuple[str, OneStore]) -> None:
    found = page("/", width=360)
    for path in PAGES:
        found.goto(named(path, site[1]), wait_until="networkidle")
        counts = found.locator("h1").count(), found.locator("main").count()
        assert (path, found.evaluate("document.documentElement.scrollWidth") <= 360, *counts) == (path, True, 1, 1)


def test_search_as_you_type(page: Open) -> None:
    found = page("/")
    asked: list[str] = []
    found.on("request", lambda request: asked.append(request.url))
    found.locator("#q").press_sequentially("access tokens", delay=20)
    found.wait_for_selector("#results mark")
    assert found.locator("#results mark").first.inner_text().lower() in ("access", "tokens")
    assert found.url.endswith("/?q=access+tokens")
    assert len(asked) <= 3, asked  # not one for each of the 13 keys
    assert "access tokens" in found.locator("#live").inner_text()
    found.locator("select[name=kind]").select_option("fact")
    found.locator("[data-item]").nth(1).wait_for(state="detached")
    assert "kind=fact" in found.url
    found.locator("#q").fill("zebra")
    found.wait_for_selector("text=Nothing relevant")


def test_an_answer_that_comes_late_is_not_shown(page: Open, site: tuple[str, OneStore]) -> None:
    found = page("/")

    def late(route: Any) -> None:
        if "q=access" in route.request.url and "deploy" not in route.request.url:
            found.wait_for_timeout(600)
        route.continue_()

    found.route("**/*part=1*", late)
    found.locator("#q").fill("access tokens")
    found.wait_for_timeout(250)
    found.locator("#q").fill("deploy")
    found.wait_for_selector("#results mark:has-text('deploy')")
    found.wait_for_timeout(700)
    assert found.locator("#results mark").first.inner_text().lower().startswith("deploy")


def test_the_search_works_without_javascript(page: Open, site: tuple[str, OneStore]) -> None:
    found = page("/", java_script_enabled=False)
    found.locator("#q").fill("access tokens")
    found.locator("button.primary").click()
    assert found.locator("#results mark").count() > 0
    found.locator(".tree a", has_text="ops").first.click()
    assert found.locator(".tree .leaf", has_text="deploy").count() == 1
    found.goto(named("{memory}", site[1]))
    found.locator("text=Show links to and from this memory").click()
    assert found.locator("text=relates to").count() == 1


def test_the_keys(page: Open) -> None:
    found = page("/?q=access+tokens")
    found.locator("#q").press("Escape")
    assert found.evaluate("document.activeElement.id") == "main"
    assert found.locator("#q").input_value() == "access tokens"  # which browsers would clear
    found.keyboard.press("j")
    first = found.evaluate("document.activeElement.getAttribute('href')")
    found.keyboard.press("j")
    assert found.evaluate("document.activeElement.getAttribute('href')") != first
    found.keyboard.press("k")
    assert found.evaluate("document.activeElement.getAttribute('href')") == first
    found.keyboard.press("/")
    assert found.evaluate("document.activeElement.id") == "q"
    found.keyboard.press("Escape")
    found.keyboard.press("?")
    assert found.locator("#shortcuts").is_visible()
    found.keyboard.press("Escape")
    assert not found.locator("#shortcuts").is_visible()
    found.keyboard.press("j")
    found.keyboard.press("Enter")
    found.wait_for_url("**/memory/**")
    found.keyboard.press("Tab")
    assert found.evaluate("document.activeElement.className") == "skip"
    assert found.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_the_tree_opens_where_it_is_opened(page: Open) -> None:
    found = page("/?space=main")
    found.locator("[data-tree*='path=ops'] > summary").first.click(position={"x": 8, "y": 8})
    found.wait_for_selector(".tree .leaf:has-text('deploy')")
    found.locator("[data-tree*='path=ops%2Fsearch'] > summary").click(position={"x": 8, "y": 8})
    found.wait_for_selector(".tree .leaf:has-text('index')")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_system_and_a_choice_is_remembered(page: Open, scheme: str) -> None:
    found = page("/", color_scheme=scheme)

    def is_dark() -> bool:
        text = found.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(int(part) for part in text[4:-1].split(",")) < 300

    assert is_dark() == (scheme == "dark")
    shown = []
    for _ in range(2):
        found.locator("#to-theme").click()
        shown.append((found.locator("#to-theme").get_attribute("aria-label"), is_dark()))
    assert shown == [("Colours: light", False), ("Colours: dark", True)]
    found.goto("/usage")
    assert is_dark()
    found.goto("/graph", wait_until="networkidle")
    found.wait_for_selector("html[data-ready]")
    found.locator("#nodes li", has_text="auth/tokens").click()
    assert found.locator("#details h2").inner_text() == "auth/tokens"
    assert is_dark()
    assert found.evaluate("document.documentElement.dataset.theme") == "dark"
    found.locator("#to-theme").click()
    assert is_dark() == (scheme == "dark")


def test_a_writer_edits_in_the_browser(page: Open, site: tuple[str, OneStore]) -> None:
    name = site[1].memory.remember("Logs are kept for 30 days.", path="ops/logs")["id"]
    found = page(f"/memory/main/{name}")
    found.locator("summary", has_text="Edit").click()
    found.locator("#e-text").fill("Logs are kept for 60 days.")
    found.locator(".edit-form button").click()
    found.locator("[role=status] >> text=Saved.").wait_for()
    assert found.locator(".text").first.inner_text() == "Logs are kept for 60 days."
    other = page(f"/memory/main/{name}")
    found.locator("button", has_text="Pin").click()
    found.locator("button", has_text="Unpin").wait_for()
    other.locator("button", has_text="Forget").click()
    assert other.locator("h1").inner_text() == "Somebody else changed this memory"


# Hostile texts ------------------------------------------------------------------------------------------------------


def test_nothing_stored_ever_runs(browser: Any, tmp_path: Any) -> None:
    names = hostile_store.write(tmp_path)
    backend = OneStore(tmp_path)
    for n, attack in enumerate(hostile_store.ATTACKS[:6]):
        session = backend.memory.session_start(title=attack)["id"]
        backend.memory.session_add(session, f"{attack} We decided to use {attack}.", speaker=attack)
        backend.memory.remember(f"{attack} proposed", propose=True, path=f"proposed/{n}", no_check=True)
    sessions = [f"/sessions/main/{one['id']}" for one in backend.memory.session_list()]
    pages = ["/", "/?q=zq&state=all&why=1", "/?space=main&state=all", "/graph", "/graph/list?space=main", "/usage", "/gaps",
             "/audit", "/inbox", "/sessions", *sessions, *(f"/memory/main/{name}" for name in names)]  # fmt: skip
    wrong: list[str] = []
    with serving(make_site(backend, "writer")) as address:
        context = browser.new_context(bypass_csp=True)  # the policy is not to be what holds
        found = context.new_page()
        found.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
        found.on("request", lambda request: None if request.url.startswith(address) else wrong.append(request.url))
        for path in pages:
            found.goto(address + path, wait_until="networkidle")
            if path == "/graph":
                found.wait_for_selector("html[data-ready]")
                for n in range(found.locator("#nodes li").count()):
                    found.locator("#nodes li").nth(n).click()
            found.evaluate(TOUCH)
            state = found.evaluate(
                "[window.pwned || 0, document.querySelectorAll('img,iframe,svg,object,embed').length]"
            )
            assert state == [0, 0], path
        context.close()
    backend.memory.close()
    assert wrong == []
