"""`python -m tests.faults.mutants` takes a while; that its table still fits the code is seen at once."""

from __future__ import annotations

import pytest

from tests.faults.mutants import MUTANTS, ROOT, SECRETS, Mutant


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_applies(mutant: Mutant) -> None:
    if mutant.checks[0] is SECRETS and not (ROOT / "memcli/app/redact.py").exists():
        pytest.skip("this build does not redact")
    assert (ROOT / mutant.file).read_text().count(mutant.old) == 1
