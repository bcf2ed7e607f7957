"""The answers of language models in the cache: a file each, named after what was asked. Any of them may be removed."""

from __future__ import annotations

import os
from contextlib import suppress

from memcli.codec.canonical import encode_line
from memcli.errors import MemcliError, StoreError
from memcli.model.memory import Json
from memcli.store.atomic import append_line, make_folder, remove_file, write_file
from memcli.store.layout import Layout
from memcli.store.reading import read_json

_TEXTS, _QUESTIONS = "texts", "questions"
_VERDICT = "verdict"
_FOLDERS = {"text": _TEXTS, "question": _QUESTIONS, _VERDICT: "verdicts"}
_MOST = 4_096
"""Files in one folder; beyond that the oldest half goes."""


class FileAnswers:
    """The answers beside a store. Those that repeat text are apart, and erased with any memory."""

    def __init__(self, layout: Layout) -> None:
        self._folder = layout.cache("answers")
        self._erasures = os.path.join(self._folder, "erasures")

    def get(self, key: str) -> Json:
        """See `Answers.get`."""
        if self._is_linked():
            return None
        found = (read_json(self._file(folder, key)) for folder in _FOLDERS.values())
        return next((answer for answer in found if answer is not None), None)

    def erasures(self) -> int:
        """See `Answers.erasures`."""
        try:
            return os.stat(self._erasures).st_size
        except OSError:
            return 0

    def keep(self, key: str, answer: Json, *, kind: str, since: int) -> None:
        """See `Answers.keep`."""
        file = self._file(_FOLDERS[kind], key)
        with suppress(MemcliError, OSError):
            if self._is_linked():
                return
            make_folder(os.path.dirname(file))
            _make_room(os.path.dirname(file))
            write_file(file, encode_line(answer) + b"\n", 0o600)
            if self.erasures() != since and kind != _VERDICT:  # seen here, or the file is seen by who erases
                remove_file(file)

    def erase_texts(self) -> None:
        """See `Answers.erase_texts`."""
        self._erase(_TEXTS, _QUESTIONS)

    def erase_questions(self) -> None:
        """See `Answers.erase_questions`."""
        self._erase(_QUESTIONS)

    def _erase(self, *kinds: str) -> None:
        if not self._is_linked():
            make_folder(self._folder)
            try:
                append_line(self._erasures, b"")  # first: an answer that is on its way is not kept
            except OSError as error:
                raise StoreError(f"cannot write {self._erasures}: {error.strerror}", "replace it by a file") from None
        for kind in kinds:
            self._empty(kind)

    def _empty(self, kind: str) -> None:
        folder = os.path.join(self._folder, kind)
        try:
            names = [] if self._is_linked() else os.listdir(folder)
        except FileNotFoundError:
            return
        except OSError as error:
            raise StoreError(f"cannot read {folder}: {error.strerror}", "remove the folder") from None
        for name in names:
            if os.path.lexists(file := os.path.join(folder, name)):  # else another process was first
                remove_file(file)

    def _is_linked(self) -> bool:
        """Whether a folder is a link, which memcli does not follow out of a store."""
        folders = (self._folder, *(os.path.join(self._folder, name) for name in _FOLDERS.values()))
        return any(map(os.path.islink, folders))

    def _file(self, folder: str, key: str) -> str:
        return os.path.join(self._folder, folder, f"{key}.json")


def _make_room(folder: str) -> None:
    names = os.listdir(folder)
    if len(names) < _MOST:
        return
    files = [os.path.join(folder, name) for name in names]
    for file in sorted(files, key=lambda file: (os.stat(file).st_mtime_ns, file))[: _MOST // 2]:
        remove_file(file)
