"""What the next commit would change."""

from __future__ import annotations

import os
from itertools import islice

from memcli.git.repository import Repository

_DIFF = ("diff", "--cached", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color")
_MAX_BLOCKS = 4


def staged_files(repository: Repository) -> list[str]:
    """The files, from the root of the work tree. Raises NotFoundError, ProviderError."""
    return [file for file in repository.run(*_DIFF, "--name-only", "-z").split("\0") if file]


def staged_lines(repository: Repository) -> list[str]:
    """The first lines that are added or taken out, without their signs. Raises NotFoundError, ProviderError."""
    blocks = b"".join(islice(repository.stream(*_DIFF, "--unified=0"), _MAX_BLOCKS))
    lines = os.fsdecode(blocks).encode("utf-8", "replace").decode().split("\n")
    return [line[1:] for line in lines if line.startswith(("+", "-")) and not line.startswith(("+++", "---"))]
