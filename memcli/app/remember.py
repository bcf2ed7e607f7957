"""Remember: stores memories in a space: checks and describes them, then, under the lock, adds or updates memories."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from memcli.app.candidate import Candidate, Describe, is_read, set_apart
from memcli.app.repo import refer_to_copies
from memcli.app.upsert import Follow, Upserter
from memcli.app.workspace import Workspace
from memcli.codec.canonical import encode
from memcli.codec.memory import checked_fields
from memcli.errors import UsageError
from memcli.model.findings import CONTRADICTS, DUPLICATES, RELATED, Found, Resolution
from memcli.model.links import elsewhere, is_found
from memcli.model.memory import Json
from memcli.model.names import check_tag, text_hash
from memcli.model.shapes import LLM
from memcli.model.space import Change
from memcli.model.usage import COMPACTION
from memcli.policy.retention import Place
from memcli.record import Record, field, replace
from memcli.safety.recalled import own_words
from memcli.safety.screening import without_marks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.ports import Shelf

CHECK, DROP, KEEP = "check", "drop", "keep"
"""The treatment of links to memories that do not exist: an error, dropped, or stored (for a proposal)."""

HINTS = ("path_hint", "project")
"""Fields of a memory to be stored that are only hints for its path, and are not stored."""


class Outcome(Record):
    """The result for one candidate. `status` is `created`, `updated`, `deduplicated` or `proposed`; or `retired`, for a memory
    at a replaced place that no candidate has.

    `untrusted` has the reasons why recall will withhold it; `found` the memories that it contradicts or repeats, and related
    ones, None where it was not checked.
    """

    status: str
    id: str
    path: str
    space: str
    version: int
    redactions: Mapping[str, int] = field(default_factory=dict)
    untrusted: Sequence[str] = ()
    found: Sequence[Found] | None = None

    def findings(self, kind: str) -> list[Found]:
        """The findings of one kind."""
        return [one for one in self.found or () if one.kind == kind]

    def to_json(self) -> dict[str, Json]:
        names = ["status", "id", "path", "space", "version", "redactions", *(["untrusted"] if self.untrusted else [])]
        data = {name: getattr(self, name) for name in names}
        kinds = (CONTRADICTS, DUPLICATES, RELATED) if self.found is not None else ()
        return {**data, **{kind: [one.to_json(self.space) for one in self.findings(kind)] for kind in kinds}}


class Stored(Record):
    """The result of one write: an outcome for each candidate, in order, then one for each retired memory.

    `compacted` is the number of memories that were deleted to keep the space within its `max_objects`. With `needs_review`
    nothing was stored, because the policy of the space demands a review.
    """

    outcomes: Sequence[Outcome] = ()
    compacted: int = 0
    needs_review: bool = False


def remember(
    workspace: Workspace,
    candidates: Sequence[Candidate],
    supersedes: str | None = None,
    *,
    may_wait: bool = False,
    places: Sequence[Place] = (),
    retained: Collection[str] = (),
    links: str = CHECK,
    apart: bool = False,
    resolution: Resolution | None = None,
    asks: bool = True,
) -> Stored:
    """Stores the candidates in one write.

    The last candidate replaces the memory that `supersedes` names. Memories at `places` are deactivated, except candidates and
    `retained` ids. `links` is CHECK, DROP or KEEP; with `apart`, a candidate with the path of another text gets a path of its
    own (in the inbox). With `may_wait`, nothing is stored if the policy of the space demands a review (see `app/inbox.py`).
    `resolution` has the findings for the candidates and how to resolve them. Where the space is full and its policy says so, a
    language model chooses before the write which memories to delete, unless `asks` is False or the candidates were read from
    files.

    Raises NotFoundError, UsageError, RefusedError, LockedError, CorruptError, StoreError; then nothing was stored.
    """
    if not candidates and not places:
        return Stored()
    if links != KEEP:
        candidates = _abroad(workspace, candidates, drop=links == DROP)
    # Not for a proposal: copying memories into `main` would change it before the review.
    if not (may_wait and workspace.store.policy(workspace.space).review):
        candidates, supersedes = refer_to_copies(workspace, candidates, supersedes)
    basic = request_of(workspace, candidates, supersedes)
    request = {**basic, "may_wait": may_wait, "places": list(places), "links": links, "apart": apart}
    if retained:
        request["told"] = sorted(retained)  # so in the requests that other versions on the same store read
    if resolution is not None:
        request["checks"] = resolution.wanted(workspace.space)
        request["merges"] = resolution.targets(workspace.space)
    if asks and not places and not any(is_read(candidate.given) for candidate in candidates):
        policy = workspace.in_force(workspace.store.policy(workspace.space))
        if policy.compaction == LLM and policy.max_objects is not None and not policy.is_derived:

            def plan(shelf: Shelf) -> Change:
                return fold(shelf, request, may_compact=False, describe=workspace.describe)[0]

            # Before the write, since a slow model must not hold the lock; `fold` follows what is still possible then.
            advice = workspace.advice("consult").ask(workspace, len(candidates), plan)
            request = {**request, "advice": advice}
    answer, receipt = workspace.store.submit(workspace.space, request)
    if answer is None:
        return Stored(needs_review=True)
    # Retired memories of a derived space are removed too, which is no compaction.
    removed = {touched.id for touched in receipt.touched if not touched.after}
    if removed - {one["id"] for one in answer}:
        workspace.counters.count(COMPACTION, workspace.space)
    redactions = (candidate.redactions for candidate in candidates)
    outcomes = [Outcome(space=workspace.space, redactions=next(redactions, {}), **one) for one in answer]
    return Stored(with_found(outcomes, resolution), receipt.removed)


def with_found(outcomes: Sequence[Outcome], resolution: Resolution | None) -> Sequence[Outcome]:
    """The outcomes with the findings for their candidates."""
    if resolution is None:
        return outcomes
    plain = [outcome.to_json() for outcome in outcomes]
    return [replace(outcome, found=resolution.found_for(plain, n)) for n, outcome in enumerate(outcomes)]


def _abroad(workspace: Workspace, candidates: Sequence[Candidate], *, drop: bool) -> Sequence[Candidate]:
    """The candidates, in which links to memories of other spaces have their ids; with `drop`, without links that may not be.

    Raises NotFoundError, UsageError, RefusedError.
    """
    if not any(elsewhere(str(link["to"])) for one in candidates for link in one.given.get("links") or ()):
        return candidates
    from memcli.app.homes import resolve_abroad

    own = frozenset(str(one.given.get(name)) for one in candidates for name in ("id", "path"))
    return [
        replace(one, given={**one.given, "links": resolve_abroad(workspace, links, own=own, drop=drop)})
        if (links := one.given.get("links"))
        else one
        for one in candidates
    ]


def request_of(workspace: Workspace, candidates: Sequence[Candidate], supersedes: str | None = None) -> Json:
    """The JSON request that `fold` turns into a change."""
    return {
        "now": workspace.clock(),
        "candidates": [{"given": one.given, "derived": one.derived, "hash": one.hash} for one in candidates],
        "supersedes": supersedes,
        "links": CHECK,
    }


def fold(
    shelf: Shelf,
    request: Json,
    may_compact: bool = True,
    is_in_trash: Callable[[str], bool] = lambda _: False,
    describe: Describe = lambda _: {},
    follow: Follow = lambda *_: (),
) -> tuple[Change, Json]:
    """The change that a request of `remember` makes to a space, and its outcomes: None if it needs a review.

    With `may_compact`, the least valuable memories may be deleted to make room. `is_in_trash` returns whether an id is in
    the trash; `describe` is the semantic layer, and `follow` applies the advice of a model which memories to delete.

    Raises NotFoundError for an unknown reference, UsageError for fields that contradict each other, and RefusedError if
    the space is full and its policy allows no deletion.
    """
    # Whoever holds the lock folds the requests of others with its own: a request says all that this depends on.
    if request.get("may_wait") and shelf.header.policy.review:
        return Change(), None
    upserter = Upserter(shelf, request["now"], is_in_trash, describe, follow)
    candidates = [Candidate(**candidate) for candidate in request["candidates"]]
    last = [candidates.pop()] if request["supersedes"] else []
    place = set_apart if request.get("apart") else lambda candidate, _: candidate
    merges = dict(enumerate(request.get("merges", ())))
    outcomes = []
    for n, candidate in enumerate(candidates):
        target = merges.get(n)
        merged = upserter.merge(target, candidate) if target is not None else None
        outcomes.append(merged or upserter.take(place(candidate, upserter.draft)))
    outcomes += [upserter.supersede(request["supersedes"], candidate) for candidate in last]
    links = request.get("links", CHECK)
    if links != KEEP:
        upserter.resolve_links(drop=links == DROP)
    updated = [o["id"] for o in outcomes if o["status"] == "updated"]
    linked_before = [m for name in updated if (m := upserter.draft.get(name)) and any(is_found(k) for k in m.links)]
    wanted = request.get("checks", ())
    if linked_before or any(wanted):
        from memcli.app.contradictions import linked, settled

        for memory in linked_before:
            for changed in settled(upserter.draft, memory):
                upserter.keep(changed)
        for changed in linked(upserter.draft, outcomes, wanted, request["now"]):
            upserter.keep(changed)
    retained = {known for o in outcomes for known in (o["id"], o["path"])}
    outcomes += upserter.retire(request.get("places", ()), retained.union(request.get("told", ())))
    gone, steps = upserter.make_room(request.get("advice")) if may_compact else (frozenset[str](), ())
    gone |= upserter.dropped
    put = tuple(memory for name, memory in upserter.changed.items() if name not in gone)
    displaced = frozenset(step.merged.id for step in steps if step.merged)
    return Change(
        put, gone, request["now"], displaced=displaced, advised=tuple(step.to_json() for step in steps)
    ), outcomes


def prepare(workspace: Workspace, fields: Mapping[str, Json], describe: Describe | None = None) -> Candidate:
    """A candidate from the fields that a user or a source gave: checked, redacted, and described by `describe`, by default the
    semantic layer of the workspace.

    Raises UsageError naming the invalid field, and as `describe`."""
    if fields.get("anchors"):
        from memcli.app.anchors import anchored

        fields = anchored(workspace, fields)
    given = checked_fields({k: v for k, v in fields.items() if k not in HINTS})
    if "raw" in given:
        # Agents quote what recall has shown them; stored again, it would count as confirmed.
        given["raw"] = own_words(given["raw"])
    if not given.get("raw", "").strip() and "content" not in given:
        raise UsageError(
            "nothing to remember: the text is empty",
            "give a text, use --file FILE or --object JSON, or pipe the text in",
        )
    if given.get("triggers"):
        from memcli.policy.triggers import check_triggers

        check_triggers(given["triggers"])
    project = {"project": workspace.project} if workspace.project else {}
    redacted = workspace.redactor.take_in(workspace.space, {**project, **fields})
    if redacted.kinds:
        given = checked_fields({k: v for k, v in redacted.fields.items() if k not in HINTS})
    if "tags" in given:
        given["tags"] = tuple(dict.fromkeys(check_tag(tag) for tag in given["tags"]))
    hints = {name: redacted.fields[name] for name in HINTS if redacted.fields.get(name)}
    content = encode(given["content"]) if "content" in given else b""
    derived = (describe or workspace.describe)({**hints, **given})
    digest = text_hash(given.get("raw", ""), content)
    metadata = {
        **({"project": hints["project"]} if "project" in hints else {}),
        "space": workspace.space,
        # A caller must not accept its own text by setting the mark in the metadata.
        **without_marks(given.get("metadata", {})),
        "hash": digest,
    }
    return Candidate({**given, "metadata": metadata}, derived, digest, redacted.kinds)
