"""One call of a hook: what is injected, refused or verified, and what is noted for later."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from memcli.app.recall import Verify
from memcli.app.topic import NOT_REPEATED, one_line
from memcli.app.usage import note_bundle
from memcli.app.workspace import Workspace
from memcli.conversation.topic import LastTopic, next_topic, trace
from memcli.errors import MemcliError, UsageError
from memcli.extras.agents.events import (
    AFTER_COMPACTION,
    BEFORE_TOOL,
    BEFORE_TOOL_OF_GEMINI,
    DEFERRED_START,
    EVENTS,
    NATIVE,
    PROMPT,
    SESSION_END,
    SESSION_START,
    STOP,
    SUBAGENT_START,
    can_refuse,
)
from memcli.extras.agents.inject import (
    DEADLINE_SECONDS,
    FILE_BACKEND,
    fitted,
    for_files,
    for_names,
    for_prompt,
    for_start,
    stamps,
)
from memcli.extras.agents.payload import MOST_PIPED, Payload, edits_of
from memcli.extras.agents.records import MAX_TEXT, SessionRecord, Spool, Topics, begin_session, session_record
from memcli.model.anchors import FileEdit
from memcli.model.memory import Json
from memcli.model.recall import Bundle
from memcli.model.shapes import DENY
from memcli.model.tokens import count_tokens
from memcli.model.usage import INJECT, INJECTION
from memcli.record import Record, field, replace
from memcli.render.as_text import in_order
from memcli.render.as_text import render_injection as render
from memcli.store.layout import Layout, find_work_tree
from memcli.store.notes import Mark
from memcli.store.state import State
from memcli.wiring import extra

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.app.guard import GuardFinding
    from memcli.ports import Renderer


MOST_VERIFIED = 50
_PAUSE_SECONDS = 60
"""After a failure no prompt has to wait for another one so long."""
_WITHIN_SECONDS = 10.0
"""How long a model may take where no agent waits."""


class PromptCheck:
    """Has a language model verify what a prompt is shown, until `ends` by the monotonic clock. `verify` is None when that is
    switched off, no model is configured, or the model has failed within the last minute."""

    def __init__(self, workspace: Workspace, ends: float = math.inf) -> None:
        self._mark = Mark(State(Layout(workspace.root)), "unverified")
        self._now = workspace.clock()
        self.verify: Verify | None = None
        self._problem = ""
        asked = workspace.hook_verify
        is_number = asked.isascii() and asked.isdigit() and len(asked) <= len(str(MOST_VERIFIED))
        most = int(asked) if is_number else -1
        if not asked or most == 0:
            return
        if not 0 <= most <= MOST_VERIFIED:
            self._problem = f"hook_verify must be a number from 0 to {MOST_VERIFIED}, not {asked[:40]!a}"
            return
        from memcli.model.conversation import model_name

        try:
            model_name(workspace.model)
        except UsageError as error:
            self._problem = error.message
            return
        if self._mark.is_younger(_PAUSE_SECONDS, self._now):
            self._problem = "the model failed less than a minute ago"
        else:
            self.verify = extra("advice.relevance").Verifier(workspace, most, _WITHIN_SECONDS, ends)

    def facts(self, bundle: Bundle) -> dict[str, Json]:
        """What the log says of it. A failure is remembered, unless it is that of the prompt."""
        verdict = bundle.verdict
        if verdict is None:
            return {"verified": self._problem} if self._problem else {}
        if verdict.failure and bundle.query.topic != NOT_REPEATED:
            self._mark.set(self._now)
        return {"verified": verdict.failure or f"{verdict.rejected} of {verdict.candidates} rejected"}


_MOST_REASONS = 5


def reason_to_refuse(workspace: Workspace, edits: Sequence[FileEdit]) -> str:
    """A line for each enforced memory that forbids the change, with its id; empty if none does, or if the policy does not ask
    for it. Raises what guard raises."""
    if workspace.in_force(workspace.store.policy(workspace.main)).agents.get("enforce") != DENY:
        return ""
    from memcli.app.guard import guard

    found: dict[str, GuardFinding] = {}
    for finding in guard(workspace, edits).findings:
        if finding.is_enforced:
            found.setdefault(finding.memory.id, finding)
    if not found:
        return ""
    lines = []
    for finding in list(found.values())[:_MOST_REASONS]:
        where = f"{finding.file}: " if finding.file else ""
        lines.append(f"- {where}[{finding.memory.id}] {finding.text} (trigger: {finding.trigger})")
    return "\n".join(["Refused by an enforced memory of this project:", *lines, "`memcli get ID` shows its reason."])


_NOT_TRUSTED = (
    "This project has a memcli memory that came with a clone and has not been accepted on this machine, so none of it is "
    "shown. `memcli trust --status` shows what is in it; `memcli trust`, run by the user, accepts it."
)
_CLEAR = "clear"
_RESET = ("compact", _CLEAR)
_COMPACTED = f"{SESSION_START} compact"


class HookOutcome(Record):
    """What comes of a call: `text` is injected, or with `is_refusal` it is why the tool call is refused; `facts` are logged.
    With `is_next_due`, the memories for the next prompt must be prepared in the background."""

    text: str = ""
    facts: dict[str, Json] = field(default_factory=dict)
    is_next_due: bool = False
    is_refusal: bool = False


def backend_of(event: str) -> str | None:
    """The backend that an event needs; None for that of the store."""
    return FILE_BACKEND if event == BEFORE_TOOL else None


def problem_of(event: str, agent: str) -> str:
    """What is unknown about a call; empty if nothing is."""
    if agent not in NATIVE:
        return f"unknown agent {agent[:40]!a}"
    return "" if event in EVENTS else f"unknown event {event[:40]!a}"


def handle(
    workspace: Workspace,
    agent: str,
    event: str,
    payload: Payload,
    *,
    began: float | None = None,
    next_turn: bool = False,
    ends: float = math.inf,
) -> HookOutcome:
    """Handles a call. An agent has been waiting since `began` and waits until `ends`, by the monotonic clock; with `began`
    None, nobody waits. With `next_turn`, a prompt is shown what was prepared for it, and nothing is searched.
    Raises MemcliError, OSError."""
    call = _Call(workspace, agent, event, payload)
    # What an agent reports is stored even while nobody has accepted the store: nothing of the store is shown for it.
    if event in (AFTER_COMPACTION, STOP, SESSION_END):
        return call.spool()
    if not workspace.trust.is_accepted:
        return call.inject_notice()
    if event == PROMPT and next_turn:
        return call.with_start(call.inject_prepared())
    if event == PROMPT:
        # What is left to do takes about as long as what was done: where that was slow, words alone must do.
        left = None if began is None else max(0.0, DEADLINE_SECONDS - 2 * (time.monotonic() - began))
        return call.with_start(call.inject_for_prompt(left, ends))
    return call.with_start(call.inject_for_tool()) if event == BEFORE_TOOL else call.inject_at_start()


def prepare(workspace: Workspace, agent: str, payload: Payload) -> None:
    """Finds and stores the memories that the prompt after that of `payload` will be shown. Raises MemcliError, OSError."""
    if workspace.trust.is_accepted:
        _Call(workspace, agent, PROMPT, payload).prepare()


class _Call:
    """A call, with the record of its session."""

    def __init__(self, workspace: Workspace, agent: str, event: str, payload: Payload) -> None:
        self._workspace, self._agent, self._event, self._payload = workspace, agent, event, payload
        self._layout = Layout(workspace.root)
        self._state = State(self._layout, workspace.warn)
        # Without an id, the sessions of an agent are told apart by their start alone.
        self._session = payload.session or f"{agent} {payload.cwd}"
        self._now = workspace.clock()
        self._topics = Topics(self._state, self._now)

    def inject_notice(self) -> HookOutcome:
        if self._event not in (SESSION_START, PROMPT):
            return HookOutcome(facts={"outcome": "not trusted"})
        with session_record(self._state, self._session) as record:
            self._begin(record)
            if not record.is_unseen("", _NOT_TRUSTED):
                return HookOutcome(facts={"outcome": "not trusted"})
            record.note({"": _NOT_TRUSTED})
        return HookOutcome(_NOT_TRUSTED, {"outcome": "not trusted", "tokens": count_tokens(_NOT_TRUSTED)})

    def inject_at_start(self) -> HookOutcome:
        source = self._payload.source if self._event == SESSION_START else SUBAGENT_START
        with session_record(self._state, self._session) as record:
            if not record.claim(f"{self._event} {source}", self._now):
                return _DUPLICATE
            if source in _RESET or not self._payload.session:
                record.shown.clear()
            self._topics.forget(self._session if source == _CLEAR else "")
            self._begin(record)
            since = record.since if self._event == SESSION_START else None
            record.is_start_due = self._agent in DEFERRED_START
            if record.is_start_due:
                return HookOutcome(facts={"outcome": "deferred"})
        return self._inject(for_start(self._workspace, since))

    def with_start(self, outcome: HookOutcome) -> HookOutcome:
        """The outcome, below what is shown at the start of a session where the agent did not take it then."""
        if self._agent not in DEFERRED_START:
            return outcome
        with session_record(self._state, self._session) as record:
            is_due, record.is_start_due = record.is_start_due, False
        if not is_due:
            return outcome

        def above(bundle: Bundle) -> str:
            return "\n\n".join(filter(None, (render(bundle), outcome.text)))

        with suppress(UsageError):  # there is no room for both
            start = self._inject(for_start(self._workspace, record.since), renderer=above)
            outcome = replace(outcome, text=start.text or outcome.text, facts={**outcome.facts, "start": start.facts})
        return outcome

    def inject_for_prompt(self, deadline: float | None, ends: float) -> HookOutcome:
        prompt = self._payload.prompt
        if not prompt or not self._payload.is_of_a_person:
            return HookOutcome(facts={"outcome": "no prompt of a person"})
        with session_record(self._state, self._session) as record:
            if not record.claim(f"{PROMPT} {prompt}", self._now):
                return _DUPLICATE
        check = PromptCheck(self._workspace, ends)
        bundle = for_prompt(self._workspace, prompt, deadline, check.verify)
        facts = check.facts(bundle)
        if not bundle.query.topic:
            return HookOutcome(facts={"outcome": "asks for nothing"})
        topic = self._topic_of(bundle.query.topic)
        with session_record(self._state, self._session) as record:
            if topic and self._changes_topic(prompt, topic):
                record.shown.clear()
                facts["topic"] = "changed"
        return self._inject(bundle, facts)

    def inject_prepared(self) -> HookOutcome:
        """Injects what was prepared for the prompt before, unless the topic has changed since."""
        prompt = self._payload.prompt
        if not prompt or not self._payload.is_of_a_person:
            return HookOutcome(facts={"outcome": "no prompt of a person"})
        topic = self._topic_of(one_line(prompt, self._redactor()))
        with session_record(self._state, self._session) as record:
            if not record.claim(f"{PROMPT} {prompt}", self._now):
                return _DUPLICATE
            prepared = record.turn(prompt[:MOST_PIPED])
            has_changed = topic is not None and self._changes_topic(prompt, topic)
            if has_changed:
                record.shown.clear()
        facts: dict[str, Json] = {"topic": "changed"} if has_changed else {}
        if has_changed or not prepared:
            return HookOutcome(facts={"outcome": "nothing prepared", **facts}, is_next_due=True)
        return replace(self._inject(for_names(self._workspace, prepared), facts), is_next_due=True)

    def prepare(self) -> None:
        check = PromptCheck(self._workspace)
        bundle = for_prompt(self._workspace, self._payload.prompt, None, check.verify)
        check.facts(bundle)
        with session_record(self._state, self._session) as record:
            record.prepare(self._payload.prompt, list(stamps(bundle)))

    def inject_for_tool(self) -> HookOutcome:
        base = find_work_tree(os.getcwd(), os.path.expanduser("~")) or self._layout.work_tree
        edits = edits_of(self._payload, base)
        if not edits:
            return HookOutcome(facts={"outcome": "no file"})
        may_refuse = can_refuse(self._agent, self._payload.native) and self._payload.may_change
        if may_refuse and (reason := reason_to_refuse(self._workspace, edits)):
            return HookOutcome(reason, is_refusal=True, facts={"outcome": "refused", "tokens": count_tokens(reason)})
        if self._payload.native == BEFORE_TOOL_OF_GEMINI:
            return HookOutcome(facts={"outcome": "not refused"})
        return self._inject(for_files(self._workspace, edits))

    def spool(self) -> HookOutcome:
        payload = self._payload
        text = ""
        if payload.text:
            from memcli.safety.recalled import without_recalled

            text = self._redactor()(without_recalled(payload.text)[: 4 * MAX_TEXT])[:MAX_TEXT]
        with session_record(self._state, self._session) as record:
            # What brings no text only points to the transcript: reported twice, it is stored once all the same.
            if (text or self._event == AFTER_COMPACTION) and not record.claim(f"{self._event} {text}", self._now):
                return _DUPLICATE
            # After a compaction, agents that report its end may have begun the session anew before.
            if self._event == AFTER_COMPACTION and not record.was_claimed(_COMPACTED, self._now):
                record.shown.clear()
        transcript = payload.transcript or extra("transcripts.discovery").transcript_of(  # which some do not report
            self._agent, payload.session, os.path.expanduser("~"), os.environ
        )
        entry = {
            "at": self._now, "agent": self._agent, "event": self._event, "session": payload.session,
            "cwd": payload.cwd, "transcript": transcript, "text": text,
        }  # fmt: skip
        Spool(self._state).add(entry)
        return HookOutcome(facts={"outcome": "spooled"})

    def _begin(self, record: SessionRecord) -> None:
        if self._event == SESSION_START:
            begin_session(self._state, record, self._now)

    def _topic_of(self, asked: str) -> LastTopic | None:
        """The topic of the prompt as recall was asked it, without secrets; None for one that is not to be remembered."""
        if asked == NOT_REPEATED:
            return None
        model, vector = self._workspace.index.question(asked) or ("", b"")
        try:
            return LastTopic(trace(asked, self._topics.sign), model, vector)
        except MemcliError:  # there is no key to hash words with, for which an agent need not go without memories
            return None

    def _changes_topic(self, prompt: str, own: LastTopic) -> bool:
        """Whether a prompt of this topic changes that of the session, whose last topic it then is."""
        topic, has_changed = next_topic(self._topics.of(self._session), prompt, own, self._topics.sign)
        self._topics.keep(self._session, topic)
        return has_changed

    def _inject(self, bundle: Bundle, facts: Mapping[str, Json] = {}, renderer: Renderer = render) -> HookOutcome:
        """Injects what of the bundle the session was not shown yet; `facts` go into the log too. Raises UsageError if what
        `renderer` adds leaves no room."""
        facts = {**facts, "degraded": True} if bundle.degraded else dict(facts)
        if not bundle.sections:
            return HookOutcome(facts={"outcome": "nothing relevant", **facts})
        with session_record(self._state, self._session) as record:
            chosen = fitted(bundle, renderer, record.is_unseen)
            record.note(stamps(chosen))
        if not chosen.sections:
            return HookOutcome(facts={"outcome": "shown before", **facts})
        text = renderer(chosen)
        note_bundle(self._workspace, replace(chosen, sections=tuple(in_order(chosen))), INJECT)
        self._workspace.counters.count(INJECTION, self._workspace.space, self._event)
        told = {"outcome": "injected", "memories": len(chosen.sections), "tokens": count_tokens(text)}
        return HookOutcome(text, {**told, **facts})

    def _redactor(self) -> Callable[[str], str]:
        workspace = self._workspace
        return workspace.redactor.cleaner(workspace.in_force(workspace.store.policy(workspace.main)))


_DUPLICATE = HookOutcome(facts={"outcome": "duplicate"})
