"""`memcli edit`: on the command line, in the editor, and when something goes wrong there."""

from __future__ import annotations

import io
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from memcli.cli import editor
from memcli.cli.output import ask
from memcli.errors import UsageError
from tests.conftest import Run

Edit = Callable[[str], None]


@pytest.fixture
def memory(run: Run) -> Run:
    assert run("remember", "Tokens rotate daily.", "--path", "auth/tokens", "--kind", "fact").code == 0
    return run


@pytest.fixture(autouse=True)
def temporary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    return folder


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Edit:
    """Makes an editor of Python code that may read and write `file`, a Path."""

    def make(code: str) -> None:
        script = tmp_path / "editor.py"
        script.write_text(f"import pathlib, sys\nfile = pathlib.Path(sys.argv[1])\n{code}\n")
        monkeypatch.setenv("EDITOR", f"{sys.executable} {script}")

    return make


def field(run: Run, name: str) -> str:
    return run("get", "auth/tokens", "--field", name).out


def test_the_editor_has_the_text_as_it_is(memory: Run, use: Edit, temporary: Path) -> None:
    use("assert file.read_text() == 'Tokens rotate daily.\\n'\nfile.write_text('Line one.\\nSaid \"two\" ü.\\n')")
    done = memory("edit", "auth/tokens")
    assert (done.code, "version 2" in done.out) == (0, True)
    assert memory("get", "auth/tokens", "--json").json["raw"] == 'Line one.\nSaid "two" ü.'
    assert list(temporary.iterdir()) == []


def test_with_object_it_has_all_fields(memory: Run, use: Edit) -> None:
    use("file.write_text(file.read_text().replace('\"fact\"', '\"decision\"'))")
    assert memory("edit", "auth/tokens", "--object").code == 0
    assert (field(memory, "kind"), field(memory, "raw")) == ("decision\n", "Tokens rotate daily.\n")


def test_the_file_of_the_editor_bears_no_name_from_the_memory(run: Run, use: Edit, temporary: Path) -> None:
    run("remember", "Text.", "--path", "a", "--id", "mine:id")
    use("assert file.name == 'memory.txt', file\nassert file.stat().st_mode & 0o777 == 0o600\nfile.write_text('New.')")
    assert run("edit", "a").code == 0


def test_nothing_changed_is_no_error_and_no_version(memory: Run, use: Edit) -> None:
    for code in ("", "file.write_text(file.read_text())"):
        use(code)
        done = memory("edit", "auth/tokens")
        assert (done.code, done.out) == (0, "nothing changed\n")
        assert memory("edit", "auth/tokens", "--json").json == {"status": "unchanged"}
        assert "version" not in memory("get", "auth/tokens", "--json").json


UNSAVED = [
    ("file.write_text('Half done.')\nsys.exit(3)", (), 7, "failed with exit code 3"),
    ("file.write_text('{broken')", ("--object",), 2, "not valid JSON: line 1"),
    ("file.write_text('[]')", ("--object",), 2, "object"),
    ('file.write_text(\'{"raw": "x", "path": "../x"}\')', ("--object",), 2, "not a memory path"),
    ("file.write_bytes(b'\\xff\\xfe')", (), 2, "UTF-8"), ("file.write_text('   \\n')", (), 2, "empty"),
]  # fmt: skip


def test_what_cannot_be_saved_is_kept(memory: Run, use: Edit, temporary: Path) -> None:
    for code, options, exit_code, said in UNSAVED:
        use(code)
        done = memory("edit", "auth/tokens", *options)
        assert (done.code, done.err.count("\n"), said in done.err) == (exit_code, 1, True), done.err
        kept = re.search(r"the edited text is kept in (\S+)\)", done.err)
        assert kept, done.err
        assert Path(kept[1]).read_bytes()
        assert field(memory, "raw") == "Tokens rotate daily.\n"
    before = sorted(temporary.iterdir())
    for code in ("sys.exit(1)", "file.write_text('')", "file.unlink()"):  # nothing was typed
        use(code)
        done = memory("edit", "auth/tokens")
        assert (done.code != 0, "is kept in" in done.err, sorted(temporary.iterdir())) == (True, False, before)


def test_a_change_made_meanwhile_is_not_overwritten_unseen(memory: Run, use: Edit) -> None:
    other = "[sys.executable, '-P', '-m', 'memcli', 'edit', 'auth/tokens', '--text', 'From elsewhere.']"
    use(f"import subprocess\nsubprocess.run({other}, check=True, stdout=2)\nfile.write_text('Mine.')")
    done = memory("edit", "auth/tokens")
    assert (done.code, "has changed since it was opened" in done.err, "kept in" in done.err) == (4, True, True)
    assert field(memory, "raw") == "From elsewhere.\n"


def test_on_a_terminal_it_asks_and_goes_on_with_the_same_text(
    memory: Run, use: Edit, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(
        "text = file.read_text()\n"
        "file.write_text(text[1:].replace('Tokens rotate daily', 'Mended') if text[0] == '!' else '!' + text)"
    )
    asked = []

    def again(question: str, default: bool) -> bool:
        asked.append(question)
        return len(asked) < 2 and default

    monkeypatch.setattr(editor, "can_ask", lambda: True)
    monkeypatch.setattr(editor, "ask", again)
    assert memory("edit", "auth/tokens", "--object").code == 0
    assert (asked, field(memory, "raw")) == (["Edit again?"], "Mended.\n")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("answer", "again"), [("\n", True), ("y\n", True), ("n\n", False), ("", False)])
def test_the_question(monkeypatch: pytest.MonkeyPatch, answer: str, again: bool) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    monkeypatch.setattr(sys, "stderr", told := Terminal())
    assert ask("Edit again?", default=True) is again
    assert told.getvalue() == "Edit again? [Y/n] "


def test_which_editor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr(sys, "stdout", Terminal())
    with pytest.raises(UsageError, match="nano, vi are not installed"):
        editor.editor_command()
    for name in ("vi", "nano", "sensible-editor"):
        (tmp_path / name).write_text("")
        os.chmod(tmp_path / name, 0o755)
        assert editor.editor_command() == [name]
    monkeypatch.setenv("EDITOR", "code --wait")
    assert editor.editor_command() == ["code", "--wait"]
    monkeypatch.setenv("VISUAL", " ")
    assert editor.editor_command() == ["code", "--wait"]
    monkeypatch.setenv("VISUAL", "vim 'x")
    with pytest.raises(UsageError, match=r"\$VISUAL is not a command"):
        editor.editor_command()


def test_text_is_given_or_piped(memory: Run) -> None:
    assert memory("edit", "auth/tokens", "--text", "Given.", "--set", "kind=decision").code == 0
    assert (field(memory, "raw"), field(memory, "kind")) == ("Given.\n", "decision\n")
    assert memory("edit", "auth/tokens", "--text", "-", stdin="Piped.\nTwo lines.").code == 0
    assert field(memory, "raw") == "Piped.\nTwo lines.\n"
    assert field(memory, "summary_micro").startswith("Piped.")
    for wrong in (("--text", "x", "--set", "raw=y"), ("--text", "x", "--object"), ("--text", "")):
        assert memory("edit", "auth/tokens", *wrong).code == 2


def test_a_candidate_of_the_inbox_is_edited_as_text(run: Run, use: Edit) -> None:
    run("remember", "Draft.", "--path", "a", "--propose")
    use("file.write_text(file.read_text().replace('Draft', 'Final'))")
    assert run("inbox", "edit", "a").code == 0
    assert run("inbox", "show", "a", "--json").json[0]["raw"] == "Final."
    use("file.write_text(file.read_text().replace('Final', 'Last'))")
    assert run("inbox", "edit", "a", "--object").code == 0
    assert run("inbox", "show", "a", "--json").json[0]["raw"] == "Last."


@pytest.mark.parametrize("how", ["edit", "remember", "inbox"])
def test_tags_made_from_a_text_go_with_it(run: Run, how: str) -> None:
    run("remember", "Nightingale budget is five million.", "--path", "made")
    made = run("remember", "The nightingale budget of the year is nine million.", "--kind", "decision", "--json").out
    placed = json.loads(made)["path"]
    run("remember", "Nightingale budget is six million.", "--path", "given", "--tag", "nightingale")
    for path, text in (("made", "four"), (placed, "three"), ("given", "two")):
        new = f"The budget of owls is {text} million."
        if how == "edit":
            assert run("edit", path, "--text", new).code == 0
        else:
            assert run("remember", new, "--path", path, *(["--propose"] if how == "inbox" else [])).code == 0
    assert run("inbox", "accept", "--all").code == 0
    assert "owls" in run("get", "made", "--json").json["tags"]
    for path in ("made", placed):
        assert "nightingale" not in run("get", path, "--json").json["tags"]
    assert run("get", "given", "--json").json["tags"] == ["nightingale"]
