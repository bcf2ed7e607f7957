"""Which path triggers match no file."""

import pytest

from memcli.policy.triggers import lost_globs


@pytest.mark.parametrize(
    ("triggers", "files", "lost"),
    [
        ([["path:a/**"]], ["a/b"], []),
        ([["path:a/**"]], ["b/a"], [(0, "path:a/**")]),
        ([["*.env", "eval", "symbol:run", "re:x/.*"]], ["a.py"], [(0, "*.env")]),
        ([["path:x"], ["path:y", "path:z"]], ["y"], [(0, "path:x"), (1, "path:z")]),
        ([["path:[", "path:"]], ["a"], []),
        ([], ["a"], []),
    ],
)
def test_lost_globs(triggers: list[list[str]], files: list[str], lost: list[tuple[int, str]]) -> None:
    assert lost_globs(triggers, files) == lost
