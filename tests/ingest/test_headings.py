"""Headings of reStructuredText and AsciiDoc."""

from __future__ import annotations

from memcli.ingest import markdown

RST = {
    "Title\n=====\n\ntext\n\nOne\n---\nTwo\n---\n\nDeep\n~~~~\n": [
        (1, "Title", 1, 2), (2, "One", 6, 7), (2, "Two", 8, 9), (3, "Deep", 11, 12)],
    "=====\n A b\n=====\n\nC\n=\n\nCC\n==\n\n======\nD\n======\n": [(1, "A b", 1, 3), (2, "CC", 8, 9), (1, "D", 11, 13)],
    '"Quoted"\n""""""""\n\nA\'\n\'\'\n\nB`\n``\n\nC#\n##\n\nD*\n**\n\nE+\n++\n\nF^\n^^': [
        (1, '"Quoted"', 1, 2), (2, "A'", 4, 5), (3, "B`", 7, 8), (4, "C#", 10, 11), (5, "D*", 13, 14), (6, "E+", 16, 17),
        (7, "F^", 19, 20)],
    "Longer title\n====\n\nLonger\n===\n": [(1, "Longer title", 1, 2)],
    "Two lines\nof text\n-------\n": [],
    "text::\n\n    Title\n    =====\n\n  Title\n  =====\n": [],
    "text\n\n----\n\ntext\n": [],
    "- item\n------\n\n| line\n------\n\n>>> doctest\n-----------\n": [],
    "1. Introduction\n===============\n": [(1, "1. Introduction", 1, 2)],
    "=====  =====\nA      B\n=====  =====\n1      2\n=====  =====\n": [],
    ".. _one:\n\n.. _two:\n\nTitle\n=====\n\ntext\n\n.. _three:\nNext\n----\n": [(1, "Title", 1, 6), (2, "Next", 10, 12)],
    "text\n\n\nTitle\n-----": [(1, "Title", 4, 5)],
    "====\n====\n\n----\n\n----": [],
    "": [],
}  # fmt: skip
ADOC = {
    "= Title\n:toc:\n\n== One\n\n=== Deep ===\n\n## Two\n": [(1, "Title", 1, 1), (2, "One", 4, 4), (3, "Deep", 6, 6), (2, "Two", 8, 8)],
    "----\n== code\n----\n\n....\n== text\n....\n\n////\n== comment\n////\n\n|===\n== cell\n|===\n\n```sh\n# code\n```\n\n== End": [
        (2, "End", 21, 21)],
    "-----\n----\n== code\n-----\n== End": [(2, "End", 5, 5)],
    "git-add(1)\n==========\n\nNAME\n----\ngit-add - Add\n\n[[x]]\nOPTIONS\n-------\n\nDeep\n~~~~\n": [
        (1, "git-add(1)", 1, 2), (2, "NAME", 4, 5), (2, "OPTIONS", 9, 10), (3, "Deep", 12, 13)],
    "a listing:\n----\n== code\n----\n": [],
    "==none\n = none\n======= none\n": [],
    "some\ntext\n----\nx\n----": [],
}  # fmt: skip


def test_headings_of_restructured_text_and_asciidoc() -> None:
    assert {text: list(markdown.restructured_headings(text.split("\n"))) for text in RST} == RST
    assert {text: list(markdown.asciidoc_headings(text.split("\n"))) for text in ADOC} == ADOC
