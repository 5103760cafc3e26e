#!/usr/bin/env python3
"""reproduction.py on small claims and results."""
import json
import pathlib
import tempfile
import unittest

import reproduction

CLAIMS = """
reference = "Guo24"
title = "A paper"
left_out = ["Fig. 2: a drawing"]
[[claim]]
name = "paper-fig1"
where = "Fig. 1"
claim = "It works."
measure = "solvers"
remark = "Smaller."
[[claim.method]]
name = "nsgs"
[[claim.check]]
quantity = "nsgs.solved"
meaning = "solved"
claimed = 1
[claim.run]
sizes = [4]
[[claim]]
name = "paper-table1"
where = "Table 1"
claim = "It is fast."
missing = "no machine"
"""
RESULT = {
    "name": "paper-fig1", "quick": False, "run": {"sizes": [4], "starts": 3}, "machine": "A", "threads": 1, "date": "2026-01-02",
    "methods": [{"name": "nsgs", "solver": "", "set": []}], "notes": ["nsgs: something"],
    "verdict": {"outcome": "not reproduced", "line": "", "checks": [
        {"quantity": "nsgs.solved", "meaning": "solved", "sense": "equal", "claimed": 1, "tolerance": 0, "median": 0.5, "low": 0,
         "high": 1, "starts": 3, "holds": False}]},
}


class Reproduction(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.place.name)
        (self.folder / "paper.toml").write_text(CLAIMS)

    def tearDown(self):
        self.place.cleanup()

    def table(self, result: dict | None) -> str:
        if result:
            (self.folder / "paper-fig1.json").write_text(json.dumps(result))
        return reproduction.paper_table("paper", self.folder, self.folder)

    def test_a_result_has_verdict_range_and_machine(self):
        text = self.table(RESULT)
        self.assertIn("**not reproduced**", text)
        self.assertIn("solved: **0.5** (0 to 1), claimed 1. 3 starts<br>Smaller<br>nsgs: something<br>A, 1 thread, 2026-01-02", text)
        self.assertIn("1 no run yet, 1 not reproduced", text)
        self.assertIn("Fig. 2: a drawing", text)

    def test_without_a_result_nothing_is_claimed(self):
        self.assertIn("| no result kept |", self.table(None))

    def test_a_result_of_another_claim_is_not_shown(self):
        for change in ({"run": {"sizes": [5]}}, {"methods": []}):
            self.assertIn("| no result kept |", self.table({**RESULT, **change}))

    def test_quick_and_unmeasured_results_are_not_kept(self):
        unmeasured = {**RESULT, "verdict": {**RESULT["verdict"], "outcome": "not measured"}}
        for result, refused in ((RESULT, 0), ({**RESULT, "quick": True}, 1), (unmeasured, 1)):
            (self.folder / "paper-fig1.json").write_text(json.dumps(result))
            self.assertEqual(len(reproduction.keep(self.folder, self.folder / "kept")), refused)
        self.assertTrue((self.folder / "kept/paper-fig1.json").exists())


if __name__ == "__main__":
    unittest.main()
