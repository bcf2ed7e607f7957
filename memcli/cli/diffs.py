"""The change that a command is asked about: a diff in a file or on standard input, or one that git makes."""

from __future__ import annotations

import os

from memcli.cli.text import read_file, read_stdin
from memcli.model.edits import FileEdit


def read_edits(*, diff: str | None = None, changed: str | None = None) -> list[FileEdit]:
    """The edits of the file `diff` (`-`: standard input), or since the revision `changed`, or else of what is staged.

    Raises NotFoundError, ProviderError, UsageError.
    """
    from memcli.ingest.diff import MAX_BYTES, changed_diff, read_diff, staged_diff

    if diff is not None:
        data = read_stdin(MAX_BYTES) if diff == "-" else read_file(diff, MAX_BYTES)
        return read_diff(data, "standard input" if diff == "-" else diff)
    from memcli.git.repository import find_repository

    repository = find_repository(os.getcwd())
    return read_diff(staged_diff(repository) if changed is None else changed_diff(repository, changed), "the change")
