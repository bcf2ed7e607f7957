"""Policy fields from a user: merged with the stored ones, checked, and restricted in a store that nobody has accepted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from memcli.errors import UsageError
from memcli.model.memory import Json
from memcli.model.recall import BACKENDS, DEFAULT_BACKEND
from memcli.model.shapes import POLICY_FIELDS, part_of, problem, spelled_out
from memcli.model.space import Policy
from memcli.policy.ageing import check_period
from memcli.record import replace
from memcli.safety.patterns import compile_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def tightened(policy: Policy) -> Policy:
    """The policy in force in a store that nobody has accepted: without what deletes, archives, writes outside the store, skips
    reviews, redacts less, records topics, reads more of a conversation, or denies an agent's actions."""
    patterns, default = policy.pii_redaction.get("patterns"), Policy()
    return replace(
        policy,
        allow_delete=False,
        max_objects=None,
        ttl_days=None,
        retention={},
        grace_days=max(policy.grace_days, default.grace_days),
        export_path=None,
        # The patterns of a clone only hide more; its detectors and exceptions could hide less.
        pii_redaction={"patterns": patterns} if patterns else {},
        promote=default.promote,
        max_episodes=max(policy.max_episodes, default.max_episodes),
        gaps=False,
        agents={},
        upkeep=default.upkeep,
        recent_messages=default.recent_messages,
        chunk_size=default.chunk_size,
        max_chunks=default.max_chunks,
        promote_confidence=max(policy.promote_confidence, default.promote_confidence),
        archive_below=min(policy.archive_below, default.archive_below),
        archive_days=max(policy.archive_days, default.archive_days),
    )


_SEE = "see `memcli schema policy`"
_CONDITIONS = ("kind", "pattern", "tag", "under")


def merged(stored: Mapping[str, Json], given: Mapping[str, Json]) -> dict[str, Json]:
    """`stored` with the fields `given` set; null restores the default, and `quota.openai.usd_per_day` names a nested field.

    Raises UsageError for a field that a policy does not have.
    """
    fields = dict(stored)
    for name, value in spelled_out(given).items():
        if name.partition(".")[0] not in POLICY_FIELDS:
            raise UsageError(f"no field {f'policy.{name}'[:80]!r}", f"fields: {', '.join(sorted(POLICY_FIELDS))}")
        keys, _ = part_of(name, POLICY_FIELDS)
        fields = _with(fields, keys, value, "policy")
    return fields


def _with(tree: Mapping[str, Json], keys: Sequence[str], value: Json, at: str) -> dict[str, Json]:
    """`tree` with the nested field at `keys` set to `value`, or removed for null, with the objects that this leaves empty."""
    key, *below = keys
    if below:
        inner = tree.get(key, {})
        if wrong := problem(inner, {"type": "object"}, f"{at}.{key}"):
            raise UsageError(wrong, _SEE)
        value = _with(inner, below, value, f"{at}.{key}") or None
    return {name: item for name, item in {**tree, key: value}.items() if item is not None}


def check_policy(fields: Mapping[str, Json]) -> None:
    """Raises UsageError naming the first invalid field, such as `policy.retention.log`."""
    for name in sorted(fields.keys() & POLICY_FIELDS.keys()):
        if wrong := problem(fields[name], POLICY_FIELDS[name], f"policy.{name}"):
            raise UsageError(wrong, _SEE)
    check_rules(fields.get("auto_pin", ()))
    if fields.get("backend", DEFAULT_BACKEND) not in BACKENDS:
        raise UsageError(
            f"policy.backend must be one of {', '.join(BACKENDS)}, not {fields['backend'][:40]!a}", "use one of them"
        )
    for name, period in sorted(fields.get("seasons", {}).items()):
        check_period(period, f"policy.seasons.{name}")
    if "quota" in fields:
        from memcli.model.conversation import PROVIDERS

        if unknown := sorted(fields["quota"].keys() - PROVIDERS):
            what = f"policy.quota has no provider {unknown[0][:40]!a}"
            raise UsageError(what, f"providers: {', '.join(PROVIDERS)}")
    if "export_path" in fields:
        path = fields["export_path"]
        parts = path.replace("\\", "/").split("/")
        # A policy may come with a clone, and an export must not write into the files of git or of the store.
        own = ".git" in parts or any(one == ".memory" and then != "exports" for one, then in pairwise([*parts, ""]))
        odd = not path.isprintable() or not path.strip() or not set(path).isdisjoint('"<>|*?') or parts[0][:1] == "~"
        if odd or own or ":" in parts[0] or path.endswith((".jsonl", ".md")):
            raise UsageError(
                f"policy.export_path must be a folder or a .json file, not {path[:80]!a}",
                "use a path outside .git and .memory, such as docs/memory, or `export --out`",
            )


def check_rules(rules: Sequence[Mapping[str, Any]]) -> None:
    """Raises UsageError naming the first invalid rule of `auto_pin`."""
    for n, rule in enumerate(rules):
        at = f"policy.auto_pin[{n}]"
        for name in sorted(rule):
            if name not in _CONDITIONS:
                raise UsageError(f"{at}.{name} is not a condition", f"conditions: {', '.join(_CONDITIONS)}")
        if not rule:
            raise UsageError(f"{at} has no condition and would pin everything", f"conditions: {', '.join(_CONDITIONS)}")
        if "pattern" in rule:
            compile_pattern(rule["pattern"], f"{at}.pattern")
