"""Spaces that git tracks and the work tree lacks, after a sparse checkout or because somebody deleted the files.

memcli creates no new space of such a name: the next commit would replace the team's memories by it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache

from memcli.errors import MemcliError, StoreError
from memcli.git.index_file import find_index, shared_folder
from memcli.policy.acts import DELETE_SPACE
from memcli.store.atomic import read_regular
from memcli.store.layout import FOLDER, Layout, find_work_tree


def check_present(root: str, space: str = "") -> None:
    """Raises StoreError when git tracks the `space` of the store at `root` and it has no file; without a `space`, when git
    tracks any space that has none."""
    if space and os.path.lexists(os.path.join(Layout(root).spaces, f"{space}.json")):
        return
    found = absent(root)
    if found and (not space or not found.keys().isdisjoint(("", space))):
        raise _error(root, found, space)


def absent_above(start: str, home: str) -> StoreError | None:
    """The error for the nearest store at or above the folder `start` that git tracks and the work tree lacks, if any."""
    _, roots = _stores_between(start, home, None)
    return next((_error(root, found) for root in roots if (found := absent(root))), None)


def check_above(start: str, home: str, nearest: str | None) -> None:
    """Raises StoreError when the index of git has a store that the work tree lacks, at or above the folder `start` and
    below the `nearest` existing store."""
    # A write would go to the existing store further up, though the user works in a folder with a store of its own.
    work_tree, roots = _stores_between(start, home, nearest)
    index = find_index(work_tree) if roots else None
    with suppress(OSError, ValueError):  # a damaged index is git's matter
        if index is None or not index.below([os.path.relpath(Layout(root).spaces, work_tree) for root in roots]):
            return
    for root in roots:
        if found := absent(root):
            raise _error(root, found)


def _stores_between(start: str, home: str, nearest: str | None) -> tuple[str, list[str]]:
    """The work tree of `start`, "" if there is none, and the paths at which it could have a store between `start` and the
    `nearest` one."""
    work_tree = find_work_tree(start, home)
    folder, roots = start, list[str]()
    while work_tree is not None and (root := os.path.join(folder, FOLDER)) != nearest:
        roots.append(root)
        if folder == work_tree:
            break
        folder = os.path.dirname(folder)
    return work_tree or "", roots


def absent(root: str) -> dict[str, str]:
    """The spaces of the store at `root` that the index or HEAD of git has and the work tree lacks, each with the git
    command, for the current folder, that restores it. Under "" it has a whole folder that a sparse checkout leaves out.

    A space that memcli itself deleted is not absent.
    """
    work_tree = find_work_tree(os.path.dirname(root))
    if work_tree is None or shared_folder(work_tree) is None:
        return {}
    import shlex

    store, top = os.path.relpath(root, work_tree), os.path.relpath(work_tree)
    git = "git" if top == os.curdir else f"git -C {shlex.quote(top)}"
    commands: dict[str, str] = {}
    index = find_index(work_tree)
    with suppress(OSError, ValueError):  # a damaged index is git's matter
        for entry in index.below([f"{store}/spaces"]) if index else ():
            do = f"sparse-checkout add {store}" if entry.is_sparse else f"restore {entry.path}"
            commands[_space(entry.path)] = f"{git} {do}"
    if index and not commands:  # the index lacks a space after `git rm`, and HEAD still has it
        from memcli.git.tree import marks_of_head

        with suppress(MemcliError):
            for path in _in_head(work_tree, f"{store}/spaces", marks_of_head(index.git_dir)):
                commands[_space(path)] = f"{git} restore --staged --worktree {path}"
    layout = Layout(root)
    missing = [name for name in sorted(commands) if not os.path.lexists(os.path.join(layout.spaces, f"{name}.json"))]
    return {name: commands[name] for name in missing if not _is_deleted(layout, name)}


@lru_cache(1)  # an ingest into a new store asks hundreds of times, and starting git takes milliseconds
def _in_head(work_tree: str, folder: str, marks: object) -> list[str]:  # noqa: ARG001
    """The files that HEAD has below a folder; `marks` differ when HEAD does. Raises MemcliError."""
    from memcli.git.repository import Repository

    return Repository(work_tree).run("ls-tree", "-r", "--name-only", "HEAD", "--", folder).splitlines()


def _space(path: str) -> str:
    """The space of a path in git's index; "" for a folder, which a sparse index has in place of its files."""
    return "" if path.endswith("/") else os.path.basename(path).removesuffix(".json")


def _is_deleted(layout: Layout, space: str) -> bool:
    """Whether the audit log of a space ends with its deletion."""
    from memcli.codec.audit import entries

    with suppress(OSError):
        last = list(entries(read_regular(layout.audit(f"{space}.jsonl"), -1) or b""))[-1:]
        return bool(last) and last[0].get("action") == DELETE_SPACE
    return False


def _error(root: str, found: Mapping[str, str], space: str = "") -> StoreError:
    """The error for a `space`, or for the whole store, of which `absent` has found the commands."""
    what, command = f"space {space!r}", found.get(space) or found.get("", "")
    if not space:  # the same git command restores the whole folder as one file of it
        verb, _, path = next(iter(found.values())).rpartition(" ")
        what, command = root, f"{verb} {path[: path.rindex(FOLDER) + len(FOLDER)]}"
    return StoreError(
        f"{what} is tracked by git, but missing from this work tree",
        f"`{command}` brings it back; memcli begins no new one",
    )
