"""Network file systems: whether the one that a folder is on reports every change."""

from __future__ import annotations

_SILENT = frozenset(["nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "vboxsf", "prl_fs", "drvfs",
                     "virtiofs", "glusterfs", "lustre", "davfs"])  # fmt: skip
_TABLE = "/proc/self/mountinfo"


def silent_kind(folder: str, table: str = _TABLE) -> str | None:
    """The kind of the file system when files may change on it without an event, as on a network; else None.

    `table` is a mount table in the form of Linux; without one every file system is trusted.
    """
    kind, longest = "", -1
    for point, found in _mounts(table):
        inside = folder == point or folder.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= longest:  # of two on one place the later hides the earlier
            kind, longest = found, len(point)
    return kind if kind in _SILENT or kind.startswith("fuse.") else None


def _mounts(table: str) -> list[tuple[str, str]]:
    try:
        with open(table, encoding="utf-8", errors="surrogateescape") as lines:
            rows = [line.split(" ") for line in lines]
    except OSError:
        return []
    return [(_plain(row[4]), row[row.index("-") + 1]) for row in rows if "-" in row and len(row) > row.index("-") + 1]


def _plain(point: str) -> str:
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        point = point.replace(code, char)
    return point
