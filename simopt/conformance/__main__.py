"""`python -m simopt.conformance [PROBLEM …]`: run the suite over the named problems (all by default) and print the report."""

import sys

from simopt.conformance import conformance

if __name__ == "__main__":
    report = conformance(sys.argv[1:] or None)
    sys.stdout.write(f"{report}\n")
    sys.exit(0 if report.ok else 1)
