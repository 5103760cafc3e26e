#!/usr/bin/env python3
"""Tests of tools/law_matrix.py."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import law_matrix  # noqa: E402

GOOD = {"frames": 6, "converged": 6, "intersections": 0, "cone": 0.0, "momentum": 0.0}


class Cells(unittest.TestCase):
    def test_counts_steps(self):
        self.assertEqual(law_matrix.text(GOOD, "nsgs"), "all")
        self.assertEqual(law_matrix.text({**GOOD, "converged": 4}, "nsgs"), "4/6")
        self.assertEqual(law_matrix.text({"reason": "more than 60 s"}, "nsgs"), "–")

    def test_marks_broken_laws(self):
        for broken in ({"intersections": 1}, {"momentum": 1e-5}, {"cone": 0.01}):
            self.assertIn("broken", law_matrix.text({**GOOD, **broken}, "nsgs"))
        self.assertEqual(law_matrix.text({**GOOD, "cone": 0.01}, "pgs"), "all")  # a box is not a cone

    def test_columns_are_the_solvers_of_steps(self):
        self.assertEqual(set(law_matrix.VELOCITY), set(law_matrix.LAWS) - {"penalty_explicit"})
        self.assertEqual(law_matrix.BOX, {"pgs", "pgs_jacobi", "pgs_sm", "pivot_incremental", "pivot_block"})

    def test_page_shows_kept_measurements(self):
        cells = law_matrix.load(law_matrix.newest_data())
        page = (law_matrix.ROOT / "docs/law-matrix.md").read_text()
        self.assertEqual(page, "\n".join(law_matrix.page(cells)) + "\n")

    def test_every_scene_is_measured(self):
        measured = {scene for scene, _ in law_matrix.load(law_matrix.newest_data())}
        self.assertEqual({p.stem for p in (law_matrix.ROOT / "assets/scenes").glob("*.toml")} - measured, set())


if __name__ == "__main__":
    unittest.main()
