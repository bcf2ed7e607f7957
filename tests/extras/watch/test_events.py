from __future__ import annotations

import os
from pathlib import Path

from watchdog.events import DirCreatedEvent, FileClosedEvent, FileMovedEvent

from memcli.extras.watch.events import MAX_NEWS, EventInbox, plan, silent_kind
from memcli.git.tree import Ignore, Tree
from tests.ingest.conftest import Repo


def walked(repo: Repo) -> Tree:
    tree = Tree(str(repo.root), Ignore(str(repo.root)))
    list(tree.files())
    return tree


def test_large_folders_left_out_are_not_watched(repo: Repo):
    for name in ("src/a/b/x.py", "src/__pycache__/x.pyc", "web/node_modules/m/index.js", "web/app/x.js", "docs/x.md"):
        repo.write(name, "x")
    assert sorted(plan(walked(repo))) == [("", False), ("docs", True), ("src", True), ("web", False), ("web/app", True)]
    whole = Tree(str(repo.root / "docs"), Ignore(str(repo.root / "docs")))
    list(whole.files())
    assert plan(whole) == [("", True)], "a tree without any is one watch"


def test_the_number_of_watches_is_bounded(repo: Repo):
    for n in range(300):
        repo.write(f"p{n}/node_modules/m/x.js", "x")
        repo.write(f"p{n}/src/x.js", "x")
    watches = plan(walked(repo))
    assert len(watches) < 300
    covered = {folder for folder, is_deep in watches if is_deep}
    assert all(any(not f or f"p{n}/src".startswith(f) for f in covered) for n in range(300))


def test_news(repo: Repo):
    root = str(repo.root)
    inbox = EventInbox(root, lambda path, _: not path.startswith("skip"))
    for event in (FileClosedEvent(f"{root}/a"), FileMovedEvent(f"{root}/b", f"{root}/c"), FileClosedEvent(f"{root}/skip"),
                  FileClosedEvent("/elsewhere"), FileClosedEvent(root)):  # fmt: skip
        inbox.dispatch(event)
    assert inbox.take() == ({"a", "b", "c"}, False)
    assert inbox.take() == (frozenset(), False)
    inbox.dispatch(DirCreatedEvent(os.fsencode(f"{root}/d")))
    assert inbox.take()[1]
    for n in range(MAX_NEWS + 1):
        inbox.dispatch(FileClosedEvent(f"{root}/{n}"))
    paths, needs_scan = inbox.take()
    assert needs_scan
    assert len(paths) == MAX_NEWS


TABLE = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:30 / /home/ann rw shared:5 - nfs4 server:/home rw
31 30 8:2 / /home/ann/own\\040disk rw - xfs /dev/sdb1 rw
32 22 0:31 / /mnt rw - fuse.sshfs host:/ rw
broken line
"""


def test_the_nearest_mount_decides(tmp_path: Path):
    (tmp_path / "table").write_text(TABLE)

    kinds = {
        "/srv/x": None, "/home/ann/x": "nfs4", "/home/ann": "nfs4", "/home/anna": None, "/home/ann/own disk/x": None,
        "/mnt/x": "fuse.sshfs",
    }  # fmt: skip
    assert {folder: silent_kind(folder, str(tmp_path / "table")) for folder in kinds} == kinds
    assert silent_kind("/srv", "/nowhere") is None, "without a table"
