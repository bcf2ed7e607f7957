"""`python -m memcli.extras.helper ROOT [SESSION [PROCESS...]]`: runs the helper of a store."""

from __future__ import annotations

import sys

from memcli.extras.helper.answering import serve

if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "", [int(one) for one in sys.argv[3:]])
