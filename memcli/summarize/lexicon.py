"""English words that identify no topic, for `keyphrases`, and the cues by which a sentence shows the kind of its memory. Data,
and the functions that read it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from memcli.regex import regex
from memcli.text.languages import plain_kind
from memcli.text.words import STOP_WORDS

_FUNCTION_WORDS = """
    a.k.a across adr adrs against ago albeit all along alongside already although always am amid among another any
    anyone anything apart apr april aren around asap aside attendees aug august away background behind beside
    besides beyond both cannot cant caveat caveats certain cet com conclusion conclusions consequence consequences
    correction couldn debug dec december decision decisions despite dont e.g eg eight either else enough errata
    erratum est etc even ever every everyone everything except faq feb february first five fixme former four fri
    friday fridays fyi gb gmt goal goals gotcha gotchas hadn half hasn haven hence hey hi however hq i.e id ie ill
    im imho info inside instead intro introduction io isn it's its itself ive jan january jul july jun june kb last
    latter least less lest let lets like likewise little many mar march maybe mb meanwhile might mins minute minutes
    mon monday mondays moreover motivation ms much must near neither net never next nine nit nobody none nonetheless
    not note notes nothing nov november objective objectives oct october ok okay okr okrs once one ones onto org
    others otherwise ought ourselves outcome overview participants per percent perhaps please plus pm previous
    proposal pst px rationale recap regarding reminder retro retrospective rfc runbook runbooks sat saturday
    saturdays second seconds secs sep sept september seven several shall shouldn since six somebody someone
    something sometimes somewhere status step steps still sun sunday sundays tb tbd ten thanks themselves thereby
    therefore theyre third though three thrice throughout thu thursday thursdays thus today todo together tomorrow
    tonight toward towards trace tue tuesday tuesdays twice two unless unlike upon us usage utc various versus via
    vs wasn wed wednesday wednesdays well weren whatever whenever whereas whereby wherever whether whichever whole
    whose wip within without won wouldn www yes yesterday yet youre yourself
"""

_ADJECTIVES_AND_ADVERBS = """
    able actual actually additional again ahead almost alone altogether anymore anyway anywhere apart available back
    backwards bad best better big bigger biggest brief bright broad broken careful cheap cheaper clean clear close
    common complete complex correct current currently daily dead deep default defaults different difficult direct
    down downstream due early easier easiest easy empty entire equal everywhere exact existing extra fair false far
    fast faster fastest few fewer final fine forward forwards free fresh full fully general good great greater
    greatest halfway happy hard harder healthy heavy hence here high higher highest hourly huge important initial
    inline internal invalid just key large larger largest late later latest left likely long longer longest low
    lower lowest main major mandatory many maximum minimum minor missing monthly more most multiple narrow necessary
    new newer newest nice nightly non nontrivial normal now nowhere obvious odd off often old older oldest on once
    only open optional original other out over overall own particular perfect plain poor possible post potential pre
    precise preferred present pretty proper quarterly quick quicker quite rare rather raw ready real recent
    recommended relevant required right rough safe safer same seldom separate serious short shorter shortest
    significant similar simple simpler simplest single slow slower small smaller smallest soft somehow soon specific
    straight strange strict strong sub sudden sure tall temporary then there tidy tight tiny too total true twice
    typical ugly unable unclear unhealthy unique unknown unlikely unsupported unused up upcoming upper upstream
    useful usual valid very weekly wide worse worst worth wrong yearly young
"""

_VERBS = """
    abort accept achieve act add adjust adopt affect agree aim alert allow alter announce answer appear apply
    approve arise arrange arrive ask assert assign assist assume attach attempt avoid back bail balance base bear
    become begin behave believe belong bind bisect blow break bring browse bump burn buy bypass calculate cancel cap
    carry catch cause cease chain chase choose cite claim clarify clear click clone close collect come communicate
    compare compile complain complement complete comply compress comprise compute concern conclude confirm conflict
    confuse connect consider consist constrain consume contact contain continue contribute convert convince
    coordinate cope copy correct cost count cover crash crawl create cut deactivate deal debug decide declare decode
    decouple decrease decrypt defer define delay delete deliver demand demonstrate deny depend deprecate derive
    describe deserve desire destroy detect determine develop die differ disable disallow disappear discard discover
    discuss dislike dispatch display distinguish distribute divide do double download draft drain drive drop
    duplicate ease edit eliminate embed emerge emit emphasize employ enable encode encounter encourage encrypt end
    enforce engage enqueue ensure enter escalate escape establish evaluate evolve examine exceed exclude execute
    exhaust exist exit expand expect experience expire explain exploit explore expose express extend extract face
    fail fall favor favour feed feel fetch figure fill filter finalize find finish fire fit fix flip flush focus
    follow forbid force forget forward freeze fulfil fulfill fund gain gather generate get give go grab grant grep
    grow guarantee guard guess guide halt halve handle hang happen hardcode harm hate have help hide hit hold hope
    hurry identify ignore imagine implement imply improve include increase incur indicate infer inform inherit
    initialize initiate inject inline insert insist inspect install intend intercept interpret interrupt introduce
    invalidate invent invoke involve isolate join jump keep kill know lack lag land last launch lead learn leave let
    lie lift light like lint listen live look loosen lose love maintain make manage mark mask match matter mean
    measure meet mend mention merit migrate mind miss misuse mock modify mount move multiply mutate name need nest
    normalize notice notify observe obtain occur offer omit open operate opt organize outgrow outline outlive
    overwrite owe own parse pass patch pause pay perform persist pick pin ping place play poll populate post
    postpone prefer prefetch prefix prepare preserve press prevail prevent print proceed produce prohibit promise
    promote prompt propose protect prove provide prune publish purge put quit quote raise rank reach react read
    realize rebuild receive reckon recognize recommend recover recreate redeploy redirect reduce refactor refer
    refuse regenerate regress reindex reinstall reject relate rely remain remedy remember remind remove rename
    render renew reopen repair repeat rephrase replace reply represent reproduce require rerun research reserve
    reset reside resolve resort respect respond restart restore restrict restructure resume retain rethink retire
    retrieve return reuse reveal revert revisit revoke rework rewrite rid ride ring rise rotate run rush sanitize
    save say scrape see seem select send separate serve set settle share shift ship should show shrink sign simplify
    simulate sit skip sleep smell snap solve sound span spawn speak specify spend spin split spread stall stand
    start state stay stem stick stop stretch strip strive struggle submit subscribe substitute succeed suffer
    suggest suit summarize supersede support suppose surface surprise survive suspect suspend swallow sweep switch
    tackle take talk target tell tend terminate think throttle throw tie toggle tolerate touch transform translate
    treat trigger trim trip truncate trust try tune turn uncover undergo understand undo unify uninstall unpack
    unset update upgrade upload urge use validate vanish vary verify visit vote wait wake walk want warn waste watch
    weigh win wipe wire wish witness wonder work worry wrap write yell yield zip
"""

_IRREGULAR_FORMS = """
    became been began begun being bought broke brought built calling came caught chooses chose chosen dealt did
    doing done drew driven drove dying fallen fell felt forbade forbidden forgot forgotten found gave given going
    gone got gotten grew grown had having held hid hidden kept knew known laid lain led left lent loads lost lying
    made makes making meant met needs overridden overrode overwritten paid proven ran rewritten rewrote risen rose
    said sat saw seen sent shipped shown shrank shrunk slept sold spent spoke spoken stood stuck taken taught
    thought threw thrown told took tying understood undone using went woke won wore works worn written wrote
"""

_VAGUE_NOUNS = """
    access account action activity address agenda amount app application approach area argument aspect attention
    attribute author base basis behavior behaviour bit block body bottom box bug bunch call case category chance
    change character check choice class client code codebase column comment component concept condition consumer
    content context copy couple customer dashboard data date day detail developer difference document edge effect
    effort element end engineer entry environment error event everybody everything example exception expectation
    export fact failure feature feedback field file flag flow folder footer form format front function future group
    guest guide guideline hand header home hour idea image impact import input instance instruction interface issue
    item job key kind layer length letter level library limit line link list load local location logic look lot
    machine manager manner mark material matter meeting member message method middle mistake mode module moment
    month morning nature night noon number object operation option order output overhead owner package page pair
    panel part party past path pattern people percent performance period person phase piece place plan point policy
    port position practice preference pressure price priority problem procedure process producer product production
    program project property pull purpose push question range rate reason record release repo report request
    requirement resource response rest result review risk role room root row rule rules scenario school score screen
    script seat section sense series server service setting setup shape side sign size software solution sort source
    space spec staff stage standup start state statement stuff style subject success summary system table target
    task team text thing time tip title tool top topic track trade trouble type unit user value variable version
    view volume way week window word work world year
"""

_VAGUE_ADJECTIVES = """
    abstract alternative architectural asynchronous atomic automatic backend backwards-compatible basic
    bidirectional black blue canary clever cold concurrent conditional consecutive consistent continuous critical
    cross custom dark dashed dedicated dense digital distinct double dry dynamic eager end-to-end ephemeral
    essential experimental explicit external failed fallback fatal flaky flat formal fragile frequent frontend fuzzy
    generic global gray green grey half high-level historical horizontal hot human idle immutable implicit in-memory
    inactive inbound incoming inconsistent incremental independent individual inner invisible known lazy leading
    legacy light linear live local logical long-lived long-running low-level magic manual medium mixed mobile modern
    mutable native negative nested noisy nullable numeric obsolete official offline old-fashioned older-than online
    optimistic orphaned out-of-date outbound outer outgoing parallel partial passive past permanent persistent
    personal pessimistic physical polymorphic positive primary private production professional proper public pure
    random read-only real-time recursive red redundant regional regular relational relative reliable remote
    retryable reusable robust scalable secondary secure self-hosted semantic sensitive sequential shallow shared
    short-lived signing silent smart social spare sparse special stable staging stale standard stateful stateless
    static strict subtle synchronous technical third-party trailing transient transparent trivial trusted two-way
    unexpected universal unsafe untrusted up-to-date upstream user-facing vertical virtual visible warm weak white
    wild write-only zero
"""

_ACTIONS = """
    access archive audit backup batch benchmark boot branch broadcast build cache charge checkout commit compaction
    deploy design export fork hash import index ingest invoice join lock log merge migrate monitor onboard page
    partition probe profile publish query rebase redeploy release replay replicate retry review rollback rollout
    route sample scale scan schedule search seed shard sign sort stream sync test train upsert validate
"""

_ING_NOUNS = """
    batching billing branching caching clustering debugging deduplication embedding encoding formatting hashing
    hosting indexing licensing linting listing locking logging merging messaging monitoring naming networking
    onboarding packaging paging parsing pricing profiling queueing queuing rendering reporting routing sampling
    scheduling scripting sharding sourcing staging streaming styling testing theming throttling tracing training
    typing versioning
"""
_LY_NOUNS = frozenset(["assembly", "family", "anomaly", "monopoly", "supply", "reply", "ally", "italy"])
_VERB_CUES = """
    also always can can't cannot could didn't doesn't don't dont he i isn't it just let's may might must never not
    please shall she should they to we who will won't would you
"""
_NOUN_CUES = """
    a all an any at between both by each every for from her his in into its my no of on our over per some that the
    their these this those under via with within without your
"""


def _forms(verb: str) -> list[str]:
    """The regular forms of a verb, and some that do not exist, which match nothing."""
    if verb.endswith("e"):
        return [verb, verb + "s", verb + "d", verb[:-1] + "ing"]
    if verb.endswith("y") and verb[-2:-1] not in "aeou":
        return [verb, verb[:-1] + "ies", verb[:-1] + "ied", verb + "ing"]
    plural = verb + ("es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")
    return [verb, plural, verb + "ed", verb + "ing", verb + verb[-1] + "ed", verb + verb[-1] + "ing"]


def _plurals(noun: str) -> list[str]:
    if noun.endswith("y") and noun[-2:-1] not in "aeou":
        return [noun, noun[:-1] + "ies"]
    return [noun, noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")]


ACTIONS = frozenset(form for action in _ACTIONS.split() for form in (action, *_plurals(action)))
"""Verbs that are good tags as nouns: `deploy auth-service` is no phrase, `the build server` is."""

_NEVER_NOUNS = frozenset(_IRREGULAR_FORMS.split())

VAGUE = (
    frozenset([*(form for noun in _VAGUE_NOUNS.split() for form in _plurals(noun)), *_VAGUE_ADJECTIVES.split()])
    - _NEVER_NOUNS
)
"""Words that are informative only with another: `business hours`, but not `hours`."""

FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())

_GENERIC = STOP_WORDS | FUNCTION_WORDS | frozenset(_ADJECTIVES_AND_ADVERBS.split()) | _NEVER_NOUNS
_BASES = frozenset(_VERBS.split())


@lru_cache(maxsize=10_000)
def is_generic(word: str) -> bool:
    """Whether a lowercase word is never part of a tag."""
    if word in VAGUE or word in ACTIONS:
        return False
    # Found from the form: to make all forms of all verbs takes as long as to store a memory.
    stem = word[:-3]
    verbs = _BASES.intersection((word, word[:-1], word[:-2], stem, word[:-4], f"{stem}e", f"{stem}y"))
    return word in _GENERIC or any(word in _forms(verb) for verb in verbs)


_ING_WORDS = frozenset(_ING_NOUNS.split())

VERB_CUES = frozenset(_VERB_CUES.split())
"""Words that are mostly followed by a verb."""

NOUN_CUES = frozenset(_NOUN_CUES.split())
"""Words that are mostly followed by a noun phrase."""


DETERMINERS = frozenset("a an the its our their your all any each every no this these whatever everything".split())
"""Words that begin an object: a word in -s before one is a verb."""

PRODUCTS = frozenset(["go", "react", "express", "linear", "segment", "slack", "spring", "make"])
"""Products whose names without the capital are common words."""


def is_gerund(word: str) -> bool:
    """Whether a lowercase word in -ing is more likely a verb than the name of a thing."""
    return word.endswith("ing") and len(word) > 5 and word not in _ING_WORDS


def is_adverb(word: str) -> bool:
    """Whether a lowercase word looks like an adverb in -ly."""
    return word.endswith("ly") and len(word) > 4 and word not in _LY_NOUNS


_CHARACTERS = 400
"""Only the first characters of a sentence are read."""

# The place where an order may begin: at the start, after punctuation, after a word such as `please`.
_START = r"(?:^|[.:;,!(—–-]\s*|\b(?:please|so|and|but|then|just)\s+)"
_WE = r"\b(?:we|i|they|team|everyone|[a-z]+ and i)(?:'ve|'ll|'re| have| had| all| finally| then| just| also| now)*\s+"
_IF = r"^(?:before|after|when|whenever|if|once)\b.{1,120}?,\s*(?:please\s+|first\s+|always\s+|then\s+)*"
_ORDERS = (
    r"(?:run|re-?run|execute|restart|rebuild|regenerate|restore|scale|check|open|call|page|roll|delete|clear|flush|disable|"
    r"enable|kill|drain|bump|increase|revoke|rotate|wait|ask|contact|notify|escalate|start|stop|retry|reset|switch|set|use|"
    r"add|create|update|merge|tag|push|deploy|verify|install)\b"
)
_TO = r"^(?:in order )?to\s+(?!(?:be|our|my|the|this|that|date|sum|summari[sz]e|recap|me|us|them|some|clarify)\b)\w[^.!?]{0,100}?"
_SUBJECTS = r"(?<!\bwe )(?<!\byou )(?<!\bi )(?<!\bthey )(?<!\bto )(?<!\band )(?<!\bor )(?<!\bnot )(?<!\bcan )"
_NOT_AN_ORDER = (
    r"(?!(?:the|a|an|we|it|this|that|these|our|my|you|i|they|there|he|she|each|every|all|no|some|most|use of)\b)"
)
_SHIPPED = r"(?:released|deployed|shipped|published|rolled (?:back|out)|reverted)"
_THINGS = (
    r"(?:team|squad|(?:micro)?service|person|people|customer|client|company|vendor|supplier|engineer|developer|manager|lead|"
    r"owner|maintainer|designer|library|framework|package|tool|product|repository|repo|application|app|platform|component|"
    r"partner|contractor|user|stakeholder|database|cluster|daemon|worker|bot|department|organi[sz]ation|gateway|consultant|"
    r"architect|analyst|administrator|cto|ceo|sre|pm)s?"
)
_AFTER_THING = (
    r"(?=\W*$|[,.;:(]|\s(?:on|at|in|for|that|which|who|whose|and|of|with|owned|from|behind|used|written|built|responsible|"
    r"by|maintained|running|to|based)\b)"
)


Cue = tuple[str, frozenset[str], Sequence[str], bool]
"""A kind; words of which the sentence must have one for the patterns to be tried, which saves most searches; the patterns, for a
sentence in lowercase with straight quotes; and whether it counts only in the first sentence, as elsewhere it is incidental."""


def _cue(kind: str, words: str, *patterns: str, is_opening: bool = False) -> Cue:
    return kind, frozenset(words.split()), patterns, is_opening


# The first sentence that has a cue decides; within a sentence, the first cue of this table:
# - the labels of a text (`Correction:`, `Goal:`, `Decision:`) come before its wording;
# - prohibitions come next, because a `negative` can fail a commit;
# - `we chose X because we must` is a decision, so decisions come before constraints;
# - wording that is common in any text, settings and `X is a Y`, comes last.
CUES: Sequence[Cue] = (
    _cue(
        "correction", "correction erratum errata actually",
        r"^(?:correction|errata|erratum)\b",
        r"^(?:no, )?actually\b",
    ),
    _cue(
        "goal", "goal goals objective objectives okr okrs",
        r"^(?:(?:our|the|my|main|project|q[1-4]|\w+'s) )*(?:goals?|objectives?|okrs?)\b(?: (?:is|are|for)\b|\s*[:—–-])",
    ),
    _cue(
        "goal", "next todo milestone",
        r"^(?:next steps?|up next|to-?do|milestones?)\s*[:—–-]",
        r"^(?:the|our) next step is to\b",
    ),
    _cue(
        "decision", "decision decided adr agreed",
        r"^(?:decision|decided|agreed|adr)\b[^.]{0,30}?[:—–]",
        r"^adr[- ]?\d+",
    ),
    _cue(
        "negative", "never",
        rf"{_START}never\s+(?!mind\b|\w+s\b|\w+ed\b|saw\b|had\b|was\b|got\b)\w",
        r"\b(?:must|should|shall|to)\s+never\b",
        r"\b(?:we|you)\s+never\s+(?!\w+ed\b|saw\b|had\b|were\b|got\b|found\b|knew\b|see\b)",
    ),
    _cue(
        "negative", "don't do dont",
        rf"{_START}(?:do not|don't|dont)\s+(?!know\b|see\b|think\b|have\b|forget\b|hesitate\b)\w",
        r"\bwe (?:do not|don't) (?:use|allow|want|ship|merge|commit|deploy|push)\b",
    ),
    _cue(
        "negative", "avoid",
        rf"{_START}avoid\b",
        r"\bavoid\b.{1,120}\bat all costs?\b",
    ),
    _cue(
        "negative", "forbidden banned prohibited",
        r"\b(?:is|are) (?:strictly )?(?:forbidden|banned|prohibited)\b",
    ),
    _cue(
        "decision", "decided agreed opted settled chose chosen picked selected adopted adopting adopt went going",
        r"\b(?:decided|agreed)\s+(?:to|on|that|against|for|not)\b",
        rf"{_WE}(?:chose|decided|agreed|picked|selected|adopted|adopt|opted|settled)\b",
        rf"{_WE}(?:are )?(?:went|going) (?:with|for)\b",
        r"^(?:chose|picked|adopted|adopting|selected|going with|went with)\b",
        r"\b(?:was|were|has been|have been) (?:chosen|adopted)\b",
    ),
    _cue(
        "decision", "we we'll we're we've switched moved migrated",
        r"\bwe(?:'ll| will| shall|'re going to| are going to) (?:use|adopt|go|move|migrate|switch|keep|stay|stick|"
        r"drop|replace|build|ship|standardi[sz]e|support|not|split|store|deprecate)\b",
        r"\bwe(?:'ve| have)? (?:switched|moved|migrated|standardi[sz]ed|dropped|replaced|split|consolidated)\b",
        r"^(?:switched|moved|migrated) (?:\w+ ){0,3}from\b",
        r"\bwe (?:now )?(?:use|keep|store|run|build|deploy)\b.{1,120}\b(?:instead of|rather than|over|because)\b",
    ),
    _cue(
        "procedure", "to in how steps runbook procedure checklist recipe",
        rf"{_TO}:",
        rf"{_TO} {_SUBJECTS}(?:run|use|execute|start|call|tag|set|bump|install|type|press|open)\b\s+\S",
        rf"{_TO},\s*(?:first\s+|just\s+)?{_NOT_AN_ORDER}\w+(?<!ing)\b",
        r"^(?:\d+[.)]\s*)?how (?:to\b|do (?:i|we|you)\b|we\b.{0,80}:)",
        r"^(?:the )?(?:\w+ ){0,3}(?:steps|runbook|procedure|checklist|recipe)\b[^.]{0,60}?(?:[:—–-]|$|to\b|for\b)",
        r"\bfollow these steps\b",
    ),
    _cue(
        "procedure", "before after when whenever if once",
        rf"{_IF}{_ORDERS}",
        is_opening=True,
    ),
    _cue(
        "procedure", "run rerun re execute restart rebuild regenerate first",
        r"^(?:run|re-?run|execute|restart|rebuild|regenerate)\b",
        r"^first,?\s.*\bthen\b",
        is_opening=True,
    ),
    _cue(
        "preference", "prefer prefers preferred preference dislike dislikes favour favor favours favors",
        r"\b(?:prefer|prefers|preferred|preference|dislikes?|favou?rs?)\b(?! ?to be )",
    ),
    _cue(
        "preference", "like likes hate hates love loves rather",
        r"\b[a-z]+ (?:really )?(?:likes|hates?|loves?)\b",
        r"\b(?:i|we|they) (?:really |do not |don't )?like\b",
        r"^(?:please )?(?:use|write|keep|pick|take|put|call|name|return|raise|choose|make)\b.{1,100}\brather than\b",
        r"(?:\b(?:i|we|they|would)|'d) rather\b",
    ),
    _cue(
        "preference", "want wants always",
        r"^i (?:always |really |just )*want\b",
        r"^(?:the )?user (?:always |really )*wants\b",
        r"^i always (?:use|write|put|keep)\b",
    ),
    _cue("preference", "use please", r"^(?:use|please)\b", is_opening=True),
    _cue(
        "correction", "longer anymore wrong incorrect outdated mistaken previously formerly out",
        r"\bno longer\b",
        r"(?:\bnot|n't)\b.{1,60}\banymore\b",
        r"\b(?:is|was|are|were) (?:wrong|incorrect|outdated|mistaken|out of date)\b",
        r"\b(?:previously|formerly)\b.{1,80}\bnow\b",
    ),
    _cue(
        "goal", "goal aim aims aiming objective mission want target plan",
        r"\b(?:our|the) (?:goal|objective|aim|mission)\b.{0,40}\b(?:is|are)\b",
        r"\bwe (?:want|target|plan to)\b",
        r"\b(?:aim|aims|aiming) (?:to|for|at)\b",
        r"^target:",
    ),
    _cue(
        "log", "released deployed shipped published rolled reverted hotfixed incident outage postmortem post",
        rf"^(?:\w+ )?(?:re)?(?:{_SHIPPED}|hotfixed)\b",
        rf"\b(?:was|were|has been|got) {_SHIPPED}\b.{{0,60}}\b(?:on|at|in|to|yesterday|today)\b",
        r"\bv?\d+\.\d+\S* (?:was )?(?:released|shipped|published)\b",
        r"^(?:incident|outage|post-?mortem)\b",
    ),
    _cue("config", "set", r"^set\s+\S+\s+to\b", is_opening=True),
    _cue(
        "constraint", "must mustn't shall mandatory least most required requires limit limits limited more always",
        r"\b(?:must|mustn't|shall|mandatory)\b",
        r"\b(?:at (?:least|most)|no more than) \w",
        r"\b(?:is|are) (?:required|limited)\b",
        r"\brequired (?:to|for|by)\b",
        r"\brequires (?:at|python|node|java|go|a minimum|version|admin|approval)\b",
        r"\blimit(?:ed|s)? (?:to|is|are|of|at)\b",
        r"^always\b",
    ),
    _cue(
        "constraint", "only maximum minimum max min cannot exceed",
        r"^only\b.*\b(?:may|can|are|is)\b",
        r"\b(?:may|can|are|is) only\b",
        r"\bonly .{1,60}\b(?:may|can)\b",
        r"\bonly (?:allowed|supported|supports)\b",
        r"(?<![-\w])(?:maximum|minimum|max|min)\b(?![-_]).{0,40}(?:\bis\b|\bof\b|:|\d)",
        r"\b(?:cannot|can't|may not|not) exceed\b",
    ),
    _cue(
        "correction", "not",
        r"\b(?:is|are|was|were|uses?|runs?|goes|go|lives?|listens?|returns?|means|expires|belongs|works)\b"
        r"(?:[^.;]|\.(?=\w)){1,80}(?:,| and| —| –| -) not\s+(?!only\b|yet\b|just\b)[\w/`\"'.]",
        r"\bit is not\b.{1,60}\b(?:but|it is)\b",
    ),
    _cue(
        "config", "set port env environment default defaults configured timeout is controls sets",
        r"\bset `?[a-z]+[_.][\w.]+`?(?: to\b|=)",
        r"\bport (?:is |= ?)?\d{2,5}\b",
        r"\benv(?:ironment)? var(?:iable)?s? \S*_",
        r"\bdefaults? to\b",
        r"\b(?:is|are) configured (?:in|by|via|with|through)\b",
        r"\btimeout is\b",
        r"\b[a-z]+(?:_[a-z0-9]+)+`? (?:is|controls|sets)\b",
        is_opening=True,
    ),
    _cue(
        "entity", "is are",
        r"^(?!(?:this|that|it|there|here|which|what|these|the (?:reason|point|problem|way))\b)[^,;:]{2,60}? (?:is|are) "
        rf"(?:a|an|the|our|my|one of our|one of the)\s+(?:[\w/&.'-]+\s+){{0,5}}?{_THINGS}\b{_AFTER_THING}",
        is_opening=True,
    ),
    _cue(
        "entity", "owned maintained run owns maintains",
        r"\b(?:is|are) (?:owned|maintained|run) by\b",
        r"^[\w .-]{2,40} (?:owns|maintains) \w",
        is_opening=True,
    ),
)  # fmt: skip

_WORDS = regex(r"[a-z']+")
_SETTING = regex(r"(?<![\w-])[A-Z][A-Z0-9]*_[A-Z0-9_]+=\S|^[A-Z][A-Z0-9_]{2,}=\S")
_COMMIT = regex(r"(?:feat|fix|chore|docs|refactor|perf|ci|build|revert|style|test)(?:\([\w ./,-]{1,40}\))?!?: \S")
# Skipped before the sentence proper: a date, and a word such as `Note:`.
_LEAD = regex(
    r"(?:[\[(]?\d{4}-\d\d-\d\d[\])]?[:,\s–—-]*)?\W{0,6}"
    r"(?:(?:important|critical|warning|must[ -]read|danger|minor|nit|nitpick|trivial|fyi|note|tip|reminder|gotcha|"
    r"remember|caution|careful|beware|pitfall|watch out|heads[- ]up|ps|p\.s)\W{0,4}?[:!]\W*)?"
)


_WARNINGS = (
    "careful", "gotcha", "warning", "caution", "beware", "pitfall", "watch out", "danger", "heads-up", "heads up",
)  # fmt: skip
_WARNING = regex(rf"\W{{0,6}}(?:(?:{'|'.join(_WARNINGS)})\W{{0,4}}?[:!,]|(?:beware of|watch out for)\b)")


@lru_cache(maxsize=1024)
def cue_of(sentence: str, *, is_opening: bool = True) -> str:
    """The kind that the words of a sentence suggest, or empty. `is_opening`: it is the first sentence of its text."""
    sentence = sentence[:_CHARACTERS]
    low = sentence.lower().replace("’", "'")
    has_sign_first = not low[:1].isalpha()
    is_warning = (has_sign_first or low.startswith(_WARNINGS)) and _WARNING.match(low) is not None
    if (has_sign_first or ":" in low or "!" in low) and (lead := _LEAD.match(low)):
        low = low[lead.end() :]
    present = frozenset(_WORDS.findall(low))
    likely = (
        (kind, patterns)
        for kind, words, patterns, is_first in CUES
        if not words.isdisjoint(present) and (is_opening or not is_first)
    )
    # Patterns are compiled here, when one of their words occurs, up to the first that matches: most texts need few of them.
    kind = next((kind for kind, patterns in likely if any(re.search(pattern, low) for pattern in patterns)), "")
    if not kind and is_opening:
        if ": " in low and _COMMIT.match(low):
            kind = "log"
        elif "=" in sentence and _SETTING.search(sentence):
            kind = "config"
    # In other languages only plain sentences show their kind.
    kind = kind or plain_kind(low)
    return "constraint" if is_warning and kind != "negative" else kind
