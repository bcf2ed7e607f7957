"""Text as sentences."""

from __future__ import annotations

from memcli.summarize.sentences import Sentence, split
from memcli.text.passages import HEADING, ITEM, PROSE, ROW, STEP
from tests.summarize.test_kinds import CASES


def test_sentences_end_where_they_end_and_not_at_a_full_stop_within() -> None:
    assert [text for text, parts in CASES["sentences"] if [sentence.text for sentence in split(text)] != parts] == []


def test_markdown_is_read_by_its_marks() -> None:
    text = """---
title: Notes
---
# The *deploy*

[![badge](a.svg)](b) <img src="x">
<!-- hidden. -->
Some **bold** and _quite italic_ prose
with a [link](https://x.y/z). And `code_with_name` or `__init__` or *.py.

- first item. It has two sentences
  and goes on
* [ ] second
1. a step
2) another

| a | b |
|---|---|
| 1 | 2 |

> quoted

Setext
------

To run it:

```sh
$ make run
```

```python
this = "is left out"
and_this = "too"
and_that = "as it is far too long to be part of a sentence, and nobody would read it there anyway"
```

[ref]: https://x.y
"""
    assert split(text) == [
        Sentence("The deploy", HEADING), Sentence("Some bold and quite italic prose with a link.", PROSE),
        Sentence("And `code_with_name` or `__init__` or *.py.", PROSE),
        Sentence("first item. It has two sentences and goes on", ITEM), Sentence("second", ITEM),
        Sentence("a step", STEP), Sentence("another", STEP), Sentence("a | b", ROW), Sentence("1 | 2", ROW),
        Sentence("quoted", PROSE), Sentence("Setext", HEADING), Sentence("To run it: `make run`", PROSE),
    ]  # fmt: skip


def test_restructured_text_is_read_by_its_marks() -> None:
    text = """Title
=====

.. image:: a.svg
   :target: b

It has ``code``, a `link <https://x.y>`_ and :class:`Thing`. Run::

    make all
    make more than fits in a line of a summary, since nobody would want to read all of this in such a place

.. _ref: https://x.y

More.
"""
    assert [sentence.text for sentence in split(text)] == [
        "Title", "It has `code`, a link and `Thing`.", "Run::", "More.",
    ]  # fmt: skip


def test_a_line_above_a_list_is_its_title() -> None:
    assert split("Shopping list\n- milk\n- eggs")[0] == Sentence("Shopping list", HEADING)
    assert split("I went out.\n- milk\n- eggs")[0] == Sentence("I went out.", PROSE)


def test_no_more_than_the_limit() -> None:
    assert len(split("One. " * 1000)) == 200
    assert len(split("- a\n" * 1000, 5)) == 5
