"""Files of data beside the code."""

from __future__ import annotations

import json
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def read_json(package: str, name: str) -> Any:
    """The value in the JSON file `name` in the folder of a package that is imported."""
    # As `pkgutil.get_data` reads it, which takes as long to import as the `json` module three times.
    spec: Any = sys.modules[package].__spec__
    return json.loads(spec.loader.get_data(f"{spec.submodule_search_locations[0]}/{name}"))
