from __future__ import annotations

import re
from itertools import product

import pytest

from memcli.codec.audit import RULE, Link, entries, link_of, parse_entry, purged, seal, verify
from tests.conftest import ROOT

UNVERSIONED = (ROOT / "golden" / "codec" / "v1" / "audit.jsonl").read_bytes()
"""A log of a development version, whose hashes name no rule."""
_VERSION = re.compile(rf'"{RULE}:'.encode())


def acts(*changes: dict[str, object], start: bytes = b"") -> bytes:
    """A log of one act for each change, a day apart, behind what it begins with."""
    data = start
    for n, change in enumerate(changes, 1):
        link = link_of(data, is_whole=True)
        assert link is not None
        data += seal({"user": "ann", "changes": [change], "time": f"2026-01-0{n}T00:00:00Z"}, link) + b"\n"
    return data


def log(size: int, start: bytes = b"") -> bytes:
    return acts(*({"id": f"mem_{n}", "path": f"ä/{n}"} for n in range(size)), start=start)


def test_a_log_stands_as_it_was_written() -> None:
    data = log(5)
    found = verify(data)
    assert (found.entries, found.broken, found.torn) == (5, 0, ())
    last = list(entries(data))[-1]
    assert (last["n"], last["hash"]) == (5, found.head)
    assert verify(b"").entries == 0


def test_every_flipped_byte_is_found() -> None:
    data = log(3)
    for place in range(len(data)):
        for flip in (1, 0x20, 0x80):
            changed = bytearray(data)
            changed[place] ^= flip
            found = verify(bytes(changed))
            assert found.broken or found.torn, place
            if place < len(data) - 1:
                assert found.broken, place


def test_lines_cannot_be_taken_out_added_or_moved() -> None:
    first, second, third, _ = log(3).split(b"\n")
    for lines in ([second, third], [first, third], [first, third, second], [first, first, second]):
        assert verify(b"\n".join([*lines, b""])).broken
    first, second, *rest = log(1, UNVERSIONED).split(b"\n")  # nor lines without a version
    doubled = [first, first, second, *rest]
    for lines in ([second, *rest], [first, *rest], [second, first, *rest], doubled, [*rest[:-2], first, b""]):
        assert verify(b"\n".join(lines)).broken


def test_a_line_torn_at_any_place_is_told_and_the_chain_goes_on() -> None:
    whole, data = log(2), log(3)
    for end in range(len(whole) + 1, len(data) - 1):
        torn = data[:end]
        found = verify(torn)
        assert (found.entries, found.broken, found.torn) == (2, 0, (3,))
        healed = log(2, torn)
        found = verify(healed)
        assert (found.entries, found.broken, found.torn) == (4, 0, (3,))
        assert healed.startswith(torn)
        changed = bytearray(healed)
        changed[end - 1] ^= 1
        assert verify(bytes(changed)).broken


def test_a_line_torn_again_while_it_told_of_another_is_told_too() -> None:
    torn = log(3)[:-9]
    again = log(1, torn)
    for end in range(len(torn) + 2, len(again) - 1):
        found = verify(log(1, again[:end]))
        assert (found.entries, found.broken, found.torn) == (3, 0, (3, 4))


def test_a_line_that_lacks_its_newline_alone_is_whole_and_a_first_line_may_be_torn() -> None:
    for torn, expected in ((log(2)[:-1], (3, 0, ())), (log(1)[:20], (1, 0, (1,)))):
        found = verify(log(1, torn))
        assert (found.entries, found.broken, found.torn) == expected


def test_the_tail_alone_tells_what_to_go_on_from() -> None:
    data = log(3)
    last = data.rindex(b"\n", 0, -1)
    assert link_of(data[last:], is_whole=False) == link_of(data, is_whole=True)
    assert link_of(data[last + 1 :], is_whole=False) is None
    assert link_of(b"", is_whole=True) == Link()


def test_a_log_without_versions_goes_on_with_them() -> None:
    data = log(2, UNVERSIONED)
    found = verify(data)
    assert (found.entries, found.unchecked, found.broken) == (8, 6, 0)
    assert found.gap.startswith("the first 6 of 8 entries")
    assert verify(UNVERSIONED).gap.startswith("all 6 entries")


def test_the_version_of_one_line_cannot_be_removed() -> None:
    for number in range(5):
        lines = log(5).split(b"\n")
        start = lines[number].index(b'"hash":')
        head, tail = lines[number][:start], lines[number][start:]
        lines[number] = head + _VERSION.sub(b'"', tail, count=1)
        assert verify(b"\n".join(lines)).broken
    lines = log(4).split(b"\n")  # nor those of the first lines, to change them
    lines[:2] = [_VERSION.sub(b'"', line).replace(b"ann", b"bob") for line in lines[:2]]
    assert verify(b"\n".join(lines)).broken


def test_the_versions_of_all_lines_cannot_be_removed() -> None:
    for size, before in product((1, 2, 5), (b"", UNVERSIONED)):
        assert verify(_VERSION.sub(b'"', log(size, before))).reason == "the version of its hash was removed"


@pytest.mark.parametrize("line", [b"what no act is\n", b"{}\n", None], ids=["garbage", "no act", "a changed act"])
@pytest.mark.parametrize("before", [0, 1, 3])
@pytest.mark.parametrize("after", [0, 2])
def test_of_a_broken_log_the_entries_before_the_break_are_counted(line: bytes | None, before: int, after: int) -> None:
    lines = log(before + 1 + after).splitlines(keepends=True)
    lines[before] = lines[before].replace(b"ann", b"bob") if line is None else line
    found = verify(b"".join(lines))
    assert (found.broken, found.entries) == (before + 1, before)


def test_a_line_of_a_newer_version_is_not_taken_for_checked() -> None:
    newer = log(2).replace(b'"hash":"%d:' % RULE, b'"hash":"%d:' % (RULE + 1), 1)
    assert "newer memcli" in verify(newer).reason


def test_what_is_no_hash_is_no_earlier_version() -> None:
    for digest in (b"", b"x", b"x:0", b"0" * 63, b"-3:0", b"0:0"):
        assert verify(re.sub(rb'"hash":"[^"]*"', b'"hash":"%s"' % digest, log(1))).broken == 1, digest


def test_what_was_erased_and_made_anew_is_not_gone() -> None:
    erased, made = {"id": "mem_a", "after": ""}, {"id": "mem_a", "path": "a", "after": "sha256:1"}
    assert purged(acts(erased)) == {"mem_a": "2026-01-01T00:00:00Z"}
    assert purged(acts(erased, made)) == {}
    assert purged(acts(made, erased)) == {"mem_a": "2026-01-02T00:00:00Z"}
    assert purged(acts({"id": "mem_a", "path": "a", "after": ""})) == {}, "it lies in the trash"


def test_the_number_of_an_act_is_one_that_a_log_can_have() -> None:
    numbers = (0, -1, 1, 1 << 70)
    assert [n for n in numbers if parse_entry(b'{"changes":[],"hash":"x","n":%d}' % n)] == [1]
