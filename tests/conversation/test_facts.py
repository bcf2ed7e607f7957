"""What is a fact, of which kind, and what is none; and a fact that a model names is one of the message, in its words, or none."""

from __future__ import annotations

from memcli.conversation.facts import KINDS, Fact, extract, point
from memcli.model.conversation import Message
from memcli.model.memory import RULE_KINDS
from memcli.summarize.lexicon import cue_of
from tests.growth import SHAPES, grows_too_fast


def said(*texts: str) -> list[Message]:
    """A conversation: `u: ...` by the user, `a: ...` by the assistant, `t: ...` by a tool."""
    roles = {"u": "user", "a": "assistant", "t": "tool"}
    return [Message(n, roles[text[0]], text[3:]) for n, text in enumerate(texts, 1)]


def found(*texts: str) -> list[tuple[str, str, int]]:
    return [(fact.kind, fact.text, fact.message) for fact in extract(said(*texts))]


RULE = ("decision", "preference", "constraint", "correction", "negative")


def test_a_statement_is_a_fact_of_its_family() -> None:
    cases = [
        ("ok, we're going with LevelDB.", RULE, "we're going with LevelDB."),
        ("I prefer guard clauses.", RULE, "I prefer guard clauses."),
        ("It must run offline on the old tablets.", RULE, ""),
        ("no, the port is 8443", RULE, "the port is 8443"),
        ("Please **never** edit `gen/`.", RULE, "Please never edit `gen/`."),
        ("We tried Bazel last year and nobody could maintain it.", RULE, ""),
        ("The goal is to open the beta by May.", ("goal",), ""),
        ("To deploy, run `make ship`.", ("procedure",), ""),
        ("btw the certificate expires on 3 June", ("fact",), "the certificate expires on 3 June"),
    ]
    wrong = []
    for text, kinds, words in cases:
        facts = found(f"u: {text}")
        if len(facts) != 1 or facts[0][0] not in kinds or facts[0][1] != (words or text):
            wrong.append((text, facts))
    assert wrong == []


def test_a_question_a_hypothesis_a_quotation_or_a_passing_state_is_none() -> None:
    cases = [
        "should we go with LevelDB?", "what if we decided to use Kafka", "maybe we should prefer composition",
        "I can rewrite it in Go", "if we ever went multi-tenant, we must shard", "> You must never do this.",
        "```\n# never commit this\n```", 'The README says "always run make clean".',
        "the linter complains: never use eval", "the tests are failing now", "I have to leave",
        "It must have been the DNS.", "don't worry", "we haven't decided yet", "he prefers tabs", "add a test for that",
    ]  # fmt: skip
    assert [text for text in cases if found(f"u: {text}") != []] == []


def test_what_others_say_counts_once_the_user_keeps_or_accepts_it() -> None:
    procedure = "a: Run `bin/seed demo` after every migration."
    proposal = "a: I suggest we store amounts in cents."
    assert found("t: Never push to main.") == []
    assert found(procedure) == []
    assert found(procedure, "u: why?") == []
    assert found(procedure, "u: good, remember that") == [("procedure", procedure[3:], 1)]
    assert found(proposal, "u: no") == []
    assert found(proposal, "u: yes, do that") == [("decision", proposal[3:], 1)]
    assert found("a: Soft deletes or hard deletes?", "u: soft deletes") == [("decision", "soft deletes", 2)]


def test_what_is_taken_back_or_made_anew_is_no_fact() -> None:
    assert found("u: we're going with Tailwind", "a: Done.", "u: scratch that") == []
    assert found("u: Never sign the commits.", "u: nvm, not needed in this repo") == []
    assert found("u: We decided on Fly.", "a: Ok.", "u: actually no, use Hetzner instead") == [
        ("decision", "use Hetzner instead", 3)
    ]
    first, second = "u: we're going with harbor as the package name", "u: we're going with quay as the package name"
    assert [text for _, text, _ in found(first, second)] == [second[3:]]


def test_items_of_a_list_are_facts_and_steps_are_one() -> None:
    rules = "u: Some rules for this repository:\n- **never** push to main\n- always sign your commits\n\nThanks!"
    steps = "u: To release:\n1. Bump the version.\n2. Run `make tag`.\n3. Push the tag."
    assert [text for _, text, _ in found(rules)] == ["never push to main", "always sign your commits"]
    assert found(steps) == [("procedure", "To release: 1. Bump the version. 2. Run `make tag`. 3. Push the tag.", 1)]


def test_a_fact_stands_at_its_span_and_is_said_once() -> None:
    text = "Hello.\n\nok, we're going  with\nLevelDB. Never push to main."
    facts = extract(
        [Message(0, "assistant", "Hi."), Message(0, "user", text), Message(0, "user", "never push to main.")]
    )
    assert [fact.message for fact in facts] == [2, 2]
    for fact in facts:
        start, end = fact.span
        assert " ".join(text[start:end].split()) == fact.text
        assert fact.kind in KINDS
        assert fact.to_json() == {
            "kind": fact.kind, "text": fact.text, "message": fact.message, "confidence": fact.confidence,
        }  # fmt: skip


def test_work_is_in_proportion_to_the_text_and_the_messages() -> None:
    def read(text: str) -> object:
        return extract([Message(1, "assistant", f"Should we use {text}"), Message(2, "user", text)])

    def read_many(text: str) -> object:
        return extract([Message(n, "user", f"Never touch the file{n}.") for n in range(1, len(text) // 10)])

    assert [shape for shape in SHAPES if grows_too_fast(read, SHAPES[shape])] == []
    assert not grows_too_fast(read_many, SHAPES["letters"])


TEXT = (
    "OK, let's lower the cost factor to 12 then. Never go below 12, the auditors require it.\n\n"
    "- We use argon2 for new accounts. It resists GPUs.\n\nShould we migrate the old accounts?\n\n"
    "```\nrm -rf the database\n```"
)


def pointed(text: str, role: str = "user") -> str | None:
    fact = point("decision", text, 0.8, Message(4, role, TEXT), [])
    return None if fact is None else fact.text


def test_what_a_model_names_is_in_the_words_of_the_message_or_none() -> None:
    cases = [
        ("go below 12", "Never go below 12, the auditors require it."),
        ("lowering cost factors to 12", "let's lower the cost factor to 12 then."),
        ("argon2 for new accounts, it resists GPUs", "We use argon2 for new accounts. It resists GPUs."),
        ("We use MySQL for new accounts.", None),
        ("Lower the cost factor for new accounts.", None),
        ("migrate the old accounts", None),
        ("rm -rf the database", None),
        ("…", None),
    ]
    assert [(text, words) for text, words in cases if pointed(text) != words] == []
    assert pointed("Never go below 12.", "tool") is None


def test_of_the_same_sentence_the_words_of_the_local_layer_are_taken() -> None:
    messages = said("a: I suggest we store amounts in cents.", "u: yes, do that")
    local = extract(messages)
    named = point("constraint", "amounts in cents", 0.9, messages[0], local)
    assert named == Fact("constraint", local[0].text, 1, 0.9, local[0].span)


LIMIT = "constraint"
PLAIN = [
    ("Wir haben uns für PostgreSQL entschieden.", "decision"),
    ("Freitags darf nach 14 Uhr nichts ausgerollt werden.", LIMIT),
    ("Niemals Tokens ins Log schreiben.", LIMIT),
    ("Ich bevorzuge kurze Commit-Nachrichten.", "preference"),
    ("Hemos decidido usar PostgreSQL.", "decision"),
    ("No se debe desplegar los viernes.", LIMIT),
    ("Nunca subir claves al repositorio.", LIMIT),
    ("Prefiero nombres cortos.", "preference"),
    ("主データベースはPostgreSQLに決めた。", "decision"),
    ("本番環境へ直接デプロイしないこと。", LIMIT),
    ("テスト環境から顧客へメールを絶対に送信しない。", LIMIT),
    ("我们决定使用PostgreSQL作为主数据库。", "decision"),
    ("周五下午禁止部署到生产环境。", LIMIT),
    ("绝对不要提交密钥到仓库。", LIMIT),
]
NONE = [
    "Kannst du mir den Test erklären?", "Wie spät ist es in Berlin?", "¿Puedes explicar la prueba?",
    "La compilación ha fallado otra vez.", "このテストを説明してもらえますか？", "ビルドがまた失敗した。", "你能解释一下这个测试吗？", "构建又失败了。",
]  # fmt: skip


def family(kind: str) -> str:
    return LIMIT if kind in RULE_KINDS else kind


def test_what_is_plain_in_another_language_is_a_fact_of_its_kind_and_what_asks_or_reports_is_none() -> None:
    facts = [(fact.text, family(fact.kind)) for text, _ in PLAIN for fact in extract([Message(1, "user", text)])]
    assert facts == PLAIN
    assert [(text, family(cue_of(text))) for text, _ in PLAIN] == PLAIN
    assert [text for text in NONE if extract([Message(1, "user", text)])] == []
