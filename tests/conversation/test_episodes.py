from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from memcli.conversation.episodes import KEY, KINDS, Episode, arc, find
from memcli.model.conversation import Message
from memcli.model.shapes import MEMORY_FIELDS
from tests.conversation.corpus import Labelled, read, talk
from tests.growth import SHAPES, grows_too_fast

ALL = [*read("episodes_tuned.txt"), *read("episodes_unseen.txt"), *read("long_conversation.txt")]


def score(conversations: list[Labelled]) -> tuple[int, int, int]:
    """How many of the labelled episodes are found by kind and overlapping turns, how many there are, how many were given."""
    found = labelled = given_ = 0
    for _, messages, wanted in conversations:
        episodes = find(messages)
        left = list(episodes)
        for kind, first, last in wanted:
            hit = next(
                (one for one in left if one.kind == kind and one.turns[0] <= last and first <= one.turns[1]), None
            )
            if hit:
                left.remove(hit)
                found += 1
        labelled, given_ = labelled + len(wanted), given_ + len(episodes)
    return found, labelled, given_


def test_most_episodes_are_found_and_few_are_none() -> None:
    for name, recall, precision in [("tuned", 0.95, 0.95), ("unseen", 0.65, 0.9)]:
        found, labelled, given_ = score(read(f"episodes_{name}.txt"))
        print(f"{name}: found {found} of {labelled}, right {found} of {given_}")
        assert labelled >= 15
        assert found >= recall * labelled
        assert found >= precision * given_


def test_an_episode_is_named_and_has_an_outcome_that_answers_it() -> None:
    for labelled in read("episodes_answered.txt"):
        found = find(labelled.messages)
        assert [(one.kind, *one.turns) for one in found] == labelled.episodes
        assert not {one.outcome for one in found} & {"Done.", "Works!", "Fixed."}


def test_the_outcome_is_what_was_done_where_the_end_does_not_say_it() -> None:
    (one,) = find(next(one.messages for one in read("episodes_answered.txt") if one.title.startswith("what was done")))
    assert one.outcome == "I raised client_max_body_size of nginx to 50 MB."


def test_every_kind_is_labelled() -> None:
    assert {kind for one in ALL for kind, _, _ in one.episodes} == set(KINDS)
    assert sum(not one.episodes for one in ALL) >= 20


def test_episodes_are_complete_and_stand_in_the_session() -> None:
    for labelled in ALL:
        said = " ".join(" ".join(message.text.split()) for message in labelled.messages)
        for one in find(labelled.messages):
            assert one.kind in KINDS
            assert 1 <= one.turns[0] <= one.turns[1] <= len(labelled.messages)
            assert -1 <= one.valence <= 1
            assert 0 <= one.significance <= 1
            assert one.participants
            assert set(one.participants) <= {message.who for message in labelled.messages}
            assert one.title
            assert all(text.removesuffix("…") in said for text in (one.title, one.context, one.outcome))


def test_a_problem_and_its_solution_are_one_episode_with_the_fields_of_a_memory() -> None:
    found = find(ALL[0].messages)
    assert set(found[0].as_field()) == set(MEMORY_FIELDS["episode"]["properties"])
    assert [(one.kind, one.turns) for one in found] == [("problem_solved", (1, 6)), ("breakthrough", (4, 4))]
    assert found[0].outcome == "The 502s are gone in the load test."


def test_questions_guesses_offers_quotes_and_code_are_no_episodes() -> None:
    cases = [
        "Did we decide to use Redis?",
        "If the cache crashes, we would go with Postgres.",
        "Maybe we should go with Postgres.",
        'The log says "we decided to retry".',
        "We have not decided yet whether we use Redis.",
        "I could fix the bug in the parser if you like.",
        "```\n# we decided to use redis, it crashed, it is fixed\n```",
        "> We decided to use Redis.",
        "There are no errors in the log.",
        "The error messages are defined in errors.py.",
    ]  # fmt: skip
    for text in cases:
        for role in ("user", "assistant"):
            assert find([Message(1, "user", "Hello."), Message(2, role, text), Message(3, "user", "ok")]) == []


def test_what_still_fails_is_not_solved() -> None:
    said = (
        "The build fails on Windows.",
        "I changed the path separator.",
        "Still failing, same error.",
        "I do not know why.",
    )
    found = find(talk(*said))
    assert [one.kind for one in found] == ["issue_found"]


def test_a_decision_that_is_taken_back_is_a_pivot() -> None:
    said = ["We'll use MongoDB.", "Okay.", "Actually, scrap that. We go with Postgres."]
    found = find(talk(*said))
    assert [(one.kind, one.outcome) for one in found][1] == ("pivot", "We go with Postgres.")


def test_at_most_so_many_are_kept_the_most_significant() -> None:
    messages = read("long_conversation.txt")[0].messages
    every, few = find(messages), find(messages, most=3)
    least = sorted((one.significance for one in every), reverse=True)[2]
    assert len(few) == 3
    assert all(one in every and one.significance >= least for one in few)
    assert [one.turns for one in few] == sorted(one.turns for one in few)
    assert find(messages, most=0) == []


def test_no_two_of_a_kind_say_the_same() -> None:
    messages = [Message(n, "user", "We decided to use Postgres for the job queue.") for n in range(1, 9)]
    assert len(find(messages)) == 1


def test_the_arc_has_every_episode_in_its_third() -> None:
    messages = read("long_conversation.txt")[0].messages
    found = find(messages)
    whole = arc(found, len(messages))
    assert [*whole["beginning"], *whole["middle"], *whole["end"]] == found
    assert all(one.turns[0] <= len(messages) / 3 + 1 for one in whole["beginning"])
    assert all(one.turns[0] > len(messages) * 2 / 3 for one in whole["end"])
    assert list(whole["key_moments"]) == [one for one in found if one.significance >= KEY]
    assert whole["key_moments"]
    assert arc([], 0)["key_moments"] == ()


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["user", "assistant", "tool"]),
            st.sampled_from([s.text for one in ALL for s in one.messages]),
        ),
        max_size=30,
    )
)
def test_any_conversation_has_an_order_of_episodes(said: list[tuple[str, str]]) -> None:
    messages = [Message(n, role, text) for n, (role, text) in enumerate(said, 1)]
    found = find(messages)
    assert found == find(list(messages))
    assert all(one.turns[0] <= other.turns[0] for one, other in pairwise(found))
    assert all(isinstance(one, Episode) and 1 <= one.turns[0] <= one.turns[1] <= len(messages) for one in found)


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    find([Message(1, "user", text), Message(2, "assistant", text), Message(3, "tool", text)])


def test_reading_takes_time_in_proportion_to_the_text() -> None:
    for name in [*SHAPES, "so", "amounts"]:
        more = {"so": lambda size: "so, " * (size // 4), "amounts": lambda size: "from 1 " * (size // 7)}
        shape = SHAPES.get(name) or more[name]
        assert not grows_too_fast(lambda text: find([Message(n, "user", text) for n in range(1, 3)]), shape)


def test_a_title_that_begins_the_outcome_is_not_said_twice() -> None:
    cases = [
        ("It fails.", "", ("It fails.",)),
        ("It fails.", "It fails.", ("It fails.",)),
        ("It fails.", "Now it works.", ("It fails.", "Now it works.")),
        (
            "We chose PostgreSQL, because…",
            "We chose PostgreSQL, because of JSONB.",
            ("We chose PostgreSQL, because of JSONB.",),
        ),
    ]
    assert [
        (title, outcome, parts)
        for title, outcome, parts in cases
        if Episode("decision_made", title, "", (), outcome, 0.5, 0.5, (1, 2)).parts != parts
    ] == []
