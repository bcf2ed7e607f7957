"""The command line: declarations of verbs (`commands/`), the parsers and the help that read them, input, output and errors.

What a verb does is in `app/`; what it prints is made in `render/`. Nothing here is imported by another package but `api` and
`extras`.
"""
