"""Judges and labels: no text makes one fail, and one that fails has cleared nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.safety.secrets import secret_checks
from memcli.safety.secrets.detector import RULES, Detector, _by_rule
from memcli.safety.secrets.labels import Label, label_of
from memcli.safety.secrets.redact_memory import clean_memories
from memcli.safety.secrets.secret_checks import JUDGES, judged
from tests.conftest import examples, memory

ODD = st.text(st.characters(codec=None)) | st.text("aB1 :=/\"'`\\@$%{}<>()[]|\n\t-_.,;\u00ad\x1bé密\udc80", max_size=40)


@given(value=ODD.filter(bool), before=ODD, after=ODD.map(lambda text: text[:1]))
def test_no_judge_fails(value: str, before: str, after: str) -> None:
    judges = {*JUDGES, *(rule.judge for rule in RULES if rule.judge)}
    assert {judged(judge, value, before, after) for judge in judges} <= {True, False}


@examples(0.4)
@given(st.text("aB1 :=/\"'`\\@$%{}<>()[]|\n\t-_.,;", max_size=60))
def test_no_rule_fails(text: str) -> None:
    for rule in RULES:
        for keyword in rule.keywords[:2]:
            list(_by_rule(rule, f"{keyword}{text} {keyword}: {text}".encode()))


@given(ODD)
def test_no_text_stops_a_search(text: str) -> None:
    detector = Detector({}, lambda _: "00000000")
    for said in (text, f"Authorization: Basic {text}", f"password: {text}", f"%41\\u0041&#65;{text}=\n{text}"):
        detector.redact(said)
        detector.redact(said, as_name=True)


def test_an_empty_password_is_none() -> None:
    for user in ("YWRtaW46", "Og==", "OmFkbWlu", "YWRtaW4="):
        text = f"Authorization: Basic {user}"
        assert Detector({}, lambda _: "").redact(text) == (text, [])


def test_the_setting_below_an_empty_password_is_no_password() -> None:
    for text in ("+password=\n+name=x", "db.password=\ndb.name=shop_prod"):
        assert Detector({}, str).redact(text) == (text, [])  # type: ignore[arg-type]


def test_what_follows_the_name_of_a_folder_is_no_password() -> None:
    befores = ("login admin/", "login: ann / ", "2026-05-03-slow-login-9f2c/")
    assert [judged("login", "hunter2-4f2b61", before, "") for before in befores] == [True, True, False]


def test_what_a_text_repeats_is_judged_once_and_what_is_clean_is_searched_once() -> None:
    judged.cache_clear()
    text, detector = "password = " * 500, Detector({}, lambda _: "")
    clean_memories(detector, [memory(raw=text)])
    alone = judged.cache_info()
    assert alone.misses < 100
    long = memory(raw=text, chunks=({"chunk_id": "a#1", "text": text},))
    for _ in range(3):
        assert clean_memories(detector, [long]) == [long]
    calls = judged.cache_info()
    assert calls.hits + calls.misses == 3 * (alone.hits + alone.misses)


def test_a_judge_that_fails_has_not_cleared_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: str) -> bool:
        raise IndexError

    judged.cache_clear()
    monkeypatch.setattr(secret_checks, "JUDGES", dict.fromkeys(JUDGES, failing))
    clean, _ = Detector({}, lambda _: "").redact("Authorization: Basic YWRtaW46cXdlcnR5")
    assert clean == "Authorization: Basic [REDACTED:basic_credentials]"


LABELS: dict[Label | None, list[str]] = {
    Label.PASSWORD: [
        "password", "DB_PASSWORD_PROD", "spring.datasource.password", "adminPassword2", "Admin password", "dbpass", "пароль",
        "mot de passe", "wifi_psk",
    ],
    Label.KEY: ["clientSecret", "x-api-key", "AWS_SECRET_ACCESS_KEY"],
    Label.TOKEN: ["access_token", "API-Schlüssel"],
    None: [
        "password_hasher", "PASSWORD_FILE", "passwordMinLength", "password_hash", "public_key", "primary_key", "nextToken",
        "token_count", "second pass", "bypass", "author", "",
    ],
}  # fmt: skip


def test_the_last_words_of_a_name_decide() -> None:
    assert {label: [name for name in names if label_of(name) is label] for label, names in LABELS.items()} == LABELS
