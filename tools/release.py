"""Fills the templates in packaging/ for a release: `python tools/release.py DIST FOLDER`.

DIST has the sdist; the environment variables GITHUB_SERVER_URL and GITHUB_REPOSITORY say where the release will be. Writes the
files to FOLDER, with SHA256SUMS of DIST and `notes.md`, the section of the changelog.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from email.utils import formatdate
from pathlib import Path
from urllib.parse import urlsplit

from memcli import __version__

ROOT = Path(__file__).parent.parent


def fill(dist: Path, folder: Path) -> None:
    """Raises SystemExit when the sdist, or the section of the changelog, is missing."""
    files = sorted(dist.glob(f"memcli-{__version__}*"))
    sums = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    sdist = f"memcli-{__version__}.tar.gz"
    if sdist not in sums:
        sys.exit(f"{dist} has no {sdist}")
    server, repository = os.environ["GITHUB_SERVER_URL"], os.environ["GITHUB_REPOSITORY"]
    values = {
        "VERSION": __version__,
        "SHA256": sums[sdist],
        "HOMEPAGE": f"{server}/{repository}",
        "OWNER": repository.partition("/")[0],
        "HOST": urlsplit(server).netloc,
        "DATE": formatdate(int(os.environ.get("SOURCE_DATE_EPOCH", "0"))),
    }
    for template in sorted((ROOT / "packaging").rglob("*")):
        if template.is_dir():
            continue
        target = folder / template.relative_to(ROOT / "packaging")
        target = target.with_suffix("") if target.suffix == ".in" else target
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(re.sub(r"@([A-Z0-9]+)@", lambda match: values[match[1]], template.read_text()))
        target.chmod(template.stat().st_mode)
    (folder / "SHA256SUMS").write_text("".join(f"{digest}  {name}\n" for name, digest in sums.items()))
    (folder / "notes.md").write_text(section((ROOT / "CHANGELOG.md").read_text(), __version__))


def section(changelog: str, version: str) -> str:
    """The text below the heading of a version."""
    found = re.search(rf"^## \[?{re.escape(version)}\b.*?\n(.*?)(?=^## |\Z)", changelog, re.DOTALL | re.MULTILINE)
    if found is None:
        sys.exit(f"CHANGELOG.md has no section {version}")
    return found[1].strip() + "\n"


if __name__ == "__main__":
    fill(Path(sys.argv[1]), Path(sys.argv[2]))
