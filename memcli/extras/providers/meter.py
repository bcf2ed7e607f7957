"""The meter of language models: it books their calls in the ledger of a store at the user's prices, and sums up their cost."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from memcli.errors import LockedError, MemcliError, RefusedError, StoreError, UsageError
from memcli.extras.providers.quota import DayLimits, check_call, check_low, limits
from memcli.extras.providers.table import Price, Prices, check_prices, list_prices, priced, read_prices
from memcli.model.conversation import ModelName
from memcli.model.memory import Json
from memcli.model.usage import NANO, Charge, Day, TokenUsage, Total, total
from memcli.record import Record
from memcli.store.atomic import read_regular

if TYPE_CHECKING:
    from memcli.app.workspace import Workspace

_MAX_PRICES = 1 << 20
PRICES_VARIABLE = "MEMCLI_PRICES"


class LedgerMeter:
    """Books the calls to one model in the ledger of a store, within the quota of a space; calls `spent` with the cost of each."""

    def __init__(
        self, workspace: Workspace, model: ModelName, space: str, price: Price | None, *, may_wait: bool = False,
        spent: Callable[[TokenUsage], None] = lambda _: None,
    ) -> None:  # fmt: skip
        self._workspace, self._model, self._space, self._price = workspace, model, space, price
        self._may_wait, self._spent = may_wait, spent
        self._ledger = workspace.ledger

    def reserve(self, task: str, most: TokenUsage) -> Callable[[TokenUsage], None]:
        """See `ports.Reserve`."""
        most = priced(most, self._price)
        charge = Charge(
            at=self._workspace.clock(), space=self._space, provider=self._model.provider, model=self._model.model,
            task=task, usage=most,
        )  # fmt: skip
        policy = self._workspace.in_force(self._workspace.store.policy(self._space))
        limit = limits(policy.quota, self._model.provider)
        try:
            # Before the call, since one that is interrupted may have been charged for all the same.
            booked = self._ledger.reserve(charge, lambda day: self._check(limit, day, most))
        except (StoreError, LockedError) as error:
            # A call that is not counted could exceed the quota, so it is not made.
            raise RefusedError(f"the call cannot be counted: {error.message}", error.hint) from None

        def settle(usage: TokenUsage) -> None:
            cost = priced(usage, self._price)
            self._spent(cost)
            try:
                self._ledger.settle(booked, cost)
            except MemcliError as error:  # the answer is usable, and the booked estimate counts for the quota
                self._workspace.warn(f"the cost of a call counts as its estimate: {error.message}")

        return settle

    def _check(self, limit: DayLimits, day: Day, most: TokenUsage) -> None:
        """Raises RefusedError if a call that costs `most` could exceed the limits of the day."""
        if not limit:
            return
        if day.damaged:
            raise RefusedError(
                "the ledger of today is damaged, so the quota cannot be checked",
                "remove them from `ledger` in the private state (`memcli doctor` says where), or wait until 00:00 UTC",
            )
        mine = (c for c in day.charges if c.space == self._space and c.provider == self._model.provider)
        spent = total(mine)
        if self._may_wait:
            check_low(limit, spent, str(self._model))
        check_call(limit, spent, most, str(self._model), self._space)


def load_prices(environ: Mapping[str, str]) -> Prices:
    """The prices of models, with the highest precedence for MEMCLI_PRICES, then the user's `prices.toml`, then the list prices.
    Raises UsageError, StoreError."""
    if sys.platform == "linux":  # the folder that platformdirs names, without the time to import it
        folder = environ.get("XDG_CONFIG_HOME", "").strip() or os.path.expanduser("~/.config")
        folder = os.path.join(folder, "memcli")
    else:
        import platformdirs

        folder = platformdirs.user_config_dir("memcli", appauthor=False)
    path = os.path.join(folder, "prices.toml")
    try:
        data = read_regular(path, _MAX_PRICES) or b""
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}", "replace it with a regular file") from None
    import tomllib

    try:
        own = tomllib.loads(data.decode())
    except (ValueError, RecursionError):
        raise UsageError(f"{path} is not TOML", 'write lines such as "openai:gpt-5-mini" = [0.25, 2]') from None
    return {
        **list_prices(),
        **check_prices(own),
        **read_prices(environ.get(PRICES_VARIABLE, "")),
    }


class Spent(Record):
    """The cost of a provider on a day for a space."""

    day: str
    space: str
    provider: str
    total: Total

    def to_json(self) -> dict[str, Json]:
        known = self.total.unpriced < self.total.calls
        return {
            "day": self.day, "space": self.space, "provider": self.provider, "calls": self.total.calls,
            "tokens_in": self.total.tokens_in, "tokens_out": self.total.tokens_out,
            "usd": self.total.nano_usd / NANO if known else None,
            "unpriced": self.total.unpriced, "unsettled": self.total.pending,
        }  # fmt: skip


def spent(workspace: Workspace, since: str = "", until: str = "") -> list[Spent]:
    """The cost of each day from `since` to `until` inclusive, sorted by day, space and provider; of the space that the user
    named, or else of all. Raises StoreError."""
    found: dict[tuple[str, str, str], list[Charge]] = {}
    for day in workspace.ledger.days():
        if since <= day <= (until or day):
            for charge in workspace.ledger.read(day).charges:
                if not workspace.is_space_named or charge.space == workspace.space:
                    found.setdefault((day, charge.space, charge.provider), []).append(charge)
    return [Spent(*key, total(charges)) for key, charges in sorted(found.items())]
