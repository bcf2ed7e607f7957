"""The version of the rules, by which an index knows that its verdicts are of these rules."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from memcli import safety

GOLDEN = Path(__file__).parent / "golden" / "version.txt"


def test_a_change_of_what_is_found_is_a_new_version(update_golden: bool) -> None:
    """If it fails: raise `VERSION` unless each text is judged as before; then run it with --update-golden."""
    files = [file for file in sorted(Path(*safety.__path__).rglob("*")) if file.suffix in (".py", ".json", ".jsonl")]
    told = f"{safety.VERSION} {sha256(b''.join(file.read_bytes() for file in files)).hexdigest()[:16]}\n"
    if update_golden:
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(told)
    assert told == GOLDEN.read_text()
