"""Verbs called by a program in its own process: arguments are Python values, the result is what `--json` prints."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Event, RLock, Thread
from typing import TYPE_CHECKING, Any

from memcli.cancel import cancelled_by, check_cancelled
from memcli.cli.binding import bind
from memcli.cli.options import CommonOptions
from memcli.cli.output import Output, as_error, called, on_one_line
from memcli.cli.verb import CommandContext, Verb
from memcli.codec.canonical import encode_line
from memcli.embed import DEFAULT_EMBEDDER, EMBEDDERS
from memcli.errors import MemcliError, NotFoundError, RefusedError, UsageError
from memcli.model.memory import Json
from memcli.render.clean import clean, clean_line

if TYPE_CHECKING:
    from memcli.wiring.workspace_cache import WorkspaceCache


_MODEL_SECONDS = 5.0
"""The longest wait of a question for the embedding model, in seconds."""
_RANKING = ("recall", "session context")


class Calls:
    """Runs verbs on one store, keeping what is expensive to load from call to call.

    Calls from several threads run one after the other. Every call reads the store as it is then.
    """

    def __init__(self, options: Mapping[str, str | None], note: Callable[[str], None]) -> None:
        """`options` are those of `CommonOptions` and of `settings.resolve`. `note` is called with each message."""
        from memcli.wiring.workspace_cache import WorkspaceCache

        self._options = dict(options)
        self._note = note
        # Calls run one after the other under the lock, with the cache that they share, until the event says that nobody waits.
        self._line = WorkspaceCache(), RLock(), Event()
        self._is_late = self._has_model = False
        self._loader: Thread | None = None

    def run(
        self,
        verb: Verb,
        arguments: Sequence[Any],
        options: Mapping[str, Any],
        *,
        as_json: bool = True,
        environ: Mapping[str, str] = os.environ,
    ) -> Any:
        """The result of a verb, or what it prints in a pipe. `environ` leads to the stores and names the user. Raises
        MemcliError, and TypeError for arguments that the verb does not have."""
        given = {name: value for name, value in options.items() if name != "space"}
        values, data = bind(verb, arguments, given)
        output = _Values(as_json and values.get("format") is None, self._note)
        with self._turn() as kept, called(data):
            return self._run(kept, verb, values, options.get("space"), output, environ)

    def text(self, verb: Verb, options: Mapping[str, Any]) -> str:
        """What a command prints in a pipe, and then its messages, for an agent; also those of an error after the answer.
        Raises as `run` does, and RefusedError while memory is off."""
        from memcli.settings import is_on
        from memcli.store.trust import is_off
        from memcli.wiring.roots import locate

        root = locate(self._options, os.environ)
        if is_on(os.environ, "MEMCLI_OFF") or (root is not None and is_off(root, os.environ)):
            raise RefusedError(
                "memory is off in this clone", "go on without it; the user switches it on by `memcli on`"
            )
        given = {name: value for name, value in options.items() if name != "space"}
        values, data = bind(verb, (), given)
        notes: list[str] = []
        output = _Values(as_json=False, note=notes.append)
        with self._turn() as kept, called(data):
            if verb.name in _RANKING and self._is_loading and self._loader is not None:
                self.load()  # the store may be another one than at first
                self._loader.join(_MODEL_SECONDS)
                check_cancelled()
            if verb.name in _RANKING and self._is_loading:
                notes.append("the embedding model is still loading: this answer is by words alone; ask again for more")
            try:
                text = self._run(kept, verb, values, options.get("space"), output) or ""
            except (NotFoundError, UsageError) as error:  # of some of the memories that were named
                if not isinstance(error.value, str):
                    raise
                text = error.value
                notes.append(on_one_line(error))
        return "\n".join([*([text.rstrip("\n")] if text.strip() else []), *map(clean_line, notes)])

    @contextmanager
    def _turn(self) -> Iterator[WorkspaceCache]:
        """Holds the lock during a call and yields the shared cache; the call is cancelled when it is abandoned."""
        kept, lock, is_abandoned = self._line
        with lock, cancelled_by(is_abandoned.is_set):
            yield kept

    def abandon(self) -> None:
        """Cancels the running call, which stops at its next check. The next call does not wait for it, and shares only models
        with it."""
        kept, _, is_abandoned = self._line
        is_abandoned.set()
        self._line = kept.successor(), RLock(), Event()

    def state(self) -> object:
        """A value that differs after any space that calls read has changed; None without a store."""
        options = {**self._options, "command": "mcp"}
        try:
            with self._turn() as kept:
                own = kept.open(options, os.environ)
                return [
                    (one.root, name, one.fingerprint(name))
                    for one in (own, own.elsewhere)
                    if one is not None
                    for name in one.store.spaces()
                ]
        except MemcliError:
            return None

    def load_later(self) -> None:
        """Postpones loading the model to `load`: until then calls search by words, and `text` waits a few seconds for it."""
        self._is_late = True

    def load(self, *, waits: bool = False) -> None:
        """Loads the model in a thread, once, if `load_later` postponed it and the current store uses it. `waits` for it."""
        if self._is_late and (self._loader is None or not self._loader.is_alive()):
            self._loader = Thread(target=self._load, daemon=True, name="model")
            self._loader.start()
        if waits and self._loader is not None:
            self._loader.join()

    def _load(self) -> None:
        if not self._is_loading:
            return
        try:
            model = self._line[0].part(("embedder", DEFAULT_EMBEDDER), EMBEDDERS[DEFAULT_EMBEDDER])
            if model is not None:
                model.embed(["load the model"])
                self._has_model = True
        except MemcliError as error:
            self._note(error.message)  # and each recall says that it answers by words alone
        finally:
            self._is_late = False

    @property
    def _is_loading(self) -> bool:
        """Whether the current store uses the built-in model and it is not loaded yet."""
        from memcli.wiring.workspace import open_workspace

        if not self._is_late:
            return False
        try:
            name = open_workspace(self._options, os.environ).embedder
        except MemcliError:  # there is no store yet
            name = self._options.get("embedder") or os.environ.get("MEMCLI_EMBEDDER") or DEFAULT_EMBEDDER
        return name == DEFAULT_EMBEDDER

    def close(self) -> None:
        """Closes the cached indexes and vectors. The next call loads them again."""
        with self._turn() as kept:
            kept.close()

    def _run(
        self,
        kept: WorkspaceCache,
        verb: Verb,
        values: Mapping[str, Any],
        space: str | None,
        output: _Values,
        environ: Mapping[str, str] = os.environ,
    ) -> Any:
        known = {name: self._options.get(name) for name in ("root", "freeze_clock")}
        offline = bool(self._options.get("offline"))
        common = CommonOptions(quiet=True, offline=offline, space=space or self._options.get("space"), **known)
        session = CommandContext(verb.name, common, output, kept.open, environ)
        session.options |= {name: value for name, value in self._options.items() if name not in CommonOptions.FIELDS}
        session.has_model = self._has_model
        if self._is_loading:  # until the model is there, words alone answer
            session.options["embedder"] = "off"
        try:
            verb.run_in(session, values)
        except Exception as error:
            known_error = as_error(error)
            known_error.value = output.value()
            if known_error is error:
                raise
            raise known_error from error
        return output.value()


class _Values(Output):
    """The output of a call: collects the result as a value, or as text if the call names a format."""

    def __init__(self, as_json: bool, note: Callable[[str], None]) -> None:
        super().__init__(json=as_json, quiet=True)
        self._tell = note
        self._values: list[Json] = []
        self._is_list = False
        self._texts: list[str] = []

    def value(self) -> Any:
        """The collected result; None if nothing was printed."""
        if self._is_list:
            return self._values
        return self._values[-1] if self._values else "".join(self._texts) or None

    def answer(self, data: Json, text: str, *, on_one_line: bool = False) -> None:  # noqa: ARG002
        if self.json:
            self._values.append(json.loads(encode_line(data)))
        else:
            self.write(text)

    def confirm(self, data: Json, text: str) -> None:
        self.answer(data, text)

    def lines(self, values: Iterable[Json]) -> None:
        self._is_list = True
        for value in values:
            self.answer(value, "")

    def array(self, values: Iterable[Json]) -> int:
        found = list(values)
        self.answer(found, "")
        return len(found)

    def write(self, text: str) -> None:
        self._texts.append(clean(text))

    def raw(self, text: str) -> None:
        self._texts.append(text)

    def note(self, text: str) -> None:
        self._tell(text)
