"""Where sessions are kept, and the transcripts that they are imported from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from memcli.store.layout import Layout

if TYPE_CHECKING:
    from memcli.ports.sessions import SessionStore, Transcripts


def open_sessions(layout: Layout, wait: float) -> SessionStore:
    """The sessions of the store at `layout`; `wait`: how many seconds to wait for a lock."""
    from memcli.store.sessions import FileSessions

    return FileSessions(layout, wait)


def read_transcripts(path: str) -> Transcripts:
    """The conversations in a file. The first raises MemcliError when it is none that can be read."""
    from memcli.transcripts.formats import conversations

    return conversations(path)


def discover(root: str, environ: Mapping[str, str]) -> list[str]:
    """The transcripts that agents have recorded of the project with the store at `root`, sorted."""
    from memcli.transcripts import discovery

    return discovery.discover(os.path.expanduser("~"), os.path.dirname(root), environ)
