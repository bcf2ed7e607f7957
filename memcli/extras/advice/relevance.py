"""The verification of a recall: a language model rejects irrelevant candidates. If it fails, the ranking is unchanged.

Memories of a private space are sent only if the user named the space, and chunks of sessions only if the scope includes them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from threading import Thread

from memcli.app.talk import NAME as TALK
from memcli.app.usage import ELSEWHERE
from memcli.app.workspace import Workspace
from memcli.errors import MemcliError, ProviderError, RefusedError
from memcli.extras.advice.consult import VERDICT, consult
from memcli.extras.advice.prompts import describe
from memcli.model.recall import ALL_REJECTED, NOT_REPEATED, Bundle, ModelVerdict, Query, Section
from memcli.model.usage import REJECTED, Use
from memcli.record import replace

DEFAULT_MOST = 8
DEFAULT_SECONDS = 1.0
_REASON = "not relevant, says {model}"
_LOADING_SECONDS = 60.0


class Verifier:
    """Removes from bundles the sections that a model rejects among the first `most` candidates; pinned memories and those found
    by a trigger or an anchor are never among them. The model has `within` seconds for each bundle, once it is loaded, and must
    be done at `ends`, in seconds of the monotonic clock."""

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
        """The verified bundle for a query; `answer` recalls. Raises UsageError if no model is configured, and what `answer`
        raises."""
        if query.edits is not None or not query.topic.strip():
            return answer(query)
        # The SDK loads while the candidates are searched: the import takes longer than the time that the model has.
        if self._loader is None:
            with suppress(MemcliError):  # the call below raises it again
                self._loader = Thread(target=self._workspace.language_model().load, name="model", daemon=True)
                self._loader.start()
        # More candidates than requested, so that others take the places of the rejected ones.
        wide = answer(replace(query, limit=max(query.limit, self._most)))
        judged = [s for s in wide.sections if not s.is_lead and not s.memory.pinned]
        candidates = [section for section in judged[: self._most] if self._may_send(section.space)]
        if not candidates:
            return _within_limit(wide, query, wide.sections)
        try:
            rejected = self._rejected(wide.query.topic, candidates)
        except (ProviderError, RefusedError) as error:
            bundle = wide if wide.query.limit == query.limit else answer(query)
            # The brief message goes into prompts and logs: that of a server may contain instructions, or repeat the prompt.
            failure = error.brief if isinstance(error, ProviderError) else error.message
            return replace(bundle, verdict=ModelVerdict(candidates=len(candidates), failure=failure))
        # By identity: memories of two spaces may have one id.
        removed = {id(section) for section in rejected}
        relevant = tuple(section for section in wide.sections if id(section) not in removed)
        verdict = ModelVerdict(candidates=len(candidates), rejected=len(rejected), model=self._workspace.model)
        bundle = replace(_within_limit(wide, query, relevant), verdict=verdict)
        return bundle if relevant else replace(bundle, reason=ALL_REJECTED)

    def _left(self) -> float:
        """The seconds that the model has, once it is loaded. Raises ProviderError if there are none."""
        if self._loader is not None:
            self._loader.join(min(_LOADING_SECONDS, max(0.0, self._ends - time.monotonic())))
        seconds = min(self._within, self._ends - time.monotonic())
        if seconds <= 0:
            raise ProviderError("no time was left to ask the language model", "ask again, or without it")
        return seconds

    def _may_send(self, name: str) -> bool:
        """Whether memories of the space `name` of a bundle may be sent to the model."""
        workspace = self._workspace
        if name == TALK or (workspace.is_space_named and name == workspace.space):
            return True
        home = workspace.elsewhere if name.startswith(ELSEWHERE) else workspace
        return home is not None and not home.store.policy(name.removeprefix(ELSEWHERE)).is_private

    def _rejected(self, topic: str, candidates: Sequence[Section]) -> list[Section]:
        """The candidates that are not relevant, which are also recorded. Raises ProviderError, RefusedError, UsageError."""
        if topic == NOT_REPEATED:
            raise RefusedError("the topic contains instructions and is not sent")
        described = []
        for section in candidates:
            memory = section.memory
            text = section.passage or memory.summary_short or memory.raw
            described.append({"path": memory.path, "kind": memory.kind, "date": memory.created_at[:10], "text": text})
        prompt = describe.make_verify(topic, described)
        relevant, is_stored = consult(
            self._workspace, prompt, partial(describe.read_verdict, len(candidates)), within=self._left, keep=VERDICT
        )
        rejected = [section for n, section in enumerate(candidates, 1) if n not in relevant]
        # A stored verdict was recorded when it was given: recorded again, it would lower the confidence each time.
        if is_stored:
            return rejected
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
        return rejected


def _within_limit(wide: Bundle, query: Query, sections: Sequence[Section]) -> Bundle:
    """The bundle with these sections, cut to the limit of the query."""
    return replace(wide, query=replace(wide.query, limit=query.limit), sections=tuple(sections)[: query.limit])
