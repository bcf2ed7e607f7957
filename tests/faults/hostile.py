"""Every hostile name with every command that takes one: nothing outside the store may change.

    python -m tests.faults.hostile            # by a look at all files around
    python -m tests.faults.hostile --strace   # and at every file that is opened: nothing else may be read or written

Exits with 1 when something was touched, or when a command ended other than it may.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.faults import trace
from tests.faults.names import NAMES
from tests.faults.scene import ROOT, STORE, Scene, fast_folder, warm_up

COMMANDS = ("remember -s", "remember --path", "remember --object", "recall -s", "import -s", "import FILE")
_CODES = (0, 2, 3, 4, 5, 6, 8)
_MARK = b"do not touch"
_OPENS = re.compile(r"^(?:\d+ +)?(\w+)\((.*)\) += (-?\d+|\?)")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')


def around(scene: Scene) -> dict[str, bytes]:
    """Every file near the store that is not in it."""
    found = {}
    for folder in (scene.base / "outside", scene.base / "home", scene.work):
        for path in folder.rglob("*"):
            if STORE not in path.parts and ".git" not in path.parts:
                found[str(path)] = path.read_bytes() if path.is_file() else b"/"
    return found


def arguments(command: str, name: bytes) -> tuple[list[str], str]:
    """The command line and the standard input that try `name`."""
    text = os.fsdecode(name)
    if command == "remember --object":
        body = {"raw": "A text.", "path": name.decode("utf-8", "replace") + "\0", "id": name.decode("utf-8", "replace")}
        return ["remember", "--object", "-"], json.dumps(body)
    return {
        "remember -s": ["remember", "A text.", "-s", text],
        "remember --path": ["remember", "A text.", "--path", text],
        "recall -s": ["recall", "text", "-s", text, "--no-global"],
        "import -s": ["import", "bundle.json", "-s", text],
        "import FILE": ["import", text],
    }[command], ""


def prepare(scene: Scene) -> None:
    """A store, a bundle, and files outside that must stay as they are."""
    scene.reset()
    assert scene.run(("remember", "We chose PostgreSQL.", "--path", "db/engine")).code == 0
    assert scene.run(("export", "--out", "bundle.json")).code == 0
    (scene.base / "outside").mkdir(exist_ok=True)
    (scene.base / "outside" / "secret").write_bytes(_MARK)
    (scene.work / "main.json").write_bytes(_MARK)
    scene.keep("template")


def tried(scene: Scene, command: str, name: bytes, *, strace: bool) -> list[str]:
    """What went wrong when `command` met `name`."""
    before = around(scene)
    line, stdin = arguments(command, name)
    problems = []
    if strace:
        code, err, touched = _traced(scene, line, stdin)
        problems += [f"touches {path}" for path in touched if command != "import FILE" or "write" in path]
    else:
        ended = scene.run(line, stdin)
        code, err = ended.code, ended.err
        if _MARK.decode() in ended.out + ended.err:
            problems.append("shows what lies outside")
    if around(scene) != before:
        problems.append("changes something outside the store")
        scene.reset(scene.base / "template")
    if "Traceback" in err or "internal error" in err:
        problems.append(err.strip().splitlines()[-1])
    if code not in _CODES:
        problems.append(f"exits with {code}")
    if any((ord(c) < 32 and c != "\n") or 0x7F <= ord(c) <= 0x9F or c in "\u202e\u2066\u200b" for c in err):
        problems.append(f"prints the name as it is: {err!r}")
    return [f"{command} {name!r}: {problem}" for problem in problems]


def _traced(scene: Scene, line: list[str], stdin: str) -> tuple[int, str, list[str]]:
    """The exit code, stderr, and every file outside store, program and system that was opened or changed."""
    log = scene.base / "strace.log"
    names = "?open,?openat,?creat,?rename,?renameat,?renameat2,?unlink,?unlinkat,?mkdir,?mkdirat,?link,?linkat,?symlink,?truncate"
    done = subprocess.run(
        ["strace", "-qq", "-s", "8192", "-o", str(log), "-e", f"trace={names}", sys.executable, "-P", "-m", "memcli", *line],
        cwd=scene.work, env=scene.environ, input=stdin, capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    touched = []
    for text in log.read_text(errors="replace").splitlines():
        match = _OPENS.match(text)
        if match is None or int(match[3].replace("?", "-1")) < 0:
            continue
        writes = match[1] not in ("open", "openat") or any(
            flag in match[2] for flag in ("O_WRONLY", "O_RDWR", "O_CREAT")
        )
        for quoted in _QUOTED.findall(match[2]):
            path = os.path.abspath(os.path.join(scene.work, quoted))
            if not _may(scene, path, writes):
                touched.append(f"{path} ({'write' if writes else 'read'})")
    return done.returncode, done.stderr, touched


def _may(scene: Scene, path: str, writes: bool) -> bool:
    if path.startswith(f"{scene.store}/") or path == str(scene.store) or path == os.devnull:
        return True
    if writes:
        return "/__pycache__" in path
    near = (str(scene.base / "outside"), str(scene.base / "home"), str(scene.work), "/root", "/tmp")
    known = (str(ROOT), sys.prefix, sys.base_prefix, str(scene.work / "bundle.json"))
    return path == str(scene.work) or path.startswith(known) or not path.startswith(near)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--strace", action="store_true", help="look at every call")
    parser.add_argument("--every", type=int, default=1, help="every N-th name only")
    given = parser.parse_args()
    if given.strace and not trace.is_there():
        print("strace is not here, or may not trace", file=sys.stderr)
        return 2
    warm_up()
    counts: Counter[str] = Counter()
    problems = []
    with tempfile.TemporaryDirectory(prefix="memcli-hostile-", dir=fast_folder()) as base:
        scene = Scene(Path(os.path.realpath(base)))
        prepare(scene)
        for n, name in enumerate(NAMES):
            for k, command in enumerate(COMMANDS):
                if (n + k) % given.every == 0:
                    counts[command] += 1
                    problems += tried(scene, command, name, strace=given.strace)
    for problem in problems:
        print(problem.encode("utf-8", "replace").decode())
    print(", ".join(f"{command}: {count} names" for command, count in counts.items()))
    print(f"{len(problems)} problems")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
