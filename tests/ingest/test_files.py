from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from memcli.errors import NotFoundError, UsageError
from memcli.git.repository import MAX_BYTES
from memcli.git.tree import Ignore, Tree
from memcli.ingest.files import FileSource
from memcli.model.names import check_path
from memcli.model.shapes import MEMORY_FIELDS, check_fields
from tests.ingest.conftest import Repo, memories, unchanged


def read(source: FileSource) -> list[dict]:
    found = memories(source.candidates())
    for fields in found:
        check_fields(fields, MEMORY_FIELDS)
        assert check_path(fields["path"]) == fields["path"]
    assert len({fields["path"] for fields in found}) == len(found)
    return found


def source_of(repo: Repo, *names: str, **options: bool) -> FileSource:
    return FileSource([str(repo.root / name) for name in names], str(repo.root), unchanged, **options)


def test_a_file(repo: Repo):
    repo.write("docs/adr/0001-use-postgres.md", "# Use PostgreSQL\r\n\r\nWe decided.\r\n")
    name = "docs/adr/0001-use-postgres.md"
    digest = sha256(b"# Use PostgreSQL\n\nWe decided.\n").hexdigest()
    assert read(source_of(repo, name)) == [
        {
            "path": name, "kind": "decision", "raw": "# Use PostgreSQL\n\nWe decided.\n",
            "tags": ["docs", "adr", "0001-use-postgres"], "metadata": {"source": name},
            "provenance": {"source": "observed", "files": [name]}, "anchors": [{"file": name, "hash": f"sha256:{digest}"}],
        }
    ]  # fmt: skip


def test_a_part_is_anchored_where_it_stands(repo: Repo):
    text = f"# Guide\n\nIntroduction.\n\n## Set up\n\n{'words ' * 300}\n\n\n## Use\n\nShort.\n"
    repo.write("docs/guide.md", text)
    lines = [fields["anchors"][0].get("lines") for fields in read(source_of(repo, "docs/guide.md"))]
    assert lines == [[1, 3], [5, 7], [10, 12]]


def test_a_folder_sorted_without_what_is_ignored_or_noise(repo: Repo):
    for name in ("b.txt", "a/z.py", "a/build/x.txt", "a.txt", "c/.gitignore", "c/keep.log", "c/x.log", ".env", ".envrc",
                 ".memory/main.json", "node_modules/m.js", "yarn.lock", "x.txt~", "secrets/key", "nested/.git/HEAD",
                 "nested/code.py"):  # fmt: skip
        repo.write(name, "text\n")
    repo.write(".gitignore", "build/\n*.log\n")
    repo.write("c/.gitignore", "!keep.log\n")
    repo.write(".secretsignore", "secrets/\n")
    source = source_of(repo, "")
    assert [f["path"] for f in read(source)] == [
        ".envrc", ".gitignore", ".secretsignore", "a.txt", "b.txt", "a/z.py", "c/.gitignore", "c/keep.log",
    ]  # fmt: skip
    assert source.skipped == {"ignored": 5, "vendored": 1, "lock": 1, "repository": 1}


def test_noise_and_generated_files_come_when_named(repo: Repo):
    repo.write("vendor/yarn.lock", "x\n")
    repo.write("api.go", "// Code generated. DO NOT EDIT.\n")
    assert len(read(source_of(repo, "vendor/yarn.lock", "api.go"))) == 2
    source = source_of(repo, ".")
    assert read(source) == []
    assert source.skipped == {"vendored": 1, "generated": 1}


def test_ignored_files_never_come_even_when_named(repo: Repo):
    repo.write(".gitignore", "*.log\n")
    repo.write(".secretsignore", "private\n")
    for name in (".env", "sub/.env.local", ".git/config", ".memory/a.json", "x.log", "private/a.txt"):
        repo.write(name, "KEY=swordfish\n")
        source = source_of(repo, name, os.path.dirname(name))
        assert name not in {f["path"] for f in read(source)}
        assert source.skipped["ignored"] >= 1


def test_files_that_are_no_text_are_counted(repo: Repo):
    repo.write("bom.txt", b"\xef\xbb\xbfbom\n")
    repo.write("binary.dat", b"text" * 100 + b"\0")
    repo.write("late-nul.txt", b"t" * 9_000 + b"\0")
    repo.write("latin.txt", b"caf\xe9\n")
    repo.write("utf16.txt", "text".encode("utf-16"))
    repo.write("blank.txt", " \n\n")
    repo.write("huge.txt", b"x" * (MAX_BYTES + 1))
    repo.write("just-fits.txt", b"x" * MAX_BYTES)
    (repo.root / "link.txt").symlink_to("bom.txt")
    (repo.root / "loop").symlink_to("loop")
    (repo.root / "folder-link").symlink_to(".")
    os.mkfifo(repo.root / "fifo")
    source = source_of(repo, ".")
    found = {f["path"]: f["raw"] for f in read(source)}
    assert found.keys() == {"bom.txt", "late-nul.txt", "just-fits.txt"}
    assert found["bom.txt"] == "bom\n"
    assert source.skipped == {"binary": 2, "encoding": 1, "empty": 1, "huge": 1, "link": 3, "special": 1}


def test_odd_files_that_are_named_do_not_hang(repo: Repo):
    os.mkfifo(repo.root / "fifo")
    (repo.root / "loop").symlink_to("loop")
    source = FileSource([str(repo.root / "fifo"), str(repo.root / "loop")], str(repo.root), unchanged)
    assert read(source) == []
    assert source.skipped == {"special": 1, "link": 1}


def test_a_link_does_not_lead_out_of_the_work_tree(repo: Repo, tmp_path: Path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "passwd").write_text("root\n")
    (repo.root / "docs").symlink_to(tmp_path / "outside")
    source = source_of(repo, "docs/passwd", "docs", "")
    assert read(source) == []
    assert source.skipped == {"link": 3}


@pytest.mark.parametrize("deep", ["docs", "docs/deep"])
def test_a_folder_that_becomes_a_link_while_it_is_read_leads_nowhere(repo: Repo, tmp_path: Path, deep: str):
    repo.write(f"{deep}/a.md", "# A\n\nInside.\n")
    (tmp_path / "outside" / "deep").mkdir(parents=True)
    for name in ("a.md", "deep/a.md"):
        (tmp_path / "outside" / name).write_text("# A\n\nOUTSIDE.\n")
    source = source_of(repo, "docs")
    assert source.total() == 1
    (repo.root / "docs").rename(tmp_path / "moved")
    (repo.root / "docs").symlink_to(tmp_path / "outside")
    assert read(source) == []
    assert source.skipped == {"vanished": 1}


def test_a_walk_lists_no_folder_that_became_a_link(repo: Repo, tmp_path: Path):
    repo.write("a/x.md", "x\n")
    repo.write("b/y.md", "y\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "z.md").write_text("OUTSIDE\n")
    tree = Tree(str(repo.root), Ignore(str(repo.root)))
    files = tree.files()
    assert next(files)[0] == "a/x.md"
    (repo.root / "b").rename(tmp_path / "moved")
    (repo.root / "b").symlink_to(tmp_path / "outside")
    assert list(files) == []
    assert tree.unread == ["b"]


def test_a_work_tree_may_be_reached_by_a_link(repo: Repo, tmp_path: Path):
    repo.write("a.txt", "a\n")
    (tmp_path / "way").symlink_to(repo.root)
    assert [
        f["path"] for f in read(FileSource([str(tmp_path / "way" / "a.txt")], str(tmp_path / "way"), unchanged))
    ] == ["a.txt"]


def test_what_is_outside_of_the_work_tree_is_refused(repo: Repo, tmp_path: Path):
    """Its name would be that of a file inside."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "todo.txt").write_text("todo\n")
    for name in ("notes/todo.txt", "notes", "", "../"):
        with pytest.raises(UsageError, match="is outside"):
            FileSource([str(tmp_path / name)], str(repo.root), unchanged)


def test_relative_paths_count_from_here(repo: Repo, monkeypatch: pytest.MonkeyPatch):
    repo.write("sub/a.txt", "a\n")
    monkeypatch.chdir(repo.root / "sub")
    assert [f["path"] for f in read(FileSource(["a.txt", "../sub/./a.txt"], str(repo.root), unchanged))] == [
        "sub/a.txt"
    ]


def test_a_missing_file(repo: Repo):
    with pytest.raises(NotFoundError, match=r"no-such\.txt"):
        FileSource(["no-such.txt"], str(repo.root), unchanged)
    source = source_of(repo, "no-such.txt", may_be_gone=True)
    assert read(source) == []
    assert source.skipped == {"vanished": 1}


def test_a_file_that_vanishes_on_the_way(repo: Repo):
    for name in ("a.txt", "b.txt", "c.txt"):
        repo.write(name, "x\n")
    source = source_of(repo, "a.txt", "b.txt", "c.txt")
    candidates = source.candidates()
    next(candidates)
    (repo.root / "b.txt").unlink()
    assert [f["path"] for f in memories(candidates)] == ["c.txt"]
    assert source.skipped == {"vanished": 1}


def test_hostile_names(repo: Repo):
    odd = [b"new\nline", b"tab\tname", b"latin-\xe9", b"latin-\xe8", b" space ", b"-dash", b"a\\b"]
    names = [*odd, b'"', b"con", b"x" * 255]
    for name in names:
        repo.write(b"d/" + name, "x\n")
    assert len(read(source_of(repo, "d"))) == len(names)


@pytest.fixture
def deep(repo: Repo) -> Iterator[str]:
    """A folder deeper than Python's own stack, removed by a program that can, as pytest could not."""
    folder = str(repo.root / "d")
    os.mkdir(folder)
    for _ in range(1100):
        folder += "/d"
        os.mkdir(folder)
    yield folder
    subprocess.run(["rm", "-rf", str(repo.root / "d")], check=True)


@pytest.mark.slow
def test_a_deep_tree(repo: Repo, deep: str):
    Path(deep, "a.txt").write_text("x\n")
    for name in ("d", f"{deep}/a.txt"):
        (found,) = read(source_of(repo, name))
        assert found["metadata"]["source"].endswith("/d/a.txt")
        assert len(found["path"]) <= 240


def test_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "")
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / "a.log").write_text("x\n")
    (tmp_path / "a.txt").write_text("x\n")
    assert [f["path"] for f in read(FileSource([str(tmp_path)], str(tmp_path), unchanged))] == [".gitignore", "a.txt"]
