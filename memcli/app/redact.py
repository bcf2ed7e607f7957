"""Redact: removes secrets from every text before it is stored, and again before it is shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing

from memcli.codec.canonical import encode
from memcli.codec.memory import memory_from_json, memory_to_json
from memcli.errors import UsageError
from memcli.model.memory import Json, Memory
from memcli.model.names import text_hash
from memcli.model.space import Policy, Space
from memcli.record import replace
from memcli.safety.secrets.detector import Detector
from memcli.safety.secrets.redact_memory import Redacted, clean_memories, clean_paths, clean_values, redact_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.app.workspace import Workspace
    from memcli.ports import Store

SUMMARY = ("id", "path", "kind", "summary_micro", "tags", "superseded_by")
"""The fields that a list shows."""
_BLOCK = 50


class Redactor:
    """Takes out what is secret, by the rules and by the policy of a space, which is read once for each version of it.

    `detectors` are those that were made before, by policy. `sign` gives the keyed hash of a secret, under a key that a team
    shares where `has_shared_key`; `in_force` says what of a policy holds here. Unless the store `is_accepted`, the patterns
    of its policies hide, but take nothing out of what is written: they came with a clone, and what they take is gone.
    """

    def __init__(
        self,
        store: Store,
        sign: Callable[[bytes], str],
        in_force: Callable[[Policy], Policy],
        warn: Callable[[str], None],
        detectors: dict[bytes, Detector] | None = None,
        *,
        has_shared_key: bool = False,
        is_accepted: Callable[[], bool] = lambda: True,
    ) -> None:
        self._store = store
        self._sign = sign
        self._in_force = in_force
        self._warn = warn
        self._has_shared_key = has_shared_key
        self._is_accepted = is_accepted
        self._known: dict[str, tuple[str, Detector]] = {}
        self._by_policy = {} if detectors is None else detectors

    def detector(self, space: str) -> Detector:
        """The detector that the policy of the space asks for.

        Raises CorruptError, StoreError, and UsageError if the policy cannot be used.
        """
        with closing(self._store.open(space)) as snapshot:
            known = self._known.get(space)
            if known is None or known[0] != snapshot.fingerprint:
                policy = self._written_under(self._in_force(snapshot.header().policy))
                known = self._known[space] = snapshot.fingerprint, self.by_policy(policy.pii_redaction)
            return known[1]

    def _written_under(self, policy: Policy) -> Policy:
        """What of a policy holds for what is written."""
        fields = {name: value for name, value in policy.pii_redaction.items() if name != "patterns"}
        return policy if self._is_accepted() else replace(policy, pii_redaction=fields)

    def by_policy(self, policy: Mapping[str, Json]) -> Detector:
        """What a policy's field `pii_redaction` asks for, the same for equal policies: a detector costs milliseconds and
        a third of a megabyte, and a store may have thousands of spaces. Raises UsageError when it cannot be used.
        """
        key = encode(dict(policy))
        if key not in self._by_policy:
            made = self._by_policy[key] = Detector(policy, self._sign, has_shared_key=self._has_shared_key)
            for name in made.ignored:
                self._warn(
                    f"the redaction pattern {name!r} would take more than half of an ordinary note; it is ignored"
                )
        return self._by_policy[key]

    def take_in(self, space: str, fields: Mapping[str, Json]) -> Redacted:
        """The fields of a memory on its way in, and what was taken out of them. Raises as `detector` does."""
        return redact_fields(self.detector(space), fields)

    def names(self, space: str, names: Sequence[str]) -> list[str]:
        """The paths or names of files as the memories of them have them. Raises as `detector` does."""
        return clean_paths(self.detector(space), names)

    def show(self, memories: Sequence[Memory], policy: Policy, only: Sequence[str] = ()) -> list[Memory]:
        """The memories as they may be shown under the policy of their space: all fields, or `only` these."""
        detector = self.on_the_way_out(policy)
        shown: list[Memory] = []
        for start in range(0, len(memories), _BLOCK):
            shown += clean_memories(detector, memories[start : start + _BLOCK], only)
        return shown

    def rewrite(self, memories: Sequence[Memory], policy: Policy) -> list[Memory]:
        """The memories as they may be written anew under the policy of their space: what a hand wrote past redaction is
        taken out, and digests are those of what is left."""
        return self._without_secrets(memories, self._written_under(policy))

    def _without_secrets(self, memories: Sequence[Memory], policy: Policy) -> list[Memory]:
        shown = self.show(memories, policy)
        return [one if one is was else _rehashed(one) for one, was in zip(shown, memories, strict=True)]

    def cleaner(self, policy: Policy) -> Callable[[str], str]:
        """What takes out of a text what is secret under a policy."""
        detector = self.on_the_way_out(policy)
        return lambda text: detector.redact(text)[0]

    def clean_space(self, space: Space) -> tuple[Space, int]:
        """The space without what is secret in its memories and its header, and how many of them had something.

        The digests are those of what is left.
        """
        detector = self.on_the_way_out(space.policy)
        objects = self._without_secrets(space.objects, space.policy)
        header = {"metadata": dict(space.metadata), **space.extra}
        clean = clean_values(detector, header)
        extra = {name: value for name, value in clean.items() if name != "metadata"}
        count = sum(m is not was for m, was in zip(objects, space.objects, strict=True)) + (clean != header)
        return replace(space, metadata=clean["metadata"], extra=extra, objects=tuple(objects)), count

    def on_the_way_out(self, policy: Policy) -> Detector:
        """The detector for what is shown under a policy. If the policy is unusable, warns and applies all built-in rules."""
        try:
            return self.by_policy(self._in_force(policy).pii_redaction)
        except UsageError as error:
            self._warn(f"{error.message}; using the built-in redaction rules")
            return self.by_policy({})


def _rehashed(memory: Memory) -> Memory:
    """The memory with the digest of the text that it now has."""
    content = encode(memory.content) if memory.content is not None else b""
    return replace(memory, metadata={**memory.metadata, "hash": text_hash(memory.raw, content)})


def redacted_space(workspace: Workspace, target: str, incoming: Space) -> tuple[Space, Mapping[str, int]]:
    """What came, without what is secret in it, and what that was. A space that is there already decides by its policy."""
    redactor = workspace.redactor
    is_new = target not in workspace.store.spaces()
    detector = redactor.by_policy(incoming.policy.pii_redaction) if is_new else redactor.detector(target)
    header = redact_fields(detector, {"metadata": incoming.metadata})
    kinds = Counter(header.kinds)
    objects = []
    for memory in incoming.objects:
        redacted = redact_fields(detector, memory_to_json(memory))
        kinds.update(redacted.kinds)
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in redacted.fields.items()}
        objects.append(_rehashed(memory_from_json(plain, "the bundle")) if redacted.kinds else memory)
    return replace(incoming, metadata=header.fields["metadata"], objects=tuple(objects)), kinds
