from __future__ import annotations

from typing import Any

import pytest

from memcli.errors import UsageError
from memcli.model.space import Policy
from memcli.policy.draft import is_auto_pinned
from memcli.policy.fields import check_policy, in_force, merged
from tests.conftest import memory


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"ttl_days": -1}, "policy.ttl_days must be at least 0"),
        ({"ttl_days": True}, "policy.ttl_days must be a number"),
        ({"retention": {"log": "7"}}, "policy.retention.log must be a number"),
        ({"retention": [7]}, "policy.retention must be an object"),
        ({"grace_days": float("nan")}, "policy.grace_days"),
        ({"allow_delete": "yes"}, "policy.allow_delete must be true or false"),
        ({"max_objects": 0}, "policy.max_objects must be at least 1"),
        ({"compaction": "lru"}, "policy.compaction must be one of fifo, value, llm"),
        ({"visibility": "public"}, "policy.visibility must be one of project, private"),
        ({"auto_pin": [{"kind": 3}]}, r"policy.auto_pin\[0\].kind must be text"),
        ({"auto_pin": [{"kind": "log"}, {}]}, r"policy.auto_pin\[1\] has no condition"),
        ({"auto_pin": [{"knd": "log"}]}, r"policy.auto_pin\[0\].knd is not a condition"),
        ({"auto_pin": [{"pattern": "(?=a)"}]}, r"policy.auto_pin\[0\].pattern is not an RE2"),
        ({"auto_pin": [{"pattern": "a" * 1001}]}, r"policy.auto_pin\[0\].pattern has 1001"),
        ({"promote": "always"}, "policy.promote must be one of manual, auto"),
        ({"upkeep": "always"}, "policy.upkeep must be one of manual, auto"),
        ({"max_episodes": 0}, "policy.max_episodes must be at least 1"),
        ({"max_chars": 39}, "policy.max_chars must be at least 40"),
        ({"recent_messages": 0}, "policy.recent_messages must be between 1 and 10000"),
        ({"chunk_size": 1}, "policy.chunk_size must be between 2 and 1000"),
        ({"max_chunks": 1}, "policy.max_chunks must be between 2 and 10000"),
        ({"promote_confidence": 1.1}, "policy.promote_confidence must be between 0 and 1"),
        ({"archive_below": -0.1}, "policy.archive_below must be between 0 and 1"),
        ({"archive_days": -1}, "policy.archive_days must be at least 0"),
        ({"agents": {"enforce": "ask"}}, "policy.agents.enforce must be one of warn, deny"),
        ({"agents": {"enforced": "deny"}}, "policy.agents has no part 'enforced'"),
        ({"export_path": "~/x"}, "policy.export_path"),
        ({"export_path": '"shared"'}, "policy.export_path"),
        ({"export_path": "../a/.git"}, "policy.export_path"),
        ({"export_path": ".memory"}, "policy.export_path"),
        ({"export_path": "/a/.memory/local"}, "policy.export_path"),
        ({"export_path": "c:/x.json"}, "policy.export_path"),
        ({"export_path": ".memory/spaces/main.json"}, "policy.export_path"),
        ({"export_path": "a/.git/x.json"}, "policy.export_path"),
        ({"export_path": "notes.md"}, "policy.export_path"),
    ],
)
def test_what_does_not_fit_is_named(fields: dict[str, Any], named: str) -> None:
    with pytest.raises(UsageError, match=named):
        check_policy(fields)


@pytest.mark.parametrize(("given", "held"), [(1, 100), (100, 100), (500, 500)])
def test_of_a_clone_that_nobody_accepted_sessions_are_not_promoted_or_let_go(given: int, held: int) -> None:
    policy = Policy(promote="auto", max_episodes=given)
    assert in_force(policy, is_accepted=True) == policy
    assert in_force(policy, is_accepted=False) == Policy(max_episodes=held)


def test_of_a_clone_that_nobody_accepted_no_setting_loosens_anything() -> None:
    loose = Policy(
        recent_messages=9000,
        chunk_size=900,
        max_chunks=9000,
        promote_confidence=0.1,
        archive_below=0.9,
        archive_days=1,
        agents={"enforce": "deny"},
    )
    assert in_force(loose, is_accepted=False) == Policy()
    tight = Policy(max_chars=80, promote_confidence=0.9, archive_below=0.1, archive_days=90)
    assert in_force(tight, is_accepted=False) == tight


def test_what_fits_is_taken() -> None:
    check_policy({"export_path": ".memory/exports/x.json", "auto_pin": [{"pattern": "(?i)never"}], "x_own": 3})
    for path in ("shared", "shared/memory/", "../team", "/srv/exports", "out.json", ".memory/exports"):
        check_policy({"export_path": path})


def test_fields_are_put_together() -> None:
    stored = {"ttl_days": 3, "retention": {"log": 7, "fact": 9}, "x_own": 1}
    given = {"retention.log": None, "retention.code": 2, "ttl_days": None, "retention.a.b": 1}
    assert merged(stored, given) == {"retention": {"fact": 9, "code": 2, "a.b": 1}, "x_own": 1}
    assert merged({"retention": {"log": 7}}, {"retention.log": None}) == {}


def test_a_part_of_a_part_is_set_and_unset_beside_its_siblings() -> None:
    stored = {"quota": {"openai": {"tokens_per_day": 1, "usd_per_day": 2}, "google": {"usd_per_day": 3}}}
    given = {"quota.openai.tokens_per_day": 5, "quota.anthropic.usd_per_day": 4, "quota.google.usd_per_day": None}
    assert merged(stored, given) == {
        "quota": {"openai": {"tokens_per_day": 5, "usd_per_day": 2}, "anthropic": {"usd_per_day": 4}}
    }
    assert merged(stored, {"quota.openai": None, "quota.google.usd_per_day": None}) == {}
    assert stored["quota"]["openai"] == {"tokens_per_day": 1, "usd_per_day": 2}


def test_a_plain_list_is_read_as_detectors() -> None:
    assert merged({}, {"pii_redaction": ["email"]}) == {"pii_redaction": {"detectors": ["email"]}}


@pytest.mark.parametrize(
    "name",
    ["ttl", "ttl_days.x", "retention.", "", ".", "auto_pin.0", "quota.", "quota..x", "quota.openai.tokens_per_day.x"],
)
def test_what_is_no_field_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        merged({}, {name: 1})


def test_a_part_of_what_is_no_object_is_refused() -> None:
    with pytest.raises(UsageError, match="quota must be an object"):
        merged({}, {"quota": 5, "quota.openai.tokens_per_day": 1})


@pytest.mark.parametrize(
    ("rule", "pinned"),
    [
        ({"kind": "decision"}, True),
        ({"kind": "log"}, False),
        ({"tag": "db", "under": "arch"}, True),
        ({"tag": "db", "under": "arc"}, False),
        ({"tag": "other"}, False),
        ({"pattern": r"(?i)postgres\b"}, True),
        ({"pattern": "(a+)+$"}, False),
        ({}, False),
    ],
)
def test_a_rule_pins_when_all_its_conditions_hold(rule: dict[str, str], pinned: bool) -> None:
    chosen = memory(kind="decision", tags=("db",), path="arch/db", raw="We chose Postgres.")
    assert is_auto_pinned(chosen, Policy(auto_pin=(rule,))) is pinned
