"""The long form: many seeds, until one has problems.

python -m tests.simulation --seeds 20 --steps 100 --seed 1
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.faults.scene import fast_folder, warm_up
from tests.seeds import Report, parser_of, run_many
from tests.simulation.run import Simulation


def simulate(seed: int, numbers: list[int]) -> Report:
    """Runs the steps of these numbers of a seed."""
    with tempfile.TemporaryDirectory(prefix="memcli-simulation-", dir=fast_folder()) as base:
        return Simulation(Path(base), seed).run(numbers)


if __name__ == "__main__":
    given = parser_of(__doc__.split("\n")[0], "seeds").parse_args()
    warm_up()
    sys.exit(run_many(given, simulate))
