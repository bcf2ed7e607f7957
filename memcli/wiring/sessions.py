"""Where sessions are kept, and the transcripts that they are imported from."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from memcli.store.layout import Layout

if TYPE_CHECKING:
    from memcli.ports.sessions import SessionStore, Transcript


def open_sessions(layout: Layout, wait: float) -> SessionStore:
    """The sessions of the store at `layout`; `wait`: how many seconds to wait for a lock."""
    from memcli.store.sessions import FileSessions

    return FileSessions(layout, wait)


def read_transcripts(path: str) -> Iterator[Transcript]:
    """The conversations in a file, one after the other. Raises MemcliError when it is none that can be read."""
    found: Iterable[Transcript] = importlib.import_module("memcli.transcripts").conversations(path)
    yield from found


def discover(root: str, environ: Mapping[str, str]) -> list[str]:
    """The transcripts that agents have recorded of the project with the store at `root`, sorted."""
    found = importlib.import_module("memcli.transcripts").discover(
        os.path.expanduser("~"), os.path.dirname(root), environ
    )
    return sorted(map(str, found))
