"""Redaction: what is found, what is left alone, and that nothing else of a text changes."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.errors import UsageError
from memcli.safety.secrets.detector import RULES, Detector, check_policy
from memcli.safety.secrets.redact_memory import redact_fields
from memcli.safety.secrets.rules import EMAIL, RuleIndex
from memcli.safety.secrets.secret_checks import JUDGES, judged
from tests.safety.secrets_corpus import SECRETS, Dice, look_alikes, positives, secret
from tools.scan_benign import default_folders, texts

KINDS = tuple(dict.fromkeys(rule.kind for rule in RULES))


def sign(value: bytes) -> str:
    return hashlib.sha256(value).hexdigest()[:8]


def detector(**policy: Any) -> Detector:
    return Detector(policy, sign)


def own(*regexes: str) -> dict[str, Any]:
    """A policy with patterns that are called a, b and so on."""
    return {"patterns": [{"name": chr(97 + n), "regex": regex} for n, regex in enumerate(regexes)]}


def test_every_kind_has_an_example_and_every_judge_is_there() -> None:
    assert set(SECRETS) == set(KINDS)
    assert len(KINDS) >= 40
    judges = {rule.judge for rule in RULES} - {""}
    assert set(JUDGES) <= judges
    for judge in judges:
        judged(judge, "value", "", "")  # raises KeyError for one that is not there
    assert all(re.fullmatch(r"[a-z0-9_]{1,40}", kind) for kind in KINDS)


def test_one_of_each_kind_is_found_under_its_name() -> None:
    """With its characters all alike it is nobody's secret."""
    for kind in KINDS:
        before, value, after = secret(kind, 101)
        clean, hits = detector().redact(before + value + after)
        assert [hit.kind for hit in hits] == [kind]
        assert value.strip() not in clean
        assert clean.startswith(before)
        assert clean.rstrip().endswith(f"[REDACTED:{kind}]{after}")
        alike = re.sub(r"[A-Za-z0-9]", "x", value)
        assert kind == EMAIL or not detector().find(f"{before}{alike}{after}"), kind


def test_nearly_every_secret_is_found() -> None:
    """At least 95 in a hundred, of more than 40 kinds, in prose, code, diffs and data."""
    found = total = 0
    for _, value, text in positives(5):
        clean, hits = detector().redact(text)
        total += 1
        found += bool(hits) and value.strip() not in clean
    assert total >= 200
    assert found / total >= 0.95


def test_hardly_a_look_alike_is_taken_for_a_secret() -> None:
    """At most one in two hundred; plain prose needs no matching."""
    assert not detector().is_suspect("We chose PostgreSQL because of JSONB. See docs/adr/0007-storage.md, §3.\n" * 5)
    all_of_them = list(look_alikes(10))
    assert len(set(all_of_them)) >= 500
    false = [text for text in all_of_them if detector().find(text)]
    assert len(false) / len(all_of_them) <= 0.005, false


def test_source_and_prose_are_left_alone() -> None:
    """The short form of `tools/scan_benign.py`: at most one hit in a megabyte of the standard library."""
    hits = [
        (file.name, hit.kind)
        for file, text in texts(default_folders()[:1], 1_000_000)
        for hit in detector().find(text)
        if hit.kind != EMAIL
    ]
    assert len(hits) <= 1, hits


FORMS = (
    "password: {assigned_secret}", "+    password: '{assigned_secret}'", '-  "db_password" : "{assigned_secret}",',
    "DB_PASSWORD={assigned_secret}\nPORT=1", "password: str = '{assigned_secret}'", "setenv('DB_PASSWORD', '{assigned_secret}')",
    '"{{\\"password\\": \\"{assigned_secret}\\"}}"', "config[:password] = `{assigned_secret}`",
    "postgres://app:{connection_string}@db/app?x=1", "the password is {prose_password}, ask Ann",
)  # fmt: skip


def test_of_every_form_only_the_secret_is_taken_out() -> None:
    marks = {kind: f"[REDACTED:{kind}]" for kind in KINDS}
    texts = [form.format_map(dict.fromkeys(KINDS, "q7Rw2mZk9pLx")) for form in FORMS]
    assert [detector().redact(text)[0] for text in texts] == [form.format_map(marks) for form in FORMS]


def test_a_secret_has_one_mark_whatever_names_it_and_the_most_particular_name() -> None:
    token = secret("github_token")[1]
    clean, hits = detector().redact(f"export GITHUB_TOKEN={token}")
    assert clean == "export GITHUB_TOKEN=[REDACTED:github_token]"
    for (hit,) in (hits, detector().find(f"key: {token}"), detector().find(f"- old\n+ {token}")):
        assert hit.value.decode() == token


@given(st.text(st.characters(codec=None)))
def test_any_text_can_be_looked_at(text: str) -> None:
    clean, hits = detector().redact(text)
    assert hits or clean == text
    detector(**own(r"\w+")).redact(text)


@given(st.lists(st.one_of(st.text(max_size=20), st.sampled_from([t for *_, t in positives(1)])), max_size=5))
def test_twice_is_once(parts: list[str]) -> None:
    clean, _ = detector().redact(" ".join(parts))
    assert detector().redact(clean) == (clean, [])


PLAIN = st.text(st.sampled_from("abc xyz,.\nüß日"), max_size=40)


@given(PLAIN, PLAIN, st.sampled_from(sorted(SECRETS)))
def test_what_stands_around_stays(head: str, tail: str, kind: str) -> None:
    before, value, after = secret(kind, 7)
    clean, _ = detector().redact(f"{head}\n{before}{value}{after}\n{tail}")
    assert clean.startswith(f"{head}\n{before}")
    assert clean.endswith(f"{after}\n{tail}")


@given(
    st.text("ab-_ X", max_size=60), st.sampled_from([r".", r"[a-z]+", r"\s*", r"(a)b", r"x?", r"REDACTED", r"[\s\S]+"])
)
def test_own_patterns_end_too(text: str, regex: str) -> None:
    found = detector(**own(regex))
    clean, _ = found.redact(text)
    assert found.redact(clean)[0] == clean


@pytest.mark.slow
def test_a_megabyte_is_no_burden() -> None:
    _, token, _ = secret("gitlab_token")
    clean, hits = detector().redact("the token of the day: none\n" * 20_000 + token + "\nkey=" * 100_000)
    assert [hit.kind for hit in hits] == ["gitlab_token"]
    assert clean.count("[REDACTED:gitlab_token]") == 1


def test_own_patterns_take_their_first_group_in_linear_time() -> None:
    assert detector(**own(r"ticket (TICK-\d+)")).redact("see ticket TICK-42.")[0] == "see ticket [REDACTED:a]."
    assert detector(**own(r"(a+)+$")).redact("a" * 100_000 + "b") == ("a" * 100_000 + "b", [])


def test_detectors_can_be_chosen() -> None:
    text = f"{secret('github_token')[1]} ann.lee@corp.net"
    assert [h.kind for h in detector(detectors=["-email"]).find(text)] == ["github_token"]
    assert [h.kind for h in detector(detectors=["secrets"]).find(text)] == ["github_token"]
    assert [h.kind for h in detector(detectors=["email"]).find(text)] == ["email"]
    assert not detector(detectors=["-secrets", "-email"]).find(text)
    assert not detector(detectors=["secrets", "-github_token"]).find(text)
    assert [h.kind for h in detector(allow=[sign(secret("github_token")[1].encode())]).find(text)] == ["email"]


REFUSED: tuple[tuple[dict[str, Any], str], ...] = (
    ({"detectors": ["aws"]}, "pii_redaction.detectors[0] 'aws' is not a detector"),
    ({"detectors": []}, "pii_redaction.detectors is empty"),
    ({"patterns": [{"name": "A", "regex": "x"}]}, "pii_redaction.patterns[0].name 'A'"),
    ({"patterns": [{"name": "email", "regex": "x"}]}, "patterns[0].name 'email'"),
    (own("x", "(?=x)"), "patterns[1].regex is not an RE2"),
    (own(r"(x)\1"), "patterns[0].regex is not an RE2"),
    (own("(((x{1000}){1000}){1000})"), "is not an RE2"),
    (own(""), "must have 1 to 1000 characters"),
    (own("x" * 1001), "must have 1 to 1000 characters"),
    ({"patterns": [{"name": "a", "regex": "x"}] * 101}, "has 101 patterns"),
    ({"allow": ["0123abc"]}, "pii_redaction.allow[0] '0123abc' is not a mark"),
    ({"detector": ["email"]}, "no field 'detector' in pii_redaction"),
    (own("."), "patterns[0].regex would redact more than half of an ordinary"),
    (own("(?i)[a-z]+"), "more than half"),
    (own(r"[^\x00-\x7f]"), "more than half"),
    (own("^.*$"), "more than half"),
    (own("[a-m]", "[n-z]"), "patterns[1].regex would"),
)


def test_a_policy_that_cannot_be_used_is_refused() -> None:
    for policy, said in REFUSED:
        with pytest.raises(UsageError, match=re.escape(said)):
            check_policy(policy)


def test_a_stored_pattern_that_takes_most_of_a_note_is_ignored() -> None:
    found = detector(patterns=[{"name": "every", "regex": r"\S+"}, {"name": "falcon", "regex": "blue-[a-z]+"}])
    assert found.ignored == ("every",)
    assert found.redact("Deploy on blue-falcon today.")[0] == "Deploy on [REDACTED:falcon] today."
    narrow = own(r"[A-Z]{2,5}-\d+", r"\d{3,}")
    check_policy(narrow)
    assert not detector(**narrow).ignored


def test_every_field_of_a_memory_is_looked_at() -> None:
    _, token, _ = secret("linear_key")
    said = f"x {token} y"
    given_fields: dict[str, Any] = {
        "id": f"my-{token}", "path": f"a/{token}", "path_hint": token, "project": token, "kind": token, "raw": said,
        "summary_micro": said, "summary_short": said, "summary_long": said, "tags": [token], "triggers": [said],
        "metadata": {"note": said, "deep": {"er": [said]}, token: 1}, "content": [{"a": [{"b": said}]}, said],
        "provenance": {"snippet": said, "reason": said, "files": [said]},
        "procedure": {"trigger": said, "steps": [said]}, "episode": {"title": said, "participants": [said]},
        "chunks": [{"chunk_id": "1", "text": said}], "context": [{"source": said, "text": said}],
        "anchors": [{"file": token, "symbol": said}], "links": [{"to": token, "relation": "relates_to"}],
        "superseded_by": token, "future_field": {"text": said},
    }  # fmt: skip
    redacted = redact_fields(detector(), given_fields)
    assert token not in str(redacted.fields)
    # The name of a file is counted where it stands as one, and not again in the texts that repeat it.
    counted = str(given_fields).count(token) - 5
    assert redacted.flags == (f"linear_key:{counted}",)
    assert redacted.fields["metadata"]["pii_flags"] == list(redacted.flags)
    assert redacted.fields["path"] == f"a/redacted-linear-key-{sign(token.encode())}"
    assert redacted.kinds == {"linear_key": counted}


def test_the_name_of_a_value_tells() -> None:
    value = Dice("named")("abcdefgh23456789", 14) + "Q"
    redacted = redact_fields(
        detector(), {"metadata": {"db_password": value, "note": value}, "content": {"a": {"secret": 1}}}
    )
    assert redacted.fields["metadata"]["db_password"] == "[REDACTED:assigned_secret]"
    assert redacted.fields["metadata"]["note"] == value


def test_two_secret_keys_lose_no_value() -> None:
    keys = [secret("pulumi_token", n)[1] for n in range(2)]
    content = redact_fields(detector(), {"content": dict.fromkeys(keys, 1)}).fields["content"]
    assert content == {"[REDACTED:pulumi_token]": 1, "[REDACTED:pulumi_token]~": 1}


def test_nesting_has_an_end() -> None:
    value: Any = "ghp_"
    for _ in range(300):
        value = [value]
    with pytest.raises(UsageError, match="nested deeper than 200"):
        redact_fields(detector(**own("x")), {"content": value})


def test_a_run_of_the_keyboard_hides_no_token() -> None:
    token = "sk-" + "proj-iK2ZWeqhFWCEPyYngFb51yBMW" + "1234567890" + "bbPIa84yRmQ7"
    assert [hit.kind for hit in detector().find(f"The key is {token}")] == ["openai_key"]
    assert detector().find("token: 1234567890abcdefgh") == []


@given(
    st.from_regex(
        r"[0-9A-Za-z_%+][0-9A-Za-z._%+'-]{0,9}@([0-9A-Za-z][0-9A-Za-z-]{0,3}\.){1,6}[A-Za-z]{2,8}", fullmatch=True
    )
)
def test_the_probe_lets_every_address_through(address: str) -> None:
    (rule,) = [rule for rule in RULES if rule.kind == "email"]
    assert rule in RuleIndex(RULES).suspects(address)


def test_an_address_alone_and_in_a_diff_is_found_and_a_decorator_or_a_call_is_none() -> None:
    assert detector().redact("x@mail.163.com")[0] == "[REDACTED:email]"
    for text in ("+ann@acme.io", "-ann@acme.io", "+ Mail ann+news@acme.io."):
        assert "acme" not in detector().redact(text)[0]
    for text in ("+@pytest.mark.parametrize(x)", "-@app.route.get", "+@click.option", "see foo@bar.baz() for more"):
        assert detector().redact(text)[0] == text


def test_the_secret_of_a_cluster_is_found_in_a_hunk_that_does_not_show_its_kind() -> None:
    def redacted(*lines: str) -> str:
        return detector().redact("\n".join(("Add a key", "", "a.yaml", *lines)))[0]

    shown = redacted("@@ data:", "   one: aHVudGVyMg==", "+  two: c2VjcmV0LXZhbHVl", " type: Opaque")
    assert shown.endswith("one: [REDACTED:assigned_secret]\n+  two: [REDACTED:assigned_secret]\n type: Opaque")
    assert redacted("@@ stringData:", "+  password: hunter2-plus").endswith("password: [REDACTED:assigned_secret]")
    for plain in ("warnings", "db.example.org", "20200101"):
        assert redacted("@@ data:", f"   level: {plain}", "+  two: c2VjcmV0LXZhbHVl").count("REDACTED") == 0


def test_a_password_after_a_colon_is_found_also_on_the_next_line() -> None:
    for text in ("The password is: {}", "the passphrase was: {}", "the password is:\n{}", "Password:\n\n    {}"):
        assert detector().redact(text.format("q7W-x9Zt4m"))[0] == text.format("[REDACTED:prose_password]")
    for text in ("The password is: wrong", "The password is: see the vault", "What the password is: a secret."):
        assert detector().redact(text) == (text, [])
