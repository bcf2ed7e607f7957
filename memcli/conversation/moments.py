"""What a sentence does in a conversation: it names a problem, a cause, a decision, a change of plan, a task or its end."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from memcli.conversation.message import Message
from memcli.conversation.statements import ASKED, OFFERED, PHATIC, PLANNED, STATED, Statement, statements
from memcli.regex import regex

(
    PROBLEM, PERSISTS, ACTION, CURED, CAUSE, GAIN, DECIDED, WITHDRAWN, REQUEST, DONE, PRAISE, GLAD, PASSED, FAILED,
) = (
    "problem", "persists", "action", "cured", "cause", "gain", "decided", "withdrawn", "request", "done", "praise", "glad",
    "passed", "failed",
)  # fmt: skip

_VERBS = (
    r"(?:add|update|write|create|implement|build|refactor|rename|remove|delete|split|translate|document|migrate|upgrade|deploy|"
    r"release|publish|clean|convert|move|extract|set ?up|configure|generate|port|replace|make|bump|merge|integrate|draft|"
    r"finish|change|simplify|wire|prepare|ship|rewrite|introduce|support)"
)
_DOING = (
    r"(?:added|updated|wrote|written|created|implemented|built|refactored|renamed|removed|deleted|split|translated|documented|"
    r"migrated|upgraded|converted|moved|extracted|set(?: up)?|configured|generated|ported|replaced|made|bumped|integrated|"
    r"drafted|changed|simplified|wired|prepared|rewrote|rewritten|introduced|installed|raised|lowered|increased|reduced|froze|"
    r"cached|disabled|enabled|patched|reverted|restarted|corrected|adjusted|switched|wrapped|moved|pinned|renewed|cleaned|"
    r"backfilled|rebuilt|reloaded|rotated|limited|guarded|escaped|sorted|fixed|resolved|repaired|put|turned)"
)
_I = r"\b(?:i|we)(?:'ve| have)?(?: now| also| just| then| finally| all| both)* "
_FINISHED = r"(?:published|released|deployed|shipped|finished|completed|merged|implemented|landed|rolled out)"
_UNIT = r"\s?(?:ms|milliseconds?|s|secs?|seconds?|mins?|minutes?|h|hours?|days?|kb|mb|gb|tb|%|percent)"

_NO_PROBLEM = regex(
    r"\b(?:no (?:more )?|without (?:an |any )?|zero |0 |any |not an? )(?:\w+ )?(?:errors?|bugs?|problems?|issues?|failures?|failed|crash(?:es)?"
    r"|leaks?|duplicates?|regressions?)\b|\b(?:never|doesn't|does not|don't|didn't|no longer|not) (?:fail|crash|leak|hang|break|lose)s?\b|"
    r"\berror[- ](?:messages?|handling|codes?|pages?|texts?|boundar\w+|types?|reporting)\b|\bbug ?fix\w*|\bbug reports?\b"
)
_THING_FAILS = r"(?:fail(?:s|ed|ing)?|crash(?:es|ed|ing)?|hangs?|hung|breaks?|broke|broken|freezes|is (?:down|stuck|red|flaky)|times? out|timed out)"

_USER_PROBLEM = (
    rf"\b{_THING_FAILS}\b",
    r"\b(?:bug|regression|deadlock|race condition|memory leak|leak(?:s|ing)|data loss|segfault|outage|vulnerability)\b",
    r"\b(?:an?|the same|this|following|strange|weird|with) (?:\w+ )?(?:error|exception)\b|\berrors? (?:out|when|on|in|after|since)\b",
    r"\b(?:doesn't|does not|isn't|is not|won't|didn't|don't|not) (?:work|working|start|starting|build|compile|load|render|respond|connect)\b",
    (
        r"\b(?:cannot|can't|can not|unable to) (?:\w+ )?(?:connect|log ?in|build|start|open|reach|install|compile|import|reproduce|upload|"
        r"deploy|push|run|save|find|access|sign)\b"
    ),
    r"\bkeeps? (?:growing|crashing|failing|restarting|disconnecting|getting|losing|timing)\b",
    (
        r"\b(?:is|are|was|were|got|gets|becomes?) (?:\w+ly |too |so |very |way too |only )*(?:slow|flaky|wrong|missing|incorrect|corrupt(?:ed)?|"
        r"empty|inconsistent|unusable|out of sync|off by|duplicated|truncated|garbled)\b"
    ),
    rf"\btakes? (?:\w+ )?\d+{_UNIT}\b",
    r"\b(?:rejects?|refuses?|started to reject|leaves? out|loses|lost|drops|swallows|ignores|overwrites|shows the wrong|wrong \w+)\b",
    r"\b(?:twice|the same number|get duplicated|duplicates)\b|\bexits? with (?:code |status )?\d|\bexit code [1-9]",
    r"\b(?:with|returns?|gets?|got|throws?|gives?|a) (?:an? |me )?(?:http )?[45]\d\d\b|\b[45]\d\ds? (?:errors?|from|on|when)\b",
    r"\b(?:throws|raises|threw|raised|panics|panicked|complains)\b|\b(?:nobody knows|no idea) why\b|\bexpired\b",
)
_ASSISTANT_PROBLEM = (
    (
        r"\b(?:found|discovered|noticed|spotted|there (?:is|are|was|were)|that is|that's|this is|it's|it is|hit|see) (?:also |actually )?"
        r"(?:an?|the|another|one|two|three|\d+|some)? ?(?:\w+ ){0,3}(?:bugs?|problems?|issues?|errors?|leaks?|races?|race condition|regressions?|"
        r"mistakes?|vulnerabilit(?:y|ies)|deadlocks?|warnings?|conflicts?)\b"
    ),
    rf"\b\d+ (?:\w+ )?(?:tests?|checks?|errors?|failures?|cases) (?:still )?{_THING_FAILS}\b",
    (
        rf"\b(?:build|tests?|suite|deploy(?:ment)?|migration|ci|pipeline|release|import|export|job|request|command|server|script|install(?:ation)?)"
        rf" (?:still |now |also )?(?:is |are )?{_THING_FAILS}\b"
    ),
    r"\bi (?:noticed|see|found|discovered) that\b.{0,120}\b(?:not|never|wrong|missing|twice|fails?|crash\w*|leaks?|loses|drops)\b",
)
_PERSISTS = (
    (
        r"\bstill (?:not|fails?|failing|crash\w*|broken|the same|wrong|shows?|get(?:ting)?|happens?|happening|slow|hangs?|there|see(?:ing)?|"
        r"doesn't|does not|isn't|no|times)\b"
    ),
    r"\bsame (?:problem|error|issue|result|thing) ?(?:again|as before|here)?[.!…]?$|^(?:nope|no),? .*\bsame\b",
    r"\b(?:no luck|didn't help|did not help|didn't work|did not work|not fixed|isn't fixed|came back|is back|give up|gave up|made it worse)\b",
)
_CURED = (
    (
        r"\b(?:is|are|was|were|got|has been|have been|'s|now|be) (?:now |all |finally )?(?:fixed|resolved|solved|gone|repaired|working|green|"
        r"passing|stable|healthy|correct|clean|recovered)\b|^(?:fixed|solved|resolved)\b"
    ),
    rf"{_I}(?:fixed|resolved|solved|repaired)\b|\bthat (?:fixed|solved|did) it\b|\bdid the trick\b|\bproblem solved\b",
    (
        r"\b(?:works?|runs?|passe[sd]?|pass|succeeds?|builds?|starts?|loads?|deliver\w*|responds?|connects?) (?:\w+ )?(?:now|again|fine|"
        r"correctly|every time|as expected|through|without)\b"
    ),
    r"\b(?:now|again|all(?: \w+)?) (?:\w+ ){0,2}(?:works?|runs?|pass(?:es)?|succeeds?|builds?|starts?)\b|\ball (?:checks?|tests?) pass",
    r"\b(?:went through|goes through|runs through|succeeded|no longer (?:fails?|crash\w*|happens?|appears?|occurs?|leaks?|hangs?|shows?))\b",
    (
        r"\bno (?:more )?(?:\w+ )?(?:errors?|failures?|crashes|leaks?|duplicates?|warnings?|problems?)(?: \w+){0,2} (?:now|since|anymore|any more|left)\b"
        r"|\bno more \w+"
    ),
    rf"\b(?:is |went |dropped |fell )?(?:down )?from \d[\d.,]*{_UNIT}.{{0,20}} to \d[\d.,]*",
)
_ACTION = (
    rf"{_I}{_DOING}\b",
    r"\bi (?:now )?(?:backfill|read|use|catch|check|retry|close|escape|cache|skip|clamp|reset|lock|handle)s? ",
)
_CAUSE = (
    r"\bfound (?:it|the (?:cause|culprit|reason|bug|problem|root cause|source))\b|\b(?:it )?turn(?:s|ed) out\b|\broot cause\b|\bthe culprit\b",
    r"\bfigured (?:it|that|this)? ?out\b|\bthat explains\b|\b(?:eureka|breakthrough)\b|\bfinally (?:works|found|understood|understand|got it)\b",
    r"\bcracked it\b|\bit(?:'s| is| was) all because\b|\bthe (?:real |actual |underlying )(?:cause|problem|reason) (?:is|was)\b",
)
_GAIN = (
    rf"\bfrom \d[\d.,]*{_UNIT}.{{0,20}} to \d[\d.,]*",
    r"\b\d+(?:\.\d+)? ?(?:times|x) (?:faster|smaller|cheaper|less|fewer|quicker)\b",
)
_DECIDED = (
    (
        r"\b(?:we|i|team|everyone|it (?:was|is)|we all)(?:'ve| have| has|'re| are)?(?: now| finally| all| then| just| both)* (?:decided|chose|chosen|agreed|"
        r"settled|opted|picked)\b"
    ),
    (
        r"\b(?:let's|let us|we'll|we will|i'll|i will|(?:we're|we are|i'm|i am) (?:now )?(?:going to )?) ?(?:just |then )?"
        r"(?:go(?:ing)? with|going for|go for|use|stick with|stay with|settle on|adopt|standardi[sz]e on|keep using|pin|host)\b"
    ),
    r"^(?:ok(?:ay)?,? |so,? |right,? |good,? |then )*(?:we|let's) (?:go with|start with|stick to|stay with|stay on|standardi[sz]e on|keep to)\b",
    r"^(?:ok(?:ay)?,? |so,? |right,? )*(?:settled|decision|decided|agreed)\s?(?::|,? then\b)|\b(?:that's|that is|it's|this is) (?:decided|settled)\b",
    r"^(?:ok(?:ay)?,? )?(?:from now on|going forward),? (?:we|i|all|every)\b|\b(?:the|our) decision is\b|\bgoing with\b|\b\w+ it is[.!]?$",
)
_LETS = regex(
    r"^(?:ok(?:ay)?,? |so,? |then,? |alright,? |yes,? )*let's (?:first )?(?!look|see|open|talk|discuss|wait|try|check|continue|start\b|meet|do\b|take a|"
    r"think|move on|go (?:back|on|through|over|ahead|for)|test|run|say|find|not|debug|figure|assume|hope|get|have|focus|leave|pause|stop|drop|scrap|"
    r"abandon|ditch|revert|fix|investigate|review|read|ask|call|begin|finish|clean|add|update|write|call it)\w"
)
_UNDECIDED = regex(
    r"\b(?:not|n't|never|yet to|nothing|nobody|before (?:we|i)|once (?:we|i)|until (?:we|i)|who|whether|when (?:we|i)|why (?:we|i)|undecided)\b.{0,30}"
    r"\b(?:decide|decided|chose|chosen|agreed|settled|picked)\b"
)
_WITHDRAWN = (
    r"\b(?:scrap|forget|drop|ditch|abandon|discard|undo) (?:that|this|it|the (?:idea|plan|approach|whole))\b|\bchange of plans?\b",
    r"\bchanged (?:my|our) minds?\b|\b(?:on|with) second thoughts?\b|\blet's (?:drop|scrap|abandon|ditch|revert to|go back to|not)\b",
    r"\b(?:we|i)(?:'re| are|'m| am|'ve| have)? (?:now )?(?:abandon(?:ing|ed)?|dropp(?:ing|ed)|scrapp(?:ing|ed)|ditch(?:ing|ed)|pivot\w*)\b",
    r"\b(?:a|another) (?:completely |totally )?(?:different|new) (?:approach|direction)\b|\bstart over\b|\b(?:that's|is) off the table\b",
    r"\b(?:instead of|rather than) (?:the )?\w+(?: \w+){0,4} (?:we|as|that was) (?:planned|discussed|agreed|decided)\b|\bnew plan\b",
    r"^(?:ok(?:ay)?,? |so,? )*(?:actually|wait|no),? (?:let's|we(?:'ll| will)?|i(?:'ll| will)) (?:\w+ ){0,3}.*\b(?:instead|rather)\b",
)
_REQUEST = (
    rf"^(?:(?:please|now|also|then|and|next|ok(?:ay)?|so|great|good|perfect),? )*(?:can|could|would|will) you (?:please |also |now |just )*{_VERBS}\b",
    rf"^(?:(?:please|now|also|then|and|next|ok(?:ay)?|so|great|good|perfect|first),? )*{_VERBS}\b(?! (?:is|are|was|were|has|fails?|failed|takes|notes))",
    rf"\b(?:i|we) (?:need|want|have|would like|'d like|should) to (?:\w+ )?{_VERBS}\b|\b(?:i|we)(?:'d)? (?:need|want|like) (?:an?|the|some) ",
    r"\b(?:todo|task|ticket)\b.{0,60}: ",
)
_DONE = (
    r"^(?:all )?(?:done|finished|completed|shipped|merged|deployed|published|released)\b|\b(?:nice|great|looks good|good|perfect),? merged\b",
    (
        rf"\b(?:is|are|has been|have been|was|were)(?: now| all| also| finally| both)* (?:live|{_FINISHED}|complete|done|in place|in production|"
        r"translated|migrated|ready|on main|up and running)\b"
    ),
    rf"{_I}{_FINISHED}\b|\b(?:launched|went live|shipped)\b",
)
_PRAISE = (
    (
        r"\b(?:amazing|wow|incredible|huge|awesome|fantastic|hooray|unbelievable|brilliant|great|perfect|excellent|thanks?(?: you)?|super|nice|lgtm|love it|"
        r"works|danke|finally|good (?:catch|job|work)|that explains|looks good|well done)\b"
    ),
)
_GLAD = (
    r"\b(?:amazing|wow|incredible|huge|awesome|fantastic|hooray|unbelievable|brilliant|finally|that explains|love it|at last)\b",
)

_OF_USER: Mapping[str, Sequence[str]] = {
    PERSISTS: _PERSISTS, ACTION: _ACTION, CURED: _CURED, CAUSE: _CAUSE, GAIN: _GAIN, DECIDED: _DECIDED, WITHDRAWN: _WITHDRAWN,
    REQUEST: _REQUEST, DONE: _DONE, PRAISE: _PRAISE,
    GLAD: _GLAD,
}  # fmt: skip
_OF_ASSISTANT: Mapping[str, Sequence[str]] = {
    name: patterns for name, patterns in _OF_USER.items() if name not in (REQUEST, PRAISE, GLAD)
}
_PASSED = regex(
    r"(?i)\b(?:exit(?: code| status)?:? 0|\d+ passed|passed|ok|success(?:ful(?:ly)?)?|succeeded|all checks passed|0 (?:errors|failed))\b"
)
_FAILED = regex(r"(?i)\b(?:exit(?: code| status)?:? [1-9]\d*|failed|failure|errors?|traceback|exception|denied)\b")
_NONE_FAILED = regex(r"(?i)\b(?:0|no) (?:failed|failures?|errors?)\b")
_ASKING = regex(r"[,;:–—] ?(?:so |and |but )?(?:can|could|would|do|does|any|what|how|why|is|are|should)\b.*\?")


class Moment(NamedTuple):
    """A sentence with what it does; for a message of a tool, how it ended."""

    statement: Statement
    marks: frozenset[str]


def moments(message: Message) -> list[Moment]:
    """The sentences of a message with what each does."""
    if message.role == "tool":
        said = Statement(message.number, message.role, message.who, message.text, "", STATED)
        return [Moment(said, _of_tool(message.text))]
    return [Moment(said, marks_of(said)) for said in statements(message)]


def marks_of(said: Statement) -> frozenset[str]:
    """What a sentence does. A question may ask for something or name a problem before it asks; a guess does nothing."""
    if said.mood == PHATIC:
        is_glad = _is_in(_GLAD, said.bare)
        return frozenset() if said.role == "assistant" else frozenset([PRAISE, GLAD] if is_glad else [PRAISE])
    if said.mood == ASKED:
        return frozenset(_asked(said))
    marks = set()
    if said.mood in (STATED, PLANNED):
        marks = {name for name, patterns in _table(said.role).items() if _is_in(patterns, said.bare)}
        if _is_problem(said.bare, said.role):
            marks.add(PROBLEM)
        if said.role != "assistant" and _LETS.search(said.bare):
            marks.add(DECIDED)
        if _UNDECIDED.search(said.bare):
            marks.discard(DECIDED)
    if said.mood == PLANNED:  # a plan is neither a fact nor an end
        marks -= {ACTION, CURED, DONE, CAUSE, GAIN, PRAISE, GLAD}
    if said.mood == OFFERED:
        marks = set()
    return frozenset(_settled(marks))


def _settled(marks: set[str]) -> set[str]:
    """The marks without those that others rule out."""
    if PERSISTS in marks:
        return marks - {CURED, DONE, ACTION, PRAISE, GLAD}
    if CURED in marks:
        return marks - {PROBLEM}
    if ACTION in marks or CAUSE in marks or DONE in marks:
        return marks - {PROBLEM, REQUEST}
    return marks


def _asked(said: Statement) -> set[str]:
    found = set()
    if said.role != "assistant" and _is_in(_REQUEST[:1], said.bare):
        found.add(REQUEST)
    clause = _ASKING.sub("", said.bare)
    if clause != said.bare and _is_problem(clause, said.role):
        found.add(PROBLEM)
    return found


def _is_problem(bare: str, role: str) -> bool:
    plain = _NO_PROBLEM.sub(" ", bare)
    if re.match(r"(?:when|whenever|once|before|after) ", plain) and role == "assistant":
        return False
    return _is_in(_ASSISTANT_PROBLEM if role == "assistant" else _USER_PROBLEM, plain)


def _table(role: str) -> Mapping[str, Sequence[str]]:
    return _OF_ASSISTANT if role == "assistant" else _OF_USER


def _is_in(patterns: Sequence[str], bare: str) -> bool:
    return bool(_any_of(tuple(patterns)).search(bare))


@cache
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


def _of_tool(text: str) -> frozenset[str]:
    head = text[:2000]
    if _FAILED.search(_NONE_FAILED.sub("", head)):
        return frozenset([FAILED])
    return frozenset([PASSED]) if _PASSED.search(head) else frozenset()
