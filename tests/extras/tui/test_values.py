"""What the browser shows, as values: the catalogue, the tree, the history of a memory; and questions in the background."""

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from pathlib import Path

import pytest

from memcli.app.workspace import Workspace, opened
from memcli.codec.space import encode_space
from memcli.errors import UsageError
from memcli.extras.tui import windows
from memcli.extras.tui.catalogue import Listed, PathCatalogue, tree_key
from memcli.extras.tui.dialog import tag_change
from memcli.extras.tui.status import Recaller, summary
from memcli.extras.tui.view import BrowseView, Folds, outline
from memcli.extras.tui.windows import read_versions
from memcli.model.catalogue import CatalogueFilter
from memcli.model.changes import HistoryCommit
from memcli.model.memory import Memory
from memcli.model.recall import Query
from memcli.model.space import Space
from memcli.present.changes import align
from memcli.present.links import MemoryLink
from memcli.record import replace
from memcli.wiring.workspace import open_workspace
from tests.extras.tui.stage import T, memory, put

# The catalogue


def _memory(name: str, **fields: object) -> Memory:
    return memory(str(fields.pop("path", f"notes/{name}")), id=f"mem_{name}", **fields)


@pytest.fixture(params=["read from the index", "read from the file"])
def catalogue_of(request: pytest.FixtureRequest, workspace: Workspace) -> Callable[..., PathCatalogue]:
    def catalogue(*memories: Memory, scope: CatalogueFilter | None = None) -> PathCatalogue:
        put(workspace, *memories)
        if request.param == "read from the index":
            with opened(workspace):
                pass
        made = PathCatalogue(workspace, scope or CatalogueFilter())
        assert (made._file is None) == (request.param == "read from the index")
        return made

    return catalogue


def _names(found: Sequence[Listed]) -> list[str]:
    return [m.id.removeprefix("mem_") for m in found]


def test_every_word_must_stand_in_path_kind_tags_or_text(catalogue_of: Callable[..., PathCatalogue]) -> None:
    """What is forgotten or superseded is shown on request."""
    catalogue = catalogue_of(
        _memory("a", raw='The Database is "PostgreSQL"'), _memory("b", tags=("database",)), _memory("c", kind="decision"),
        _memory("d", active=False), _memory("e", superseded_by="mem_c"),
    )  # fmt: skip
    words = {"database": "ab", "#database": "b", "database postgres": "a", "decision": "c", "notes/b": "b", "": "abc"}
    words |= {'"postgresql"': "a", "relevance": ""}
    found = {text: "".join(_names(catalogue.matching(text.split(), everything=False))) for text in words}
    assert found == words
    assert _names(catalogue.matching([], everything=True)) == list("abcde")


def test_the_scope_is_path_kinds_and_tags(catalogue_of: Callable[..., PathCatalogue]) -> None:
    memories = (_memory("a", tags=("x", "y")), _memory("b", tags=("x",)), _memory("c", path="other/c", tags=("x", "y")))
    catalogue = catalogue_of(*memories, scope=CatalogueFilter("notes", ("fact", "log"), ("x", "y")))
    assert _names(catalogue.listed) == ["a"]
    assert catalogue.find("mem_c") is not None


def test_links_are_seen_from_both_ends_and_once(catalogue_of: Callable[..., PathCatalogue]) -> None:
    old = _memory("old", superseded_by="mem_new")
    new = _memory("new", links=({"to": "mem_old", "relation": "supersedes"}, {"to": "mem_x", "relation": "depends_on"}))
    damaged = _memory("a", links=(5, "x", {"to": "mem_b"}, {"to": "mem_b", "relation": "relates_to"}))
    catalogue = catalogue_of(old, new, damaged, _memory("b"))
    assert catalogue.links(damaged) == [MemoryLink("relates_to", "mem_b")]
    assert catalogue.links(_memory("b")) == [MemoryLink("relates_to", "mem_a", is_out=False)]
    assert catalogue.links(old) == [MemoryLink("superseded by", "mem_new")]
    assert catalogue.links(new) == [MemoryLink("supersedes", "mem_old"), MemoryLink("depends_on", "mem_x")]


def test_rows_have_no_secret_of_an_edit_by_hand(catalogue_of: Callable[..., PathCatalogue]) -> None:
    token = "ghp_" + "q8Zt7LmW2xVb4Nc9Rk1Ty6Uo3Pa5Sd0FgHjK"
    catalogue = catalogue_of(_memory("a", path=f"fold/{token}/leaf"), _memory("b", kind=token), _memory("c"))
    shown = [(one.path, one.kind) for one in catalogue.listed]
    assert not any(token in part for row in shown for part in row)
    assert [kind for _, kind in shown] == ["fact", "[REDACTED:github_token]", "fact"]


def test_what_is_typed_becomes_tags_to_add_and_to_take_away() -> None:
    changes: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
        "auth web": ((), ()), "auth": ((), ("web",)), "auth web New_Tag": (("new-tag",), ()), "#auth, #web": ((), ()),
        "": ((), ("auth", "web")), "AUTH web": ((), ()), "web ops ops": (("ops",), ("auth",)),
    }  # fmt: skip
    assert {typed: tag_change({"auth": "auth", "web": "web"}, typed) for typed in changes} == changes
    with pytest.raises(UsageError, match="not a tag"):
        tag_change({}, "good !!!")
    assert not any(tag_change({"a-b": "a\x1b[5m b"}, "a-b")), "a tag that is shown otherwise than stored stays"


def test_opening_reads_no_memory(workspace: Workspace) -> None:
    """No memory in the file can be decoded, which nobody sees before one is shown; then it is a warning."""
    put(workspace, *(memory(f"group{n % 3}/{n:03}", raw=f"number-{n}") for n in range(300)))
    with opened(workspace):
        pass
    path = Path(workspace.root, "spaces", "main.json")
    before = path.stat()
    with path.open("r+b") as file:  # in place, and as long: the index has no reason to read it again
        data = file.read()
        file.seek(0)
        file.write(data.replace(b'"raw": "', b'"raw": x'))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    warnings: list[str] = []
    catalogue = PathCatalogue(workspace.copy_with(warn=warnings.append), CatalogueFilter())
    view = BrowseView(catalogue, CatalogueFilter())
    assert [(row.name, row.note) for row in view.rows()] == [(f"group{n}", "100") for n in range(3)]
    assert (summary(view), warnings) == ("300 memories, 0 pinned", [])
    assert (catalogue.find("mem_group0_000"), len(warnings)) == (None, 1)
    view.filter("number")
    assert (view.found, len(warnings)) == (0, 2)


# The tree


def _listed(paths: Sequence[str]) -> list[Listed]:
    return [Listed(path, path, "fact", False, False) for path in sorted(paths, key=tree_key)]


def _lines(paths: list[str], folds: Folds | None = None) -> list[str]:
    rows = outline(_listed(paths), (folds or Folds()).shows)
    return [
        "  " * row.depth + row.name + ("" if row.is_open is None else "/" if row.is_open else "/...") for row in rows
    ]


def test_headings_come_before_what_lies_below_them() -> None:
    assert _lines(["b", "a/y", "a/x", "a"]) == ["a/", "  x", "  y", "b"]


def test_headings_in_a_chain_share_a_row_but_a_memory_has_its_own() -> None:
    assert _lines(["a/b/c/x", "a/b/c/y"]) == ["a/b/c/", "  x", "  y"]
    assert _lines(["a/b/x"]) == ["a/b/", "  x"]
    assert _lines(["a", "a/b/x"]) == ["a/", "  b/", "    x"]
    assert _lines(["a/b", "a/b/x", "a/b-x"]) == ["a/", "  b/", "    x", "  b-x"]


def test_a_closed_heading_hides_what_lies_below() -> None:
    folds = Folds(is_open=False)
    assert _lines(["a/b/x", "a/c/y", "d"], folds) == ["a/...", "d"]
    folds.reveal("a/b/x")
    assert _lines(["a/b/x", "a/c/y", "d"], folds) == ["a/", "  b/", "    x", "  c/...", "d"]
    folds.toggle("a")
    assert _lines(["a/b/x", "a/c/y", "d"], folds) == ["a/...", "d"]


def test_a_path_of_ten_thousand_segments_is_no_trouble() -> None:
    deep = "/".join("a" * 10_000)
    heading, own = outline(_listed([deep]), Folds().shows)
    assert [one.path for one in heading.below] == [own.path] == [deep]


# The history of a memory

NOW = Memory(id="mem_a", path="a/b", kind="fact", raw="three", created_at=T, updated_at=T)


class Past:
    """A history: commits newest first, each with its parents and what the file of a name held."""

    def __init__(self, *commits: tuple[str, str, str, str | None], renamed: dict[str, tuple[str, str]] | None = None):
        self.all = [HistoryCommit(name, tuple(parents.split()), "Ada", T, name) for name, parents, _, _ in commits]
        self.files = {name: file for name, _, file, _ in commits}
        self.held = {name: text for name, _, _, text in commits}
        self.moves = renamed or {}

    @property
    def repository(self) -> object:
        return self

    def resolve(self, revision: str) -> str:
        return self.all[0].hash

    def commits(self, start: str, name: str) -> list[HistoryCommit]:
        return [commit for commit in self.all if self.files[commit.hash] == name]

    def renamed_from(self, commit: str, name: str) -> tuple[str, str] | None:
        return self.moves.get(commit)

    @contextmanager
    def reading(self) -> Iterator[Callable[[str, str], bytes | None]]:
        yield self._read

    def _read(self, commit: str, name: str) -> bytes | None:
        text = self.held[commit]
        if text is None or self.files[commit] != name:
            return None
        if text == "broken":
            return b'{"id": "mem_a"'
        return encode_space(Space("main", objects=(replace(NOW, raw=text),) if text else ()))


@pytest.mark.parametrize(
    ("past", "versions"),
    [
        (Past(("c", "b", "main.json", "three"), ("b", "a", "main.json", "two"), ("a", "", "main.json", "two")), ["c changed", "a added"]),
        (Past(("b", "a", "main.json", "two"), ("a", "", "main.json", "")), ["- changed", "b added"]),
        (Past(("m", "l r", "main.json", "three"), ("l", "a", "main.json", "three"), ("r", "a", "main.json", "two"), ("a", "", "main.json", "two")), ["l changed", "a added"]),
        (Past(("c", "b", "main.json", "three"), ("b", "a", "main.json", ""), ("a", "", "main.json", "three")), ["c added", "b removed", "a added"]),
        (Past(("c", "b", "main.json", "three"), ("b", "", "main.json", "broken")), ["c added"]),
        (
            Past(("b", "", "main.json", "three"), ("a", "", "old.json", "two"), renamed={"b": ("old.json", "a")}),
            ["b changed", "a added"],
        ),
    ],
)  # fmt: skip
def test_versions(past: Past, versions: list[str]) -> None:
    found, _ = read_versions(past, NOW, "main.json")
    assert [f"{commit.hash if commit else '-'} {change.status}" for commit, change in found] == versions


def test_only_so_many_commits_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "MAX_COMMITS", 2)
    past = Past(("c", "b", "main.json", "three"), ("b", "a", "main.json", "two"), ("a", "", "main.json", "one"))
    found, is_cut = read_versions(past, NOW, "main.json")
    assert ([commit.subject for commit, _ in found if commit], is_cut) == (["c", "b"], True)


def test_lines_are_aligned() -> None:
    cases: tuple[tuple[str, str, list[tuple[str | None, str | None]]], ...] = (
        ("", "", []),
        ("a b|c", "c", [("a b", None), ("c", "c")]),
        ("one two three", "one two four", [("one two three", "one two four")]),
        ("red green|blue", "x y|red grey green", [(None, "x y"), ("red green", "red grey green"), ("blue", None)]),
        ("a|b", "c|d", [("a", None), ("b", None), (None, "c"), (None, "d")]),
    )
    for before, after, pairs in cases:
        assert align(before.split("|") if before else [], after.split("|") if after else []) == pairs


# Questions in the background


def test_a_question_is_given_up_and_the_next_one_answered(workspace: Workspace) -> None:
    recaller, heard = Recaller(), []
    put(workspace, *(memory(f"a/{n}", raw=f"This is number {n}.") for n in range(500)))
    options, environ = {"root": workspace.root}, {"MEMCLI_EMBEDDER": "hashed"}
    workspace = open_workspace(options, environ, warn=recaller.warn, progress=recaller.progress)

    def hear(text: str) -> None:
        heard.append(text)
        recaller.stop()

    async def scene() -> None:
        recaller.on_progress = hear
        assert await recaller.recall(workspace, Query(topic="number 7", now=T)) is None
        recaller.on_progress = heard.append
        bundle = await recaller.recall(workspace, Query(topic="number 7", now=T))
        assert bundle is not None
        assert bundle.sections[0].memory.id == "mem_a_7"

    asyncio.run(scene())
    recaller.close()
    assert (heard[0][:10], heard[0][-30:]) == ("embedding ", " of 500 for the first question")


def test_progress_raises_once_it_is_to_stop() -> None:
    recaller = Recaller()
    recaller.progress(1, 2)
    recaller.close()
    with pytest.raises(CancelledError):
        recaller.progress(2, 2)
