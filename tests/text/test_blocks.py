"""Lines and blocks of prose; sentences are tested with summaries, which are made of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memcli.text.passages import CODE, FENCE, PROSE, read_blocks, read_lines

FENCED = {
    "it ends as it began": ("````\n```\n````\nx", [FENCE, CODE, FENCE, PROSE]),
    "another mark does not end it": ("```\n~~~\n```", [FENCE, CODE, FENCE]),
    "in a quotation": ("> ```\n> x\n> ```\n> y", [FENCE, CODE, FENCE, PROSE]),
    "a quotation ends what is fenced in it": ("> ```\n> x\ny", [FENCE, CODE, PROSE]),
    "it may be left open": ("~~~\nx", [FENCE, CODE]),
}


def test_fences_end_as_they_began() -> None:
    wrong = [name for name, (text, roles) in FENCED.items() if [line.role for line in read_lines(text)] != roles]
    assert wrong == []


def test_a_short_command_belongs_to_the_paragraph_that_leads_up_to_it_where_asked_for() -> None:
    for text in ("Run this:\n```\n$ make\n```", "Run this:\n\n    make\n", "Run this::\n\n    make\n"):
        assert [block.text for block in read_blocks(text, with_commands=True)] == ["Run this: `make`"], text
    assert [block.text for block in read_blocks("Run this\n```\nmake\n```\nand wait.")] == ["Run this", "and wait."]


def test_lines_are_left_out_unless_they_are_items() -> None:
    found = read_blocks("- $ one\n$ two\nthree", is_left_out=lambda line: "$" in line)
    assert [block.text for block in found] == ["$ one", "three"]


@given(text=st.text(alphabet="`~>#-.1|:* \n\tab"))
def test_lines_are_the_text(text: str) -> None:
    assert "".join(text[line.start : line.end] for line in read_lines(text)) == text
