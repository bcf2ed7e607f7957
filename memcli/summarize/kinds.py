"""The text to describe (`Subject`), its kind, by its lines, its file name and its words, its relevance, and its account: the
summaries of prose, code, settings or a diff."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from memcli.record import NamedTuple
from memcli.regex import regex
from memcli.summarize import summaries
from memcli.summarize.lexicon import VAGUE, cue_of, is_generic
from memcli.summarize.sentences import Sentence, split
from memcli.summarize.summaries import LONG, MICRO, SHORT, Summaries, clip, within
from memcli.text.passages import HEADING, ITEM, STEP

HEAD_CHARACTERS = 65_536
"""Summaries, tags and kind are derived from the head of a text, which bounds the time."""

DESCRIBED = ("kind", "path", "tags", "summary_micro", "summary_short", "summary_long", "relevance")
"""The fields that every memory has and a summarizer fills; a long text also gets `chunks`."""

_MAX_DEPTH = 12
_CONTROLS = dict.fromkeys((*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0)), " ")
_IS_FILE = regex(r"[^\s:*?\"<>|]*(?:/|\.)[^\s:*?\"<>|]*\Z")
_DRIVE = regex(r"[A-Za-z]:[/\\]")
_MAX_SOURCE = 400


class Subject(NamedTuple):
    """A text to describe, and its origin; what is unknown is an empty string."""

    text: str
    """The head of the text, without control characters."""
    raw: str
    """All of the text, as given."""
    source: str
    """The relative path of its file."""
    hint: str
    """The path, or the beginning of one, that the caller requested."""
    project: str
    is_rendered: bool
    """Whether the text was rendered from `content`, one line for each value."""
    metadata: Mapping[str, object] = {}
    provenance: Mapping[str, object] = {}
    """Of a memory of a commit, these say what git said of the change."""

    @classmethod
    def of(cls, fields: Mapping[str, object]) -> Subject:
        """The subject of a caller's fields. Without `raw`, its text is `content` as `key: value` lines, or the longest summary."""
        raw = _string(fields, "raw")
        text = raw
        if not raw.strip() and fields.get("content") is not None:
            rendered: list[str] = []
            length = 0
            for line in _lines(fields["content"], "", _MAX_DEPTH):
                rendered.append(line)
                length += len(line)
                if length > HEAD_CHARACTERS:
                    break
            text = "\n".join(rendered)
        elif not raw.strip():
            names = ("summary_long", "summary_short", "summary_micro")
            text = next((given for name in names if (given := _string(fields, name))), "")
        head = text[:HEAD_CHARACTERS]
        metadata, provenance = (
            one if isinstance(one := fields.get(name), Mapping) else {} for name in ("metadata", "provenance")
        )
        source = _string(metadata, "source")
        return cls(
            text=head if head.isprintable() else head.translate(_CONTROLS).strip(),
            raw=text,
            source=_file_name(source) if source else "",
            hint=_string(fields, "path") or _string(fields, "path_hint"),
            project=_string(fields, "project"),
            is_rendered=not raw.strip() and fields.get("content") is not None,
            metadata=metadata,
            provenance=provenance,
        )


def _string(fields: Mapping[str, object], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def _lines(value: object, key: str, depth: int) -> Iterator[str]:
    """The scalars of a JSON value, one `key: value` line each; a list of scalars is one line."""
    if depth == 0 or value is None:
        return
    if isinstance(value, Mapping):
        for name, child in value.items():
            yield from _lines(child, f"{key}.{name}" if key else str(name), depth - 1)
    elif isinstance(value, (list, tuple)):
        scalars = [_scalar(v) for v in value if not isinstance(v, (Mapping, list, tuple)) and v is not None]
        if scalars:
            text = " ".join(", ".join(scalars).split())
            yield f"{key}: {text}" if key else text
        for child in value:
            if isinstance(child, (Mapping, list, tuple)):
                yield from _lines(child, key, depth - 1)
    else:
        text = " ".join(_scalar(value).split())
        if text:
            yield f"{key}: {text}" if key else text


def _scalar(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def _file_name(source: str) -> str:
    """`source` if it names a file, otherwise empty. Of an absolute path only the name remains, as its folders are private to
    this machine."""
    if len(source) > _MAX_SOURCE or "://" in source:
        return ""
    name = source.replace("\\", "/")
    if _DRIVE.match(source) or name.startswith(("/", "~")):
        name = name.rpartition("/")[2]
    name = name.removeprefix("./")
    return name if _IS_FILE.match(name) and not name.endswith(("/", ".")) else ""


def missing(fields: Mapping[str, object]) -> list[str]:
    """The fields of `DESCRIBED` that the caller left out. An empty list of tags counts as given, an empty text does not."""
    return [name for name in DESCRIBED if fields.get(name) in (None, "")]


TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.summarize.patches import FileChange


_SAMPLE = 120
"""Only the first lines are read."""
_SAMPLE_CHARACTERS = 12_000
_GUIDE_CHARACTERS = 600
_MAX_LINE = 400
_FENCE = ("```", "~~~")

# Strings, compiled when first used: a note of one line needs none of them.
_DIFF_START = r"\s*(?:diff --git |Index: \S|--- [^\n]+\n\+\+\+ |@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@)"
_LOG_LINE = regex(
    r"\s*(?:[\[(]?\d{4}-\d\d-\d\d[T ]\d\d:\d\d"  # 2026-01-31 09:30
    r"|[\[(]?\d\d:\d\d:\d\d\b"  # 09:30:00
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d "  # Jan 31 09:30:00, as syslog writes it
    r"|\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\]?[: ]\s*\[?\S+[\]:]"
    r"|\s+at [\w.$<>]+\()"
)
_SETTING = (
    r"\s*(?:export\s+|set\s+)?[\w.-]{1,60}\s?=\s?(?:\S.*)?\Z"  # KEY=value
    r"|\s*(?:- )?[\"']?[\w./-]{1,60}[\"']?:(?:\s+[\"'\[{|>&*]?\S{0,60}[\"'\]}]?,?|\s*)\Z"  # key: value
    r"|\s*\[{1,2}[\w.\" -]{1,60}\]{1,2}\Z"  # [section]
    r"|\s*- [\w./:@-]{1,60}\Z"
)
_ASSIGNMENT = regex(r"\s*(?:export\s+)?[A-Z][A-Z0-9_]{2,60}=\S*\s*(?:#.*)?\Z")
_CODE_FORMS = (
    # Definitions.
    (r"(?:(?:export|default|public|private|protected|static|final|abstract|async|pub(?:\(\w+\))?|unsafe|const)\s+)*"
     r"(?:class|def|function|func|fn|struct|enum|trait|interface|impl|type|namespace|module|package)\s+[\w$(<*&]+.*"
     r"(?:[:{(;,>)\w]|\.\.\.)\s*\Z"),
    r"(?:const|let|var|val|auto|int|char|void|bool|string)\s+[\w$*&\[\]{},\s]{1,60}\s*(?:=|;|\()",
    r"[\w.$\[\]\"']{1,80}\s*(?::=|[-+*/|&]?=)\s*\S",
    # Imports and decorators.
    r"from\s+[\w.]+\s+import\s",
    r"import\s+[\w.{*\"'(]",
    r"#include\s|#!|using\s+\w+|use\s+[\w:]+::|@\w+[\w.]*(?:\(|\Z)",
    # Statements.
    r"(?:return|yield|raise|throw|await|assert)\b.{0,120}\Z",
    r"(?:if|for|while|elif|switch|match|with|catch|else if)\b.*[:{]\s*\Z",
    r"(?:try|else|finally|do)\s*[:{]?\s*\Z",
    r"(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP)\s+\w+",
    r"[\w.$]{1,60}\(.*\)[;,]?\s*\Z",
    # Punctuation at which prose does not end.
    r"[\w.]+\(\s*\Z",
    r"[})\]]+[;,)]*\s*\Z",
    r".*[;{]\s*\Z",
    r".*=>\s*[\w({].*",
)  # fmt: skip
_CODE = rf"\s*(?:{'|'.join(_CODE_FORMS)})"
_HEADING = r"#{1,6}\s+\S|(?:={4,}|-{4,}|~{4,})\s*\Z"
_COMMENT_LINE = r"\s*(?://|#(?!#)|/\*|\*/|\*\s|--\s|\"\"\"|''')"


def kind_of_look(text: str) -> str:
    """The kind by the form of the lines of `text`: `diff`, `log`, `config`, `code`, `guide`, or empty."""
    if "\n" not in text:
        line = _bounded(text)
        if any(sign in line for sign in ":](") and _LOG_LINE.match(line):
            return "log"
        return "config" if "=" in line and _ASSIGNMENT.match(line) else ""
    if is_diff(text):
        return "diff"
    lines: list[str] = []
    in_fence = has_fence = False
    for line in text[:_SAMPLE_CHARACTERS].split("\n", _SAMPLE)[:_SAMPLE]:
        if line.lstrip().startswith(_FENCE):
            in_fence = not in_fence
            has_fence = True
        elif not in_fence and line and not line.isspace():
            lines.append(_bounded(line))
    if has_fence and not lines:
        return "code"
    if _share(_LOG_LINE, lines) >= 0.5 or text.lstrip().startswith("Traceback (most recent call last)"):
        return "log"
    if _share(_ASSIGNMENT, lines) >= 0.5 or _is_settings(lines):
        return "config"
    if _is_code(lines):
        return "code"
    is_heading = re.compile(_HEADING).match
    is_document = len(text) > _GUIDE_CHARACTERS and any(is_heading(line) for line in lines)
    return "guide" if is_document else ""


def is_diff(text: str) -> bool:
    """Whether `text` is a patch: it has a header or a hunk, or half of its lines begin with + or -."""
    head = text[:_SAMPLE_CHARACTERS]
    if "\ndiff --git " in head or ("\n@@ -" in head and " @@" in head) or re.match(_DIFF_START, text):
        return True
    if "\n+" not in text or not ("\n-" in text or text.startswith("-")):
        return False
    lines = [line for line in head.split("\n", _SAMPLE)[:_SAMPLE] if line.strip()]
    # `- item` is a list, `-item` and `-    item` are lines of a diff.
    marks = [line[0] for line in lines if line[0] in "+-" and (line[1:2] != " " or line[1:3] == "  ")]
    return "+" in marks and "-" in marks and len(marks) * 2 >= len(lines)


def _bounded(line: str) -> str:
    """`line` with one blank for its indentation, and without the middle of a long line: the patterns above may take time
    quadratic in its length."""
    bare = line.strip()
    if len(bare) > _MAX_LINE:
        bare = f"{bare[: _MAX_LINE // 2]}{bare[-_MAX_LINE // 2 :]}"
    return f" {bare}" if line[:1].isspace() else bare


def _share(pattern: re.Pattern[str], lines: Sequence[str]) -> float:
    return sum(1 for line in lines if pattern.match(line)) / len(lines) if lines else 0.0


def _is_settings(lines: Sequence[str]) -> bool:
    """Whether 80 % of the lines without comments are settings, at least two of them no list items, unlike `Note: word`."""
    is_comment, is_setting = re.compile(_COMMENT_LINE).match, re.compile(_SETTING).match
    relevant = [line for line in lines if not is_comment(line)]
    hits = [line for line in relevant if is_setting(line)]
    firm = [line for line in hits if not line.lstrip().startswith("- ")]
    return len(firm) >= 2 and len(hits) >= 0.8 * len(relevant)


def _is_code(lines: Sequence[str]) -> bool:
    """Whether at least two lines, and half of those without comments, are code."""
    if any(line.startswith("## ") for line in lines):
        return False
    is_comment, is_code = re.compile(_COMMENT_LINE).match, re.compile(_CODE).match
    relevant = [line for line in lines if not is_comment(line)]
    hits = sum(1 for line in relevant if is_code(line))
    return hits >= 2 and hits * 2 >= len(relevant)


FOLDERS: Mapping[str, str] = {
    "guide": "guides", "config": "config", "decision": "decisions", "log": "logs", "code": "code", "diff": "diffs",
    "fact": "facts", "preference": "preferences", "procedure": "procedures", "correction": "corrections",
    "negative": "never", "entity": "entities", "constraint": "constraints", "goal": "goals", "episode": "episodes",
    "inferred": "inferred", "custom": "custom",
}  # fmt: skip
"""The folder of the memories of each kind."""

_BY_FOLDER: Mapping[str, str] = {
    **{folder: kind for kind, folder in FOLDERS.items() if kind not in ("config", "log", "code", "custom", "inferred")},
    "adr": "decision", "adrs": "decision", "rfc": "decision", "rfcs": "decision", "runbook": "procedure",
    "runbooks": "procedure", "playbooks": "procedure", "howto": "procedure", "how-to": "procedure",
    "gotchas": "negative", "changelog": "log", "changelogs": "log",
}  # fmt: skip
_BY_STEM: Mapping[str, str] = {
    "changelog": "log", "changes": "log", "history": "log", "news": "log", "releases": "log", "release-notes": "log",
    "release_notes": "log", "dockerfile": "config", "makefile": "code", "justfile": "code", "jenkinsfile": "config",
    "procfile": "config", "codeowners": "config", "runbook": "procedure", "playbook": "procedure",
}  # fmt: skip
_SUFFIXES: Mapping[str, str] = {
    "guide": "md mdx markdown rst adoc asciidoc",
    "config": "toml yaml yml ini cfg conf env json json5 jsonc properties editorconfig gitignore dockerignore lock hcl",
    "log": "log",
    "diff": "diff patch",
    "code": "py pyi ipynb js mjs cjs jsx ts tsx go rs java kt kts scala c h cc cpp cxx hpp cs rb php swift m sh "
    "bash zsh fish ps1 pl lua r jl ex exs erl hs ml clj dart vue svelte sql proto graphql tf css scss html zig nim",
}
_BY_SUFFIX: Mapping[str, str] = {suffix: kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}


def kind_of_name(name: str) -> str:
    """The kind that a file name or path suggests; empty when it suggests none.

    The stem comes before the folder and the folder before the suffix: `docs/adr/0007.md` is a decision,
    `docs/adr/CHANGELOG.md` a log.
    """
    *folders, leaf = name.lower().split("/")
    stem, _, suffix = leaf.rpartition(".")
    if leaf.startswith(".env"):
        return "config"
    by_stem = _BY_STEM.get(stem or leaf)
    if by_stem:
        return by_stem
    by_folder = next((_BY_FOLDER[f] for f in reversed(folders) if f in _BY_FOLDER), "")
    by_suffix = _BY_SUFFIX.get(suffix, "") if stem or leaf.startswith(".") else ""
    # A folder named `guides` or `decisions` may hold modules of a program: it decides the kind of documents only.
    return by_suffix if by_suffix in ("code", "diff", "config") else by_folder or by_suffix


def is_document(name: str) -> bool:
    """Whether a file name is that of a document, not of code or settings."""
    return _BY_SUFFIX.get(name.lower().rpartition(".")[2]) == "guide"


DEFAULT_KIND = "fact"
_SENTENCES = 6
"""Only the first sentences of a text are searched for a cue."""
_LONG = 1000
"""In a text of more characters, only the first two sentences are searched for a cue."""
_NOTE_CHARACTERS = 600
"""A text of at most so many characters may be a note about a file rather than its content."""

_HIGH = regex(r"\W{0,6}(?:IMPORTANT|CRITICAL|WARNING|MUST[ -]READ|DANGER|Important|Critical|Warning)\W{0,4}?[:!]")
_LOW = regex(r"\W{0,6}(?:minor|nit|nitpick|trivial|fyi)\W{0,4}?:", re.IGNORECASE)
_CHANGELOG = regex(r"(?:the )?(?:change ?log|release notes|releases|history)\b|\[?v?\d+\.\d+(?:\.\d+)?\]?(?:\s|$)")
_MEETING = regex(r"\W*(?:\w+ )?(?:meeting|stand-?up|retro|retrospective|sync|1:1|minutes|notes)\b", re.IGNORECASE)


def kind_of(subject: Subject, sentences: Sequence[Sentence]) -> str:
    """The kind of a text: by the form of its lines, its file, and its words, in this order."""
    look = kind_of_look(subject.text)
    if look == "diff":
        return look
    origin = kind_of_name(subject.source or subject.hint)
    is_note = len(subject.text) <= _NOTE_CHARACTERS and not (sentences and sentences[0].role == HEADING)
    if origin and (look in (origin, "code", "config") or not is_note):
        return origin
    if look == "guide":
        return _kind_of_document(sentences)
    if look:
        return look
    by_folder = origin if origin not in ("code", "config", "guide") else ""
    return by_folder or _kind_of_words(sentences) or origin or DEFAULT_KIND


def relevance_of(text: str, kind: str) -> str:
    """`high` or `low` if the text begins with a word such as `IMPORTANT:` or `nit:`, otherwise `medium`."""
    if kind not in ("log", "diff", "code") and (":" in text or "!" in text) and _HIGH.match(text):
        return "high"
    return "low" if ":" in text and _LOW.match(text) else "medium"


def _kind_of_words(sentences: Sequence[Sentence]) -> str:
    if sentences and _CHANGELOG.match(sentences[0].text.lower()) and len(sentences) > 1:
        return "log"
    length = sum(len(text) for text, _ in sentences)
    places = enumerate(sentences[: _SENTENCES if length <= _LONG else 2])
    first = next((kind for place, (text, _) in places if (kind := cue_of(text, is_opening=place == 0))), "")
    steps = sum(1 for _, role in sentences if role == STEP)
    if steps >= 2 and first not in ("decision", "goal", "correction", "log"):
        return "procedure"
    if not first and sentences and _MEETING.match(sentences[0].text):
        return "log"
    return first


def _kind_of_document(sentences: Sequence[Sentence]) -> str:
    """The kind of a document: `guide`, unless its headings name another kind."""
    headings = [text.lower() for text, role in sentences if role == HEADING]
    title = next((text.lower() for text, role in sentences[:3] if role == HEADING), "")
    if _CHANGELOG.match(title):
        return "log"
    kind = cue_of(title)
    if kind in ("decision", "procedure", "goal"):
        return kind
    if {"decision", "context"} <= set(headings) or "decision outcome" in headings:
        return "decision"
    return "guide"


_MAX_NAMES = 6
_MAX_PLACES = 4
_MARKS = (".", "!", "?", "…", "。", "！", "？")
_MAX_SETTINGS = 200
_KEY = regex(r"(?:export |- )?[\"']?([A-Za-z][\w./-]{0,60})[\"']?\s?[:=](?!/)|\[{1,2}([\w.\" -]{1,60})\]")
_PROSE = regex(r"\w[.!?] \w|\w [a-z]+ [a-z]+ [a-z]+ ")
_CAMEL = regex(r"(?<=[a-z0-9])(?=[A-Z][a-z])")


class Account(NamedTuple):
    """The summaries of a text, and what its tags and path are derived from."""

    summaries: Summaries
    title: str
    topics: Sequence[Sentence]
    """The sentences from which keyphrases are extracted."""
    names: Sequence[str] = ()
    """Identifiers that the text defines or changes, as words."""
    files: Sequence[str] = ()


def of(subject: Subject, kind: str, sentences: Callable[[], Sequence[Sentence]]) -> Account:
    """The account of a text of this kind; `sentences` is called only if its sentences are needed."""
    if kind == "diff":
        from memcli.summarize import patches

        if stated := patches.stated_change(subject.metadata, subject.provenance):
            return _of_patch(_string(subject.metadata, "subject"), [stated])
        message, files = patches.read_patch(subject.raw, subject.source)
        if files:
            return _of_patch(message, files)
    if kind == "code":
        from memcli.summarize import patches

        names, comment = patches.read_code(subject.text)
        if names or (comment and "\n" in subject.text):
            return _of_code(names, comment, subject.source)
    if kind == "config":
        account = _of_settings(subject)
        if account:
            return account
    found = sentences()
    title = found[0].text if found and found[0].role == HEADING else ""
    if not found:
        return Account(summaries.same(summaries.collapse(subject.text)), title, found)
    topics = found
    if subject.is_rendered:
        # The keys of `content` are names of fields, not topics.
        topics = [sentence._replace(text=sentence.text.partition(": ")[2] or sentence.text) for sentence in found]
    return Account(summaries.summarize(found, kind), title, topics)


def _of_settings(subject: Subject) -> Account | None:
    """The account of a settings file; None if most of its lines are no settings."""
    lines = [" ".join(line.split()) for line in subject.text.split("\n", _MAX_SETTINGS)[:_MAX_SETTINGS]]
    relevant = [line for line in lines if line and line[0] not in "#;/{}"]
    names = [match[1] or match[2] for line in relevant if (match := _KEY.match(line))]
    if len(names) * 2 < len(relevant) or not names or _PROSE.search(relevant[0]):
        return None
    where = f"{subject.source}: sets " if subject.source else ""
    whole = where + "; ".join(relevant)
    if len(whole) <= MICRO and not any(line.endswith(":") for line in relevant):
        found = summaries.same(whole)
    else:
        verbatim = [line.rstrip() for line in subject.text.split("\n", _MAX_SETTINGS)[:_MAX_SETTINGS] if line.strip()]
        listed = f"{where or 'Sets '}{_listed(list(dict.fromkeys(names)), 5)}."
        found = (clip(listed, MICRO), within(SHORT, verbatim), within(LONG, verbatim))
    comments = [line.strip("#; ") for line in lines if line.startswith(("#", ";")) and len(line) > 3]
    return Account(
        found,
        "",
        [Sentence(line, ITEM) for line in comments[:5]],
        _spelled(names, with_vague=True),
        (subject.source,) if subject.source else (),
    )


def _of_code(names: Mapping[str, str], comment: Sequence[Sentence], source: str) -> Account:
    """The account of code: `names` maps each definition to its form in a summary, `comment` is its first docstring or comment."""
    shown = list(names.values())
    where = f"{source}: " if source else ""

    def summary(limit: int, words: str, count: int) -> str:
        defines = f"Defines {_listed(shown, count)}." if shown else ""
        room = limit - len(where) - len(defines) - 1
        words = clip(words, room) if room > 40 else ""
        return clip(where + " ".join(part for part in (words, defines) if part), limit)

    found = (
        summary(MICRO, comment[0].text if comment else "", 3),
        summary(SHORT, summaries.joined(comment[:2]), 10),
        summary(LONG, summaries.joined(comment), 40),
    )
    return Account(found, "", comment[:3], _spelled(names), (source,) if source else ())


def _of_patch(message: str, changes: Sequence[FileChange]) -> Account:
    files = sorted(changes, key=lambda f: -(f.added + f.removed))
    if len(files) == 1:
        total = _ended(_change(files[0]))
    else:
        paths = [file.path for file in changes if file.path]
        added, removed = sum(file.added for file in files), sum(file.removed for file in files)
        total = f"Changes {len(files)} files (+{added} -{removed}): {_listed(paths, 3)}."
    subject = " ".join(message.split()).rstrip(" .,:;")
    head = [_ended(subject)] if subject else []
    micro = " ".join([*head, total])
    lines = [f"- {_change(file)}" for file in files]
    found = (
        clip(micro, MICRO),
        within(SHORT, [" ".join(head) or total, *lines] if len(files) > 1 else [micro]),
        within(LONG, [*head, total, *lines] if len(files) > 1 else [micro]),
    )
    names = _spelled([place.rpartition(".")[2] for file in files for place in file.places])
    return Account(found, message, split(message), names, [file.path for file in files[:3] if file.path])


def _ended(sentence: str) -> str:
    """The sentence with a full stop, unless it has a mark at its end."""
    return sentence if sentence.endswith(_MARKS) else f"{sentence}."


def _change(file: FileChange) -> str:
    """The line of a file, such as `Changes src/auth.py (+12 -3) in refresh and revoke`."""
    name = f"{file.old} to {file.path}" if file.old else file.path or "a file"
    size = f" (+{file.added} -{file.removed})" if file.added or file.removed else ""
    where = f" in {_listed(list(file.places), _MAX_PLACES)}" if file.places else ""
    return f"{file.verb} {name}{size}{where}"


def _listed(names: Sequence[str], count: int) -> str:
    """`a, b and c`, or the first `count` names and the number of the others."""
    if len(names) > count:
        return f"{', '.join(names[:count])} and {len(names) - count} more"
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part) if names else "nothing"


def _spelled(identifiers: Iterable[str], *, with_vague: bool = False) -> list[str]:
    """Identifiers as words, vague ones last or left out, without generic and short ones and tests: `token-store` for
    `TokenStore`."""
    names = dict.fromkeys(_CAMEL.sub("-", name).lower() for name in identifiers)
    specific = [name for name in names if not is_generic(name) and len(name) > 2 and not name.startswith("test")]
    vague = [name for name in specific if name in VAGUE]
    return [*(name for name in specific if name not in VAGUE), *(vague if with_vague else ())][:_MAX_NAMES]
