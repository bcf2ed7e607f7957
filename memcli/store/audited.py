"""The audited store: any store, with every act that it commits written into an audit log before it is acknowledged."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from memcli.codec.canonical import encode_line
from memcli.codec.space import memory_digest, policy_to_json
from memcli.model.memory import Json
from memcli.model.space import Change, Policy, Receipt, Space, Touched
from memcli.ports import Shelf, Snapshot, Store

if TYPE_CHECKING:
    from memcli.store.audit import AuditLog


class AuditedStore:
    """`store`, whose acts go into a log, loaded with the first. What deletes or governs is refused without it."""

    def __init__(self, store: Store, load_log: Callable[[], AuditLog]) -> None:
        self._store = store
        self._log = load_log

    def spaces(self) -> list[str]:
        return self._store.spaces()

    def open(self, space: str) -> Snapshot:
        return self._store.open(space)

    def update(self, space: str, change: Callable[[Shelf], Change]) -> Receipt:
        policy: Json = None

        def watched(shelf: Shelf) -> Change:
            nonlocal policy
            wanted = change(shelf)
            if wanted.header is not None and wanted.header.policy != shelf.header.policy:
                policy = _difference(shelf.header.policy, wanted.header.policy)
            if wanted.drop or policy is not None:
                self._log().check(space)
            return wanted

        receipt = self._store.update(space, watched)
        self._record(space, receipt, policy)
        return receipt

    def submit(self, space: str, request: Json) -> tuple[Json, Receipt]:
        answer, receipt = self._store.submit(space, request)
        self._record(space, receipt, None)
        return answer, receipt

    def delete(self, space: str, check: Callable[[Space], None]) -> Space:
        def checked(before: Space) -> None:
            check(before)
            self._log().check(space)

        gone = self._store.delete(space, checked)
        is_kept = gone.policy.grace_days > 0  # of what is erased no word is kept
        touched = tuple(Touched(m.id, m.path if is_kept else "", memory_digest(m), "") for m in gone.objects)
        self._log().record(space, "delete space", touched, _difference(gone.policy, None))
        return gone

    def _record(self, space: str, receipt: Receipt, policy: Json) -> None:
        if receipt.touched or receipt.header_changed:
            self._log().record(space, _action(receipt, policy), receipt.touched, policy)


def _action(receipt: Receipt, policy: Json) -> str:
    if any(not touched.after for touched in receipt.touched):
        return "delete"
    if policy is not None:
        return "govern"
    if any(touched.before for touched in receipt.touched):
        return "update"
    return "create" if receipt.touched else "set header"


def _difference(before: Policy, after: Policy | None) -> Json:
    """Digests of two policies, and the fields in which they differ."""
    old, new = policy_to_json(before), {} if after is None else policy_to_json(after)
    fields = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
    return {"before": _digest(old), "after": "" if after is None else _digest(new), "fields": fields}


def _digest(policy: Json) -> str:
    return hashlib.sha256(encode_line(policy)).hexdigest()
