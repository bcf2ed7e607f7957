"""Statements about the parts of a system, of which some are outdated or wrong, and questions about them. Seeded."""

from __future__ import annotations

import random  # noqa: TID251 - drawn from a seed
from dataclasses import dataclass

PARTS = tuple(
    f"{area} {role}"
    for area in (
        "billing", "search", "orders", "login", "upload", "report", "export", "mail", "chat", "catalog", "stock", "price",
        "invoice", "refund", "session", "audit", "media", "thumbnail", "webhook", "partner", "mobile", "admin", "metrics",
        "alerting", "backup", "staging", "import", "rating", "coupon", "shipping",
    )
    for role in ("service", "worker", "gateway", "scheduler", "database", "cache")
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Topic:
    """What is stated of a part: kind, ways to say it, ways to ask for it, and the values that it may have."""

    name: str
    kind: str
    says: tuple[str, ...]
    asks: tuple[str, ...]
    values: tuple[str, ...]


TOPICS = (
    Topic("port", "fact",
        ("The {part} listens on port {value}.", "{part} is reachable on port {value} inside the cluster."),
        ("which port does the {part} listen on?", "what is the port of the {part}"),
        ("8080", "9090", "7000", "5050", "6543", "8443")),
    Topic("owner", "fact",
        ("Team {value} owns the {part} and answers its pages.", "The {part} belongs to team {value}."),
        ("who owns the {part}?", "which team is responsible for the {part}"),
        ("Falcon", "Otter", "Birch", "Comet", "Harbor", "Lantern")),
    Topic("timeout", "config",
        ("Requests to the {part} time out after {value} seconds.", "The timeout of the {part} is {value} seconds."),
        ("what is the timeout of the {part}?", "after how many seconds do requests to the {part} time out"),
        ("5", "10", "20", "30", "45", "90")),
    Topic("language", "decision",
        ("We decided to write the {part} in {value}, because the team knows it best.",
         "The {part} is written in {value}; we chose it for its libraries."),
        ("which language is the {part} written in?", "what did we choose to write the {part} in"),
        ("Go", "Rust", "Python", "Kotlin", "Elixir", "Java")),
    Topic("deploy", "procedure",
        ("To deploy the {part}, run make {value} and wait for the canary.",
         "Deploying the {part}: run make {value}, then watch the dashboard for ten minutes."),
        ("how do we deploy the {part}?", "what to run to deploy the {part}"),
        ("release", "ship", "rollout", "publish", "promote", "launch")),
    Topic("retries", "constraint",
        ("The {part} must retry failed calls at most {value} times.", "Never retry a call of the {part} more than {value} times."),
        ("how often may the {part} retry?", "how many retries does the {part} make for failed calls"),
        ("2", "3", "4", "5", "6", "8")),
    Topic("storage", "decision",
        ("We chose {value} as the store behind the {part}, for its backups.", "The {part} keeps its data in {value}."),
        ("where does the {part} keep its data?", "which store is behind the {part}"),
        ("PostgreSQL", "SQLite", "Redis", "MongoDB", "DynamoDB", "Cassandra")),
    Topic("format", "preference",
        ("We prefer {value} for the logs of the {part}.", "Logs of the {part} should be written as {value}."),
        ("which format do we prefer for the logs of the {part}?", "how should logs of the {part} be written"),
        ("JSON lines", "logfmt", "plain text", "CSV", "protobuf", "syslog")),
    Topic("region", "fact",
        ("The {part} runs in {value}.", "In production the {part} is hosted in {value}."),
        ("in which region does the {part} run?", "where is the {part} hosted in production"),
        ("Frankfurt", "Dublin", "Oregon", "Virginia", "Tokyo", "Sydney")),
    Topic("review", "guide",
        ("Changes of the {part} need {value} approvals before they are merged.",
         "Merge a change of the {part} only with {value} approvals."),
        ("how many approvals do changes of the {part} need?", "what does it take to merge a change of the {part}"),
        ("one", "two", "three", "four", "five", "six")),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Statement:
    """A memory of the simulation. It holds from `day` until `until` (days from the beginning of the year); one that is
    `wrong` never does."""

    id: str
    subject: int
    text: str
    path: str
    kind: str
    day: int
    until: int = 1 << 30
    wrong: bool = False
    pinned: bool = False
    reason: str = ""

    def holds(self, day: int) -> bool:
        """Whether it is true on that day."""
        return not self.wrong and day < self.until


@dataclass(frozen=True, slots=True)
class Subject:
    """Something that is asked about. `weight` is how often; 0: never."""

    asks: tuple[str, ...]
    weight: float


def make(size: int, bad: int, seed: int) -> tuple[list[Subject], list[Statement]]:
    """`size` statements, of which `bad` are outdated or become so in the year, or are wrong."""
    chance = random.Random(seed)  # noqa: S311
    outdated, wrong = bad * 2 // 3, bad - bad * 2 // 3
    named = [(part, topic) for part in PARTS for topic in TOPICS]
    chance.shuffle(named)
    named = named[: size - bad]
    subjects, statements = [], list[Statement]()
    for number, (part, topic) in enumerate(named):
        rank = chance.randrange(len(named))
        weight = 0.0 if chance.random() < 0.15 else 1.0 / (10 + rank) ** 0.8
        subjects.append(Subject(tuple(ask.format(part=part) for ask in topic.asks), weight))
        old, new = chance.sample(topic.values, 2)
        says = chance.sample(topic.says, 2)
        day = -chance.randrange(20, 400)
        if number < outdated:  # somebody states it anew, and nobody says that the old one has ended
            day, changed = -chance.randrange(200, 500), chance.randrange(-150, 240)
            statements.append(_statement(f"o{number}", number, says[0], part, topic, old, day, changed))
            day = changed
        elif number < outdated + wrong:
            guess = chance.choice(("I think ", "Probably: ", "As far as I remember, ", ""))
            kind = chance.choice((topic.kind, "inferred", "fact"))
            made = _statement(f"w{number}", number, guess + says[0], part, topic, old, -chance.randrange(10, 300))
            statements.append(_but(made, wrong=True, kind=kind))
        statements.append(_statement(f"t{number}", number, says[1], part, topic, new, day))
    return subjects, _marked(statements, chance)


def _marked(statements: list[Statement], chance: random.Random) -> list[Statement]:
    """With pins on a few that hold, and some that are the reason for others."""
    holding = [n for n, one in enumerate(statements) if one.id.startswith("mem_t") and one.day < 0]
    for n in chance.sample(holding, max(1, len(statements) // 200)):
        statements[n] = _but(statements[n], pinned=True)
    pairs = chance.sample(holding, 2 * max(1, len(statements) // 50))
    for first, second in zip(pairs[::2], pairs[1::2], strict=True):
        statements[first] = _but(statements[first], reason=statements[second].id)
    return statements


def _statement(
    name: str, subject: int, says: str, part: str, topic: Topic, value: str, day: int, until: int = 1 << 30
) -> Statement:
    path = f"{part.replace(' ', '/')}/{topic.name}-{name}"
    return Statement(f"mem_{name}", subject, says.format(part=part, value=value), path, topic.kind, day, until)


def _but(statement: Statement, **changes: object) -> Statement:
    from dataclasses import replace

    return replace(statement, **changes)  # type: ignore[arg-type]
