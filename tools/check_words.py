#!/usr/bin/env python3
"""Finds retired words in pages and scenes, and retired identifiers in code. A row of the table with `code`
also applies to sources: set it once an identifier has been renamed everywhere."""
import pathlib
import re
import sys
from typing import NamedTuple

from sources import CODE, PAGES, tree


class Retired(NamedTuple):
    word: str  # whole words only
    use: str
    code: bool = False


RETIRED = [
    Retired("meet", "overlap, touch, collide"),
    Retired("meets", "overlaps, touches, collides"),
    Retired("nobody", "name the set, or use the passive"),
    Retired("everybody", "all, each"),
    Retired("everybody()", "all_solvers()"),
    Retired("whoever", "name the set"),
    Retired("sleepers", "sleeping bodies"),
    Retired("looks", "checks, tests"),
    Retired("why_idle", "inactive_reason"),
    Retired("not read now", "inactive"),
    Retired("meet_by", "overlaps_swept"),
    Retired("Meetings", "ConflictAdjacency"),
    Retired("Census", "StiffnessHistogram"),
    Retired("go_further", "conjugate_step", code=True),
    Retired("parting_", "resolving_initial_overlap_"),
    Retired("BodyPull", "MouseSpring"),
]
# Measured tables, whose text is checked at its source; and the examples in the tests of the checks.
EXEMPT = re.compile(r"docs/law-matrix\.md$|tools/bench/results/|tools/(check_words|test_checks)\.py$")


def pattern(word: str) -> re.Pattern:
    return re.compile(r"(?<!\w)" + re.escape(word) + (r"(?!\w)" if re.match(r"\w", word[-1]) else ""), re.IGNORECASE)


def check(root: pathlib.Path) -> list[str]:
    rows = [(row, pattern(row.word)) for row in RETIRED]
    faults = []
    for path in tree(root, CODE | PAGES):
        if EXEMPT.match(path.as_posix()):
            continue
        page = path.suffix in PAGES
        for number, line in enumerate((root / path).read_text(errors="replace").splitlines(), 1):
            for row, found in rows:
                if (page or row.code) and found.search(line):
                    faults.append(f"{path}:{number}: '{row.word}' is retired: {row.use}")
    return faults


if __name__ == "__main__":
    faults = check(pathlib.Path(__file__).resolve().parents[1])
    print("\n".join(faults), end="\n" if faults else "")
    sys.exit(1 if faults else 0)
