"""Redact: removes secrets from every text before it is stored, and again before it is shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import cache, lru_cache

from memcli.codec.canonical import encode
from memcli.codec.memory import memory_from_json, memory_to_json
from memcli.errors import UsageError
from memcli.model.memory import Json, Memory, is_vetted
from memcli.model.names import text_hash
from memcli.model.space import Policy, Space
from memcli.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.app.workspace import Workspace
    from memcli.ports import Store
    from memcli.safety.secrets.detector import Detector
    from memcli.safety.secrets.redact_memory import Redacted

SUMMARY = ("id", "path", "kind", "summary_micro", "tags", "superseded_by")
"""The fields that a list shows."""
# Mostly no memory of a block has a secret, which one search over all of its texts shows.
_BLOCK = 50


class Redactor:
    """Removes secrets from texts, by the built-in rules and the policy of a space, which is read once for each version of it.

    `detectors` is a cache of detectors by policy. `sign` returns the keyed hash of a secret, under a key that a team shares
    where `has_shared_key`; `in_force` returns the effective policy. Unless the store `is_accepted`, the patterns of its policies
    redact output, but not what is written: a stranger may have written them, and what a write removes is lost.
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
        """The detector for the policy of the space.

        Raises CorruptError, StoreError, and UsageError if the policy cannot be used.
        """
        with closing(self._store.open(space)) as snapshot:
            known = self._known.get(space)
            if known is None or known[0] != snapshot.fingerprint:
                policy = self._written_under(self._in_force(snapshot.header().policy))
                known = self._known[space] = snapshot.fingerprint, self.by_policy(policy.pii_redaction)
            return known[1]

    def _written_under(self, policy: Policy) -> Policy:
        """The policy for writes: without patterns where nobody has accepted the store."""
        fields = {name: value for name, value in policy.pii_redaction.items() if name != "patterns"}
        return policy if self._is_accepted() else replace(policy, pii_redaction=fields)

    def by_policy(self, policy: Mapping[str, Json]) -> Detector:
        """The detector for the field `pii_redaction` of a policy. Raises UsageError when that is invalid."""
        # Shared by equal policies: a detector costs milliseconds and a third of a megabyte, and a store may have thousands of
        # spaces.
        key = encode(dict(policy))
        if key not in self._by_policy:
            from memcli.safety.secrets.detector import Detector  # hundreds of rules: vetted memories need none

            made = self._by_policy[key] = Detector(policy, self._sign, has_shared_key=self._has_shared_key)
            for name in made.ignored:
                self._warn(
                    f"the redaction pattern {name!r} would take more than half of an ordinary note; it is ignored"
                )
        return self._by_policy[key]

    def take_in(self, space: str, fields: Mapping[str, Json]) -> Redacted:
        """The redacted fields of a memory to be stored, and the kinds of removed secrets. Raises as `detector`."""
        from memcli.safety.secrets.redact_memory import redact_fields

        return redact_fields(self.detector(space), fields)

    def text(self, space: str, text: str) -> tuple[str, Mapping[str, int]]:
        """A text that will be cut into several memories: redacted, with the same number of lines, and the number of removed
        secrets by kind. Raises as `detector`."""
        from memcli.safety.secrets.redact_memory import redact_text

        return redact_text(self.detector(space), text)

    def names(self, space: str, names: Sequence[str]) -> list[str]:
        """The paths or names of files, redacted as their memories have them. Raises as `detector`."""
        from memcli.safety.secrets.redact_memory import clean_paths

        return clean_paths(self.detector(space), names)

    def paths(self, paths: Sequence[str], policy: Policy) -> list[str]:
        """The paths, redacted for output by a policy."""
        from memcli.safety.secrets.redact_memory import clean_paths

        return clean_paths(self.on_the_way_out(policy), paths)

    def show(self, memories: Sequence[Memory], policy: Policy, only: Sequence[str] = ()) -> list[Memory]:
        """The memories, redacted for output by the policy of their space: all fields, or `only` these."""
        if all(map(is_vetted, memories)):
            return list(memories)
        from memcli.safety.secrets.redact_memory import clean_memories

        detector = self.on_the_way_out(policy)
        shown: list[Memory] = []
        for start in range(0, len(memories), _BLOCK):
            shown += clean_memories(detector, memories[start : start + _BLOCK], only)
        return shown

    def rewrite(self, memories: Sequence[Memory], policy: Policy) -> list[Memory]:
        """The memories, redacted for another write by the policy of their space: an edit by hand may have added secrets. Their
        hashes are those of the redacted texts."""
        shown = self.show(memories, self._written_under(policy))
        return [one if one is was else _rehashed(one) for one, was in zip(shown, memories, strict=True)]

    def cleaner(self, policy: Policy) -> Callable[[str], str]:
        """A function that redacts a text for output by a policy."""
        detector = cache(lambda: self.on_the_way_out(policy))
        # A question is redacted for the search and for the bundle, each time before it is cut and after.
        return lru_cache(4)(lambda text: detector().redact(text)[0])

    def clean_space(self, space: Space) -> tuple[Space, int]:
        """The space with memories and header redacted for output, and the number of them that had secrets. The hashes are
        those of the redacted texts."""
        from memcli.safety.secrets.redact_memory import clean_values

        detector = self.on_the_way_out(space.policy)
        shown = self.show(space.objects, space.policy)
        objects = [one if one is was else _rehashed(one) for one, was in zip(shown, space.objects, strict=True)]
        header = {"metadata": dict(space.metadata), **space.extra}
        clean = clean_values(detector, header)
        extra = {name: value for name, value in clean.items() if name != "metadata"}
        count = sum(m is not was for m, was in zip(objects, space.objects, strict=True)) + (clean != header)
        return replace(space, metadata=clean["metadata"], extra=extra, objects=tuple(objects)), count

    def on_the_way_out(self, policy: Policy) -> Detector:
        """The detector for output by a policy. Where the policy is invalid, warns and uses all built-in rules."""
        try:
            return self.by_policy(self._in_force(policy).pii_redaction)
        # The policy may have come with a clone: a wrong field in it must stop no reads.
        except UsageError as error:
            self._warn(f"{error.message}; using the built-in redaction rules")
            return self.by_policy({})


def _rehashed(memory: Memory) -> Memory:
    """The memory with the hash of its present text."""
    content = encode(memory.content) if memory.content is not None else b""
    return replace(memory, metadata={**memory.metadata, "hash": text_hash(memory.raw, content)})


def redacted_space(workspace: Workspace, target: str, incoming: Space) -> tuple[Space, Mapping[str, int]]:
    """A space to be imported as `target`, redacted, and the number of redactions by kind. The policy of an existing target
    applies, or else that of `incoming`."""
    from memcli.safety.secrets.redact_memory import redact_fields

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
