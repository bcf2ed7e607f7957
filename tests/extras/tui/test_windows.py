"""The windows of the browser: history, comparison, inbox, the form for a new memory, help."""

from pathlib import Path

import pytest
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
from tests.cli.conftest import git
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


# History


def commit(folder: Path, subject: str) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", subject)


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
        await ui.press("r")
        await ui.until(lambda: "Hash with bcrypt." in "\n".join(ui.lines))
        await ui.play(
            ("H", "top: Past", "!Something else", "audit                 memcli: update", "[-scrypt-]{+bcrypt+}"),
            ("j", "[-argon2id-]{+scrypt+}"), ("enter", "top: Comparison", "scrypt", "bcrypt"),
            ("escape", "top: Past"), ("G c", "top: Past"),  # an act has no version
        )  # fmt: skip
        starts = ("2 commits, ", "not committed yet", "Hash with scrypt", "Say how passwords")
        lines = ui.window.splitlines()
        assert [start for start, line in zip(starts, lines, strict=False) if start not in line] == []
        await ui.play(("escape", "top: MainScreen"))


# Comparison


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
        await ui.play(("n ctrl+s", "the text is empty"))
        await ui.press(f"={'x ' * (1 << 19)}the end", "ctrl+s")
        await ui.play(
            ("", "top: AddForm", "a text of a memory holds at most 1 MiB"),
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
