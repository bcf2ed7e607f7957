"""Classes of English words that the grammar of clauses tells apart. Data, and the forms of the verbs."""

from __future__ import annotations

from functools import lru_cache

I, WE, YOU, IT, THEY, NOUN, NONE = "i", "we", "you", "it", "they", "noun", ""  # noqa: E741 - the word itself

PERSONS = {
    "i": I, "we": WE, "us": WE, "you": YOU, "it": IT, "this": IT, "that": IT, "these": IT, "those": IT, "he": THEY,
    "she": THEY, "they": THEY, "there": IT, "someone": THEY, "everyone": NOUN, "nobody": NOUN, "everything": NOUN,
}  # fmt: skip

MODALS = frozenset("will would can could may might must shall should".split())
BE = frozenset("am is are was were be been being".split())
HAVE = frozenset("have has had having".split())
DO = frozenset("do does did".split())
PAST_AUXILIARIES = frozenset("was were had did".split())
NEGATIONS = frozenset("not never".split())
ADVERBS = frozenset(
    """
    really always also just still now already then therefore only usually all both definitely probably actually
    finally recently strictly currently generally normally simply ever even thus hence instead soon explicitly
    deliberately eventually typically ultimately clearly basically kindly better rather quite very so long totally
    absolutely certainly obviously mostly personally please consistently consciously
    """.split()
)

OPENERS = frozenset(
    """
    okay so well hmm hm um uh and but also then yes yeah yep yup ya sure right alright hey hi hello oh ah aha btw fyi
    anyway anyways please no nope nah wait sorry actually great good perfect cool nice thanks thank fair true exactly
    correct plus though however honestly basically look listen remember careful important note reminder warning
    caution ps edit update morning understood done got agreed gotcha rule now ugh argh damn wow finally again
    first second third secondly lastly ha haha lol man guys team folks hmmm mm mhm fine therefore
    because since as which
    """.split()
)
"""Words that may stand before a clause without being part of it."""

FILLERS = tuple(
    tuple(phrase.split())
    for phrase in (
        "gone ahead and", "went ahead and", "go ahead and", "on second thought", "on second thoughts", "by the way",
        "to be clear", "just so you know", "in that case", "i think", "i believe", "as i said", "for what it is worth",
        "one more thing", "to be honest", "make sure to", "make sure you", "be sure to", "try to", "remember to",
        "keep in mind that", "keep in mind", "bear in mind that", "please note that", "note that", "remember that", "it turns out",
        "heads up", "tend to", "for the record", "just to be clear", "the thing is", "i would say", "please to",
    )
)  # fmt: skip
"""What may stand before or in a clause without changing what it states."""

DECIDE = frozenset("decide choose pick settle opt agree select adopt vote elect conclude determine".split())
SWITCH = frozenset(
    """
    go stick stay keep switch move migrate drop ditch replace abandon standardize standardise retire deprecate scrap
    skip default discontinue consolidate
    """.split()
)
MAKE = frozenset(
    """
    use make add store put build split write name call implement deploy host ship support skip merge remove rename
    rewrite change set turn create extract introduce wrap pin convert enable disable limit cache encode save render
    model expose generate return handle treat organize structure extend reuse compute parse log route bundle
    pass hash sort index batch inline raise serve delegate separate isolate combine refactor swap increase reduce
    restrict leave normalize validate load read bump partition schedule fetch serialize embed define configure
    upgrade downgrade ignore allow deny block accept reject outsource buy book hire cook paint order invest cancel
    postpone target launch publish release open close start stop lock wire sign assign attach cover restructure
    """.split()
)
LIKE = frozenset("prefer like love enjoy hate dislike favour adore loathe detest".split())
AIM = frozenset("want look hope plan aim intend try wish need strive".split())
STATE = frozenset(
    """
    support stay keep be run work fit comply remain handle have guarantee return respond survive compile use match
    contain include start end finish pass exceed live belong follow go conform last scale cost weigh take respect
    preserve load validate carry mention accept complete integrate build render meet adhere require
    satisfy tolerate persist interoperate retain adopt cover parse hold
    """.split()
)
SAY = frozenset(
    """
    say tell think claim suggest recommend insist mention argue ask believe propose complain report write state
    explain advise warn request
    """.split()
)
PROCESS = frozenset(
    """
    see think debug look wait talk discuss try begin continue check pause pair review finish investigate find figure
    focus chat meet hope pray say imagine assume pretend recap summarize summarise explore test guess know
    understand ask decide tell show explain recall remember worry forget hesitate bother start come get happen play
    hear feel sleep eat read verify measure benchmark profile reproduce step walk celebrate grab hop sync brainstorm
    revisit circle proceed clarify
    """.split()
)
RUN = frozenset(
    """
    run rerun execute restart rebuild regenerate restore scale call page roll clear flush kill drain increase revoke
    rotate ask contact notify escalate retry reset tag push install type press click log ssh connect source copy
    paste bump export apply cherry-pick checkout pull clone seed migrate start stop open verify delete cordon commit
    reboot download upload unplug hold heat pour cut preheat mix create edit
    """.split()
)
OTHERS = frozenset(
    """
    fix add help give show do let turn become depend rely break change pay afford wait change touch edit modify
    import need happen mean fail crash hang block deadlock time overwrite lose leak insist apply mock commit format
    reformat reword rename answer reply respond comment document describe speak shorten simplify abbreviate include
    stop avoid exclude hardcode share cause point land sit deal benefit carry own maintain receive send get allow
    assume expect reference refer update upgrade test check make sure ensure force amend squash rebase indent space
    capitalize throw swallow silence bypass disable trust catch nest touch invent repeat skip duplicate ping print
    put translate spell cite quote ship lead result come behave silently bring contain expire last reach
    listen store fall win lie forbid prohibit disallow appreciate violate regret doubt bet swear admit notice hit miss grow approve tend greenlight expire top max fix sell promise
    """.split()
)

_IRREGULAR = {
    "choose": "chose chosen", "go": "went gone", "stick": "stuck stuck", "keep": "kept kept", "make": "made made",
    "put": "put put", "build": "built built", "split": "split split", "write": "wrote written", "set": "set set",
    "leave": "left left", "read": "read read", "buy": "bought bought", "think": "thought thought", "say": "said said",
    "tell": "told told", "run": "ran run", "take": "took taken", "get": "got got", "see": "saw seen", "find": "found found",
    "know": "knew known", "understand": "understood understood", "begin": "began begun", "come": "came come",
    "meet": "met met", "hear": "heard heard", "feel": "felt felt", "cut": "cut cut", "rewrite": "rewrote rewritten",
    "give": "gave given", "show": "showed shown", "do": "did done", "let": "let let", "become": "became become",
    "break": "broke broken", "pay": "paid paid", "overwrite": "overwrote overwritten", "lose": "lost lost",
    "mean": "meant meant", "send": "sent sent", "hold": "held held", "cost": "cost cost", "lead": "led led",
    "bring": "brought brought", "catch": "caught caught", "throw": "threw thrown", "speak": "spoke spoken",
    "forget": "forgot forgotten", "sleep": "slept slept", "eat": "ate eaten", "fall": "fell fallen", "win": "won won",
    "rerun": "reran rerun", "rebuild": "rebuilt rebuilt", "have": "had had", "hang": "hung hung", "reset": "reset reset",
    "lie": "lay lain", "ride": "rode ridden", "spend": "spent spent", "hit": "hit hit", "grow": "grew grown", "teach": "taught taught",
}  # fmt: skip
_DOUBLED = frozenset(
    "drop stop skip plan pin run set put get cut tag wrap swap split log ship scrap commit ban debug hop chop".split()
)

BASE, THIRD, PAST, PARTICIPLE, GERUND = "base", "third", "past", "participle", "gerund"


@lru_cache(maxsize=1)
def verbs() -> dict[str, list[tuple[str, str]]]:
    """Each form of the verbs above: its base and what form it is."""
    found: dict[str, list[tuple[str, str]]] = {}
    bases = sorted(DECIDE | SWITCH | MAKE | LIKE | AIM | STATE | SAY | PROCESS | RUN | OTHERS)
    for base in bases:
        if base in BE or base == "be":
            continue
        for form, word in _forms(base):
            found.setdefault(word, []).append((base, form))
    return found


def _forms(base: str) -> list[tuple[str, str]]:
    past, _, participle = _IRREGULAR.get(base, "").partition(" ")
    stem = base + base[-1] if base in _DOUBLED else base
    y = base[-1] == "y" and base[-2] not in "aeiou"
    third = f"{base[:-1]}ies" if y else base + ("es" if base.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")
    if not past:
        past = participle = f"{base[:-1]}ied" if y else f"{base}d" if base[-1] == "e" else f"{stem}ed"
    gerund = f"{base[:-1]}ing" if base[-1] == "e" and base[-2:] not in ("ee", "oe", "ie") else f"{stem}ing"
    return [(BASE, base), (THIRD, third), (PAST, past), (PARTICIPLE, participle), (GERUND, gerund)]
