from memcli.extras.tui.view import Folds, memories_below, outline
from memcli.model.tree import tree
from tests.extras.tui.stage import memory


def _lines(paths: list[str], folds: Folds | None = None) -> list[str]:
    rows = outline(tree([memory(path) for path in paths]), (folds or Folds()).shows)
    return [
        "  " * row.depth + row.name + ("" if row.is_open is None else "/" if row.is_open else "/...") for row in rows
    ]


def test_headings_come_before_what_lies_below_them() -> None:
    assert _lines(["b", "a/y", "a/x", "a"]) == ["a/", "  x", "  y", "b"]


def test_headings_in_a_chain_share_a_row_but_a_memory_has_its_own() -> None:
    assert _lines(["a/b/c/x", "a/b/c/y"]) == ["a/b/c/", "  x", "  y"]
    assert _lines(["a/b/x"]) == ["a/b/", "  x"]
    assert _lines(["a", "a/b/x"]) == ["a/", "  b/", "    x"]


def test_a_closed_heading_hides_what_lies_below() -> None:
    folds = Folds(is_open=False)
    assert _lines(["a/b/x", "a/c/y", "d"], folds) == ["a/...", "d"]
    folds.reveal("a/b/x")
    assert _lines(["a/b/x", "a/c/y", "d"], folds) == ["a/", "  b/", "    x", "  c/...", "d"]
    folds.toggle("a")
    assert _lines(["a/b/x", "a/c/y", "d"], folds) == ["a/...", "d"]


def test_a_path_of_ten_thousand_segments_is_no_trouble() -> None:
    deep = "/".join("a" * 10_000)
    root = tree([memory(deep)])
    assert len(outline(root, Folds().shows)) == 2
    assert [m.path for m in memories_below(root)] == [deep]
