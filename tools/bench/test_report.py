#!/usr/bin/env python3
"""report.py on small inputs: the table, the plots, and refused input."""
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import report

try:
    import matplotlib
except ImportError:
    matplotlib = None

LBVH = {
    "bench": "lbvh",
    "backend": "cpu",
    "device": "a processor",
    "threads": 2,
    "figures": [
        {"name": "build", "value": 40, "unit": "Mtriangles/s", "floor": 100, "floor_name": "triad", "peer": 20, "peer_name": "Embree"},
        {"name": "find", "value": 5, "unit": "ms", "floor": None, "floor_name": "", "peer": 20, "peer_name": "other|one"},
        {"name": "build, share of sort", "value": 60, "unit": "%"},
        {"name": "build, share of tree", "value": 40, "unit": "%"},
        {"name": "nothing measured", "value": 0, "unit": "ms", "floor": 3, "floor_name": "x"},
    ],
    "notes": ["no other peer"],
}


def barrier_row(solver: str, preconditioner: str, warm: bool, converged: int) -> dict:
    return {
        "problem": "twist x1", "start_frame": 60, "tets": 5012, "contacts": 120, "solver": solver, "preconditioner": preconditioner,
        "warm_start": warm, "frames": 3, "converged": converged, "error": None, "seconds": 1.5, "newton_iterations": 30,
        "pcg_iterations": 4000,
    }


BARRIER = {
    "bench": "barrier",
    "backend": "cpu",
    "device": "a processor",
    "threads": 2,
    "figures": [{"name": "twist x1, ipc, block_jacobi", "value": 0.5, "unit": "s/step"}],
    "rows": [barrier_row(s, p, w, 3 - w) for s in ("ipc", "barrier_al") for p in ("block_jacobi", "multilevel") for w in (False, True)],
}


class Report(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, name: str, text: str) -> str:
        (self.root / name).write_text(text)
        return str(self.root / name)

    def run_main(self, *arguments: str) -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = report.main(list(arguments))
        return code, out.getvalue(), err.getvalue()

    def test_table(self):
        code, out, err = self.run_main(self.write("a.json", json.dumps([LBVH])))
        self.assertEqual((code, err), (0, ""))
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in out.splitlines() if line.startswith("|")]
        self.assertEqual(rows[0], ["bench", "backend", "what", "seen", "floor", "peer"])
        self.assertEqual(rows[2][2:], ["build", "40 Mtriangles/s", "40% of 100 (triad)", "2 times as fast as 20 (Embree)"])
        self.assertEqual(rows[3][2:], ["find", "5 ms", "", "4 times as fast as 20 (other/one)"])
        self.assertEqual(len(rows), 2 + len(LBVH["figures"]))
        self.assertIn("cpu: a processor, 2 used", out)
        self.assertIn("no other peer", out)

    def test_reads_what_gpu_check_writes(self):
        path = self.write("a.json", json.dumps({"device": "d", "checks": [], "benches": [LBVH]}))
        self.assertIn("40% of 100", self.run_main(path)[1])

    def test_reads_the_kept_results(self):
        code, out, _ = self.run_main()
        self.assertEqual(code, 0)
        self.assertIn("lbvh", out)

    def test_refuses_bad_input_by_name(self):
        figure = {"name": "a", "unit": "ms"}
        for text, why in [
            ("{", "no JSON"),
            ('{"a": 1}', "'benches'"),
            ('[{"bench": "x"}]', "no 'backend'"),
            (json.dumps([{**LBVH, "figures": [figure]}]), "no 'value'"),
        ]:
            code, out, err = self.run_main(self.write("bad.json", text))
            self.assertEqual((code, out), (2, ""), text)
            self.assertIn("bad.json", err)
            self.assertIn(why, err)
        self.assertEqual(self.run_main(str(self.root / "absent.json"))[0], 2)

    def test_says_when_matplotlib_is_missing(self):
        path = self.write("a.json", json.dumps([LBVH]))
        with mock.patch.dict(sys.modules, {"matplotlib": None}):
            code, _, err = self.run_main(path, "--plots", str(self.root / "plots"))
        self.assertEqual(code, 2)
        self.assertIn("python3-matplotlib", err)

    @unittest.skipUnless(matplotlib, "matplotlib is not installed")
    def test_plots(self):
        path = self.write("a.json", json.dumps([LBVH]))
        code, _, _ = self.run_main(path, "--plots", str(self.root / "plots"))
        self.assertEqual(code, 0)
        drawn = sorted(self.root.glob("plots/*.png"))
        self.assertEqual([p.name for p in drawn], ["lbvh-cpu-stages.png", "lbvh-cpu.png"])
        for image in drawn:
            self.assertEqual(image.read_bytes()[:4], b"\x89PNG")
            self.assertGreater(image.stat().st_size, 5000)

    @unittest.skipUnless(matplotlib, "matplotlib is not installed")
    def test_plots_of_barrier(self):
        path = self.write("a.json", json.dumps([BARRIER, {**BARRIER, "backend": "cuda", "rows": []}]))
        self.assertEqual(self.run_main(path, "--plots", str(self.root / "plots"))[0], 0)
        drawn = sorted(p.name for p in self.root.glob("plots/*.png"))
        self.assertEqual(drawn, ["barrier-cpu-newton.png", "barrier-cpu-pcg.png", "barrier-cpu-seconds.png"])
        for name in drawn:
            self.assertGreater((self.root / "plots" / name).stat().st_size, 5000)

    def test_texts_fit_the_axis(self):
        points = [p for figure in LBVH["figures"][:2] for p in report.labels(figure)]
        low, high = report.limits(points, 9.8)
        self.assertLess(low, min(p[0] for p in points))
        self.assertGreater(high, max(p[0] for p in points))


if __name__ == "__main__":
    unittest.main(verbosity=0)
