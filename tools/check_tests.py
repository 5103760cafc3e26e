#!/usr/bin/env python3
"""Names of tests: files x_test.cpp and x_test.cu, cases and suites in CamelCase without retired words. `Long`
stands only at the start of a suite: tests/CMakeLists.txt sorts tests into the quick and the long tier by it."""
import pathlib
import re
import sys

from check_words import RETIRED
from sources import sources

CASE = re.compile(r"^(?:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P|BACKEND_TEST)\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.MULTILINE)
CAMEL = re.compile(r"[A-Z][A-Za-z0-9]*$")
WORDS = {row.word: row.use for row in RETIRED if row.word.isalpha() and row.word.islower()}


def file_fault(path: pathlib.Path, cases: int) -> str | None:
    if cases and not path.stem.endswith("_test"):
        return "has tests, so its name ends in _test"
    if path.stem.startswith("test_"):
        return "the name of a test ends in _test"
    return None


def case_fault(suite: str, case: str) -> str | None:
    if not CAMEL.match(re.sub("^(cpu|cuda)_", "", suite)):
        return "the suite is not CamelCase"
    if not CAMEL.match(case):
        return "the case is not CamelCase"
    if "Long" in re.sub("^Long(?=[A-Z])", "", suite) + "." + case:
        return "'Long' puts a test into the long tier: it stands at the start of the suite or nowhere"
    for word in re.findall("[A-Z][a-z0-9]*", case):
        if word.lower() in WORDS:
            return f"'{word.lower()}' is retired: {WORDS[word.lower()]}"
    return None


def check(root: pathlib.Path) -> list[str]:
    faults = []
    for path in sources(root, {".cpp", ".cu"}):
        if path.parts[0] != "tests":
            continue
        text = (root / path).read_text(errors="replace")
        cases = list(CASE.finditer(text))
        if fault := file_fault(path, len(cases)):
            faults.append(f"{path}: {fault}")
        for case in cases:
            if fault := case_fault(case[1], case[2]):
                faults.append(f"{path}:{text.count(chr(10), 0, case.start()) + 1}: {case[1]}.{case[2]}: {fault}")
    return faults


if __name__ == "__main__":
    faults = check(pathlib.Path(__file__).resolve().parents[1])
    print("\n".join(faults), end="\n" if faults else "")
    sys.exit(1 if faults else 0)
