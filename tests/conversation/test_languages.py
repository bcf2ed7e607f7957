"""Facts of conversations in German, Spanish, Japanese and Chinese, where they are plain."""

from __future__ import annotations

import pytest

from memcli.conversation.facts import extract
from memcli.model.conversation import Message
from memcli.model.memory import RULE_KINDS
from memcli.summarize.lexicon import cue_of

RULE = "constraint"
PLAIN = [
    ("Wir haben uns für PostgreSQL entschieden.", "decision"),
    ("Freitags darf nach 14 Uhr nichts ausgerollt werden.", RULE),
    ("Niemals Tokens ins Log schreiben.", RULE),
    ("Ich bevorzuge kurze Commit-Nachrichten.", "preference"),
    ("Hemos decidido usar PostgreSQL.", "decision"),
    ("No se debe desplegar los viernes.", RULE),
    ("Nunca subir claves al repositorio.", RULE),
    ("Prefiero nombres cortos.", "preference"),
    ("主データベースはPostgreSQLに決めた。", "decision"),
    ("本番環境へ直接デプロイしないこと。", RULE),
    ("テスト環境から顧客へメールを絶対に送信しない。", RULE),
    ("我们决定使用PostgreSQL作为主数据库。", "decision"),
    ("周五下午禁止部署到生产环境。", RULE),
    ("绝对不要提交密钥到仓库。", RULE),
]
NONE = [
    "Kannst du mir den Test erklären?", "Wie spät ist es in Berlin?", "¿Puedes explicar la prueba?",
    "La compilación ha fallado otra vez.", "このテストを説明してもらえますか？", "ビルドがまた失敗した。", "你能解释一下这个测试吗？", "构建又失败了。",
]  # fmt: skip


def family(kind: str) -> str:
    return RULE if kind in RULE_KINDS else kind


@pytest.mark.parametrize(("text", "kind"), PLAIN)
def test_a_plain_statement_is_a_fact_of_its_kind(text: str, kind: str) -> None:
    (fact,) = extract([Message(number=1, role="user", text=text)])
    assert family(fact.kind) == kind
    assert fact.text == text
    assert family(cue_of(text)) == kind


@pytest.mark.parametrize("text", NONE)
def test_what_asks_or_reports_is_none(text: str) -> None:
    assert not extract([Message(number=1, role="user", text=text)])
