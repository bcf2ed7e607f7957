"""Diffs: what git and diff print, with the names, line ends and oddities that come with it."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress

import pytest

from memcli.errors import NotFoundError, UsageError
from memcli.git.repository import Repository
from memcli.ingest.patch import change_diff, read_diff
from memcli.model.anchors import FileEdit
from tests.ingest.conftest import Repo


def edits(data: bytes) -> dict[str, FileEdit]:
    return {edit.file: edit for edit in read_diff(data, "test")}


def staged(repo: Repo) -> dict[str, FileEdit]:
    repo.git("add", "-A", "-f")
    return edits(change_diff(Repository(str(repo.root))))


def test_lines_have_the_numbers_of_their_files(repo: Repo) -> None:
    repo.commit(files={"a.py": "".join(f"{n}\n" for n in range(1, 31))})
    lines = [str(n) for n in range(1, 31)]
    lines[9:11] = ["--- ten", "+++ eleven", "new"]
    repo.write("a.py", "\n".join([*lines, "last"]))
    found = staged(repo)["a.py"]
    assert found.added == ((10, "--- ten"), (11, "+++ eleven"), (12, "new"), (32, "last"))
    assert found.removed == ((10, "10"), (11, "11"))
    for context in ("-U3", "-U100"):
        again = edits(repo.git("diff", "--cached", context).encode())["a.py"]
        assert (again.added, again.removed) == (found.added, found.removed)


def test_what_happens_to_files(repo: Repo) -> None:
    text = "".join(f"line {n}\n" for n in range(40))
    repo.commit(files={"old name.txt": text, "gone": "x\n", "kept": "x\n", "bin": b"\0\1", "mode": "x\n"})
    os.rename(repo.root / "old name.txt", repo.root / "new name.txt")
    os.unlink(repo.root / "gone")
    repo.write("bin", b"\0\2")
    repo.write("empty file", "")
    os.chmod(repo.root / "mode", 0o755)
    found = staged(repo)
    assert set(found) == {"new name.txt", "gone", "bin", "empty file", "mode"}
    assert found["new name.txt"].was == "old name.txt"
    assert found["gone"].is_deleted
    assert found["bin"].added  # nor does a NUL hide what is in a file
    assert found["new name.txt"].touches("old name.txt")


def test_odd_names(repo: Repo) -> None:
    names = ('quo"te', "tab\there", "a b", "ünï", "b/x", "line\nbreak", "back\\slash")
    for name in (*names, b"latin \xfc"):
        repo.write(name, "one\n")
    shown = {name.replace("\n", "\ufffd").replace("\t", "\ufffd") for name in names} | {"latin \ufffd"}
    for found in (staged(repo), *(edits(diff(repo, *options)) for options in ([], ["--no-prefix"], ["-c"]))):
        assert {name: edit.added for name, edit in found.items()} == dict.fromkeys(shown, ((1, "one"),))


def diff(repo: Repo, *options: str) -> bytes:
    """What git prints of the index; with `-c`, under other prefixes."""
    before = ["-c", "diff.mnemonicPrefix=true"] if "-c" in options else []
    command = ["git", *before, "diff", "--cached", *(option for option in options if option != "-c")]
    return subprocess.run(command, cwd=repo.root, capture_output=True, check=True).stdout


def test_line_ends_and_other_encodings(repo: Repo) -> None:
    repo.write("a", b"one\r\ntwo \xff\r\nno end")
    assert staged(repo)["a"].added == ((1, "one"), (2, "two \ufffd"), (3, "no end"))


def test_a_huge_line(repo: Repo) -> None:
    repo.write("min.js", "x" * 5_000_000)
    assert len(staged(repo)["min.js"].added[0][1]) == 5_000_000


def test_the_store_itself_is_left_out(repo: Repo) -> None:
    repo.write(".memory/spaces/main.json", "{}\n")
    repo.write("sub/.memory/spaces/main.json", "{}\n")
    assert staged(repo) == {}


def test_plain_diffs_and_what_stands_before() -> None:
    plain = b"--- old/a.c\t2026-01-01\n+++ old/a.c\t2026-01-02\n@@ -1 +1,2 @@\n-x\n+y\n+z\n--- q\n+++ q\n@@ -0,0 +1 @@\n+n\n"
    found = edits(plain)
    assert found["old/a.c"].added == ((1, "y"), (2, "z"))
    assert found["q"].added == ((1, "n"),)
    mail = b"From 123\nSubject: --- not a file\n\n" + b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
    assert edits(mail)["x"].added == ((1, "b"),)


def test_a_merge_gives_what_is_new_to_a_parent(repo: Repo) -> None:
    lines = [f"line {n}\n" for n in range(1, 9)]
    repo.commit("base", {"a.py": "".join(lines)})
    repo.git("switch", "-q", "-c", "other")
    repo.commit("theirs", {"a.py": "".join(["theirs 1\n", *lines[1:7], "theirs 8"])})
    repo.git("switch", "-q", "main")
    repo.commit("ours", {"a.py": "".join(["ours 1\n", *lines[1:]])})
    repo.git("merge", "-q", "-s", "ours", "--no-commit", "other")
    repo.write("a.py", "".join(["both 1\n", *lines[1:3], *lines[4:7], "theirs 8\n", "new 9\n"]))
    repo.git("add", "a.py")
    repo.git("commit", "-q", "-m", "merge")
    for options in (["--cc"], ["-c"], ["--cc", "-U0"], ["--cc", "-U99"]):
        found = edits(repo.git("show", *options).encode())["a.py"]
        assert {(7, "theirs 8"), (8, "new 9"), (1, "both 1")} >= set(found.added) >= {(1, "both 1"), (8, "new 9")}
        assert {text for _, text in found.removed} >= {"ours 1", "theirs 1", "line 4"}


def test_a_merge_of_three() -> None:
    data = (
        b"diff --cc a.py\nindex 1,2,3..4\n--- a/a.py\n+++ b/a.py\n@@@@ -1,2 -1,1 -1,2 +1,3 @@@@ def f():\n"
        b"   a\n+++b\n + c\n\\ No newline at end of file\n"
    )
    found = edits(data)["a.py"]
    assert (found.added, found.removed) == (((2, "b"), (3, "c")), ())


@pytest.mark.parametrize(
    "hunk",
    ["@@@ -1,1 -1,1 +1,2 @@@\n++x", "@@@ -1,1 +1,2 @@@\n x\n+y", "@@ -1,1 -1,1 +1,2 @@\n  x\n++y",
     "@@@ -1 -1 +1,2 @@@\n  x\n-+y"],
)  # fmt: skip
def test_a_hunk_of_a_merge_that_is_not_whole(hunk: str) -> None:
    data = f"diff --cc src/a.py\nindex 1,2..3\n--- a/src/a.py\n+++ b/src/a.py\n{hunk}\ndiff --cc b.py\n"
    with pytest.raises(UsageError, match="hunk at line 5"):
        read_diff(data.encode(), "it")


@pytest.mark.parametrize(
    "data",
    [b"@@ -1 +1 @@\n+x\n", b"diff --git \n", b"diff --git a/x b/x\n@@ -1,99999 +1,99999 @@\n+x", b"--- \n+++ \n",
     b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n?\n", b"\0\xff", b'diff --git "a/x\n'],
)  # fmt: skip
def test_what_is_broken_ends_well(data: bytes) -> None:
    with suppress(UsageError):  # the one error that a user may see
        read_diff(data, "test")


def test_nothing_is_no_edit() -> None:
    assert [read_diff(data, "test") for data in (b"", b"\n", b"* Unmerged path f\n* Unmerged path g\n")] == [[], [], []]
    with pytest.raises(UsageError, match="not a diff"):
        read_diff(b"* Unmerged path f\nhello\n", "test")


def test_since_a_revision(repo: Repo) -> None:
    first = repo.commit(files={"a": "1\n"})
    repo.git("switch", "-q", "-c", "topic")
    repo.commit(files={"a": "1\n2\n"})
    repo.git("switch", "-q", "main")
    repo.commit(files={"b": "main\n"})
    repo.git("switch", "-q", "topic")
    repo.write("a", "1\n2\n3\n")
    repo.git("add", "a")
    repo.write("a", "1\n2\n3\n4\n")
    for revision in (first, "main"):
        found = edits(change_diff(Repository(str(repo.root)), revision))
        assert {name: e.added for name, e in found.items()} == {"a": ((2, "2"), (3, "3"))}
    with pytest.raises(NotFoundError):
        change_diff(Repository(str(repo.root)), "nowhere")


def test_before_the_first_commit(repo: Repo) -> None:
    repo.write("a", "1\n")
    assert staged(repo)["a"].added == ((1, "1"),)


@pytest.mark.parametrize(
    "hunk",
    ["@@ -1,2 +1,3 @@\n a\n-b\n", "@@ -1 +1 @@\n-a\n+b\n+eval(c)\n", "@@ -1,2 +1,2 @@\n a\n x = [-float(1)-]{+eval(2)+}\n b\n",
     "@@ -1,2 +1,3 @@\nx = {+eval(1)+}\n", "@@ -1 +%s @@\n+eval(1)\n" % ("9" * 5000), "@@ what @@\n+eval(1)\n"],
)  # fmt: skip
def test_a_hunk_that_is_not_what_its_head_says_is_refused(hunk: str):
    with pytest.raises(UsageError, match="hunk at line"):
        read_diff(f"diff --git a/x b/x\n--- a/x\n+++ b/x\n{hunk}".encode(), "it")


def test_neither_an_attribute_nor_a_nul_hides_a_line(repo: Repo):
    repo.commit("one", {"a.py": "x = 1\n"})
    repo.write(".gitattributes", "*.py -diff\n")
    repo.write("a.py", "x = 1\neval(2)\n")
    repo.write("b.py", b"x\0\neval(3)\n")
    repo.git("add", "-A")
    added = {
        edit.file: [line for _, line in edit.added] for edit in read_diff(change_diff(Repository(str(repo.root))), "it")
    }
    assert "eval(2)" in added["a.py"]
    assert "eval(3)" in added["b.py"]
