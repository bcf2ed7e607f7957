"""memcli: the structured memory of a software project, as a command-line tool and a library."""

__version__ = "0.1.0"
