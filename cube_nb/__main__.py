"""`cube_nb` and `python -m cube_nb` are the command line. Written by hand, as is `__init__`.

Nothing else is imported here before Ctrl-C is one line.
"""

import sys


def main():
    "The console script: exits with the status of the command, 130 for Ctrl-C whenever it comes."
    try:
        from cube_nb.cli import main as run

        run()
    except KeyboardInterrupt:
        print('cube_nb: interrupted', file=sys.stderr)
        sys.exit(130)


if __name__ == '__main__':
    main()
