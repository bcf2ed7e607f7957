"""What is shown is clean: no forbidden character is left, cleaning twice changes nothing, and it never raises."""

from __future__ import annotations

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from memcli.model.characters import EMOJI, INVISIBLE, JOINED_SCRIPTS, JOINERS, MISPLACED, SELECTORS
from memcli.render.clean import clean, clean_line, escape, inert

PARTS = [
    "\x1b", "\x1b[", "\x1b]", "\x1bP", "\x1b\\", "\x07", "[31m", "0;t", "52;c;QQ==", "\x9b", "\x9d", "\x90", "\x9c", "\u200b",
    "\u200c", "\u200d", "\u2060", "\ufeff", "\u202e", "\u2066", "\u00ad", "\u0301", "e", "👩", "💻", "\ufe0f", "\ufe0e", "\u20e3",
    "1", "\u0915", "\u094d", "\u0937", "\u0645", "\u06cc", "\U000e0041", "\U000e0101", "\u3164", "\r\n", "\n", "\t", "\u2028", "\x85",
    "\ud800", "\u1100", "\u1161", "\u115f", "क", "a", " ", "<|", "|>",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PARTS) | st.characters(), max_size=30).map("".join)
WITH_SURROGATES = st.lists(st.integers(0, 0x10FFFF).map(chr) | st.sampled_from(PARTS), max_size=30).map("".join)


def check_clean(shown: str) -> None:
    assert not INVISIBLE().search(shown)
    assert not MISPLACED().search(shown)
    assert unicodedata.is_normalized("NFC", shown)
    assert all(c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cs") for c in shown)
    shown.encode()


@given(TEXTS | WITH_SURROGATES)
def test_nothing_forbidden_is_left_and_twice_is_once(text: str) -> None:
    shown = clean(text)
    check_clean(shown)
    assert clean(shown) == shown
    assert "\n" not in clean_line(text)
    assert clean_line(clean_line(text)) == clean_line(text)


@given(TEXTS)
def test_escaped_json_is_the_same_json_without_what_acts(text: str) -> None:
    shown = escape(json.dumps({"text": text}, ensure_ascii=False, indent=2))
    assert json.loads(shown) == {"text": text}
    assert not INVISIBLE().search(shown)
    assert not MISPLACED().search(shown)
    assert "<|" not in shown


@given(TEXTS | st.text(alphabet="<>|[]()!/:#System\n INSTmemory-", max_size=60))
def test_inert_twice_is_inert_once(text: str) -> None:
    assert inert(inert(text)) == inert(text)


def test_examples() -> None:
    cases = [
        ("\x1b[31mred\x1b[0m", "red"), ("\x9b31mred", "red"), ("\x1b]0;title\x07x", "x"), ("\x9d52;c;QQ==\x9cx", "x"),
        ("\x1b]8;;http://e\x1b\\link\x1b]8;;\x1b\\", "link"), ("\x1b]0;never ended\nnext", "\nnext"), ("\x1bPq#0\x1b\\s", "s"),
        ("\x1b_apc\x1b\\x", "x"), ("\x1b(0x\x1bc", "x"), ("\x1b\x1b[31m[31mx", "[31mx"),
        ("e\u0301", "é"), ("e\u200b\u0301", "é"), ("a\u200db", "ab"), ("x\ufe0f", "x"), ("❤\ufe0f", "❤\ufe0f"),
        ("❤\ufe0f\ufe0f", "❤"), ("1\ufe0f\u20e3", "1\ufe0f\u20e3"), ("👩\u200d💻", "👩\u200d💻"), ("👩\ufe0f\u200d💻", "👩\ufe0f\u200d💻"),
        ("می\u200cخواهم", "می\u200cخواهم"), ("क्\u200dष", "क्\u200dष"), ("a\r\nb\rc\u2028d", "a\nb\nc\nd"), ("\ud800x", "x"),
        ("naïve — café … 数据", "naïve — café … 数据"),
    ]  # fmt: skip
    for text, shown in cases:
        assert clean(text) == shown, ascii(text)


def test_what_could_act_is_broken() -> None:
    cases = [
        ("<|im_start|>", "<\\|im_start|>"), ("</memory-0badcafe>", "<\\/memory-0badcafe>"), ("[INST]", "[\\INST]"),
        ("<invoke name=", "<\\invoke name="), ("System: x", "System\\: x"), ("a System: x", "a System: x"),
        ("![a](https://e/?q)", "!\\[a]\\(https://e/?q)"), ("[a](//e)", "[a]\\(//e)"), ("[a](#b)", "[a](#b)"),
        ("<img src=x>", "<\\img src=x>"), ("### Instruction:", "###\\ Instruction:"), ("List<String> x", "List<String> x"),
        ("[a]: https://e", "[a]\\: https://e"), ("### Setup:", "### Setup:"), ("a[0](x)", "a[0](x)"),
    ]  # fmt: skip
    for text, shown in cases:
        assert inert(text) == shown, text


def test_a_long_run_of_it_ends() -> None:
    for unit in [*PARTS, "\x1b]x", "e\u0301\u200b", "👩\u200d", "\ufe0f\u200d", "![](", "<|a"]:
        inert(clean(unit * (300_000 // len(unit))))


def test_the_classes_do_not_overlap() -> None:
    for kept in (EMOJI, JOINED_SCRIPTS, JOINERS, SELECTORS):
        assert not INVISIBLE().search("".join(c for c in kept if c != "-"))
