"""`memcli blame`"""

from __future__ import annotations

from memcli.cli.options import REQUIRED, Options, argument, normalized
from memcli.cli.verb import CHECK, CommandContext, verb
from memcli.model.space import READER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.model.changes import HistoryCommit
    from memcli.model.memory import Json


class BlameOptions(Options):
    """The options of `memcli blame`."""

    ref: str = argument("ID|PATH", "A memory, by id, unique id prefix or path.", default=REQUIRED, read=normalized)


@verb(BlameOptions, section=CHECK, line="Show which commit changed each field of a memory", role=READER)
def command(session: CommandContext, options: BlameOptions) -> None:
    """Show which commit added a memory and which one last changed each of its fields.

    Example: memcli blame auth/tokens

    >>> memory.blame('ops/deploy')['path']
    'ops/deploy'
    """
    from memcli.extras.history import changes as history
    from memcli.git.revisions import open_history
    from memcli.present.changes import commit_cells
    from memcli.render.clean import clean_line, grid
    from memcli.store.layout import Layout

    workspace = session.open()
    found = history.blame(workspace, open_history(Layout(workspace.root).spaces), options.ref)
    data = {
        "id": found.memory.id, "path": found.memory.path, "added": _json(found.added),
        "fields": {name: _json(commit) for name, commit in found.fields},
    }  # fmt: skip
    rows = [[name, *commit_cells(commit)] for name, commit in (("added", found.added), *found.fields)]
    head = clean_line(f"{found.memory.path}  {found.memory.id}")
    session.output.answer(data, f"{head}\n{grid(['field', 'commit', 'date', 'author', 'subject'], rows)}")


def _json(commit: HistoryCommit | None) -> Json:
    """A commit as JSON; null for a change that is not committed yet."""
    if commit is None:
        return None
    return {"commit": commit.hash, "author": commit.author, "date": commit.date, "subject": commit.subject}
