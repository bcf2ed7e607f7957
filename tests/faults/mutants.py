"""Would the suite notice? Builds with one safeguard taken out, each of which must make it fail.

    python -m tests.faults.mutants             # all
    python -m tests.faults.mutants lock fsync  # those whose name has one of these words in it

Each mutant is a copy of the tree in which one text stands for another. A text that is not found is an error: the code
has moved on, and the table must follow. Exits with 1 when a mutant survives.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_LARGE_BYTES = 1 << 20
_LIMIT_SECONDS = 900

ORDER = ("pytest", "tests/faults/test_order.py")
SWEEP = ("tests.faults.sweep", "--short", "--jobs", "2", "--case", "remember", "--case", "edit")
STORM = ("tests.faults.storm", "--writers", "8", "--count", "40")
KILLS = ("tests.faults.storm", "--writers", "8", "--kill-every", "15", "--seconds", "10")
MODEL = ("pytest", "tests/faults/test_machine.py")
TALK = ("pytest", "tests/store/test_sessions.py", "tests/cli/test_session.py", "tests/faults/test_order.py")
SECRETS = ("pytest", "tests/safety", "tests/cli", "-k", "redact or secret")


@dataclass(frozen=True)
class Mutant:
    """A safeguard taken out. The `checks` are run in turn until one fails; one that passes has not seen it."""

    name: str
    file: str
    old: str
    new: str
    checks: tuple[tuple[str, ...], ...] = (ORDER, SWEEP, STORM)


_REDACTION = "memcli/app/redact.py"
_ATOMIC = "memcli/store/atomic.py"
MUTANTS = (
    Mutant("no fsync of the file", _ATOMIC, "        _sync(fd)\n        return os.fstat(fd)", "        return os.fstat(fd)"),
    Mutant("no fsync of the folder", _ATOMIC, "    try:\n        sync_folder(folder)\n", "    try:\n        pass\n"),
    Mutant(
        "no fsync of the folder on removal", _ATOMIC,
        '        sync_folder(os.path.dirname(path))\n    except OSError as error:\n        raise StoreError(\n            f"{path} was removed',
        '        pass\n    except OSError as error:\n        raise StoreError(\n            f"{path} was removed',
    ),
    Mutant(
        "fsync before the last byte", _ATOMIC,
        "        _write_all(fd, pieces)\n        if", "        _sync(fd)\n        _write_all(fd, pieces)\n        return os.fstat(fd)\n        if",
    ),
    Mutant(
        "no lock", "memcli/store/lock.py",
        "        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)", "        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)",
        (STORM, ORDER),
    ),
    Mutant(
        "truncate and write for the rename", _ATOMIC, "            beneath.replace(temp, path, root)\n",
        "            with open(temp, 'rb') as a, open(path, 'wb', 0) as b:\n                b.write(a.read())\n"
        "            os.unlink(temp)\n",
        (SWEEP, ORDER),
    ),
    Mutant(
        "written in place", _ATOMIC, "        status = _write_temp(temp, ", "        temp = path\n        status = _write_temp(temp, ",
        (SWEEP, ORDER),
    ),
    Mutant(
        "a failed write said to be done", _ATOMIC, '        raise StoreError(f"cannot write {path}: {error.strerror}", _hint(error)) from None\n    try:\n        sync',
        "        return os.stat(os.path.dirname(path))\n    try:\n        sync", (SWEEP,),
    ),
    Mutant(
        "a written file said to be unchanged", _ATOMIC, "was written, but may not survive a power failure:", "cannot be written:",
        (SWEEP,),
    ),
    Mutant(
        "answered before it is written", "memcli/store/file.py", "        whole = draft.change()\n",
        "        whole = draft.change()\n        journal.answer(answers)\n", (KILLS,),
    ),
    Mutant(
        "the splice trusts a file that it did not write", "memcli/store/file.py",
        "not is_known and not snapshot.is_canonical()", "False", (MODEL,),
    ),
    Mutant(
        "redaction after the write", "memcli/app/remember.py", "    if redacted.kinds:\n        given = checked_fields(",
        "    if False:\n        given = checked_fields(", (SECRETS, SWEEP),
    ),
    Mutant(
        "no fsync of a message", _ATOMIC,
        "            _write_all(fd, [data])\n            _sync(fd)", "            _write_all(fd, [data])", (TALK,),
    ),
    Mutant("a torn message stays", _ATOMIC, "            os.ftruncate(fd, end)\n            _write", "            _write", (TALK,)),
    Mutant(
        "a failed message stays", _ATOMIC,
        "            with suppress(OSError):\n                os.ftruncate(fd, end)\n            raise", "            raise", (TALK,),
    ),
    Mutant(
        "an import overwrites what was added meanwhile", "memcli/store/sessions.py",
        "if os.path.lexists(path) if before is None else not before.is_same(path):", "if False:", (TALK,),
    ),
    Mutant("a message is not redacted", "memcli/app/session.py", "str(found.fields[name])", "texts[name]", (TALK,)),
)  # fmt: skip


def main(words: list[str]) -> int:
    chosen = [m for m in MUTANTS if not words or any(word in m.name for word in words)]
    with tempfile.TemporaryDirectory(prefix="memcli-mutants-") as base:
        tree = Path(base) / "tree"
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".*", "__pycache__"), copy_function=_copy)
        failed = False
        for mutant in [m for m in chosen if m.checks[0] is SECRETS]:
            if not (tree / _REDACTION).exists():
                print(f"absent     {mutant.name:<48} this build does not redact")
                chosen.remove(mutant)
        for check in dict.fromkeys(check for mutant in chosen for check in mutant.checks):
            if said := _run(tree, check):
                print(f"{'FAILS AS IT IS':<15} {' '.join(check)}\n{said}")
                failed = True
        for mutant in chosen:
            started = time.monotonic()
            verdict, by = _try(tree, mutant)
            failed = failed or verdict != "caught"
            print(f"{verdict:<10} {mutant.name:<48} {by} ({time.monotonic() - started:.0f} s)", flush=True)
    return int(failed)


def _try(tree: Path, mutant: Mutant) -> tuple[str, str]:
    file = tree / mutant.file
    text = file.read_text()
    if text.count(mutant.old) != 1:
        return "NOT FOUND", f"{text.count(mutant.old)} times in {mutant.file}: mend the table"
    file.write_text(text.replace(mutant.old, mutant.new))
    shutil.rmtree(file.parent / "__pycache__", ignore_errors=True)  # bytecode goes by size and whole seconds
    try:
        for check in mutant.checks:
            if _run(tree, check):
                return "caught", f"by {' '.join(check[:2])}"
    finally:
        file.write_text(text)
    return "SURVIVED", "nothing noticed"


def _run(tree: Path, check: tuple[str, ...]) -> str:
    """Runs a check in the copy; the end of what it said when it failed."""
    extra = ("-q", "-x", "-p", "no:randomly", f"--basetemp={tree.parent / 'pytest'}") if check[0] == "pytest" else ()
    done = subprocess.run(
        [sys.executable, "-P", "-m", *check, *extra], cwd=tree, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1", "HYPOTHESIS_PROFILE": "unshrunk"}, timeout=_LIMIT_SECONDS,
    )  # fmt: skip
    return (done.stdout + done.stderr)[-1500:] if done.returncode else ""


def _copy(source: str, target: str) -> None:
    if os.path.getsize(source) > _LARGE_BYTES:
        os.symlink(source, target)
    else:
        shutil.copy2(source, target)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
