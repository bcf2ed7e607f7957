"""The inspector: pages that show what is remembered and let writers change it. Rendered here, with a little JavaScript."""

from memcli.serve.inspector.router import make_router

__all__ = ["make_router"]
