"""Reading without a trace, and the counts of what is read."""

from __future__ import annotations

import pytest

from tests.conftest import Run


def test_what_is_read_without_usage_leaves_no_trace(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMCLI_FREEZE_CLOCK")
    run("init")
    run("space", "policy", "--set", "gaps=true")
    run("remember", "We chose PostgreSQL.", "--path", "decisions/database")
    run("remember", "Logs are kept for 30 days.", "--path", "ops/logs")

    def usage() -> tuple[int, int, list[str]]:
        read = run("status", "--stats", "--usage", "--json").json["usage"]
        return read["read"], read["never"], [one["path"] for one in read["most"]]

    for command in (("recall", "postgresql"), ("recall", "zebra stripes"), ("get", "ops/logs")):
        assert run(*command, "--no-usage").code == 0
    assert usage() == (0, 2, [])
    assert run("feedback", "gaps", "--json").json["gaps"] == []
    for command in (("get", "ops/logs"), ("get", "ops/logs"), ("recall", "postgresql")):
        run(*command)
    assert usage() == (2, 0, ["ops/logs", "decisions/database"])
    assert "ops/logs" in run("status", "--stats", "--usage").out
