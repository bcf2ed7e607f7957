from __future__ import annotations

from pathlib import Path

from memcli.extras.watch.events import silent_kind

TABLE = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:30 / /home/ann rw shared:5 - nfs4 server:/home rw
31 30 8:2 / /home/ann/own\\040disk rw - xfs /dev/sdb1 rw
32 22 0:31 / /mnt rw - fuse.sshfs host:/ rw
broken line
"""


def test_the_nearest_mount_decides(tmp_path: Path):
    (tmp_path / "table").write_text(TABLE)

    def kind(folder: str) -> str | None:
        return silent_kind(folder, str(tmp_path / "table"))

    assert kind("/srv/x") is None
    assert kind("/home/ann/x") == "nfs4"
    assert kind("/home/ann") == "nfs4"
    assert kind("/home/anna") is None
    assert kind("/home/ann/own disk/x") is None
    assert kind("/mnt/x") == "fuse.sshfs"


def test_without_a_table():
    assert silent_kind("/srv", "/nowhere") is None
