"""`memcli provider`"""

from __future__ import annotations

import os

from memcli.cli.options import Options, argument, option
from memcli.cli.verb import SHARE, CommandContext, Group
from memcli.errors import UsageError

command = Group(
    "provider",
    "List and check the providers of language models, and show what they cost.",
    section=SHARE,
    line="List and check language models, and what they cost",
)


@command.verb(returns="Objects")
def list_(session: CommandContext) -> None:
    """List the providers: the model in use, the variable that has the key, the address, and what is missing.

    `--model`, MEMCLI_SEMANTIC_MODEL or `model` in config.toml chooses a model, as provider:model. Keys come from the
    environment only.

    >>> [row['provider'] for row in memory.provider_list()][:2]
    ['openai', 'anthropic']
    """
    from memcli.extras.providers.opening import list_providers
    from memcli.render.clean import grid

    found = list_providers(session.open(), os.environ)
    names = ("provider", "model", "key", "address")
    rows = [[*(row[name] or "-" for name in names), row["problem"] or "ready"] for row in found]
    session.output.answer(found, grid([*names, ""], rows))


class CheckOptions(Options):
    """The options of `memcli provider check`."""

    model: str | None = argument("[PROVIDER:MODEL]", "The model to ask [default: the configured one].")
    within: float = option(metavar="SECONDS", help="The longest wait.", type=float, low=0.1, high=600, default=30.0)


@command.verb(CheckOptions)
def check(session: CommandContext, options: CheckOptions) -> None:
    """Ask a model one short question, to see whether it answers as memcli needs it. The call counts.

    Example: memcli provider check ollama:llama3.2

    >>> memory.provider_check()
    Traceback (most recent call last):
    memcli.errors.UsageError: no language model is configured
    """
    from memcli.model.conversation import Prompt

    model = session.open().language_model(options.model)
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    question = Prompt(
        task="check/1", system="You check a connection. Answer with JSON alone.", text='Answer {"ok": true}.',
        schema=schema, max_tokens=1000,  # a model that thinks before it answers needs some
    )  # fmt: skip
    model.ask(question, lambda data: data, options.within)
    session.output.confirm({"model": model.name, "answers": True}, f"{model.name} answers")


class UsageOptions(Options):
    """The options of `memcli provider usage`."""

    day: str | None = option(metavar="DAY", help="Only this day (UTC).")
    since: str | None = option(metavar="DAY", help="Only this day and later ones.")


@command.verb(UsageOptions, returns="Objects")
def usage(session: CommandContext, options: UsageOptions) -> None:
    """Show the calls, tokens and US dollars of each day (UTC), space and provider.

    A call that was not settled, such as one that was interrupted, counts as the most that it may have cost. MEMCLI_PRICES
    sets prices, such as openai:gpt-5-mini=0.25/2 for a million tokens sent and received. The last 400 days are kept.

    >>> memory.provider_usage()
    []
    """
    from memcli.clock import normalize_time
    from memcli.extras.providers.meter import spent
    from memcli.extras.providers.quota import dollars
    from memcli.render.clean import grid

    if options.day and options.since:
        raise UsageError("--day cannot be used with --since", "use one of them")
    first = options.day or options.since
    since = normalize_time(first)[:10] if first else ""
    workspace = session.open()
    found = spent(workspace, since, since if options.day else "")
    rows = []
    for row in found:
        t = row.total
        price = "unknown" if t.unpriced == t.calls else dollars(t.nano_usd) + (" and more" if t.unpriced else "")
        note = f"{t.pending} not settled" if t.pending else ""
        counts = [f"{t.calls:,}", f"{t.tokens_in:,}", f"{t.tokens_out:,}"]
        rows.append([row.day, row.space, row.provider, *counts, price, note])
    names = ["day", "space", "provider", "calls", "tokens in", "tokens out", "US dollars", ""]
    session.output.answer([row.to_json() for row in found], grid(names, rows) if rows else "no calls")
