"""The answers of language models in the cache: a file each, named after what was asked. Any of them may be removed."""

from __future__ import annotations

import os
from contextlib import suppress

from memcli.codec.canonical import encode_line
from memcli.errors import MemcliError, StoreError
from memcli.model.memory import Json
from memcli.store.atomic import make_folder, remove_file, write_file
from memcli.store.layout import Layout
from memcli.store.reading import read_json

_TEXTS, _QUESTIONS = "texts", "questions"
_FOLDERS = {"text": _TEXTS, "question": _QUESTIONS, "verdict": "verdicts"}
_MOST = 4_096
"""Files in one folder; beyond that the oldest half goes."""


class FileAnswers:
    """The answers beside a store. Those that repeat text are apart, and erased with any memory."""

    def __init__(self, layout: Layout) -> None:
        self._folder = layout.cache("answers")

    def get(self, key: str) -> Json:
        """See `Answers.get`."""
        if self._is_linked():
            return None
        found = (read_json(self._file(folder, key)) for folder in _FOLDERS.values())
        return next((answer for answer in found if answer is not None), None)

    def keep(self, key: str, answer: Json, *, kind: str) -> None:
        """See `Answers.keep`."""
        file = self._file(_FOLDERS[kind], key)
        with suppress(MemcliError, OSError):
            if self._is_linked():
                return
            make_folder(os.path.dirname(file))
            _make_room(os.path.dirname(file))
            write_file(file, encode_line(answer) + b"\n", 0o600)

    def erase_texts(self) -> None:
        """Erases every answer that repeats text: nothing says which memories one was made of. Raises StoreError."""
        self._erase(_TEXTS)
        self._erase(_QUESTIONS)

    def erase_questions(self) -> None:
        """See `Answers.erase_questions`."""
        self._erase(_QUESTIONS)

    def _erase(self, kind: str) -> None:
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
