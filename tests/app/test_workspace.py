"""What a workspace does around the steps of the use cases."""

from __future__ import annotations

import errno
import os

import pytest

from memcli.app.workspace import Workspace
from memcli.errors import LockedError, StoreError


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (StoreError("cannot write x"), "cannot write x"), (LockedError("x is in use"), "x is in use"),
        (OSError(errno.EROFS, os.strerror(errno.EROFS)), os.strerror(errno.EROFS)), (OSError("odd"), "odd"),
    ],
)  # fmt: skip
def test_a_failure_behind_the_write_is_a_warning(workspace: Workspace, error: Exception, reason: str) -> None:
    warnings: list[str] = []
    with workspace.copy_with(warn=warnings.append).behind_the_write():
        raise error
    assert warnings == [f"saved, but cleanup failed: {reason}"]


def test_a_mistake_of_our_own_behind_the_write_is_raised(workspace: Workspace) -> None:
    with pytest.raises(ValueError, match="ours"), workspace.behind_the_write():
        raise ValueError("ours")
