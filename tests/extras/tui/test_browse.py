"""The browser, driven as a user drives it: with keys, on a store of its own."""

import json
import os
from pathlib import Path

import pytest
from textual.drivers.headless_driver import HeadlessDriver
from textual.pilot import Pilot

from memcli.app.edit import edit
from memcli.app.workspace import Workspace, load
from memcli.errors import NotFoundError, ProviderError, UsageError
from memcli.extras.tui.app import Browser
from memcli.extras.tui.changes import EditAgain
from memcli.extras.tui.dialog import Help
from memcli.extras.tui.status import summary
from memcli.extras.tui.view import Filter, Rows, fit
from memcli.model.catalogue import CatalogueFilter
from memcli.model.memory import Memory
from memcli.record import replace
from tests.extras.tui.stage import (
    Fake,
    FakeDraft,
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
    until,
)  # fmt: skip

pytestmark = pytest.mark.anyio

# Reading


async def test_it_opens_with_the_tree_and_the_first_memory(workspace: Workspace) -> None:
    few(workspace)
    browser = Browser(workspace, editor=Fake().editor)
    async with opened(browser, (80, 24)) as (pilot, desk):
        assert names(desk) == ["auth", "passwords", "tokens", "ops", "deploy"]
        assert "Hash with argon2id." in detail(desk)
        assert status(desk) == "3 memories, 1 pinned"
        assert any(line.startswith("│*     tokens") and "decision" in line for line in screen(desk))
        footer = "/ filter  n new  p pin  t tags  e edit  f forget  i inbox  ? help  q quit"
        assert footer in screen(desk)[-1], "it fits on eighty columns"
        await press(pilot, "y", "down")
        assert pilot.app.clipboard == "mem_auth_passwords"
        parts = ("auth/tokens", "mem_auth_tokens", "decision", "pinned", "#security", "rotate", "2026-01-01")
        assert [part for part in parts if part not in detail(desk)] == []
        await press(pilot, "question_mark")
        assert isinstance(pilot.app.screen, Help)
        await press(pilot, "escape")
        assert pilot.app.screen is desk
        await press(pilot, "q")
    assert browser.return_code == 0


@pytest.mark.slow
async def test_a_heading_shows_what_lies_below_and_closes(workspace: Workspace) -> None:
    async with opened(few(workspace)) as (pilot, desk):
        await press(pilot, "up")
        assert detail(desk).startswith("auth/\n2 memories: fact 1, decision 1")
        await press(pilot, "left")
        assert names(desk) == ["auth", "ops", "deploy"]
        await press(pilot, "enter", "down", "down", "left")
        assert names(desk) == ["auth", "passwords", "tokens", "ops", "deploy"]
        assert desk.query_one(Rows).current.path == "auth"  # type: ignore[union-attr]
        await press(pilot, "x")
        assert names(desk) == ["auth", "ops"]
        await press(pilot, "p", "t", "f", "y")
        assert desk.app.screen is desk, "keys of a memory mean nothing on a heading"


async def test_links_are_followed_and_left_again(workspace: Workspace) -> None:
    async with opened(few(workspace)) as (pilot, desk):
        assert "1  <> relates to  ops/deploy" in detail(desk)
        await press(pilot, "slash", *"argon", "down", "1")
        assert here(desk) == "ops/deploy"
        assert "1  <> relates to  auth/passwords" in detail(desk)
        assert desk.query_one(Filter).value == ""
        await press(pilot, "b")
        assert here(desk) == "auth/passwords"
        await press(pilot, "7")
        assert status(desk) == "link 7 leads outside the memories shown here"


@pytest.mark.slow
async def test_the_mouse_chooses_opens_and_follows(workspace: Workspace) -> None:
    async with opened(few(workspace)) as (pilot, desk):
        await pilot.click(Rows, offset=(10, 3))
        assert here(desk) == "auth/tokens"
        await pilot.click(Rows, offset=(10, 1))
        assert names(desk) == ["auth", "ops", "deploy"]
        await press(pilot, "enter", "down")
        line = next(n for n, text in enumerate(screen(desk)) if "relates to" in text)
        column = screen(desk)[line].index("ops/deploy")
        await pilot.click(offset=(column + 2, line))
        assert here(desk) == "ops/deploy"


# Finding


async def test_the_filter_narrows_as_one_types_and_escape_clears_it(workspace: Workspace) -> None:
    async with opened(few(workspace)) as (pilot, desk):
        await press(pilot, "slash")
        await press(pilot, *"rotate")
        assert names(desk) == ["auth", "tokens"]
        assert status(desk).startswith("1 of 3 memories")
        await press(pilot, "space")
        await enter(pilot, "zzz")
        assert names(desk) == []
        assert any("No memory contains" in line for line in screen(desk))
        await press(pilot, "escape")
        assert len(names(desk)) == 5
        assert desk.query_one(Filter).value == ""
        assert desk.query_one(Rows).has_focus


async def test_enter_asks_and_shows_the_answers_in_order(workspace: Workspace) -> None:
    async with opened(few(workspace)) as (pilot, desk):
        await press(pilot, "slash")
        await enter(pilot, "deploy make")
        await press(pilot, "enter")
        await settle(pilot)
        assert names(desk) == ["ops/deploy", "auth/passwords", "auth/tokens"], "what matches, is linked, is pinned"
        assert any(line.startswith("╭─ answers") for line in screen(desk))
        assert status(desk) == "2 found, best first, and 1 pinned; Esc returns to the tree"
        assert desk.view.answer
        desk.view.answer = replace(desk.view.answer, confidence=0.3)
        assert summary(desk.view) == "2 found, weak evidence, and 1 pinned; Esc returns to the tree"
        assert "score " in detail(desk), "the cursor is on the best that matches"
        await press(pilot, "escape")
        assert "deploy" in names(desk)
        assert here(desk) == "ops/deploy"
        await press(pilot, "slash")
        await enter(pilot, "xylophone")
        await press(pilot, "enter")
        await settle(pilot)
        assert desk.view.answer is not None
        assert desk.view.answer.query.topic == "xylophone"


@pytest.mark.slow
async def test_an_empty_space_says_how_to_begin(workspace: Workspace) -> None:
    async with opened(Browser(workspace)) as (pilot, desk):
        assert any("No memories yet." in line for line in screen(desk))
        await press(pilot, *"down up end enter left right p t f e u y x a 1 b slash".split())
        await enter(pilot, "word")
        await press(pilot, "enter")
        await settle(pilot)
        assert names(desk) == []
        await press(pilot, "escape", "s")
        assert status(desk) == "this store has no spaces yet"


async def test_only_what_was_asked_for_is_browsed(workspace: Workspace) -> None:
    few(workspace)
    browser = Browser(workspace, CatalogueFilter("auth", ("decision",), ("security",)))
    async with opened(browser, (140, 30)) as (_pilot, desk):
        assert names(desk) == ["auth", "tokens"]
        assert any(line.startswith("╭─ main · auth/ · kind decision · #security") for line in screen(desk))
    with pytest.raises(NotFoundError, match="nothing at 'nope'"):
        Browser(workspace, CatalogueFilter("nope"))


async def test_another_space_can_be_opened(workspace: Workspace) -> None:
    put(workspace.copy_with(space="other"), memory("x/y"))
    async with opened(few(workspace)) as (pilot, desk):
        await press(pilot, "slash")
        await enter(pilot, "rotate")
        await press(pilot, "escape", "s")
        await press(pilot, "down", "enter")
        assert desk.workspace.space == "other"
        assert names(desk) == ["x", "y"]


@pytest.mark.slow
@pytest.mark.parametrize("size", [(58, 20), (20, 8)])
async def test_narrow_screens_are_drawn(workspace: Workspace, size: tuple[int, int]) -> None:
    async with opened(few(workspace), size) as (pilot, desk):
        await press(pilot, "down", "question_mark", "escape", "t", "escape", "f", "escape")
        lines = screen(desk)
        assert len(lines) == size[1]
        assert all(len(line) == size[0] for line in lines)


# Changing


async def test_pin_is_written(workspace: Workspace) -> None:
    async with opened(few(workspace)) as (pilot, desk):
        await press(pilot, "p")
        await settle(pilot)
        assert stored(workspace, "auth/passwords").pinned
        assert status(desk) == "pinned auth/passwords"
        assert "pinned" in detail(desk)
        await press(pilot, "p")
        await settle(pilot)
        assert not stored(workspace, "auth/passwords").pinned


async def test_forget_asks_first_and_u_brings_back(workspace: Workspace) -> None:
    async with opened(few(workspace)) as (pilot, desk):
        await press(pilot, "f", "n")
        await settle(pilot)
        assert stored(workspace, "auth/passwords").active
        await press(pilot, "f", "y")
        await settle(pilot)
        assert not stored(workspace, "auth/passwords").active
        assert names(desk) == ["auth", "tokens", "ops", "deploy"]
        assert status(desk) == "forgot auth/passwords; press u to undo"
        await press(pilot, "u")
        await settle(pilot)
        assert stored(workspace, "auth/passwords").active
        assert here(desk) == "auth/passwords"


@pytest.mark.slow
async def test_what_was_forgotten_before_is_shown_with_its_mark_and_brought_back(workspace: Workspace) -> None:
    put(workspace, memory("a/new"), memory("a/old", active=False))
    async with opened(Browser(workspace)) as (pilot, desk):
        assert status(desk) == "1 memory, 0 pinned; 1 forgotten or superseded hidden, a shows them"
        await press(pilot, "a")
        assert any(line.startswith("│-     old") for line in screen(desk))
        await press(pilot, "home", "down", "down", "u")
        await settle(pilot)
        assert stored(workspace, "a/old").active


async def test_tags_are_edited(workspace: Workspace) -> None:
    async with opened(few(workspace)) as (pilot, desk):
        await press(pilot, "down", "t")
        await enter(pilot, " !!!")
        await press(pilot, "enter")
        assert pilot.app.screen is not desk, "a word that can be no tag keeps the dialog open"
        await press(pilot, "ctrl+u", *"crypto", "enter")
        await settle(pilot)
        assert stored(workspace, "auth/tokens").tags == ("crypto",)
        assert status(desk) == "tags of auth/tokens: +crypto -security"


@pytest.fixture
def suspensions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Lets the headless driver make room for a program, and lists how often the screen went and came."""
    seen: list[str] = []
    monkeypatch.setattr(HeadlessDriver, "can_suspend", property(lambda _: True), raising=False)
    monkeypatch.setattr(HeadlessDriver, "suspend_application_mode", lambda _: seen.append("gone"), raising=False)
    monkeypatch.setattr(HeadlessDriver, "resume_application_mode", lambda _: seen.append("back"), raising=False)
    return seen


def notices(pilot: Pilot[None]) -> list[str]:
    return [notice.message for notice in pilot.app._notifications]


@pytest.mark.slow
async def test_without_room_for_an_editor_the_text_is_edited_in_a_field(workspace: Workspace) -> None:
    fake = Fake()
    few(workspace)
    async with opened(Browser(workspace, editor=fake.editor)) as (pilot, desk):
        await press(pilot, "e")
        assert "Hash with argon2id." in shown(pilot)
        await press(pilot, "end")
        await enter(pilot, " Never MD5.")
        await press(pilot, "escape")
        assert "press Esc again to discard" in shown(pilot)
        await press(pilot, "ctrl+s")
        await settle(pilot)
        assert stored(workspace, "auth/passwords").raw == "Hash with argon2id. Never MD5."
        assert fake.drafts[0].is_removed
        await press(pilot, "e")
        await enter(pilot, "lost")
        await press(pilot, "escape", "escape")
        assert pilot.app.screen is desk
        assert status(desk) == "nothing changed"


async def test_the_text_is_edited_and_with_shift_all_fields(workspace: Workspace, suspensions: list[str]) -> None:
    fake = Fake({"raw": "Edited."}, {}, {"path": "auth/renamed", "kind": "guide"})
    few(workspace)
    async with opened(Browser(workspace, editor=fake.editor)) as (pilot, desk):
        await press(pilot, "e")
        await settle(pilot)
        assert "Edited." in detail(desk)
        assert (status(desk), fake.drafts[0].as_object) == ("changed text of auth/passwords", False)
        await press(pilot, "e")
        assert status(desk) == "nothing changed"
        await press(pilot, "E")
        await settle(pilot)
        assert stored(workspace, "auth/renamed").version == 3
        assert detail(desk).startswith("auth/renamed")
        assert fake.drafts[2].as_object
        assert all(draft.is_removed for draft in fake.drafts)
        assert suspensions == ["gone", "back"] * 3


@pytest.mark.slow
async def test_what_cannot_be_saved_is_edited_again(workspace: Workspace, suspensions: list[str]) -> None:
    crash = ProviderError("it crashed", "but left a text")
    fake = Fake("{broken", {"path": "auth/tokens"}, crash, {"raw": "At last."}, UsageError("no editor"), "{broken")
    few(workspace)
    async with opened(Browser(workspace, editor=fake.editor), (100, 40)) as (pilot, desk):
        await press(pilot, "E")
        for wrong in ("not JSON: {broken", "belongs to mem_auth_tokens", "it crashed"):
            await settle(pilot)
            assert isinstance(pilot.app.screen, EditAgain)
            assert [text for text in (wrong, "/tmp/draft") if text not in shown(pilot)] == []
            assert not fake.drafts[0].is_removed
            await press(pilot, "enter")
        await settle(pilot)
        assert stored(workspace, "auth/passwords").raw == "At last."
        assert (len(fake.drafts), fake.drafts[0].is_removed, desk.changer.unsaved) == (1, True, [])
        await press(pilot, "e")
        assert notices(pilot) == ["no editor"]
        await press(pilot, "down")
        assert detail(desk).startswith("auth/tokens"), "keys still work"
        await press(pilot, "e", "escape")
        assert status(desk) == "not saved; the text is in /tmp/draft"
        assert (fake.drafts[-1].is_removed, desk.changer.unsaved) == (False, ["/tmp/draft"]), "left alone it stays"
        assert suspensions == ["gone", "back"] * 6


async def test_what_another_process_wrote_meanwhile_is_not_overwritten_unseen(
    workspace: Workspace, suspensions: list[str]
) -> None:
    fake = Fake({"raw": "Mine."}, {"raw": "Mine, too."})

    def open_late(memory: Memory | None, as_object: bool) -> FakeDraft:
        assert memory
        edit(workspace, memory.id, {"raw": "Theirs."})
        return fake.open(memory, as_object)

    few(workspace)
    async with opened(Browser(workspace, editor=replace(fake.editor, open=open_late))) as (pilot, _):
        await press(pilot, "e")
        await settle(pilot)
        assert isinstance(pilot.app.screen, EditAgain)
        assert stored(workspace, "auth/passwords").raw == "Theirs."
        await press(pilot, "e")
        await settle(pilot)
        assert stored(workspace, "auth/passwords").raw == "Mine, too.", "the user was told"
        assert suspensions == ["gone", "back"] * 2


@pytest.mark.slow
async def test_an_editor_adds_a_memory(workspace: Workspace, suspensions: list[str]) -> None:
    fake = Fake({}, {"raw": "Never deploy on Fridays."}, UsageError("the edited text is empty"))
    browser = Browser(workspace, CatalogueFilter(kinds=("constraint",), tags=("team",)), fake.editor)
    async with opened(browser) as (pilot, desk):
        await press(pilot, "N")
        assert status(desk) == "nothing added"
        await press(pilot, "N")
        await settle(pilot)
        (added,) = load(workspace).objects
        assert added.raw == "Never deploy on Fridays."
        assert (added.kind, added.tags) == ("constraint", ("team",)), "as what is browsed"
        assert status(desk) == f"created {added.path}"
        assert desk.memory == added
        await press(pilot, "N")
        assert notices(pilot) == ["the edited text is empty"]
        assert suspensions == ["gone", "back"] * 3


async def test_a_change_by_another_process_shows_on_reload_and_by_itself(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    browser = few(workspace)
    browser.POLL_SECONDS = 0.05
    async with opened(browser) as (pilot, desk):
        monkeypatch.setattr(desk, "say", said.append)
        await press(pilot, "down")
        put(workspace, memory("aaa/first"))
        await press(pilot, "r")
        await settle(pilot)
        assert names(desk)[:2] == ["aaa", "first"]
        assert here(desk) == "auth/tokens", "the cursor stays on its memory"
        put(workspace, memory("bbb/second"))
        await until(pilot, lambda: "second" in names(desk))
        assert "reloaded: another process changed the space" in said


async def test_a_space_that_becomes_unreadable_is_told_of_once_and_what_was_read_stays(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = few(workspace)
    told: list[object] = []
    monkeypatch.setattr(browser.desk, "fail", told.append)
    browser.POLL_SECONDS = 3600.0
    async with opened(browser) as (pilot, desk):
        path = os.path.join(workspace.root, "spaces", "main.json")
        os.truncate(path, 100)
        for _ in range(3):
            browser._poll()
            await settle(pilot)
            assert len(told) == 1
        assert len(names(desk)) == 5
        await press(pilot, "p")
        await settle(pilot)
        assert len(told) == 2
        assert pilot.app.is_running


# Bad input

HOSTILE = "[red]x[/] [/nope] [@click=app.quit]q[/] \x1b[2J\x1b]0;title\x07\u202egnp.exe\u200b \x9b31m end"


async def test_hostile_text_is_shown_harmlessly(workspace: Workspace) -> None:
    hostile = memory(
        f"a/{HOSTILE}", id="mem_hostile", kind=HOSTILE, raw=HOSTILE, summary_micro=HOSTILE, tags=(HOSTILE, "[bold]"),
        metadata={HOSTILE: HOSTILE, "hash": HOSTILE * 3}, links=({"to": HOSTILE, "relation": HOSTILE}, 7), triggers=(HOSTILE,),
        context=({"text": HOSTILE, "role": HOSTILE}, 5), content={"a": HOSTILE}, valid_from=T,
    )  # fmt: skip
    put(workspace, hostile, memory("\u202e/\u200b", id="mem_odd", raw=""))
    async with opened(Browser(workspace)) as (pilot, desk):
        await press(pilot, "x", "x", "home")
        details = ""
        for _ in names(desk):
            details += detail(desk)
            shown = "\n".join(screen(desk)) + detail(desk)
            assert not [c for c in "\x1b\x9b\x07\u202e\u200b" if c in shown]
            await press(pilot, "down")
        assert "[red]x[/] [/nope] [@click=app.quit]q[/]" in details
        await press(pilot, "home", "down", "down", "down", "down")
        assert desk.memory is not None
        for key in ("t", "escape", "f", "y"):
            await press(pilot, key)
        await settle(pilot)
        await press(pilot, "u", "slash")
        await enter(pilot, "[red]")
        await press(pilot, "enter")
        await settle(pilot)
        assert pilot.app.is_running


@pytest.mark.slow
async def test_a_thousand_memories(workspace: Workspace) -> None:
    put(workspace, *(memory(f"group{n % 10}/{n:03}", raw=f"number-{n}") for n in range(1000)))
    async with opened(Browser(workspace)) as (pilot, desk):
        assert names(desk) == [f"group{n}" for n in range(10)], "a large tree starts closed"
        await press(pilot, "x")
        assert len(names(desk)) == 1010
        await press(pilot, "end")
        assert here(desk) == "group9/999"
        assert any("999" in line for line in screen(desk)[:-8])
        await press(pilot, "slash")
        await enter(pilot, "number-500")
        assert names(desk) == ["group0", "500"]
    put(workspace, memory("a/b", raw="word " * 100_000))
    async with opened(Browser(workspace, CatalogueFilter("a"))) as (pilot, desk):
        assert "more characters; see `memcli get`" in detail(desk)
        await press(pilot, "tab", "end", "home")


def test_names_are_cut_to_columns() -> None:
    for text, width, cut in (
        ("abc", 5, "abc  "),
        ("abcdef", 4, "abc…"),
        ("日本語", 4, "日… "),
        ("日本語", 5, "日本…"),
        ("abc", 0, ""),
    ):
        assert fit(text, width) == cut
    assert fit("auth/tokens/rotation", 9, keep_end=True) == "…rotation"


# The command


def test_piped_it_prints_what_list_prints(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from memcli.cli.main import main

    few(workspace)
    root = ["--root", str(tmp_path)]
    for options in ([], ["auth"], ["--kind", "fact"], ["--json", "--tag", "security"], ["--json"]):
        assert main(["list", *options, *root]) == 0
        listed = capsys.readouterr().out
        assert main(["browse", *options, *root]) == 0
        assert capsys.readouterr().out == listed
    assert json.loads(listed)
    assert main(["browse", "nope", *root]) == NotFoundError.exit_code


def test_without_textual_it_says_what_to_install(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    from memcli.cli.main import main
    from memcli.extras.tui import command as browse

    monkeypatch.setattr(browse, "_has_screen", lambda: True)
    monkeypatch.delitem(sys.modules, "memcli.extras.tui.app")
    monkeypatch.setitem(sys.modules, "textual", None)
    assert main(["browse", "--root", str(tmp_path)]) == UsageError.exit_code
    assert (
        capsys.readouterr().err == "memcli: browse needs the extra `tui` (pip install '.[tui]' in a clone of memcli)\n"
    )
