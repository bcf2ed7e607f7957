"""Globs and the lines of a .gitignore against git itself, which reads one rule file for each pattern."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import pytest

from memcli.code.globs import Patterns, glob_expression
from memcli.errors import UsageError
from memcli.safety.patterns import PatternSet, compile_pattern

SINGLE = ["a", "foo", "foo.c", "*", "**", "***", "*.c", "?", "??", "a*", "*a", "*o*", "f*o", "f**o", "a*b*c", "[ab]", "[!a]", "[^a]",
          "[a-c]*", "[z-a]", "[]a]", "[!]a]", "[a-", "[", "]", "x\\", "\\a", "\\*", "[\\a-b]", "[[:alpha:]]*", "[[:digit:]]",
          "[![:alpha:]]", "[[:nope:]]", "[![:nope:]]", "[[:alpha:][:digit:]]", "[a[:nope:]]", "[/]", "[!/]", "[--0]", "[a-c-e]", "a.c",
          "(?>a)", "a|b", "^a$", "a+", "{a,b}", "é", "*é", "[é]", ".*", "#a", "\\#a", "\\!a", "f o", "\\ ", "z[[]1]", "--", "a\\b"]  # fmt: skip
PAIRED = ["a", "foo", "*", "**", "***", "*.c", "?", "a*", "**a", "a**", "[ab]", "[!a]"]
ENDS = ["", "/", "//", "/*", "/**", " ", "\\ ", "\r"]
PATTERNS = [
    *(f"{start}{one}{end}" for start, one, end in product(["", "/", "**/"], SINGLE, ["", "/", "/*", "/**"])),
    *[f"{start}{'/'.join(two)}{end}" for start, two, end in product(["", "/"], product(PAIRED, PAIRED), ENDS)][::5],
    *["/".join(three) for three in product(PAIRED[:7], repeat=3)][::2],
    "", " ", "/", "//", "!a", "!", "#", "./a", "a/./b", "../a", "a//b", "[a/b]", "a[/]b", "*a*a*a*b",
]  # fmt: skip
NAMES = ["a", "b", "ab", "abc", "foo", "foo.c", "fo", "fao", "x.c", "1", "-", "]", "[", "*", "é", "f o", ".h", "#a", "!a", "a|b", "^a$",
         "(?>a)", "z[1]", "a+", " ", "a\\b", "--", "x\\"]  # fmt: skip
PATHS = [*NAMES, *(f"{folder}/{name}" for folder, name in product(["a", "foo", "b", "é"], NAMES[:12])),
         "a/b/c", "a/b/foo.c", "foo/a/b", "b/a/foo/x.c", "a/foo/a/foo", "x/foo/a", "a/a/a/a", "foo/b/a/b"]  # fmt: skip
ASCII_PATHS = [path for path in PATHS if path.isascii()]
"""For triggers, which match characters where git matches bytes."""


@pytest.fixture(scope="module")
def covered(tmp_path_factory: pytest.TempPathFactory) -> list[frozenset[str]]:
    """The paths that git ignores, for each of PATTERNS."""
    root = tmp_path_factory.mktemp("git")
    git(root, "init", "-q")
    for number, pattern in enumerate(PATTERNS):
        (root / str(number)).mkdir()
        (root / str(number) / ".gitignore").write_text(f"{pattern}\n", newline="")
    asked = "\0".join(f"{number}/{path}" for number in range(len(PATTERNS)) for path in PATHS)
    ignored = git(root, "check-ignore", "--no-index", "-z", "--stdin", text=asked).split("\0")
    found: list[set[str]] = [set() for _ in PATTERNS]
    for number, _, path in (name.partition("/") for name in ignored if name):
        found[int(number)].add(path)
    return [frozenset(paths) for paths in found]


def git(root: Path, *arguments: str, text: str = "") -> str:
    done = subprocess.run(["git", *arguments], cwd=root, input=text.encode(), capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout.decode()


def test_the_lines_of_a_rule_file(covered: Sequence[frozenset[str]]):
    for pattern, expected in zip(PATTERNS, covered, strict=True):
        patterns = Patterns([pattern.encode()])
        assert {path for path in PATHS if is_covered(patterns, path)} == expected, pattern


def is_covered(patterns: Patterns, path: str) -> bool:
    """Whether the path or a folder above it matches."""
    ends = [at for at, char in enumerate(path) if char == "/"]
    above = any(patterns.verdict(path[:end], is_folder=True) for end in ends)
    return above or patterns.verdict(path, is_folder=False) is True


def test_the_globs_of_triggers(covered: Sequence[frozenset[str]]):
    for pattern, expected in trigger_globs(covered):
        expression = compile_pattern(glob_expression(pattern, "trigger"), "trigger")
        found = {path for path in ASCII_PATHS if expression.fullmatch(path)}
        # A trigger may name a folder where only its name is known, so that a last slash does not keep out a file.
        assert found >= expected, pattern
        assert pattern.endswith("/") or found == expected, pattern


def test_many_globs_at_once(covered: Sequence[frozenset[str]]):
    globs = [(pattern, expected) for pattern, expected in trigger_globs(covered) if not pattern.endswith("/")][::7]
    patterns = PatternSet([glob_expression(pattern, "trigger") for pattern, _ in globs], whole=True)
    assert patterns.refused == []
    for path in ASCII_PATHS:
        assert patterns.matching(path) == [n for n, (_, expected) in enumerate(globs) if path in expected]


def trigger_globs(covered: Sequence[frozenset[str]]) -> Iterator[tuple[str, frozenset[str]]]:
    """The patterns that mean in a trigger what they mean in a line: no comments, exceptions, spaces to trim or `./`."""
    for pattern, expected in zip(PATTERNS, covered, strict=True):
        is_line_syntax = pattern.startswith(("!", "#", "./")) or pattern != pattern.strip() or pattern.endswith("//")
        if is_line_syntax or "{a,b}" in pattern:
            continue
        try:
            glob_expression(pattern, "trigger")
        except UsageError:
            assert not expected, pattern
            continue
        yield pattern, expected.intersection(ASCII_PATHS)


@pytest.mark.parametrize("glob", ["!a", "{a,b}", "a[", "a\\", "/", "./", "[[:nope:]]", "[/]"])
def test_a_glob_that_matches_nothing_is_an_error(glob: str):
    with pytest.raises(UsageError, match="trigger is not a path glob"):
        glob_expression(glob, "trigger")


def test_a_trigger_matches_characters():
    assert compile_pattern(glob_expression("caf?", "trigger"), "trigger").fullmatch("src/café")
    assert compile_pattern(glob_expression("[à-é].md", "trigger"), "trigger").fullmatch("é.md")
