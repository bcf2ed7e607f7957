from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.git.tree import Ignore
from tests.conftest import examples
from tests.ingest.conftest import Repo, new_repo

NAMES = ["a", "b", "foo", "bar.c", "x.o", "lib", "build", "A", ".hid", "f o", "voilà", "ab", "z[1]", "deep"]
PARTS = [*NAMES, "*", "**", "***", "*.c", "*.o", "?", "a*", "[ab]", "[!a]", "*o*", "foo*", ".*", "\\a", "[a-c]*", "[z-a]*",
         "[[:alpha:]]*", "[]a]*", "[!]]*", "[a-", "[[:nope:]]*", "a**", "\\", "x\\", "[\\a-b]*", "**a", "b?r*", "*à"]  # fmt: skip
folders = st.lists(st.sampled_from(NAMES), max_size=3).map("/".join)
patterns = st.tuples(
    st.sampled_from(["", "", "", "!", "#", "\\", "/", "!/"]),
    st.lists(st.sampled_from(PARTS), min_size=1, max_size=3).map("/".join),
    st.sampled_from(["", "", "", "/", " ", "\\ ", "\r", "/**"]),
).map("".join)
rules = st.dictionaries(folders, st.lists(patterns, min_size=1, max_size=5), min_size=1, max_size=3)
trees = st.sets(st.tuples(folders, st.sampled_from(NAMES)).map("/".join), min_size=1, max_size=20)


def listed_by_git(repo: Repo) -> set[str]:
    return set(repo.git("ls-files", "-co", "--exclude-standard", "-z").split("\0")) - {""}


def listed_by_us(repo: Repo) -> set[str]:
    ignore = Ignore(str(repo.root))
    found = set()
    for folder, folders, files in os.walk(repo.root):
        folders[:] = [name for name in folders if name != ".git"]
        here = os.path.relpath(folder, repo.root)
        found |= {name if here == "." else f"{here}/{name}" for name in files}
    return {path for path in found if not ignore.covers(path)}


@examples(0.4)
@given(rules, trees, st.lists(patterns, max_size=2))
def test_as_git_itself(tmp_path_factory: pytest.TempPathFactory, rules, files, excludes):
    repo = new_repo(tmp_path_factory.mktemp("oracle") / "repo")
    for file in sorted(files):
        try_to_write(repo, file.strip("/"), "")
    for folder, lines in rules.items():
        try_to_write(repo, f"{folder}/.gitignore".strip("/"), "\n".join(lines))
    repo.write(".git/info/exclude", "\n".join(excludes))
    assert listed_by_us(repo) == listed_by_git(repo)
    shutil.rmtree(repo.root)


def try_to_write(repo: Repo, file: str, text: str) -> None:
    with contextlib.suppress(OSError):  # a folder is a file already, or the other way round
        repo.write(file, text)


def test_the_users_own_excludes(repo: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    for name in ("a.mine", "a.other", "a.txt"):
        repo.write(name, "x")
    (tmp_path / "git").mkdir()
    (tmp_path / "git" / "ignore").write_text("*.mine\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert listed_by_us(repo) == listed_by_git(repo) == {"a.other", "a.txt"}
    (tmp_path / "excludes").write_text("*.other\n")
    repo.git("config", "core.excludesFile", str(tmp_path / "excludes"))
    assert listed_by_us(repo) == listed_by_git(repo) == {"a.mine", "a.txt"}


def test_a_linked_work_tree_shares_the_exclude_file(repo: Repo, tmp_path: Path):
    repo.commit("one", {"a.txt": "a"})
    repo.write(".git/info/exclude", "*.log\n")
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"))
    linked = Repo(tmp_path / "linked")
    linked.write("b.log", "x")
    assert listed_by_us(linked) - {".git"} == listed_by_git(linked) == {"a.txt"}


def test_always(tmp_path: Path):
    (tmp_path / ".gitignore").write_text("!*\n")
    covers = Ignore(str(tmp_path)).covers
    ignored = (
        ".env", ".env.local", "a/.env.production", ".env.example.bak", ".git/config", "sub/.git", ".memory/a.json", "a.txt~",
        ".a.txt.swp", "4913", ".#a.txt", "#a.txt#", "a.tmp", "a.py___jb_tmp___",
    )  # fmt: skip
    read = (".env.example", ".env.sample", ".env.template", ".environment", "a.py", "#a", ".gitignore", ".github/x.yml")
    assert [name for name in ignored if not covers(name)] == [name for name in read if covers(name)] == []


def test_no_rule_lets_a_secret_in_again(tmp_path: Path):
    (tmp_path / ".secretsignore").write_text("*.pem\n/keys/\n")
    (tmp_path / ".gitignore").write_text("!*.pem\n!keys/\n")
    ignore = Ignore(str(tmp_path))
    assert ignore.covers("a/b.pem")
    assert ignore.covers("keys/a.txt")
    assert not ignore.covers("a/keys/a.txt")


def test_a_pattern_made_to_be_slow_is_not(tmp_path: Path):
    """With a backtracking expression each of these would not end in a lifetime."""
    for pattern in ("*a" * 20 + "b", "**/" + "*a*a/**/" * 40 + "b", "[a-z]*" * 30 + "1", "?*" * 40 + "b"):
        (tmp_path / ".gitignore").write_text(pattern)
        ignore = Ignore(str(tmp_path))
        assert not ignore.covers("/".join(["a" * 200] * 15))
        assert not ignore.covers("a" * 250)


def test_rule_files_that_are_no_files(tmp_path: Path):
    os.mkfifo(tmp_path / ".gitignore")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / ".gitignore").symlink_to("/dev/zero")
    (tmp_path / "b" / ".gitignore").mkdir(parents=True)
    ignore = Ignore(str(tmp_path))
    assert not any(ignore.covers(path) for path in ("x", "a/x", "b/x"))
