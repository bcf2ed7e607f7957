"""One reader of diffs: strict for what must not miss a line, lenient for what only looks like a diff."""

from __future__ import annotations

import pytest

from memcli.code.diff import Names, as_name, names, read
from memcli.errors import UsageError


@pytest.mark.parametrize(
    ("head", "wanted"),
    [
        (["diff --git a/x b/x", "--- a/x", "+++ b/x"], Names("x", "x")),
        (["diff --git a/a b b/a b"], Names("a b", "a b")),
        (["diff --git a/old.py b/newer.py"], Names("old.py", "newer.py")),
        (["diff --git x x", "--- x", "+++ x"], Names("x", "x")),
        (["diff --git b/x b/x", "--- b/x", "+++ b/x"], Names("b/x", "b/x")),
        (['diff --git "a/\\303\\274" "b/\\303\\274"'], Names("ü", "ü")),
        (["--- a/x\t2026-01-01", "+++ b/y\t2026-01-02"], Names("x", "y")),
        (["--- /dev/null", "+++ b/x"], Names("x", "x", is_new=True)),
        (["diff --git a/x b/x", "new file mode 100644"], Names("x", "x", is_new=True)),
        (["diff --git a/x b/x", "deleted file mode 100644", "--- a/x", "+++ /dev/null"], Names("x", "x", is_deleted=True)),
        (["diff --git a/x b/x", "+++ b/x"], Names("x", "x")),
        (["diff --git a/x b/x", "--- a/x"], Names("x", "x")),
        (["diff --git a/x b/y", "rename from x", "rename to y"], Names("x", "y", is_renamed=True)),
        (["diff --git a/x b/y", "copy from x", "copy to y"], Names("x", "y")),
        (["diff --cc src/a.py", "index 1,2..3"], Names("src/a.py", "src/a.py")),
        (["Index: src/a.c"], Names("src/a.c", "src/a.c")),
        (["--- ", "+++ "], Names("", "")),
        ([], Names("", "")),
    ],
)  # fmt: skip
def test_names(head: list[str], wanted: Names) -> None:
    assert names([line.encode() for line in head]) == wanted


def test_quoted_names_keep_their_bytes() -> None:
    assert as_name(b'"a\\tb\\374\\\\"') == "a\tb\udcfc\\"
    assert as_name(b"plain") == "plain"


def signs(data: str, *, strict: bool) -> list[list[str]]:
    """For each file, its hunks: the signs of their lines."""
    found = read(data.encode(), strict=strict)[1]
    return [[b"".join(sign for sign, _, _ in hunk.lines).decode() for hunk in file.hunks] for file in found]


@pytest.mark.parametrize("strict", [True, False])
def test_a_hunk_has_as_many_lines_as_its_head_says(strict: bool) -> None:
    data = "diff --git a/x b/x\n@@ -1,2 +1,2 @@\n--- a/q\n-- \n+++ b/q\n+@@ -1 +1 @@\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n"
    assert signs(data, strict=strict) == [["--++"], ["-+"]]


@pytest.mark.parametrize(
    ("hunk", "wanted"),
    [
        ("@@ -1,9 +1,9 @@\n a\n-b\n+c\n", " -+ "),
        ("@@ -1 +1 @@\n-a\n+b\n c\n+d\n", "-+ + "),
        ("@@ -1 +1 @@\n-a\n+b\n+c\n-- \n2.39\n", "-++"),
        ("@@@ -1 -1 +1,9 @@@\n  a\n++b\n +c\n", " ++ "),
    ],
)
def test_a_wrong_head_is_refused_or_overlooked(hunk: str, wanted: str) -> None:
    data = f"diff --git a/x b/x\n{hunk}"
    assert signs(data, strict=False) == [[wanted]]
    if "\n c\n" not in hunk:
        with pytest.raises(UsageError, match="hunk at line 2"):
            read(data.encode(), strict=True)


def test_a_fragment_has_no_heads() -> None:
    for data in ("+a\n-b\n", "text before\n+a\n-b\n"):
        assert signs(data, strict=False)[0][0].startswith("+-")
        assert read(data.encode(), strict=True)[1] == []
    assert signs("--- a/x\n+++ b/x\n+c\n", strict=False) == [["+ "]]
    assert signs("@@ -1 +1 @@\n-a\n+b\n", strict=False) == [["-+"]]


def test_lines_are_numbered_in_the_file_that_has_them() -> None:
    (file,) = read(b"--- a\n+++ a\n@@ -3,2 +7,3 @@ def f():\n x\n-y\n+z\n+\n", strict=True)[1]
    assert list(file.hunks[0].having(b"-")) == [(4, b"y")]
    assert list(file.hunks[0].having(b"+")) == [(8, b"z"), (9, b"")]
    assert b"\n".join(file.hunks[0].source()) == b"@@ -0 +0 @@ def f():\n x\n-y\n+z\n+"


def test_what_stands_before_a_diff_is_kept() -> None:
    assert read(b"commit 1\n\n    Why\n\ndiff --git a/x b/x\n", strict=True)[0] == [b"commit 1", b"", b"    Why", b""]
