"""The browser, driven as a user drives it: with keys, on a store of its own."""

import json
import os
from pathlib import Path

import pytest
from textual.drivers.headless_driver import HeadlessDriver

from memcli.app.edit import edit
from memcli.app.workspace import Workspace, load
from memcli.errors import NotFoundError, ProviderError, UsageError
from memcli.extras.tui.app import Browser
from memcli.extras.tui.changes import EditAgain
from memcli.extras.tui.status import summary
from memcli.extras.tui.view import Rows, fit
from memcli.model.catalogue import CatalogueFilter
from memcli.model.memory import Memory
from memcli.record import replace
from tests.extras.tui.stage import Fake, FakeDraft, T, few, memory, opened, put, stored

pytestmark = pytest.mark.anyio


async def test_it_opens_with_the_tree_and_the_first_memory(workspace: Workspace) -> None:
    few(workspace)
    browser = Browser(workspace, editor=Fake().editor)
    async with opened(browser, (80, 24)) as ui:
        opening = ("names: auth passwords tokens ops deploy", "Hash with argon2id.", "status: 3 memories, 1 pinned")
        footer = "/ filter  n new  p pin  t tags  e edit  f forget  i inbox  ? help  q quit"
        parts = ("auth/tokens", "mem_auth_tokens", "decision", "pinned", "#security", "rotate", "2026-01-01")
        await ui.play(("", *opening), ("y down", *parts), ("question_mark", "top: Help"), ("escape", "top: MainScreen"))
        assert any(line.startswith("│*     tokens") and "decision" in line for line in ui.lines)
        assert footer in ui.lines[-1], "it fits on eighty columns"
        assert ui.pilot.app.clipboard == "mem_auth_passwords"
        await ui.press("q")
    assert browser.return_code == 0


@pytest.mark.slow
async def test_the_mouse_chooses_opens_and_follows(workspace: Workspace) -> None:
    async with opened(few(workspace)) as ui:
        await ui.pilot.click(Rows, offset=(10, 3))
        assert ui.here == "auth/tokens"
        await ui.pilot.click(Rows, offset=(10, 1))
        await ui.play(("", "names: auth ops deploy"), ("enter down",))
        line = next(n for n, text in enumerate(ui.lines) if "relates to" in text)
        await ui.pilot.click(offset=(ui.lines[line].index("ops/deploy") + 2, line))
        assert ui.here == "ops/deploy"


# Finding


async def test_enter_asks_and_shows_the_answers_in_order(workspace: Workspace) -> None:
    async with opened(few(workspace)) as ui:
        sure = "2 found, best first, and 1 pinned; Esc returns to the tree"
        # What matches, is linked, is pinned; the cursor is on the best that matches.
        answers = "names: ops/deploy auth/passwords auth/tokens"
        await ui.play(("slash '=deploy make' enter", answers, "╭─ answers", f"status: {sure}", "score "))
        assert ui.main_screen.view.answer
        ui.main_screen.view.answer = replace(ui.main_screen.view.answer, confidence=0.3)
        assert summary(ui.main_screen.view) == sure.replace("best first", "weak evidence")
        await ui.play(
            ("escape", "names: auth passwords tokens ops deploy", "at: ops/deploy"), ("slash =xylophone enter",)
        )
        assert ui.main_screen.view.answer.query.topic == "xylophone"


async def test_only_what_was_asked_for_is_browsed(workspace: Workspace) -> None:
    few(workspace)
    browser = Browser(workspace, CatalogueFilter("auth", ("decision",), ("security",)))
    async with opened(browser, (140, 30)) as ui:
        await ui.play(("", "names: auth tokens", "╭─ main · auth/ · kind decision · #security"))
    with pytest.raises(NotFoundError, match="nothing at 'nope'"):
        Browser(workspace, CatalogueFilter("nope"))


# Changing


async def test_pin_forget_and_tags_are_written(workspace: Workspace) -> None:
    async with opened(few(workspace)) as ui:
        await ui.play(("p", "status: pinned auth/passwords", "· pinned"))
        assert stored(workspace, "auth/passwords").pinned
        await ui.press("p", "f", "n")
        found = stored(workspace, "auth/passwords")
        assert (found.pinned, found.active) == (False, True)
        news = "status: forgot auth/passwords; press u to undo"
        await ui.play(("f y", "names: auth tokens ops deploy", news))
        assert not stored(workspace, "auth/passwords").active
        await ui.play(("u", "at: auth/passwords"))
        assert stored(workspace, "auth/passwords").active
        await ui.play(
            ("down t '= !!!' enter", "top: EditTags"),  # a word that can be no tag keeps the dialog open
            ("ctrl+u =crypto enter", "status: tags of auth/tokens: +crypto -security"),
        )
        assert stored(workspace, "auth/tokens").tags == ("crypto",)


@pytest.fixture
def suspensions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Lets the headless driver make room for a program, and lists how often the screen went and came."""
    seen: list[str] = []
    monkeypatch.setattr(HeadlessDriver, "can_suspend", property(lambda _: True), raising=False)
    monkeypatch.setattr(HeadlessDriver, "suspend_application_mode", lambda _: seen.append("gone"), raising=False)
    monkeypatch.setattr(HeadlessDriver, "resume_application_mode", lambda _: seen.append("back"), raising=False)
    return seen


@pytest.mark.slow
async def test_without_room_for_an_editor_the_text_is_edited_in_a_field(workspace: Workspace) -> None:
    fake = Fake()
    few(workspace)
    async with opened(Browser(workspace, editor=fake.editor)) as ui:
        await ui.play(
            ("e", "top: TextForm", "Hash with argon2id."),
            ("end '= Never MD5.' escape", "press Esc again to discard"),
            ("ctrl+s", "top: MainScreen"),
        )
        assert stored(workspace, "auth/passwords").raw == "Hash with argon2id. Never MD5."
        assert fake.drafts[0].is_removed
        await ui.play(("e =lost escape escape", "top: MainScreen", "status: nothing changed"))


async def test_the_text_is_edited_and_with_shift_all_fields(workspace: Workspace, suspensions: list[str]) -> None:
    fake = Fake({"raw": "Edited."}, {}, {"path": "auth/renamed", "kind": "guide"})
    few(workspace)
    async with opened(Browser(workspace, editor=fake.editor)) as ui:
        await ui.play(
            ("e", "Edited.", "status: changed text of auth/passwords"), ("e", "status: nothing changed"),
            ("E", "at: auth/renamed"),
        )  # fmt: skip
        assert stored(workspace, "auth/renamed").version == 3
        assert ui.detail.startswith("auth/renamed")
        assert [(draft.as_object, draft.is_removed) for draft in fake.drafts] == [(n == 2, True) for n in range(3)]
        assert suspensions == ["gone", "back"] * 3


@pytest.mark.slow
async def test_what_cannot_be_saved_is_edited_again(workspace: Workspace, suspensions: list[str]) -> None:
    crash = ProviderError("it crashed", "but left a text")
    fake = Fake("{broken", {"path": "auth/tokens"}, crash, {"raw": "At last."}, UsageError("no editor"), "{broken")
    few(workspace)
    async with opened(Browser(workspace, editor=fake.editor), (100, 40)) as ui:
        wrong = ("not JSON: {broken", "belongs to mem_auth_tokens", "it crashed")
        for key, text in zip(("E", "enter", "enter"), wrong, strict=True):
            await ui.play((key, "top: EditAgain", text, "/tmp/draft"))
            assert not fake.drafts[0].is_removed
        await ui.press("enter")
        assert stored(workspace, "auth/passwords").raw == "At last."
        assert (len(fake.drafts), fake.drafts[0].is_removed, ui.main_screen.changer.unsaved) == (1, True, [])
        await ui.press("e")
        assert ui.notices == ["no editor"]
        await ui.play(("down", "at: auth/tokens"), ("e escape", "status: not saved; the text is in /tmp/draft"))
        assert (fake.drafts[-1].is_removed, ui.main_screen.changer.unsaved) == (False, ["/tmp/draft"]), (
            "left alone it stays"
        )
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
    async with opened(Browser(workspace, editor=replace(fake.editor, open=open_late))) as ui:
        await ui.press("e")
        assert isinstance(ui.top, EditAgain)
        assert stored(workspace, "auth/passwords").raw == "Theirs."
        await ui.press("e")
        assert stored(workspace, "auth/passwords").raw == "Mine, too.", "the user was told"
        assert suspensions == ["gone", "back"] * 2


@pytest.mark.slow
async def test_an_editor_adds_a_memory(workspace: Workspace, suspensions: list[str]) -> None:
    fake = Fake({}, {"raw": "Never deploy on Fridays."}, UsageError("the edited text is empty"))
    browser = Browser(workspace, CatalogueFilter(kinds=("constraint",), tags=("team",)), fake.editor)
    async with opened(browser) as ui:
        await ui.play(("N", "status: nothing added"), ("N",))
        (added,) = load(workspace).objects
        assert (added.raw, added.kind, added.tags) == ("Never deploy on Fridays.", "constraint", ("team",)), (
            "as browsed"
        )
        assert (ui.status, ui.main_screen.memory) == (f"created {added.path}", added)
        await ui.press("N")
        assert ui.notices == ["the edited text is empty"]
        assert suspensions == ["gone", "back"] * 3


async def test_a_change_by_another_process_shows_on_reload_and_by_itself(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    browser = few(workspace)
    browser.POLL_SECONDS = 0.05
    async with opened(browser) as ui:
        monkeypatch.setattr(ui.main_screen, "say", said.append)
        await ui.press("down")
        put(workspace, memory("aaa/first"))
        await ui.press("r")
        assert ui.names[:2] == ["aaa", "first"]
        assert ui.here == "auth/tokens", "the cursor stays on its memory"
        put(workspace, memory("bbb/second"))
        await ui.until(lambda: "second" in ui.names)
        assert "reloaded: another process changed the space" in said


async def test_a_space_that_becomes_unreadable_is_told_of_once_and_what_was_read_stays(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = few(workspace)
    told: list[object] = []
    monkeypatch.setattr(browser.main_screen, "fail", told.append)
    browser.POLL_SECONDS = 3600.0
    async with opened(browser) as ui:
        path = os.path.join(workspace.root, "spaces", "main.json")
        os.truncate(path, 100)
        for _ in range(3):
            browser._poll()
            await ui.settle()
            assert len(told) == 1
        assert len(ui.names) == 5
        await ui.press("p")
        assert len(told) == 2
        assert ui.pilot.app.is_running


# Bad input

HOSTILE = "[red]x[/] [/nope] [@click=app.quit]q[/] \x1b[2J\x1b]0;title\x07\u202egnp.exe\u200b \x9b31m end"


async def test_hostile_text_is_shown_harmlessly(workspace: Workspace) -> None:
    hostile = memory(
        f"a/{HOSTILE}", id="mem_hostile", kind=HOSTILE, raw=HOSTILE, summary_micro=HOSTILE, tags=(HOSTILE, "[bold]"),
        metadata={HOSTILE: HOSTILE, "hash": HOSTILE * 3}, links=({"to": HOSTILE, "relation": HOSTILE}, 7), triggers=(HOSTILE,),
        context=({"text": HOSTILE, "role": HOSTILE}, 5), content={"a": HOSTILE}, valid_from=T,
    )  # fmt: skip
    put(workspace, hostile, memory("\u202e/\u200b", id="mem_odd", raw=""))
    async with opened(Browser(workspace)) as ui:
        await ui.press("x", "x", "home")
        details = ""
        for _ in ui.names:
            details += ui.detail
            shown = "\n".join(ui.lines) + ui.detail
            assert not [c for c in "\x1b\x9b\x07\u202e\u200b" if c in shown]
            await ui.press("down")
        assert "[red]x[/] [/nope] [@click=app.quit]q[/]" in details
        await ui.press("home", "down", "down", "down", "down")
        assert ui.main_screen.memory is not None
        for key in ("t", "escape", "f", "y"):
            await ui.press(key)
        await ui.press("u", "slash", "=[red]", "enter")
        assert ui.pilot.app.is_running


@pytest.mark.slow
async def test_a_thousand_memories(workspace: Workspace) -> None:
    put(workspace, *(memory(f"group{n % 10}/{n:03}", raw=f"number-{n}") for n in range(1000)))
    async with opened(Browser(workspace)) as ui:
        assert ui.names == [f"group{n}" for n in range(10)], "a large tree starts closed"
        await ui.press("x")
        assert len(ui.names) == 1010
        assert len(ui.main_screen.query_one(Rows)._drawn) < 30, "only what is on the screen is read"
        await ui.play(("end", "at: group9/999"))
        assert any("999" in line for line in ui.lines[:-8])
        await ui.play(("slash =number-500", "names: group0 500"))
    put(workspace, memory("a/b", raw="word " * 100_000))
    async with opened(Browser(workspace, CatalogueFilter("a"))) as ui:
        assert "more characters; see `memcli get`" in ui.detail
        await ui.press("tab", "end", "home")


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


def test_without_textual_it_shows_the_tree_and_says_what_to_install(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    from memcli.cli.main import main
    from memcli.extras.tui import command as browse

    monkeypatch.setattr(browse, "_has_screen", lambda: True)
    monkeypatch.delitem(sys.modules, "memcli.extras.tui.app")
    monkeypatch.setitem(sys.modules, "textual", None)
    few(workspace)
    assert main(["browse", "--root", str(tmp_path)]) == 0
    shown = capsys.readouterr()
    assert shown.out.splitlines()[:2] == ["auth/", "  passwords"]
    hint = "the full-screen view needs the extra `tui` (pip install '.[tui]' in a clone of memcli)"
    assert shown.err == f"memcli: {hint}\n"
