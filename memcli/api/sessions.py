"""Methods that record and read conversations."""

from __future__ import annotations

from typing import Any

from memcli.api.method import Object, Objects, command


class Sessions:
    """One method for each command about sessions."""

    @command("context")
    def context(self) -> Any:
        """Assemble a context window within a token budget; with `format`, as text or the message list of a provider.

        >>> window = memory.context('which database?', total=4000)
        >>> [item['text'] for item in window['sections'][0]['items']]
        ['We chose PostgreSQL over MySQL: we need JSONB.']
        >>> memory.context('which database?', format='openai')[0]['role']
        'system'
        """

    @command("session start")
    def session_start(self) -> Object:
        """Start a session.

        >>> memory.session_start(title='Slow login')['state']
        'active'
        """

    @command("session add")
    def session_add(self) -> Object:
        """Add a message to a session.

        >>> session = memory.session_start()['id']
        >>> memory.session_add(session, 'Why is the login slow?', role='user')['number']
        1
        """

    @command("session pause")
    def session_pause(self) -> Object:
        """Pause a session.

        >>> memory.session_pause(memory.session_start()['id'])['state']
        'paused'
        """

    @command("session resume")
    def session_resume(self) -> Object:
        """Resume a session that is paused or has ended.

        >>> memory.session_resume(memory.session_start()['id'])['changed']
        False
        """

    @command("session end")
    def session_end(self) -> Object:
        """End a session: remember what happened, its episodes and the facts that were stated.

        >>> session = memory.session_start(title='Prices')['id']
        >>> _ = memory.session_add(session, 'We decided to store prices in cents because floats lose money.')
        >>> [fact['status'] for fact in memory.session_end(session)['promoted']]
        ['proposed']
        """

    @command("session arc")
    def session_arc(self) -> Object:
        """Return the course of a session: its episodes and key moments.

        >>> memory.session_arc(memory.session_start()['id'])['key_moments']
        []
        """

    @command("session facts")
    def session_facts(self) -> Objects:
        """List the facts that a session, or a transcript, states.

        >>> session = memory.session_start()['id']
        >>> _ = memory.session_add(session, 'We decided to store prices in cents because floats lose money.')
        >>> [fact['kind'] for fact in memory.session_facts(session)]
        ['decision']
        """

    @command("session promote")
    def session_promote(self) -> Objects:
        """Remember facts of a session, by the names that `session_facts` returns.

        >>> session = memory.session_start()['id']
        >>> _ = memory.session_add(session, 'We decided to store prices in cents because floats lose money.')
        >>> memory.session_promote(f'{session}#1.1')[0]['status']
        'created'
        """

    @command("session topic")
    def session_topic(self) -> Object:
        """Tell whether a prompt changes the topic of the one before it.

        >>> memory.session_topic('add a retry to the upload', 'and the download?')['changed']
        False
        """

    @command("session sync")
    def session_sync(self) -> Object:
        """Take in the sessions that hooks of agents reported.

        >>> memory.session_sync()['imported']
        []
        """

    @command("session list")
    def session_list(self) -> Objects:
        """List sessions, the newest first.

        >>> memory.session_list()
        []
        """

    @command("session show")
    def session_show(self) -> Object:
        """Return a session with its messages.

        >>> memory.session_show(memory.session_start()['id'])['messages']
        []
        """

    @command("session share")
    def session_share(self) -> Object:
        """Let git track a session, or ignore it again.

        >>> memory.session_share(memory.session_start()['id'])['shared']
        True
        """

    @command("session delete")
    def session_delete(self) -> Object:
        """Delete a session for good, and the memories that were made from it.

        >>> memory.session_delete(memory.session_start()['id'], yes=True)['deleted']
        True
        """

    @command("session import")
    def session_import(self) -> Any:
        """Import transcripts or exported sessions.

        >>> session = memory.session_start()['id']
        >>> _ = memory.session_export(session, out='session.jsonl')
        >>> memory.session_import('session.jsonl')['sessions'][0]['status']
        'unchanged'
        """

    @command("session export")
    def session_export(self) -> Any:
        """Export a session to a file, or return the text.

        >>> memory.session_export(memory.session_start()['id']).startswith('{"format":"memcli/session"')
        True
        """
