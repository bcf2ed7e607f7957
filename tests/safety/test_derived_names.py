"""What is made of a secret before it is found: a path of its words, a tag, a title."""

from __future__ import annotations

from memcli.safety.secrets.detector import Detector
from memcli.safety.secrets.redact_memory import redact_fields, redacted_file
from tests.safety.secrets_corpus import secret

TOKEN = secret("github_token", 902)[1]
SLUG = TOKEN.replace("_", "-").lower()
DETECTOR = Detector({}, lambda _: "0" * 8)


MADE: tuple[tuple[str, object], ...] = (
    ("path", f"notes/{SLUG}"), ("path", f"notes/use-{SLUG[:30]}"), ("path", f"a/{SLUG[:20]}/b"),
    ("path", "notes/ask-zoe-marten-corp-mail-io"), ("path", "notes/zoe-marten-co/x"), ("path", f"{SLUG[:24]}~0a1b2c3d"),
    ("tags", [SLUG, "plain"]), ("tags", ["zoe-marten-corp-mail-io"]), ("summary_micro", f"Use {TOKEN.replace('_', ' ')}."),
)  # fmt: skip


def test_no_field_keeps_what_was_made_of_a_secret_in_another() -> None:
    raw = f"The deploy uses {TOKEN}, ask zoe.marten@corp-mail.io for it."
    for field, value in MADE:
        clean = redact_fields(DETECTOR, {"raw": raw, field: value}).fields  # type: ignore[dict-item]
        told = str(clean).lower().replace("-", " ").replace("_", " ")
        assert TOKEN[4:16].lower() not in told, value
        assert "zoe marten" not in told, value


def test_a_plain_word_of_a_secret_stays_in_a_path() -> None:
    texts = {
        "team/michael": "Ask michael@corp-mail.io about it.", "db/postgres": "The database password is postgres.",
        f"notes/{SLUG[:8]}": f"Use {TOKEN}.",
    }  # fmt: skip
    for path, raw in texts.items():
        assert redact_fields(DETECTOR, {"raw": raw, "path": path}).fields["path"] == path


def test_the_name_of_a_file_is_redacted_and_counted_in_whatever_field_it_is() -> None:
    name = f"key-{TOKEN}.txt"
    for fields in (
        {"raw": f"Rename it\n\n{name} -> notes.txt (renamed)", "metadata": {"source": "notes.txt", "was": name}},
        {"raw": "Rename it", "metadata": {"was": name}},
        {"raw": f"{name} (added)", "metadata": {"source": name}},
        {"raw": f"{name} (added)", "provenance": {"files": [name]}, "path": f"code/{name}/0a1b"},
    ):
        clean = redact_fields(DETECTOR, fields)
        # Whoever stores them takes the redacted fields only where something was counted.
        assert (TOKEN in str(clean.fields), list(clean.kinds)) == (False, ["github_token"]), fields


def test_the_name_of_a_field_of_the_user_is_no_way_in() -> None:
    clean = redact_fields(DETECTOR, {"raw": "x", f"x_{TOKEN}": 1, "x_plain": 2}).fields
    assert sorted(clean.keys() - {"metadata"}) == ["raw", "x_plain", "x_redacted-github-token-00000000"]


def test_a_damaged_file_is_redacted_as_it_stands() -> None:
    torn = (
        f'{{\n  "objects": [\n    {{\n      "raw": "Use {TOKEN}.",\n      "source": "zoe@corp-mail.io.md"'.encode()
        + b"\xff"
    )
    clean = redacted_file(torn)
    assert (TOKEN.encode() in clean, b"zoe" in clean) == (False, False)
    assert clean.endswith(b"\xff")
    assert redacted_file(b'{"raw": "plain"') == b'{"raw": "plain"'
