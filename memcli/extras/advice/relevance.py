"""Relevance: a language model looks through the best candidates of a recall. When it fails, the ranking stands.

Of private spaces only that is sent which the user has named, or asked for by the scope of sessions.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Thread

from memcli.app.talk import NAME as TALK
from memcli.app.topic import NOT_REPEATED
from memcli.app.usage import ELSEWHERE
from memcli.app.workspace import Workspace
from memcli.errors import MemcliError, ProviderError, RefusedError
from memcli.extras.advice.consult import VERDICT, consult
from memcli.extras.advice.prompts import describe
from memcli.model.recall import ALL_REJECTED, Bundle, ModelVerdict, Query, Section
from memcli.model.usage import REJECTED, Use
from memcli.record import replace

DEFAULT_MOST = 8


DEFAULT_SECONDS = 1.0


_REASON = "not relevant, says {model}"


_LOADING_SECONDS = 60.0


class Verifier:
    """Leaves out of bundles what a model rejects among the first `most` candidates. It has `within` seconds for each, once it
    is loaded, which goes on while the candidates are searched; and all must be over at `ends`, by the monotonic clock.

    What a trigger or an anchor brings up, and what is pinned, is never asked about.
    """

    def __init__(
        self,
        workspace: Workspace,
        most: int = DEFAULT_MOST,
        within: float = DEFAULT_SECONDS,
        ends: float = math.inf,
    ) -> None:
        self._workspace, self._most, self._within, self._ends = workspace, most, within, ends
        self._loader: Thread | None = None

    def __call__(self, query: Query, answer: Callable[[Query], Bundle]) -> Bundle:
        """The answer to the query, verified. Raises UsageError when no model is configured, and what `answer` raises."""
        if query.edits is not None or not query.topic.strip():
            return answer(query)
        if self._loader is None:
            with suppress(MemcliError):  # why it cannot be asked is said when it is
                self._loader = Thread(target=self._workspace.language_model().load, name="model", daemon=True)
                self._loader.start()
        wide = answer(replace(query, limit=max(query.limit, self._most)))
        told = [s for s in wide.sections if not s.is_lead and not s.memory.pinned]
        asked = [section for section in told[: self._most] if self._may_leave(section.space)]
        if not asked:
            return _within_limit(wide, query, wide.sections)
        try:
            rejected = self._rejected(wide.query.topic, asked)
        except (ProviderError, RefusedError) as error:
            stands = wide if wide.query.limit == query.limit else answer(query)
            # A prompt and a log get this: what a server says may hold instructions, or repeat what it was asked.
            failure = error.brief if isinstance(error, ProviderError) else error.message
            return replace(stands, verdict=ModelVerdict(candidates=len(asked), failure=failure))
        gone = {id(section) for section in rejected}
        left = tuple(section for section in wide.sections if id(section) not in gone)
        verdict = ModelVerdict(candidates=len(asked), rejected=len(rejected), model=self._workspace.model)
        bundle = replace(_within_limit(wide, query, left), verdict=verdict)
        return bundle if left else replace(bundle, reason=ALL_REJECTED)

    def _left(self) -> float:
        """How many seconds the model has, once it is loaded. Raises ProviderError when there are none."""
        if self._loader is not None:
            self._loader.join(min(_LOADING_SECONDS, max(0.0, self._ends - time.monotonic())))
        left = min(self._within, self._ends - time.monotonic())
        if left <= 0:
            raise ProviderError("no time was left to ask the language model", "ask again, or without it")
        return left

    def _may_leave(self, name: str) -> bool:
        """Whether memories of the space that a bundle calls so may be sent."""
        workspace = self._workspace
        if name == TALK or (workspace.is_space_named and name == workspace.space):
            return True
        home = workspace.elsewhere if name.startswith(ELSEWHERE) else workspace
        return home is not None and not home.store.policy(name.removeprefix(ELSEWHERE)).is_private

    def _rejected(self, topic: str, asked: Sequence[Section]) -> list[Section]:
        """The candidates that are not relevant. Raises ProviderError, RefusedError, UsageError."""
        if topic == NOT_REPEATED:
            raise RefusedError("the topic contains instructions and is not sent")
        told = []
        for section in asked:
            memory = section.memory
            text = section.passage or memory.summary_short or memory.raw
            told.append({"path": memory.path, "kind": memory.kind, "date": memory.created_at[:10], "text": text})
        prompt = describe.make_verify(topic, told)
        relevant, is_kept = consult(
            self._workspace, prompt, describe.reader_verify(len(asked)), within=self._left, keep=VERDICT
        )
        rejected = [section for n, section in enumerate(asked, 1) if n not in relevant]
        if rejected and not is_kept:
            self._note(rejected)
        return rejected

    def _note(self, rejected: Sequence[Section]) -> None:
        """Notes what was rejected, once for each verdict: of the user-wide store there."""
        at, reason = self._workspace.clock(), _REASON.format(model=self._workspace.model)
        for is_other in (False, True):
            home = self._workspace.elsewhere if is_other else self._workspace
            own = [s for s in rejected if s.space.startswith(ELSEWHERE) == is_other and s.space != TALK]
            if home is None or not own:
                continue
            uses = [
                Use(at, REJECTED, s.space.removeprefix(ELSEWHERE), (s.memory.id,), reason=reason) for s in own
            ]  # fmt: skip
            try:
                home.usage.judge(uses)
            except MemcliError as error:
                self._workspace.warn(f"what was rejected is not noted: {error.message}")


def _within_limit(wide: Bundle, query: Query, sections: Sequence[Section]) -> Bundle:
    return replace(wide, query=replace(wide.query, limit=query.limit), sections=tuple(sections)[: query.limit])
