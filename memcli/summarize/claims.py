"""The words without which a short name turns the meaning of a sentence: its verb, its version, its negation."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memcli.model.names import slug

_HEAD = 240
_STEMS = {
    "drop": "drop", "dropp": "drop", "keep": "keep", "kept": "keep", "remov": "remove", "upgrad": "upgrade", "downgrad": "downgrade",
    "pin": "pin", "pinn": "pin", "freez": "freeze", "froze": "freeze", "rais": "raise", "lower": "lower", "add": "add",
    "deprecat": "deprecate", "renam": "rename", "replac": "replace", "split": "split", "merg": "merge", "disabl": "disable",
    "enabl": "enable", "restor": "restore", "retir": "retire", "delet": "delete", "postpon": "postpone", "stop": "stop",
}  # fmt: skip
_LED = r"(?:^|\b(?:to|we|will|not|and|have|has|they|team)\s+|'(?:ll|ve)\s+)"
_VERB = rf"{_LED}(?P<verb>(?:{'|'.join(sorted(_STEMS, key=len, reverse=True))})(?:e|ed|es|s|ing|)\b)"
_FORBIDDEN = r"^(?:\W{0,3}(?:please|important|warning|careful|caution)\W{1,3})?(?:never|do not|don't|avoid)\s+(?P<order>[a-z]{2,20})"
_VERSION = r"(?<![\w.])(?P<version>v?\d+(?:\.\d+){1,3}|v\d{1,3})(?![\w]|\.\d)"
_NUMBER = r"(?<=[A-Za-z] )(?P<number>\d{1,5})(?=[.,;:!?]|\s+(?:because|until|for|in|by|as|since|and|is|are|to)\b|\Z)"
_TURN = r"\b(?P<turn>without|against|no longer)\b|(?:\b(?:will|to|should|does|do)\s+)(?P<not>not)\b|\b(?P<no>no)\s+(?=[A-Z\w])(?!longer\b|one\b|more\b)"
_WORDS = re.compile(rf"{_VERSION}|{_NUMBER}|{_TURN}")
_SENTENCE = re.compile(r"[.!?](?:\s|\Z)|\n|;")
_EMPTY = frozenset(["use", "be", "have", "do", "let", "make", "try", "the", "any", "all", "using"])
_LOOSE = ("-without", "-against", "-not", "-no", "-no-longer")


def with_essentials(text: str, tags: Sequence[str]) -> list[str]:
    """`tags` and the words of the first sentence that they must not stand without, in the order of the text."""
    end = _SENTENCE.search(text, 0, _HEAD)
    head = text[: end.start() if end else _HEAD].replace("’", "'")
    low = head.lower()
    found = [(_place(low, tag), tag) for tag in tags]
    found += [(at, word) for at, word in _essentials(head, low) if not _is_said(word, tags)]
    if len(found) == len(tags):
        return list(tags)
    return [word for _, word in sorted(found)]


def without_loose_end(name: str) -> str:
    """`name`, not ending with a word that leads up to another."""
    for loose in _LOOSE:
        name = name.removesuffix(loose)
    return name


def _essentials(head: str, low: str) -> list[tuple[int, str]]:
    found = []
    if (match := re.search(_VERB, low)) and not low.startswith(("never", "do not", "don't", "avoid")):
        stem = max((stem for stem in _STEMS if match["verb"].startswith(stem)), key=len)
        found.append((match.start("verb"), _STEMS[stem]))
    is_forbidden = re.match(_FORBIDDEN, low)
    if is_forbidden and is_forbidden["order"] not in _EMPTY and not low.startswith("avoid"):
        found.append((is_forbidden.start("order"), is_forbidden["order"]))
    for match in _WORDS.finditer(head):
        group = match.lastgroup or ""
        if group == "not" and is_forbidden:
            continue
        found.append((match.start(group), slug(match[group])))
        if (
            group == "turn"
            and match[group] == "without"
            and (object_ := re.match(r"(?:a |an |the |any )?([\w-]{2,20})", low[match.end() + 1 :]))
        ):
            found.append((match.end() + 1, slug(object_[1])))
    return found


def _is_said(word: str, tags: Sequence[str]) -> bool:
    return any(word in tag.split("-") or f"-{word}-" in f"-{tag}-" for tag in tags)


def _place(low: str, tag: str) -> int:
    """Where the first word of `tag` stands; after all others when it stands nowhere."""
    at = low.find(tag.partition("-")[0])
    return at if at >= 0 else len(low)
