"""What a session that went on takes out of its space leaves no reference behind."""

from __future__ import annotations

from memcli.app.session_end import drop_stale
from memcli.app.workspace import Workspace, load
from memcli.model.conversation import Session
from memcli.record import replace
from tests.conftest import NOW, rewrite
from tests.conftest import memory as made


def test_what_leads_to_a_dropped_memory_does_so_no_longer(workspace: Workspace) -> None:
    said = {"source": "extracted", "session": "ses_a"}
    stale = made("a", provenance=said, links=({"to": "mem_b", "relation": "supersedes", "created_at": NOW},))
    merged = made("b", superseded_by="mem_a", valid_until=NOW)
    related = made("c", links=({"to": "mem_a", "relation": "relates_to"},))
    rewrite(workspace.store, lambda space: space.put([stale, merged, related], NOW))
    drop_stale(workspace, Session(id="ses_a", space="main", started_at=NOW), set(), {})
    left = {memory.id: memory for memory in load(workspace).objects}
    assert left["mem_b"] == replace(merged, superseded_by=None, valid_until=None, version=2)
    assert left["mem_c"] == replace(related, links=())
    assert "mem_a" not in left
