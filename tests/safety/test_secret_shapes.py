"""Secrets in the shapes that people give them: how many are found, how many look-alikes are hurt, in both halves of the set."""

from __future__ import annotations

import re

import pytest

from memcli.safety.secrets.detector import Detector
from tests.safety.secret_shapes import FAMILIES, LOOK_ALIKES, look_alikes
from tests.safety.service_secrets import SHAPES, parts

LEAST = {"vendors": 0.98, "context": 0.90, "chosen": 0.60, "wrapped": 0.70}
MOST_HURT = 0.02


def redacted(text: str) -> str:
    return Detector({}, lambda _: "00000000").redact(text)[0]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("held_out", [False, True], ids=["dev", "held-out"])
def test_most_are_found(family: str, held_out: bool) -> None:
    samples = FAMILIES[family](held_out=held_out)
    kept = [sample for sample in samples if sample.value in redacted(sample.text)]
    assert 1 - len(kept) / len(samples) >= LEAST[family], kept


@pytest.mark.parametrize("held_out", [False, True], ids=["dev", "held-out"])
def test_hardly_a_look_alike_is_hurt(held_out: bool) -> None:
    samples = look_alikes(held_out=held_out)
    hurt = [sample.text for sample in samples if redacted(sample.text) != sample.text]
    assert len(hurt) / len(samples) <= MOST_HURT, hurt


def test_the_set_is_large_enough() -> None:
    sizes = {name: sum(len(family(held_out=half)) for half in (False, True)) for name, family in FAMILIES.items()}
    assert all(size >= 150 for size in sizes.values()), sizes
    assert len(LOOK_ALIKES) >= 200


@pytest.mark.parametrize("family", FAMILIES)
def test_twice_is_once(family: str) -> None:
    once = [redacted(sample.text) for sample in FAMILIES[family](held_out=False)]
    assert [redacted(text) for text in once] == once


def test_words_after_a_prefix_are_no_token() -> None:
    """A name in code that begins as a token does is left alone."""
    names = []
    for before, shape, after in map(parts, sorted(SHAPES.keys() - {"oracle_password"})):
        words = re.sub(r"<\w:\d+>|\{uuid\}", "of_the_next_name", shape)
        names.append(f"see {before}{words}{after} there")
    assert [redacted(text) for text in names] == names


def test_structures() -> None:
    """What stands around a password, in settings, code, tables and prose."""
    wrong = [text for text, value in STRUCTURES if value in redacted(text.format(value))]
    wrong += [text for text, _ in STRUCTURES if redacted(text.format("")) != text.format("")]
    assert wrong == []


STRUCTURES = (
    ("session_secret: {}", "keyboard" + "cat99"),
    ("password: '{}'", "it''s0" + "Good!x"),
    ('password = "{}"', 'ab\\"cd12' + "XY!x"),
    ("host\tuser\tpassword\nnas01\tbackup\t{}\n", "rdCf0kk" + "RSeHqO5"),
    ("user,password\nann,{}\n", "rdCf0kk" + "RSeHqO5"),
    ('{{"db_password": {{"value": "{}"}}}}', "rdCf0kk" + "RSeHqO5"),
    ('variable "db_password" {{\n  default = "{}"\n}}', "rdCf0kk" + "RSeHqO5"),
    ("sqlcmd -S db -U sa -P {} -Q x", "rdCf0kk" + "RSeHqO5"),
    ("redis-cli -a {} ping", "rdCf0kk" + "RSeHqO5"),
    ("htpasswd -bc users ann {}", "rdCf0kk" + "RSeHqO5"),
    ("<password><![CDATA[{}]]></password>", "rdCf0kk" + "RSeHqO5"),
    ("enable secret 0 {}", "rdCf0kk" + "RSeHqO5"),
    ("## Root password\n\n{}\n", "rdCf0kk" + "RSeHqO5"),
    ("secret&colon; {}", "rdCf0kk" + "RSeHqO5xx99"),
    ("p\u0430ssword: {}", "rdCf0kk" + "RSeHqO5"),
    ("пароль от базы данных {}", "rdCf0kk" + "RSeHqO5"),
    ("secret_key: {}\n", "g7Rk2mZqPxw4LhT" + "vB9sNcA=="),
    ("signingConfigs {{ release {{ storePassword '{}' }} }}", "rdCf0kk" + "RSeHqO5"),
    ("credentials {{\n  username 'ci'\n  password '{}'\n}}", "kumquats"),
    ("DB_PASSWORD={}", "tbxAk7jq" + "evt<L0"),
    ("API_SECRET={}", "uO45KyBB" + "oFs[T6"),
    ("Set-Cookie: PHPSESSID={}; path=/", "b3k9tanore" + "m2lid7vosu5pe1"),
    ("$p = ConvertTo-SecureString '{}' -AsPlainText -Force", "kumquats"),
    ('ConvertTo-SecureString -AsPlainText -String "{}" -Force', "rdCf0kk" + "RSeHqO5"),
    ("'{}' | ConvertTo-SecureString -AsPlainText -Force", "rdCf0kk" + "RSeHqO5"),
    ("$password = '{}'", "rdCf0kk" + "RSeHqO5"),
    ("apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  dsn: {}\n", "cmRDZjBra1J" + "TZUhxTzU="),
    ("data:\n  dsn: {}\nkind: Secret\n", "cmRDZjBra1J" + "TZUhxTzU="),
    ("+kind: Secret\n+stringData:\n+  dsn: '{}'\n", "rdCf0kk" + "RSeHqO5"),
)


def test_answers_stay_whole() -> None:
    """Documents of projects that hold no secret."""
    assert [text for text in DOCUMENTS if redacted(text) != text] == []


DOCUMENTS = (
    "Thankfully, all you need to do is pass `--max-columns 0` (or `-M0` for short).",
    "We have to pass urllib3 the url; pass `FORCE_COLOR=1` to the CI.",
    "The call got a password part_index=0 and no more.",
    "<input name=pass type=password size=10>",
    "click.echo(codecs.encode(password, 'rot13'))",
    'value = prompt(\n    "Password",\n    hide_input=True,\n    type=Length2(),\n)\n',
    "DEPRECATED, use @hookimpl(tryfirst=True) instead. Use memdup0 instead of malloc.",
    "It may send off the name and password to whatever host the server decides.",
    'm("ROOT/file_root_00").is_ignore()',
    "* `password`: Einige der nächsten Kapitel werden Beispiele zeigen.",
    'wie das gehashte Passwort aussieht: `"$2b$12$EixZaYVK1fsbw1ZfbX3OXePaWxn96p36WQoeG6Lruj3vjPGga31lW"`',
    "с аутентификацией по паролю, используя токен **Bearer**. токенами JWT**).",
    "[![Codecov](https://codecov.io/badge.svg?token=HP3K4Y4ctu)](https://codecov.io/gh/docker/compose)",
    "s3://aws_key:aws_secret@mybucket/path and http://user:new-password@localhost/",
    "Set-Cookie: OLD_PREF=3d141414bf4209321; path=/",
    "DB_PASSWORD=get_secret(x1)",
    "kind: ConfigMap\ndata:\n  mode: production\n---\nkind: Secret\nmetadata:\n  name: database\n",
    "kind: Secret\nstringData:\n  dsn: ${DATABASE_URL}\n  path: {{ .Values.path }}\n",
)
