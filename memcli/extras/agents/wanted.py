"""What a prompt to an agent asks of the memory of a project: the text to search for, or nothing.

A prompt that thanks, goes on, speaks of the conversation itself or orders a mechanical edit asks for nothing. Of a pasted
log the errors are searched for, of code and markup what is written around them.
"""

from __future__ import annotations

from memcli.regex import regex
from memcli.text.languages import STEM
from memcli.text.words import exact_terms, query_terms

_FEW, _SOME = 2, 9
"""Fewer terms than `_FEW` without a name or a question mark ask for nothing; up to `_SOME` they may belong to a reply."""
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
"""From this share of log lines on, of four or more lines, a prompt holds a pasted log."""


def wanted_of(prompt: str) -> str:
    """The text to search the memory for; empty where the prompt asks for nothing. `prompt` is without secrets: lines are left
    out here, and half a key is none that a rule finds."""
    text = _MARKUP.sub(" ", _FENCE.sub("\n", prompt)).strip()
    lines = [line for line in text.splitlines() if line.strip()]
    logged = [bool(_LOG_LINE.search(line.lower())) for line in lines]
    if len(lines) >= 4 and sum(logged) >= _LEAST_LOG * len(lines):
        prose = [line for line, is_log in zip(lines, logged, strict=True) if not is_log]
        errors = [line.strip() for line in lines if _ERROR.search(line.lower())]
        text = "\n".join([*prose, *dict.fromkeys(errors[:1] + errors[-_MOST_ERRORS + 1 :])])
    text = text[match.end() :] if (match := _FILLER.match(text)) else text
    said = " ".join(text.lower().replace("’", "'").split())
    names = exact_terms(text)
    terms = [term for term in query_terms(said) if not term.endswith(STEM)]
    least = 1 if said.endswith(("?", "？")) else _FEW
    if not names and (len(terms) < least or _MECHANICAL.search(said)):
        return ""
    reply = _REPLY.search(said)
    ends = reply is not None and said[reply.end() :][:1] in ".,;!"
    if (reply and not names and len(terms) <= _SOME) or ((ends or _OF_TALK.search(said)) and len(terms) <= 2 * _SOME):
        return ""
    return text
