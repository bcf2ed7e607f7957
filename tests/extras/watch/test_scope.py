from __future__ import annotations

import pytest

from memcli.errors import NotFoundError, UsageError
from memcli.extras.watch.scan import ScanScope


@pytest.mark.parametrize(
    ("globs", "inside", "outside"),
    [
        ([], ["a", "docs/b.md"], ["node_modules/x.js", "docs/yarn.lock", "x.min.js"]),
        (["*.md"], ["a.md", "docs/b.md"], ["a.txt", "md"]),
        (["docs/"], ["docs/a.txt", "docs/deep/b"], ["docs", "a.txt"]),
        (["docs/", "!*.txt"], ["docs/a.md"], ["docs/a.txt"]),
        (["*.md", "!draft/"], ["a.md", "draft/a.md"], ["draft/a.txt"]),
        (["!*.md"], [], ["a.md", "a.txt"]),
    ],
)
def test_globs(globs: list[str], inside: list[str], outside: list[str]):
    scope = ScanScope("/tree", (), globs)
    assert [path for path in inside if not scope.contains(path)] == []
    assert [path for path in outside if scope.contains(path)] == []


def test_paths(tmp_path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "docs" / "deep").mkdir(parents=True)
    (tmp_path / "a.md").write_text("x")
    monkeypatch.chdir(tmp_path / "docs")
    scope = ScanScope(str(tmp_path), ["deep", ".", "../a.md"], ())
    assert scope.starts == ["a.md", "docs"]
    assert [path for path in ("a.md", "b.md", "docs/deep/x", "docsx/y") if scope.contains(path)] == [
        "a.md",
        "docs/deep/x",
    ]
    assert ScanScope(str(tmp_path), [".."], ()).starts == [""]
    with pytest.raises(NotFoundError, match="no such file: 'nowhere'"):
        ScanScope(str(tmp_path), ["nowhere"], ())
    with pytest.raises(UsageError, match="outside the work tree"):
        ScanScope(str(tmp_path / "docs"), ["/"], ())
