"""What the policy of a store that nobody here has accepted may decide: what is tighter, never what is looser."""

from __future__ import annotations

from memcli.model.space import Policy
from memcli.record import replace


def in_force(policy: Policy, is_accepted: bool) -> Policy:
    """What of the policy holds here: of a store that nobody has accepted only what makes it tighter."""
    return policy if is_accepted else tightened(policy)


def tightened(policy: Policy) -> Policy:
    """`policy` without what would delete, write elsewhere, or redact less."""
    patterns = policy.pii_redaction.get("patterns")
    return replace(
        policy,
        allow_delete=False,
        max_objects=None,
        ttl_days=None,
        retention={},
        grace_days=max(policy.grace_days, Policy().grace_days),
        export_path=None,
        pii_redaction={"patterns": patterns} if patterns else {},
    )
