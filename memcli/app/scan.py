"""Scan: finds secrets in existing files. Reports the place, the kind and the mark of each, never the secret itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from memcli.codec.bundle import FORMAT as EXPORT
from memcli.codec.canonical import decode
from memcli.codec.space import FORMAT as SPACE
from memcli.errors import CorruptError
from memcli.model.memory import Json
from memcli.model.shapes import POLICY_FIELDS, problem, spelled_out
from memcli.record import Record
from memcli.safety.secrets.detector import SECRETS, Detector
from memcli.safety.secrets.redact_memory import clean_paths, find_in_memory
from memcli.safety.secrets.rules import EMAIL

Rules = Callable[[Mapping[str, Json]], Detector]
"""The detector for the field `pii_redaction` of a policy."""


class Document(Record):
    """The bytes of a file, or of its version in a commit."""

    name: str
    data: bytes
    commit: str = ""


class Leak(Record, kw_only=True):
    """A secret: its memory and field in a file of memcli, its line in any other file."""

    file: str
    commit: str = ""
    id: str = ""
    path: str = ""
    field: str = ""
    line: int = 0
    kind: str
    mark: str

    def to_json(self) -> dict[str, Json]:
        names = ("file", "commit", "id", "path", "field", "line", "kind", "mark")
        return {name: value for name in names if (value := getattr(self, name))}

    def __str__(self) -> str:
        place = f"{self.commit[:10]}:{self.file}" if self.commit else self.file
        where = f":{self.line}" if self.line else ""
        parts = [f"{place}{where}", " ".join(part for part in (self.id, self.path) if part), self.field]
        return ": ".join([*(part for part in parts if part), f"{self.kind} {self.mark}".rstrip()])


def scan(document: Document, rules: Rules) -> list[Leak]:
    """The secrets in a space, an export, a session, or any other text. In other texts, e-mail addresses are not reported."""
    tree = _tree(document)
    if tree is not None:
        policy = tree.get("policy") if tree.get("format") == SPACE else None
        wanted = spelled_out(policy).get("pii_redaction", {}) if isinstance(policy, dict) else {}
        # An invalid policy must not hide a secret from the scan: all built-in rules apply then.
        is_usable = not problem(wanted, POLICY_FIELDS["pii_redaction"], "")
        return list(_in_tree(document, tree, rules(wanted if is_usable else {})))
    detector = rules({"detectors": [SECRETS, f"-{EMAIL}"]})
    text = document.data.decode("utf-8", "replace")
    data = text.encode()  # not those of the document: places of secrets are offsets in this encoding
    found = []
    for hit in detector.find(text):
        line = data.count(b"\n", 0, hit.start) + 1
        mark = detector.sign(hit.value)
        found.append(Leak(file=document.name, commit=document.commit, line=line, kind=hit.kind, mark=mark))
    return found


def _tree(document: Document) -> Mapping[str, Json] | None:
    """The parsed content of a file of memcli; None for any other file, and for a damaged one."""
    # Before the bytes are parsed: most documents are not of memcli.
    if b"memcli/" not in document.data:
        return None
    try:
        tree = decode(document.data, document.name)
    except CorruptError:
        return None
    if not isinstance(tree, dict) or not str(tree.get("format")).startswith("memcli/"):
        return None
    content = tree.get("content")
    return content if tree["format"] == EXPORT and isinstance(content, dict) else tree


def _in_tree(document: Document, tree: Mapping[str, Json], detector: Detector) -> Iterator[Leak]:
    objects = tree.get("objects")
    memories = [item for item in objects if isinstance(item, dict)] if isinstance(objects, list) else []
    header = {name: value for name, value in tree.items() if name not in ("objects", "policy")}
    for memory in (header, *memories):
        name, path = ("", "") if memory is header else (str(memory.get("id", "")), str(memory.get("path", "")))
        for field, kind, mark in find_in_memory(detector, memory):
            # The id and the path may be made of the secret that is reported.
            yield Leak(
                file=document.name,
                commit=document.commit,
                id=detector.redact(name, as_name=True)[0],
                path=clean_paths(detector, [path])[0],
                field=field,
                kind=kind,
                mark=mark,
            )
