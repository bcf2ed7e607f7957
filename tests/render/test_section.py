from __future__ import annotations

from typing import Any

from memcli.model.anchors import Checked
from memcli.model.recall import Section
from memcli.policy.answer import forms
from memcli.record import replace
from memcli.render.as_prompt import citation, section_text, source
from tests.conftest import memory

PROCEDURE = {"prerequisites": ["A clean tree."], "steps": ["Tag.", "Push."], "warnings": ["Never on Friday."]}


def section(
    *, sentence: str = "", passage: str = "", level: str | None = None, shows: bool = False, **fields: object
) -> Section:
    texts: dict[str, object] = {
        "raw": "r " * 600, "summary_micro": "micro", "summary_short": "short", "summary_long": "long",
    }  # fmt: skip
    return Section(
        memory(**{**texts, **fields}), 1.0, {}, "main", level=level, sentence=sentence, passage=passage, shows_content=shows
    )  # fmt: skip


def test_each_level_says_more_and_without_one_the_passage_is_told() -> None:
    texts = [
        section_text(section(level=level, sentence="s", passage="p"))
        for level in ("sentence", "micro", "short", "long", "passage")
    ]
    assert texts == ["s", "micro", "short", "long", "p"]
    assert section_text(section(level="raw")) == "r " * 600
    assert section_text(section(level="short", summary_short="")) == "micro"
    assert section_text(section()) == "long"
    assert section_text(section(passage="p")) == "p"
    assert section_text(section(passage="p"), include_raw=True) == "r " * 600


def test_the_form_to_prefer() -> None:
    assert forms(section(sentence="s")) == (["sentence", "micro", "short", "long"], ["raw"])
    assert forms(section(passage="p")) == (["passage"], ["raw"])
    assert forms(section(raw="short")) == (["micro", "short", "long", "raw"], [])
    assert forms(section(), include_raw=True) == (["micro", "short", "long", "raw"], [])
    empty = section(raw="", summary_micro="", summary_short="", summary_long="")
    assert forms(empty) == (["raw"], [])


def test_a_procedure_is_told_with_all_its_parts() -> None:
    text = section_text(section(raw="Release.", summary_long="Release.", procedure=PROCEDURE))
    assert text == (
        "Release.\nPrerequisites:\n- A clean tree.\nSteps:\n1. Tag.\n2. Push.\nWarnings:\n- Never on Friday."
    )
    assert section_text(section(level="micro", procedure=PROCEDURE)) == "micro"
    said = section_text(section(summary_long="Tag. Push.", procedure=PROCEDURE))
    assert "Steps" not in said
    assert "Warnings" in said
    assert section_text(section(procedure={"steps": "none", "warnings": [1, " "]})) == "long"


def test_content_is_told_where_it_answers_or_is_all_or_without_a_text() -> None:
    assert section_text(section(content={"a": 1})) == "long"
    assert section_text(section(content={"a": 1}, shows=True)) == 'long\ncontent: {"a":1}'
    assert section_text(section(content={"a": 1}, raw="", summary_long="")).endswith('content: {"a":1}')
    assert section_text(section(content={"a": 1}, raw="", summary_long="a: 1")) == "a: 1"
    content = {"deploy": {"timeout": 90}}
    told = section(raw="", content=content, passage="deploy\ntimeout\n90")
    assert section_text(told) == 'content: {"deploy":{"timeout":90}}'
    assert section_text(section(raw="", content={}, passage="guide")) == "guide"


def test_a_whole_memory_is_not_printed_below_a_heading_of_its_own() -> None:
    text = "# Guide\n\n## Staging\n\nPush.\n\n## Production\n\nTag."
    told = replace(section(raw=text, passage="Tag.", level="raw"), heading="Handbook > Guide > Production")
    assert section_text(told) == f"Handbook:\n{text}"
    assert section_text(replace(told, level="passage")) == "Handbook > Guide > Production:\nTag."


def limited(limit: int, **fields: Any) -> Section:
    return replace(section(**fields), limit=limit)


def test_within_a_limit_the_text_comes_first_and_a_longer_one_is_no_form() -> None:
    assert section_text(limited(1200)) == section_text(section())
    long = {"summary_long": "It is long. " * 20, "procedure": PROCEDURE}
    assert section_text(limited(60, **long)) == " ".join(["It is long."] * 5)
    assert section_text(limited(60, summary_long="How to.", procedure=PROCEDURE)) == (
        "How to.\nPrerequisites:\n- A clean tree.\nSteps:\n1. Tag."
    )
    assert section_text(limited(60, level="short", summary_short="s " * 50)) == ("s " * 30).strip()[:59].strip() + "…"
    assert section_text(replace(limited(40, passage="p" * 40), heading="Handbook > Production")) == "p" * 40
    assert section_text(limited(40, content={"a": "b" * 100}, shows=True)) == "long"
    only_raw = {"summary_micro": "", "summary_short": "", "summary_long": ""}
    assert len(section_text(limited(40, **only_raw))) <= 40
    assert forms(limited(40, sentence="s", passage="p")) == (["sentence", "passage"], [])
    assert forms(limited(40, raw="short", passage="p")) == (["passage", "raw"], [])


def test_what_was_read_from_the_repository_is_cited_by_the_place_that_a_person_can_open() -> None:
    read = {"metadata": {"source": "docs/a.md"}, "raw": "# One\n\nTwo.\nThree.\nTwo.", "path": "docs/a.md/one"}
    anchored = read | {"anchors": [{"file": "docs/a.md", "lines": [30, 34]}]}
    commit = {"commit": "0123456789abcdef0123456789abcdef01234567"}
    two = {"passage": "Two.\nThree.", "span": (7, 18), "level": "passage"}
    moved, stale = (Checked("docs/b.md", (50, 54), "", state) for state in ("moved", "stale"))
    table: list[tuple[dict[str, object], dict[str, object], str]] = [
        (anchored, {"passage": "# One", "span": (0, 5)}, "docs/a.md:30"), (anchored, two, "docs/a.md:32"),
        (anchored, {"passage": "Two.", "span": (19, 23), "level": "passage"}, "docs/a.md:34"),
        (anchored, {"passage": "Two.", "span": (19, 23), "level": "raw"}, "docs/a.md:30"),
        (anchored, {**two, "level": "short"}, "docs/a.md:30"), (anchored, {**two, "anchors": (moved,)}, "docs/b.md:52"),
        (anchored, {**two, "anchors": (stale,)}, "docs/a.md"), (read, two, "docs/a.md"),
        (read | {"anchors": [{"file": "docs/a.md"}]}, two, "docs/a.md"),
        (read | {"provenance": commit}, two, "commit 0123456789 docs/a.md"),
        (read | {"metadata": {}}, two, "docs/a.md/one"), (anchored | {"provenance": commit}, {"space": "main"}, "docs/a.md/one"),
    ]  # fmt: skip
    found = [source(replace(section(**fields), **{"space": "repo", **shown})) for fields, shown, _ in table]
    assert found == [wanted for _, _, wanted in table]
    of_file = replace(section(**anchored), space="repo")
    assert citation(of_file) == f"docs/a.md:30 [{of_file.memory.id}]"
    assert citation(replace(of_file, space="main")) == f"[{of_file.memory.id}]"
