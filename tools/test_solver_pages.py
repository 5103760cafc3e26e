#!/usr/bin/env python3
"""solver_pages.py and the tables of bench/solver_tables.py on small inputs."""
import contextlib
import json
import math
import pathlib
import tempfile
import unittest
import xml.etree.ElementTree
from unittest import mock

import solver_pages
import solver_tables


def run_of(solver: str, law: str = "exact", factor: float = 1.0, end: str = "converged") -> dict:
    points = [[0, 0.0, 1.0], [1, 0.001 * factor, 1e-3], [10, 0.01 * factor, 5e-5], [100, 0.1 * factor, 1e-9]]
    return {"solver": solver, "problem": "heap", "size": 7, "law": law, "contacts": 40, "nu": 2.0, "end": end, "message": None, "residual": points[-1][2], "iterations": 100, "seconds": 0.1, "points": points}


class Kept(unittest.TestCase):
    @contextlib.contextmanager
    def results(self, runs: list[dict], couplings: list[dict] | None = None):
        result = {"device": "D", "threads": 1, "limit": 5.0, "iterations": 1000, "tolerance": 1e-8, "runs": runs, "couplings": couplings or []}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            for kind in ("solvers", "couplings", "duals"):
                solver_pages.write(path / f"2026-01-02-a-1-thread-{kind}.json", result)
            (path / "laws").mkdir()
            with mock.patch.object(solver_tables.result_tables, "RESULTS", path):
                yield path

    def test_what_is_written_is_read(self):
        with self.results([run_of("nsgs"), run_of("admm")], [{"scene": "s"}]) as path:
            again = solver_pages.load(next(path.glob("*.json")))
        self.assertEqual(again["runs"], [run_of("nsgs"), run_of("admm")])
        self.assertEqual(again["couplings"], [{"scene": "s"}])

    def test_the_table_has_the_first_check_below_a_residual(self):
        with self.results([run_of("nsgs", factor=2), run_of("nsgs", "box", 3), run_of("admm"), run_of("pgs", "box", 4, "stalled")]):
            lines = solver_tables.convergence("admm").splitlines()
            self.assertEqual(lines[-1], "| `heap`, 40 contacts, nu = 2.0 | 10 / 10.0 | 100 / 100 | converged | 10 / 20.0 | 100 / 200 |")
            self.assertIn("![Residual of admm over iterations and over time](admm.svg)", lines[0])
            self.assertIn("Coulomb's law, beside `nsgs`", lines[2])
            # The reference beside a solver of box friction has that law, and its own page only Coulomb's.
            self.assertIn("| 10 / 40.0 | 100 / 400 | 1.0e-9, stalled | 10 / 30.0 |", solver_tables.convergence("pgs"))
            self.assertEqual(len(solver_tables.convergence("nsgs").splitlines()), 7)
            with self.assertRaisesRegex(ValueError, "no race of spg"):
                solver_tables.convergence("spg")

    def test_a_residual_that_is_not_reached(self):
        run = {**run_of("admm", end="iterations"), "residual": 2e-3}
        run["points"] = run["points"][:2]
        self.assertIsNone(solver_tables.reached(run, 1e-4))
        self.assertEqual(solver_tables.end_text(run), "2.0e-3, at the limit of iterations")
        self.assertEqual(solver_tables.end_text({**run, "residual": 0.137, "end": "time"}), "0.14, out of time")

    def test_the_sentence_of_the_law_matrix(self):
        cells = [{"scene": "a", "solver": "pgs", "frames": 6, "converged": 6}, {"scene": "b", "solver": "pgs", "frames": 6, "converged": 1}, {"scene": "c", "solver": "pgs", "reason": "over"},
                 {"scene": "d", "solver": "pgs", "frames": 6, "converged": 6, "message": "x: nsgs took its place"}, {"scene": "a", "solver": "nsgs", "frames": 6, "converged": 0}]
        with self.results([run_of("nsgs")]) as path:
            (path / "laws/2026-01-01-a.json").write_text(json.dumps(cells))
            self.assertEqual(solver_tables.laws("pgs"), "[The law matrix](../law-matrix.md) has the first steps of 4 scenes with `pgs`. In 1 of them all steps converge; some do not in 1: `b` (1/6); "
                                                        "in 1 `nsgs` replaced it; 1 of them it refuses, or does not finish in time.\n")
            with self.assertRaisesRegex(ValueError, "no column of spg"):
                solver_tables.laws("spg")

    def test_couplings(self):
        row = {"scene": "s", "frames": 60, "steps": 60, "coupling": "rounds", "settings": [], "iterations": 12.34, "milliseconds": 5.0, "residual": 7.5e-4, "converged": 59}
        with self.results([run_of("nsgs")], [row, {**row, "coupling": "ica", "settings": ["a=1"], "steps": 16, "converged": 6, "residual": None}]):
            lines = solver_tables.couplings().splitlines()
        self.assertEqual(lines[-2:], ["| `s`, 60 | `rounds` | 12.3 | 5.00 | 7.5e-4 | 59 |", "|  | `ica`, `a=1` | 12.3 | 5.00 |  | 6, then not finite |"])

    def test_dual_solvers(self):
        row = {"scene": "s", "frames": 40, "steps": 40, "solver": "spg", "coupling": "factor", "settings": [], "inverse": "PCG in products", "iterations": 12.34, "dual_solves": 25, "dual_iterations": 250,
               "milliseconds": 5.0, "residual": 7.5e-4, "converged": 39}
        none = {"dual_solves": 0, "dual_iterations": 0}
        rows = [{**row, "coupling": "nodal_admm", "solver": "nsgs", "inverse": "–", **none}, row, {**row, "solver": "newton_ac", "scene": "t", "inverse": "factors", **none}]
        with self.results([run_of("nsgs")], rows):
            lines = solver_tables.duals().splitlines()
        self.assertEqual(lines[-3:], ["| `s`, 40 | `nodal_admm` | – | 12.3 | – | – | 5.00 | 7.5e-4 | 39 |", "|  | `spg` | PCG in products | 12.3 | 25.0 | 250 | 5.00 | 7.5e-4 | 39 |",
                                      "| `t`, 40 | `newton_ac` | factors | 12.3 | – | – | 5.00 | 7.5e-4 | 39 |"])

    def test_how_dual_solvers_get_the_inverse(self):
        pcg = ["dual_pcg_tolerance=1e-6"]
        self.assertEqual(solver_pages.inverse_of("nodal_admm", [], False), "–")
        self.assertEqual(solver_pages.inverse_of("factor", [], True), "factors")
        self.assertEqual(solver_pages.inverse_of("factor", pcg, True), "PCG in products")
        self.assertEqual(solver_pages.inverse_of("factor", [*pcg, "contact.storage=assembled"], True), "PCG for W")
        self.assertEqual(solver_pages.inverse_of("factor", pcg, False), "PCG for W")

    def test_pictures_are_drawn_beside_the_reference(self):
        with self.results([run_of("nsgs"), run_of("admm", factor=2)]):
            own, both = solver_pages.picture("nsgs"), solver_pages.picture("admm")
        for text in (own, both):
            xml.etree.ElementTree.fromstring(text)
            self.assertIn("prefers-color-scheme: dark", text)
        self.assertEqual((own.count('class="own-end"'), own.count('class="peer-end"')), (2, 0))
        self.assertEqual((both.count('class="own-end"'), both.count('class="peer-end"')), (2, 2))

    def test_the_kept_pictures_are_those_of_the_kept_results(self):
        drawn = {path.stem for path in solver_pages.PAGES.glob("*.svg")}
        self.assertEqual(drawn, {run["solver"] for run in solver_tables.result_tables.load("solvers")[0]["runs"]})
        for name in sorted(drawn):
            self.assertEqual((solver_pages.PAGES / f"{name}.svg").read_text(), solver_pages.picture(name), f"tools/solver_pages.py --redraw draws {name}.svg")
        self.assertLessEqual(set(solver_pages.PICTURES), {path.stem for path in solver_pages.PAGES.glob("*.png")})


class Measures(unittest.TestCase):
    def test_few_points_are_kept_and_never_rise(self):
        points = [[k, 0.001 * k, 1.0 / (k + 1) if k % 3 else 0.9] for k in range(5000)]
        kept = solver_pages.thinned(points)
        self.assertLessEqual(len(kept), solver_pages.MOST_POINTS)
        self.assertEqual((kept[0][0], kept[-1][0]), (0, 4999))
        self.assertTrue(all(a[2] >= b[2] for a, b in zip(kept, kept[1:])))
        self.assertEqual(len(solver_pages.thinned(points[:20])), 20)

    def test_figures_of_coupled_steps(self):
        def step(contacts, rounds, iterations, residual, converged=True):
            return {"contacts": contacts, "converged": converged, "contact_solve": {"rounds": rounds, "iterations": iterations, "dual_solves": 10 * iterations, "dual_iterations": 90 * iterations}, "judgement": {"residual": residual},
                    "seconds": {"total": 0.010, "check": 0.001, "broad_phase": 0.002}}

        figures = solver_pages.coupled([step(0, 1, 1, 9.0), step(3, 4, 40, 0.1), step(3, 0, 6, 0.3, False), step(3, 8, 9, 0.2)])
        self.assertEqual((figures["steps"], figures["converged"], figures["residual"]), (4, 3, 0.2))
        self.assertAlmostEqual(figures["iterations"], 6)
        self.assertAlmostEqual(figures["dual_solves"], 10 * 55 / 3)
        self.assertAlmostEqual(figures["dual_iterations"], 90 * 55 / 3)
        self.assertEqual(figures["contacts"], 3)
        self.assertAlmostEqual(figures["milliseconds"], 7)

    def test_axes(self):
        panel = solver_pages.Panel(10, 20, 100, 50, (1, 100), (1e-8, 1))
        self.assertAlmostEqual(panel.px(10), 60)
        self.assertAlmostEqual(panel.py(1e-4), 45)
        self.assertAlmostEqual(panel.px(0), 10)  # clamped: a log axis has no zero
        self.assertEqual(solver_pages.decades(1e-9, 2, 6), [-9, -7, -5, -3, -1])
        self.assertTrue(math.isclose(solver_pages.span([2.0, 3.0])[1], 20.0))


if __name__ == "__main__":
    unittest.main(verbosity=0)
