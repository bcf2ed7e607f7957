"""The page of a graph in a browser: keys, search, filters, and that what was stored does nothing in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memcli.graph.elements import Graph, build
from tests.conftest import memory
from tests.extras.graph.test_formats import BREAKING, drawn, example, hostile, link
from tests.extras.serve.inspector.site import browser_path

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.skipif(browser_path() is None, reason="no Chromium")


class GraphPage:
    """A page of a browser, and what went wrong on it: errors, dialogs, and requests for anything but a file."""

    def __init__(self, page: Any) -> None:
        self.page, self.problems = page, []
        wrong = self.problems.append
        page.on("pageerror", lambda error: wrong(str(error)))
        page.on("console", lambda message: wrong(message.text) if message.type == "error" else None)
        page.on("dialog", lambda dialog: (wrong(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: None if request.url.startswith("file://") else wrong(request.url))
        self.evaluate = page.evaluate

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)


@pytest.fixture(scope="module")
def page() -> Iterator[GraphPage]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=browser_path(), args=["--no-sandbox", "--disable-gpu"])
        yield GraphPage(started.new_page(viewport={"width": 1440, "height": 900}))
        started.close()


def show(page: GraphPage, folder: Path, graph: Graph) -> GraphPage:
    file = folder / "graph.html"
    file.write_text(drawn("html", graph), encoding="utf-8")
    page.problems.clear()
    page.page.goto(file.as_uri())
    page.page.wait_for_selector("html[data-ready]", state="attached")
    return page


def listed(page: GraphPage) -> list[str]:
    return page.evaluate("[...document.querySelectorAll('#nodes li')].map((item) => item.textContent)")


def selected(page: GraphPage) -> str | None:
    return page.evaluate("state.selected && state.selected.label")


def focused(page: GraphPage) -> str:
    return page.evaluate("document.activeElement.id")


def test_the_list_has_what_the_picture_has(page: GraphPage, tmp_path: Path) -> None:
    show(page, tmp_path, example())
    assert page.problems == []
    assert listed(page) == [
        "db/engine", "db/old", "db/pool", "notes:db/study", "ops/deploy", "x/orders", "zz/alone", "#db (tag, 3)", "storage (cluster)",
    ]  # fmt: skip
    assert page.evaluate("document.getElementById('count').textContent") == "7 memories, 10 ties"


def test_search_by_keys(page: GraphPage, tmp_path: Path) -> None:
    show(page, tmp_path, example())
    page.press("/", *"mysql")
    assert (focused(page), listed(page)) == ("search", ["db/old"])
    page.press("Enter")
    assert (focused(page), selected(page)) == ("nodes", "db/old")
    told = page.evaluate("document.getElementById('details').innerText")
    assert "We use MySQL." in told
    assert "superseded" in told
    page.press("Enter")
    assert focused(page) == "details"
    page.press("Escape", "Escape")
    assert (focused(page), selected(page)) == ("graph", None)
    page.press("/", "Escape")
    assert len(listed(page)) == 9


def test_arrows_go_to_neighbours_and_tab_through_them(page: GraphPage, tmp_path: Path) -> None:
    show(page, tmp_path, example())
    page.evaluate("document.getElementById('graph').focus()")
    page.press("ArrowDown")
    first = selected(page)
    assert first == "db/engine"  # what is tied most
    seen = set()
    for key in ("ArrowDown", "ArrowRight", "ArrowUp", "ArrowLeft"):
        page.press(key)
        seen.add(selected(page))
    assert len(seen) > 1
    page.evaluate("select(nodes.find((node) => node.label === 'db/engine'))")
    tied = []
    while focused(page) == "graph" and len(tied) < 20:
        page.press("Tab")
        tied.append(selected(page))
    assert set(tied) == {"db/old", "db/pool", "notes:db/study", "db", "storage"}
    page.evaluate("document.getElementById('nodes').focus()")
    page.press("Home")
    assert selected(page) == "db/engine"
    page.press("ArrowDown")
    assert selected(page) == "db/old"
    page.press("End")
    assert selected(page) == "storage"


def test_filters(page: GraphPage, tmp_path: Path) -> None:
    boxes = {
        "kinds/decision": ["db/engine"], "spaces/notes": ["notes:db/study"], "types/tags": ["#db (tag, 3)"],
        "types/unlinked": ["x/orders", "zz/alone"], "types/clusters": ["storage (cluster)"], "relations/supersedes": [],
    }  # fmt: skip
    for box, gone in boxes.items():
        show(page, tmp_path, example())
        before, shown = listed(page), page.evaluate("state.edges.length")
        field, _, name = box.partition("/")
        page.evaluate(
            f"[...document.querySelectorAll('#{field} label')].find((one) => one.innerText.includes('{name}')).querySelector('input').click()"
        )
        assert [one for one in before if one not in listed(page)] == gone, box
        assert page.evaluate("state.edges.length") < shown or name == "unlinked", box
        page.evaluate("document.getElementById('reset').click()")
        assert listed(page) == before, box


def test_a_tag_shows_what_has_it(page: GraphPage, tmp_path: Path) -> None:
    show(page, tmp_path, example())
    page.evaluate(
        "{ const t = document.getElementById('tag'); t.value = 'pool'; t.dispatchEvent(new Event('change')); }"
    )
    assert listed(page) == ["db/pool", "storage (cluster)"]


def test_what_was_stored_does_nothing(page: GraphPage, tmp_path: Path) -> None:
    for text in BREAKING:
        show(page, tmp_path, hostile(text))
        page.evaluate("select(nodes[0])")
        assert page.problems == [], text
        assert page.evaluate("document.scripts.length") == 2
        assert page.evaluate("document.querySelectorAll('img, iframe, object, a[href]:not(.skip)').length") == 0
        assert page.evaluate("document.querySelector('#details h2').textContent") == f"a{text}"


def big(count: int) -> Graph:
    """Memories below 25 headings, each tied to others of its own and of another one."""
    told = []
    for n in range(count):
        ties = {f"mem_{n - 25:05}": "depends_on", f"mem_{n // 2:05}": "relates_to"} if n > 25 else {}
        links = tuple(link(to, relation) for to, relation in ties.items())
        kind = ("fact", "decision", "guide", "procedure")[n % 4]
        told.append(memory(f"{n:05}", path=f"h{n % 25:02}/name-{n}", kind=kind, tags=(f"t{n % 40}",), links=links))
    return build({"main": told}, "main")


@pytest.mark.parametrize("count", [1, 10, 200, 2000])
def test_a_graph_of_any_size_is_laid_out_the_same_each_time(page: GraphPage, tmp_path: Path, count: int) -> None:
    places = "nodes.map((node) => [node.x, node.y])"
    first = show(page, tmp_path, big(count)).evaluate(places)
    assert show(page, tmp_path, big(count)).evaluate(places) == first
    assert page.problems == []
    apart = """(() => { let least = Infinity; const on = state.nodes; for (const a of on) for (const b of on)
      if (a.index < b.index) least = Math.min(least, Math.hypot(a.x - b.x, a.y - b.y) - a.radius - b.radius); return least; })()"""
    assert count == 1 or page.evaluate(apart) > -1
    inside = "state.nodes.every((node) => { const [x, y] = drawing.toScreen(node); return x > 0 && y > 0 && x < drawing.width && y < drawing.height; })"
    assert page.evaluate(inside)


def test_labels_never_cover_each_other(page: GraphPage, tmp_path: Path) -> None:
    show(page, tmp_path, big(2000))
    covering = """(() => { const boxes = [], c = drawing.context, fill = c.fillText;
      c.fillText = function (text, x, y) { const w = c.measureText(text).width; const size = parseInt(c.font.match(/(\\d+)(\\.\\d+)?px/)[1]);
        boxes.push(c.textAlign === 'center' ? [x - w / 2, y - size / 2, x + w / 2, y + size / 2] : [x, y - size / 2, x + w, y + size / 2]); };
      drawing.draw(state); c.fillText = fill;
      return [boxes.length, boxes.filter((a, i) => boxes.some((b, j) => i < j && overlaps(a, b))).length]; })()"""
    shown, overlapping = page.evaluate(covering)
    assert shown > 40
    assert overlapping == 0


def test_both_themes(page: GraphPage, tmp_path: Path) -> None:
    for dark in (False, True):
        page.page.emulate_media(color_scheme="dark" if dark else "light")
        show(page, tmp_path, example())
        assert page.evaluate("document.documentElement.dataset.theme") == ("dark" if dark else "light")
        page.evaluate("document.getElementById('theme').click()")
        assert page.evaluate("document.documentElement.dataset.theme") == ("light" if dark else "dark")
