"""The records beside the spaces of a store in files: trash, audit log, ledger; and the erasing of a memory from all of them.

Also finds quotes of an erased text: in other memories, exports, sessions, quarantined files, commits.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import cache, cached_property

from memcli.clock import Clock
from memcli.codec.canonical import encode
from memcli.errors import MemcliError, reason
from memcli.model.links import Severed
from memcli.model.memory import Json, Memory, telling_line
from memcli.model.space import Change, Policy, Space
from memcli.record import replace
from memcli.store.atomic import has_any, read_blocks
from memcli.store.file import FileStore
from memcli.store.layout import Layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.ports import Shelf, Store
    from memcli.store.audit import AuditLog
    from memcli.store.ledger import StoreLedger
    from memcli.store.pending import Bookkeeping
    from memcli.store.state import State
    from memcli.store.trash import FileTrash


_MAX_USER = 64
"""The maximum length of the name of a user in the audit log, in characters."""


class LocalRecords:
    """The trash, the audit log and the ledger of a store in files, each opened when it is first used."""

    def __init__(self, layout: Layout, clock: Clock, environ: Mapping[str, str], command: str, state: State) -> None:
        self.layout, self.clock, self.command, self.state, self.warn = layout, clock, command, state, state.warn
        self.user = cache(lambda: _user(environ))

    @cached_property
    def audit(self) -> AuditLog:
        from memcli.store.audit import AuditLog, Author

        return AuditLog(self.layout, Author(self.clock, self.user, self.command), self.warn)

    @cached_property
    def trash(self) -> FileTrash:
        from memcli.store.trash import FileTrash

        return FileTrash(self.layout, self.clock, self.command, self.warn)

    @cached_property
    def ledger(self) -> StoreLedger:
        from memcli.store.ledger import StoreLedger

        return StoreLedger(self.state)

    def open_store(
        self,
        fold: Callable[[Shelf, Json], tuple[Change, Json]],
        wait: float,
        in_force: Callable[[Policy], Policy],
        show: Callable[[Sequence[Memory], Policy], Sequence[Memory]],
        is_accepted: Callable[[], bool],
    ) -> FileStore:
        """The store in files. Removed memories go into the trash, redacted by `show`, and changes into the audit log."""

        def keep(removed: Space, severed: Sequence[Severed], replacing: Sequence[Memory]) -> str:
            from memcli.safety.secrets.detector import Detector

            # A secret that somebody wrote into the file by hand must not stay in the trash, nor an id made of one.
            clean = replace(removed, objects=tuple(show(removed.objects, removed.policy)))
            find = Detector({}, lambda _: "").find
            return self.trash.keep(clean, [one for one in severed if not find(one.id)], replacing)

        def open_books() -> Bookkeeping:
            from memcli.store.pending import Bookkeeping

            return Bookkeeping(self.layout, lambda: self.audit, keep, self.erase, in_force, self.warn)

        return FileStore(self.layout, fold, wait, open_books=open_books, is_accepted=is_accepted)

    def erase(self, space: str, hashes: Mapping[str, str]) -> None:
        """Erases memories from all records of a space. `hashes` are the hashes of their texts by id."""
        also = (memory.id for _, memories in self.trash.find(space, hashes) for memory in memories)
        self.erase_traces(space, {*hashes, *also})
        # Last: after a crash, only the trash shows which other memories have the same text.
        self.trash.erase(space, hashes)

    def erase_traces(self, space: str, ids: Collection[str]) -> None:
        """Erases memories from the indexes and logs of their space, from the quarantine, and from files that killed writers left."""
        from memcli.index.erasing import erase
        from memcli.store.notes import LocalAnswers, LocalUsage
        from memcli.store.pending import remove_leftovers
        from memcli.store.quarantine import erase_quarantined
        from memcli.wiring import extra

        extra("stores.sync_base").erase_bases(self.layout, space, ids)
        self.audit.erase(space, ids)
        LocalUsage(self.state).erase(space, ids)
        LocalAnswers(self.state).erase()
        erase(self.layout.cache(""), self.layout.index(space), ids, self.layout.written_at(space))
        remove_leftovers(self.layout)
        erase_quarantined(self.layout, space, ids, self.warn)


def _user(environ: Mapping[str, str]) -> str:
    """The name of the user for the audit log: `MEMCLI_USER`, or else the login name, or else the number."""
    named = next((environ[name] for name in ("MEMCLI_USER", "LOGNAME", "USER", "USERNAME") if environ.get(name)), "")
    if not named:
        import pwd

        with suppress(KeyError):  # containers often run as a user without a name
            named = pwd.getpwuid(os.getuid()).pw_name
        named = named or str(os.getuid())
    from memcli.safety.secrets.detector import Detector

    named = "".join(c for c in named if c.isprintable())
    # A name may be an e-mail address, and the audit log keeps what is written there.
    return Detector({}, lambda _: "").redact(named)[0][:_MAX_USER]


_SHARED = ("exports", "sessions", "tests")
_PRIVATE = ("inbox", "quarantine", "sessions", "trash")
_BLOCK = 1 << 20
_Skip = Callable[[str, MemcliError | OSError], None]


def find_quotes(layout: Layout, store: Store, memories: Sequence[Memory], warn: Callable[[str], None]) -> list[str]:
    """The names of memories, files and commits that contain the longest line of one of `memories`.

    Calls `warn` for those that cannot be searched. Raises StoreError.
    """
    texts = sorted({line for memory in memories if (line := telling_line(memory.raw))})
    if not texts:
        return []

    def skip(what: str, error: MemcliError | OSError) -> None:
        warn(f"cannot search {what} for other copies of the text: {reason(error)}")

    return [*_memories(store, texts, skip), *_files(layout, texts, skip), *_commits(layout, texts, skip)]


def _memories(store: Store, texts: Sequence[str], skip: _Skip) -> Iterator[str]:
    wanted = [encode(text)[1:-1] for text in texts]
    for name in store.spaces():
        try:
            with closing(store.open(name)) as snapshot:
                likely = [snapshot.decode(data) for data, _ in snapshot.records() if any(one in data for one in wanted)]
        except MemcliError as error:
            skip(f"space {name!r}", error)
            continue
        for memory in likely:
            whole = "\n".join([memory.raw, *(str(item.get("text", "")) for item in memory.context)])
            if any(text in whole for text in texts):
                yield f"memory {memory.id} {memory.path} of space {name}"


def _files(layout: Layout, texts: Sequence[str], skip: _Skip) -> Iterator[str]:
    wanted = _forms(texts)

    def skip_folder(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            skip(error.filename, error)

    tops = [(name, os.path.join(layout.root, name)) for name in _SHARED]
    tops += [(name, layout.private(name)) for name in _PRIVATE]
    for name, top in tops:
        for place, folders, files in os.walk(top, onerror=skip_folder):
            folders.sort()
            for file in sorted(files):
                path = os.path.join(place, file)
                shown = os.path.join(name, os.path.relpath(path, top))
                try:
                    # In blocks: an export may be larger than the memory, and a text may lie across two of them.
                    if has_any(read_blocks(path, _BLOCK), wanted):
                        yield shown
                except FileNotFoundError:
                    continue
                except OSError as error:
                    skip(shown, error)


def _commits(layout: Layout, texts: Sequence[str], skip: _Skip) -> Iterator[str]:
    """The commits of the repository with a version of a file of the store that contains one of the texts."""
    # Searched here, not by `git log -S`: other users of the machine can read the arguments of a process.
    from memcli.git.revisions import commits_with

    found: list[str] = []
    wanted = _forms(texts)
    try:
        for commit in commits_with(layout.root, lambda blocks: has_any(blocks, wanted)):
            found.append(commit[:10])  # noqa: PERF401 - those before a failure are named too
    except MemcliError as error:
        skip("all commits of this repository", error)
    if found:
        many = "1 commit" if len(found) == 1 else f"{len(found)} commits"
        yield f"{many} of this repository ({', '.join(found[:3])}{', ...' if len(found) > 3 else ''})"


def _forms(texts: Sequence[str]) -> set[bytes]:
    """The texts in UTF-8, and as they are encoded in JSON."""
    return {form for text in texts for form in (text.encode(), encode(text)[1:-1])}
