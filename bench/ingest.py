"""How fast `memcli ingest --git` reads a history, over `git log -p`: `python bench/ingest.py [REPOSITORY...]`; see bench/README.md."""

from __future__ import annotations

import argparse
import glob
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator, Sequence

from processes import Case, constant, memcli, peak, run, seconds
from report import section, table
from stores import space_file, work_folder

from memcli.store.layout import FOLDER

_HERE = os.path.dirname(os.path.abspath(__file__))
_WORDS_ONLY = {"MEMCLI_EMBEDDER": "off"}
_COMMITS, _FILES, _LINES = 2_000, 120, 600
_COLUMNS = (
    "", "commits", "memories", "`git log -p`", "ingest", "over it", "must / aim", "commits / s", "again", "peak MB",
    "store MB",
)  # fmt: skip


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="Measures how fast memcli reads histories.")
    parser.add_argument("repositories", nargs="*", metavar="REPOSITORY", help="git work trees to measure as well")
    parser.add_argument("--runs", default=5, type=int, help="fresh processes for each median [5]")
    parser.add_argument("--work", metavar="DIR", help="keep the clones here [a temporary folder]")
    options = parser.parse_args()
    with work_folder(options.work) as work:
        os.makedirs(work, exist_ok=True)
        named = [os.path.dirname(_HERE), *options.repositories]
        sources = {os.path.basename(os.path.abspath(path)) if n else "memcli": path for n, path in enumerate(named)}
        clones = {name: _clone(work, name, path) for name, path in sources.items()}
        clones["made of the standard library"] = _made(os.path.join(work, "made"))
        rows = [_row(name, root, options.runs) for name, root in clones.items()]
    section("Ingest", table(_COLUMNS, rows))


def _row(name: str, root: str, runs: int) -> Sequence[str]:
    ingest = (memcli(), "ingest", "--git", "HEAD", "--quiet", "--root", root)
    cases = [
        Case("log", constant("git", "-C", root, "log", "-p", "HEAD"), {}),
        Case("ingest", constant("env", "-C", root, *ingest), _WORDS_ONLY, lambda _: _emptied(root)),
        Case("again", constant("env", "-C", root, *ingest), _WORDS_ONLY),
    ]
    took = seconds(cases, runs)
    _emptied(root)
    held = peak(("env", "-C", root, *ingest), **_WORDS_ONLY)
    file = space_file(root, "repo")
    commits = int(run(("git", "-C", root, "rev-list", "--count", "HEAD")))
    with open(file, "rb") as stream:
        memories = stream.read().count(b"\n    {\n")
    return (
        name, f"{commits:,}", f"{memories:,}", f"{took['log']:.2f} s", f"{took['ingest']:.2f} s",
        f"{took['ingest'] / took['log']:.1f} ×", "10 × / 4 ×", f"{commits / took['ingest']:,.0f}",
        f"{took['again']:.2f} s", f"{held / 1e6:.0f}", f"{os.path.getsize(file) / 1e6:.1f}",
    )  # fmt: skip


def _emptied(root: str) -> None:
    """Makes the store anew, with the files of it that git tracks."""
    shutil.rmtree(os.path.join(root, FOLDER), ignore_errors=True)
    subprocess.run(
        ("git", "-C", root, "checkout", "--quiet", "HEAD", "--", FOLDER), stderr=subprocess.DEVNULL, check=False
    )
    run((memcli(), "init", "--quiet", "--root", root))


def _clone(work: str, name: str, path: str) -> str:
    root = os.path.join(work, name)
    if not os.path.exists(root):
        run(("git", "clone", "--quiet", "--no-local", path, root))
    return root


def _made(root: str) -> str:
    """A history of many small commits: files of the standard library, that grow by lines of each other."""
    if not os.path.exists(root):
        run(("git", "init", "--quiet", "-b", "main", root))
        subprocess.run(("git", "-C", root, "fast-import", "--quiet"), input=b"".join(_stream()), check=True)
    return root


def _stream() -> Iterator[bytes]:
    texts = [_lines(path) for path in sorted(glob.glob(os.path.join(sysconfig.get_paths()["stdlib"], "*.py")))[:_FILES]]
    files = [lines[: len(lines) // 2] for lines in texts]
    for commit in range(_COMMITS):
        touched = (
            range(len(files)) if not commit else [(commit * 7 + n * 31) % len(files) for n in range(commit % 4 + 1)]
        )
        if commit:
            for n in touched:
                donor, at = texts[(n + commit) % len(texts)], (commit * 131) % len(files[n])
                part = donor[commit % len(donor) :][: commit % 23 + 1]
                files[n] = [*files[n][:at], *part, *files[n][at + commit % 11 :]] or donor
        yield b"commit refs/heads/main\ncommitter A <a@example.org> %d +0000\n" % (1_600_000_000 + 600 * commit)
        message = b"Change %d of the files\n" % commit
        yield b"data %d\n%s\n" % (len(message), message)
        for n in dict.fromkeys(touched):
            data = b"".join(files[n])
            yield b"M 100644 inline lib/file%d.py\ndata %d\n%s\n" % (n, len(data), data)


def _lines(path: str) -> list[bytes]:
    with open(path, "rb") as file:
        return file.readlines()[:_LINES]


if __name__ == "__main__":
    main()
