"""The policies of a store: a derived space has that of the space for what is told."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from memcli.codec.space import policy_problems
from memcli.errors import UsageError
from memcli.model.space import Change, Policy
from memcli.policy.fields import check_rules, in_force
from memcli.record import replace
from memcli.store.trust import FileTrust

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.ports import Shelf, Snapshot


class Policies:
    """The policies of a store, whose derived spaces have that of `main`; `open_space` opens a space of it."""

    def __init__(
        self, open_space: Callable[[str], Snapshot], main: str, trust: FileTrust, warn: Callable[[str], None]
    ) -> None:
        self._open = open_space
        self._main = main
        self._trust = trust
        self._warn = cache(warn)
        self._known = "", Policy()

    def in_force(self, policy: Policy) -> Policy:
        """What of the policy of a space holds here; warns once of a field that does not fit. Raises CorruptError,
        StoreError."""
        for wrong in policy_problems(policy).values() if policy.extra else ():
            self._warn(f"policy: {wrong}; it is ignored until `memcli space policy` corrects it")
        return in_force(self._whole(policy), self._trust.is_accepted)

    def over(self, shelf: Shelf) -> Shelf:
        """The shelf under the whole policy of its space. In a store that nobody has accepted, rules that cannot be used pin
        nothing."""
        policy = self._with_usable_rules(self._whole(shelf.header.policy))
        if policy is shelf.header.policy:
            return shelf
        from memcli.policy.draft import Draft

        draft = Draft(shelf)
        draft.take(Change(header=replace(shelf.header, policy=policy)))
        return draft

    def _with_usable_rules(self, policy: Policy) -> Policy:
        if not policy.auto_pin or self._trust.is_accepted:
            return policy
        try:
            check_rules(policy.auto_pin)
        except UsageError as error:
            self._warn(f"{error.message}; auto_pin is ignored")
            return replace(policy, auto_pin=())
        return policy

    def _whole(self, policy: Policy) -> Policy:
        return policy.derived_from(self._load_main()) if policy.is_derived else policy

    def _load_main(self) -> Policy:
        """The policy of `main`, read once for each version of the space."""
        snapshot = self._open(self._main)
        try:
            if snapshot.fingerprint != self._known[0]:
                self._known = snapshot.fingerprint, snapshot.header().policy
            return self._known[1]
        finally:
            snapshot.close()
