"""`python -m cogtcp`, for where the script is not on the PATH."""

import sys

from cogtcp.cli import main

sys.exit(main())
