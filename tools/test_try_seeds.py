#!/usr/bin/env python3
"""Tests of tools/try_seeds.py."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import try_seeds  # noqa: E402

OUTPUT = """[==========] 1 test from 1 test suite ran. (0 ms total)
[  PASSED  ] 1 test.
a_test.cpp:3: Failure
seed 7
[  FAILED  ] cpu_A.Adds (2 ms)
[  PASSED  ] 0 tests.
[  FAILED  ] 1 test, listed below:
[  FAILED  ] cpu_A.Adds
"""


class Seeds(unittest.TestCase):
    def test_finds_tests_that_drew_a_seed(self):
        report = {"testsuites": [{"name": "A", "testsuite": [{"name": "Adds", "time": "0.25s", "seed": "7"},
                                                             {"name": "Subtracts", "time": "1s"}]}]}
        self.assertEqual(try_seeds.seeded_tests(report), {"A.Adds": 0.25})

    def test_fast_tests_run_often(self):
        self.assertEqual(try_seeds.repetitions(0.0, 5), 1000)
        self.assertEqual(try_seeds.repetitions(0.1, 5), 50)
        self.assertEqual(try_seeds.repetitions(15, 5), 3)

    def test_shows_the_first_failure(self):
        self.assertEqual(len(try_seeds.FAILED.findall(OUTPUT)), 1)
        text = try_seeds.first_failure(OUTPUT)
        self.assertIn("seed 7", text)
        self.assertNotIn("listed below", text)


if __name__ == "__main__":
    unittest.main()
