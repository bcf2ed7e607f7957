"""What still quotes a text that was erased: other memories, exports, conversations, what was put aside, commits."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

from memcli.codec.canonical import encode
from memcli.errors import MemcliError, reason
from memcli.model.memory import Memory, telling_line
from memcli.ports import Snapshot, Store
from memcli.store.layout import Layout
from memcli.store.reading import has_any, read_blocks

_SHARED = ("exports", "sessions", "tests")
_PRIVATE = ("inbox", "quarantine", "sessions", "trash")
_BLOCK = 1 << 20
_Skip = Callable[[str, MemcliError | OSError], None]


def find_quotes(layout: Layout, store: Store, memories: Sequence[Memory], warn: Callable[[str], None]) -> list[str]:
    """Names of what holds the text of one of `memories`, or of its longest line, as a reader would look for it.

    `warn` hears of what cannot be searched. Raises StoreError.
    """
    texts = sorted({line for memory in memories if (line := telling_line(memory.raw))})
    if not texts:
        return []

    def skip(what: str, error: MemcliError | OSError) -> None:
        warn(f"cannot search {what} for other copies of the text: {reason(error)}")

    return [*_memories(store, texts, skip), *_files(layout, texts, skip), *_commits(layout, texts, skip)]


def _memories(store: Store, texts: Sequence[str], skip: _Skip) -> Iterator[str]:
    for name in store.spaces():
        try:
            with closing(store.open(name)) as snapshot:
                found = [memory for memory in _holding(snapshot, texts) if _quotes(memory, texts)]
        except MemcliError as error:
            skip(f"space {name!r}", error)
            continue
        for memory in found:
            yield f"memory {memory.id} {memory.path} of space {name}"


def _holding(snapshot: Snapshot, texts: Sequence[str]) -> Iterator[Memory]:
    """The memories in which one of the texts stands. Raises CorruptError."""
    wanted = [encode(text)[1:-1] for text in texts]
    for data, _ in snapshot.records():
        if any(text in data for text in wanted):
            yield snapshot.decode(data)


def _quotes(memory: Memory, texts: Sequence[str]) -> bool:
    whole = "\n".join([memory.raw, *(str(item.get("text", "")) for item in memory.context)])
    return any(text in whole for text in texts)


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
                told = os.path.join(name, os.path.relpath(path, top))
                try:
                    if has_any(read_blocks(path, _BLOCK), wanted):
                        yield told
                except FileNotFoundError:
                    continue
                except OSError as error:
                    skip(told, error)


def _commits(layout: Layout, texts: Sequence[str], skip: _Skip) -> Iterator[str]:
    """The commits of the repository that brought a version of a file of the store with one of the texts.

    Their files are searched here: what is passed to git as an argument can be read by the other users of the machine.
    """
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
    """The texts as they are, and as they are in JSON."""
    return {form for text in texts for form in (text.encode(), encode(text)[1:-1])}
