# SPDX-License-Identifier: MIT
"""z3, from Debian's python3-z3, whichever Python runs this."""

import os
import sys

try:
    import z3
except ImportError:
    # A Python that is not Debian's does not look there.
    sys.path.append("/usr/lib/python3/dist-packages")
    try:
        import z3
    except ImportError:
        print(f"no z3 for {sys.executable}, nothing is proved: toolchain/setup "
              "installs it for /usr/bin/python3")
        # Level full is run behind setup --full (CMakePresets.json).
        sys.exit(1 if os.environ.get("KLOCK_LEVEL") == "full" else 77)
