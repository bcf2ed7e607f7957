"""The command line: declarations of verbs (`commands/`), the parsers and the help that read them, input, output and errors.

What a verb does is in `app/`, how results are formatted in `render/`. Of the other packages only `extras` imports from here.
"""
