"""What was said last in a conversation: the question, the choice, the offer and the statement that an answer may belong to."""

from __future__ import annotations

from memcli.conversation.moment_rules import CHOICE
from memcli.conversation.moments import Moment
from memcli.conversation.statements import ASKED, OFFERED, STATED, TalkStatement
from memcli.model.analysis import terms

_RAISED = 6
"""How many messages before a decision the question stands that it answers."""
_OPTION = 4
"""The most words of an answer that only names an option."""


class Latest:
    """`offer` and `statement` are the assistant's."""

    def __init__(self) -> None:
        self.offer: TalkStatement | None = None
        self.statement: TalkStatement | None = None
        self._question: TalkStatement | None = None
        self._choice: TalkStatement | None = None

    def take(self, one: Moment) -> None:
        """Remembers a sentence by its mood."""
        said = one.statement
        if said.mood == ASKED:
            self._question = said
            if CHOICE in one.marks:
                self._choice = said
        elif said.mood == OFFERED:
            self.offer = said
        elif said.role == "assistant" and said.mood == STATED:
            self.statement = said

    def question(self, said: TalkStatement) -> TalkStatement | None:
        """The question that a decision answers."""
        question = self._choice if self._is_about_choice(said) else self._question
        return question if question and said.number - question.number <= _RAISED else None

    def is_answered(self, said: TalkStatement, *, is_chosen: bool) -> bool:
        """Whether a sentence makes the choice that was asked for; `is_chosen`: it sounds like that."""
        return self._is_about_choice(said) and (is_chosen or self._is_option(said))

    def _is_about_choice(self, said: TalkStatement) -> bool:
        choice = self._choice
        return said.role != "assistant" and choice is not None and 0 < said.number - choice.number <= _RAISED

    def _is_option(self, said: TalkStatement) -> bool:
        """Whether a short answer does no more than name one of the things to choose from."""
        options = [one for one in (self._choice, self.statement) if one]
        named = set(terms(said.text))
        return (
            said.mood == STATED
            and 0 < len(said.bare.split()) <= _OPTION
            and any(len(named & set(terms(one.text))) * 2 > len(named) for one in options)
        )
