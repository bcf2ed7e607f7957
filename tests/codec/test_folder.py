"""An export as a folder of Markdown files."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
import yaml
from hypothesis import given

from memcli.codec.bundle import HEAD, decode_folder, encode_folder, is_of_export, seal
from memcli.codec.space import encode_space
from memcli.errors import CorruptError
from memcli.model.space import Policy, Space
from tests.conftest import memory
from tests.strategies import spaces


def folder(*memories: Any, name: str = "main") -> dict[str, bytes]:
    space = Space(name).put(memories, "2026-01-31T09:30:00Z")
    return dict(encode_folder(seal(space)))


def decoded(files: dict[str, bytes]) -> Space:
    rest = dict(files)
    head = rest.pop(HEAD)
    return decode_folder(head, list(rest.items()), "out").space


def changed(files: dict[str, bytes], old: bytes, new: bytes) -> dict[str, bytes]:
    assert any(old in data for data in files.values())
    return {name: data.replace(old, new) for name, data in files.items()}


@given(spaces)
def test_what_is_written_is_read(space: Space) -> None:
    files = dict(encode_folder(seal(space)))
    assert len(files) == len(space.objects) + 1
    assert encode_space(decoded(files)) == encode_space(space)
    assert all(is_of_export(data[:128], space.name) for name, data in files.items() if name != HEAD)


@given(spaces)
def test_no_name_climbs_or_hides_and_no_two_are_one(space: Space) -> None:
    names = [name for name, _ in encode_folder(seal(space))]
    assert names[-1] == HEAD
    assert len({name.casefold() for name in names}) == len(names)
    for name in names:
        assert not any(part.startswith(".") or part != part.strip() or "\\" in part for part in name.split("/"))
    folders = {name.rpartition("/")[0].casefold() for name in names}
    assert not folders & {name.casefold() for name in names}


@pytest.mark.parametrize(
    "path",
    [
        ".git/hooks/post-commit",
        "a/.memory/x",
        "~",
        "C:/x",
        "a\\b",
        "aux.txt/x",
        "a.md/b",
        "x" * 190,
        "a/ b",
        "a:b",
        "aux./x",
        "é/ü",
        "a*?",
    ],
)
def test_a_hostile_path_is_a_plain_name(path: str) -> None:
    (name,) = [name for name in folder(memory("a", path=path)) if name != HEAD]
    stem = name.removesuffix(".md")
    assert all(part[0].isalnum() and part.isprintable() and len(part.encode()) < 210 for part in stem.split("/"))
    assert not set(stem) & set('\\:*?"<>|')
    assert not any(part.lower().split(".")[0] in ("aux", "con", "nul") for part in stem.split("/"))
    assert decoded(folder(memory("a", path=path))).objects[0].path == path


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


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"One.", b"Two."), (b"version: 2", b"version: 3"), (b'id: "mem_a"', b'id: "mem_a"\nid: "mem_a"'),
        (b"version: 2\n", b""), (b"version: 2", b"version=2"), (b"version: 2", b"version: {"), (b"\n---\n\n", b"\n"),
        (b"One.\n", b"One.\n\n"), (b"One.", b"On\xff."), (b'"objects": 1', b'"objects": 2'), (b"version: 2", b"version:  2"),
    ],
)  # fmt: skip
def test_what_was_changed_is_refused(old: bytes, new: bytes) -> None:
    with pytest.raises(CorruptError) as raised:
        decoded(changed(folder(memory("a", raw="One.", version=2)), old, new))
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
