"""The text of metrics: valid for the parser of prometheus-client, with any label."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from memcli.extras.telemetry.metrics import COUNTER, GAUGE, Family, Sample, render


def test_a_family_has_its_help_and_type_before_its_samples() -> None:
    sample = Sample("memcli_memory_objects", (), 3)
    assert render([Family("memcli_memory_objects", GAUGE, "Memories\nin a \\ space.", [sample])]) == (
        "# HELP memcli_memory_objects Memories\\nin a \\\\ space.\n"
        "# TYPE memcli_memory_objects gauge\n"
        "memcli_memory_objects 3\n"
    )
    assert render([]) == ""


@given(st.text(st.characters(exclude_categories=("Cs",))), st.integers(0, 10**12) | st.floats(0, 1e12))
def test_any_label_and_number_is_read_back(label: str, value: float) -> None:
    name = "memcli_recall_total"
    text = render([Family(name, COUNTER, "Recalls.", [Sample(name, (("space", label), ("status", "0")), value)])])
    (family,) = text_string_to_metric_families(text)
    (sample,) = family.samples
    assert (sample.name, sample.labels, sample.value) == (name, {"space": label, "status": "0"}, value)
