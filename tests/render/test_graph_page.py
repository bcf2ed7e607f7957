"""The page of a graph in a browser: keys, search, filters, and that what was stored does nothing in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memcli.graph.elements import Graph, build
from tests.conftest import memory
from tests.render import browser
from tests.render.test_graph import BREAKING, drawn, example, hostile, link

pytestmark = pytest.mark.skipif(browser.find() is None, reason="no Chromium on this machine")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Page]:
    with browser.browsing(tmp_path_factory.mktemp("browser")) as opened:
        opened.size(1440, 900)
        yield opened


def show(page: browser.Page, folder: Path, graph: Graph) -> browser.Page:
    file = folder / "graph.html"
    file.write_text(drawn("html", graph), encoding="utf-8")
    page.events.clear()
    page.open(file)
    return page


def problems(page: browser.Page) -> list[Any]:
    """What the browser complained about, and what the page asked for but itself."""
    bad = [
        e
        for e in page.events
        if e["method"] in ("Runtime.exceptionThrown", "Log.entryAdded", "Page.javascriptDialogOpening")
    ]
    asked = [e for e in page.events if e["method"] == "Network.requestWillBeSent"]
    return bad + [e for e in asked if not e["params"]["request"]["url"].startswith("file://")]


def listed(page: browser.Page) -> list[str]:
    return page.evaluate("[...document.querySelectorAll('#nodes li')].map((item) => item.textContent)")


def selected(page: browser.Page) -> str | None:
    return page.evaluate("state.selected && state.selected.label")


def focused(page: browser.Page) -> str:
    return page.evaluate("document.activeElement.id")


def test_the_list_has_what_the_picture_has(page: browser.Page, tmp_path: Path) -> None:
    show(page, tmp_path, example())
    assert problems(page) == []
    assert listed(page) == [
        "db/engine", "db/old", "db/pool", "notes:db/study", "ops/deploy", "x/orders", "zz/alone", "#db (tag, 3)", "storage (cluster)",
    ]  # fmt: skip
    assert page.evaluate("document.getElementById('count').textContent") == "7 memories, 10 ties"


def test_search_by_keys(page: browser.Page, tmp_path: Path) -> None:
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


def test_arrows_go_to_neighbours_and_tab_through_them(page: browser.Page, tmp_path: Path) -> None:
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


@pytest.mark.parametrize(
    ("box", "gone"),
    [
        ("kinds/decision", ["db/engine"]), ("spaces/notes", ["notes:db/study"]), ("types/tags", ["#db (tag, 3)"]),
        ("types/unlinked", ["x/orders", "zz/alone"]), ("types/clusters", ["storage (cluster)"]), ("relations/supersedes", []),
    ],
)  # fmt: skip
def test_filters(page: browser.Page, tmp_path: Path, box: str, gone: list[str]) -> None:
    show(page, tmp_path, example())
    before, shown = listed(page), page.evaluate("state.edges.length")
    field, _, name = box.partition("/")
    click = f"[...document.querySelectorAll('#{field} label')].find((one) => one.innerText.includes('{name}')).querySelector('input').click()"
    page.evaluate(click)
    assert [one for one in before if one not in listed(page)] == gone
    assert page.evaluate("state.edges.length") < shown or name == "unlinked"
    page.evaluate("document.getElementById('reset').click()")
    assert listed(page) == before


def test_a_tag_shows_what_has_it(page: browser.Page, tmp_path: Path) -> None:
    show(page, tmp_path, example())
    page.evaluate(
        "{ const t = document.getElementById('tag'); t.value = 'pool'; t.dispatchEvent(new Event('change')); }"
    )
    assert listed(page) == ["db/pool", "storage (cluster)"]


def test_what_was_stored_does_nothing(page: browser.Page, tmp_path: Path) -> None:
    for text in BREAKING:
        show(page, tmp_path, hostile(text))
        page.evaluate("select(nodes[0])")
        assert problems(page) == [], text
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
def test_a_graph_of_any_size_is_laid_out_the_same_each_time(page: browser.Page, tmp_path: Path, count: int) -> None:
    places = "nodes.map((node) => [node.x, node.y])"
    first = show(page, tmp_path, big(count)).evaluate(places)
    assert show(page, tmp_path, big(count)).evaluate(places) == first
    assert problems(page) == []
    apart = """(() => { let least = Infinity; const on = state.nodes; for (const a of on) for (const b of on)
      if (a.index < b.index) least = Math.min(least, Math.hypot(a.x - b.x, a.y - b.y) - a.radius - b.radius); return least; })()"""
    assert count == 1 or page.evaluate(apart) > -1
    inside = "state.nodes.every((node) => { const [x, y] = drawing.toScreen(node); return x > 0 && y > 0 && x < drawing.width && y < drawing.height; })"
    assert page.evaluate(inside)


def test_labels_never_cover_each_other(page: browser.Page, tmp_path: Path) -> None:
    show(page, tmp_path, big(2000))
    covering = """(() => { const boxes = [], c = drawing.context, fill = c.fillText;
      c.fillText = function (text, x, y) { const w = c.measureText(text).width; const size = parseInt(c.font.match(/(\\d+)(\\.\\d+)?px/)[1]);
        boxes.push(c.textAlign === 'center' ? [x - w / 2, y - size / 2, x + w / 2, y + size / 2] : [x, y - size / 2, x + w, y + size / 2]); };
      drawing.draw(state); c.fillText = fill;
      return [boxes.length, boxes.filter((a, i) => boxes.some((b, j) => i < j && overlaps(a, b))).length]; })()"""
    shown, overlapping = page.evaluate(covering)
    assert shown > 40
    assert overlapping == 0


def test_both_themes(page: browser.Page, tmp_path: Path) -> None:
    for dark in (False, True):
        page.size(1440, 900, dark=dark)
        show(page, tmp_path, example())
        assert page.evaluate("document.documentElement.dataset.theme") == ("dark" if dark else "light")
        page.evaluate("document.getElementById('theme').click()")
        assert page.evaluate("document.documentElement.dataset.theme") == ("light" if dark else "dark")
    page.size(1440, 900)
