"""The long form: many days, until one has problems.

python -m tests.oracle --days 50 --steps 200 --seed 1
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from tests.faults.scene import fast_folder, warm_up
from tests.oracle.day import Day, Options
from tests.seeds import Report, parser_of, run_many


def one_day(seed: int, options: Options, numbers: list[int] | None = None) -> Report:
    """Runs a day, with no grace when the seed is odd, or only those of its steps that are given."""
    grace = options.grace if options.grace is not None else (0 if seed % 2 else None)
    with tempfile.TemporaryDirectory(prefix="memcli-oracle-", dir=fast_folder()) as base:
        day = Day(Path(base), seed, replace(options, grace=grace))
        return day.run(numbers or list(range(1, options.steps + 1)))


def main() -> int:
    parser = parser_of(__doc__.split("\n")[0], "days")
    parser.add_argument("--no-erasure", action="store_true", help="do not look for words that were erased")
    given = parser.parse_args()
    warm_up()
    options = Options(given.steps, erasure=not given.no_erasure)
    return run_many(given, lambda seed, numbers: one_day(seed, options, numbers))


if __name__ == "__main__":
    sys.exit(main())
