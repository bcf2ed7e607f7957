"""Words by what they do to a claim: deny it, limit it, turn it to its opposite, or add nothing. Data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memcli.text.words import STOP_WORDS, stem


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in text.split())


NEGATIONS = _words("not never no cannot nobody none nothing neither nor without hardly nowhere")
"""Words that deny; contractions are written out before."""

DENYING = _stems(
    """
    forbid forbidden prohibit prohibited ban banned disallow disallowed avoid disable disabled deny denied exclude
    excluded excluding unsupported unsigned unencrypted uncompressed unversioned unavailable unnecessary off optional
    unacceptable impossible refrain skip
    """
)
"""Stems of words that deny what they are said of."""

REFUSING = _stems(
    "reject refuse ignore remove drop gone deprecate abandon prevent block missing lack retire scrap ditch"
)
"""Stems of verbs that deny what they are said of, and are also what is done to it."""

AFFIRMING = _stems(
    """
    allow allowed permit permitted enable enabled support supported require required mandatory include included on
    accept accepted fine okay ok acceptable must need needed always obligatory compulsory possible encouraged
    """
)
"""Stems of words that affirm what they are said of, and add nothing else."""

OPPOSITES: Mapping[str, tuple[str, str]] = {
    "order": ("before", "after"),
    "concurrency": ("parallel parallelised concurrent concurrently simultaneously", "sequential sequentially serial serially"),
    "waiting": ("synchronous synchronously sync blocking", "asynchronous asynchronously async non-blocking"),
    "laziness": ("lazy lazily on-demand", "eager eagerly upfront up-front"),
    "locking": ("optimistic", "pessimistic"),
    "access": ("public publicly open", "private internal"),
    "automation": ("automatic automatically generated auto", "manual manually hand"),
    "bound": ("bounded capped", "unbounded unlimited infinite"),
    "mutability": ("mutable", "immutable read-only readonly"),
    "payment": ("advance prepaid", "arrears postpaid afterwards"),
    "state": ("stateful", "stateless"),
    "typing": ("strict strictly", "lenient loose loosely"),
    "length": ("short-lived", "long-lived"),
    "growth": ("incremental incrementally delta changed", "full fully complete completely scratch whole entire"),
    "place": ("bundled embedded", "remote fetched downloaded"),
    "sort": ("ascending oldest", "descending newest"),
    "strategy": ("push pushed", "pull poll polling"),
    "end": ("immediate immediately instantly", "delayed deferred eventually restored recoverable"),
    "ownership": ("shared share", "own dedicated separate individual"),
    "cable": ("usb wired", "air wireless ota"),
    "hardness": ("hard-delete permanent permanently", "soft-delete soft"),
    "use": ("single-use once", "reusable multi-use"),
    "case": ("sensitive case-sensitive", "insensitive case-insensitive"),
    "balance": ("static statically", "dynamic dynamically"),
    "cover": ("encrypted", "plaintext plain cleartext unencrypted"),
    "version": ("latest", "pinned"),
    "count": ("single one", "multiple many several"),
    "visibility": ("visible shown", "hidden invisible removed"),
    "login": ("anonymous anonymously guest guests", "logged-in authenticated signed-in"),
    "persistence": ("survive survives persist persists persisted remains", "ends lost cleared discarded forgotten"),
    "failure": ("skip skips skipped skipping continue continues", "stop stops abort aborts halt halts"),
    "night": ("clock 24/7", "zero night overnight"),
}  # fmt: skip
"""Axes with the words at their two ends, of which a thing can be at one alone."""


def _poles() -> Iterator[tuple[str, tuple[str, int]]]:
    for axis, ends in OPPOSITES.items():
        for sign, words in zip((1, -1), ends, strict=True):
            for word in words.split():
                yield word, (axis, sign)


POLES: Mapping[str, tuple[str, int]] = {stem(word): pole for word, pole in _poles()}

SCOPES: Mapping[str, str] = {
    **dict.fromkeys("staging stage preprod pre-production".split(), "staging"),
    **dict.fromkeys("production prod".split(), "production"),
    **dict.fromkeys("development dev local locally laptop".split(), "development"),
    **dict.fromkeys("nightly-build nightly-builds nightlies".split(), "nightly"),
    **dict.fromkeys("debug-build debug-builds".split(), "debug"),
    **dict.fromkeys("release-build release-builds".split(), "release"),
    **dict.fromkeys("ios iphone ipad".split(), "ios"),
    **{name: name for name in "android linux windows macos europe us eu asia legacy free old new".split()},
    **dict.fromkeys("weekend weekends".split(), "weekend"),
    **dict.fromkeys("weekday weekdays".split(), "weekday"),
    "european": "europe", "american": "us",
}  # fmt: skip
"""Words that say where something holds: elsewhere the opposite may."""

SOFT_SCOPES = frozenset({"old", "new"})
"""Of them those that only tell two things apart when each has one."""

PLACES = _words("in for on of by under at within inside during per")
"""Prepositions before what a claim is about, rather than before its value."""

CONDITIONS = _words("if when whenever unless except while during until whether where once")
"""Words that begin what a claim is limited to."""

BREAKS = _words("so but therefore hence")
"""Words between two claims of one sentence."""

VERB_MARKS = _words(
    "is are was were be been must should shall can may will would has have had does do did needs need gets get"
)
"""Verbs at which a subject ends."""

REASONS = _words("because since although though whereas which due thanks otherwise")
"""Words that begin what is told beside a claim: its reason, its consequence."""

HEDGES = _words("considered consider considering discussed proposed propose propose might maybe perhaps "
                "suggested looked investigated thinking wonder wondering idea")  # fmt: skip
"""Words of sentences that claim nothing yet."""

NEWER = (
    "now", "nowadays", "no longer", "not any more", "anymore", "any more", "instead of", "in place of", "switched",
    "switch from", "switch to", "switched from", "moved off", "moved from", "moved to", "migrated", "replaced",
    "replaces", "from now on", "these days", "gave up", "since the upgrade", "thought about it again", "changed from",
    "was shortened", "was raised", "was lowered", "is gone", "are gone", "has changed", "have changed", "as of",
)  # fmt: skip
"""Phrases that say that something held before and this holds now."""

REPLACED = (
    "instead of", "rather than", "in place of", "switched from", "switch from", "moved off", "moved from", "migrated from",
    "migrate from", "replaces", "replaced", "replace", "over", "away from", "gave up on", "drop", "dropped", "in favour of not",
    "not", "no longer", "no more", "without", "ditched", "abandoned", "than", "retired", "got rid of", "removed",
)  # fmt: skip
"""Phrases before the name of what was not chosen, or no longer is."""

NUMBERS = {
    word: number
    for number, words in enumerate(
        "zero one=once=single two=twice three=thrice four five six seven eight nine ten eleven twelve".split()
    )
    for word in words.split("=")
} | {"fifteen": 15, "twenty": 20, "thirty": 30, "fifty": 50, "sixty": 60, "ninety": 90, "hundred": 100}

GENERIC = frozenset(STOP_WORDS) | _stems(
    """
    can could would may must should shall need needs ever never zero one two three four five six seven eight nine ten three-times
    than larger smaller bigger more less fewer over under
    use used using run runs running make made do does done get gets got go goes set sets be have has had let put take
    takes choose chose chosen decide decided decision pick picked settle settled keep kept store stored storing save
    saved live lives sit sits reside hold held serve served back backed base based want wanted work works thing things
    way now currently today anymore more any every each all always only just still also even then there here new old
    per via within at about around least most maximum minimum max min up long day days week weeks month months year
    hour hours minute minutes second seconds ms time times please reminder note notes remember record heads hey
    we our us you your they them their it its this that these those one ones someone people who what which how
    default defaults value values number size amount limit limited setting settings since because after before case
    turn turns turned out off on through straight directly direct everywhere again longer rule standing reason context
    consequence feat fix chore refactor perf docs policy prefer preferred
    like such some other own same good better best well very much many few several both either fully own certain
    decided agreed agree from into onto over under between with without for of to by as in
    come comes came give gives gave start starts started happen happens become becomes place mean means
    """
)
"""Stems that say nothing of what a claim is about."""

LIGHT = _stems(
    """
    read reads write written build built report reports leave return returned raise raised count counts compile target
    promise follow offer provide handle process create produce emit expose listen connect talk stay remain show shown
    display displayed print print contain support add added copy copied load loaded send sent receive get apply applied
    change changed try tried ship shipped deliver delivered expire answer accept take pass passed call called define
    defined configure configured perform performed execute executed trigger triggered consist fixed pin pinned
    """
)
"""Stems of verbs that say little of what a claim is about: others often stand in their place."""

SAME_WORDS: Mapping[str, str] = {
    stem(word): stem(group.split()[0])
    for group in (
        "pullrequest pr prs mr mrs mergerequest", "database db dbs", "repository repo repos", "configuration config cfg conf",
        "authentication auth login authenticate authenticated", "expire expires expired expiry ttl valid validity lifetime lifespan",
        "retention retain retained keep kept", "timeout timeouts timed giveup", "delete deleted deletion remove removed purge erase",
        "upload uploads uploaded", "cache caches cached caching", "deploy deploys deployed deployment deployments rollout rolled",
        "log logs logged logging", "build builds", "test tests testing tested", "retry retries retried attempt attempts",
        "forcepush force-push", "merge merged merging", "translation translations localized localised strings",
        "session sessions", "bus queue broker", "commit commits committing", "fail fails failing break breaks breaking",
        "vat tax taxes", "indent indentation indented", "partition partitions partitioned", "reject rejected rejects refuse refused",
        "train training trained", "paginate pagination paging", "password passwords", "personal pii", "network internet",
        "kubernetes k8s", "request requests call calls", "startup start-up", "credential credentials secret secrets",
        "format formatting formatted formatter", "lint linting linter", "docstring docstrings", "machine node nodes server-node",
        "overnight night", "message messages payload payloads", "user users", "review reviews reviewed",
        "import importer imports", "frequency hz", "approval approvals approve", "latency latencies", "release releases",
        "row rows record", "account accounts", "uptime availability", "handover rotation shift", "coverage covered",
        "generate generated", "render renderer rendering", "index indexes indexed", "heartbeat ping pings",
        "price prices", "folder directory", "exit exits", "unit units", "sla", "schema migration",
    )
    for word in group.split()
}  # fmt: skip
"""Stems that mean the same in notes of engineers."""

EXCEPTIONS = _words("except unless apart besides")
"""Words that take something out of a claim."""

EVENTS = _words("incident postmortem bug crashed crash happened outage took broke leaked reached")
"""Words that begin an account of what happened."""

ROLES = _stems(
    """
    level format language framework tool strategy algorithm method mode type protocol provider engine backend driver licence
    license color colour theme name prefix suffix branch region zone currency encoding convention style approach runner
    manager port target platform owner lead maintainer codec model order direction unit resolution
    """
)
"""Stems of nouns that stand for one thing alone at a time."""

HOSTING = _words(
    "stored store stores kept keep keeps live lives hosted deployed run runs running saved located sits held put written "
    "write writes generated done happens decoded made rendered evaluated"
)
"""Verbs behind which `in`, `on` and `at` lead to a value."""

VALUE_PLACES: Mapping[str, str] = {
    **dict.fromkeys("by via through with using over".split(), "by"),
    **dict.fromkeys("to into".split(), "to"),
    "from": "from",
    "as": "as",
    **dict.fromkeys("in on at".split(), "in"),
}
"""Prepositions that lead to a value, by those that mean the same."""

OWNING = _words("owns owned maintains maintained leads led reviews")
