"""Calls of verbs by a program, in its own process: arguments are Python values, the result is what `--json` prints."""

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
"""The longest time in seconds that a query waits for the embedding model."""
_RANKING = ("recall", "session context")


class Calls:
    """Runs verbs on one store. Models, indexes and vectors are cached from call to call.

    Calls from several threads run one after the other. Each reads the current state of the store.
    """

    def __init__(
        self, options: Mapping[str, str | None], note: Callable[[str], None], *, loads_later: bool = False
    ) -> None:
        """`options` are those of `CommonOptions` and of `settings.resolve`. `note` is called with each message. With
        `loads_later`, calls search by words until `load` has loaded the model; `text` waits up to _MODEL_SECONDS for it."""
        from memcli.wiring.workspace_cache import WorkspaceCache

        self._options = dict(options)
        self._note = note
        # The shared cache, the lock under which calls run, and the event that is set when they are abandoned. One value, since
        # `abandon` replaces all three while a call may be taking them.
        self._shared = WorkspaceCache(), RLock(), Event()
        self._is_late, self._has_model = loads_later, False
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
        """The result of a verb; the text that it prints in a pipe if not `as_json`, or if the call names a format. `environ`
        names the stores and the user. Raises MemcliError, and TypeError for unknown arguments."""
        given = {name: value for name, value in options.items() if name != "space"}
        values, data = bind(verb, arguments, given)
        output = _Values(as_json and values.get("format") is None, self._note)
        with self._turn() as cache, called(data):
            return self._run(cache, verb, values, options.get("space"), output, environ)

    def text(self, verb: Verb, options: Mapping[str, Any]) -> str:
        """The text that a command prints in a pipe, then its messages, for an agent. Raises as `run` does, and RefusedError
        while memory is off."""
        from memcli.settings import is_on
        from memcli.store.trust import is_off
        from memcli.wiring.roots import locate

        # As with hooks: while memory is off, agents neither read nor store anything.
        root = locate(self._options, os.environ)
        if is_on(os.environ, "MEMCLI_OFF") or (root is not None and is_off(root, os.environ)):
            raise RefusedError(
                "memory is off in this clone", "go on without it; the user switches it on by `memcli on`"
            )
        given = {name: value for name, value in options.items() if name != "space"}
        values, data = bind(verb, (), given)
        notes: list[str] = []
        output = _Values(as_json=False, note=notes.append)
        with self._turn() as cache, called(data):
            if verb.name in _RANKING and self._is_loading and self._loader is not None:
                self.load()  # an earlier load may have ended without the model, if the store of that time did not use it
                # Without the wait, the first recall of every process would be one by words alone.
                self._loader.join(_MODEL_SECONDS)
                check_cancelled()
            if verb.name in _RANKING and self._is_loading:
                notes.append("the embedding model is still loading: this answer is by words alone; ask again for more")
            try:
                text = self._run(cache, verb, values, options.get("space"), output) or ""
            except (NotFoundError, UsageError) as error:
                # With a result, the error is about some of the references: the others have been printed or changed.
                if not isinstance(error.value, str):
                    raise
                text = error.value
                notes.append(on_one_line(error))
        return "\n".join([*([text.rstrip("\n")] if text.strip() else []), *map(clean_line, notes)])

    @contextmanager
    def _turn(self) -> Iterator[WorkspaceCache]:
        """A context for a call: holds the lock and yields the shared cache. `abandon` cancels the call."""
        cache, lock, is_abandoned = self._shared
        with lock, cancelled_by(is_abandoned.is_set):
            yield cache

    def abandon(self) -> None:
        """Cancels the running call, which stops at its next check. The next call does not wait for that, and shares only models
        with it."""
        cache, _, is_abandoned = self._shared
        # A thread cannot be stopped: it would hold the lock until its call ends, and the next call would wait for it.
        is_abandoned.set()
        self._shared = cache.successor(), RLock(), Event()

    def state(self) -> object:
        """A value that changes whenever a space that calls read has changed; None without a store."""
        options = {**self._options, "command": "mcp"}
        try:
            with self._turn() as cache:
                own = cache.open(options, os.environ)
                return [
                    (one.root, name, one.fingerprint(name))
                    for one in (own, own.elsewhere)
                    if one is not None
                    for name in one.store.spaces()
                ]
        except MemcliError:
            return None

    def load(self, *, waits: bool = False) -> None:
        """Loads the model in a thread, once, if that was postponed and the current store uses it. `waits` for the end."""
        if self._is_late and (self._loader is None or not self._loader.is_alive()):
            self._loader = Thread(target=self._load, daemon=True, name="model")
            self._loader.start()
        if waits and self._loader is not None:
            self._loader.join()

    def _load(self) -> None:
        """Loads the model if the current store uses it."""
        if not self._is_loading:
            return
        try:
            model = self._shared[0].part(("embedder", DEFAULT_EMBEDDER), EMBEDDERS[DEFAULT_EMBEDDER])
            if model is not None:
                model.embed(["load the model"])  # the first text loads it
                self._has_model = True
        except MemcliError as error:
            self._note(error.message)  # no failure: each recall notes that it searched by words only
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
        with self._turn() as cache:
            cache.close()

    def _run(
        self,
        cache: WorkspaceCache,
        verb: Verb,
        values: Mapping[str, Any],
        space: str | None,
        output: _Values,
        environ: Mapping[str, str] = os.environ,
    ) -> Any:
        """Runs a verb with `values` on the stores that `environ` names, and returns what it printed. Raises MemcliError with the
        part of the result printed before it as `value`."""
        known = {name: self._options.get(name) for name in ("root", "freeze_clock")}
        offline = bool(self._options.get("offline"))
        common = CommonOptions(quiet=True, offline=offline, space=space or self._options.get("space"), **known)
        session = CommandContext(verb.name, common, output, cache.open, environ)
        session.options |= {name: value for name, value in self._options.items() if name not in CommonOptions.FIELDS}
        session.has_model = self._has_model
        if self._is_loading:  # a call that used it would wait until it is loaded
            session.options["embedder"] = "off"
        try:
            verb.run_in(session, values)
        except Exception as error:
            known_error = as_error(error)
            # Of several references, those that were found have been printed before the error about the others.
            known_error.value = output.value()
            if known_error is error:
                raise
            raise known_error from error
        return output.value()


class _Values(Output):
    """The output of a call: collects the result as a value, or as text without `as_json`."""

    def __init__(self, as_json: bool, note: Callable[[str], None]) -> None:
        super().__init__(json=as_json, quiet=True)
        self._note = note
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
            # As a program reads what the command prints: lists for tuples, and no value that the cache has, too.
            self._values.append(json.loads(encode_line(data)))
        else:
            self.write(text)

    def confirm(self, data: Json, text: str) -> None:
        self.answer(data, text)  # although quiet: a call has no other result

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
        self._note(text)
