"""Where sessions are kept, and the transcripts that they are imported from.

Opens what a store keeps of its use: the usage log, the counters, and the questions that nothing answered.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

from memcli.beneath import remove_tree
from memcli.record import replace
from memcli.store.layout import Layout
from memcli.summarize import SUMMARIZERS

if TYPE_CHECKING:
    from memcli.app.workspace import Workspace
    from memcli.ports import Fold, Index
    from memcli.ports.gaps import Gaps
    from memcli.ports.sessions import SessionStore, Transcripts
    from memcli.ports.usage import Counters, Usage
    from memcli.store.state import State
    from memcli.store.trust import FileTrust


def open_sessions(layout: Layout, wait: float) -> SessionStore:
    """The sessions of the store at `layout`; `wait`: how many seconds to wait for a lock."""
    from memcli.store.sessions import FileSessions

    return FileSessions(layout, wait)


def open_talk(
    workspace: Workspace, layout: Layout, fold: Fold, wait: float, make_index: Callable[[Layout], Index]
) -> Workspace:
    """The workspace over what was said in sessions: a store in the cache."""
    from memcli.store.file import FileStore

    own = Layout(_talk(layout), _talk(layout))

    def erase(space: str, ids: Collection[str]) -> None:
        from memcli.index.erasing import erase as erase_index
        from memcli.store.leftovers import remove_leftovers

        erase_index(own.cache(""), own.index(space), ids, own.written_at(space))
        remove_leftovers(own)

    return replace(
        workspace,
        store=FileStore(own, fold, wait=wait, is_local=True),
        load_index=cache(lambda: make_index(own)),
        load_summarizer=SUMMARIZERS["off"],
        root=own.root,
        is_space_named=True,
        load_code=lambda: None,
        load_elsewhere=lambda: None,
        erase_traces=erase,
    )


def drop_talk(layout: Layout) -> None:
    """Empties the store that serves to search sessions, which stays the same folder: others may have it open."""
    with suppress(OSError):
        for name in os.listdir(_talk(layout)):
            remove_tree(os.path.join(_talk(layout), name), ignore_errors=True)


def _talk(layout: Layout) -> str:
    """The store that serves to search sessions: with the private state, for it has their texts, and a commit may track any
    file of the work tree."""
    return layout.private(os.path.join("cache", "sessions"))


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


_SESSION = "MEMCLI_SESSION"


def open_usage(state: State, environ: Mapping[str, str], *, is_frozen: bool, is_past: bool) -> Usage:
    """The usage log, which records nothing under a frozen clock and while memory is off; none for a store as it was."""
    if is_past:
        from memcli.ports.usage import NoUsage

        return NoUsage()
    from memcli.store.usage import LocalUsage

    return LocalUsage(state, environ.get(_SESSION, ""), _recording(state.layout, environ, is_frozen))


def open_gaps(state: State, environ: Mapping[str, str], *, is_frozen: bool, is_past: bool) -> Gaps:
    """The questions that nothing answered, to which none are added when the usage log records nothing."""
    if is_past:
        from memcli.ports.gaps import NoGaps

        return NoGaps()
    from memcli.store.notes import LocalGaps

    return LocalGaps(state, _recording(state.layout, environ, is_frozen))


def open_counters(
    state: State, environ: Mapping[str, str], trust: FileTrust, *, is_frozen: bool, is_past: bool
) -> Counters:
    """The counters, to which nothing is added when the usage log records nothing, and in a clone that nobody has accepted."""
    if is_past:
        from memcli.ports.usage import NoCounters

        return NoCounters()
    from memcli.store.notes import LocalCounters

    is_recording = _recording(state.layout, environ, is_frozen)
    return LocalCounters(state, lambda: is_recording() and trust.is_accepted)


def sign_topic(layout: Layout, topic: str) -> str:
    """A digest of a topic by the key of the store; empty where there is none."""
    from memcli.digests import blake2b
    from memcli.errors import MemcliError
    from memcli.store.key import own_key

    try:
        key = own_key(layout)
    except (MemcliError, OSError):
        return ""
    data = " ".join(topic.lower().split()).encode("utf-8", "replace")
    return blake2b(data, key=key, digest_size=8, person=b"memcli/otel/1").hexdigest()


def _recording(layout: Layout, environ: Mapping[str, str], is_frozen: bool) -> Callable[[], bool]:
    from memcli.store.switch import is_off

    return cache(lambda: not (is_frozen or is_off(layout.root, environ)))
