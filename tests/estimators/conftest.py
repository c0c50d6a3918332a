"""At the end of a run, one line an estimator: what scikit-learn's check_estimator made of it."""

from collections import Counter, defaultdict
from typing import Any

CHECKS = "tests/estimators/test_checks.py::test_scikit_learn_checks["


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Passed, skipped and expected failures of each estimator; with the reasons of the last."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    reasons: dict[str, list[str]] = defaultdict(list)
    for outcome in ("passed", "failed", "skipped", "xfailed", "xpassed"):
        for report in terminalreporter.stats.get(outcome, []):
            if report.nodeid.startswith(CHECKS):
                estimator, check = report.nodeid.removeprefix(CHECKS).removesuffix("]").rsplit("-check_", 1)
                counts[estimator][outcome] += 1
                if outcome == "xfailed":
                    reasons[estimator].append(f"check_{check}: {report.wasxfail.removeprefix('reason: ')}")
    if counts:
        terminalreporter.section("check_estimator, by estimator")
    for estimator, found in counts.items():
        terminalreporter.write_line(f"{estimator}: {', '.join(f'{number} {outcome}' for outcome, number in found.items())}")
        for reason in reasons[estimator]:
            terminalreporter.write_line(f"    expected to fail: {reason}")
