"""The windows of the browser: history, comparison, inbox, the form for a new memory, help."""

import subprocess
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot
from textual.widgets import OptionList

from memcli.app.edit import edit
from memcli.app.inbox import propose, waiting
from memcli.app.recall import recall
from memcli.app.remember import prepare
from memcli.app.workspace import Workspace, load
from memcli.extras.tui.app import Browser
from memcli.extras.tui.dialog import AddForm, Help, Lines, ListWindow, help_text
from memcli.extras.tui.keys import SECTIONS
from memcli.extras.tui.main_screen import MainScreen
from memcli.extras.tui.view import Filter, Rows
from memcli.extras.tui.windows import Comparison, Inbox, Neighbours, Past, one_above_other, side_by_side
from memcli.model.recall import Query
from memcli.present.changes import align
from tests.extras.tui.stage import (
    Fake,
    T,
    detail,
    enter,
    few,
    here,
    memory,
    names,
    opened,
    press,
    put,
    screen,
    settle,
    shown,
    status,
    stored,
)  # fmt: skip

pytestmark = pytest.mark.anyio


def window(pilot: Pilot[None]) -> str:
    """The text of the window on top."""
    top = pilot.app.screen
    assert isinstance(top, ListWindow | Comparison), top
    return top.text


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
    async with opened(few(workspace)) as (pilot, _):
        await press(pilot, "i")
        await settle(pilot)
        await press(pilot, "question_mark")
        assert isinstance(pilot.app.screen, Help)
        await press(pilot, "G", "escape")
        assert isinstance(pilot.app.screen, Inbox)


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
    async with opened(browser) as (pilot, desk):
        await press(pilot, "r")
        await settle(pilot)
        await press(pilot, "H")
        await settle(pilot)
        text = window(pilot)
        assert isinstance(pilot.app.screen, Past)
        starts = ("2 commits, ", "not committed yet", "Hash with scrypt", "Say how passwords")
        assert [start for start, line in zip(starts, text.splitlines(), strict=False) if start not in line] == []
        assert "Something else" not in text
        assert "audit                 memcli: update" in text
        assert "[-scrypt-]{+bcrypt+}" in text
        await press(pilot, "j")
        assert "[-argon2id-]{+scrypt+}" in window(pilot)
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, Comparison)
        assert "scrypt" in window(pilot)
        assert "bcrypt" in window(pilot)
        await press(pilot, "escape", "G", "c")
        assert isinstance(pilot.app.screen, Past), "an act has no version"
        await press(pilot, "escape")
        assert pilot.app.screen is desk


# Comparison


async def test_two_memories_are_marked_and_compared(workspace: Workspace) -> None:
    async with opened(few(workspace), (80, 24)) as (pilot, desk):
        await press(pilot, "c")
        assert status(desk) == "marked auth/passwords; press c on another memory to compare them"
        assert any(line.startswith("│=") and "passwords" in line for line in screen(desk))
        await press(pilot, "c")
        assert status(desk) == "no memory is marked"
        await press(pilot, "c", "down", "c")
        assert isinstance(pilot.app.screen, Comparison)
        text = shown(pilot)
        assert "auth/passwords" in text
        assert "auth/tokens" in text
        assert " ≠ " in text
        await press(pilot, "v")
        assert "- auth/passwords" in shown(pilot)
        await press(pilot, "escape")
        assert not any("=" in line[:4] for line in screen(desk))


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
    async with opened(Browser(workspace)) as (pilot, desk):
        block = detail(desk).split("\n\n")[1]
        assert block.splitlines() == ["Contradicted by", " 1  db/size: The pool holds 50."]
        await press(pilot, "1")
        assert here(desk) == "db/size"
        assert detail(desk).count("contradicts") == 1, "a mutual link is told once"


async def test_a_secret_that_a_hand_put_into_the_file_is_not_shown(workspace: Workspace) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    put(workspace, memory("a/b", raw=f"The token is {secret}."), memory("a/c"))
    async with opened(Browser(workspace)) as (pilot, desk):
        assert "The token is" in detail(desk)
        assert secret not in detail(desk)
        await press(pilot, "c", "down", "c")
        assert "The token is" in window(pilot)
        assert secret not in window(pilot)
        await press(pilot, "escape", "up", "up")
        assert secret not in detail(desk)


# Adding


async def test_n_asks_for_kind_path_and_text(workspace: Workspace) -> None:
    few(workspace)
    async with opened(Browser(workspace, editor=Fake().editor)) as (pilot, desk):
        await press(pilot, "n")
        await enter(pilot, "We deploy on Mondays.")
        await press(pilot, "shift+tab")
        await enter(pilot, "ops//days")
        await press(pilot, "shift+tab")
        await enter(pilot, "decision")
        await press(pilot, "ctrl+s")
        assert isinstance(pilot.app.screen, AddForm), "a wrong path keeps the form open"
        assert "ops//days" in shown(pilot)
        await press(pilot, "tab", "ctrl+u")
        await enter(pilot, "ops/days")
        await press(pilot, "ctrl+s")
        await settle(pilot)
        added = stored(workspace, "ops/days")
        assert (added.kind, added.raw) == ("decision", "We deploy on Mondays.")
        assert status(desk) == "created ops/days"
        assert desk.memory == added


@pytest.mark.slow
async def test_what_cannot_be_stored_comes_back_in_the_form(workspace: Workspace) -> None:
    async with opened(Browser(workspace, editor=Fake().editor)) as (pilot, desk):
        await press(pilot, "n", "ctrl+s")
        assert "the text is empty" in shown(pilot)
        await enter(pilot, "x " * (1 << 19) + "the end")
        await press(pilot, "ctrl+s")
        await settle(pilot)
        assert isinstance(pilot.app.screen, AddForm)
        assert "a text of a memory holds at most 1 MiB" in shown(pilot)
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, AddForm), "what was typed is not lost by one key"
        await press(pilot, "escape")
        assert status(desk) == "nothing added"
        assert load(workspace).objects == ()


@pytest.mark.slow
async def test_what_contradicts_is_told_at_once_and_in_the_inbox(workspace: Workspace) -> None:
    put(workspace, memory("db/pool", raw="The connection pool holds 20 connections."))
    propose(workspace, [prepare(workspace, {"raw": "The connection pool holds 70 connections.", "path": "db/more"})])
    list(recall(workspace, [Query(topic="pool", now=T)]))  # which makes the index that the check looks into
    async with opened(Browser(workspace, editor=Fake().editor)) as (pilot, desk):
        await press(pilot, "i")
        await settle(pilot)
        assert "contradicts mem_db_pool db/pool (" in window(pilot)
        await press(pilot, "escape", "n")
        await enter(pilot, "The connection pool holds 50 connections.")
        await press(pilot, "ctrl+s")
        await settle(pilot)
        notices = [notice.message.partition(" (")[0] for notice in pilot.app._notifications]
        assert notices == ["contradicts mem_db_pool db/pool"]
        assert "Contradicted by\n 1  db/pool" in detail(desk)


# Inbox


def proposed(workspace: Workspace) -> Browser:
    texts = {"ops/backup": "Backups run at night.", "ops/pager": "Ada has the pager.", "ops/wiki": "The wiki is old."}
    propose(workspace, [prepare(workspace, {"raw": text, "path": path}) for path, text in texts.items()])
    return Browser(workspace, editor=Fake({"raw": "Backups run at noon."}).editor)


async def test_proposals_are_accepted_rejected_and_edited(workspace: Workspace) -> None:
    async with opened(proposed(workspace)) as (pilot, desk):
        await press(pilot, "i")
        await settle(pilot)
        assert window(pilot).startswith("3 memories proposed\nops/backup")
        assert "Backups run at night." in window(pilot)
        await press(pilot, "e")
        await press(pilot, "end")
        await enter(pilot, " And at noon.")
        await press(pilot, "ctrl+s")
        await settle(pilot)
        assert "Backups run at night. And at noon." in window(pilot)
        await press(pilot, "j", "a")
        await settle(pilot)
        assert stored(workspace, "ops/pager").raw == "Ada has the pager."
        assert "ops/pager" in names(desk) or "pager" in names(desk)
        await press(pilot, "G", "r", "n")
        assert len(waiting(workspace)) == 2
        await press(pilot, "r", "y")
        await settle(pilot)
        assert [m.path for m in waiting(workspace)] == ["ops/backup"]
        await press(pilot, "A", "y")
        await settle(pilot)
        assert stored(workspace, "ops/backup").raw == "Backups run at night. And at noon."
        assert "The inbox is empty" in window(pilot)
        await press(pilot, "a", "r", "e", "A")
        assert isinstance(pilot.app.screen, Inbox), "keys mean nothing in an empty inbox"
        await press(pilot, "escape")
        assert pilot.app.screen is desk


@pytest.mark.slow
async def test_a_proposal_that_no_longer_fits_says_so(workspace: Workspace) -> None:
    put(workspace, memory("ops/backup", raw="Old."))
    browser = proposed(workspace)
    edit(workspace, "ops/backup", {"raw": "Changed since."})
    async with opened(browser) as (pilot, _):
        await press(pilot, "i")
        await settle(pilot)
        await press(pilot, "a")
        await settle(pilot)
        assert ["has changed since" in notice.message for notice in pilot.app._notifications] == [True]
        assert pilot.app.screen.query_one(OptionList).option_count == 3


@pytest.mark.slow
@pytest.mark.parametrize("size", [(40, 12), (20, 8)])
async def test_windows_are_drawn_on_narrow_screens(workspace: Workspace, size: tuple[int, int]) -> None:
    put(workspace, memory("a/b"), memory("a/c", raw="数据库" * 30))
    async with opened(proposed(workspace), size) as (pilot, desk):
        for keys in (["i"], ["H"], ["n"], ["question_mark"], ["home", "down", "c", "down", "c"]):
            await press(pilot, *keys)
            await settle(pilot)
            assert pilot.app.screen is not desk, keys
            assert {cell_len(line) for line in shown(pilot).splitlines()} == {size[0]}
            await press(pilot, "escape")


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
    async with opened(tied(workspace)) as (pilot, desk):
        assert "notes:mem_n_study" in detail(desk)
        await press(pilot, "L")
        await settle(pilot)
        assert isinstance(pilot.app.screen, Neighbours)
        assert window(pilot).splitlines()[:4] == [
            "3 memories 1 step away; there are more beyond",
            "-> depends on  b/next  fact",
            "-> derived from  notes:n/study  fact",
            "<- supersedes  e/before  fact",
        ]
        await press(pilot, "plus")
        assert window(pilot).splitlines()[:3] == [
            "4 memories up to 2 steps away",
            "-> depends on  b/next  fact",
            "  <> relates to  c/far [*]  decision",
        ]
        await press(pilot, "minus", "minus", "l", "j")
        assert "Text of c/far." in window(pilot)
        await press(pilot, "enter")
        assert pilot.app.screen is desk
        assert here(desk) == "c/far"
        await press(pilot, "b")
        assert here(desk) == "a/start"


@pytest.mark.slow
async def test_a_link_into_another_space_is_followed(workspace: Workspace) -> None:
    async with opened(tied(workspace)) as (pilot, desk):
        await press(pilot, "L")
        await settle(pilot)
        await press(pilot, "j")
        assert "A comparison of engines." in window(pilot)
        await press(pilot, "enter")
        assert desk.workspace.space == "notes"
        assert here(desk) == "n/study"
        await press(pilot, "s", "enter")
        await press(pilot, "s", "home", "enter")
        assert desk.workspace.space == "main"
        await press(pilot, "home", "down", "2")
        assert desk.workspace.space == "notes"


@pytest.mark.slow
async def test_a_memory_without_links_says_so(workspace: Workspace) -> None:
    """Also where a hand has written wrong ones."""
    put(
        workspace,
        memory("a/b", links=(7, {"to": 5}, {"to": "gone:mem_x", "relation": "relates_to"})),
        memory("d/alone"),
    )
    async with opened(Browser(workspace)) as (pilot, _):
        for keys in (("L",), ("escape", "down", "down", "L")):
            await press(pilot, *keys)
            await settle(pilot)
            assert window(pilot).startswith("No link leads to this memory or from it.")
        await press(pilot, "enter", "plus", "j")
        assert isinstance(pilot.app.screen, Neighbours)
