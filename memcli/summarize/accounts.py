"""What is said of a text: sentences of prose, definitions of code, changes of a diff."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memcli.summarize import summaries
from memcli.summarize.lexicon import GENERIC, VAGUE
from memcli.summarize.sentences import HEADING, ITEM, Sentence, split
from memcli.summarize.subject import Subject
from memcli.summarize.summaries import LONG, MICRO, SHORT, Summaries, clip, within

if TYPE_CHECKING:
    from memcli.summarize.patches import Code, FileChange, Patch

_MAX_NAMES = 6
_MAX_PLACES = 4
_MAX_SETTINGS = 200
_KEY = re.compile(r"(?:export |- )?[\"']?([A-Za-z][\w./-]{0,60})[\"']?\s?[:=](?!/)|\[{1,2}([\w.\" -]{1,60})\]")
_PROSE = re.compile(r"\w[.!?] \w|\w [a-z]+ [a-z]+ [a-z]+ ")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])")


class Account(NamedTuple):
    summaries: Summaries
    title: str
    topics: Sequence[Sentence]
    """The sentences to take keyphrases from."""
    names: Sequence[str] = ()
    """Identifiers that the text is about."""
    files: Sequence[str] = ()


def of(subject: Subject, kind: str, sentences: Callable[[], Sequence[Sentence]]) -> Account:
    """The account of a text of this kind; `sentences` gives its sentences, where they are needed."""
    if kind == "diff":
        from memcli.summarize import patches

        patch = patches.read_patch(subject.raw, subject.source)
        if patch.files:
            return _of_patch(patch)
    if kind == "code":
        from memcli.summarize import patches

        code = patches.read_code(subject.text)
        if code.names or (code.says and "\n" in subject.text):
            return _of_code(code, subject.source)
    if kind == "config":
        account = _of_settings(subject)
        if account:
            return account
    return _of_prose(subject, kind, sentences())


def _of_settings(subject: Subject) -> Account | None:
    """The account of a file of settings; None when most of the lines are none."""
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
        found = Summaries(clip(listed, MICRO), within(SHORT, verbatim), within(LONG, verbatim))
    comments = [line.strip("#; ") for line in lines if line.startswith(("#", ";")) and len(line) > 3]
    return Account(
        found,
        "",
        [Sentence(line, ITEM) for line in comments[:5]],
        _spelled(names),
        _file(subject),
    )


def _file(subject: Subject) -> tuple[str, ...]:
    return (subject.source,) if subject.source else ()


def _of_prose(subject: Subject, kind: str, sentences: Sequence[Sentence]) -> Account:
    title = sentences[0].text if sentences and sentences[0].role == HEADING else ""
    if not sentences:
        return Account(summaries.same(summaries.collapse(subject.text)), title, sentences)
    topics: Sequence[Sentence] = sentences
    if subject.is_rendered:
        # The names of fields are not what the text is about.
        topics = [sentence._replace(text=sentence.text.partition(": ")[2] or sentence.text) for sentence in sentences]
    return Account(summaries.summarize(sentences, kind), title, topics)


def _of_code(code: Code, source: str) -> Account:
    said = summaries.joined(code.says)
    where = f"{source}: " if source else ""

    def told(limit: int, words: str, count: int) -> str:
        defines = f"Defines {_listed(code.names, count)}." if code.names else ""
        room = limit - len(where) - len(defines) - 1
        words = clip(words, room) if room > 40 else ""
        return clip(where + " ".join(part for part in (words, defines) if part), limit)

    found = Summaries(
        told(MICRO, code.says[0].text if code.says else "", 3),
        told(SHORT, summaries.joined(code.says[:2]), 10),
        told(LONG, said, 40),
    )
    return Account(found, "", code.says[:3], _telling(code.identifiers), (source,) if source else ())


def _of_patch(patch: Patch) -> Account:
    message = patch.message
    files = sorted(patch.files, key=lambda f: -(f.added + f.removed))
    total = _total(patch)
    head = [f"{message.rstrip('.')}."] if message and message[-1] not in "!?" else [message] if message else []
    micro = " ".join([*head, total])
    lines = [f"- {_change(file)}" for file in files]
    found = Summaries(
        clip(micro, MICRO),
        within(SHORT, [" ".join(head) or total, *lines] if len(files) > 1 else [micro]),
        within(LONG, [*head, total, *lines] if len(files) > 1 else [micro]),
    )
    names = _telling([place.rpartition(".")[2] for file in files for place in file.places])
    return Account(found, message, split(message), names, [file.path for file in files[:3] if file.path])


def _total(patch: Patch) -> str:
    if len(patch.files) == 1:
        return f"{_change(patch.files[0])}."
    names = [file.path for file in patch.files if file.path]
    return f"Changes {len(patch.files)} files (+{patch.added} -{patch.removed}): {_listed(names, 3)}."


def _change(file: FileChange) -> str:
    """One file's line, such as `Changes src/auth.py (+12 -3) in refresh and revoke`."""
    name = f"{file.old} to {file.path}" if file.old else file.path or "a file"
    size = f" (+{file.added} -{file.removed})" if file.added or file.removed else ""
    where = f" in {_listed(list(file.places), _MAX_PLACES)}" if file.places else ""
    return f"{file.verb} {name}{size}{where}"


def _listed(names: Sequence[str], count: int) -> str:
    """`a, b and c`, or the first `count` and how many more."""
    if len(names) > count:
        return f"{', '.join(names[:count])} and {len(names) - count} more"
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part) if names else "nothing"


def _telling(identifiers: Iterable[str]) -> list[str]:
    """The identifiers, as words, that say something by themselves."""
    return [name for name in _spelled(identifiers) if name not in VAGUE]


def _spelled(identifiers: Iterable[str]) -> list[str]:
    """Identifiers as words, the vague ones last: `token-store` for `TokenStore`."""
    names = dict.fromkeys(_CAMEL.sub("-", name).lower() for name in identifiers)
    telling = [name for name in names if name not in GENERIC and len(name) > 2 and not name.startswith("test")]
    return sorted(telling, key=lambda name: name in VAGUE)[:_MAX_NAMES]
