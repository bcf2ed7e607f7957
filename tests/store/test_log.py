from __future__ import annotations

import json
from pathlib import Path

from memcli.store.layout import Layout
from memcli.store.log import MAX_BYTES, HookLog, Log


def test_a_full_log_makes_room(tmp_path: Path):
    log = Log(str(tmp_path / "x.log"), max_bytes=100)
    for n in range(20):
        log.add({"event": "batch", "n": n})
    kept = sorted(path.name for path in tmp_path.iterdir())
    assert kept == ["x.log", "x.log.1"]
    assert all((tmp_path / name).stat().st_size < 150 for name in kept)
    assert json.loads((tmp_path / "x.log").read_text().splitlines()[-1]) == {"event": "batch", "n": 19}


def test_the_last_of_a_kind_is_found_in_either_file(tmp_path: Path):
    log = Log(str(tmp_path / "x.log"), max_bytes=60)
    assert log.last("start") is None
    log.add({"event": "start", "n": 1})
    for n in range(3):
        log.add({"event": "batch", "n": n})
    assert (tmp_path / "x.log.1").exists()
    assert log.last("start") == {"event": "start", "n": 1}
    assert log.last("batch") == log.last() == {"event": "batch", "n": 2}


def test_hooks_write_to_a_log_that_makes_room(tmp_path: Path):
    layout = Layout(str(tmp_path))
    log = HookLog(layout, "main")
    assert log.last() == {}
    log.add({"n": 1})
    file = Path(layout.local("hooks.log"))
    file.write_bytes(file.read_bytes() + b"x" * MAX_BYTES)
    log.add({"n": 2})
    assert file.with_name("hooks.log.1").exists()
    assert log.last() == json.loads(file.read_text()) == {"n": 2}
    file.write_bytes(b'{"n": ')
    assert log.last() == {"n": 1}, "a line that a crash tore is passed over"


def test_damage_is_passed_over(tmp_path: Path):
    (tmp_path / "x.log").write_bytes(b'{"event": "batch", "n": 1}\n\xff\n[]\n{"event": "bat')
    assert Log(str(tmp_path / "x.log")).last("batch") == {"event": "batch", "n": 1}


def test_a_log_that_cannot_be_written_is_done_without(tmp_path: Path):
    (tmp_path / "x.log").mkdir()
    Log(str(tmp_path / "x.log")).add({"event": "batch"})
    Log(str(tmp_path / "no" / "x.log")).add({"event": "batch"})
    assert Log(str(tmp_path / "x.log")).last("batch") is None
