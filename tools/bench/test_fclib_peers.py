#!/usr/bin/env python3
"""fclib_peers.py without Siconos: rules for solved problems, ratios, means, profiles, tables; the judge and
FCLIB's files if numpy, scipy and h5py are installed (Debian's: /usr/bin/python3
tools/bench/test_fclib_peers.py)."""
import contextlib
import io
import json
import math
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import fclib_peers
import fclib_siconos
import fclib_tables as tables

try:
    import numpy as np

    import fclib_problems
except ImportError:
    np = None
try:
    import matplotlib
except ImportError:
    matplotlib = None


def run(problem, side, solver, tolerance, ms, error, judge, end="converged", setup=0.0):
    return {"problem": problem, "side": side, "solver": solver, "tolerance": tolerance, "ms": ms, "siconos_error": error,
            "judge": judge, "end": end, "setup_ms": setup}


def example() -> dict:
    runs = [run("a", "siconos", "NSGS", 1e-8, 8.0, 9e-9, 2e-3, setup=4.0), run("a", "siconos", "EG", 1e-8, 20.0, 1e-10, 5e-9),
            run("a", "ours", "auto", 1e-8, 2.0, 1e-9, 9e-9, setup=2.0), run("a", "ours", "nsgs", 1e-4, 1.0, 5e-9, 9e-5),
            run("b", "siconos", "NSGS", 1e-8, None, None, None, "time"), run("b", "ours", "auto", 1e-8, 3.0, 1e-9, 1e-9),
            run("c", "siconos", "NSGS", 1e-8, 1.0, 1e-9, 1e-9), run("c", "ours", "auto", 1e-8, 2.0, 1e-9, 2e-2, "time")]
    return {"bench": "fclib", "backend": "cpu", "device": "AMD EPYC 7B13 64-Core Processor, 2 threads", "threads": 1,
            "date": "2026-01-02", "peer": "Siconos 4.4.0", "limit": 10.0, "tolerances": [1e-8], "notes": [], "figures": [],
            "problems": [{"name": name, "contacts": 3} for name in "abc"], "runs": runs}


class Tables(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def names(self, rule):
        return [tuple(row[side] and row[side]["solver"] for side in ("theirs", "ours")) for row in tables.comparison(example(), 1e-8, rule)]

    def test_three_rules_of_what_counts(self):
        self.assertEqual(self.names("own"), [("NSGS", "auto"), (None, "auto"), ("NSGS", None)])
        # A run with tolerance 1e-4 may reach 1e-8 by Siconos' measure; so may one that stopped early.
        self.assertEqual(self.names("siconos"), [("NSGS", "nsgs"), (None, "auto"), ("NSGS", "auto")])
        self.assertEqual(self.names("judge"), [("EG", "auto"), (None, "auto"), ("NSGS", None)])

    def test_ratios_with_and_without_setup(self):
        row = tables.comparison(example(), 1e-8, "own")[0]
        self.assertEqual((row["ratio"], row["bare_ratio"], row["auto_ratio"]), (3.0, 4.0, 3.0))
        self.assertAlmostEqual(tables.geometric_mean([2.0, 8.0]), 4.0)
        self.assertTrue(math.isnan(tables.geometric_mean([])))
        self.assertEqual(tables.verdict([{"x": 4.0}, {"x": 0.25}, {"x": None}], "x"), "geometric mean 1.00, least 0.25, faster on 1 of 2")

    def test_profiles_count_only_what_was_solved(self):
        curves = tables.profiles(example(), 1e-8, "judge")
        self.assertEqual(curves[("ours", "auto")], [1.0, 1.0])
        self.assertEqual(curves[("siconos", "EG")], [5.0])
        self.assertEqual(curves[("siconos", "NSGS")], [1.0])
        curves[("siconos", "EG csc")] = [11.0]
        self.assertEqual(tables.chosen([curves])[0], {"ours": ["auto"], "siconos": ["NSGS", "EG"]})

    def test_report_and_what_report_py_reads(self):
        text = tables.report(example())
        for part in ("Siconos 4.4.0", "only ours", "only theirs", "Solved: Siconos 2, ours 2", "2026-01-02", "NSGS"):
            self.assertIn(part, text)
        widths = {len(line) for line in tables.table(example(), 1e-8, "own").splitlines() if line.startswith("|")}
        self.assertEqual(len(widths), 1)
        import report

        path = self.root / "kept.json"
        path.write_text(json.dumps([{**example(), "figures": tables.figures(example())}]))
        self.assertIn("3 times as fast as 12 (Siconos NSGS)", report.table(report.load(path)))

    def test_names_of_results_and_numbers(self):
        self.assertEqual(fclib_peers.stem(example()), "2026-01-02-epyc-7b13-2-threads-fclib")
        self.assertEqual(fclib_peers.stem({**example(), "device": "AMD EPYC, 2 threads"}), "2026-01-02-epyc-2-threads-fclib")
        self.assertEqual([fclib_peers.number(x) for x in (None, math.nan, math.inf, 2)], [None, None, None, 2.0])

    def test_short_solves_are_repeated_more(self):
        self.assertEqual([fclib_siconos.repetitions(t, 3) for t in (1e-6, 0.01, 0.5, 1.9, 2.0)], [20, 10, 3, 3, 1])

    def test_bad_input_ends_with_2(self):
        with contextlib.redirect_stderr(io.StringIO()) as errors:
            self.assertEqual(fclib_peers.main(["--redraw", str(self.root / "none.json")]), 2)
            self.assertEqual(fclib_peers.main(["--program", str(self.root / "none")]), 2)
            for wrong in (["--tolerances", "tight"], ["--tolerances", "0"]):
                with self.assertRaises(SystemExit) as stopped:
                    fclib_peers.main(wrong)
                self.assertEqual(stopped.exception.code, 2)
        self.assertIn("none.json", errors.getvalue())

    @unittest.skipIf(matplotlib is None, "no matplotlib")
    def test_draws_a_picture(self):
        target = self.root / "profiles.png"
        tables.draw_profiles(example(), 1e-8, target)
        self.assertEqual(target.read_bytes()[1:4], b"PNG")


@unittest.skipIf(np is None, "no numpy, scipy or h5py")
class Problems(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def single(self, q, mass=2.0, mu=0.5):
        W = fclib_problems.sparse.identity(3, format="csc") / mass
        return fclib_problems.Problem("single", W, np.array(q, dtype=float), np.array([mu]))

    def test_judge_knows_the_states_of_one_contact(self):
        for q, r in (((1, 3, 0), (0, 0, 0)), ((-1, 0.2, 0.1), (2, -0.4, -0.2)), ((-1, 3, 4), (2, -0.6, -0.8))):
            self.assertLess(fclib_problems.judged(self.single(q), np.array(r, dtype=float)), 1e-15)
        self.assertAlmostEqual(fclib_problems.judged(self.single((-1, 0, 0)), np.zeros(3)), 1.0)

    def test_judge_does_not_see_the_scale_of_masses(self):
        r = np.array([1.5, 0.3, -0.2])
        seen = [fclib_problems.judged(self.single((-1, 0.4, 2), mass), r * mass) for mass in (1e-6, 1.0, 1e6)]
        np.testing.assert_allclose(seen, seen[1], rtol=1e-12)

    def test_projection_is_the_nearest_point(self):
        rng = np.random.default_rng(1)
        for mu in (0.0, 0.3, 2.0):
            x = rng.normal(size=(200, 3))
            y = fclib_problems.projected(x, np.full(200, mu))
            self.assertTrue(np.all(np.linalg.norm(y[:, 1:], axis=1) <= mu * y[:, 0] + 1e-12))
            # x - y lies in the polar cone and is orthogonal to y.
            np.testing.assert_allclose(np.sum((x - y) * y, axis=1), 0, atol=1e-12)
            self.assertTrue(np.all(mu * np.linalg.norm((x - y)[:, 1:], axis=1) <= -(x - y)[:, 0] + 1e-12))

    def test_files_round_trip_and_global_ones_are_reduced(self):
        import h5py

        rng = np.random.default_rng(2)
        M, H = np.diag([1.0, 2.0, 4.0, 8.0]), rng.normal(size=(4, 6))
        f, w, mu = rng.normal(size=4), rng.normal(size=6), np.array([0.3, 0.0])
        with h5py.File(self.root / "global.hdf5", "w") as file:
            group = file.create_group("fclib_global")
            group["spacedim"] = [3]
            for name, dense in (("M", M), ("H", H)):
                A = fclib_problems.sparse.coo_matrix(dense)
                for key, value in (("m", [A.shape[0]]), ("n", [A.shape[1]]), ("nz", [A.nnz]), ("i", A.row), ("p", A.col), ("x", A.data)):
                    group[f"{name}/{key}"] = value
            for key, value in (("f", f), ("w", w), ("mu", mu)):
                group[f"vectors/{key}"] = value
        problem = fclib_problems.load(self.root / "global.hdf5")
        np.testing.assert_allclose(problem.W.toarray(), H.T @ np.linalg.inv(M) @ H, atol=1e-14)
        np.testing.assert_allclose(problem.q, w + H.T @ np.linalg.inv(M) @ f, atol=1e-14)
        fclib_problems.save_local(self.root / "local.hdf5", problem)
        again = fclib_problems.load(self.root / "local.hdf5")
        self.assertEqual((abs(again.W - problem.W).max(), again.dofs, problem.dofs), (0.0, 0, 4))
        np.testing.assert_array_equal(again.q, problem.q)
        (self.root / "bad.hdf5").write_text("no HDF5")
        with self.assertRaisesRegex(fclib_problems.BadInput, "bad.hdf5"):
            fclib_problems.load(self.root / "bad.hdf5")


if __name__ == "__main__":
    unittest.main()
