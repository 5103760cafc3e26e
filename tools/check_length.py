#!/usr/bin/env python3
"""Limits the length of files: over 400 lines is a warning, over 800 a failure."""
import pathlib
import sys

from sources import CODE, SCRIPTS, sources

WARN, FAIL = 400, 800


def check(root: pathlib.Path) -> tuple[list[str], list[str]]:
    """Returns (warnings, failures)."""
    warnings, failures = [], []
    for path in sources(root, CODE | SCRIPTS):
        lines = len((root / path).read_text(errors="replace").splitlines())
        if lines > FAIL:
            failures.append(f"{path}: {lines} lines, {FAIL} at most")
        elif lines > WARN:
            warnings.append(f"{path}: {lines} lines, better below {WARN}")
    return warnings, failures


if __name__ == "__main__":
    warnings, failures = check(pathlib.Path(__file__).resolve().parents[1])
    for line in warnings:
        print("warning:", line)
    for line in failures:
        print(line)
    sys.exit(1 if failures else 0)
