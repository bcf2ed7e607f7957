"""Describe: the semantic layer by a language model, which adds to what the local one finds, or stands in for it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from memcli.app.candidate import is_read
from memcli.app.consult import TEXT, consult
from memcli.app.workspace import Workspace
from memcli.errors import ProviderError, RefusedError
from memcli.model.memory import Json
from memcli.model.names import slug
from memcli.prompts import describe
from memcli.record import Record
from memcli.safety.injection.reasons import find_reasons
from memcli.summarize.subject import Subject, missing

WITHIN_SECONDS = 60.0
_MOST_FAILURES = 2
"""After so many failures in a row the rest of a batch is described locally."""


class Tuning(Record, kw_only=True):
    """How a model is asked, and whether the local layer stands in for it."""

    temperature: float | None = None
    max_tokens: int | None = None
    may_fall_back: bool = False


class AskingSummarizer:
    """Asks a language model for what the caller left out. Summaries, tags and so on that were given stay as they are."""

    def __init__(self, workspace: Workspace, tuning: Tuning | None = None) -> None:
        self._workspace, self._tuning = workspace, tuning or Tuning()
        self._failures = 0
        self.local = 0
        """How many texts the local layer has described instead."""

    def describe(self, fields: Mapping[str, object]) -> dict[str, object]:
        """The fields to add. Raises ProviderError, RefusedError, UsageError."""
        found = self._workspace.summarizer.describe(fields)
        wanted = missing(fields)
        if not wanted:
            return found
        told = self._told(fields)
        if told is None:
            self.local += 1
            return found
        pinned = {"pinned": True} if told["auto_pin"] and "pinned" not in fields and not is_read(fields) else {}
        return {**found, **{name: told[name] for name in wanted}, **pinned}

    def _told(self, fields: Mapping[str, Any]) -> dict[str, Any] | None:
        """What the model says; None when it fails and the local layer may stand in."""
        if self._failures >= _MOST_FAILURES:
            return None
        subject = Subject.of(fields)
        tuning = self._tuning
        prompt = describe.make(
            subject.text, _hints(fields, subject), temperature=tuning.temperature, max_tokens=tuning.max_tokens
        )
        try:
            told, _ = consult(self._workspace, prompt, partial(_read, subject.text), within=WITHIN_SECONDS, keep=TEXT)
        except (ProviderError, RefusedError) as error:
            if not tuning.may_fall_back:
                raise
            self._failures = _MOST_FAILURES if isinstance(error, RefusedError) else self._failures + 1
            self._workspace.warn(f"{error.message}; described locally")
            return None
        self._failures = 0
        return {**told, "path": _within_project(told["path"], subject.project)}


def _read(note: str, data: Json) -> dict[str, Any]:
    """The fields in the answer. Raises ValueError, also where it carries instructions that the note does not: they would
    keep the note from being recalled."""
    told = describe.read(data)
    texts = [told["path"], *told["tags"], *(told[name] for name in ("summary_micro", "summary_short", "summary_long"))]
    if added := sorted(find_reasons("\n".join(texts)) - find_reasons(note)):
        raise ValueError(f"it contains {', '.join(added)}, and the note does not")
    return told


def _hints(fields: Mapping[str, Any], subject: Subject) -> dict[str, Json]:
    """What the author of a note said of it."""
    given = {name: fields[name] for name in ("kind", "relevance") if fields.get(name)}
    tags = list(fields.get("tags") or ())
    return {**given, "tags": tags, "suggested path": subject.hint, "project": subject.project, "file": subject.source}


def _within_project(path: str, project: str) -> str:
    first = slug(project)
    return path if not first or path.split("/", maxsplit=1)[0] == first else f"{first}/{path}"
