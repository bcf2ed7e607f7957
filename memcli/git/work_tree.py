"""What of a work tree differs from its commits. Files are compared by memcli itself or by their status alone, so that no
filter that a repository configures is ever run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from memcli.git.repository import Repository

_DIGESTS = {40: "sha1", 64: "sha256"}


def clean_files(root: str, contents: Mapping[str, bytes]) -> dict[str, str]:
    """The files, by their paths from `root`, that hold just what the current commit has of them, each with that commit.

    Line ends may differ. Raises MemcliError when git fails.
    """
    head, *blobs = Repository(root).identify(["HEAD", *(f"HEAD:{file}" for file in contents)])
    return {
        file: head
        for (file, data), blob in zip(contents.items(), blobs, strict=True)
        if blob and blob in (_blob(data, len(blob)), _blob(data.replace(b"\r\n", b"\n"), len(blob)))
    }


def changed_files(root: str, revision: str) -> frozenset[str]:
    """The files that were changed or removed since the commit, committed or not; a few may be in it that were only touched.

    Raises UsageError, NotFoundError, ProviderError.
    """
    repository = Repository(root)
    commit = repository.resolve(revision)
    told = repository.run("diff-index", "-z", "--name-only", "--no-renames", "--no-ext-diff", commit, "--")
    return frozenset(told.split("\0")[:-1])


def _blob(data: bytes, length: int) -> str:
    digest = hashlib.new(_DIGESTS[length], b"blob %d\0" % len(data), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest()
