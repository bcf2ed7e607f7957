"""Comments in the message of a commit that is being written: lines that git strips again."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress

from memcli.errors import ProviderError
from memcli.git.repository import Repository

_MAX_MESSAGE = 1 << 24
_CUT = re.compile(rb"^.{0,9} -{24} >8 -{24}$", re.MULTILINE)
_AUTO_MARKS = "#;@!$%^&|:"
# git writes this in the user's language. It is the only sign of --cleanup on the command line, so a message without it is not
# changed.
_STRIPS_COMMENTS = re.compile(rb"will be ignored")


def comment(repository: Repository, path: str, lines: Sequence[str]) -> bool:
    """Adds the lines as comments to the message at `path`, if git will strip them; whether it did.

    Raises OSError, ProviderError.
    """
    if not lines:
        return False
    with open(path, "rb") as file:
        text = file.read(_MAX_MESSAGE)
    cut = _CUT.search(text)
    settings = {}  # names in lower case, as git prints them
    with suppress(ProviderError):  # git fails when there is no such key
        keys = r"^(commit\.cleanup|core\.comment(char|string))$"
        for entry in repository.run("config", "-z", "--get-regexp", keys).split("\0"):
            name, _, value = entry.partition("\n")
            settings[name] = value
    cleanup = settings.get("commit.cleanup", "")
    is_stripped = cleanup in ("", "default", "strip") and _STRIPS_COMMENTS.search(text) is not None
    # Where comments are stripped, the lines go above the scissors line, below which git cuts everything.
    at = cut.start() if cut and is_stripped else len(text)
    # git's last line begins with the comment mark. Where it does not, the command line has set another mark, or no comments
    # are written.
    mark = settings.get("core.commentstring") or settings.get("core.commentchar") or "#"
    last = text[:at].rstrip().rpartition(b"\n")[2]
    if mark == "auto":
        mark = last[:1].decode("ascii", "replace")
        mark = mark if mark in _AUTO_MARKS else ""
    elif not last.startswith(mark.encode()):
        mark = ""
    if not mark or not (is_stripped or (cleanup == "scissors" and cut)):
        return False
    added = "".join(f"{mark} memcli: {line}\n" for line in lines).encode("utf-8", "replace")
    gap = b"" if text[:at].endswith(b"\n") else b"\n"
    _replace_message(path, text[:at] + gap + added + text[at:])
    return True


def _replace_message(path: str, data: bytes) -> None:
    """Replaces the message at `path` atomically, because git reads it even if memcli is killed. Raises OSError."""
    temp = f"{path}.memcli-tmp"
    fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, os.stat(path).st_mode & 0o777)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
        os.replace(temp, path)
    except OSError:
        os.unlink(temp)
        raise
