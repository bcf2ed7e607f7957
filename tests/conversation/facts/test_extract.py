"""What is a fact and what is none, rule by rule."""

from __future__ import annotations

from memcli.conversation.facts import extract
from memcli.model.conversation import Message
from tests.growth import SHAPES, grows_too_fast


def told(*texts: str) -> list[tuple[str, str, int]]:
    """The facts of a conversation: `u: ...` by the user, `a: ...` by the assistant, `t: ...` by a tool."""
    roles = {"u": "user", "a": "assistant", "t": "tool"}
    messages = [Message(n, roles[text[0]], text[3:]) for n, text in enumerate(texts, 1)]
    return [(fact.kind, fact.text, fact.message) for fact in extract(messages)]


def test_a_statement_is_a_fact_of_its_kind() -> None:
    cases = [
        ("ok, we're going with SQLite.", "decision", "we're going with SQLite."),
        ("NATS it is", "decision", "NATS it is"),
        ("I prefer early returns.", "preference", "I prefer early returns."),
        ("It has to run offline.", "constraint", "It has to run offline."),
        ("The goal is to ship by May.", "goal", "The goal is to ship by May."),
        ("To deploy, run `make ship`.", "procedure", "To deploy, run `make ship`."),
        ("no, the port is 8443", "correction", "the port is 8443"),
        ("Never push to main.", "negative", "Never push to main."),
        ("dont touch the lock file pls", "negative", "dont touch the lock file pls"),
        ("my boss wants Java, but we're staying with Kotlin", "decision", "we're staying with Kotlin"),
        ("Please **never** edit `dist/`.", "negative", "never edit `dist/`."),
        ("`core.py` must stay free of `numpy`", "constraint", "`core.py` must stay free of `numpy`"),
        ("For logging, use structlog.", "decision", "use structlog."),
        ("This is a rewrite. Also don't bump the version.", "negative", "don't bump the version."),
    ]
    assert [(text, kind, fact) for text, kind, fact in cases if told(f"u: {text}") != [(kind, fact, 1)]] == []


def test_a_question_a_hypothesis_a_quotation_or_a_passing_state_is_none() -> None:
    cases = [
        "should we go with SQLite?",
        "what if we decided to use Kafka",
        "maybe we should prefer composition",
        "I can rewrite it in Go",
        "if we ever went multi-tenant, we must shard",
        "> You must never do this.",
        "```\n# never commit this\n```",
        'The README says "always run make clean".',
        "the linter complains: never use eval",
        "yeah sure, let's just drop the users table, what could go wrong",
        "the tests are failing now",
        "I have to leave",
        "It must have been the DNS.",
        "don't worry",
        "we haven't decided yet",
        "bitte nie direkt auf den main pushen",
        "he prefers tabs",
    ]
    assert [text for text in cases if told(f"u: {text}") != []] == []


def test_what_a_tool_prints_is_no_fact() -> None:
    assert told("t: Never push to main.") == []


def test_an_assistant_states_what_it_chose_for_a_reason() -> None:
    assert told("a: I chose a heap because deletes are rare.") == [
        ("decision", "I chose a heap because deletes are rare.", 1)
    ]
    assert told("a: You should prefer composition. I can do that.") == []


def test_a_proposal_becomes_a_fact_when_the_next_message_accepts_it() -> None:
    proposal = "a: I suggest we store amounts in cents."

    assert told(proposal, "u: yes, do that") == [("decision", "I suggest we store amounts in cents.", 1)]
    assert told(proposal, "u: no") == []
    assert told(proposal, "u: why?") == []
    assert told(proposal) == []


def test_an_option_becomes_a_fact_when_it_is_chosen_by_its_place() -> None:
    options = "a: There are two ways:\n1. Use a mutex.\n2. Use a channel.\nWhich one?"

    assert told(options, "u: 2") == [("decision", "Use a channel.", 1)]
    assert told(options, "u: the first one please") == [("decision", "Use a mutex.", 1)]


def test_an_answer_that_names_an_option_is_a_decision() -> None:
    assert told("a: Do you want soft deletes or hard deletes?", "u: soft deletes") == [("decision", "soft deletes", 2)]


def test_what_is_taken_back_later_is_no_fact() -> None:
    assert told("u: let's use Tailwind", "a: Done.", "u: scratch that") == []
    assert told("u: Always sign the commits.", "u: nvm, not needed in this repo") == []
    assert told("u: We'll deploy to Fly.", "a: Ok.", "u: actually no, use Hetzner instead") == [
        ("decision", "use Hetzner instead", 3)
    ]


def test_the_later_of_two_decisions_about_one_thing_wins() -> None:
    assert told("u: let's call the package harbor", "u: let's call the package quay") == [
        ("decision", "let's call the package quay", 2)
    ]


def test_the_items_of_a_list_are_of_the_kind_that_its_lead_names() -> None:
    rules = "u: Some rules for this repository:\n- use tabs\n- **never** push to main\n\nThanks!"

    assert told(rules) == [("preference", "use tabs", 1), ("negative", "never push to main", 1)]
    assert told("u: Options:\n- use tabs\n- use spaces") == []


def test_the_steps_of_a_list_are_one_procedure() -> None:
    steps = "u: To release:\n1. Bump the version.\n2. Tag it.\n3. Push the tag."

    assert told(steps) == [("procedure", "To release: 1. Bump the version. 2. Tag it. 3. Push the tag.", 1)]


def test_messages_without_numbers_are_counted() -> None:
    messages = [Message(0, "assistant", "Hello."), Message(0, "user", "Never push to main.")]

    assert [fact.message for fact in extract(messages)] == [2]


def test_what_is_printed_of_a_fact() -> None:
    (fact,) = extract([Message(1, "user", "Never push to main.")])

    assert fact.to_json() == {
        "kind": "negative", "text": "Never push to main.", "message": 1, "confidence": fact.confidence,
    }  # fmt: skip


def test_a_fact_said_twice_is_one() -> None:
    assert len(told("u: Never push to main.", "u: never push to main.")) == 1


def test_work_is_in_proportion_to_the_text() -> None:
    def read(text: str) -> object:
        return extract([Message(1, "assistant", f"Should we use {text}"), Message(2, "user", text)])

    assert [shape for shape in SHAPES if grows_too_fast(read, SHAPES[shape])] == []


def test_work_is_in_proportion_to_the_messages() -> None:
    def read(text: str) -> object:
        return extract([Message(n, "user", f"Never touch the file{n}.") for n in range(1, len(text) // 10)])

    assert not grows_too_fast(read, SHAPES["letters"])
