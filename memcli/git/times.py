"""When versions, tags and commits were made."""

from __future__ import annotations

import re

from memcli.errors import MemcliError
from memcli.git.repository import Repository

_VERSION = re.compile(r"(?:.*[^\d.])?(\d+(?:\.\d+)*)\Z")
_COMMIT = re.compile(r"[0-9a-f]{7,40}\Z")
_TAGS = ("for-each-ref", "--format=%(creatordate:format-local:%Y-%m-%dT%H:%M:%SZ) %(refname:short)", "refs/tags")
_LOG = ("log", "-1", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", "--format=%cd", "--end-of-options")


def time_of(root: str, name: str) -> str | None:
    """When what `name` names was made, RFC 3339 in UTC: a version by its tag, or a commit by its hash; None for neither.

    `8.1` is the tag `8.1`, `v8.1`, `release-8.1` or `8.1.0`; of several the first by time, then by name.
    """
    try:
        repository = Repository(root)
        tags = [line.split(" ", 1) for line in repository.run(*_TAGS).splitlines() if " " in line]
        if named := sorted((at, tag) for at, tag in tags if at and _is_named(tag, name)):
            return named[0][0]
        return repository.run(*_LOG, name).strip() or None if _COMMIT.match(name) else None
    except MemcliError:
        return None


def _is_named(tag: str, name: str) -> bool:
    if tag.lower() == name:
        return True
    version, wanted = _VERSION.match(tag), _VERSION.match(name)
    return bool(version and wanted and _significant(version[1]) == _significant(wanted[1]))


def _significant(version: str) -> list[int]:
    """The numbers of a version without zeros at its end."""
    numbers = [int(part) for part in version.split(".")]
    while len(numbers) > 1 and not numbers[-1]:
        numbers.pop()
    return numbers
