"""Let ``python -m quorate`` be the command line."""

from quorate.cli import main

if __name__ == "__main__":
    main(prog_name="quorate")
