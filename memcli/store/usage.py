"""The usage log: `usage` has a line of JSON for each use that is not folded yet, `usage.counts` the accesses of
the others. Both hold ids, and keyed digests of topics and sessions, never a word of them.

A line is appended under a lock, so that none is lost while another process folds. A fold writes the counts, with the keys
of what it folds, before it rewrites the log: killed in between, these lines are already known to be counted.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress

from memcli.codec.canonical import encode_line
from memcli.digests import blake2b
from memcli.errors import MemcliError, StoreError
from memcli.model.memory import Json
from memcli.model.usage import ACCESSES, JUDGEMENTS, Access, Use, count, last_shown
from memcli.record import Record, replace
from memcli.store.atomic import append_line, make_folder, sync_folder, write_file
from memcli.store.key import own_key
from memcli.store.layout import Layout
from memcli.store.lock import HeldLock, locked
from memcli.store.reading import read_json, read_regular

MAX_BYTES = 512_000
"""How long the log may grow before the older half of the accesses in it is only counted."""
MAX_COUNTED = 50_000
"""How many memories of a space are counted; beyond that, those that were not shown for longest are forgotten."""
_MAX_LINE = 4_000
_MAX_READ = 64 << 20
_MAX_JUDGEMENTS = 10_000
_WAIT_SECONDS = 1.0
_KEY_BYTES = 6
_HASH_BYTES = 8
_PERSON = b"memcli/usage/1"  # keeps these digests apart from any other use of the key


class _State(Record):
    """What `usage.counts` holds: accesses by space and id, the keys of what was folded last, the last bundles, and how
    often was folded."""

    counts: Mapping[str, Mapping[str, Access]]
    folded: frozenset[tuple[str, str]]
    shown: tuple[Use, ...]
    folds: int = 0


class FileUsage:
    """The usage of the store at `layout`. `session` names the current session, if there is one; what is shown is noted only
    if `is_recording`."""

    def __init__(
        self,
        layout: Layout,
        session: str = "",
        is_recording: Callable[[], bool] = lambda: True,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._layout = layout
        self._path = layout.private("usage")
        self._counts = layout.private("usage.counts")
        self._session = session
        self._is_recording = is_recording
        self._max_bytes = max_bytes
        self._key = b""
        self._known: tuple[tuple[int, ...], list[Use]] = ((), [])

    def note(self, uses: Sequence[Use], topic: str = "") -> None:
        if not any(use.ids for use in uses) or not self._is_recording():
            return
        with suppress(OSError, MemcliError):
            self._append(uses, topic, lambda: os.urandom(_KEY_BYTES).hex())
            if os.path.getsize(self._path) > self._max_bytes:
                self._compact()

    def judge(self, uses: Sequence[Use]) -> None:
        try:
            self._append(uses, "", lambda: self._key_of(uses), sync=True)
        except OSError as error:
            raise StoreError(f"cannot write {self._path}: {error.strerror}", "check its permissions") from None

    def read(self) -> list[Use]:
        folded = self._load().folded
        return [use for use in self._log() if (use.key, use.space) not in folded]

    def counts(self, space: str) -> Mapping[str, Access]:
        state = self._load()
        uses = [use for use in self._log() if use.space == space and (use.key, use.space) not in state.folded]
        return count(uses, {space: state.counts.get(space, {})})[space]

    def last(self) -> list[Use]:
        session = self._sign(self._session) if self._session else ""
        return last_shown([*self._load().shown, *self._log()], session)

    def fold(self, uses: Collection[Use]) -> None:
        if uses:
            with self._rewriting():
                self._fold({(use.key, use.space) for use in uses})

    def erase(self, space: str, ids: Collection[str]) -> None:
        if not ids or not (os.path.lexists(self._path) or os.path.lexists(self._counts)):
            return
        with self._rewriting():
            state = self._load()
            of_space = {name: one for name, one in state.counts.get(space, {}).items() if name not in ids}
            counts = {**state.counts, space: of_space} if space in state.counts else state.counts
            shown = tuple(_without(state.shown, space, frozenset(ids)))
            self._write(_State(counts, state.folded, shown, state.folds))
            self._replace(_without(self._log(), space, frozenset(ids)))

    def _append(self, uses: Sequence[Use], topic: str, make_key: Callable[[], str], *, sync: bool = False) -> None:
        """Raises OSError, StoreError, LockedError."""
        signed = self._sign(" ".join(topic.lower().split())) if topic.strip() else ""
        session = self._sign(self._session) if self._session else ""
        make_folder(os.path.dirname(self._path))
        with self._locked():
            key = make_key()
            given = [replace(use, key=key, topic=signed, session=session) for use in uses]
            lines = [encode_line(_to_json(part)) for use in given for part in _parts(use)]
            is_new = sync and not os.path.lexists(self._path)
            append_line(self._path, b"\n".join(lines), sync)
            if is_new:
                sync_folder(os.path.dirname(self._path))

    def _key_of(self, uses: Sequence[Use]) -> str:
        """A key that is the same on every machine, under a clock that stands too, and that no use before had."""
        place = [self._load().folds, len(self._log()), [_to_json(use) for use in uses]]
        return blake2b(encode_line(place), digest_size=_KEY_BYTES).hexdigest()

    def _compact(self) -> None:
        """Folds the older half of the accesses; judgements wait for `maintain`, however long."""
        with self._locked():
            uses = self._log()
            shown = [use for use in uses if use.act in ACCESSES]
            judged = [use for use in uses if use.act in JUDGEMENTS]
            old = [*shown[: (len(shown) + 1) // 2], *judged[:-_MAX_JUDGEMENTS]]
            self._fold({(use.key, use.space) for use in old})

    def _fold(self, keys: Collection[tuple[str, str]]) -> None:
        """Folds what has one of these keys, flushed: there may be judgements among the rest. Raises StoreError."""
        state = self._load()
        rest = [use for use in self._log() if (use.key, use.space) not in state.folded]
        old = [use for use in rest if (use.key, use.space) in keys]
        counts = {space: _newest(found) for space, found in count(old, state.counts).items()}
        folded = frozenset((use.key, use.space) for use in old)
        self._write(_State(counts, folded, tuple(_last_of_each([*state.shown, *old])), state.folds + 1))
        self._replace(use for use in rest if (use.key, use.space) not in folded)

    @contextmanager
    def _rewriting(self) -> Iterator[None]:
        """Around a rewrite: holds the lock. Raises StoreError, LockedError."""
        try:
            make_folder(os.path.dirname(self._path))
            with self._locked():
                yield
        except OSError as error:
            raise StoreError(f"cannot write {self._path}: {error.strerror}", "check its permissions") from None

    def _locked(self) -> AbstractContextManager[HeldLock | None]:
        return locked(self._layout.private("usage.lock"), "the usage log", _WAIT_SECONDS)

    def _log(self) -> list[Use]:
        """The uses in the log, which is parsed again only if it has changed."""
        try:
            status = os.stat(self._path)
        except OSError:
            return []
        version = (status.st_ino, status.st_size, status.st_mtime_ns)
        if self._known[0] != version:
            self._known = version, _lines(self._path)
        return self._known[1]

    def _sign(self, text: str) -> str:
        self._key = self._key or own_key(self._layout)
        data = text.encode("utf-8", "replace")
        return blake2b(data, key=self._key, digest_size=_HASH_BYTES, person=_PERSON).hexdigest()

    def _load(self) -> _State:
        data = read_json(self._counts)
        found = data if isinstance(data, dict) else {}
        counts = {space: _accesses(given) for space, given in _dict(found.get("counts")).items()}
        folded = [pair for pair in _list(found.get("folded")) if isinstance(pair, list) and len(pair) == 2]
        shown = [use for given in _list(found.get("shown")) if (use := _from_json(given))]
        keys = frozenset((str(key), str(space)) for key, space in folded)
        folds = found.get("folds")
        return _State(counts, keys, tuple(shown), folds if type(folds) is int else 0)

    def _write(self, state: _State) -> None:
        data = {
            "counts": {
                space: {name: [one.count, one.last_at] for name, one in found.items()}
                for space, found in state.counts.items()
            },
            "folds": state.folds,
            "folded": [list(pair) for pair in sorted(state.folded)],
            "shown": [_to_json(use) for use in state.shown],
        }
        write_file(self._counts, encode_line(data), 0o600, alone=True)

    def _replace(self, uses: Iterable[Use]) -> None:
        write_file(self._path, b"".join(encode_line(_to_json(use)) + b"\n" for use in uses), 0o600, alone=True)


_MAX_SHOWN = 50


def _last_of_each(uses: Sequence[Use]) -> list[Use]:
    """The last bundle of each of the latest sessions, in order of time."""
    found: dict[str, list[Use]] = {}
    for use in reversed(uses):
        if not use.places:
            continue
        of_session = found.setdefault(use.session, [])
        if not of_session or of_session[0].key == use.key:
            of_session.append(use)
    kept = {use.key for of_session in list(found.values())[:_MAX_SHOWN] for use in of_session}
    return [use for use in uses if use.key in kept]


def _newest(found: Mapping[str, Access]) -> dict[str, Access]:
    """What was shown last, as much as is counted."""
    if len(found) <= MAX_COUNTED:
        return dict(found)
    latest = sorted(found, key=lambda name: (found[name].last_at, name))[-MAX_COUNTED:]
    return {name: found[name] for name in latest}


def _without(uses: Iterable[Use], space: str, ids: frozenset[str]) -> Iterator[Use]:
    """The uses without these memories of a space; what showed or judged nothing else is left out."""
    for use in uses:
        if use.space != space or ids.isdisjoint(use.ids):
            yield use
            continue
        kept = [n for n, name in enumerate(use.ids) if name not in ids]
        if kept:
            places = tuple(use.places[n] for n in kept) if use.places else ()
            yield replace(use, ids=tuple(use.ids[n] for n in kept), places=places)


def _parts(use: Use) -> Iterator[Use]:
    """The use in parts that each fit a line."""
    size = max(1, (_MAX_LINE - len(use.reason) * 4) // 50)
    for start in range(0, len(use.ids), size):
        yield replace(use, ids=use.ids[start : start + size], places=use.places[start : start + size])


def _lines(path: str) -> list[Use]:
    """The uses in the log, without lines that are damaged."""
    found = []
    with suppress(OSError):
        for line in (read_regular(path, _MAX_READ) or b"").splitlines():
            with suppress(ValueError, RecursionError):
                if use := _from_json(json.loads(line)):
                    found.append(use)
    return found


def _to_json(use: Use) -> dict[str, Json]:
    data: dict[str, Json] = {"at": use.at, "act": use.act, "space": use.space, "ids": list(use.ids), "key": use.key}
    rest = {"topic": use.topic, "session": use.session, "reason": use.reason, "places": list(use.places)}
    return data | {name: value for name, value in rest.items() if value}


def _from_json(data: Json) -> Use | None:
    """The use in a line; None for one that is damaged."""
    given = _dict(data)
    texts = {name: given.get(name, "") for name in ("at", "act", "space", "topic", "key", "session", "reason")}
    ids, places = _list(given.get("ids")), _list(given.get("places"))
    if not (all(isinstance(value, str) for value in (*texts.values(), *ids)) and ids and texts["key"]):
        return None
    if texts["act"] not in (*ACCESSES, *JUDGEMENTS) or any(type(n) is not int for n in places):
        return None
    return Use(**texts, ids=tuple(ids), places=tuple(places) if len(places) == len(ids) else ())


def _accesses(data: Json) -> dict[str, Access]:
    found = {}
    for name, pair in _dict(data).items():
        if isinstance(pair, list) and len(pair) == 2 and type(pair[0]) is int and isinstance(pair[1], str):
            found[name] = Access(pair[0], pair[1])
    return found


def _dict(data: Json) -> dict[str, Json]:
    return data if isinstance(data, dict) else {}


def _list(data: Json) -> list[Json]:
    return data if isinstance(data, list) else []
