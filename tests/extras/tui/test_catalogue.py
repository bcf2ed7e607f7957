from memcli.extras.tui.catalogue import PathCatalogue
from memcli.model.catalogue import CatalogueFilter
from memcli.model.memory import Memory
from memcli.model.space import Space
from memcli.present.links import MemoryLink
from tests.extras.tui.stage import memory


def _memory(name: str, **fields: object) -> Memory:
    return memory(str(fields.pop("path", f"notes/{name}")), id=f"mem_{name}", **fields)


def _catalogue(*memories: Memory, scope: CatalogueFilter | None = None) -> PathCatalogue:
    return PathCatalogue(Space("main", memories), "1", scope or CatalogueFilter())


def _names(found: list[Memory]) -> list[str]:
    return [m.id.removeprefix("mem_") for m in found]


def test_every_word_must_stand_in_path_kind_tags_or_text() -> None:
    """What is forgotten or superseded is shown on request."""
    catalogue = _catalogue(
        _memory("a", raw="The Database is PostgreSQL"), _memory("b", tags=("database",)), _memory("c", kind="decision"),
        _memory("d", active=False), _memory("e", superseded_by="mem_c"),
    )  # fmt: skip
    words = {"database": "ab", "#database": "b", "database postgres": "a", "decision": "c", "notes/b": "b", "": "abc"}
    found = {text: "".join(_names(catalogue.matching(text.split(), everything=False))) for text in words}
    assert found == words
    assert _names(catalogue.matching([], everything=True)) == list("abcde")


def test_the_scope_is_path_kinds_and_tags() -> None:
    memories = (_memory("a", tags=("x", "y")), _memory("b", tags=("x",)), _memory("c", path="other/c", tags=("x", "y")))
    catalogue = _catalogue(*memories, scope=CatalogueFilter("notes", ("fact", "log"), ("x", "y")))
    assert _names(catalogue.memories) == ["a"]
    assert catalogue.find("mem_c") is not None


def test_links_are_seen_from_both_ends_and_once() -> None:
    old = _memory("old", superseded_by="mem_new")
    new = _memory("new", links=({"to": "mem_old", "relation": "supersedes"}, {"to": "mem_x", "relation": "depends_on"}))
    damaged = _memory("a", links=(5, "x", {"to": "mem_b"}, {"to": "mem_b", "relation": "relates_to"}))
    catalogue = _catalogue(old, new, damaged, _memory("b"))
    assert catalogue.links(damaged) == [MemoryLink("relates_to", "mem_b")]
    assert catalogue.links(_memory("b")) == [MemoryLink("relates_to", "mem_a", is_out=False)]
    assert catalogue.links(old) == [MemoryLink("superseded by", "mem_new")]
    assert catalogue.links(new) == [MemoryLink("supersedes", "mem_old"), MemoryLink("depends_on", "mem_x")]
