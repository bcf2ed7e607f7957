"""Handle one call of a hook: inject memories, refuse a tool call, or store what the agent reports."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from memcli.app.recall import Verify, one_line
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
    refuse,
)
from memcli.extras.agents.inject import (
    DEADLINE_SECONDS,
    fitted,
    for_files,
    for_names,
    for_prompt,
    for_start,
    stamps,
)
from memcli.extras.agents.payload import MOST_PIPED, Payload, edits_of
from memcli.extras.agents.records import MAX_TEXT, Topics, add_report, begin_session, session_record
from memcli.model.anchors import FileEdit
from memcli.model.memory import Json
from memcli.model.recall import NOT_REPEATED, Bundle
from memcli.model.shapes import DENY
from memcli.model.tokens import count_tokens
from memcli.model.usage import INJECT, INJECTION
from memcli.record import Record, field, replace
from memcli.render.as_text import in_order
from memcli.render.as_text import render_injection as render
from memcli.store.layout import Layout, find_work_tree
from memcli.store.notes import is_recent, set_mark
from memcli.store.state import State
from memcli.wiring import extra

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.app.guard import GuardFinding
    from memcli.ports import Renderer


MOST_VERIFIED = 50
_UNVERIFIED = "unverified"
# Without a pause every prompt would wait for a model that is down.
_PAUSE_SECONDS = 60
_WITHIN_SECONDS = 10.0
"""How long the model may take where no agent waits."""


def verified_bundle(
    workspace: Workspace, prompt: str, deadline: float | None, ends: float = math.inf
) -> tuple[Bundle, dict[str, Json]]:
    """The memories for a prompt, verified by a language model if `hook_verify` is set, and the fields of the log about that.
    The model has until `ends` of the monotonic clock. Raises what recall raises."""
    state, now = State(Layout(workspace.root)), workspace.clock()
    verify, problem = find_verifier(workspace, state, now, ends)
    bundle = for_prompt(workspace, prompt, deadline, verify)
    verdict = bundle.verdict
    if verdict is None:
        return bundle, {"verified": problem} if problem else {}
    # A query that contains instructions fails by itself: the model can still verify other prompts.
    if verdict.failure and bundle.query.topic != NOT_REPEATED:
        set_mark(state, _UNVERIFIED, now)
    return bundle, {"verified": verdict.failure or f"{verdict.rejected} of {verdict.candidates} rejected"}


def find_verifier(workspace: Workspace, state: State, now: str, ends: float = math.inf) -> tuple[Verify | None, str]:
    """A function by which a language model verifies memories until `ends`; None with the problem if the settings are wrong or
    the model failed within the last minute, as `state` records, and None without a problem if it is switched off."""
    setting = workspace.hook_verify
    is_number = setting.isascii() and setting.isdigit() and len(setting) <= len(str(MOST_VERIFIED))
    most = int(setting) if is_number else -1
    if not setting or most == 0:
        return None, ""
    if not 0 <= most <= MOST_VERIFIED:
        return None, f"hook_verify must be a number from 0 to {MOST_VERIFIED}, not {setting[:40]!a}"
    from memcli.model.conversation import model_name

    try:
        model_name(workspace.model)
    except UsageError as error:
        return None, error.message
    if is_recent(state, _UNVERIFIED, _PAUSE_SECONDS, now):
        return None, "the model failed less than a minute ago"
    return extra("advice.relevance").Verifier(workspace, most, _WITHIN_SECONDS, ends), ""


_MOST_REASONS = 5


def reason_to_refuse(workspace: Workspace, edits: Sequence[FileEdit]) -> str:
    """The text that refuses a change: a line with the id of each enforced memory that forbids it. Empty if none does, or if
    the policy does not enforce memories for agents. Raises what guard raises."""
    if not _denies(workspace):
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


def _denies(workspace: Workspace) -> bool:
    return workspace.in_force(workspace.store.policy(workspace.main)).agents.get("enforce") == DENY


_NOT_TRUSTED = (
    "This project has a memcli memory that came with a clone and has not been accepted on this machine, so none of it is "
    "shown. `memcli trust --status` shows what is in it; `memcli trust`, run by the user, accepts it."
)
_CLEAR = "clear"
_RESET = ("compact", _CLEAR)
_COMPACTED = f"{SESSION_START} compact"


class HookOutcome(Record):
    """The outcome of a call: `text` is injected, or with `is_refusal` it is the reason to refuse the tool call; `facts` are
    logged. With `is_next_due`, the memories for the next prompt must be prepared in the background."""

    text: str = ""
    facts: dict[str, Json] = field(default_factory=dict)
    is_next_due: bool = False
    is_refusal: bool = False


def problem_of(event: str, agent: str) -> str:
    """The problem of a call with an unknown agent or event; empty if both are known."""
    if agent not in NATIVE:
        return f"unknown agent {agent[:40]!a}"
    return "" if event in EVENTS else f"unknown event {event[:40]!a}"


def handle(
    workspace: Workspace,
    agent: str,
    event: str,
    payload: Payload,
    problem: str = "",
    *,
    began: float | None = None,
    next_turn: bool = False,
    ends: float = math.inf,
) -> HookOutcome:
    """Handles a call. An agent waits from `began` until `ends`, by the monotonic clock; with `began` None, no agent waits.
    With `next_turn`, a prompt gets the memories that were prepared for it, without a search. `problem` is why the call cannot be
    read. Raises MemcliError, OSError."""
    if problem:
        return _unread(workspace, agent, event, payload, problem)
    call = _Call(workspace, agent, event, payload)
    # Reports are stored also in a store that is not accepted, since handling them shows nothing of the store.
    if event in (AFTER_COMPACTION, STOP, SESSION_END):
        return call.spool()
    if not workspace.trust.is_accepted:
        return call.inject_notice()
    if event == PROMPT and next_turn:
        return call.with_start(call.inject_prepared())
    if event == PROMPT:
        # The rest of the work takes about as long as the start did: after a slow start, the search must do without vectors.
        left = None if began is None else max(0.0, DEADLINE_SECONDS - 2 * (time.monotonic() - began))
        return call.with_start(call.inject_for_prompt(left, ends))
    return call.with_start(call.inject_for_tool()) if event == BEFORE_TOOL else call.inject_at_start()


def _unread(workspace: Workspace, agent: str, event: str, payload: Payload, problem: str) -> HookOutcome:
    """The outcome of a call that cannot be read. A tool call is refused under a policy that denies what enforced memories forbid;
    else the agent learns that nothing was checked."""
    is_refusal = event == BEFORE_TOOL and _denies(workspace) and bool(refuse(agent, payload.native, "-"))
    facts: dict[str, Json] = {"outcome": "refused" if is_refusal else "ignored", "error": problem}
    is_silent = event != BEFORE_TOOL or not workspace.trust.is_accepted or payload.native == BEFORE_TOOL_OF_GEMINI
    if is_silent and not is_refusal:
        return HookOutcome(facts=facts)
    text = f"memcli could not check this tool call against the memories of this project: {problem}. Make a smaller one."
    return HookOutcome(text, facts, is_refusal=is_refusal)


def prepare(workspace: Workspace, agent: str, payload: Payload) -> None:
    """Finds and stores the memories for the prompt after that of `payload`. Raises MemcliError, OSError."""
    if workspace.trust.is_accepted:
        _Call(workspace, agent, PROMPT, payload).prepare()


class _Call:
    """One call of a hook, and the state of its session."""

    def __init__(self, workspace: Workspace, agent: str, event: str, payload: Payload) -> None:
        self._workspace, self._agent, self._event, self._payload = workspace, agent, event, payload
        self._layout = Layout(workspace.root)
        self._state = State(self._layout, workspace.warn)
        # An agent that reports no id has one record for each folder, which every session start clears.
        self._session = payload.session or f"{agent} {payload.cwd}"
        self._now = workspace.clock()
        self._topics = Topics(self._state, self._now)

    def inject_notice(self) -> HookOutcome:
        """Injects, once a session, the notice that the store is not accepted."""
        if self._event not in (SESSION_START, PROMPT):
            return HookOutcome(facts={"outcome": "not trusted"})
        with session_record(self._state, self._session) as record:
            if self._event == SESSION_START:
                begin_session(self._state, record, self._now)
            if not record.is_unseen("", _NOT_TRUSTED):
                return HookOutcome(facts={"outcome": "not trusted"})
            record.note({"": _NOT_TRUSTED})
        return HookOutcome(_NOT_TRUSTED, {"outcome": "not trusted", "tokens": count_tokens(_NOT_TRUSTED)})

    def inject_at_start(self) -> HookOutcome:
        """Injects the memories for the start of a session or a subagent, or defers them to the next event."""
        source = self._payload.source if self._event == SESSION_START else SUBAGENT_START
        with session_record(self._state, self._session) as record:
            if not record.claim(f"{self._event} {source}", self._now):
                return _DUPLICATE
            # After a compaction or `/clear` the model no longer has what the session was shown.
            if source in _RESET or not self._payload.session:
                record.shown.clear()
            self._topics.forget(self._session if source == _CLEAR else "")
            if self._event == SESSION_START:
                begin_session(self._state, record, self._now)
            since = record.since if self._event == SESSION_START else None
            record.is_start_due = self._agent in DEFERRED_START
            if record.is_start_due:
                return HookOutcome(facts={"outcome": "deferred"})
        return self._inject(for_start(self._workspace, since))

    def with_start(self, outcome: HookOutcome) -> HookOutcome:
        """The outcome, below the memories for the start of the session if the agent could not take them then."""
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
        """Injects the memories for a prompt; those shown before again if the topic of the session has changed."""
        prompt = self._payload.prompt
        if not prompt or not self._payload.is_human:
            return HookOutcome(facts={"outcome": "no prompt of a person"})
        with session_record(self._state, self._session) as record:
            if not record.claim(f"{PROMPT} {prompt}", self._now):
                return _DUPLICATE
        bundle, facts = verified_bundle(self._workspace, prompt, deadline, ends)
        if not bundle.query.topic:
            return HookOutcome(facts={"outcome": "asks for nothing"})
        topic = self._topic_of(bundle.query.topic)
        with session_record(self._state, self._session) as record:
            if bundle.degraded and not bundle.sections:
                record.release(f"{PROMPT} {prompt}")  # asked again, it may be answered by vectors
            if topic and self._changes_topic(prompt, topic):
                record.shown.clear()
                facts["topic"] = "changed"
        return self._inject(bundle, facts)

    def inject_prepared(self) -> HookOutcome:
        """Injects the memories that were prepared after the last prompt, unless the topic has changed since."""
        prompt = self._payload.prompt
        if not prompt or not self._payload.is_human:
            return HookOutcome(facts={"outcome": "no prompt of a person"})
        topic = self._topic_of(one_line(prompt, self._redactor()))
        with session_record(self._state, self._session) as record:
            if not record.claim(f"{PROMPT} {prompt}", self._now):
                return _DUPLICATE
            # Cut as it is piped to the process that prepares: the two are compared by their digests.
            prepared = record.turn(prompt[:MOST_PIPED])
            has_changed = topic is not None and self._changes_topic(prompt, topic)
            if has_changed:
                record.shown.clear()
        facts: dict[str, Json] = {"topic": "changed"} if has_changed else {}
        if has_changed or not prepared:
            return HookOutcome(facts={"outcome": "nothing prepared", **facts}, is_next_due=True)
        return replace(self._inject(for_names(self._workspace, prepared), facts), is_next_due=True)

    def prepare(self) -> None:
        """Stores the names of the memories for the prompt after this one."""
        bundle, _ = verified_bundle(self._workspace, self._payload.prompt, None)
        with session_record(self._state, self._session) as record:
            record.prepare(self._payload.prompt, list(stamps(bundle)))

    def inject_for_tool(self) -> HookOutcome:
        """Refuses a change that an enforced memory forbids; else injects the memories for the files."""
        base = find_work_tree(os.getcwd(), os.path.expanduser("~")) or self._layout.work_tree
        try:
            edits = edits_of(self._payload, base)
        except UsageError as error:
            return _unread(self._workspace, self._agent, self._event, self._payload, error.message)
        if not edits:
            return HookOutcome(facts={"outcome": "no file"})
        # Asked first, since the check of the triggers is of no use to an agent that takes no refusal.
        may_refuse = bool(refuse(self._agent, self._payload.native, "-")) and self._payload.may_change
        if may_refuse and (reason := reason_to_refuse(self._workspace, edits)):
            return HookOutcome(reason, is_refusal=True, facts={"outcome": "refused", "tokens": count_tokens(reason)})
        if self._payload.native == BEFORE_TOOL_OF_GEMINI:
            return HookOutcome(facts={"outcome": "not refused"})
        return self._inject(for_files(self._workspace, edits))

    def spool(self) -> HookOutcome:
        """Stores the report of the agent for a later import of the session."""
        payload = self._payload
        text = ""
        if payload.text:
            from memcli.safety.recalled import without_recalled

            # Redacted before the last cut: half a secret is not recognised.
            text = self._redactor()(without_recalled(payload.text)[: 4 * MAX_TEXT])[:MAX_TEXT]
        with session_record(self._state, self._session) as record:
            # A report without a text only names the transcript, whose import skips stored messages: no need to claim it.
            if (text or self._event == AFTER_COMPACTION) and not record.claim(f"{self._event} {text}", self._now):
                return _DUPLICATE
            # Agents may report a session start with source `compact` first: it has cleared this, and more was shown since.
            if self._event == AFTER_COMPACTION and not record.was_claimed(_COMPACTED, self._now):
                record.shown.clear()
        # Some agents do not report their transcripts.
        transcript = payload.transcript or extra("transcripts.discovery").transcript_of(
            self._agent, payload.session, os.path.expanduser("~"), os.environ
        )
        entry = {
            "at": self._now, "agent": self._agent, "event": self._event, "session": payload.session,
            "cwd": payload.cwd, "transcript": transcript, "text": text,
        }  # fmt: skip
        add_report(self._state, entry)
        return HookOutcome(facts={"outcome": "spooled"})

    def _topic_of(self, query: str) -> LastTopic | None:
        """The topic of a prompt by its query, which has no secrets; None for a query that must not be stored."""
        if query == NOT_REPEATED:
            return None
        model, vector = self._workspace.index.question(query) or ("", b"")
        try:
            return LastTopic(trace(query, self._topics.sign), model, vector)
        except MemcliError:  # no key to hash words with: memories are shown all the same
            return None

    def _changes_topic(self, prompt: str, own: LastTopic) -> bool:
        """Whether a prompt with the topic `own` changes the topic of the session; stores it as the last topic."""
        topic, has_changed = next_topic(self._topics.of(self._session), prompt, own, self._topics.sign)
        self._topics.keep(self._session, topic)
        return has_changed

    def _inject(self, bundle: Bundle, facts: Mapping[str, Json] = {}, renderer: Renderer = render) -> HookOutcome:
        """Injects the memories of the bundle that the session was not shown yet; `facts` go into the log too. Raises
        UsageError if the text that `renderer` adds leaves no room for them."""
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
        injected = {"outcome": "injected", "memories": len(chosen.sections), "tokens": count_tokens(text)}
        return HookOutcome(text, {**injected, **facts})

    def _redactor(self) -> Callable[[str], str]:
        workspace = self._workspace
        return workspace.redactor.cleaner(workspace.in_force(workspace.store.policy(workspace.main)))


_DUPLICATE = HookOutcome(facts={"outcome": "duplicate"})
