"""Cues that a sentence of a conversation states a fact, and cues of its neighbours: patterns for sentences as `bared` returns
them. `tools/fit.py facts` fits the weight of each in `facts.json`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from memcli.regex import regex

_MONTH = r"(?:january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|fall|winter|christmas|easter|q[1-4]|20\d\d|(?:mon|tues|wednes|thurs|fri|satur|sun)day|next (?:week|month|quarter|year)|(?:the )?end of|the \w+ (?:release|launch|conference|holidays)|v?\d+(?:\.\d+)* (?:is )?(?:out|released))"

CUES: Mapping[str, re.Pattern[str]] = {
    "chooses": regex(
        r"\b(?:going with|go with|went with|decided?|decision|settled?|agreed|chosen?|chose|opted|picked?|voted|approved|final(?:ly)? answer|standardi[sz]e|standardizing)\b|\bit is[.!]?$|\bwins?\b"
    ),
    "we will": regex(
        r"\b(?:we|i)(?:'ll| will| shall|'re going to| are going to|'re (?:switching|moving|dropping|keeping|using)| are (?:switching|moving|dropping))\b"
    ),
    "will": regex(r"\b(?:will|shall|won't)\b|'ll\b"),
    "let us": regex(r"\b(?:let's|lets|let us)\b"),
    "let us settle": regex(
        r"\b(?:let's|lets|let us) (?:just |then |rather )*(?:use|go (?:with|for)|keep|take|drop|not|switch|store|call|name|make|stick|stay|have|support|standardi[sz]e|put|move|default)\b"
    ),
    "keeps": regex(
        r"\b(?:we|i) (?:keep|stay|stick|drop|use|take|store|do|run|have|go|build|generate|number|roll|deploy|host|write|sell|support|serve|rely|follow)\b"
    ),
    "keeps it so": regex(r"\b(?:stays?|keep|keeping|stick|remain|leave)\b"),
    "changes": regex(
        r"\b(?:switch|switching|switched|move|moving|migrate|migrating|replace|replacing|drop|dropping|dropped|ditch|get rid|goes?|gets?|instead)\b"
    ),
    "then": regex(r"^(?:then|so|ok(?:ay)?|right|fine|good|well)\b[,:]? |\bthen[.!]?$"),
    "no to": regex(r"^no \w+[^?]*|\bno more\b|^(?:without|none of)\b"),
    "instead": regex(r"\b(?:instead|rather than|over|not \w+[.!]?$)\b"),
    "not this": regex(r"(?:,| and| but|;) not\b"),
    "only": regex(r"\b(?:only|just one|exclusively|solely)\b"),
    "never": regex(r"\b(?:never|nobody|nothing|no one|none|by no means|under no)\b"),
    "forbids": regex(
        r"^(?:(?:and|but|also|so|please|pls|ok)[, ]+)*(?:do not|don't|dont|never|avoid|stop|refrain)\b|\b(?:please|pls) (?:don't|do not|never)\b"
    ),
    "must": regex(
        r"\b(?:must(?! have| be (?:a|the|that))|has to|have to(?! (?:go|leave|admit|say|run)\b)|needs? to|required?|requires|mandatory|obliged|ought to|is to be|are to be)\b"
    ),
    "must not": regex(
        r"\b(?:must(?:n't| not| never)|may not|can't|cannot|can not|not allowed|isn't allowed|aren't allowed|forbidden|prohibited|not permitted|not be|no longer)\b"
    ),
    "limits": regex(
        r"\b(?:at most|at least|up to|max(?:imum)?|min(?:imum)?|below|above|under|within|no more than|less than|more than|limit(?:ed)?|budget|cap|only works|without|unless|until|compatible|backward|offline|on premise|compliant|gdpr|legal|licen[cs]e|audit|security|privacy)\b"
    ),
    "should": regex(r"\bshould(?:n't)?\b"),
    "always": regex(r"\b(?:always|every|each|all|any|everywhere|whatever|whoever|everything|everyone)\b"),
    "in general": regex(
        r"\b(?:in general|generally|from now on|going forward|by default|usually|as a rule|our (?:rule|convention|policy|style)|in future|for all|throughout|consistently|by convention|on purpose)\b"
    ),
    "prefers": regex(
        r"\b(?:prefer|prefers|preferably|(?:i|we) (?:really )?(?:like|love|hate)|don't like|do not like|dislike|preferences?|rather (?:see|have|read|not)|drives me|i'd rather|i would rather|favou?rite|fond of|not a fan|annoying|annoys|easier to read|readable|unreadable|hard to read|noisy|verbose)\b"
    ),
    "prefers it so": regex(
        r"^(?:(?:please|pls|and|also)[, ]+)*prefer\b|\b(?:i|we) (?:usually|normally|always|never|generally|like to|prefer to|want you to)\b|\bfor me\b"
    ),
    "likes that": regex(
        r"\b(?:i|we) (?:really )?(?:like|love|hate) (?:that|it|this|where|how|your|the idea)\b|\bprefer not to\b"
    ),
    "undecided": regex(
        r"\b(?:haven't|hasn't|have not|not yet|undecided|whether|to be (?:decided|discussed)|will (?:see|decide)|we'll (?:see|decide|miss)|still open|open again|had decided|were going to|was going to)\b"
    ),
    "supposes": regex(
        r"\b(?:suppose|imagine|for example|as an example|example:|say we|hypothetically|in the talk|wikipedia|reviewer|someone|a colleague|people say|rumou?r|they said|claims?)\b"
    ),
    "closes the matter": regex(
        r"\b(?:period|end of (?:discussion|story)|that's final|and that's it|no discussion|for good|it is then|done deal|i'm sold on|i'll take|we're not (?:doing|gonna|going to))\b"
    ),
    "wants": regex(r"\b(?:i|we)(?:'d| would)? (?:also )?(?:want|like|need|wish|don't want|do not want)\b"),
    "style": regex(
        r"\b(?:style|format|naming|names?|short|shorter|concise|comments?|docstrings?|emojis?|bullet points?|tabs|spaces|quotes|english|german|french|tone|indent\w*|abbreviations?|answers?|messages?|examples?|tests?|functions?|classes|lines?|wording|code)\b"
    ),
    "aims": regex(
        r"\b(?:goals?|aim|aiming|aims|target|objective|milestone|roadmap|vision|ambition|point of (?:this|all|the)|the idea is|success|i'd love to|what i'm after|meant to|dream|north star|long[- ]term|eventually|in the long run|one day|mission|purpose|plan is|planned for|plan to|planning to|hope to|okrs?|deadline|launch|go live|golive)\b"
    ),
    "wants to": regex(
        r"\b(?:i|we)(?:'d| would)? (?:want|like|need|hope|plan|intend|have) to\b|\bwe(?:'re| are) (?:aiming|working|heading)\b"
    ),
    "by a date": regex(
        rf"\b(?:by|until|before|till|in|at|from|on|since|this|next|for) (?:the )?(?:\w+ of )?(?:\d+\w* )?{_MONTH}\b"
    ),
    "steps": regex(
        r"\b(?:first|then|after that|afterwards|finally|followed by|next,|step|steps|before you|before each|before every|once|in this order)\b"
    ),
    "when": regex(
        r"^(?:(?:and|also|so|btw)[, ]+)*(?:when|whenever|if|before|after|once|for (?:a|an|each|every|new|any)|to \w+)\b"
    ),
    "runs a command": regex(
        r"\b(?:run|runs|execute|call|make|type|use|do) …|… (?:then|and|writes|creates|generates)\b"
    ),
    "acts": regex(
        r"\b(?:run|merge|tag|push|deploy|approve|bump|export|copy|open|restart|ask|upload|download|install|commit|release|create|post|posted|send|sent|check|tested|reviewed?|sign|rotate|restore|roll out|scale|publish|promote|write|add|announce|approved)\b"
    ),
    "routine": regex(
        r"\b(?:each|every|on) (?:mon|tues|wednes|thurs|fri|satur|sun)?(?:day|week|month|night|morning|evening|quarter|release|sprint|time|year)s?\b|\b(?:daily|weekly|monthly|nightly|hourly)\b"
    ),
    "denies": regex(r"^(?:(?:no|nope|nah|wrong|hm+|wait|sorry|oh|well|actually|careful|correction)[,.:! ]+)+(?:\w|…)"),
    "corrects": regex(
        r"\b(?:actually|in fact|wrong|mistake\w*|mixed|misunderst\w+|i meant|not quite|isn't true|not true|incorrect|outdated|out of date|anymore|any more|no longer|confus\w+|rather)\b|\byou (?:assumed|wrote|used|mixed|put|called|forgot|misread)\b"
    ),
    "is not": regex(r"\b(?:isn't|aren't|is not|are not|doesn't|don't|does not|do not|wasn't|weren't|hasn't|haven't)\b"),
    "tried": regex(
        r"\b(?:tried|didn't work|did not work|doesn't work|gave up|given up|failed|lost|losing|broke|broken|ruined|crashed|nightmare|disaster|last time|back then|never again|don't go there|dead end|waste|burned|burnt|bitten|regret\w*|survive|corrupted|outage|blew up|fell over|backfired|too (?:slow|unreliable|expensive|brittle|flaky)|out for|never caught|horrible|terrible|abandoned|rolled back)\b"
    ),
    "was": regex(
        r"\b(?:was|were|had|did|didn't|took|hit|got|went|asked|restarted|happened|noticed|saw|once|ago|last (?:year|month|week|time|summer|winter|spring|autumn)|before|used to|previous(?:ly)?|already)\b"
    ),
    "is": regex(r"\b(?:is|are|has|have|there's|it's|that's)\b|\w's (?!go\b|do\b|use\b)"),
    "of us": regex(r"\b(?:our|ours|us)\b"),
    "we": regex(r"\bwe\b|\bwe'"),
    "I": regex(r"\bi\b|\bi'|\bmy\b|\bme\b"),
    "you": regex(r"\byou\b|\byour\b"),
    "points": regex(r"^(?:(?:and|but|so|ok|yes|no)[, ]+)*(?:it|that|this|these|those|they|he|she|there)\b"),
    "the thing is": regex(
        r"^(?:(?:and|but|also|btw|by the way|fyi|note|so|well|hm+)[,: ]+)*(?:the|our|a|an|all|each|every|\w+s) (?:\S+ ){0,5}?(?:is|are|has|have|was|were|runs?|lives?|uses?|needs?|gets?|goes|stays?|comes?|expires?|ends?|starts?|belongs?|must|may|should|will|can)\b"
    ),
    "verb of state": regex(
        r"\b(?:lives?|runs on|runs at|sits|belongs?|owns?|owned|reachable|expires?|costs?|counts?|contains?|serves?|knows|ends|starts|reads?|listens?|holds?|consists?|comes from|located|stored|called|named|based|maintained|wrote|responsible|handles?|depends?|hosted|managed|means|equals)\b"
    ),
    "number": regex(r"\d"),
    "amount": regex(
        r"\d[\d.,]* ?(?:%|ms|s|sec|seconds?|min|minutes?|h|hours?|days?|weeks?|months?|years?|kb|mb|gb|tb|k|million|thousand|users?|customers?|people|devs?|times|nodes?|rows|x|px|cm|mm|kg|eur|€|\$|percent)\b|\$\d|€\d"
    ),
    "because": regex(
        r"\b(?:because|since|so that|due to|otherwise|as (?:it|we|they|the)|that's why|the reason|for (?:legal|security|compliance|historical|performance))\b|, so\b"
    ),
    "keep in mind": regex(
        r"\b(?:keep in mind|remember|note that|fyi|btw|by the way|for the record|just so you know|as background|some background|important|be careful|careful|mind that|don't forget|for later|you should know|beware)\b|^note\b"
    ),
    "for now": regex(
        r"\b(?:for now|today|tomorrow|this time|right now|at the moment|tempor\w+|tmp|quick|later|tonight|for the moment|in a minute|for this (?:file|one|pr|task|commit)|this once|just this|soon|yesterday)\b|\bnow[.!]?$"
    ),
    "asks for work": regex(
        r"^(?:(?:and|also|then|now|so|ok(?:ay)?|yes|good|great|please|pls|first|next|just|great|cool|nice|perfect|can you|could you)[,.!: ]+)*(?:add|write|create|make|fix|explain|build|implement|set|design|draft|generate|find|show|tell|translate|suggest|review|refactor|debug|update|upgrade|document|improve|optimi[sz]e|configure|rewrite|convert|describe|summari[sz]e|compare|prepare|test|check|investigate|look|give|clean|split|rename|remove|delete|extract|list|run|try|bump|revert|undo|put|change|increase|reduce|format|commit|push|merge|start|begin|continue|go on|move|skip|do|ping|ask|send|restart|kill|open|close|sort|copy|raise|turn|print|log|wrap|virtualize|replace|leave|ignore|let me|help)\b"
    ),
    "please": regex(r"\b(?:please|pls|plz)\b"),
    "guesses": regex(
        r"\b(?:maybe|perhaps|i think|i guess|i suppose|probably|might|could be|i wonder|not sure|unsure|what if|suppose|hypothetically|in theory|presumably|i feel|i believe|seems?|looks like|apparently|would)\b"
    ),
    "jokes": regex(
        r"\b(?:lol|haha\w*|kidding|joke|joking|rofl|what could go wrong|yeah right|sure, let's|as if)\b|:\)|;\)|:/|…!?$|\.\.\."
    ),
    "thanks": regex(
        r"^(?:thanks?|thank you|thx|great|nice|perfect|good|cool|super|lovely|awesome|works|exactly|correct|right|yes|yep|sure|ok(?:ay)?|fine|hm+|ah|oh)\b"
    ),
    "goes wrong": regex(
        r"\b(?:still|again|works|working|fails?|failing|error|errors|broken|red|green|slow|hangs?|crash\w*|not found|stuck|weird|strange|bug|complain|complains|angry|doesn't work)\b"
    ),
    "reports": regex(
        r"\b(?:says?|said|told|according|readme|article|blog|docs? say|somewhere|heard|they|he|she|wants?|his|her|their)\b"
    ),
    "quotes speech": regex(
        r"\b(?:says?|said|complains?|wrote|writes|claims?|warns?|reads?|told me)[:,]? (?:that )?(?:…|never|always|you|to|use|do)\b|\b(?:says?|said|wrote|complains?|claims?|readme|docs|linter|reviewer)\b.{0,20}(?:: |…)"
    ),
    "says so plainly": regex(
        r"^(?:(?:and|but|also|so|ok(?:ay)?|please|pls)[, ]+)*(?:(?:i|we) prefer (?!not\b)\w|prefer \w|(?:never|always) \w+ (?!had\b|seen\b)\w|(?:do not|don't|dont) (?!worry|bother|stop|know)\w+ \w|(?:it|this|\S+) (?:has|needs|must) (?:to )?(?!have been)\w+ \w"
        r"|let's (?:use|go with|call|stick|keep) (?:it )?\w|(?:remember|note|keep in mind|fyi)(?: that)? (?:the|our|we|you|all|\w+s)\b|(?:the|our) (?:goal|aim|target) is (?:to|a|that)\b|for [\w ]{2,30}, use\b|[\w ]{2,20} it is(?: then)?[.!]?$)"
        r"|\b(?:we(?:'re| are) (?:going with|staying with|keeping|switching to|dropping)|we stay with|(?<!if )we (?:have |all )?(?:decided|agreed|chose|settled))\b"
    ),
    "colon": regex(r"\w: "),
    "quotes": regex("…"),
    "comma": regex(r", "),
    "semicolon": regex(r"; | [-–—] "),
    "ends in a question": regex(r"\?[\"')]{0,3}$"),
    "who does": regex(
        r"\b(?:the (?:\w+ )?team|customers?|users?|support|legal|security|finance|the (?:client|partner|vendor|auditors?|boss|board|ops|qa|designers?|authorities|regulator)|employees|clerks?|admins?)\b"
    ),
}
"""Features of the sentence itself, by name."""
NOTED = regex(
    r"^(?:noted|understood|got it|good to know|i(?:'ll| will) (?:keep|remember|follow|respect|stick|use|never|always|leave|take|put|document|be)|thanks for|will do|ok(?:ay)?[.,!]|saved|fine, i|i (?:left|added|put|noted)|then (?:i|we)\b|i won't|that matters|important)"
)
"""The beginning of a message of an assistant that has taken note of a statement."""
DID = regex(
    r"^(?:done|fixed|added|removed|renamed|moved|set|changed|reverted|updated|replaced|deleted|created|pushed|committed|built|bumped|here|sure|yes|no)\b"
)
"""The beginning of a message of an assistant that has done a task."""
KEEP = regex(
    r"\b(?:remember|write (?:that|it|this) down|note (?:that|it|this)|keep (?:that|it|this|a note)|save (?:that|it|this)|put (?:that|it|this) (?:in|down|on)|document (?:that|it|this)|store (?:that|it|this)|memori[sz]e|make a note|for later|record (?:that|it|this))\b"
)
"""A request to save the matter."""
ACCEPTS = regex(
    r"^(?:yes|yep|yeah|ok(?:ay)?|sure|agreed|exactly|perfect|deal|great|good|fine|nice|right|correct|sounds (?:good|great|right)|makes sense|i like (?:it|that)|works for me|do (?:it|that)|go ahead|please do|let's (?:do|go with) (?:it|that)|\+1|lgtm|please)\b"
)
PROPOSES = regex(
    r"\b(?:i(?:'d| would)? (?:suggest|recommend|propose|use|go with|pick|take|choose|keep)|my (?:recommendation|suggestion|proposal|advice)|we (?:could|can|should)|let's|should we|shall we|how about|what about|why not)\b"
)
OFFERS_WORK = regex(r"^(?:shall|should|do you want|want me to|may|can) ")
TAKES_BACK = regex(
    r"\b(?:scratch that|never mind|nvm|(?:forget|scrap|ignore|disregard|strike|cancel|undo|revert) (?:that|it|what i (?:just )?said|my last|the last)"
    r"|on second thoughts?|take (?:that|it) back|change of plans?|changed? my mind|no,? wait|not needed (?:anymore|after all|in)|i was wrong|hold that thought|let's not do that|thinking about it again)\b"
    r"|^(?:actually|wait|hmm?|sorry),? no\b"
)
"""A retraction of an earlier statement."""
