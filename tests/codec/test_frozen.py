"""The files of a released format stay readable for ever: `golden/codec/v1` was written once and is never rewritten.

They hold a memory of every kind, one with no field at its default, a policy with every field, and fields that no version
knows; each export format of them; and an audit log. `golden/codec/audit` has a log of each rule that hashes were made by.
"""

from __future__ import annotations

import hashlib

import pytest

from memcli.codec import audit
from memcli.codec.bundle import ENCODERS, FORMATS, read_export
from memcli.codec.memory import memory_to_json
from memcli.codec.space import decode_space, encode_full, encode_space
from memcli.model.memory import Memory
from memcli.model.shapes import KINDS, MEMORY_FIELDS, POLICY_FIELDS
from memcli.model.space import Policy
from memcli.record import as_dict, defaults
from tests.conftest import ROOT

V1 = ROOT / "golden" / "codec" / "v1"
V2 = ROOT / "golden" / "codec" / "v2" / "space.json"
DIGESTS = {
    "audit.jsonl": "9f60cdf3c8d4bb069f29024a51079c7e63408f267b517d558bd470542c1543c8",
    "export.json": "0bc085f6f497b291c7aa29fd4edb4814a5e9ce070cafe41f2e8d6c791c074464",
    "export.jsonl": "7d26e5181beb29f460f589f4e822773801c145fcc811cbb33424322eb9e68a7b",
    "export.md": "7ec250efb1e8fa7516c21d80bfa4518081b1dd5e6cc351295cfb51a71401dfc5",
    "part.json": "7a5e7705a6ac63c8ffe9d844cdfcda0b0dd18894d40c8d7e53d9de1da70de15b",
    "space.json": "69ee550288a05f0bef0af880a320c74e6f671531963224edb4dba0c9dabda994",
}


def _bytes(name: str) -> bytes:
    return (V1 / name).read_bytes()


def test_the_files_are_those_that_were_written() -> None:
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in V1.iterdir()}
    assert found == DIGESTS


def test_a_space_is_read_and_written_as_it_was() -> None:
    data = _bytes("space.json")
    assert encode_full(decode_space(data, "space.json")) == data


def test_a_space_of_version_1_is_rewritten_in_version_2(request: pytest.FixtureRequest) -> None:
    space = decode_space(_bytes("space.json"), "space.json")
    data = encode_space(space)
    if request.config.getoption("--update-golden"):
        V2.write_bytes(data)
    assert data == V2.read_bytes()
    assert decode_space(data, "space.json") == space


_LATER = ["season"]
"""The fields of a memory that came after version 1 was frozen."""


def test_every_field_is_read() -> None:
    space = decode_space(_bytes("space.json"), "space.json")
    by_id = {memory.id: memory for memory in space.objects}
    assert {memory.kind for memory in space.objects} == {*KINDS, "runbook"}
    full, plain = by_id["mem_full"], defaults(Memory)
    assert [name for name, value in as_dict(full).items() if value == plain[name]] == _LATER
    assert memory_to_json(full).keys() == {*MEMORY_FIELDS, "x_future"} - {"hash", *_LATER}
    at_default = [name for name in POLICY_FIELDS if getattr(space.policy, name) == defaults(Policy)[name]]
    assert " ".join(at_default) == (
        "compaction promote max_episodes seasons gaps upkeep quota agents max_chars recent_messages chunk_size max_chunks "
        "promote_confidence archive_below archive_days"
    )
    assert (space.extra, space.policy.extra, full.extra) == (
        {"x_space": [1]}, {"x_policy": 1}, {"x_future": {"a": [1], "z": 1}},
    )  # fmt: skip
    assert full.raw.splitlines()[1] == "Second: «ünïcode» 😀 "


@pytest.mark.parametrize("form", FORMATS)
def test_every_export_is_read_and_written_as_it_was(form: str) -> None:
    data = _bytes(f"export.{form}")
    export = read_export(data, form)
    assert encode_full(export.space) == _bytes("space.json")
    assert b"".join(ENCODERS[form](export)) == data


def test_a_part_says_what_it_is_a_part_of() -> None:
    assert read_export(_bytes("part.json"), "part.json").part == {"kind": ["decision"]}


AUDIT = ROOT / "golden" / "codec" / "audit"
AUDIT_LOGS = {  # entries, of these unchecked, torn lines, digest: by the rules that made the hashes
    "1.jsonl": (2, 2, (), "0fdc2d2331cc00ec4008c42e4ebfb0574a7794f797579f8b5c6230121d2040bb"),
    "2-3.jsonl": (8, 6, (), "746be5aaabe0557d9f1d25e9297d6ec14922cc2fe1143f4c52c2966e58da550d"),
    "3.jsonl": (7, 0, (6,), "5882466170ffccfbbd7674dcb45825fb8e740c4ede4791d31d92ddcfa8943f23"),
}


def test_an_audit_log_of_a_development_version_is_read_but_cannot_be_checked() -> None:
    found = audit.verify(_bytes("audit.jsonl"))
    assert (found.entries, found.unchecked, found.broken, found.torn) == (6, 6, 0, ())
    assert len(list(audit.entries(_bytes("audit.jsonl")))) == 6


def test_the_audit_logs_of_all_rules_still_fit_together() -> None:
    assert {path.name for path in AUDIT.iterdir()} == AUDIT_LOGS.keys() >= {f"{audit.RULE}.jsonl"}
    for name, expected in AUDIT_LOGS.items():
        data = (AUDIT / name).read_bytes()
        found = audit.verify(data)
        assert found.broken == 0, found.reason
        assert (found.entries, found.unchecked, found.torn, hashlib.sha256(data).hexdigest()) == expected
