"""The transcripts that sessions are imported from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memcli.ports.sessions import Transcripts


def read_transcripts(path: str) -> Transcripts:
    """The conversations in a file. The first raises MemcliError when it is none that can be read."""
    from memcli.extras.transcripts.formats import conversations

    return conversations(path)


def file_of(path: str) -> str:
    """The file that `path` names, or names a conversation in."""
    from memcli.extras.transcripts.files import part_of

    return part_of(path)[0]


def discover(root: str, environ: Mapping[str, str]) -> list[str]:
    """The transcripts that agents have recorded of the project with the store at `root`, sorted."""
    from memcli.extras.transcripts import discovery

    return discovery.discover(os.path.expanduser("~"), os.path.dirname(root), environ)
