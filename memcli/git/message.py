"""The message of a commit that is being written: lines that git will strip again are put into it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress

from memcli.errors import ProviderError
from memcli.git.repository import Repository

_MAX_BYTES = 1 << 24
_CUT = re.compile(rb"^.{0,9} -{24} >8 -{24}$", re.MULTILINE)
_AUTO_MARKS = "#;@!$%^&|:"
# git says so in the user's language, and --cleanup on its command line is not seen otherwise: what is not understood is
# left alone.
_STRIPS_COMMENTS = re.compile(rb"will be ignored")


def comment(repository: Repository, path: str, lines: Sequence[str]) -> bool:
    """Puts the lines as comments into the message at `path`, where git strips comments; whether it did.

    Raises OSError, ProviderError.
    """
    if not lines:
        return False
    with open(path, "rb") as file:
        text = file.read(_MAX_BYTES)
    cut = _CUT.search(text)
    settings = {}  # names in lower case, as git prints them
    with suppress(ProviderError):  # git fails where there is no such key
        keys = r"^(commit\.cleanup|core\.comment(char|string))$"
        for entry in repository.run("config", "-z", "--get-regexp", keys).split("\0"):
            name, _, value = entry.partition("\n")
            settings[name] = value
    cleanup = settings.get("commit.cleanup", "")
    is_stripped = cleanup in ("", "default", "strip") and _STRIPS_COMMENTS.search(text) is not None
    # Below the line that says so all is cut; above it, only what is marked.
    at = cut.start() if cut and is_stripped else len(text)
    mark = _mark(settings, text[:at])
    if not mark or not (is_stripped or (cleanup == "scissors" and cut)):
        return False
    added = "".join(f"{mark} memcli: {line}\n" for line in lines).encode("utf-8", "replace")
    gap = b"" if text[:at].endswith(b"\n") else b"\n"
    _replace(path, text[:at] + gap + added + text[at:])
    return True


def _mark(settings: Mapping[str, str], text: bytes) -> str:
    """What begins a comment; empty where the last line, which git wrote, does not begin with it.

    What git was told on its command line is not known here: another mark, or that it is to write no comments.
    """
    mark = settings.get("core.commentstring") or settings.get("core.commentchar") or "#"
    last = text.rstrip().rpartition(b"\n")[2]
    if mark == "auto":
        mark = last[:1].decode("ascii", "replace")
        return mark if mark and mark in _AUTO_MARKS else ""
    return mark if last.startswith(mark.encode()) else ""


def _replace(path: str, data: bytes) -> None:
    """All of the message or none of what is added: git reads it when we are gone, however we went."""
    temp = f"{path}.memcli-tmp"
    fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, os.stat(path).st_mode & 0o777)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
        os.replace(temp, path)
    except OSError:
        os.unlink(temp)
        raise
