from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.errors import UsageError
from memcli.model.names import (
    MAX_PATH,
    check_id,
    check_path,
    check_space,
    check_tag,
    free_path,
    marked,
    natural_order,
    safe_path,
    slug,
)

BAD_NAMES = ["", "../x", "/etc/x", "con", "x" * 300, "a\x07b", "-rf", "a/../b", "a//b", ".", "..", "a\nb", "nul"]


def test_bad_space_names_are_refused() -> None:
    for name in [*BAD_NAMES, "A", "a b", "a/b", "a.", "x" * 65, "con.json", "ü"]:
        with pytest.raises(UsageError):
            check_space(name)


def test_good_space_names_and_paths_pass() -> None:
    names = ["main", "conv-26", "a", "0x", "a.b_c-d", "console", "x" * 64]
    assert [name for name in names if check_space(name) != name] == []
    paths = ["a", "src/auth.py", "docs/My File.md", "über/straße", "a/con.py", "x" * MAX_PATH]
    assert [path for path in paths if check_path(path) != path] == []
    assert check_path("u\u0308ber") == "über"


def test_bad_paths_are_refused() -> None:
    for path in [*BAD_NAMES, "x/AUX/y", "a/ /b", "a/b/"]:
        with pytest.raises(UsageError):
            check_path(path)


@given(st.text() | st.text("./- conauxé", min_size=230, max_size=600))
def test_a_safe_path_is_a_path(text: str) -> None:
    assert check_path(safe_path(text)) == safe_path(text)


def test_bad_ids_are_refused() -> None:
    odd = ("x" * 129, "a\x00", "\u202ea", "/home/me/.docker/config", "a/../b", "a//b", "a/", ".a", "a/.b")
    for name in ("", "a b", "-x", *odd):
        with pytest.raises(UsageError):
            check_id(name)


def test_ids_of_other_tools_pass() -> None:
    assert [check_id(name) for name in ("D1:3", "fa03b489f0fc/0", "mem_x")] == ["D1:3", "fa03b489f0fc/0", "mem_x"]


def test_tags_are_slugs() -> None:
    assert check_tag("Auth Tokens!") == "auth-tokens"
    assert slug("snake_case and CamelCase") == "snake-case-and-camelcase"
    assert slug("a -_b") == slug(slug("a -_b")) == "a-b"
    with pytest.raises(UsageError):
        check_tag("!!!")


def test_numbers_sort_as_numbers() -> None:
    assert sorted(["D1:10", "D1:2", "D2:1", "D1:1"], key=natural_order) == ["D1:1", "D1:2", "D1:10", "D2:1"]


def test_a_marked_path_is_a_path() -> None:
    seed = "0123456789abcdef" * 2
    for path in ("a/b", "a" * 240, f"{'a' * 199}/{'b' * 40}", f"{'a' * 198}/{'b' * 40}"):
        for sign in "-~/":
            assert check_path(marked(path, seed, sign)).endswith(f"{sign}{seed}"), (sign, path)


def test_a_path_is_marked_until_it_is_free() -> None:
    found: list[str] = []
    for _ in range(4):
        found.append(free_path("a", "seed", found))
    assert found[0] == "a"
    assert len(set(found)) == 4
    assert found[1] == free_path("a", "seed", ["a"]) != free_path("a", "other", ["a"])
    assert free_path("a", "seed", ["a"], "~") == found[1].replace("-", "~")
