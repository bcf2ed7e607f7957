from __future__ import annotations

import os

from hypothesis import given
from hypothesis import strategies as st

from memcli.git.tree import noise
from memcli.ingest.labels import kind_of, memory_path, tags_of
from memcli.model.names import check_path, check_tag
from tests.ingest.conftest import CASES

# The bytes of a file's path as a POSIX system allows them, as Python gives them.
segments = st.binary(min_size=1, max_size=60).filter(
    lambda b: b"/" not in b and b"\0" not in b and b not in (b".", b"..")
)
files = st.lists(segments, min_size=1, max_size=8).map(lambda parts: os.fsdecode(b"/".join(parts)))


@given(files)
def test_any_file_name_gives_a_valid_path_and_valid_tags(file: str):
    for path in (memory_path(file), memory_path(file, "code", "0123456789")):
        assert check_path(path) == path
    assert [check_tag(tag) for tag in tags_of(file)] == tags_of(file)


@given(st.lists(files, min_size=2, max_size=8, unique=True))
def test_different_files_have_different_paths(names: list[str]):
    assert len({memory_path(name, "code", "0123456789") for name in names}) == len(names)


def test_kinds_and_noise():
    assert [[file, kind_of(file)] for file, _ in CASES["kinds"]] == CASES["kinds"]
    assert [[file, noise(file)] for file, _ in CASES["noise"]] == CASES["noise"]
