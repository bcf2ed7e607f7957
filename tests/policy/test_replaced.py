from __future__ import annotations

from memcli.codec.space import encode_space
from memcli.codec.splice import SpliceShelf
from memcli.model.memory import Memory
from memcli.model.space import Space
from memcli.policy.retention import outdated

NOW = "2026-01-01T00:00:00Z"


def memory(path: str, source: str = "a.md", by: str = "observed", **fields: object) -> Memory:
    metadata = {"source": source, **({"group": fields.pop("group")} if "group" in fields else {})}
    return Memory(
        id=f"mem_{path.replace('/', '_')}", path=path, kind="guide", raw="x", metadata=metadata,
        provenance={"source": by}, created_at=NOW, updated_at=NOW, **fields,
    )  # fmt: skip


def gone(memories: list[Memory], places: list[dict], told: set[str]) -> list[str]:
    space = Space(name="main", objects=tuple(sorted(memories, key=lambda m: m.order)), updated_at=NOW)
    shelf = SpliceShelf(encode_space(space), "main.json")
    found = outdated(shelf, places, told, NOW)
    assert not any(m.active for m in found)
    return [m.path for m in found]


def test_only_what_was_observed_of_the_file_and_not_told_again():
    memories = [
        memory("a.md"), memory("a.md/use"), memory("a.md/old"), memory("a.md/off", active=False),
        memory("a.md/mine", by="user"), memory("a.md/other", source="b.md"), memory("a.md/hunk", group="c0ffee"),
        memory("a.mdx"), memory("b.md", "b.md"),
    ]  # fmt: skip
    place = {"under": "a.md", "source": "a.md"}
    assert gone(memories, [place], {"a.md", "a.md/use"}) == ["a.md/old"]
    assert gone(memories, [place], {"mem_a.md", "mem_a.md_use", "mem_a.md_old"}) == []
    assert gone(memories, [place, {"under": "b.md", "source": "b.md"}], set()) == [
        "a.md",
        "a.md/old",
        "a.md/use",
        "b.md",
    ]
    assert gone(memories, [], set()) == []


def test_a_group_of_any_file():
    memories = [memory("staged/a", group="staged"), memory("staged/d/b", "b", group="staged"), memory("staged/c")]
    assert gone(memories, [{"under": "staged", "group": "staged"}], {"staged/a"}) == ["staged/d/b"]
