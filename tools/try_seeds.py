#!/usr/bin/env python3
"""Runs the tests that use random numbers with many seeds, to find errors that one seed in hundreds shows.

tools/try_seeds.py [--build build/release] [--match TEXT] [--seconds 5] [--jobs N]

Each quick test of the CPU that draws a seed (tests/fixtures/fresh_seed.h) is repeated for about --seconds,
at least 3 and at most 1000 times. Prints the first failure of each test, with its seed. Status 1: a test failed.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

LEAST, MOST = 3, 1000
SLOW = 20  # [s] a test that takes longer is left out
# A wanted seed would make all runs the same.
FRESH = {key: value for key, value in os.environ.items() if key != "STICKSLIP_SEED"}
FAILED = re.compile(r"^\[  FAILED  \] \S+.*\(\d+ ms\)$", re.MULTILINE)


def seeded_tests(report):
    """The names of the tests in a report of GoogleTest (JSON) that drew a seed, and their times [s]."""
    return {f"{suite['name']}.{test['name']}": float(test["time"].rstrip("s"))
            for suite in report["testsuites"] for test in suite["testsuite"] if "seed" in test}


def find_tests(program, match):
    """Runs each test of a program once: (program, name, time) of those with a seed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        subprocess.run([program, f"--gtest_output=json:{path}", f"--gtest_filter=*{match}*:-*Long*:cuda_*:*/cuda*"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=FRESH)
        if not path.exists():
            sys.exit(f"{program}: no report")
        report = json.loads(path.read_text())
    return [(program, name, time) for name, time in seeded_tests(report).items() if time < SLOW]


def repetitions(time, seconds):
    return int(min(MOST, max(LEAST, seconds / max(time, 1e-3))))


def first_failure(output):
    """The text of the first failed test in the output of many."""
    end = FAILED.search(output)
    if end is None:
        return output[-2000:]
    start = output.rfind("[  PASSED  ]", 0, end.start())
    return output[max(start, 0):end.end()]


def repeat(test, seconds):
    program, name, time = test
    count = repetitions(time, seconds)
    try:
        result = subprocess.run([program, f"--gtest_filter={name}", f"--gtest_repeat={count}", "--gtest_brief=1"],
                                capture_output=True, text=True, env=FRESH, timeout=60 + 10 * count * max(time, 0.1))
    except subprocess.TimeoutExpired as expired:
        print(f"{name}: not done after {expired.timeout:.0f} s", flush=True)
        return count, True
    failures = len(FAILED.findall(result.stdout))
    if failures or result.returncode:
        print(f"{name}: {failures} of {count} failed, status {result.returncode}\n"
              f"{first_failure(result.stdout)}\n{result.stderr[-500:]}", flush=True)
    return count, bool(failures or result.returncode)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("--match", default="", help="only tests with this text in their name")
    parser.add_argument("--seconds", type=float, default=5, help="for each test")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    programs = sorted(p for p in (arguments.build / "tests").glob("test_*") if os.access(p, os.X_OK) and p.is_file())
    if not programs:
        sys.exit(f"{arguments.build}/tests: no test programs")
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        found = [t for tests in pool.map(lambda p: find_tests(p, arguments.match), programs) for t in tests]
        results = list(pool.map(lambda t: repeat(t, arguments.seconds), found))
    failed = sum(bad for _, bad in results)
    print(f"{len(found)} tests, {sum(count for count, _ in results)} runs, {failed} tests failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
