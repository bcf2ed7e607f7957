"""The Python interface: one method for each command.

    from memcli import Memory

    with Memory() as memory:
        memory.remember("We chose PostgreSQL over MySQL: we need JSONB.", kind="decision")
        for section in memory.recall("which database?")["sections"]:
            print(section["id"], section["passage"]["text"])

A method has the arguments and options of its command, by position and by keyword, with the same names and defaults. It
returns what the command prints with `--json`, as dicts and lists, and raises the error that the command prints, a
`MemcliError` with `message`, `hint` and `code` (see `memcli.errors`). Where a command takes a file, a method also takes
bytes, an open file or an iterable of lines; `name=value` options can be a dict. `memory.pyi` has the signatures for
type checkers; `python tools/api_stub.py` writes it.
"""
