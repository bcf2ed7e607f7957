"""The path of a new memory: its folder, and a name that retains the words (`without`, `not`) whose loss would reverse its meaning."""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import itemgetter

from memcli.errors import UsageError
from memcli.model.names import check_path, safe_path, slug
from memcli.regex import regex
from memcli.summarize import kinds
from memcli.summarize.keyphrases import FROM_HINT, STRIDE, Phrase
from memcli.summarize.kinds import FOLDERS, Subject
from memcli.summarize.lexicon import FUNCTION_WORDS
from memcli.text.words import words

_CLAIM_HEAD = 240
_STEMS = {
    "drop": "drop", "dropp": "drop", "keep": "keep", "kept": "keep", "remov": "remove", "upgrad": "upgrade", "downgrad": "downgrade",
    "pin": "pin", "pinn": "pin", "freez": "freeze", "froze": "freeze", "rais": "raise", "lower": "lower", "add": "add",
    "deprecat": "deprecate", "renam": "rename", "replac": "replace", "split": "split", "merg": "merge", "disabl": "disable",
    "enabl": "enable", "restor": "restore", "retir": "retire", "delet": "delete", "postpon": "postpone", "stop": "stop",
}  # fmt: skip
_LED = r"(?:^|\b(?:to|we|will|not|and|have|has|they|team)\s+|'(?:ll|ve)\s+)"
_VERB = rf"{_LED}(?P<verb>(?:{'|'.join(sorted(_STEMS, key=len, reverse=True))})(?:e|ed|es|s|ing|)\b)"
_FORBIDDEN = r"^(?:\W{0,3}(?:please|important|warning|careful|caution)\W{1,3})?(?:never|do not|don't|avoid)\s+(?P<order>[a-z]{2,20})"
_VERSION_WORD = r"(?<![\w.])(?P<version>v?\d+(?:\.\d+){1,3}|v\d{1,3})(?![\w]|\.\d)"
_NUMBER = r"(?<=[A-Za-z] )(?P<number>\d{1,5})(?=[.,;:!?]|\s+(?:because|until|for|in|by|as|since|and|is|are|to)\b|\Z)"
_TURN = r"\b(?P<turn>without|against|no longer)\b|(?:\b(?:will|to|should|does|do)\s+)(?P<not>not)\b|\b(?P<no>no)\s+(?=[A-Z\w])(?!longer\b|one\b|more\b)"
_WORDS = regex(rf"{_VERSION_WORD}|{_NUMBER}|{_TURN}")
_SENTENCE = regex(r"[.!?](?:\s|\Z)|\n|;")
_CHOICE = regex(
    r"(?i)(?<!not )(?<!n.t )(?<!never )\b(?:choo?se|chosen|pick(?:ed)?|prefer(?:red)?|select(?:ed)?|adopt(?:ed)?|use[ds]?|went with|go with|settled on|decided on|switched to)"
    r"\s+(?P<chosen>[^.:;,\n]{1,40}?)(?:\s+(?:for|as|in|to|with)\s[^.:;,\n]{1,40}?)?\s+(?:over|instead of|rather than)\s+"
    r"(?P<other>[^.:;,\n]{1,40}?)(?:[.:;,]|\n|\s(?:because|since|for|as|to|in|so|between)\b|\Z)"
)
_CHOSEN_OVER = ("over", "instead of", "rather than")
_GOAL = regex(r"(?i)^(?:how to|to)\s+(?P<goal>[^,:;.\n]{3,60}?)\s*[,:]\s")
_EMPTY = frozenset(["use", "be", "have", "do", "let", "make", "try", "the", "any", "all", "using"])
_LOOSE = ("-without", "-against", "-not", "-no", "-no-longer")


def with_essentials(text: str, tags: Sequence[str]) -> list[str]:
    """`tags`, with those verbs, negations, versions and numbers of the first sentence without which they would mislead, in the
    order of the text."""
    end = _SENTENCE.search(text, 0, _CLAIM_HEAD)
    head = text[: end.start() if end else _CLAIM_HEAD].replace("’", "'")
    low = head.lower()
    places = ((low.find(tag.partition("-")[0]), tag) for tag in tags)
    found = [(at if at >= 0 else len(low), tag) for at, tag in places]
    essentials = []
    if (match := re.search(_VERB, low)) and not low.startswith(("never", "do not", "don't", "avoid")):
        stem = max((stem for stem in _STEMS if match["verb"].startswith(stem)), key=len)
        essentials.append((match.start("verb"), _STEMS[stem]))
    is_forbidden = re.match(_FORBIDDEN, low)
    if is_forbidden and is_forbidden["order"] not in _EMPTY and not low.startswith("avoid"):
        essentials.append((is_forbidden.start("order"), is_forbidden["order"]))
    for match in _WORDS.finditer(head):
        group = match.lastgroup or ""
        if group == "not" and is_forbidden:
            continue
        essentials.append((match.start(group), slug(match[group])))
        if (
            group == "turn"
            and match[group] == "without"
            and (object_ := re.match(r"(?:a |an |the |any )?([\w-]{2,20})", low[match.end() + 1 :]))
        ):
            essentials.append((match.end() + 1, slug(object_[1])))
    missing = [
        (at, word)
        for at, word in essentials
        if not any(word in tag.split("-") or f"-{word}-" in f"-{tag}-" for tag in tags)
    ]
    return [word for _, word in sorted([*found, *missing])] if missing else list(tags)


MAX_LEAF = 48
_LEAF_PHRASES = 3
_UNTITLED = "untitled"
_FROM_FILE = frozenset(["guide", "config", "log", "code", "diff"])
_HEAD = 160
_DATE = regex(r"\b\d{4}-\d\d-\d\d\b")
_VERSION = regex(r"\bv?\d+\.\d+\.\d+(?:[-.]?(?:rc|beta|alpha)\.?\d*)?\b")
_GENERIC_TITLES = frozenset([
    "about", "background", "contents", "context", "description", "documentation", "introduction", "note", "notes",
    "overview", "readme", "steps", "summary", "table-of-contents", "tl-dr", "todo", "untitled", "usage",
])  # fmt: skip
_ARTICLES = regex(r"-(?:the|a|an)(?=-)")
_TITLE_NOISE = regex(
    r"^(?:(?:runbook|how ?to|guide|decision|goal|notes?|procedure|title|summary|rfc|proposal)\s*[:—–-]\s*|how to\s+)",
    re.IGNORECASE,
)


def path_of(subject: Subject, kind: str, title: str, phrases: Sequence[Phrase]) -> str:
    """A valid path: the requested one, the file's, or the folder of the kind with a name. It may be taken already."""
    if subject.hint and not subject.hint.endswith("/"):
        return valid(subject.hint)
    # `To release a new version, run ...` is named after its goal rather than a word of its steps.
    goal = _GOAL.match(subject.text) if kind == "procedure" and not title else None
    name = leaf(subject, goal["goal"] if goal else title, phrases, is_dated=kind == "log")
    if kind == "log" and not title:  # dates and versions distinguish the entries of a log
        head = subject.text[:_HEAD]
        found = [match[0] for pattern in (_DATE, _VERSION) if (match := pattern.search(head))]
        name = short_slug(" ".join([*found, name])) if found else name
    if subject.hint:
        return valid(f"{subject.hint}{name}")
    where = f"{safe_path(subject.project)}/" if subject.project.strip() else ""
    folder = FOLDERS.get(kind) or slug(kind) or "notes"
    if subject.source and (kind in _FROM_FILE or kinds.kind_of_name(subject.source) == kind):
        path, dot, suffix = subject.source.rpartition(".")
        stem = path if dot and path and not path.endswith("/") and "/" not in suffix else subject.source
        folders, slash, file = stem.rpartition("/")
        stem = f"{folders}{slash}{file.lstrip('.') or file}"
        home = "docs" if kind == "guide" else folder
        is_home = stem.split("/")[0] in ("docs", "doc", home) and "/" in stem
        return valid(where + (stem if is_home else f"{home}/{stem}"))
    return valid(f"{where}{folder}/{name}")


def leaf(subject: Subject, title: str, phrases: Sequence[Phrase], *, is_dated: bool = False) -> str:
    """The last part of a path: the title, or the best phrases of the first sentence in order, or the first words. Of a choice it
    names what was chosen, not what was rejected."""
    name = short_slug(_TITLE_NOISE.sub("", title)) if title else ""
    if name and name not in _GENERIC_TITLES:
        return name
    phrases = [(tag, position) for tag, position in phrases if position < FROM_HINT]
    # `We use black over yapf` would otherwise be the path `yapf`.
    head = subject.text[:_CLAIM_HEAD]
    if any(word in head.lower() for word in _CHOSEN_OVER) and (choice := _CHOICE.search(head)):
        chosen = short_slug(choice["chosen"])
        rejected = {*slug(choice["other"]).split("-")} - {*chosen.split("-")}
        phrases = [(tag, position) for tag, position in phrases if rejected.isdisjoint(tag.split("-"))]
        if chosen and not any({*chosen.split("-")} & {*tag.split("-")} for tag, _ in phrases):
            phrases = [(chosen, 0), *phrases]
    first = [(tag, position) for tag, position in phrases if position < STRIDE]
    is_enough = len(first) > 1 or (first and "-" in first[0][0])
    best = sorted((first if is_enough else phrases)[:_LEAF_PHRASES], key=itemgetter(1))
    tags = [tag for tag, _ in best]
    if first and not is_dated:
        tags = with_essentials(subject.text, tags)
    name = ""
    for tag in tags:
        fitting = (part for part in (tag, tag.partition("-")[0]) if len(name) + 1 + len(part) <= MAX_LEAF)
        part = next(fitting, "")
        name = short_slug(tag) if not name else f"{name}-{part}" if part else name
    # A name that ends with a preposition or a negation looks cut off.
    for loose in _LOOSE:
        name = name.removesuffix(loose)
    return name or first_words(subject.text)


def first_words(text: str) -> str:
    """A slug of the first words of `text`, without function words if there are others."""
    head = text[:200]
    telling = [word for word in words(head) if word.lower() not in FUNCTION_WORDS]
    return short_slug(" ".join(telling[:6])) or short_slug(head) or _UNTITLED


def short_slug(text: str) -> str:
    """A slug of `text` of at most `MAX_LEAF` characters, cut between words."""
    full = _ARTICLES.sub("", slug(text[:400], 200))
    if len(full) <= MAX_LEAF:
        return full
    cut = full[:MAX_LEAF]
    end = cut.rfind("-")
    return (cut[:end] if full[MAX_LEAF] != "-" and end > MAX_LEAF // 3 else cut).rstrip("-")


def valid(text: str) -> str:
    """The nearest path to `text` that passes `check_path`."""
    for mend in (str.strip, safe_path, _plain):
        try:
            return check_path(mend(text))
        except UsageError:
            continue
    return _UNTITLED


def _plain(text: str) -> str:
    """A path that is always valid: the result of `safe_path` for a very long name may be dots, or the name of a device."""
    return "/".join([f"{slug(part, 60)}_" for part in text.split("/")][-3:])
