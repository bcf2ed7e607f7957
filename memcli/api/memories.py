"""Methods that store, find, change and check memories."""

from __future__ import annotations

from typing import Any

from memcli.api.method import Object, Objects, command


class Memories:
    """One method for each command about memories."""

    @command("remember")
    def remember(self) -> Object:
        """Store a memory from a text, a file, a dict or a batch of dicts.

        >>> memory.remember('Tokens live for 15 minutes.', path='auth/tokens', tag='auth')['status']
        'created'
        >>> memory.remember(batch=[{'raw': 'We use uv.'}, {'raw': 'We use ruff.'}])['created']
        2
        """

    @command("recall")
    def recall(self) -> Any:
        """Return the memories that best answer a question, best first; with `format`, the text that is printed.

        >>> memory.recall('which database?', limit=1)['sections'][0]['passage']['text']
        'We chose PostgreSQL over MySQL: we need JSONB.'
        >>> memory.recall('which database?', format='prompt').startswith('<memory-')
        True
        """

    @command("search")
    def search(self) -> Objects:
        """Rank the memories under a path by meaning and date.

        >>> [found['path'] for found in memory.search('database', under='decisions')]
        ['decisions/database']
        """

    @command("get")
    def get(self) -> Any:
        """Return a memory in full, or a list if several are named.

        >>> memory.get('decisions/database')['kind']
        'decision'
        """

    @command("feedback")
    def feedback(self) -> Object:
        """Say whether memories that were recalled helped.

        >>> memory.feedback('decisions/database', helpful=True)['feedback']
        'helpful'
        """

    @command("gaps")
    def gaps(self) -> Object:
        """List the questions that recall could not answer, if the policy `gaps` keeps them.

        >>> memory.gaps()
        {'gaps': [], 'topics': []}
        """

    @command("list")
    def list(self) -> Objects:
        """List memories in order of path.

        >>> [found['path'] for found in memory.list()]
        ['decisions/database', 'ops/deploy', 'rules/force-push']
        """

    @command("tree")
    def tree(self) -> Object:
        """Return the tree of paths.

        >>> [child['name'] for child in memory.tree()['children']]
        ['decisions', 'ops', 'rules']
        """

    @command("edit")
    def edit(self) -> Object:
        """Change the text or fields of a memory.

        >>> memory.edit('ops/deploy', set={'tags': ['release']})['version']
        2
        """

    @command("tag")
    def tag(self) -> Objects:
        """Add or remove tags.

        >>> 'release' in memory.tag('ops/deploy', add='release')[0]['tags']
        True
        """

    @command("link")
    def link(self) -> Object:
        """Link two memories.

        >>> memory.link('ops/deploy', 'decisions/database', relation='depends_on')['status']
        'linked'
        """

    @command("unlink")
    def unlink(self) -> Object:
        """Remove the links from one memory to another.

        >>> _ = memory.link('ops/deploy', 'decisions/database', relation='depends_on')
        >>> memory.unlink('ops/deploy', 'decisions/database')['relations']
        ['depends_on']
        """

    @command("graph")
    def graph(self) -> Any:
        """Return memories, their tags and links, as nodes and edges; with `format`, the text that is printed.

        >>> {edge['relation'] for edge in memory.graph('decisions/database', depth=1)['edges']}
        {'has_tag'}
        """

    @command("pin")
    def pin(self) -> Objects:
        """Include memories in every recall.

        >>> memory.pin('ops/deploy')[0]['pinned']
        True
        """

    @command("unpin")
    def unpin(self) -> Objects:
        """Unpin memories.

        >>> memory.unpin('ops/deploy')[0]['pinned']
        False
        """

    @command("forget")
    def forget(self) -> Object:
        """Exclude memories from recall, or delete them with `purge=True, yes=True`.

        >>> memory.forget('ops/deploy')['status']
        'forgotten'
        """

    @command("ingest")
    def ingest(self) -> Object:
        """Ingest files or commits into the space `repo`.

        >>> memory.ingest('guide.md')['created']
        1
        """

    @command("import")
    def import_(self) -> Object:
        """Import an export, or another tool's memory.

        >>> memory.import_('guide.md', dry_run=True)['created']
        1
        """

    @command("export")
    def export(self) -> Any:
        """Export a space to a file, or return the text with `out='-'`.

        >>> memory.export(out='-').startswith('{')
        True
        """

    @command("diff")
    def diff(self) -> Any:
        """Show how memories changed since a commit.

        >>> [change['status'] for change in memory.diff()[0]['memories']]
        ['added', 'added', 'added']
        """

    @command("blame")
    def blame(self) -> Object:
        """Show which commit added a memory and last changed each field.

        >>> memory.blame('ops/deploy')['path']
        'ops/deploy'
        """

    @command("guard")
    def guard(self) -> Any:
        """Check a change against memories with triggers.

        >>> diff = ['--- a/x.sh', '+++ b/x.sh', '@@ -0,0 +1 @@', '+git push --force']
        >>> memory.guard(diff=diff)['findings'][0]['path']
        'rules/force-push'
        """

    @command("verify")
    def verify(self) -> Object:
        """Check the code that memories are anchored to.

        >>> memory.verify()['failed']
        0
        """

    @command("test")
    def test(self) -> Object:
        """Test what recall answers, by expectations in TOML files.

        >>> memory.test('expected.toml')['recall']['passed']
        1
        """
