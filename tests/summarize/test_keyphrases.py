"""Tags."""

from __future__ import annotations

from memcli.summarize import SUMMARIZERS
from memcli.text.words import terms
from tests.summarize.test_kinds import CASES


def tags(text: str, **fields: object) -> tuple[str, ...]:
    found = SUMMARIZERS["local"]({"raw": text, **fields})["tags"]
    assert isinstance(found, tuple)
    return found


def test_tags_name_what_the_text_is_about() -> None:
    for text, names in CASES["tags"]:
        found, expected = set(tags(text)), set(names)
        assert expected <= found or found <= expected
        assert bool(found) == bool(expected) or found.isdisjoint({"released", "minutes", "see", "write", "example"})


def test_no_tag_repeats_another() -> None:
    found = tags(
        "API keys: an API key is a key for the API. Keys of the API are rotated. The API-key rotation rotates keys."
    )
    stems = [frozenset(terms(tag)) for tag in found]
    assert not any(a <= b for n, a in enumerate(stems) for m, b in enumerate(stems) if n != m)


def test_what_is_said_often_comes_first() -> None:
    text = (
        "The importer reads rows. Rows without a price stop the importer. Restart the importer by hand; see the wiki."
    )
    assert tags(text)[0] == "importer"


def test_the_path_has_a_say() -> None:
    assert tags("It is refreshed every hour.", path_hint="auth/tokens") == ("tokens", "auth")
    assert "http-client" in tags("It retries.", metadata={"source": "src/http/client.py"})


def test_code_and_patches_are_tagged_by_their_names() -> None:
    code = "class TokenStore:\n    def refresh(self):\n        return 1\n\ndef main():\n    pass\n"
    assert tags(code, metadata={"source": "src/auth/store.py"})[:3] == ("token-store", "refresh", "auth")
    patch = "diff --git a/src/auth/tokens.py b/src/auth/tokens.py\n@@ -1 +1 @@ def refresh():\n-a\n+b\n"
    assert set(tags(patch)) == {"tokens", "refresh", "auth"}
