"""The transcripts that sessions are imported from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from memcli.wiring.extras import extra

if TYPE_CHECKING:
    from memcli.ports.sessions import Transcripts


def read_transcripts(path: str) -> Transcripts:
    """The conversations in a file. The first raises MemcliError when it is none that can be read."""
    found: Transcripts = extra("transcripts.formats").conversations(path)
    return found


def file_of(path: str) -> str:
    """The file that `path` names, or names a conversation in."""
    file: str = extra("transcripts.files").part_of(path)[0]
    return file


def discover(root: str, environ: Mapping[str, str]) -> list[str]:
    """The transcripts that agents have recorded of the project with the store at `root`, sorted."""
    home, project = os.path.expanduser("~"), os.path.dirname(root)
    found: list[str] = extra("transcripts.discovery").discover(home, project, environ)
    return found
