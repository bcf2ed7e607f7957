"""What of a work tree differs from a commit. memcli compares the files itself: git would run the filters that the
repository configures."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from memcli.git.repository import Repository

_RENAMES = (
    "--cached", "--name-status", "-z", "--find-renames=50%", "-l1000", "--diff-filter=R", "--no-relative",
    "--no-ext-diff", "--no-textconv", "--no-color",
)  # fmt: skip
_DIGESTS = {40: "sha1", 64: "sha256"}


def unchanged_files(root: str, revision: str, contents: Mapping[str, bytes | None]) -> tuple[str, frozenset[str]]:
    """The full hash of the commit, and the files, by their paths from `root`, that are just as it has them.

    What is None is not there now; line ends may differ. Raises MemcliError when git fails.
    """
    commit, *blobs = Repository(root).identify([f"{revision}^{{commit}}", *(f"{revision}:{f}" for f in contents)])
    pairs = zip(contents.items(), blobs, strict=True)
    return commit, frozenset(file for (file, data), blob in pairs if _is_blob(data, blob))


def renamed_files(root: str, revision: str) -> dict[str, str]:
    """The new names, by the old ones, of files that were renamed between a commit and the index. Raises MemcliError."""
    repository = Repository(root)
    told = repository.run("diff", *_RENAMES, repository.resolve(revision), "--").split("\0")
    # Of each a letter with a share, the old name, the new one.
    return dict(zip(told[1::3], told[2::3], strict=False))


def _is_blob(data: bytes | None, blob: str) -> bool:
    if data is None or not blob:
        return data is None and not blob
    return blob in (_name(data, len(blob)), _name(data.replace(b"\r\n", b"\n"), len(blob)))


def _name(data: bytes, length: int) -> str:
    digest = hashlib.new(_DIGESTS[length], b"blob %d\0" % len(data), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest()
