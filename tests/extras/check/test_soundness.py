"""Every kind of damage is found and named, and mending keeps what was sound."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.codec.canonical import encode_wrapped
from memcli.codec.space import decode_space, encode_space
from memcli.extras.check import soundness as check
from memcli.extras.check.soundness import Examined, examine
from memcli.model.names import text_hash
from memcli.model.space import Policy, Space
from memcli.record import replace
from tests.conftest import NOW, examples, memory
from tests.strategies import spaces

WHERE = "spaces/main.json"


def sound(name: str, **fields: Any) -> Any:
    raw = fields.pop("raw", f"The text of {name}.")
    return memory(name, raw=raw, metadata={"hash": text_hash(raw)}, **fields)


SPACE = Space(
    "main",
    (sound("a"), sound("b"), sound("c", links=({"to": "mem_a", "relation": "relates_to"},))),
    metadata={"team": "x"},
    policy=Policy(ttl_days=9),
    updated_at=NOW,
)
DATA = encode_space(SPACE)


def look(data: bytes, name: str = "main") -> Examined:
    return examine(data, name, WHERE, {"main": frozenset(), "other": frozenset({"mem_far"})})


def edited(change: Callable[[dict[str, Any]], object]) -> bytes:
    tree = json.loads(DATA)
    change(tree)
    return encode_wrapped(tree) + b"\n"


def kinds(found: Examined) -> list[str]:
    return [finding.kind for finding in found.findings]


def _swap(tree: dict[str, Any]) -> None:
    tree["objects"].reverse()


def _twice(tree: dict[str, Any]) -> None:
    tree["objects"].append(
        {**tree["objects"][0], "raw": "Another.", "updated_at": "2027-01-01T00:00:00Z", "metadata": {}}
    )


CASES: dict[str, tuple[Callable[[dict[str, Any]], object], str, str, int]] = {
    "order": (_swap, "order", "", 3),
    "duplicate id": (_twice, "twice", "mem_a", 3),
    "duplicate path": (lambda t: t["objects"][1].update(path="notes/a"), "path", "mem_b", 3),
    "dangling link": (lambda t: t["objects"][2]["links"][0].update(to="mem_gone"), "link", "mem_c", 3),
    "dangling superseder": (lambda t: t["objects"][0].update(superseded_by="mem_gone"), "link", "mem_a", 3),
    "hash": (lambda t: t["objects"][0].update(raw="Edited by hand."), "hash", "mem_a", 3),
    "wrong type": (lambda t: t["objects"][1].update(tags="x"), "object", "mem_b", 2),
    "deep wrong type": (lambda t: t["objects"][2]["links"][0].update(weight="much"), "object", "mem_c", 2),
    "missing field": (lambda t: t["objects"][1].pop("kind"), "object", "mem_b", 2),
    "no object": (lambda t: t["objects"].insert(1, 7), "object", "object 2", 3),
    "hostile path": (lambda t: t["objects"][1].update(path="../../etc"), "object", "mem_b", 2),
    "bad id": (lambda t: t["objects"][1].update(id="a b"), "object", "a b", 2),
    "wrong policy": (lambda t: t["policy"].update(ttl_days="soon"), "header", "", 3),
    "name": (lambda t: t.update(space="other"), "name", "", 3),
    "no name": (lambda t: t.pop("space"), "header", "", 3),
}


def test_damage_is_found_named_and_mended() -> None:
    wrong = {}
    for case, (change, kind, about, left) in CASES.items():
        found = look(edited(change))
        mended = decode_space(found.mended or b"", WHERE)
        seen = [(one.kind, one.object, one.file, bool(one.repair)) for one in found.findings]
        after = mended.name, len(mended.objects), mended.metadata, look(found.mended or b"")
        if (seen, after) != ([(kind, about, WHERE, True)], ("main", left, {"team": "x"}, Examined())):
            wrong[case] = seen, after
    assert not wrong


def test_an_invalid_trigger_of_what_is_enforced_is_found_and_not_removed() -> None:
    def rule(**fields: Any) -> list[tuple[str, str, str]]:
        found = look(edited(lambda t: t["objects"][0].update(triggers=["eval", "("], **fields)))
        assert found.mended is None
        return [(one.kind, one.object, one.repair) for one in found.findings]

    assert [rule(), rule(enforce=True)] == [[], [("trigger", "mem_a", "")]]


def test_of_two_with_one_id_the_newer_stays() -> None:
    mended = look(edited(_twice)).mended
    assert mended is not None
    assert {m.raw for m in decode_space(mended, WHERE).objects if m.id == "mem_a"} == {"Another."}


def test_a_sound_file_has_nothing_to_mend_nor_has_a_link_into_another_space() -> None:
    assert look(DATA) == Examined()
    assert look(edited(lambda t: t["objects"][2]["links"][0].update(to="mem_far"))) == Examined()


def test_a_key_that_stands_twice_is_told() -> None:
    data = DATA.replace(b'"kind": "fact",', b'"kind": "fact",\n      "kind": "log",', 1)
    found = look(data)
    assert kinds(found) == ["repeated"]
    assert "'kind'" in found.findings[0].message
    assert found.mended is not None


def test_a_newer_file_is_left_alone() -> None:
    found = look(edited(lambda t: t.update(version=99, objects="of another kind")))
    assert kinds(found) == ["version"]
    assert found.mended is None


def test_where_nothing_can_be_saved_the_file_goes_aside() -> None:
    for data in (b"", b"\0" * 500, b"\xff\xfe{}", b"[]", b"null", b'{"a": 1}', b'{"objects": {}}'):
        found = look(data)
        assert (kinds(found), found.mended) == (["torn"], b""), data


def test_a_file_cut_anywhere_gives_all_that_is_whole_in_it() -> None:
    ends = [DATA.index(b"\n    }", DATA.index(f'"mem_{name}"'.encode())) + 6 for name in "abc"]
    for cut in range(len(DATA) - 1):
        found = look(DATA[:cut])
        assert kinds(found)[0] == "torn", cut
        whole = sum(end <= cut for end in ends)
        assert found.mended is not None
        if whole:
            saved = decode_space(found.mended, WHERE)
            assert [m.id for m in saved.objects] == ["mem_a", "mem_b", "mem_c"][:whole]
            assert saved.metadata == {"team": "x"}
            assert look(found.mended) == Examined()
        else:
            assert found.mended == b""


def test_a_byte_changed_anywhere_leaves_the_others() -> None:
    space = replace(SPACE, objects=(*SPACE.objects[:2], replace(SPACE.objects[2], links=())))
    whole = encode_space(space)
    for at, old in enumerate(whole):
        found = look(whole[:at] + bytes([old ^ (0x80 if at % 4 == 0 else 0x01)]) + whole[at + 1 :])
        if found.mended is None:  # a letter of a text or a tag: a hand may have changed it
            assert kinds(found) in ([], ["version"]), at
            continue
        assert found.findings, at
        saved = decode_space(found.mended, WHERE)
        assert sum(m in space.objects for m in saved.objects) >= 1, at


@pytest.mark.parametrize("style", ["merge", "diff3"])
def test_both_sides_of_an_unfinished_merge_are_kept(style: str) -> None:
    mark = b'      "raw": "The text of b.",\n'
    base = b"||||||| base\n" + mark if style == "diff3" else b""
    other = mark.replace(b"of b", b"by them")
    data = DATA.replace(mark, b"<<<<<<< ours\n" + mark + base + b"=======\n" + other + b">>>>>>> theirs\n")
    found = look(data)
    assert kinds(found)[0] == "torn"
    assert "both sides" in found.findings[0].message
    assert found.mended is not None
    assert [m.id for m in decode_space(found.mended, WHERE).objects] == ["mem_a", "mem_b", "mem_c"]


@given(st.binary(max_size=300), st.integers(0, 2000), st.integers(0, 2000))
def test_nothing_makes_it_fail(noise: bytes, start: int, length: int) -> None:
    found = look(DATA[:start] + noise + DATA[start + length :])
    assert not found.mended or look(found.mended) == Examined()


@examples(0.4)
@given(spaces)
def test_what_is_mended_is_sound(space: Space) -> None:
    found = look(encode_space(replace(space, objects=(*space.objects, *space.objects[:1]))))
    if found.mended:
        assert look(found.mended) == Examined()


def _broken(line: int) -> Callable[[bytes], bytes]:
    """Puts what no JSON has behind a line of each file."""

    def edit(data: bytes) -> bytes:
        lines = data.split(b"\n")
        return b"\n".join([*lines[:line], b"?", *lines[line:]])

    return edit


def _repeat(start: bytes) -> Callable[[bytes], bytes]:
    """Puts the first line that starts so there twice."""

    def edit(data: bytes) -> bytes:
        lines = data.split(b"\n")
        at = next(n for n, line in enumerate(lines) if line.startswith(start))
        return b"\n".join([*lines[: at + 1], *lines[at:]])

    return edit


EDITS: dict[str, Callable[[bytes], bytes]] = {
    "none": lambda data: data,
    "torn in a memory": _broken(20),
    "torn before the memories": _broken(3),
    "a key of a memory twice": _repeat(b'      "kind"'),
    "a key of the space twice": _repeat(b'  "updated_at"'),
    "all memories twice": lambda data: data.replace(b'  "policy"', b'  "objects": [],\n  "policy"'),
    "a comma is missing": lambda data: data.replace(b"    },\n", b"    }\n", 1),
    "a space too many": lambda data: data.replace(b'"kind": ', b'"kind":  ', 1),
    "a newer one, torn": lambda data: _broken(20)(data.replace(b'"version": 1\n', b'"version": 9\n')),
    "cut": lambda data: data[:-40],
}


def test_a_file_is_the_same_decoded_whole_or_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {(case, edit): change(edited(CASES[case][0])) for case in CASES for edit, change in EDITS.items()}
    files |= {("none", edit): change(DATA) for edit, change in EDITS.items()}
    one_by_one = {names: look(data) for names, data in files.items()}
    monkeypatch.setattr(check, "framed", lambda *_: None)
    whole = {names: look(data) for names, data in files.items()}
    sound = whole.pop(("none", "none"))  # only one by one can it be seen to be as memcli would write it
    assert (one_by_one.pop(("none", "none")), kinds(sound), sound.mended) == (Examined(), ["format"], DATA)
    assert [names for names in whole if whole[names] != one_by_one[names]] == []


def test_what_is_not_to_be_mended_is_only_told() -> None:
    data = edited(_twice)
    told = examine(data, "main", WHERE, {}, mend=False)
    assert (told.findings, told.mended) == (look(data).findings, None)
