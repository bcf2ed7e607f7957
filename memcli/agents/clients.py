"""The files in which a client keeps its own settings and what its user trusts: memcli reads them, and never writes them."""

from __future__ import annotations

import json
import os
from typing import Any

from memcli.agents import json_text
from memcli.agents.files import read_text
from memcli.errors import UsageError

UNTRUSTED, PENDING, DISABLED, UNKNOWN = "untrusted", "pending", "disabled", "unknown"
"""Why a client does not use what is installed: the folder is not trusted, an approval is missing, the user has switched it
off, or the client's files do not say."""


def read_client(path: str) -> str:
    """The text of a client's file, wherever links lead; empty if there is none. Raises UsageError."""
    return read_text(os.path.realpath(path), purpose="read") or ""


def read_object(path: str) -> dict[str, Any]:
    """The object in a client's JSON file, which may have comments; empty if there is no file. Raises UsageError."""
    text = read_client(path)
    try:
        value = json.loads(text)  # far faster than what follows, and some of these files have megabytes
    except (ValueError, RecursionError):
        try:
            node = json_text.parse(text)
        except UsageError as error:
            raise UsageError(f"cannot read {path}: {error.message}", "correct the file") from None
        value = {} if node is None else node.value
    if not isinstance(value, dict):
        raise UsageError(f"cannot read {path}: it is not a JSON object", "correct the file")
    return value


def texts_at(path: str, data: dict[str, Any], key: str) -> list[str]:
    """The list of texts under a key of the object in the file at `path`. Raises UsageError for anything else there."""
    value = data.get(key, [])
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise UsageError(f"cannot read {path}: {key} is not a list of texts", "correct the file")
    return value


def is_within(folder: str, rule: str) -> bool:
    """Whether the folder that a rule names is `folder` or one above it, whatever links lead there."""
    if not os.path.isabs(rule):
        return False
    at = os.path.realpath(folder)
    try:
        named = os.stat(rule)
        while not os.path.samestat(named, os.stat(at)):
            if at == os.path.dirname(at):
                return False
            at = os.path.dirname(at)
    except (OSError, ValueError):
        return False
    return True
