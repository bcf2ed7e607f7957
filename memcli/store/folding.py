"""Copies of private state that a process cannot write, and their merge into the private state by a later process.

A process that may not write the private state works on copies of its files in `local/`, whose originals, as they were then,
are in `local/waiting/` as the bases of a merge. The next process that may write merges each file: if one side alone has
changed, that side is taken; rows of the local state are joined; lines that both sides appended follow one another; spaces
are merged memory by memory; of any other file the copy is taken, which is younger. Private state that earlier versions of
memcli stored below `.memory/` is merged in the same way, without a base.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Iterator
from contextlib import suppress

from memcli import beneath
from memcli.errors import LockedError, MemcliError, StoreError, hint_of
from memcli.git.index_file import find_index
from memcli.settings import JOURNAL
from memcli.store.atomic import (
    free_name,
    make_folder,
    read_regular,
    read_stored,
    remove_quietly,
    sync_folder,
    write_file,
)
from memcli.store.lock import locked, share
from memcli.store.private import NAMES, STATE, WAITING, can_write, find_work_tree, is_private_name

_LOCK = "waiting.lock"
_WAIT_SECONDS = 2.0
_LINES = ".jsonl"
_SHARED: dict[str, int] = {}
"""The open lock files that keep other processes from merging while this process lives, by their folder."""


def copied(root: str, private: str, name: str) -> str:
    """The path in `local/` of the copy of `name` in the folder `private`, which cannot be written; copied at first use. If
    `local/` cannot be written either, the path of the existing copy, or of the original.

    No process merges the copies of the store at `root` while this process runs. Raises StoreError.
    """
    local = os.path.join(root, "local")
    top = name.split(os.sep, maxsplit=1)[0]
    source, copy, base = (os.path.join(folder, top) for folder in (private, local, os.path.join(local, WAITING)))
    if top in NAMES and not os.path.lexists(base):
        if not can_write(local):  # a read-only file system: reads use the private state, and writes will fail
            return os.path.join(private if os.path.lexists(source) and not os.path.lexists(copy) else local, name)
        if local not in _SHARED:
            make_folder(local)
            _SHARED[local] = share(os.path.join(local, _LOCK))
        if os.path.lexists(source) and not os.path.lexists(copy):
            make_folder(os.path.dirname(base))
            for target in (copy, base):  # the base last: that it exists means that the copy is complete
                _copy(source, f"{target}.tmp-{os.getpid()}")
                beneath.replace(f"{target}.tmp-{os.getpid()}", target)
    return os.path.join(local, name)


def _copy(source: str, target: str) -> None:
    import shutil

    try:
        if os.path.basename(source) == STATE:
            from memcli.store.state import copy_state

            copy_state(source, target)
        elif os.path.isdir(source):
            locks = shutil.ignore_patterns("*.lock", "lock")
            shutil.copytree(source, target, symlinks=True, ignore=locks, copy_function=shutil.copyfile)
            # `copytree` gives its folders the permissions of the originals, which this process may be unable to write.
            for folder, _, _ in os.walk(target):
                os.chmod(folder, 0o700)
        else:
            shutil.copyfile(source, target, follow_symlinks=False)
    except OSError as error:  # shutil.Error is one
        raise StoreError(f"cannot copy {source}: {error}", "check its permissions") from None


def fold(root: str, private: str) -> bool:
    """Merges the copies in the store at `root` into its private state in the folder `private`, which can be written;
    returns whether there were sessions among them.

    Waits two seconds for a process that works on the copies; after that the next command merges them. Raises StoreError.
    """
    local = os.path.join(root, "local")
    bases = os.path.join(local, WAITING)
    if not any(_tops(root, private)) and not os.path.isdir(bases):
        return False
    import filecmp  # here, since every command calls this function and hardly any has copies to merge

    with suppress(LockedError), locked(os.path.join(local, _LOCK), "what waits to be folded", _WAIT_SECONDS):
        for base, name in _files(bases, ""):
            if not os.path.lexists(os.path.join(local, name)):
                # The copy was deleted, and so is the original, unless somebody changed it since.
                with suppress(OSError):
                    if filecmp.cmp(base, os.path.join(private, name), shallow=False):
                        remove_quietly(os.path.join(private, name))
                remove_quietly(base)
        tops = list(_tops(root, private))
        for top, inside in tops:
            is_copy = top.startswith(os.path.join(local, ""))
            for path, name in _files(top, inside):
                _fold_file(path, os.path.join(private, name), name, os.path.join(bases, name) if is_copy else "")
            if os.path.isdir(top):
                beneath.remove_tree(top, ignore_errors=True)
        beneath.remove_tree(bases, ignore_errors=True)
        return any(inside.startswith(f"sessions{os.sep}") for _, inside in tops)
    return False


def check_erasable(root: str, private: str, marks: Collection[str]) -> None:
    """Raises StoreError if one of the `marks`, ids or hashes of what is to be erased, occurs in a file or file name of the
    folder `private`, which cannot be written, or of the bases of the copies in the store at `root`."""
    wanted = [mark.encode() for mark in marks]
    for top in (private, os.path.join(root, "local", WAITING)):
        for path, name in _files(top, ""):
            data = os.fsencode(name)
            if os.path.basename(path) == STATE:  # by rows, since a row may be spread over pages
                from memcli.store.state import contents

                with suppress(OSError):
                    data += "\n".join(contents(path)).encode()
            elif os.path.isfile(path) and not os.path.islink(path):
                data += read_stored(path) or b""
            if any(mark in data for mark in wanted):
                raise StoreError(
                    f"{private} cannot be written and has what is to be erased; nothing was erased",
                    "run the command where it can be written, outside of a sandbox",
                )


def _tops(root: str, private: str) -> Iterator[tuple[str, str]]:
    """The files and folders of the store that are to be merged, each with its name in the private state."""
    local = os.path.join(root, "local")
    if private != local:
        with suppress(OSError):
            yield from (
                (os.path.join(local, name), name) for name in sorted(os.listdir(local)) if is_private_name(name)
            )
    # Earlier versions had the audit log, the journal and ignored sessions outside of the private folder.
    journal = os.path.join("spaces", f"{JOURNAL}.json")
    found = [name for name in ("audit", journal) if os.path.lexists(os.path.join(root, name))]
    if os.path.isdir(os.path.join(root, "sessions")):
        lines = (read_regular(os.path.join(root, ".gitignore"), 1 << 20) or b"").decode("utf-8", "replace").splitlines()
        if "sessions/*/*" in lines:
            files = (name for _, name in _files(os.path.join(root, "sessions"), "sessions"))
            found += [name for name in files if f"!{name}" not in lines]
    work_tree = find_work_tree(os.path.dirname(root)) if found else None
    tracked: set[str] = set()
    if work_tree is not None and (index := find_index(work_tree)) is not None:
        store = os.path.relpath(root, work_tree)
        try:
            tracked = {os.path.relpath(entry.path, store) for entry in index.below([store])}
        except (OSError, ValueError):
            return  # with a damaged index nothing can be shown to be this user's own
    for name in found:
        # What git tracks came with a commit, and is not private state.
        if not any(path == name or path.startswith(f"{name}/") for path in tracked):
            yield os.path.join(root, name), name


def _files(top: str, inside: str) -> Iterator[tuple[str, str]]:
    """The files at or below `top`, each with its name in the private state."""
    if not os.path.isdir(top) or os.path.islink(top):
        if os.path.lexists(top):
            yield top, inside
        return
    for folder, _, files in os.walk(top):
        for file in sorted(files):
            path = os.path.join(folder, file)
            yield path, os.path.normpath(os.path.join(inside, os.path.relpath(path, top)))


def _fold_file(path: str, target: str, name: str, base: str) -> None:
    """Merges the copy at `path` into the file at `target`, and removes the copy; `base` is the original that was copied."""
    if name == STATE and os.path.lexists(target) and os.path.lexists(path):
        from memcli.store.state import merge_state

        merge_state(path, target, base)
        remove_quietly(base)
        remove_quietly(path)
        return
    before = read_stored(base) if base else None
    # The base goes first. A crash in between leaves the copy, which has everything; a base without its copy would look like
    # a deletion.
    remove_quietly(base)
    if os.path.islink(path) or not os.path.isfile(path) or path.endswith(".lock"):
        remove_quietly(path)
        return
    if name.split(os.sep, maxsplit=1)[0] == "quarantine":
        target = free_name(target)
    if not base and not os.path.lexists(target):
        _move(path, target)
        return
    theirs, ours = read_stored(path), read_stored(target)
    if theirs in (ours, before):
        remove_quietly(path)
    elif ours in (None, before):
        _move(path, target)
    else:
        write_file(target, _joined(name, before or b"", ours or b"", theirs or b""), 0o600)
        remove_quietly(path)


def _joined(name: str, base: bytes, ours: bytes, theirs: bytes) -> bytes:
    """The contents of the merged file `name`, which both sides have changed since `base`."""
    folder = os.path.dirname(name)
    with suppress(MemcliError):
        if folder == "audit":
            from memcli.codec.audit import Link, bare, entries, link_of, seal

            # Each line has the hash of the one before, so the new lines of the copy are sealed anew behind ours.
            link = link_of(ours, is_whole=True) or Link()
            for entry in list(entries(theirs))[len(list(entries(base))) :]:
                ours += seal(bare(entry), link) + b"\n"
                link = link_of(ours, is_whole=True) or link
            return ours
        if os.path.basename(folder) == "spaces":
            from memcli.codec.merge import merge
            from memcli.codec.space import decode_space, encode_space, new_space

            space = os.path.basename(name).removesuffix(".json")
            versions = [decode_space(data, space) if data else new_space(space) for data in (base, ours, theirs)]
            return encode_space(merge(*versions).space)
    if not name.endswith(_LINES):
        return theirs
    new = theirs.removeprefix(base)
    return ours if ours.endswith(new) else ours + new


def _move(path: str, target: str) -> None:
    """Moves a file; copies it if the target is on another file system. Raises StoreError."""
    make_folder(os.path.dirname(target))
    try:
        beneath.replace(path, target)
        sync_folder(os.path.dirname(target))
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise StoreError(
                f"cannot move {path} to {target}: {error.strerror}", hint_of(error, "check the permissions")
            ) from None
        write_file(target, read_stored(path) or b"", 0o600)
        remove_quietly(path)
