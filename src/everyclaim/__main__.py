"""``python -m everyclaim``."""

from everyclaim.cli import main

if __name__ == "__main__":
    main()
