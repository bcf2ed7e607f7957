from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.ingest.files import HEADINGS, WHOLE, FilePiece, pieces
from memcli.ingest.markdown import parts
from tests.ingest.conftest import CASES

LONG = "words of a section. " * 60


def leaves(name: str, kind: str | None, text: str) -> list[str]:
    return [piece.leaf for piece in pieces(name, kind, text)]


def test_a_short_file_is_one_piece():
    text = "# A\n\n## B\n\ntext\n"
    assert pieces("a.md", "guide", text) == [FilePiece("", text, spans=[(1, 6)])]


def test_markdown_by_heading_without_the_title_of_the_document():
    text = f"# Guide\n\nIntroduction.\n\n## Set up\n\n{LONG}\n\n### Linux\n\n{LONG}\n\n## Use\n\nShort.\n\n### Again\n\nToo.\n"
    found = pieces("docs/a.md", "guide", text)
    assert [piece.leaf for piece in found] == ["", "set-up", "set-up/linux", "use"]
    assert found[0].text == "# Guide\n\nIntroduction."
    assert found[2].headings == ("Guide", "Set up", "Linux")
    assert found[3].text == "## Use\n\nShort.\n\n### Again\n\nToo."


def test_headings_that_are_equal_odd_or_fenced():
    text = f"# A\n\n{LONG}\n\n# A\n\n{LONG}\n\n# ???\n\n{LONG}\n\n```\n# no heading\n```\n\n# a\n\n{LONG}"
    assert leaves("a.md", "guide", text) == ["a", "a-2", "section", "a-3"]


def test_a_comment_in_front_matter_is_no_heading():
    text = f"---\n# comment\ntitle: A\n---\n\n{LONG}\n\n## B\n\n``` not `fence` ```\n\n{LONG}\n\n## C\n\n{LONG}\n"
    assert leaves("a.md", "guide", text) == ["", "b", "c"]


def test_a_changelog_by_version():
    text = "# Changelog\n" + "".join(f"\n## [1.{n}.0]\n\n### Added\n\n- {LONG[:500]}\n" for n in range(4))
    assert leaves("CHANGELOG.md", "log", text) == ["1-0-0", "1-1-0", "1-2-0", "1-3-0"]


UNDERLINED = f"Guide\n=====\n\nIntroduction.\n\nSet up\n------\n\n{LONG}\n\nUse\n---\n\nShort.\n"


@pytest.mark.parametrize("name", ["a.md", "a.rst", "a.txt", "README", "a.adoc"])
def test_documents_by_underlined_heading(name: str):
    found = pieces(name, "guide", UNDERLINED)
    assert [piece.leaf for piece in found] == ["", "set-up", "use"]
    assert found[0].text == "# Guide\n\nIntroduction."
    assert found[2] == FilePiece("use", "## Use\n\nShort.", ("Guide", "Use"), spans=[(11, 15)])


def test_labels_of_restructured_text_are_no_pieces():
    text = f".. _guide:\n\nGuide\n=====\n\n.. _set-up:\n\nSet up\n------\n\n{LONG}\n\n.. _use:\n\nUse\n---\n\n{LONG}\n"
    assert [piece.text[:10].split("\n")[0] for piece in pieces("a.rst", "guide", text)] == ["## Set up", "## Use"]


def test_headings_in_comments_code_and_lists_cut_nothing():
    text = f"# A\n\n<!--\n# B\n-->\n\n- item\n\n  ```\n  # C\n  ```\n\n~~~~\n~~~\n# D\n~~~~\n\n> # E\n\n{LONG}\n\n## F\n\n{LONG}"
    assert leaves("a.md", "guide", text) == ["", "f"]


def test_a_decision_is_read_whole():
    text = f"# Use X\n\n## Context\n\n{LONG}\n\n## Decision\n\n{LONG}\n"
    assert leaves("docs/adr/0001-x.md", "decision", text) == [""]


def test_python_by_definition_with_comments_and_decorators():
    body = "    x = 1\n" * 100
    text = f'"""About."""\n\nimport os\n\nA = 1\n\n\n# why\n@cache\ndef one(a):\n{body}\n\nclass Two:\n    def inner(self):\n    {body}\n\nB = 2\n'
    found = pieces("a.py", "code", text)
    assert [(piece.leaf, piece.symbol) for piece in found] == [("", ""), ("one", "one"), ("Two", "Two")]
    assert found[0].text == '"""About."""\n\nimport os\n\nA = 1\n\nB = 2'
    assert found[1].text.startswith("# why\n@cache\ndef one(a):\n")


def test_what_has_one_name_is_one_piece():
    text = "import x\n\n" + "".join(
        f"@overload\ndef f(a: T{n}) -> None:\n    '''{LONG[:400]}'''\n\n\n" for n in range(4)
    )
    (found,) = [piece for piece in pieces("a.py", "code", text) if piece.leaf]
    assert found.leaf == "f"
    assert found.text.count("def f") == 4


def test_other_languages_by_the_look_of_their_lines():
    for name, text, wanted in CASES["languages"]:
        comment = {"py": "#", "rb": "#", "sh": "#"}.get(name[2:], "//")
        found = pieces(name, "code", text + f"{comment} end\n" * 200)
        assert [piece.leaf for piece in found] == wanted
        assert all(piece.text.startswith("// Says why.\nfunc") for piece in found if piece.symbol == "Run")


def test_prose_by_groups_of_paragraphs():
    text = "\n\n".join(f"Paragraph {n} says this. {LONG[:400]}" for n in range(6))
    found = pieces("notes.txt", None, text)
    assert [piece.leaf.split("-says")[0] for piece in found] == ["paragraph-0", "paragraph-2", "paragraph-4"]
    assert all(len(piece.text) <= WHOLE for piece in found)
    assert leaves("data.csv", None, text) == [""]


def test_no_file_gives_a_flood_of_pieces():
    text = "".join(f"def f{n}(): pass\n" for n in range(2_000))
    assert pieces("a.py", "code", text) == [FilePiece("", text, spans=[(1, 2_001)])]


LINES = st.lists(
    st.sampled_from(
        ["# A", "==", "---", "== C", "## B ##", " ### C", "```", "", "text " * 60, "  x", "def f():", "# why", "}"]
    )
)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.md", "guide"), ("a.rst", "guide"), ("a.adoc", "guide"), ("a.py", "code"), ("a.go", "code"), ("a.txt", None)],
)
@given(LINES.map(lambda lines: lines * 3))
def test_a_piece_knows_its_lines(name: str, kind: str | None, lines: list[str]):
    found = pieces(name, kind, "\n".join(lines))
    covered = []
    for piece in found:
        blocks = ["\n".join(lines[start - 1 : end]).strip("\n") for start, end in piece.spans]
        covered += [n for start, end in piece.spans for n in range(start, end + 1) if "".join(lines[n - 1 : n]).strip()]
        if blocks and not piece.headings:  # headings are written anew
            assert piece.text.strip("\n") == "\n\n".join(blocks)
        elif blocks:
            assert words(piece.text)[-1:] == words(blocks[0])[-1:]
    assert len(covered) == len(set(covered))
    if kind == "guide" and len(found) > 1:  # a heading with nothing below it makes no piece
        sections = parts("\n".join(lines), HEADINGS[os.path.splitext(name)[1]])
        bodies = [n for part in sections for n in range(part.start + part.height, part.end + 1) if lines[n - 1].strip()]
        assert set(bodies) <= set(covered)
    elif kind == "guide" or kind is None:
        assert len(covered) == sum(1 for line in lines if line.strip())


def words(text: str) -> list[str]:
    return [word for word in text.split() if word.strip("#=-")]


def test_deep_nesting_is_no_crash():
    for text in ("(" * 50_000, "-" * 200_000 + "1", "#" * 5_000 + "\n" + "# a\n" * 3_000, "\x00def a(): pass\n" * 200):
        assert pieces("a.py", "code", text)
        assert pieces("a.md", "guide", text)
