"""What each sentence does in a conversation: it names a problem, a cause, a decision, a change of plan, a task or its end.

The tables of patterns are matched against sentences as `bared` returns them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from memcli.conversation.statements import ASKED, PHATIC, PLANNED, STATED, TalkStatement, mood_of, statements
from memcli.model.conversation import Message
from memcli.record import NamedTuple
from memcli.regex import regex

(
    PROBLEM, PERSISTS, ACTION, CURED, CAUSE, FINDING, DECIDED, CHOSEN, WITHDRAWN, REQUEST, DONE, DEFERRED, PRAISE, GLAD, PASSED,
    FAILED, SUGGESTED, CHOICE, ACCEPTED, DISMAY,
) = (
    "problem", "persists", "action", "cured", "cause", "finding", "decided", "chosen", "withdrawn", "request", "done", "deferred",
    "praise", "glad", "passed", "failed", "suggested", "choice", "accepted", "dismay",
)  # fmt: skip

_VERBS = (
    r"(?:add|update|write|create|implement|build|refactor|rename|remove|delete|split|translate|document|migrate|upgrade|deploy|"
    r"release|publish|clean|convert|move|extract|set ?up|configure|generate|port|replace|make|bump|merge|integrate|draft|"
    r"finish|change|simplify|wire|prepare|ship|rewrite|introduce|support)"
)
_DOING = (
    r"(?!(?:noticed|settled|looked|checked|investigated|tried|wanted|needed|decided|agreed|expected|hoped|reviewed|compared|analy[sz]ed|profiled|"
    r"recorded|bisected|reproduced|searched|inspected|asked|tested|failed|assumed|measured|discovered|confirmed|verified|recommended|"
    r"suggested|liked|loved|used to|planned|started|continued|mentioned|learned|moved on|traced|debugged|listed|wondered|realized|realised|"
    r"considered|promised|guessed|explained|talked|watched|visited|enjoyed|received|logged|ordered|need|indeed|speed|red|bed)\b)"
    r"(?:(?:re-?|un)?\w{2,}ed|wrote|written|built|rebuilt|rewrote|rewritten|made|set|put|split|froze|cut|gave|took out|got rid|brought|bound|swapped out)"
)
_I = r"\b(?:i|we)(?:'ve| have)?(?: now| also| just| then| finally| all| both)* "
_FINISHED = r"(?:published|released|deployed|shipped|finished|completed|merged|implemented|landed|rolled out)"
_RULE_UNIT = r"\s?(?:ms|milliseconds?|s|secs?|seconds?|mins?|minutes?|h|hours?|days?|kb|mb|gb|tb|%|percent)"

_NO_PROBLEM = regex(
    r"\b(?:no (?:more )?|without (?:an |any )?|zero |0 |any |not an? )(?:\w+ )?(?:errors?|bugs?|problems?|issues?|failures?|failed|crash(?:es)?"
    r"|leaks?|duplicates?|regressions?)\b|\b(?:never|doesn't|does not|don't|didn't|no longer|not) (?:fail|crash|leak|hang|break|lose)s?\b|"
    r"\berror[- ](?:messages?|handling|codes?|pages?|texts?|boundar\w+|types?|reporting)\b|\bbug ?fix\w*|\bbug reports?\b"
)
_THING_FAILS = r"(?:fail(?:s|ed|ing)?|crash(?:es|ed|ing)?|dies|died|hangs?(?! in there)|hung|(?<!take )(?<!a )(?<!to )breaks?(?! my| from| down| the ice)|broke|broken|freezes|(?:is|are|been|was|were) (?:down(?! from| to)|stuck|red|flaky|unreliable|unstable|unusable)|times? out|timed out)"

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
    rf"\btakes? (?:\w+ )?\d+{_RULE_UNIT}\b",
    r"\b(?:rejects?|refuses?|started to reject|leaves? out|loses|lost|drops|swallows|ignores|overwrites|shows the wrong|wrong \w+)\b",
    r"\b(?:twice|the same number|get duplicated|duplicates)\b|\bexits? with (?:code |status )?\d|\bexit code [1-9]",
    r"\b(?:with|returns?|gets?|got|throws?|gives?|a) (?:an? |me )?(?:http )?[45]\d\d\b|\b[45]\d\ds? (?:errors?|from|on|when)\b",
    r"\b(?:sluggish|laggy|disconnects?|blank|oom\w*|gets? killed|off by|has been off|drives? (?:me|us) (?:crazy|mad|nuts))\b",
    (
        r"\b(?:overlaps|spikes?|shoots? up|unacceptable|not acceptable|ends? up in|never (?:arrives?|finishes|returns|ends)|gets? stuck|jumps|flickers|"
        r"can't explain|cannot explain|only reaches|stopped (?:working|responding)|too (?:slow|big|large|much memory|many))\b"
    ),
    r"\bcomplain(?:s|ing|ed|ts?)?\b|\bsomething(?:'s| is| was)? (?:\w+ )?(?:wrong|off|weird|broken|strange)\b",
    r"\b(?:throws|raises|threw|raised|panics|panicked|complains)\b|\b(?:nobody knows|no idea) why\b|\bexpired\b",
)
_ASSISTANT_PROBLEM = (
    (
        r"\b(?:found|discovered|noticed|spotted|there (?:is|are|was|were)|that is|that's|this is|it's|it is|hit|see) (?:also |actually )?"
        r"(?:an?|the|another|one|two|three|\d+|some)? ?(?:\w+ ){0,3}(?:bugs?|problems?|issues?|errors?|leaks?|races?|race condition|regressions?|"
        r"mistakes?|vulnerabilit(?:y|ies)|deadlocks?|warnings?|conflicts?)\b"
    ),
    r"\b(?:reports?|shows?|gives?|throws|there are) (?:\d+|several|many|some) (?:\w+ )?(?:errors?|failures?|warnings?|violations?)\b",
    r"\b(?:is|are) (?:dead|broken|leaking|vulnerable|outdated|corrupt(?:ed)?|inconsistent)\b|\brace detector flags\b",
    rf"\b\d+ (?:\w+ )?(?:tests?|checks?|errors?|failures?|cases) (?:still )?{_THING_FAILS}\b",
    (
        rf"\b(?:build|tests?|suite|deploy(?:ment)?|migration|ci|pipeline|release|import|export|job|request|command|server|script|install(?:ation)?)"
        rf" (?:still |now |also )?(?:is |are )?{_THING_FAILS}\b"
    ),
    rf"\b(?:it|this|the \w+(?: \w+)?) (?:still |now |also |then )?{_THING_FAILS}\b",
    (
        r"\bi (?:noticed|see|found|discovered) that\b.{0,120}\b(?:not|never|wrong|missing|twice|fails?|crash\w*|leaks?|loses|drops|"
        r"differ\w*|duplicate\w*|unused|stale|outdated|inconsistent|vulnerable|hard-?coded|expired|unencrypted|anyone|nobody|two)\b"
    ),
    r"\b(?:serious|critical|nasty|security|worrying|suspicious) (?:thing|issue|problem|hole|bug|flaw|finding)\b|\bso anyone can\b",
    r"^while \w+ing .{0,60}\bi (?:found|noticed|discovered|spotted|saw|stumbled)\b",
)
_PERSISTS = (
    (
        r"\bstill (?:not|fails?|failing|crash\w*|broken|the same|wrong|shows?|get(?:ting)?|happens?|happening|slow|hangs?|there|see(?:ing)?|"
        r"doesn't|does not|isn't|no|times)\b"
    ),
    r"\bsame (?:problem|error|issue|result|thing) ?(?:again|as before|here)?[.!…]?$|^(?:nope|no),? .*\bsame\b",
    r"\b(?:no luck|didn't help|did not help|didn't work|did not work|not fixed|isn't fixed|give up|gave up|made it worse)\b",
    r"\b(?:problem|error|bug|issue|crash|failure|it)s? (?:is|are|came|comes) back(?! (?:to|at|up|online))\b",
)
_CURED = (
    (
        r"\b(?:is|are|was|were|got|has been|have been|'s|now|be) (?:now |all |finally )?(?:fixed|resolved|solved|gone|repaired|working|green|"
        r"passing|stable|healthy|correct|clean|recovered)\b|^(?:fixed|solved|resolved)\b"
    ),
    r"\b\w+s (?:fine|correctly|properly|normally|as expected)\b",
    rf"{_I}(?:fixed|resolved|solved|repaired)\b|\bthat (?:fixed|solved|did) it\b|\bdid the trick\b|\bproblem solved\b",
    (
        r"\b(?:works?|runs?|passe[sd]?|pass|succeeds?|builds?|starts?|loads?|deliver\w*|responds?|connects?) (?:\w+ )?(?:now|again|fine|"
        r"correctly|every time|as expected|through|without)\b"
    ),
    r"\ball(?: \d+)?(?: \w+)? (?:tests?|checks?|specs?) (?:pass|passed|are passing|succeed)\b|\b(?:is|are) back (?:to|at|up|online|in)\b",
    r"\b(?:works?|runs?|uses?|passes|is|are) (?:\w+ ){0,6}now[.!]?$|\b\d+ (?:\w+ ){1,2}in a row\b|\bworks (?:on|for|in) (?:my|me|our|all)\b",
    r"\b(?:now|again|all(?: \w+)?) (?:\w+ ){0,2}(?:works?|runs?|pass(?:es)?|succeeds?|builds?|starts?)\b|\ball (?:checks?|tests?) pass",
    r"\b(?:went through|goes through|runs through|succeeded|no longer (?:fails?|crash\w*|happens?|appears?|occurs?|leaks?|hangs?|shows?))\b",
    (
        r"\bno (?:more )?(?:\w+ )?(?:errors?|failures?|crashes|leaks?|duplicates?|warnings?|problems?)(?: \w+){0,2} (?:now|since|anymore|any more|left)\b"
        r"|\bno more \w+"
    ),
)
_ACTION = (
    rf"{_I}{_DOING}\b|^(?:ok(?:ay)?,? |done[:,] )?(?!(?:put|set|cut|split)\b){_DOING}\b(?! (?:by|but|is|was|in)\b)",
    (
        r"\bnow (?:\w+ly )?(?:has|uses|reads|writes|prints|shows|listens|supports|returns|accepts|takes|sends|checks|keeps|handles|stores|"
        r"logs|displays|lists|opens|creates|exports|covers|respects|waits|retries)\b"
    ),
    r"\bi (?:now )?(?:backfill|read|use|catch|check|retry|close|escape|cache|skip|clamp|reset|lock|handle)s? ",
)
_CAUSE = (
    r"\bfound (?:it|the (?:cause|culprit|reason|bug|problem|root cause|source))\b|\b(?:it )?turn(?:s|ed) out\b|\broot cause\b|\bthe culprit\b",
    r"\bfigured (?:it|that|this)? ?out\b|\bthat explains\b|\b(?:eureka|breakthrough)\b|\bfinally (?:works|found|understood|understand|got it)\b",
    r"\bcracked it\b|\bit(?:'s| is| was) all because\b|\bthe (?:real |actual |underlying )(?:cause|problem|reason) (?:is|was)\b",
)
_NOW = (
    r"(?<!right )(?<!until )(?<!for )(?<!by )(?<!just )\bnow\b(?! (?:that|let's|we need))|\bagain[.!]?$|\bno (?:\w+ ){1,3}(?:is|are) left\b",
)
_FINDING = (
    rf"\b\d[\d.,]*{_RULE_UNIT} now\b|\bnow .{{0,30}}\b\d[\d.,]*{_RULE_UNIT}\b",
    r"\b\d+(?:\.\d+)? ?(?:times|x) (?:faster|smaller|cheaper|less|fewer|quicker)\b",
    r"\b(?:is|was|are) (?:the (?:\w+ )?(?:cause|reason)|caused by|because)\b|\bthe reason\b",
)
_DECIDED = (
    (
        r"\b(?:we|i|team|everyone|it (?:was|is)|we all)(?:'ve| have| has|'re| are)?(?: now| finally| all| then| just| both)* (?:decided|chose|chosen|agreed|"
        r"settled|opted|picked)\b"
    ),
    (
        r"\b(?:let's|let us|we'll|we will|i'll|i will|(?:we're|we are|i'm|i am) (?:now )?(?:going to )?) ?(?:just |then )?"
        r"(?:go(?:ing)? with|going for|go for|use|stick with|stay with|settle on|adopt|standardi[sz]e on|pin|host)\b"
    ),
    r"(?:^|[,;:] ?)(?:ok(?:ay)?,? |so,? |right,? |good,? |then |and )*(?:we|let's) (?:go with|start with|stick to|stay with|stay on|standardi[sz]e on|keep to)\b",
    r"^(?:ok(?:ay)?,? |so,? |right,? )*(?:settled|decision|decided|agreed)\s?(?::|,? then\b)|\b(?:that's|that is|it's|this is) (?:decided|settled)\b",
    r"^(?:ok(?:ay)?,? |so,? )*then,? (?:we|i)(?:'ll| will)? (?:use|take|go with|keep|do|stay with)\b|^(?:ok(?:ay)?,? )?(?:decided|settled)[.!]?$",
    r"^(?:ok(?:ay)?,? )?(?:from now on|going forward),? (?:we|i|all|every)\b|\b(?:the|our) decision is\b|\bgoing with\b|(?<!what)(?<!how)(?<!as)(?<!here)(?<!there)(?<!where) it is(?:, |[.!]?$)(?!\w+ing\b)",
)
_LETS = (
    r"^(?:ok(?:ay)?,? |so,? |then,? |alright,? |yes,? )*let's (?:first )?(?!look|see|open|talk|discuss|wait|try|check|continue|start\b|meet|do\b|take a|"
    r"think|move on|go (?:back|on|through|over|ahead|for)|test|run|say|find|not|debug|figure|assume|hope|get|have|focus|leave|pause|stop|drop|scrap|"
    r"abandon|ditch|revert|fix|investigate|review|read|ask|call|begin|finish|clean|add|update|write|call it)\w"
)
_UNDECIDED = regex(
    r"\b(?:not|n't|never|yet to|nothing|nobody|before (?:we|i)|once (?:we|i)|until (?:we|i)|who|whether|when (?:we|i)|why (?:we|i)|undecided)\b.{0,30}"
    r"\b(?:decide|decided|chose|chosen|agreed|settled|picked)\b"
)
_WITHDRAWN = (
    r"\b(?:scrap|(?<!never )(?<!to )(?<!n't )(?<!not )forget|drop|ditch|abandon|discard|undo) (?:that|this|it|the (?:idea|plan|approach|whole))\b|\bchange of plans?\b",
    r"\bnot worth (?:it|the)\b|\b(?:revert|undo) (?:it|that|this|everything|the whole)\b|\bstop (?:working on|building|using|pursuing)\b|\bdead end\b|\b(?:throw|threw) (?:\w+ ){0,5}(?:away|out)\b|^away from\b|\brip(?:ping|ped|s)? (?:it|that|this|the \w+) out\b|\bput (?:\w+ ){1,5}on (?:ice|hold)\b",
    r"\bchanged (?:my|our) minds?\b|\b(?:on|with) second thoughts?\b|\blet's (?:drop|scrap|abandon|ditch|revert to|go back to|not)\b",
    r"\b(?:we|i)(?:'re| are|'m| am|'ve| have)? (?:now )?(?:abandon(?:ing|ed)?|dropp(?:ing|ed)|scrapp(?:ing|ed)|ditch(?:ing|ed)|pivot\w*)\b",
    r"\b(?:a|another) (?:completely |totally )?(?:different|new) (?:approach|direction)\b|\bstart over\b|\b(?:that's|is) off the table\b",
    r"\b(?:instead of|rather than) (?:the )?\w+(?: \w+){0,4} (?:we|as|that was) (?:planned|discussed|agreed|decided)\b|\bnew plan\b",
    r"^(?:ok(?:ay)?,? |so,? )*(?:actually|wait|no),? (?:let's|we(?:'ll| will)?|i(?:'ll| will)) (?:\w+ ){0,3}.*\b(?:instead|rather)\b",
)
_LEAD = r"^(?:(?:please|now|also|then|and|next|ok(?:ay)?|so|great|good|perfect|first|try to),? )*"
_REQUEST_WORDS = (
    rf"{_LEAD}(?:can|could|would|will) you (?:please |also |now |just )*{_VERBS}\b",
    rf"{_LEAD}{_VERBS}\b(?! (?:is|are|was|were|has|fails?|failed|takes|notes))",
)
"""A request for work that begins the sentence, as a question or an imperative."""
_REQUEST = (
    *_REQUEST_WORDS,
    rf"^(?:next(?: up)?|then): \w+|\bwe should (?:\w+ )?(?:get|{_VERBS})\b",
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
        r"works?|sweet|beautiful|lovely|better|saved my|that did it|confirmed|ship it|tested|looks right|closing the|close the ticket|thx|cool|danke|finally|good (?:catch|job|work)|that explains|looks good|well done)\b"
    ),
)
_CHOICE = (
    r"\b(?:should|shall|do|would|can|could) (?:we|i)\b.* or \b|^(?!(?:is|are|was|were|does|did|has|have) )(?:[\w/+.#-]+[:,]? ){1,8}or (?:[\w/+.#-]+ ?){1,8}\W*$",
    r"\b(?:which|what)\b.{0,60}\b(?:do|should|shall|would|will) (?:we|i|you (?:want|prefer|like|choose|pick|suggest|recommend))\b",
    r"^(?:so |ok(?:ay)?,? )?(?:should|shall|do) we (?:use|store|keep|call|go|take|support|build|buy|pin|host|put|write|make|switch|stay|name|run)\b",
    r"\bback and forth between\b|\bcan't decide\b|\bnot sure (?:whether|which)\b",
)
_ACCEPTED = (
    (
        r"^(?:(?:yes|yep|yeah|sure|ok(?:ay)?|great|good|perfect|please|sounds good|absolutely|of course)[,!. ]*)*(?:please )?(?:do (?:it|that|so)|"
        r"go (?:ahead|for it)|please do|yes please)\b"
    ),
)
_DISMAY = (
    r"\b(?:oh no|ouch|holy|damn|yikes|uh-?oh|ugh|oh dear|that's (?:really )?bad|not good|oh my|shit|crap|terrible)\b",
)
_CHOSEN = (
    (
        r"^(?:ok(?:ay)?|fine|agreed|yes|good|right|alright|all right|deal|so)[,:.] (?!(?:but|what|how|why|so what|i|thanks?|let me|go|do|please|that|this|it|"
        r"tomorrow|nice|great|makes)\b)\w+ \w+"
    ),
    r"\b(?:it's|that's|and that's) final\b|^final[.!]?$|\b(?:is|are) cheaper\b",
    r"^(?:\S+ ){1,11}then[.!]?$",
)
_PROMISE = (rf"\bi(?:'ll| will|'m going to| am going to) (?:now |also |then |just )?{_VERBS}\b",)
_DEFERRED = (
    (
        r"\b(?:file|open|create|write|make)s? (?:an? )?(?:\w+ )?(?:ticket|issue)\b|\bleave (?:it|that|this)\b|\bdon't touch\b|\bnot (?:today|now)\b|"
        r"\b(?:tomorrow|next (?:week|sprint|month)|another day|later|on monday|for another time|out of scope)\b|\b(?:give|gave|giving) up\b"
    ),
)
_GLAD = (
    r"\b(?:amazing|wow|incredible|huge|awesome|fantastic|hooray|unbelievable|brilliant|finally|that explains|love it|at last|omg|that's it|so that's why|that's why|mind-?blowing|a{2,}h+|aha+)\b",
)


def _any_of(patterns: Sequence[str]) -> re.Pattern[str]:
    """One pattern that matches where any of `patterns` matches."""
    return regex("|".join(f"(?:{pattern})" for pattern in patterns))


_OF_USER: Mapping[str, re.Pattern[str]] = {
    mark: _any_of(patterns) for mark, patterns in {
        PROBLEM: _USER_PROBLEM, PERSISTS: _PERSISTS, ACTION: _ACTION, CURED: _CURED, CAUSE: _CAUSE, FINDING: _FINDING,
        DECIDED: _DECIDED, SUGGESTED: (_LETS,), CHOSEN: _CHOSEN, ACCEPTED: _ACCEPTED, DISMAY: _DISMAY, WITHDRAWN: _WITHDRAWN,
        REQUEST: _REQUEST, DONE: _DONE, DEFERRED: _DEFERRED, PRAISE: _PRAISE, GLAD: _GLAD,
    }.items()
}  # fmt: skip
_OF_ASSISTANT: Mapping[str, re.Pattern[str]] = {
    mark: _any_of(patterns) for mark, patterns in {
        PROBLEM: _ASSISTANT_PROBLEM, PERSISTS: _PERSISTS, ACTION: (*_ACTION, *_NOW), CURED: _CURED, CAUSE: _CAUSE,
        FINDING: _FINDING, DECIDED: _DECIDED, WITHDRAWN: _WITHDRAWN, REQUEST: _PROMISE, DONE: _DONE, DEFERRED: _DEFERRED,
    }.items()
}  # fmt: skip
_IMPERATIVE, _OPTIONS = _any_of(_REQUEST_WORDS), _any_of(_CHOICE)
_TOOL_PASSED = regex(
    r"(?i)\b(?:exit(?: code| status)?:? 0|\d+ passed|passed|ok|success(?:ful(?:ly)?)?|succeeded|all checks passed|0 (?:errors|failed))\b"
)
_TOOL_FAILED = regex(r"(?i)\b(?:exit(?: code| status)?:? [1-9]\d*|failed|failure|errors?|traceback|exception|denied)\b")
_NONE_FAILED = regex(r"(?i)\b(?:0|no) (?:failed|failures?|errors?)\b")
_ASKING = regex(r"[,;:–—] ?(?:so |and |but )?(?:can|could|would|do|does|any|what|how|why|is|are|should)\b.*\?")


_REFUSAL = regex(r"\b(?:no|nope|ouch|hm+|not)\b")
_LONG_AGO = regex(r"\b(?:years?|months?|weeks?) ago\b|\bback then\b|\blast (?:year|month|week|time)\b")
_UNTIL = regex(r"\b(?:until|till)\b")
_CACHED_MESSAGES = 1 << 14
_GENERAL = regex(r"(?:when|whenever|once|before|after) ")
_UNIT = r"\s?(ms|milliseconds?|seconds?|secs?|s|minutes?|mins?|hours?|h|days?|kb|mb|gb|tb|%|percent)?(?!\w)"
_CHANGE = regex(
    rf"\bfrom (?:about |around |roughly |over )?(\d[\d,]*(?:\.\d+)?){_UNIT}.{{0,20}}? to (?:about |almost |around |roughly |only |just |under |over )?"
    rf"(\d[\d,]*(?:\.\d+)?){_UNIT}"
)
_SIZES = (
    ("ms", 0.001), ("milli", 0.001), ("s", 1.0), ("min", 60.0), ("h", 3600.0), ("d", 86400.0), ("kb", 1.0), ("mb", 1e3), ("gb", 1e6), ("tb", 1e9),
)  # fmt: skip


class Moment(NamedTuple):
    """A sentence with its marks; for the message of a tool, its text with the mark `passed` or `failed`, if either."""

    statement: TalkStatement
    marks: frozenset[str]


@lru_cache(maxsize=_CACHED_MESSAGES)
def moments(message: Message) -> tuple[Moment, ...]:
    """The sentences of a message with their marks."""
    if message.role == "tool":
        sentence = TalkStatement(message.number, message.role, message.who, message.text, "", STATED)
        head = message.text[:2000]
        has_failed = _TOOL_FAILED.search(_NONE_FAILED.sub("", head))
        ends = [FAILED] if has_failed else [PASSED] if _TOOL_PASSED.search(head) else []
        return (Moment(sentence, frozenset(ends)),)
    return tuple([Moment(sentence, marks_of(sentence)) for sentence in statements(message)])


def marks_of(sentence: TalkStatement) -> frozenset[str]:
    """The marks of a sentence: what it does in the conversation, by the patterns of its speaker's role. A question may request
    work or follow the report of a problem; a supposition or an offer has no marks."""
    if sentence.mood == PHATIC:
        if sentence.role == "assistant":
            return frozenset()
        found = [mark for mark in (GLAD, ACCEPTED, DISMAY) if _OF_USER[mark].search(sentence.bare)]
        return frozenset(found if _REFUSAL.search(sentence.bare) else [PRAISE, *found])
    if sentence.mood == ASKED:
        return frozenset(_marks_of_question(sentence))
    if sentence.mood not in (STATED, PLANNED):
        return frozenset()
    patterns = _OF_ASSISTANT if sentence.role == "assistant" else _OF_USER
    marks = {mark for mark, pattern in patterns.items() if mark != PROBLEM and pattern.search(sentence.bare)}
    # A sentence that denies a problem, or an assistant's that names a condition for one, reports none.
    is_general = sentence.role == "assistant" and _GENERAL.match(sentence.bare)
    if not is_general and patterns[PROBLEM].search(_NO_PROBLEM.sub(" ", sentence.bare)):
        marks.add(PROBLEM)
    marks |= _change(sentence.bare)
    if sentence.role != "assistant" and _IMPERATIVE.search(sentence.bare):
        marks.discard(PROBLEM)
    # Speakers with names of their own are a team, among whom `let's` is seldom more than a suggestion.
    if SUGGESTED in marks and sentence.who == sentence.role:
        marks.add(DECIDED)
    if _LONG_AGO.search(sentence.bare):
        marks -= {ACTION, DONE, CURED}
    if _UNTIL.search(sentence.bare):
        marks.discard(DONE)
    if _UNDECIDED.search(sentence.bare):
        marks.discard(DECIDED)
    if sentence.mood == PLANNED:  # a plan is neither a fact nor an end
        marks -= {ACTION, CURED, DONE, CAUSE, FINDING, PRAISE, GLAD}
    return frozenset(_settled(marks))


def _change(bare: str) -> set[str]:
    """The marks of a change `from 90 ms to 20 ms`: a finding and a cure if the amount fell, a problem if it rose."""
    match = _CHANGE.search(bare)
    if not match:
        return set()
    unit = match[4] or match[2]
    if not unit:
        return set()
    before, after = (
        float(number.replace(",", "").rstrip(".")) * next((size for name, size in _SIZES if of.startswith(name)), 1.0)
        for number, of in ((match[1], match[2] or unit), (match[3], unit))
    )
    return {FINDING, CURED} if after < before else {PROBLEM} if after > before else set()


def _settled(marks: set[str]) -> set[str]:
    """The marks without those that contradict others: of what persists nothing is cured, what is cured is no problem."""
    if PERSISTS in marks:
        return marks - {CURED, DONE, ACTION, PRAISE, GLAD}
    if CURED in marks:
        return marks - {PROBLEM}
    if ACTION in marks or CAUSE in marks or DONE in marks:
        return marks - {PROBLEM, REQUEST}
    return marks


def _marks_of_question(sentence: TalkStatement) -> set[str]:
    """Whether a question requests work or a choice, and whether a clause before it reports a problem."""
    found = set()
    if sentence.role != "assistant" and _IMPERATIVE.search(sentence.bare):
        found.add(REQUEST)
    if _OPTIONS.search(sentence.bare):
        found.add(CHOICE)
    clause = _ASKING.sub("", sentence.bare)
    is_statement = clause != sentence.bare and mood_of(clause, clause) in (STATED, PLANNED)
    problem = (_OF_ASSISTANT if sentence.role == "assistant" else _OF_USER)[PROBLEM]
    if is_statement and problem.search(_NO_PROBLEM.sub(" ", clause)):
        found.add(PROBLEM)
    return found
