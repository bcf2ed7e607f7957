"""Opens the usage log of a store."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memcli.ports.usage import Usage
    from memcli.store.layout import Layout

_SESSION = "MEMCLI_SESSION"


def open_usage(layout: Layout, environ: Mapping[str, str], *, is_frozen: bool, is_past: bool) -> Usage:
    """The usage log, which records nothing under a frozen clock and while memory is off; none for a store as it was."""
    if is_past:
        from memcli.ports.usage import NoUsage

        return NoUsage()
    from memcli.store.switch import is_off
    from memcli.store.usage import FileUsage

    is_recording = cache(lambda: not (is_frozen or is_off(layout.root, environ)))
    return FileUsage(layout, environ.get(_SESSION, ""), is_recording)
