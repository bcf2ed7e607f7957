from __future__ import annotations

import os
import threading
from hashlib import sha256
from pathlib import Path

import pytest

from memcli.errors import NotFoundError, UsageError
from memcli.extras.watch.scan import Difference, Known, Scanner, ScanScope, Stamp


@pytest.fixture
def scanner(tmp_path: Path) -> Scanner:
    for name in ("a.md", "docs/b.md", "same.md", "docs/same.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("same" if "same" in name else name)
    return Scanner(str(tmp_path), ScanScope(str(tmp_path), (), ()))


def all_of(scanner: Scanner) -> Known:
    found = scanner.scan({}, frozenset(), threading.Event())
    assert found is not None
    return found.applied_to({})


def move(scanner: Scanner, old: str, new: str) -> None:
    os.rename(os.path.join(scanner.root, old), os.path.join(scanner.root, new))


def test_a_look_reads_the_files_named(scanner: Scanner):
    known = all_of(scanner)
    Path(scanner.root, "a.md").write_text("changed")
    Path(scanner.root, "docs/b.md").unlink()
    assert scanner.look(known, ["docs/same.md"]) == Difference()
    found = scanner.look(known, ["a.md", "docs/b.md", "never.md", "nowhere/x.md"])
    assert (found.changed, found.removed) == (("a.md",), ("docs/b.md",))
    assert scanner.look(found.applied_to(known), ["a.md", "docs/b.md"]) == Difference()


def test_a_look_at_a_new_file_finds_where_it_was(scanner: Scanner):
    known = all_of(scanner)
    move(scanner, "a.md", "docs/a.md")
    found = scanner.look(known, ["docs/a.md"])
    assert (found.changed, found.removed) == (("docs/a.md",), ("a.md",))
    assert scanner.look(known, ["docs/a.md", "a.md"]) == found


def test_a_copy_is_not_a_move(scanner: Scanner):
    known = all_of(scanner)
    Path(scanner.root, "copy.md").write_text("same")
    assert scanner.look(known, ["copy.md"]).removed == ()
    Path(scanner.root, "docs/same.md").unlink()
    assert scanner.look(known, ["copy.md"]).removed == ("docs/same.md",)


def test_a_file_out_of_scope_or_without_content_is_not_looked_for(scanner: Scanner):
    digest = sha256(b"new").hexdigest()
    known = {**all_of(scanner), "node_modules/a.js": Stamp(3, 0, digest), "empty": Stamp(0, 0, sha256(b"").hexdigest())}
    Path(scanner.root, "new.md").write_text("new")
    Path(scanner.root, "new.txt").write_text("")
    assert scanner.look(known, ["new.md", "new.txt"]).removed == ()
    assert scanner.look({**known, "old.md": Stamp(3, 0, digest)}, ["new.md"]).removed == ("old.md",)


def test_what_cannot_be_read_is_not_gone(scanner: Scanner, monkeypatch: pytest.MonkeyPatch):
    known = all_of(scanner)
    Path(scanner.root, "copy.md").write_text("same")
    real = os.lstat

    def refuse(path: str) -> os.stat_result:
        if path.endswith("docs/same.md"):
            raise PermissionError(path)
        return real(path)

    monkeypatch.setattr(os, "lstat", refuse)
    assert scanner.look(known, ["copy.md"]).removed == ()


def test_globs():
    globs: list[str]
    for globs, inside, outside in (
        ([], ["a", "docs/b.md"], ["node_modules/x.js", "docs/yarn.lock", "x.min.js"]),
        (["*.md"], ["a.md", "docs/b.md"], ["a.txt", "md"]),
        (["docs/"], ["docs/a.txt", "docs/deep/b"], ["docs", "a.txt"]),
        (["docs/", "!*.txt"], ["docs/a.md"], ["docs/a.txt"]),
        (["*.md", "!draft/"], ["a.md", "draft/a.md"], ["draft/a.txt"]),
        (["!*.md"], [], ["a.md", "a.txt"]),
    ):
        scope = ScanScope("/tree", (), globs)
        assert (globs, [path for path in (*inside, *outside) if scope.contains(path)]) == (globs, inside)


def test_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "docs" / "deep").mkdir(parents=True)
    (tmp_path / "a.md").write_text("x")
    monkeypatch.chdir(tmp_path / "docs")
    scope = ScanScope(str(tmp_path), ["deep", ".", "../a.md"], ())
    assert scope.starts == ["a.md", "docs"]
    paths = ("a.md", "b.md", "docs/deep/x", "docsx/y")
    assert [path for path in paths if scope.contains(path)] == ["a.md", "docs/deep/x"]
    assert ScanScope(str(tmp_path), [".."], ()).starts == [""]
    with pytest.raises(NotFoundError, match="no such file: 'nowhere'"):
        ScanScope(str(tmp_path), ["nowhere"], ())
    with pytest.raises(UsageError, match="outside the work tree"):
        ScanScope(str(tmp_path / "docs"), ["/"], ())
