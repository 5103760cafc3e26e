#!/usr/bin/env python3
"""race_plot.py on small inputs: reading, thinning, labels, the picture, and refused input."""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import race_plot

try:
    import matplotlib
except ImportError:
    matplotlib = None

HEAD = "solver,setting,iteration,seconds,residual,residual_fclib\n"
RACE = HEAD + "nsgs,,0,0,1,1\nnsgs,,1,0.1,1e-3,1\nnsgs,,2,0.2,1e-2,1\nnsgs,,3,0.3,0,1\n" + "".join(
    f"prox_gs,r_scale={s},{k},{0.1 * k},{0.5**k},1\n" for s in (0.1, 1, 10) for k in range(5)
) + "pivot,,0,0,1,1\n"


class RacePlot(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, text: str) -> pathlib.Path:
        path = self.root / "race.csv"
        path.write_text(text)
        return path

    def test_points_are_the_best_so_far(self):
        runs = race_plot.load(self.write(RACE))
        self.assertEqual([run.name for run in runs], ["nsgs", "prox_gs r_scale=0.1", "prox_gs r_scale=1", "prox_gs r_scale=10", "pivot"])
        self.assertEqual([p[2] for p in runs[0].points], [1, 1e-3, 1e-3, race_plot.SMALLEST])
        moved, still = race_plot.parted(runs)
        self.assertEqual([run.name for run in still], ["pivot"])
        self.assertEqual(len(moved), 4)

    def test_many_points_are_thinned_but_for_their_ends(self):
        points = [(k, k, 1.0) for k in range(100000)]
        few = race_plot.thinned(points)
        self.assertLessEqual(len(few), race_plot.MOST_POINTS)
        self.assertEqual((few[0], few[-1]), (points[0], points[-1]))
        self.assertEqual(race_plot.thinned(points[:5]), points[:5])

    def test_labels_keep_apart_and_inside(self):
        for heights in ([0.5] * 7, [0.0, 0.01, 1.0, 0.99], [0.2], [0.3] * 60):
            placed = race_plot.spread(heights, 0.034)
            gaps = [b - a for a, b in zip(sorted(placed), sorted(placed)[1:])]
            self.assertTrue(all(gap >= min(0.034, 1 / len(heights)) - 1e-12 for gap in gaps))
            self.assertGreaterEqual(min(placed), -1e-12)
            self.assertLessEqual(max(placed), 1)

    def test_bad_files_are_refused_with_their_line(self):
        for text, part in (("", "no column"), ("a,b\n1,2\n", "no column 'solver'"), (HEAD, "no points"),
                           (HEAD + "nsgs,,0,0,one,1\n", "race.csv:2"), (HEAD + "nsgs,,0,0,1,1\nnsgs,,1\n", "race.csv:3")):
            with self.assertRaises(race_plot.BadInput) as caught:
                race_plot.load(self.write(text))
            self.assertIn(part, str(caught.exception))
        with contextlib.redirect_stderr(io.StringIO()) as errors:
            self.assertEqual(race_plot.main([str(self.root / "none.csv"), str(self.root / "x.png")]), 2)
        self.assertIn("none.csv", errors.getvalue())

    @unittest.skipIf(matplotlib is None, "no matplotlib")
    def test_draws_a_picture(self):
        target = self.root / "race.part7"
        self.assertEqual(race_plot.main([str(self.write(RACE)), str(target), "--title", "two solvers", "--tolerance", "1e-6"]), 0)
        self.assertEqual(target.read_bytes()[1:4], b"PNG")


if __name__ == "__main__":
    unittest.main()
