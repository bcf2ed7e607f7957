"""The windows of the browser: history, comparison, inbox, the form for a new memory, help."""

import subprocess
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.widgets import OptionList

from memcli.app.edit import edit
from memcli.app.inbox import propose, waiting
from memcli.app.recall import recall
from memcli.app.remember import prepare
from memcli.app.workspace import Workspace, load
from memcli.extras.tui.app import Browser
from memcli.extras.tui.dialog import AddForm, Lines, help_text
from memcli.extras.tui.keys import SECTIONS
from memcli.extras.tui.main_screen import MainScreen
from memcli.extras.tui.view import Filter, Rows
from memcli.extras.tui.windows import Comparison, Inbox, Past, one_above_other, side_by_side
from memcli.model.recall import Query
from tests.extras.tui.stage import Fake, T, few, memory, opened, put, stored

pytestmark = pytest.mark.anyio


# Help


def test_the_help_names_every_key_that_is_bound(workspace: Workspace) -> None:
    text = help_text().plain
    listed = {name for _, keys in SECTIONS for key in keys for name in key.keys.split(",")}
    for owner in (Browser, MainScreen, Rows, Filter, Past, Comparison, Inbox, AddForm, Lines):
        for binding in owner.BINDINGS:
            assert set(binding.key.split(",")) <= listed, (owner, binding)  # type: ignore[union-attr]
    for _, keys in SECTIONS:
        assert all(key.text in text for key in keys)
    assert "1 - 9" in text
    assert max(map(len, text.splitlines())) <= 74, "it fits on eighty columns"


@pytest.mark.slow
async def test_the_help_opens_from_a_window(workspace: Workspace) -> None:
    async with opened(few(workspace)) as ui:
        await ui.play(("i question_mark", "top: Help"), ("G escape", "top: Inbox"))


# History


def git(folder: Path, *words: str) -> None:
    author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *author, *words], check=True, capture_output=True)


def commit(folder: Path, subject: str) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", subject, "--date", "2026-01-02T03:04:05Z")


async def test_the_history_shows_commits_and_the_audit_log(workspace: Workspace, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    browser = few(workspace)
    commit(tmp_path, "Say how passwords are hashed")
    edit(workspace, "auth/passwords", {"raw": "Hash with scrypt."})
    commit(tmp_path, "Hash with scrypt")
    edit(workspace, "auth/tokens", {"raw": "Elsewhere."})
    commit(tmp_path, "Something else")
    edit(workspace, "auth/passwords", {"raw": "Hash with bcrypt."})
    async with opened(browser) as ui:
        await ui.play(
            ("r H", "top: Past", "!Something else", "audit                 memcli: update", "[-scrypt-]{+bcrypt+}"),
            ("j", "[-argon2id-]{+scrypt+}"), ("enter", "top: Comparison", "scrypt", "bcrypt"),
            ("escape", "top: Past"), ("G c", "top: Past"),  # an act has no version
        )  # fmt: skip
        starts = ("2 commits, ", "not committed yet", "Hash with scrypt", "Say how passwords")
        lines = ui.window.splitlines()
        assert [start for start, line in zip(starts, lines, strict=False) if start not in line] == []
        await ui.play(("escape", "top: MainScreen"))


# Comparison


async def test_two_memories_are_marked_and_compared(workspace: Workspace) -> None:
    async with opened(few(workspace), (80, 24)) as ui:
        await ui.play(
            ("c", "status: marked auth/passwords; press c on another memory to compare them", "│=     passwords"),
            ("c", "status: no memory is marked"),
            ("c down c", "top: Comparison", "auth/passwords", "auth/tokens", " ≠ "),
            ("v", "- auth/passwords"), ("escape", "!│="),
        )  # fmt: skip


def test_a_sentence_that_is_added_moves_no_other_line() -> None:
    left = memory("a/b", raw="We use 数据库 PostgreSQL. It has a pool of 20. Backups run at night.")
    right = memory("a/b", raw="We use 数据库 PostgreSQL. Ask Ada. It has a pool of 50. Backups run at night.")
    lines = side_by_side(left, right, ("then", "now"), 80).plain.splitlines()
    assert [line[38:41] for line in lines if "数据" not in line and "──" not in line][-3:] == [" > ", " ≠ ", " │ "]
    assert all(line.split("│")[0].rstrip() == line.split("│")[1].strip() for line in lines if "Backups" in line)
    above = one_above_other(left, right, ("then", "now"), 80).plain.splitlines()
    assert above[-5:] == [
        "  We use 数据库 PostgreSQL.", "+ Ask Ada.", "- It has a pool of 20.", "+ It has a pool of 50.",
        "  Backups run at night.",
    ]  # fmt: skip


# Contradictions


async def test_what_contradicts_a_memory_stands_at_its_top_and_is_followed(workspace: Workspace) -> None:
    link = {"relation": "contradicts"}
    put(
        workspace,
        memory(
            "db/pool", raw="The pool holds 20.", links=({**link, "to": "mem_db_size"}, {**link, "to": "mem_db_old"})
        ),
        memory("db/size", raw="The pool holds 50.", links=({**link, "to": "mem_db_pool"},)),
        memory("db/old", raw="The pool holds 5.", superseded_by="mem_db_size"),
    )
    async with opened(Browser(workspace)) as ui:
        block = ui.detail.split("\n\n")[1]
        assert block.splitlines() == ["Contradicted by", " 1  db/size: The pool holds 50."]
        await ui.press("1")
        assert ui.here == "db/size"
        assert ui.detail.count("contradicts") == 1, "a mutual link is told once"


async def test_a_secret_that_a_hand_put_into_the_file_is_not_shown(workspace: Workspace) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    put(workspace, memory("a/b", raw=f"The token is {secret}."), memory("a/c"))
    async with opened(Browser(workspace)) as ui:
        hidden = f"!{secret}"
        await ui.play(("", "The token is", hidden), ("c down c", "The token is", hidden), ("escape up up", hidden))


# Adding


async def test_n_asks_for_kind_path_and_text(workspace: Workspace) -> None:
    few(workspace)
    async with opened(Browser(workspace, editor=Fake().editor)) as ui:
        typed = "n '=We deploy on Mondays.' shift+tab =ops//days shift+tab =decision ctrl+s"
        await ui.play(
            (typed, "top: AddForm", "ops//days"),  # a wrong path keeps the form open
            ("tab ctrl+u =ops/days ctrl+s", "status: created ops/days", "at: ops/days"),
        )
        added = stored(workspace, "ops/days")
        assert (added.kind, added.raw) == ("decision", "We deploy on Mondays.")


@pytest.mark.slow
async def test_what_cannot_be_stored_comes_back_in_the_form(workspace: Workspace) -> None:
    async with opened(Browser(workspace, editor=Fake().editor)) as ui:
        long = "x " * (1 << 19) + "the end"
        await ui.play(
            ("n ctrl+s", "the text is empty"),
            (f"'={long}' ctrl+s", "top: AddForm", "a text of a memory holds at most 1 MiB"),
            ("escape", "top: AddForm"),  # what was typed is not lost by one key
            ("escape", "status: nothing added"),
        )
        assert load(workspace).objects == ()


@pytest.mark.slow
async def test_what_contradicts_is_told_at_once_and_in_the_inbox(workspace: Workspace) -> None:
    put(workspace, memory("db/pool", raw="The connection pool holds 20 connections."))
    propose(workspace, [prepare(workspace, {"raw": "The connection pool holds 70 connections.", "path": "db/more"})])
    list(recall(workspace, [Query(topic="pool", now=T)]))  # which makes the index that the check looks into
    async with opened(Browser(workspace, editor=Fake().editor)) as ui:
        text = "'=The connection pool holds 50 connections.'"
        await ui.play(
            ("i", "contradicts mem_db_pool db/pool ("), (f"escape n {text} ctrl+s", "Contradicted by\n 1  db/pool")
        )
        assert [notice.partition(" (")[0] for notice in ui.notices] == ["contradicts mem_db_pool db/pool"]


# Inbox


def proposed(workspace: Workspace) -> Browser:
    texts = {"ops/backup": "Backups run at night.", "ops/pager": "Ada has the pager.", "ops/wiki": "The wiki is old."}
    propose(workspace, [prepare(workspace, {"raw": text, "path": path}) for path, text in texts.items()])
    return Browser(workspace, editor=Fake({"raw": "Backups run at noon."}).editor)


async def test_proposals_are_accepted_rejected_and_edited(workspace: Workspace) -> None:
    async with opened(proposed(workspace)) as ui:
        await ui.play(
            ("i", "3 memories proposed\nops/backup", "Backups run at night."),
            ("e end '= And at noon.' ctrl+s", "Backups run at night. And at noon."), ("j a",),
        )  # fmt: skip
        assert stored(workspace, "ops/pager").raw == "Ada has the pager."
        assert "pager" in " ".join(ui.names)
        await ui.press("G", "r", "n")
        assert len(waiting(workspace)) == 2
        await ui.press("r", "y")
        assert [m.path for m in waiting(workspace)] == ["ops/backup"]
        # Keys mean nothing in an empty inbox.
        await ui.play(("A y", "The inbox is empty"), ("a r e A", "top: Inbox"), ("escape", "top: MainScreen"))
        assert stored(workspace, "ops/backup").raw == "Backups run at night. And at noon."


@pytest.mark.slow
async def test_a_proposal_that_no_longer_fits_says_so(workspace: Workspace) -> None:
    put(workspace, memory("ops/backup", raw="Old."))
    browser = proposed(workspace)
    edit(workspace, "ops/backup", {"raw": "Changed since."})
    async with opened(browser) as ui:
        await ui.press("i", "a")
        assert ["has changed since" in notice for notice in ui.notices] == [True]
        assert ui.top.query_one(OptionList).option_count == 3


@pytest.mark.slow
@pytest.mark.parametrize("size", [(40, 12), (20, 8)])
async def test_windows_are_drawn_on_narrow_screens(workspace: Workspace, size: tuple[int, int]) -> None:
    put(workspace, memory("a/b"), memory("a/c", raw="数据库" * 30))
    async with opened(proposed(workspace), size) as ui:
        for keys in ("i", "H", "n", "question_mark", "home down c down c"):
            await ui.play((keys, "!top: MainScreen"))
            assert {cell_len(line) for line in ui.lines} == {size[0]}
            await ui.press("escape")


# Links


def tied(workspace: Workspace) -> Browser:
    """A chain of links, one of them into another space."""

    def link(to: str, relation: str) -> dict[str, str]:
        return {"to": to, "relation": relation}

    put(
        workspace,
        memory("a/start", links=(link("mem_b_next", "depends_on"), link("notes:mem_n_study", "derived_from"))),
        memory("b/next", links=(link("mem_c_far", "relates_to"),)),
        memory("c/far", kind="decision", pinned=True),
        memory("d/alone"),
        memory("e/before", links=(link("mem_a_start", "supersedes"),)),
    )
    put(workspace.copy_with(space="notes"), memory("n/study", raw="A comparison of engines."))
    return Browser(workspace)


async def test_the_neighbourhood_of_a_memory(workspace: Workspace) -> None:
    async with opened(tied(workspace)) as ui:
        assert "notes:mem_n_study" in ui.detail
        near = "-> depends on  b/next  fact"
        others = "\n-> derived from  notes:n/study  fact\n<- supersedes  e/before  fact\n"
        await ui.play(
            ("L", "top: Neighbours", f"\n3 memories 1 step away; there are more beyond\n{near}{others}"),
            ("plus", f"\n4 memories up to 2 steps away\n{near}\n  <> relates to  c/far [*]  decision\n"),
            ("minus minus l j", "Text of c/far."), ("enter", "top: MainScreen", "at: c/far"), ("b", "at: a/start"),
        )  # fmt: skip


@pytest.mark.slow
async def test_a_link_into_another_space_is_followed(workspace: Workspace) -> None:
    async with opened(tied(workspace)) as ui:
        await ui.play(("L j", "A comparison of engines."), ("enter", "at: n/study"))
        for keys, space in (("", "notes"), ("s enter s home enter", "main"), ("home down 2", "notes")):
            await ui.play((keys,))
            assert ui.desk.workspace.space == space


@pytest.mark.slow
async def test_a_memory_without_links_says_so(workspace: Workspace) -> None:
    """Also where a hand has written wrong ones."""
    links = (7, {"to": 5}, {"to": "gone:mem_x", "relation": "relates_to"})
    put(workspace, memory("a/b", links=links), memory("d/alone"))
    async with opened(Browser(workspace)) as ui:
        none = "No link leads to this memory or from it."
        await ui.play(("L", none), ("escape down down L", none), ("enter plus j", "top: Neighbours"))
