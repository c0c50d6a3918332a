"""`python -m simopt.conformance [PROBLEM …]`: run the suite over the named problems (all by default) and print the report.

Exit status 0: all passed; 1: something failed; 2: there is no such problem.
"""

import sys

from simopt.conformance import conformance
from simopt.core.errors import UnknownName

if __name__ == "__main__":
    try:
        report = conformance(sys.argv[1:] or None)
    except UnknownName as error:
        sys.stderr.write(f"simopt.conformance: {error}\n")
        sys.exit(2)
    sys.stdout.write(f"{report}\n")
    sys.exit(0 if report.ok else 1)
