from __future__ import annotations

import pytest

from memcli.errors import NotFoundError, UsageError
from memcli.extras.watch.scan import ScanScope


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


def test_paths(tmp_path, monkeypatch: pytest.MonkeyPatch):
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
