"""`python -m memcli`, and the console script."""

import sys


def main() -> None:
    """Runs the command line. Completions of values go past it: a shell asks for them at every key."""
    if sys.argv[1:2] == ["__complete"]:
        from memcli.cli.values import complete

        complete(sys.argv[2:])
        return
    from memcli.cli.main import run

    run()


if __name__ == "__main__":
    main()
