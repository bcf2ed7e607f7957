"""Detection of hidden instructions in texts. A new rule is a row in `rules.jsonl`; callers
decide whether to withhold a memory.

A rule applies to a text that its pattern matches, unless the text only mentions such words. It is tried only if the text has a
literal of each of its groups, so that no pattern is compiled for ordinary text. The first group is searched by the beginnings of
words, so a literal that begins with a letter must be at the beginning of one. Gaps in patterns are bounded, which makes every
search linear. `languages.jsonl` has orders in languages other than English; their words are in the form of `readings`, in lower case
and without accents, and a blank at the end of one requires the end of the word. The `examples` of a row are a text that it
matches and one that it does not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from itertools import starmap

from memcli.model.characters import ESCAPE, SMUGGLED, is_plain
from memcli.safety.injection.readings import readings
from memcli.safety.patterns import Fragments, Literals, compiled, pattern, read_json, read_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_WORDS = read_json(__package__, "words.json")
DISCUSSED = tuple(_WORDS["discussed"])
"""Words of a text that discusses such instructions instead of giving them; they are searched around a quotation."""
ABOUT = tuple(_WORDS["about"])
"""The words of DISCUSSED that are specific enough where a name, such as that of a file, is without quotation marks."""
OBEYED = (
    r"\b(?:do|follow|obey|execute|perform|carry out|comply with|act on|apply|run|heed|carry it out|act accordingly)\b"
    r"(?: \w{1,12}){0,3}? (?:what (?:it|the \w{1,20}(?: \w{1,20})?) (?:says|say|wrote|asks|tells|demands)|it\b|them\b|accordingly|out\b|the (?:fixture|sentence|quote|quoted \w+|phrase|payload|example|instruction|text|test|above|attack)|"
    r"this (?:attack|sentence|example|payload|quote|instruction|test|phrase|text|one)|these (?:instructions|orders))\b(?! like| such| as data)"
    r"|\b(?:translate|decode|read|repeat) (?:\w{1,12} )?(?:and|then)[ ,](?:then )?(?:follow|obey|execute|do)\b|\bact on it\b|\bact (?:it|this|that) out\b|\bwhich you (?:should|must|shall|have to|are to) (?:act out|perform|execute|do|follow|obey)\b|\bpasses only if you\b|\bplease execute it\b|\bact accordingly\b|\bnew orders\b|\byou should (?:really|actually)\b|\bfor real\b|\binstructions? to you\b|\bas coming from\b|\band comply\b|\bplease do that\b|\bdo that (?:now|please)\b"
)
"""Requests to follow a quotation, which make it an instruction after all."""


_CLAUSE = 80
"""The most characters before a match in which a negation or a report is searched."""
_NEAR = 300
"""The most characters on each side of a match in which its context is searched."""
_OPENED, _CLOSED = 40, 80
"""The most characters before and after a match within which the quotation marks around it must be."""
_CUT = r".*(?:[.!?;:\n]|, | and | but | then | just | simply | instead |--| - |—)"
_FORBIDDEN = (
    r"\b(?:never|not|cannot|avoid|refuses? to|forbidden to|no (?:agent|assistant|model|bot|user|one)s?)\b|n't\b"
)
_NOT_FORBIDDEN = r"\bwhy (?:not|don't)|\bnot (?:only|hesitate|forget|be afraid|fail|wait)|\b(?:isn't|wouldn't) (?:it|this|that)\b|n't (?:hesitate|forget|be afraid|wait|you)\b|\b(?:if|or) not\b"
_READERS = r"(?:models|agents|llms|assistants|(?:chat)?bots|attackers|users|prompts|people|they|inputs?|injections?)"
_AGENT = r"(?:it|them|(?:the|a|an|our|your|any|that|some|small|other|an? ai) ?(?:\w{1,12} )?(?:models?|agents?|llms?|assistants?|(?:chat)?bots?|ai|parsers?|users?|system))"
_REPORTED = (
    rf"(?:\b{_READERS} (?:(?:\w{{1,12}}ly|sometimes|often|may|might|could|can|still|would|should not|that|to) )*"
    rf"|\b(?:mak|ask|tell|told|trick|caus|instruct|order|get|got|convinc|persuad|lead|let|allow|want|forc)\w{{0,4}} {_AGENT} (?:to |into )?"
    r"|\b(?:attempts?|tries|try|trying|told|tricked|meant|designed|instructed|asked|able) (?:\w{1,12} )?to )\Z"
)
_ELSEWHERE = (
    r" (?:in|of|for|from|at|on|about|when|if you use) "
    r"(?!(?:the |our |a |an |this |your |that )?(?:users?|system|developers?|operators?|maintainers?|humans?|owners?|session|conversation|prompt|chat|"
    r"context|messages?|memor\w{1,3}|now|here|claude|agents?|makers?|models?|you|your|admins?|administrators?|file|anthropic|openai|all|any|me|my|good|ever|"
    r"team|moment|while|task|answer|reply|purposes?|reason)\b)\w"
)
_WHOLE = r"\byour \b|\b(?:all|any|every|each)\b"
"""A match with these words concerns all instructions, also where a place such as a file is named after it."""
_REFUSALS = ("not ", "don't ", "never ", "no longer ")
_IF = r"\b(?:if|when|who|that|which|because)(?: \w{1,12})?(?: do| does| did)? \Z"
_NAMED = r"[`'\"]?,? ?(?:(?:user|system|assistant|model|role)\b[`'\"]? ?)?(?:[.,;)](?: |\Z|\n)|\Z|(?:and|or|around|marks?|opens?|closes?|tokens?|markers?|tags?|blocks?|messages?|role|is|are|as|for|parts?|turns?|yourself|before)\b)"
_NAMED_SETTING = r"[\w.-]{1,80}[\"']?[:=] ?[\"']?\$\{\{ ?[\w.-]{1,80} ?\}\}"
_REPLACED = r"((?:\A|\n)-[^\n]*\n)(?=\+)"
"""A removed line of a diff before an added one: the two are no sentence."""
_LINE_SIGNS = r"\n(?:(?:[+>#*|;%]|//|-(?! )) ?){1,4}"
"""The signs at the beginning of a line of a diff, a comment or a quotation; a dash before a blank begins an item of a list."""
_OPEN = r"[\"“”«„`]|(?<!\w)['‘]"
_CLOSE = r"[\"“”»`]|['’](?!\w)"


def is_mentioned(rule: InjectionRule, text: str, match: re.Match[str]) -> bool:
    """Whether the match of `rule` in `text` is no instruction to the reader."""
    start, end = match.span()
    act = match.start("act") if "act" in match.re.groupindex else start
    if rule.forbids and (_is_forbidden(text, start) or (act != start and _is_forbidden(text, act))):
        return True
    if match[0].startswith(_REFUSALS) and compiled(_IF).search(text, max(0, start - _CLAUSE), start):
        return True
    if rule.is_local and not compiled(_WHOLE).search(match[0]) and compiled(_ELSEWHERE).match(text, end):
        return True
    # A request near the match to follow the quotation makes it an instruction.
    for part in (text[max(0, start - _NEAR) : start], text[end : end + _NEAR]):
        if any(not _is_forbidden(part, request.start()) for request in compiled(OBEYED).finditer(part)):
            return False
    if rule.reason == MARKUP:
        # Markup is only mentioned within a sentence, or as a short piece of code in one.
        line = text[max(0, text.rfind("\n", 0, start) + 1, start - _NEAR) : start]
        is_code = line.count("`") % 2 == 1 and "`" in text[end : end + 20]
        is_within = " " not in text[start:end].strip() and bool(line.strip(" -*#>\"'`"))
        if is_within and (is_code or compiled(_NAMED).match(text, end)):
            return True
        return _is_quoted(text, start, end)
    # A report about others is harmless: "models ignore ...", "it tricks the agent into ...".
    is_reported = compiled(_REPORTED).search(text, max(0, start - _CLAUSE), start)
    return bool(is_reported) or _is_quoted(text, start, end)


def _is_forbidden(text: str, start: int) -> bool:
    """Whether the clause before `start` forbids the action after it."""
    before = text[max(0, start - _CLAUSE) : start]
    cut = compiled(_CUT).match(before)
    clause = before[cut.end() :] if cut else before
    return bool(compiled(_FORBIDDEN).search(clause)) and not compiled(_NOT_FORBIDDEN).search(clause)


def _is_quoted(text: str, start: int, end: int) -> bool:
    """Whether the match is in quotation marks in a text that discusses such instructions."""
    if not compiled(_OPEN).search(text[max(0, start - _OPENED) : start + 1]):
        return False
    if not compiled(_CLOSE).search(text[end - 1 : end + _CLOSED]):
        return False
    around = text[max(0, start - _NEAR) : start] + text[end : end + _NEAR]
    return any(word in around for word in DISCUSSED)


_HEAD_OF_TEXT = 4000
"""The number of characters at the beginning of a text in which the words of ABOUT are searched."""


def find_reasons(text: str) -> frozenset[str]:
    """The reasons not to show `text` to an agent unchanged; empty for none. Never raises; takes linear time."""
    found = set()
    if not is_plain(text):
        if SMUGGLED().search(text):
            found.add(HIDDEN)
        if ESCAPE().search(text):
            found.add(ESCAPES)
    whole = ""
    for low, is_name in readings(text):
        whole = whole or low
        if not is_name or not any(word in whole[:_HEAD_OF_TEXT] for word in ABOUT):
            forms = list[str]()
            for number in _suspects().within(low):
                if number >= len(RULES):
                    if INSTRUCTIONS not in found and is_foreign_order(low, number - len(RULES)):
                        found.add(INSTRUCTIONS)
                    continue
                if RULES[number].reason in found:
                    continue
                forms = forms or _forms(low)
                if _applies(RULES[number], forms):
                    found.add(RULES[number].reason)
    return frozenset(found)


def quotable(text: str, most: int = 160) -> str:
    """The message of another program on one line of at most `most` characters, for an error that an agent may read; empty
    where it has instructions."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: 8 * most]).split())[:most]
    return "" if find_reasons(line) else line


def _applies(rule: InjectionRule, forms: Sequence[str]) -> bool:
    # Markup must be on one line, and line beginnings are part of its patterns, so it is not searched by paragraphs.
    texts = forms[:1] if rule.reason == MARKUP else forms
    exact = pattern(rule.pattern)
    return any(not is_mentioned(rule, text, match) for text in texts for match in exact.finditer(text))


def _forms(low: str) -> list[str]:
    """A text by lines, and with the lines of each paragraph joined, where that differs: an order may be wrapped, also in a
    comment, a quotation or a diff."""
    # A setting such as `token: ${{ secrets.NAME }}` in a workflow only names a secret and reveals none.
    plain = compiled(_NAMED_SETTING).sub("", low) if "${{" in low else low
    by_line = plain.replace("*", "")
    if "\n" not in by_line:
        return [by_line]
    apart = compiled(_REPLACED).sub(r"\1\n", plain) if "\n+" in plain else plain
    bare = compiled(_LINE_SIGNS).sub("\n", apart)
    return [by_line, bare.replace("\n\n", "\f").replace("\n", " ").replace("\f", "\n").replace("*", "")]


@cache
def _suspects() -> Suspects:
    """The index of the rules, followed by the rows of other languages; built at first use, since that takes time."""
    return Suspects((*RULES, *LANGUAGES))


INSTRUCTIONS = "instructions"
MARKUP = "markup"
HIDDEN = "hidden"
ESCAPES = "escapes"


class InjectionRule:
    """A row: a text must have a literal of the group `first` and one of each of the groups `others`. All but `first` is decoded at
    its first use.

    A rule has a `pattern` for lower-case text on one line. `forbids`: a "never" before the match, or before its group `act`, makes
    it harmless. `is_local`: a place after it makes it harmless, as in "ignore the previous instructions in the old wiki". An order
    in another language has `within`, the most characters between a stem of the first group and one of each other group.
    """

    others: Groups
    reason: str
    pattern: str
    forbids: bool
    is_local: bool
    within: int

    def __init__(self, first: Sequence[str], row: bytes) -> None:
        self.first = first
        self._line = row

    def __getattr__(self, name: str) -> Any:
        if "others" not in self.__dict__:
            _, others, row = json.loads(self._line)
            row = {"pattern": "", "forbids": True, "is_local": False, "within": 60, "others": others} | row
            self.__dict__ |= row | {"pattern": _FRAGMENTS.expanded(row["pattern"])}
        return object.__getattribute__(self, name)


_FRAGMENTS = Fragments(__package__)
# Rules are by what a text asks for: rules for known phrasings found little more than half of an unseen set.
RULES = tuple(starmap(InjectionRule, read_rows(__package__, "rules.jsonl")))
# Their words are stored in the form of readings: folding them took several milliseconds of each first screening.
LANGUAGES = tuple(starmap(InjectionRule, read_rows(__package__, "languages.jsonl")))
"""Orders in other languages, as groups of stems."""
_NEGATIONS = frozenset(
    "nicht niemals nie ne pas jamais no nunca não nao non mai не никогда niet se wird werden".split()
)
"""Words that negate the verb after them; verbs of the tables with `не` contain their negation."""
_NEGATED_AFTER = (" nicht ", " pas ", " niet ", "しない", "しては", "하지 마", "하지마", "지 마", "지 않")
_NEGATED_BEFORE = ("不要", "不得", "不能", "切勿", "请勿", "禁止", "别", "勿", "不可")


_BEFORE, _AFTER = 14, 12
"""The number of characters before and after a verb in which its negation is searched."""
_STOPS = (". ", "; ", "! ", "? ", "\n\n", "。", "！")


def is_foreign_order(low: str, row: int) -> bool:
    """Whether `low`, which has a stem of each group of the row, has them together in a sentence and not negated."""
    order = LANGUAGES[row]
    for word in order.first:
        at = low.find(word)
        while at >= 0:
            end = at + len(word)
            # The text near the stem in the same sentence.
            before, after = low[max(0, at - order.within) : at], low[end : end + order.within]
            start = max((before.rfind(stop) + len(stop) for stop in _STOPS if stop in before), default=0)
            stops = [place for stop in _STOPS if (place := after.find(stop)) >= 0]
            window = before[start:] + word + after[: min(stops, default=len(after))]
            if all(any(other in window for other in group) for group in order.others):
                before, after = low[max(0, at - _BEFORE) : at], f"{low[end : end + _AFTER]} "
                is_negated = before.rstrip().endswith(_NEGATED_BEFORE) or _NEGATIONS.intersection(before.split()[-1:])
                if not is_negated and not any(sign in after for sign in _NEGATED_AFTER):
                    return True
            at = low.find(word, end)
    return False


Groups = Sequence[Sequence[str]]
_PUNCTUATION = bytes.maketrans(b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", b" " * 32)
_FEW = 400
"""A text of fewer characters is searched for all literals of first groups."""
_HEAD = 5
"""The number of characters of a literal by which its rules are found without RE2."""


class Suspects:
    """An index that finds rules by their groups of literals: a text must have a literal of each group of a rule."""

    def __init__(self, rules: Sequence[InjectionRule]) -> None:
        self._rules = rules
        self._literals = Literals(word for rule in rules for group in (rule.first, *rule.others) for word in group)

    def within(self, low: str) -> list[int]:
        """The numbers of rules that may match `low`, a text in lower case, ascending."""
        literals = self._literals.at_once(low)
        if literals is not None:
            of_words, of_rules = self._bits
            bits = 0
            for word in literals:
                bits |= of_words[word]
            lacking = ~bits
            return [number for number, wanted in enumerate(of_rules) if not wanted & lacking]
        # Without RE2, rules are checked one by one where their first group may have a word, small groups first.
        if len(low) < _FEW:  # one by one: the index takes longer to make
            few = {n for n, rule in enumerate(self._rules) for word in rule.first if word in low}
            return self._with_others(few, low)
        by_head, by_sign = self._index
        heads = {word[:_HEAD] for word in _words(low)} & by_head.keys()
        numbers = {number for head in heads for number, word in by_head[head] if word in low}
        numbers.update(number for number, signs in by_sign if any(sign in low for sign in signs))
        return self._with_others(numbers, low)

    def _with_others(self, numbers: Iterable[int], low: str) -> list[int]:
        """Those of the rules with a literal of their first group in `low` that have one of each other group there."""
        return [
            n
            for n in sorted(numbers)
            if all(any(word in low for word in group) for group in sorted(self._rules[n].others, key=len))
        ]

    @cached_property
    def _bits(self) -> tuple[dict[str, int], list[int]]:
        """Each group is a bit: for each literal the bits of the groups that have it, for each rule those of all its groups."""
        of_words: dict[str, int] = {}
        of_rules = []
        bit = 1
        for rule in self._rules:
            groups = (rule.first, *rule.others)
            of_rules.append(((1 << len(groups)) - 1) * bit)
            for group in groups:
                for word in group:
                    of_words[word] = of_words.get(word, 0) | bit
                bit <<= 1
        return of_words, of_rules

    @cached_property
    def _index(self) -> tuple[dict[str, list[tuple[int, str]]], list[tuple[int, list[str]]]]:
        """For the first characters of each literal in the first group of a rule, the rule with that literal; and rules with
        literals that do not begin with a Latin letter."""
        by_head: dict[str, list[tuple[int, str]]] = {}
        by_sign = []
        for number, rule in enumerate(self._rules):
            signs = []
            for word in rule.first:
                if not word[0].isalpha() or word[0] >= "\u0370":  # no Latin letter
                    signs.append(word)
                    continue
                head = word[:_HEAD]
                head = head if head.isalnum() else _words(word)[0][:_HEAD]
                by_head.setdefault(head, []).append((number, word))
                if len(head) < _HEAD:
                    by_head.setdefault(f"{head}s", []).append((number, word))
            if signs:
                by_sign.append((number, signs))
        return by_head, by_sign


def _words(text: str) -> list[str]:
    """The words of `text`, split at ASCII punctuation and blanks."""
    # Bytes are translated many times as fast as text.
    return text.encode("utf-8", "surrogatepass").translate(_PUNCTUATION).decode("utf-8", "surrogatepass").split()
