"""What is printed is what the schemas say."""

from __future__ import annotations

from typing import Any

from memcli.extras.schema.schemas import SCHEMAS
from memcli.model.recall import Bundle, Query, Section
from memcli.render.as_json import bundle_to_json
from tests.conftest import NOW, memory


def unknown(value: Any, shape: dict[str, Any], at: str = "") -> list[str]:
    """The names in `value` that `shape` does not have, and those that it needs and that are missing."""
    if isinstance(value, dict) and "properties" in shape:
        wrong = [f"{at}.{name}" for name in value if name not in shape["properties"]]
        wrong += [f"{at}.{name} is missing" for name in shape.get("required", ()) if name not in value]
        known = [name for name in value if name in shape["properties"]]
        return wrong + [w for name in known for w in unknown(value[name], shape["properties"][name], f"{at}.{name}")]
    if isinstance(value, dict) and "additionalProperties" in shape:
        return [w for name, item in value.items() for w in unknown(item, shape["additionalProperties"], f"{at}.{name}")]
    if isinstance(value, list | tuple):
        return [w for item in value for w in unknown(item, shape.get("items", {}), f"{at}[]")]
    return []


def test_a_bundle_is_what_its_schema_says() -> None:
    query = Query(topic="x", now=NOW, explain=True, include_raw=True, budget=100)
    told = memory("a", content={"any": ["thing"]})
    bundle = Bundle(
        space="main", query=query, sections=(Section(told, 1.0, {"words": 1.0}, "other", "raw"),), reason="no_match",
        matched=1, size=1, degraded=True, confidence=0.35,
    )  # fmt: skip
    assert unknown(bundle_to_json(bundle), SCHEMAS["bundle"]) == []


def test_every_schema_says_what_it_is() -> None:
    for schema in SCHEMAS.values():
        assert schema["title"]
