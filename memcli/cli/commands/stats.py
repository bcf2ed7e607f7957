"""`memcli stats`"""

from __future__ import annotations

from memcli.cli.session import Session
from memcli.cli.verb import verb


@verb()
def command(session: Session) -> None:
    """Count the memories of a space by kind and tag, and show the size of its files."""
    from memcli.app.space import stats
    from memcli.render.clean import clean_line
    from memcli.store.layout import Layout

    workspace = session.open()
    data = stats(workspace) | {"bytes": Layout(workspace.root).sizes(workspace.space)}
    lines = []
    for name, value in data.items():
        shown = ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else str(value)
        lines.append(f"{name:<10}  {clean_line(shown)}".rstrip())
    session.output.answer(data, "\n".join(lines))
