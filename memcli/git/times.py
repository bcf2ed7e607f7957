"""When versions, tags and commits were made."""

from __future__ import annotations

import re
from typing import NamedTuple

from memcli.errors import MemcliError
from memcli.git.repository import Repository
from memcli.model.periods import PRE_RELEASE

_VERSION = re.compile(rf"(.*?[^\d.])??(\d+(?:[._]\d+)*)((?:{PRE_RELEASE})*)(?:\+[\w.-]*)?\Z")
_PRE = re.compile(r"([a-z]+)[-._]?(\d*)")
_SAME_STAGE = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}
_LABELS = frozenset(["", "v", "ver", "version", "r", "rel", "release"])
"""Words before a version that name no package."""
_COMMIT = re.compile(r"[0-9a-f]{7,40}\Z")
_SHORT = 10
_TAGS = ("for-each-ref", "--format=%(creatordate:format-local:%Y-%m-%dT%H:%M:%SZ) %(refname:short)", "refs/tags")
_LOG = ("log", "-1", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", "--format=%cd", "--end-of-options")


class _Version(NamedTuple):
    """A version as two tags of it have it in common: `pkg@1.2.0-rc.1` and `pkg-v1.2rc1` are the same."""

    package: tuple[str, ...]
    numbers: tuple[int, ...]
    stages: tuple[tuple[str, int], ...]


def time_of(root: str, name: str) -> tuple[str, str] | None:
    """The tag or commit that `name` names, and when it was made, RFC 3339 in UTC; None where it names neither.

    A tag of just this name wins over all others. Else `8.1` is the tag `v8.1`, `release-8.1` or `8.1.0`, or where there is
    none of these, `pkg-8.1` or `pkg@8.1`; of several the first by time, then by name.
    """
    try:
        repository = Repository(root)
        tags = [(at, tag) for at, _, tag in (line.partition(" ") for line in repository.run(*_TAGS).splitlines()) if at]
        for is_named in (_is_exact, _is_same_version, _is_of_a_package):
            if named := sorted((at, tag) for at, tag in tags if is_named(tag.lower(), name.lower())):
                return named[0][1], named[0][0]
        at = repository.run(*_LOG, name).strip() if _COMMIT.match(name) else ""
        return (name[:_SHORT], at) if at else None
    except MemcliError:
        return None


def _is_exact(tag: str, name: str) -> bool:
    return tag == name


def _is_same_version(tag: str, name: str) -> bool:
    version = _version(tag)
    return version is not None and version == _version(name)


def _is_of_a_package(tag: str, name: str) -> bool:
    """Whether a version without a package is that of a tag with one. A single number may be anything (`nightly-2024-01-02`)."""
    version, wanted = _version(tag), _version(name)
    if version is None or wanted is None or wanted.package or not re.search(r"\d[._]\d", tag):
        return False
    return (version.numbers, version.stages) == (wanted.numbers, wanted.stages)


def _version(name: str) -> _Version | None:
    match = _VERSION.match(name)
    if match is None:
        return None
    package = tuple(word for word in re.split(r"[\W_]+", match[1] or "") if word not in _LABELS)
    numbers = [int(part) for part in re.split(r"[._]", match[2])]
    while len(numbers) > 1 and not numbers[-1]:  # 1.2.0 is 1.2
        numbers.pop()
    stages = ((_SAME_STAGE.get(stage, stage), int(n or 0)) for stage, n in _PRE.findall(match[3]))
    return _Version(package, tuple(numbers), tuple(stages))
