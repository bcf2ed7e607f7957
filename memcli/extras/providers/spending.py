"""What language models have cost, and whether one answers."""

from __future__ import annotations

from memcli.app.workspace import Workspace
from memcli.model.conversation import Prompt
from memcli.model.memory import Json
from memcli.model.usage import NANO, Charge, Total, total
from memcli.ports.language_model import LanguageModel
from memcli.record import Record

_QUESTION = Prompt(
    task="check/1",
    system="You check a connection. Answer with JSON alone.",
    text='Answer {"ok": true}.',
    schema={"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]},
    max_tokens=1000,  # a model that thinks before it answers needs some
)


class Spent(Record):
    """What a provider has cost on a day for a space."""

    day: str
    space: str
    provider: str
    total: Total

    def to_json(self) -> dict[str, Json]:
        known = self.total.unpriced < self.total.calls
        return {
            "day": self.day, "space": self.space, "provider": self.provider, "calls": self.total.calls,
            "tokens_in": self.total.tokens_in, "tokens_out": self.total.tokens_out,
            "usd": self.total.nano_usd / NANO if known else None,
            "unpriced": self.total.unpriced, "unsettled": self.total.pending,
        }  # fmt: skip


def check_model(model: LanguageModel, within: float) -> None:
    """Asks a model one short question. Raises ProviderError, RefusedError."""
    model.ask(_QUESTION, lambda data: data, within)


def spent(workspace: Workspace, since: str = "", until: str = "") -> list[Spent]:
    """The cost of each day from `since` until `until`, by space and provider, in this order; of the space that the user
    named, or of all. Raises StoreError."""
    found: dict[tuple[str, str, str], list[Charge]] = {}
    for day in workspace.ledger.days():
        if since <= day <= (until or day):
            for charge in workspace.ledger.read(day).charges:
                if not workspace.is_space_named or charge.space == workspace.space:
                    found.setdefault((day, charge.space, charge.provider), []).append(charge)
    return [Spent(*key, total(charges)) for key, charges in sorted(found.items())]
