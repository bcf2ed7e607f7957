"""Pinning by rule: which new memories a space's policy puts in front of every recall."""

from __future__ import annotations

from collections.abc import Mapping

from memcli.model.memory import Json, Memory
from memcli.model.space import Policy, is_under
from memcli.safety.patterns import compile_pattern


def is_auto_pinned(memory: Memory, policy: Policy) -> bool:
    """Whether one of the policy's `auto_pin` rules fits: all the conditions that it names hold.

    Raises UsageError for a pattern that is no RE2 expression, which only a hand-written policy can hold.
    """
    return any(_fits(memory, rule, f"policy.auto_pin[{n}]") for n, rule in enumerate(policy.auto_pin))


def _fits(memory: Memory, rule: Mapping[str, Json], at: str) -> bool:
    if not rule:
        return False
    return (
        rule.get("kind", memory.kind) == memory.kind
        and ("tag" not in rule or rule["tag"] in memory.tags)
        and is_under(memory.path, rule.get("under", ""))
        and ("pattern" not in rule or bool(compile_pattern(rule["pattern"], f"{at}.pattern").search(memory.raw)))
    )
