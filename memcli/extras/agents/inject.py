"""Choose the memories that are injected into a session: at its start, for a prompt, or before a file is edited. `hook.py`
records which ones a session was shown.

The query of a prompt is its text, without code and markup, and of a pasted log only the errors. A prompt that thanks, continues,
refers to the conversation or orders a mechanical edit has no query.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from memcli.app.budget import fit
from memcli.app.recall import ALWAYS_MOST, MAX_READ, Verify, beginning, recall
from memcli.app.workspace import Workspace
from memcli.model.anchors import FileEdit
from memcli.model.memory import RULE_KINDS
from memcli.model.recall import NO_MATCH, Bundle, Query, Section
from memcli.model.tokens import count_tokens
from memcli.record import replace
from memcli.regex import regex
from memcli.settings import REPO
from memcli.text.languages import STEM
from memcli.text.words import exact_terms, query_terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.ports import Renderer

_FEW, _SOME = 2, 9
"""A prompt of fewer terms than `_FEW`, without a name or a question mark, has no query; one of up to `_SOME` may be a reply."""
_MOST_ERRORS = 4

_FENCE = regex(r"(?s)```.*?(?:```|\Z)")
_MARKUP = regex(r"(?s)<!--.{0,2000}?-->|</?[a-z][^<>]{0,2000}>")
_FILLER = regex(
    r"(?i)(?:(?:ok(?:ay)?|thanks?(?: you)?(?: so much| a lot)?|thx|ta|cheers|great|cool|nice|perfect|brilliant|lovely|awesome|good|super|"
    r"alright|right|yes|yep|yeah|no|nope|sure|hi|hello|hey|hm+|well|please|pls|lgtm|done|merci|"
    r"danke(?: schön| dir| sehr)?|vielen dank|alles klar|prima|(?:das )?passt(?: so)?|genau|ja|nein|bitte|gut|"
    r"(?:muchas |mil )?gracias|(?:está )?(?:perfecto|genial|bien)|vale|de acuerdo|sí|por favor)\b[\s,.!:;)¡¿-]*|"
    r"(?:ありがとう(?:ございます|ございました)?|了解(?:です|しました)?|はい|いいえ|いいね|谢谢(?:你|您|啦)?|好的?|明白了?|知道了|可以了?|没问题|不错|是的)"
    r"[\s,.!。，、！：；]+|(?:ありがとう(?:ございます|ございました)?|了解(?:です|しました)?|はい|いいえ|谢谢|好的?|明白了?|是的)$)+"
)
_REPLY = regex(
    r"^(?:go (?:on|ahead)|continue|carry on|proceed|keep going|undo|revert|redo|try again|again|do (?:it|that|so|both)|commit|push|ship it|"
    r"merge it|run (?:it|them|that)|stop|wait|never ?mind|forget (?:it|that)|shorter|longer|simpler|less|more|the (?:first|second|third|last|"
    r"other|former|latter)\b|option \w+\b|both|neither|same|exactly|not (?:that|this|yet)|that'?s|that was|this is|it'?s|looks|sounds|works|"
    r"make (?:it|that|this|them)|put (?:it|that|them)|move (?:it|that|them) back|keep (?:it|that)|leave (?:it|that)|"
    r"why (?:did|do|have|is|are|not)\b.*\b(?:you|there|that|it)\b|what did you|explain (?:that|this|it)|show me (?:the diff|that|it)|"
    r"weiter|mach(?:e|t)?(?: bitte)? (?:weiter|das|es|so)|zurück|rückgängig|noch ?mal|kürzer|commite|"
    r"sigue|contin[uú]a|adelante|hazlo|deshaz|otra vez|más corto|prueba (?:otra vez|de nuevo))\b"
    r"|^(?:(?:続けて|進めて|やり直して|元に戻して|もう一度|もっと短く|それで|コミットして)(?:ください|お願いします)?|お願いします|"
    r"(?:请|那就)?(?:继续|撤销|重来|再试一次|再来一次|回退|提交|就这样|照做|短一点)(?:吧|一下|下去)?)[\s。.!！]*$"
)
_OF_TALK = regex(
    r"\b(?:you|we)(?:'ve| have)? (?:just |have )*(?:wrote|written|changed|did|done|made|added|said|suggested|used|moved|renamed|deleted|removed|"
    r"created|showed|proposed|picked)\b|\b(?:your|the) (?:last|previous|first|second) (?:answer|change|edit|suggestion|version|commit|message|reply)\b"
    r"|\b(?:as|like) (?:before|above|you said)\b"
)
_MECHANICAL = regex(
    r"^(?:please |pls |can you |could you |just |now |and |in [\w./-]+ )*(?:rename|replace|strip|sort|group|reorder|reindent|indent|dedent|reformat|"
    r"format|align|wrap|uppercase|lowercase|capitali[sz]e|swap|duplicate|drop the|delete the (?:blank|empty|trailing|last|first)|remove the (?:blank|"
    r"empty|trailing|unused)|add (?:a|the) (?:trailing|missing|blank|newline|comma|semicolon|space|period)|change the (?:word|label|text|"
    r"heading|title|wording)|fix (?:the|that|this) (?:typo|spelling|indentation|whitespace)|turn (?:this|these|that)|convert (?:this|these|that))\b"
)
_LOG_LINE = regex(
    r"^\s*(?:\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|\[?(?:info|warn(?:ing)?|debug|error|trace|fatal)\b|at [\w.$<>/]+[ (:]|file \"|traceback|goroutine \d|"
    r"npm (?:err!|warn)|error\[|-->|\||\+|=>|step \d+/|#\d+ |e: |w: |make(?:\[\d+\])?:|go: |get:\d|reading |warning:|error:|caused by|exception|"
    r"[\w./\\-]+:\d+(?::\d+)?:|[\w.]+(?:error|exception)\b|\w+\s{3,}\w+\s{3,}\S|[\w@./-]+\s+[<>=^~]+\s*\d|\$ |> |✖|✕|✗|fail\b|failed\b|ok\s+\S+\s+[\d.]+s|0x[0-9a-f])"
)
_ERROR = regex(
    r"\b\w*(?:error|exception|panic|fatal|failed|failure|cannot|could not|denied|refused|not found|undefined|killed)\b"
)
_LEAST_LOG = 0.4
"""A prompt of four or more lines contains a pasted log if at least this share of its lines is of a log."""


def query_of(prompt: str) -> str:
    """The query of a prompt; empty if it asks for nothing that the memory may have. `prompt` must be redacted."""
    # Redaction must come first: lines are left out below, and no rule finds a key of which half is missing.
    text = _MARKUP.sub(" ", _FENCE.sub("\n", prompt)).strip()
    lines = [line for line in text.splitlines() if line.strip()]
    logged = [bool(_LOG_LINE.search(line.lower())) for line in lines]
    if len(lines) >= 4 and sum(logged) >= _LEAST_LOG * len(lines):
        prose = [line for line, is_log in zip(lines, logged, strict=True) if not is_log]
        errors = [line.strip() for line in lines if _ERROR.search(line.lower())]
        text = "\n".join([*prose, *dict.fromkeys(errors[:1] + errors[-_MOST_ERRORS + 1 :])])
    text = text[match.end() :] if (match := _FILLER.match(text)) else text
    line = " ".join(text.lower().replace("’", "'").split())
    names = exact_terms(text)
    terms = [term for term in query_terms(line) if not term.endswith(STEM)]
    least = 1 if line.endswith(("?", "？")) else _FEW
    if not names and (len(terms) < least or _MECHANICAL.search(line)):
        return ""
    reply = _REPLY.search(line)
    ends = reply is not None and line[reply.end() :][:1] in ".,;!"
    if (reply and not names and len(terms) <= _SOME) or ((ends or _OF_TALK.search(line)) and len(terms) <= 2 * _SOME):
        return ""
    return text


# Codex writes the output of a hook above 2,500 tokens to a file, Claude Code one above 10,000 characters: the model then sees a
# preview alone.
MAX_TOKENS = 2_000
MAX_CHARACTERS = 9_000
# The memories for files are leads, which anchors and triggers find and no ranking, so the basic backend will do.
FILE_BACKEND = "basic"
_MOST_CHANGED = 10
_CHANGES = ("code", "config", "diff")
_LOOKED_AT = 8
_MOST_RELEVANT = 2
"""The most memories that are injected for a prompt, besides the leads."""
# A change shows what was, and is rarely what the prompt needs.
_LEAST, _LEAST_CHANGE = 0.35, 0.6
"""The least confidence of a memory that is injected, and of a change."""
_LEAST_SHARE = 0.4
"""The least confidence of an injected memory, as a share of the best one."""
# A search by words alone answers within a third of the three seconds that a hook has.
DEADLINE_SECONDS, _PATIENCE_SECONDS = 1.0, 0.15
"""How long an agent waits for a search by vectors, and in it for missing vectors."""


def for_start(workspace: Workspace, since: str | None) -> Bundle:
    """The pinned memories, then those that were stored or changed at the time `since` or later, newest first. Raises what
    recall raises."""
    now = workspace.clock()
    # `is_noted` is off here and below: hook.py notes the use of the memories that are injected in the end.
    space = workspace.space if workspace.is_space_named else workspace.main
    queries = [Query(topic="", now=now, budget=MAX_TOKENS)]
    if since is not None:
        queries.append(replace(queries[0], changed_since=since, limit=_MOST_CHANGED))
    pins, *changed = recall(workspace.copy_with(is_noted=False, space=space, is_alone=True), queries)
    known = {_name(section) for section in pins.always[:ALWAYS_MOST]}
    new = [section for bundle in changed for section in bundle.sections if _name(section) not in known]
    return replace((changed or [pins])[0], sections=(*pins.always[:ALWAYS_MOST], *new), always=())


def for_prompt(
    workspace: Workspace, prompt: str, deadline: float | None = DEADLINE_SECONDS, verify: Verify | None = None
) -> Bundle:
    """The memories for a prompt, of which `verify` rejects some; none if it has no query. Raises what recall raises."""
    redact = workspace.redactor.cleaner(workspace.in_force(workspace.store.policy(workspace.main)))
    topic = query_of(redact(beginning(prompt, MAX_READ)))
    query = Query(
        topic=topic, now=workspace.clock(), limit=_LOOKED_AT, budget=MAX_TOKENS, deadline=deadline,
        patience=math.inf if deadline is None else _PATIENCE_SECONDS, is_prompt=True,
    )  # fmt: skip
    if not topic:
        return Bundle(space=workspace.space, query=query, reason=NO_MATCH)
    (bundle,) = recall(workspace.copy_with(is_noted=False), [query], verify=partial(_chosen, verify))
    return bundle


def _chosen(verify: Verify | None, query: Query, answer: Callable[[Query], Bundle]) -> Bundle:
    """The answer to the query, restricted to the confident memories and then to those that `verify`, if given, accepts."""

    def confident(query: Query) -> Bundle:
        return _confident(answer(query))

    return verify(query, confident) if verify else confident(query)


def _confident(bundle: Bundle) -> Bundle:
    """The memories of the bundle that are sure enough to be injected: all leads, and the most confident others."""
    leads = [section for section in bundle.sections if section.is_lead]
    sure = [one for one in bundle.sections if not one.is_lead and (one.confidence or 0.0) >= _least(one)]
    best = max((section.confidence or 0.0 for section in sure), default=0.0)
    sure = [section for section in sure if (section.confidence or 0.0) >= _LEAST_SHARE * best]
    # One at most was read from the repository: documents are long, and seldom needed twice.
    read = next((section for section in sure if section.space == REPO), None)
    sure = [section for section in sure if section.space != REPO or section is read]
    return replace(bundle, sections=(*leads, *sure[:_MOST_RELEVANT]), always=())


def _least(section: Section) -> float:
    """The least confidence with which a section is injected."""
    return _LEAST_CHANGE if section.space == REPO and section.memory.kind in _CHANGES else _LEAST


def for_names(workspace: Workspace, names: Sequence[str]) -> Bundle:
    """The current versions of the memories that `stamps` named, without those that are no longer valid. Raises what recall
    raises."""
    place = {name: n for n, name in enumerate(names)}
    ids = tuple(name.rpartition("/")[2] for name in names)
    query = Query(topic="", now=workspace.clock(), ids=ids, limit=len(ids), budget=MAX_TOKENS)
    (bundle,) = recall(workspace.copy_with(is_noted=False), [query])
    chosen = sorted((s for s in bundle.sections if _name(s) in place), key=lambda section: place[_name(section)])
    return replace(bundle, sections=tuple(chosen), always=())


def for_files(workspace: Workspace, edits: Sequence[FileEdit]) -> Bundle:
    """The negatives and constraints that are anchored in the files, or whose trigger matches the edits; for a workspace whose
    backend is FILE_BACKEND. Raises what recall raises."""
    query = Query(topic="", now=workspace.clock(), kinds=RULE_KINDS, budget=MAX_TOKENS, edits=tuple(edits))
    (bundle,) = recall(workspace.copy_with(is_noted=False), [query])
    return replace(bundle, sections=tuple(section for section in bundle.sections if section.is_lead), always=())


def fitted(bundle: Bundle, render: Renderer, is_unseen: Callable[[str, str], bool]) -> Bundle:
    """The memories of the bundle that are new to a session, the best first as far as they fit into an injection."""
    new = tuple(section for section in bundle.sections if is_unseen(_name(section), _stamp(section)))
    if not new:
        return replace(bundle, sections=())
    bundle = chosen = replace(bundle, sections=new)
    budget = MAX_TOKENS
    while len(text := render(chosen)) > MAX_CHARACTERS or count_tokens(text) > MAX_TOKENS:
        chosen = fit(bundle, render, budget)
        budget = budget * 9 // 10  # texts of long words stay below the tokens, and exceed the characters
    return chosen


def stamps(bundle: Bundle) -> dict[str, str]:
    """The names of the memories in a bundle, each with a stamp that differs after every change of the memory."""
    return {_name(section): _stamp(section) for section in bundle.sections}


def _name(section: Section) -> str:
    return f"{section.space}/{section.memory.id}"


def _stamp(section: Section) -> str:
    return f"{section.memory.version} {section.memory.updated_at}"
