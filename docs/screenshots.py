"""Pictures of a verdict report, or of the page of a comparison, for the guide, taken by headless Chromium.

simopt verify --jobs 2 --report build/report
python docs/screenshots.py build/report
simopt compare own.py:portfolio qp/ kernel-ridge --report build/comparison
python docs/screenshots.py build/comparison
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

DOCS = Path(__file__).resolve().parent
# file, page with the claim or the number of the instance that it is opened at, width, height, dark
VERDICTS = (
    ("report_overview.png", "index.html", 1180, 820, False),
    ("report_claim.png", "index.html#KJ-Thm6b-p2", 1180, 900, False),
    ("report_phone.png", "index.html#KK-L8", 390, 844, True),
    ("report_errata.png", "errata.html", 1180, 760, False),
)
COMPARISON = (
    ("comparison_page.png", "index.html", 1180, 1000, False),
    ("comparison_instance.png", "index.html#2", 1180, 640, False),
    ("comparison_phone.png", "index.html", 390, 844, True),
)


def main() -> None:
    """Take every picture."""
    sys.path.append(str(DOCS.parent / "tests" / "report"))
    from headless import Browser, executable

    folder = Path(sys.argv[1])
    program = executable()
    if program is None:
        sys.exit("no Chromium on this machine")
    with tempfile.TemporaryDirectory() as profile, Browser(program, Path(profile)) as browser:
        for name, address, width, height, dark in VERDICTS if (folder / "errata.html").exists() else COMPARISON:
            page, _, claim = address.partition("#")
            with browser.screen(width, height, dark=dark, mobile=width < 600):
                browser.open(folder / page, f"#{claim}" if claim and not claim.isdigit() else "")
                if claim.isdigit():
                    browser.evaluate(f"location.hash = document.querySelectorAll('details.claim')[{claim}].id")
                time.sleep(0.5)  # the scroll to the claim
                browser.picture(DOCS / "pictures" / name)


if __name__ == "__main__":
    main()
