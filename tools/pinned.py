"""Prints one package's entry of the lock, hashes included, so that the installer itself is installed from it."""

import re
import sys
from pathlib import Path

if __name__ == "__main__":
    lock = (Path(__file__).parent.parent / "requirements" / "dev.txt").read_text()
    sys.stdout.write(re.search(rf"^{re.escape(sys.argv[1])}==.*?(?=^\S|\Z)", lock, re.M | re.S).group())  # type: ignore[union-attr]
