"""The quota of a policy: the most tokens and dollars that a provider may cost a day. Pure.

Such as {"openai": {"tokens_per_day": 100000, "usd_per_day": 0.5}}; a day begins at 00:00 UTC.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from memcli.errors import RefusedError
from memcli.model.memory import Json
from memcli.model.usage import NANO, TokenUsage, Total
from memcli.record import Record

# Work that can wait is put off when less than this part of a limit is left: a fifth.
LOW_SHARE = 5
_TOMORROW = "or wait until 00:00 UTC"


class DayLimits(Record):
    """The limits of a day in tokens and in billionths of a dollar; None for no limit."""

    tokens: int | None = None
    nano_usd: int | None = None

    def __bool__(self) -> bool:
        return self.tokens is not None or self.nano_usd is not None


def limits(quota: Mapping[str, Json], provider: str) -> DayLimits:
    """The limits that a policy's quota sets for a provider."""
    given = quota.get(provider) or {}
    usd = given.get("usd_per_day")
    # By its text: a product of floats may be a little too small, and lose a billionth.
    return DayLimits(given.get("tokens_per_day"), None if usd is None else int(Decimal(str(usd)) * NANO))


def check_call(limit: DayLimits, spent: Total, most: TokenUsage, who: str, space: str) -> None:
    """Raises RefusedError when a call that costs `most` could take `spent` beyond the limits."""
    if limit.tokens is not None and spent.tokens + most.tokens > limit.tokens:
        raise RefusedError(
            f"the quota of {who} has {max(0, limit.tokens - spent.tokens):,} of {limit.tokens:,} tokens left today, and"
            f" the call may take {most.tokens:,}",
            f"raise policy.quota of space {space!r}, {_TOMORROW}",
        )
    if limit.nano_usd is None:
        return
    if most.nano_usd is None:
        raise RefusedError(
            f"policy.quota of space {space!r} limits US dollars, but no price is known for {who}",
            "set it in MEMCLI_PRICES, such as openai:gpt-5-mini=0.25/2",
        )
    if spent.nano_usd + most.nano_usd > limit.nano_usd:
        raise RefusedError(
            f"the quota of {who} has {dollars(max(0, limit.nano_usd - spent.nano_usd))} of {dollars(limit.nano_usd)} left"
            f" today, and the call may cost {dollars(most.nano_usd)}",
            f"raise policy.quota of space {space!r}, {_TOMORROW}",
        )


def check_low(limit: DayLimits, spent: Total, who: str) -> None:
    """Raises RefusedError if so little of the limits is left that work which can wait is put off."""
    tokens = limit.tokens is not None and (limit.tokens - spent.tokens) * LOW_SHARE < limit.tokens
    usd = limit.nano_usd is not None and (limit.nano_usd - spent.nano_usd) * LOW_SHARE < limit.nano_usd
    if tokens or usd:
        raise RefusedError(f"put off: less than 20 % of today's quota of {who} is left", "it is tried again later")


def dollars(nano_usd: int) -> str:
    """An amount such as `$0.0042`, rounded up to a ten thousandth of a dollar."""
    return f"${-(-nano_usd * 10_000 // NANO) / 10_000:.4f}"
