"""`python -m sightline`: for those who know which Python, but not where its programs are."""

import sys

from sightline.cli import main

sys.exit(main())
