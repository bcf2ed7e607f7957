"""Which headings a document has: in Markdown those of markdown-it, which follows CommonMark; in others known ones."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from memcli.ingest.markdown import asciidoc_headings, headings, restructured_headings, verbatim

ORACLE = MarkdownIt("commonmark")


def expected(text: str) -> list[tuple[int, str, int, int]]:
    tokens = ORACLE.parse(text)
    found = []
    for token, inline in pairwise(tokens):
        if token.type == "heading_open" and token.level == 0:
            assert token.map
            found.append((int(token.tag[1:]), " ".join(inline.content.split()), token.map[0] + 1, token.map[1]))
    return found


def found(text: str) -> list[tuple[int, str, int, int]]:
    return [(level, " ".join(title.split()), first, last) for level, title, first, last in headings(text.split("\n"))]


INDENTS = st.sampled_from(["", "", "", "", " ", "  ", "   ", "    ", "     ", "\t", " \t"])
MARKS = st.sampled_from(
    ["", "", "", "", "", "> ", ">", "- ", "-\t", "* ", "+   ", "-      ", "1. ", "2) ", "10. ", "-", "> - ", ">\t"]
)
BODIES = st.sampled_from([
    "", "", "", "text", "more text", "# One", "## Two ##", "### Three#", "#none", "####### none", "#", "## ##", "#\ttab", "# a # b ##  ",
    "===", "---", "=", "-", "--", "----  ", "== =", "- - -", "***", "* * *", "_ _ _", "```", "````", "``` x", "``` x`y", "~~~", "~~~~~", "~~~ `",
    "<!--", "-->", "<!-- x -->", "<!-- # x", "<div>", "</div>", "<pre>", "x</pre>", "<?", "?>", "[a]: b c", "a | b",
    "--- | ---", "# \\#", "\\# x", "*", "+", "1.", "a\\", "&amp;", "\u00a0", "\u3000# x",
])  # fmt: skip
# Parsers differ on definitions of links in lists and quotes, and on code behind them.
DEFINITIONS = st.sampled_from([f"\n[a]: /b{end}" for end in ("\n===", "\n---", " 'c'\n[b]: c\ntext", "\n# One", "\n")])
LINES = st.lists(st.tuples(INDENTS, MARKS, INDENTS, BODIES).map("".join) | DEFINITIONS, max_size=14)


@given(LINES)
def test_headings_are_those_of_commonmark(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert found(text) == expected(text)


@given(st.text(alphabet="#=-~`> *+1.)\n\n\n\t ab", max_size=60))
def test_headings_of_any_text_are_those_of_commonmark(text: str) -> None:
    assert found(text) == expected(text)


def test_lines_of_fences_and_comments() -> None:
    text = (
        "a\n- b\n  ~~~~\n  - c\n  ~~~\n  ~~~~\n<!--\n- d\n-->\n<rules>\n- e\n</rules>\n<div>\n- f\n</div>\n\n```\n- g"
    )
    lines = [line for line, is_verbatim in verbatim(text.split("\n")) if is_verbatim]
    assert lines == ["  ~~~~", "  - c", "  ~~~", "  ~~~~", "<!--", "- d", "-->", "```", "- g"]


def test_tags_of_agents_hide_no_headings() -> None:
    assert found("<rules>\n# One\n</rules>\n## Two\n<div>\n# None\n</div>") == [(1, "One", 2, 2), (2, "Two", 4, 4)]


def test_headings_in_html() -> None:
    assert found('a\n\n<h3 name="x">\nHow <b>fast</b>\nis &lt;it&gt;?\n</h3>\n\ntext') == [
        (3, "How fast is <it>?", 3, 6)
    ]
    assert found("<H2>One</H2>\n\ntext\n\n## Two") == [(2, "One", 1, 1), (2, "Two", 5, 5)]
    none = ('<h1>\n<img src="a.svg">\n</h1>', "<h2>not\n\nclosed</h2>", "```\n<h2>code</h2>\n```", "> <h2>quoted</h2>")
    assert [found(text) for text in none] == [[], [], [], []]


def test_headings_of_restructured_text_and_asciidoc() -> None:
    known = json.loads(Path(__file__).with_name("headings.json").read_text("utf-8"))
    for form, read in (("rst", restructured_headings), ("adoc", asciidoc_headings)):
        assert {text: [list(one) for one in read(text.split("\n"))] for text in known[form]} == known[form]
