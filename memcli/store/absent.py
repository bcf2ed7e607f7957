"""Spaces that git tracks and the work tree lacks: after a sparse checkout, or deleted by hand.

They are never begun anew, for a commit would then replace the team's memory by the new one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress

from memcli.errors import MemcliError, StoreError
from memcli.git.index_file import find_index, shared_folder
from memcli.policy.acts import DELETE_SPACE
from memcli.store.atomic import read_regular
from memcli.store.layout import FOLDER, Layout, find_work_tree


def check_present(root: str, space: str = "") -> None:
    """Raises StoreError when git tracks the store at `root`, which has no space, or one `space` of it that has no file."""
    if space and os.path.lexists(os.path.join(Layout(root).spaces, f"{space}.json")):
        return
    found = absent(root)
    if space and not found.keys().isdisjoint(("", space)):
        raise _error(root, space, found.get(space) or found[""])
    if found and not space:
        raise _error(root, "", _of_whole(found))


def absent_above(start: str, home: str) -> StoreError | None:
    """What to say of the first store at or above the folder `start` that git tracks and the work tree lacks, if any."""
    _, roots = _stores_between(start, home, None)
    return next((_error(root, "", _of_whole(found)) for root in roots if (found := absent(root))), None)


def check_above(start: str, home: str, nearest: str | None) -> None:
    """Raises StoreError when the index has a store at or above the folder `start` that the work tree lacks, and that is
    nearer than the `nearest` one which is there: a write would go to the wrong one."""
    work_tree, roots = _stores_between(start, home, nearest)
    index = find_index(work_tree) if roots else None
    with suppress(OSError, ValueError):  # a damaged index is git's matter
        if index is None or not index.below([os.path.relpath(Layout(root).spaces, work_tree) for root in roots]):
            return
    for root in roots:
        if found := absent(root):
            raise _error(root, "", _of_whole(found))


def _stores_between(start: str, home: str, nearest: str | None) -> tuple[str, list[str]]:
    """The work tree that `start` is in, and where it can have stores at or above `start`, up to the `nearest`."""
    is_there = nearest is not None and os.path.dirname(nearest) == start
    work_tree = None if is_there else find_work_tree(start, home)
    folder, roots = start, list[str]()
    while work_tree is not None and (root := os.path.join(folder, FOLDER)) != nearest:
        roots.append(root)
        if folder == work_tree:
            break
        folder = os.path.dirname(folder)
    return work_tree or "", roots


def absent(root: str) -> dict[str, str]:
    """The spaces of the store at `root` that the index or HEAD has and the work tree lacks, each with the git command that
    brings it back from the current folder; the name is empty where a sparse checkout leaves out the whole folder.

    A space that memcli deleted is not absent: the next commit says so.
    """
    work_tree = find_work_tree(os.path.dirname(root))
    if work_tree is None or shared_folder(work_tree) is None:
        return {}
    import shlex

    store, top = os.path.relpath(root, work_tree), os.path.relpath(work_tree)
    git = "git" if top == os.curdir else f"git -C {shlex.quote(top)}"
    commands: dict[str, str] = {}
    with suppress(OSError, ValueError):  # a damaged index is git's matter
        index = find_index(work_tree)
        for entry in index.below([f"{store}/spaces"]) if index else ():
            do = f"sparse-checkout add {store}" if entry.is_sparse else f"restore {entry.path}"
            commands[_space(entry.path)] = f"{git} {do}"
    if not commands:
        from memcli.git.repository import Repository

        in_head = ("ls-tree", "-r", "--name-only", "HEAD", "--", f"{store}/spaces")
        with suppress(MemcliError):
            for path in Repository(work_tree).run(*in_head).splitlines():
                commands[_space(path)] = f"{git} restore --staged --worktree {path}"
    layout = Layout(root)
    is_there = {name: os.path.lexists(os.path.join(layout.spaces, f"{name}.json")) for name in commands}
    return {name: commands[name] for name in sorted(commands) if not is_there[name] and not _is_deleted(layout, name)}


def _space(path: str) -> str:
    return "" if path.endswith("/") else os.path.basename(path).removesuffix(".json")


def _is_deleted(layout: Layout, space: str) -> bool:
    """Whether the audit log of a space ends with its deletion."""
    from memcli.codec.audit import entries

    with suppress(OSError):
        last = list(entries(read_regular(layout.audit(f"{space}.jsonl"), -1) or b""))[-1:]
        return bool(last) and last[0].get("action") == DELETE_SPACE
    return False


def _of_whole(found: Mapping[str, str]) -> str:
    """The command that brings back the store, from those for its spaces."""
    command, _, path = next(iter(found.values())).rpartition(" ")
    return f"{command} {path[: path.rindex(FOLDER) + len(FOLDER)]}"


def _error(root: str, space: str, command: str) -> StoreError:
    what = f"space {space!r}" if space else root
    return StoreError(
        f"{what} is tracked by git, but missing from this work tree",
        f"`{command}` brings it back; memcli begins no new one",
    )
