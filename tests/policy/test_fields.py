from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from memcli.errors import UsageError
from memcli.model.space import Policy
from memcli.policy.draft import is_auto_pinned
from memcli.policy.fields import check_policy, merged, tightened
from tests.conftest import memory

CASES: dict[str, list[Any]] = json.loads(Path(__file__).with_name("cases.json").read_text("utf-8"))


def test_what_does_not_fit_is_named() -> None:
    for fields, named in [*CASES["refused"], [{"grace_days": float("nan")}, "policy.grace_days"]]:
        with pytest.raises(UsageError, match=re.escape(named)):
            check_policy(fields)


def test_of_a_clone_that_nobody_accepted_a_setting_may_tighten_and_not_loosen() -> None:
    own = [{"name": "n", "regex": "r"}]
    loose = Policy(
        ttl_days=1, retention={"log": 1}, grace_days=0, allow_delete=True, max_objects=1, export_path="x.json",
        pii_redaction={"detectors": [], "allow": ["h"], "patterns": own}, review=True, promote="auto", max_episodes=1,
        recent_messages=9000, chunk_size=900, max_chunks=9000, promote_confidence=0.1, archive_below=0.9, archive_days=1,
        agents={"enforce": "deny"},
    )  # fmt: skip
    assert tightened(loose) == Policy(pii_redaction={"patterns": own}, review=True)
    tight = Policy(
        grace_days=30, max_episodes=500, max_chars=80, promote_confidence=0.9, archive_below=0.1, archive_days=90
    )
    assert tightened(tight) == tight


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


def test_what_is_no_field_or_a_part_of_what_is_no_object_is_refused() -> None:
    for name in (*"ttl ttl_days.x retention. . auto_pin.0 quota. quota..x quota.openai.tokens_per_day.x".split(), ""):
        with pytest.raises(UsageError):
            merged({}, {name: 1})
    with pytest.raises(UsageError, match="quota must be an object"):
        merged({}, {"quota": 5, "quota.openai.tokens_per_day": 1})


def test_a_rule_pins_when_all_its_conditions_hold() -> None:
    chosen = memory(kind="decision", tags=("db",), path="arch/db", raw="We chose Postgres.")
    for rule, pinned in CASES["auto_pin"]:
        assert is_auto_pinned(chosen, Policy(auto_pin=(rule,))) is pinned, rule
