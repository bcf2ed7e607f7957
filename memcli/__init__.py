"""memcli: the structured memory of a software project, as a command-line tool and a library.

The library is `Memory`, which has a method for each command: see `help(memcli.Memory)`.
"""

# A constant: `importlib.metadata` would take as long as the rest of a short command.
__version__ = "0.1.0"
__all__ = ["MemcliError", "Memory"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.errors import MemcliError
    from memcli.extras.api.memory import Memory


def __getattr__(name: str) -> object:
    """Imports the library when it is used: the command line starts faster without it."""
    modules = {"Memory": "memcli.extras.api.memory", "MemcliError": "memcli.errors"}
    if name not in modules:
        raise AttributeError(f"module 'memcli' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(modules[name]), name)
