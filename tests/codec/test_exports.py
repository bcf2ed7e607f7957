"""Every format of an export gives back what went in, and nothing that was changed on the way."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from memcli.codec import bundle
from memcli.codec.bundle import (
    ENCODERS,
    FORMATS,
    HEAD,
    Export,
    decode_folder,
    encode_folder,
    format_of,
    is_of_export,
    read_export,
    seal,
)
from memcli.codec.canonical import encode
from memcli.codec.memory import MAX_TEXT_BYTES, right_hash
from memcli.codec.space import encode_space
from memcli.errors import CorruptError, MemcliError, UsageError
from memcli.extras.schema.schemas import SCHEMAS
from memcli.model.memory import Memory
from memcli.model.names import check_path
from memcli.model.space import Policy, Space
from memcli.record import replace
from tests.conftest import NOW, examples, memory, nested
from tests.extras.schema.test_schemas import unknown
from tests.strategies import spaces

GOLDEN = Path(__file__).parent / "golden"
forms = pytest.mark.parametrize("form", FORMATS)
TEXT = "# A *heading*\n\n> a quotation\n```json\n{}\n```\n\n  spaces at the end  \n"


def whole(export: Export, form: str) -> bytes:
    return b"".join(ENCODERS[form](export))


def small() -> Space:
    """A space with something of everything."""
    return Space(
        "main",
        (
            memory("a", raw=TEXT, tags=("one", "two"), pinned=True, extra={"x_later": {"deep": [None, 1.5]}}),
            memory("b", raw="line\rbreaks\u2028of all kinds\x85", active=False, importance=1.0),
            memory("c", raw="", content={"any": ["thing", "\u202e \x1b[31m é 日本"]}),
        ),
        metadata={"team": "core"},
        policy=Policy(ttl_days=30, extra={"someday": True}),
        updated_at=NOW,
        extra={"a_later": 1},
    )  # fmt: skip


def is_fit(path: str) -> bool:
    with suppress(UsageError):
        return check_path(path) == path
    return False


def fit(space: Space) -> Space:
    """The space with each path once, and only such as memcli itself would let in, with hashes that fit."""
    by_path = {m.path: hashed(m) for m in space.objects if is_fit(m.path)}
    return replace(space, objects=tuple(sorted(by_path.values(), key=lambda m: m.order)))


def hashed(memory: Memory) -> Memory:
    return replace(memory, metadata={**memory.metadata, "hash": right_hash(memory)}) if memory.hash else memory


@given(spaces.map(fit), st.sampled_from(sorted(FORMATS)))
def test_what_is_exported_is_imported(space: Space, form: str) -> None:
    data = whole(seal(space), form)
    assert format_of(data) == form
    back = read_export(data, "x")
    assert encode_space(back.space) == encode_space(space)
    assert whole(back, form) == data


@examples(0.4)
@given(spaces.map(fit))
def test_every_format_has_the_same_hash(space: Space) -> None:
    part = {"kind": ["fact"]}
    assert len({read_export(whole(seal(space, part), form), "x").hash for form in FORMATS}) == 1
    assert seal(space).hash != seal(space, part).hash


@forms
def test_an_export_is_known_to_the_byte(form: str, update_golden: bool) -> None:
    file = GOLDEN / f"export.{form}"
    data = whole(seal(small()), form)
    if update_golden:
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(data)
    assert file.read_bytes() == data


@forms
def test_no_byte_can_be_changed(form: str) -> None:
    """Whatever is put in the place of a byte, the answer is an error, or what was exported."""
    export = seal(small())
    data = whole(export, form)
    good = encode_space(export.space)
    for at in range(len(data)):
        for new in {(data[at] ^ 1, data[at] ^ 0x20, 0x20, 0x0A, 0x22)[at % 5], data[at] ^ 1} - {data[at]}:
            with suppress(CorruptError):
                assert encode_space(read_export(data[:at] + bytes([new]) + data[at + 1 :], "x").space) == good
                blank = chr(data[at]).isspace() or chr(new).isspace()
                assert blank or re.search(rb"\\u00..?\Z", data[: at + 1])  # `\u001B` is `\u001b`


@forms
def test_no_end_can_be_cut_off(form: str) -> None:
    export = seal(small())
    data = whole(export, form)
    for at in range(len(data) - 1):
        with pytest.raises(CorruptError):
            read_export(data[:at], "x")
    assert read_export(data[:-1], "x").space == read_export(data, "x").space


def test_other_line_ends_and_another_layout_do_no_harm() -> None:
    export = seal(small())
    tree = json.loads(whole(export, "json"))
    again = [whole(export, form).replace(b"\n", b"\r\n") for form in FORMATS]
    again += [json.dumps(tree).encode(), json.dumps(tree, indent=7, ensure_ascii=False).encode()]
    for data in again:
        assert encode_space(read_export(data, "x").space) == encode_space(export.space)


def sealed(change: Callable[[Any], object], form: str = "json") -> bytes:
    """An export that somebody made by hand: changed, and its hash made to fit."""
    tree = json.loads(whole(seal(small()), "json"))
    change(tree)
    tree["counts"] = {
        "objects": len(tree["content"]["objects"]),
        "active": sum(m.get("active", True) for m in objects(tree) if isinstance(m, dict)),
        "pinned": sum(m.get("pinned") is True for m in objects(tree) if isinstance(m, dict)),
    }
    tree["hash"] = bundle._digest(tree, encode(tree["content"]) + b"\n")
    return encode(tree)


def objects(tree: Any) -> list[Any]:
    found: list[Any] = tree["content"]["objects"]
    return found


REFUSED: list[list[Any]] = [
    *json.loads(Path(__file__).with_name("refused.json").read_text("utf-8"))["bundles"],
    ["objects.0.raw", "x" * (MAX_TEXT_BYTES + 1), "at most 1 MiB"],
    ["objects.0.summary_long", "é" * MAX_TEXT_BYTES, "at most 1 MiB"],
    ["objects.0.content", nested(61), "nested deeper than 60"],
    ["objects.0.content", nested(70), "nested deeper than 64"],
    ["metadata", nested(70), "nested deeper"],
    ["objects.0.kind", None, "kind is missing"],
]


def put(tree: Any, place: str, value: Any) -> None:
    """Puts a value into the content of an export, with a dot before it into its head; None takes out what is there."""
    *way, name = place.removeprefix(".").split(".")
    for step in way if place[0] == "." else ["content", *way]:
        tree = tree[int(step) if step.isdigit() else step]
    if isinstance(tree, list):
        tree.append(value)
    elif value is None:
        del tree[name]
    else:
        tree[name] = value


def test_what_strangers_send_is_checked_all_through() -> None:
    for place, value, message in REFUSED:
        with pytest.raises(CorruptError, match=re.escape(message)) as caught:
            read_export(sealed(lambda tree, at=place, new=value: put(tree, at, new)), "x.json")  # type: ignore[misc]
        assert caught.value.message.startswith("x.json")
        assert caught.value.hint
        assert "--repair" not in caught.value.hint  # which would mend the files of this store
        assert "space policy" not in caught.value.hint


def test_what_no_version_knows_is_kept() -> None:
    data = sealed(lambda t: (t.update(y_new=[1]), objects(t)[0].update(z_new={"q": 1})))
    back = read_export(data, "x")
    assert back.extra == {"y_new": [1]}
    assert b"z_new" in encode_space(back.space)
    assert whole(back, "json") == data + b"\n"


NO_EXPORTS = (
    b"", b"[]", b"null", b"\xff\xfe", b'{"format": "memcli/export"}', b'{"format":"memcli/export","content":{}}',
    b"# Memory of main\n", b"# Memory of main\n\xff", b"# Memory of x\n\n```json\n[]\n```\n", b'{"content":{}}\n3\n',
    b"[" * 100_000, b'{"a":' * 100_000, b'{"format":"memcli/export","version":1,"content":{"objects":NaN}}',
    b'{"format":"memcli/export","version":1,"content":{"x":"\\ud800"}}', b"# Memory of main\n" + b">\n" * 50_000,
)  # fmt: skip


def test_what_is_no_export_is_refused() -> None:
    for data in NO_EXPORTS:
        with pytest.raises(CorruptError) as caught:
            read_export(data, "x")
        assert caught.value.hint


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_no_field_can_be_given_twice(form: str) -> None:
    data = whole(seal(small()), form)
    mark = b'"kind": "fact"' if form == "json" else b'"kind":"fact"'
    twice = data.replace(mark, b'"kind": "negative", ' + mark, 1)
    assert twice != data
    with pytest.raises(CorruptError, match="'kind' twice"):
        read_export(twice, "x")


def test_there_are_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    data = whole(seal(small()), "json")
    monkeypatch.setattr(bundle, "MAX_OBJECTS", 2)
    with pytest.raises(CorruptError, match="3 memories; a bundle holds at most 2"):
        read_export(data, "x")
    with pytest.raises(UsageError, match="3 memories; a bundle holds at most 2"):
        seal(small())
    monkeypatch.setattr(bundle, "MAX_BYTES", 1 << 10)
    with pytest.raises(CorruptError, match="longer than"):
        read_export(data, "x")


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode), st.sampled_from(["", "# Memory of x\n"]))
def test_no_bytes_make_more_than_an_error(data: bytes, begin: str) -> None:
    with pytest.raises(MemcliError):
        read_export(begin.encode() + data, "x")


def test_an_export_is_what_its_schema_says() -> None:
    export = replace(seal(small(), {"kind": ["fact"], "tag": ["one"]}), signature="...")
    tree = json.loads(whole(export, "json"))
    del tree["content"]["a_later"], tree["content"]["policy"]["someday"], tree["content"]["objects"][0]["x_later"]
    assert unknown(tree, SCHEMAS["export"]) == []


def folder(*memories: Any, name: str = "main") -> dict[str, bytes]:
    space = Space(name).put(memories, "2026-01-31T09:30:00Z")
    return dict(encode_folder(seal(space)))


def decoded(files: dict[str, bytes]) -> Space:
    rest = dict(files)
    head = rest.pop(HEAD)
    return decode_folder(head, list(rest.items()), "out").space


@examples(0.4)
@given(spaces)
def test_what_is_written_is_read(space: Space) -> None:
    files = dict(encode_folder(seal(space)))
    assert len(files) == len(space.objects) + 1
    assert encode_space(decoded(files)) == encode_space(space)
    assert all(is_of_export(data[:128], space.name) for name, data in files.items() if name != HEAD)


@examples(0.4)
@given(spaces)
def test_no_name_climbs_or_hides_and_no_two_are_one(space: Space) -> None:
    names = [name for name, _ in encode_folder(seal(space))]
    assert names[-1] == HEAD
    assert len({name.casefold() for name in names}) == len(names)
    for name in names:
        assert not any(part.startswith(".") or part != part.strip() or "\\" in part for part in name.split("/"))
    folders = {name.rpartition("/")[0].casefold() for name in names}
    assert not folders & {name.casefold() for name in names}


ODD_PATHS = (
    ".git/hooks/post-commit", "a/.memory/x", "~", "C:/x", "a\\b", "aux.txt/x", "a.md/b", "x" * 190, "a/ b", "a:b", "aux./x", "é/ü", "a*?",
)  # fmt: skip


def test_a_hostile_path_is_a_plain_name() -> None:
    for path in ODD_PATHS:
        files = folder(memory("a", path=path))
        (name,) = files.keys() - {HEAD}
        stem = name.removesuffix(".md")
        assert all(part[0].isalnum() and part.isprintable() and len(part.encode()) < 210 for part in stem.split("/"))
        assert not set(stem) & set('\\:*?"<>|')
        assert not any(part.lower().split(".")[0] in ("aux", "con", "nul") for part in stem.split("/"))
        assert decoded(files).objects[0].path == path


def test_paths_that_differ_by_capitals_have_names_of_their_own() -> None:
    names = sorted(folder(memory("a", path="Auth/Key"), memory("b", path="auth/key"), memory("c", path="auth")))
    assert len({name.casefold() for name in names}) == 4


def test_the_front_matter_is_yaml_and_the_text_stands_below_it() -> None:
    text = "# Heading\n\nA: b\n---\nmore \n"
    files = folder(memory("a", path="a/b", raw=text, tags=("x", "y"), metadata={"k": [1, None, "ü: #"]}))
    front, _, body = files["a/b.md"].decode().removeprefix("---\n").partition("\n---\n")
    fields = yaml.safe_load(front)
    assert (fields["memcli"], fields["path"], fields["tags"], fields["metadata"]["k"]) == (
        "main", "a/b", ["x", "y"], [1, None, "ü: #"],
    )  # fmt: skip
    assert body == f"\n{text}\n"


def test_line_ends_and_names_of_files_do_not_matter() -> None:
    files = folder(memory("a", raw="One.\nTwo."), memory("b", raw="tab\there\rodd"))
    for name in [name for name in files if name != HEAD]:
        files[f"moved/{name}"] = b"\xef\xbb\xbf" + files.pop(name).replace(b"\n", b"\r\n")
    assert len(decoded(files).objects) == 2


CHANGES = (
    (b"One.", b"Two."), (b"version: 2", b"version: 3"), (b'id: "mem_a"', b'id: "mem_a"\nid: "mem_a"'),
    (b"version: 2\n", b""), (b"version: 2", b"version=2"), (b"version: 2", b"version: {"), (b"\n---\n\n", b"\n"),
    (b"One.\n", b"One.\n\n"), (b"One.", b"On\xff."), (b'"objects": 1', b'"objects": 2'), (b"version: 2", b"version:  2"),
)  # fmt: skip


def test_what_was_changed_is_refused() -> None:
    files = folder(memory("a", raw="One.", version=2))
    for old, new in CHANGES:
        assert any(old in data for data in files.values())
        with pytest.raises(CorruptError) as raised:
            decoded({name: data.replace(old, new) for name, data in files.items()})
        assert "\n" not in raised.value.message


def test_a_file_too_few_or_too_many_is_refused() -> None:
    files = folder(memory("a"), memory("b"))
    names = [name for name in files if name != HEAD]
    with pytest.raises(CorruptError):
        decoded({name: data for name, data in files.items() if name != names[0]})
    with pytest.raises(CorruptError):
        decoded({**files, "copy.md": files[names[0]]})


def test_files_of_another_space_are_not_of_this_one() -> None:
    (data,) = [data for name, data in folder(memory("a"), name="ops").items() if name != HEAD]
    assert is_of_export(data, "ops")
    assert not any(is_of_export(data, space) for space in ("op", "opsx", "main"))
    assert not is_of_export(b"---\ntitle: x\n---\n", "main")


def test_memories_of_the_same_time_are_in_order() -> None:
    files = folder(*(memory(f"m{n}", path=f"p/{9 - n}") for n in range(9)))
    order = [m.order for m in decoded(files).objects]
    assert all(one < other for one, other in pairwise(order))
    assert decoded(files).policy == Policy()
