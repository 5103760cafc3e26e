#!/usr/bin/env python3
"""make_docs.py and the tables of bench/result_tables.py on small inputs."""
import json
import pathlib
import re
import tempfile
import unittest
from unittest import mock

import make_docs
import result_tables


class Parts(unittest.TestCase):
    def test_parts_are_replaced_and_the_rest_stays(self):
        text = "before\n<!-- generated: hello -->\nold\n<!-- end -->\nafter\n"
        new = make_docs.rewrite(text, None)
        self.assertTrue(new.startswith("before\n<!-- generated: hello -->\n```cpp\n"))
        self.assertTrue(new.endswith("```\n<!-- end -->\nafter\n"))
        self.assertEqual(make_docs.rewrite(new, None), new)

    def test_parts_of_the_program_stay_without_it(self):
        text = "<!-- generated: reads nsgs -->\nold\n<!-- end -->\n"
        self.assertEqual(make_docs.rewrite(text, None), text)

    def listing(self) -> mock.Mock:
        def solver(name, law, *groups):
            return {"name": name, "law": law, "params": [{"name": f"{group}_{i}", "group": group} for group in ("stop", *groups) for i in (1, 2)]}

        rows = {"step-solvers": [solver("nsgs", "exact", "sweep"), solver("spring", "penalty", "sweep"), solver("soft", "penalty", "sweep"),
                                 solver("pivot", "box", "pivot")],
                "solvers": [{"name": "ipc", "params": [{"name": "dt", "group": "time"}]}]}
        return mock.Mock(listed=mock.Mock(side_effect=rows.__getitem__))

    def test_the_line_of_a_solver_has_its_law_and_groups(self):
        for names, line in [("nsgs", "Law: exact. Parameters: `stop`, `sweep`."), ("ipc", "Parameters: `time`."),
                            ("spring soft", "Law: penalty. Parameters: `stop`, `sweep`.")]:
            text = make_docs.rewrite(f"<!-- generated: reads {names} -->\n<!-- end -->\n", self.listing())
            self.assertEqual(text.splitlines()[1], line)
        for names, fault in [("x", "no solver x"), ("nsgs spring", "differ in law")]:
            with self.assertRaisesRegex(RuntimeError, fault):
                make_docs.rewrite(f"<!-- generated: reads {names} -->\n<!-- end -->\n", self.listing())

    def test_each_parameter_is_in_one_row_of_groups(self):
        text = make_docs.rewrite("<!-- generated: groups step-solvers -->\n<!-- end -->\n", self.listing())
        self.assertEqual(text.splitlines()[3:-1], ["| `stop` | `stop_1`, `stop_2` | all |", "| `sweep` | `sweep_1`, `sweep_2` | `nsgs`, `soft`, `spring` |",
                                                   "| `pivot` | `pivot_1`, `pivot_2` | `pivot` |"])

    def program(self) -> mock.Mock:
        """A program with two contact solvers, one of which leaves torsion to nsgs and refuses rolling resistance."""
        number = {"name": "omega", "group": "relaxation", "type": "real", "default": 1e-08, "low": 0.0, "high": 2e9, "unit": "m/s", "meaning": "weight |x|"}
        flag = {"name": "fast", "group": "relaxation", "type": "boolean", "default": True, "meaning": "be fast"}
        choice = {"name": "kind", "group": "kinds", "type": "choice", "default": "a", "choices": ["a", "b"], "meaning": "which"}
        stop = {"name": "tolerance", "group": "stop", "type": "integer", "default": 50, "low": 1, "high": 100, "unit": "1", "meaning": "ends"}
        solvers = [{"name": name, "meaning": f"{name} [Course]", "law": law, "problems": True, "lab": True, "assembled": False, "rolling": False, "products": name == "nsgs", "params": [stop, number, flag, choice]}
                   for name, law in (("nsgs", "exact"), ("pivot", "box"))]
        answers = {"joints": "yes", "torsion": "by `nsgs`", "rolling": "–"}
        kind_of = {scene: kind for kind, scene in make_docs.SPECIAL.items()}
        return mock.Mock(listed=mock.Mock(side_effect={"step-solvers": solvers, "solvers": [{"name": "ipc", "meaning": "barrier", "params": [number]}], "params": [number, choice],
                                                       "backends": [{"name": "cpu"}, {"name": "cuda"}]}.__getitem__),
                         accepts=mock.Mock(side_effect=lambda scene, solver: "yes" if solver == "nsgs" else answers[kind_of[scene]]))

    def part(self, name: str) -> list[str]:
        return make_docs.rewrite(f"<!-- generated: {name} -->\n<!-- end -->\n", self.program()).splitlines()[1:-1]

    def test_parameters_have_default_values_and_effect(self):
        rows = ["| `omega` | 1e-8 | 0 to 2e9 m/s | weight \\|x\\| |", "| `fast` | `true` | `true`, `false` | be fast |", "| `kind` | `a` | `a`, `b` | which |"]
        self.assertEqual(self.part("params pivot")[2:], rows)
        self.assertEqual(self.part("params pivot kinds")[2:], rows[2:])
        self.assertEqual(self.part("params nsgs stop")[2:], ["| `tolerance` | 50 | 1 to 100 | ends |"])
        self.assertEqual(self.part("rows kind omega")[2:], [rows[2], rows[0]])
        with self.assertRaisesRegex(RuntimeError, "reads no group x"):
            self.part("params pivot x")

    def test_facts_say_what_a_solver_takes(self):
        self.assertEqual(self.part("facts pivot"), [
            "* **Law:** [box friction](../equations.md#laws).",
            "* **Takes** contacts and joints. In scenes with torsional friction `nsgs` takes its place. It refuses rolling resistance.",
            "* **Needs** W in blocks, or as H A^-1 H' by bodies.", "* **Runs on** the backends `cpu`, `cuda`."])
        self.assertIn("* **Takes** contacts, joints, torsional friction and rolling resistance.", self.part("facts nsgs"))
        self.assertIn("* **Needs** W in blocks, or as H A^-1 H' by bodies, or its products through A^-1 alone.", self.part("facts nsgs"))
        self.assertEqual(self.part("facts ipc")[-1], "* **Runs on** the backends `cpu`, `cuda`.")

    def test_the_index_has_a_line_for_each_solver(self):
        self.assertEqual(self.part("index step-solvers")[2:], [
            "| [`nsgs`](solvers/nsgs.md) | nsgs [Course] | exact | yes | yes | yes | `relaxation`, `kinds` |",
            "| [`pivot`](solvers/pivot.md) | pivot [Course] | box | yes | by `nsgs` | – | `relaxation`, `kinds` |"])

    def test_every_solver_has_a_page(self):
        rows = (make_docs.ROOT / "gpu/params/contact_solvers.h").read_text()
        names = set(re.findall(r"^  (?:PROBLEM|BODIES|STEP)\(\w+, (\w+),", rows, re.M)) | {"ipc", "barrier_al", "ccd_al", "velocity", "rounds", "factor", "nodal_admm", "ica"}
        pages = {path.stem for path in (make_docs.ROOT / "docs/solvers").glob("*.md")}
        self.assertEqual(pages - {"rigid-bodies"}, names)

    def test_solvers_with_equal_cells_share_a_row(self):
        program = mock.Mock()
        program.stepping_solvers.return_value = ["ipc", "nsgs", "pgs"]
        program.takes.side_effect = lambda bodies, solver: "yes" if (make_docs.RIGID in bodies) == (solver != "ipc") else "–"
        program.listed.return_value = [{"name": "cpu"}, {"name": "cuda"}]
        lines = make_docs.matrix(program).splitlines()
        self.assertEqual([line.split(" | ")[0] for line in lines[2:]], ["| `ipc`", "| `nsgs`, `pgs`"])

    def test_every_scene_says_what_each_family_does(self):
        lines = make_docs.families("x").splitlines()
        self.assertRegex(lines[0], r"^All expectations of \d+ of \[the \d+ scenes\]\(x\)")
        self.assertEqual(len(lines) - 4, len(list((make_docs.ROOT / "assets/scenes").glob("*.toml"))))
        for line in lines[4:]:
            self.assertNotIn("not stated", line)
            self.assertIn("holds", line)

    def test_an_unknown_part_is_an_error(self):
        with self.assertRaisesRegex(RuntimeError, "nothing makes"):
            make_docs.rewrite("<!-- generated: novel -->\n<!-- end -->\n", None)


class Results(unittest.TestCase):
    def kept(self, kind: str, runs: list) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        (root / f"2026-01-01-a-{kind}.json").write_text("[]")
        (root / f"2026-02-03-a-{kind}.json").write_text(json.dumps(runs))
        patch = mock.patch.object(result_tables, "RESULTS", root)
        patch.start()
        self.addCleanup(patch.stop)

    def test_rigid(self):
        row = {"scene": "wall", "bodies": 10, "contacts": 1500.0, "ms_mean": 1.25, "penetration_max": 1e-3, "penetration_seen": 0.25,
               "drift_max": 2e-2, "error": None, "fallen": 0}
        self.kept("rigid", [{"device": "D", "rows": [{**row, "method": "Bullet", "fallen": 7}, {**row, "method": "ours", "residual_mean": 1e-3},
                                                      {**row, "method": "broken", "error": "NaN"}]}])
        lines = result_tables.rigid().splitlines()
        self.assertTrue(lines[0].startswith("Measured 2026-02-03 on D"))
        self.assertEqual(lines[4], "| `wall` | 10 | Bullet | 1.5k | 1.25 | 7 fell |  |  |")
        self.assertEqual(lines[5], "|  |  | ours | 1.5k | 1.25 | 1.00 (250) | 20.0 | 1.0e-03 |")
        self.assertIn("NaN", lines[6])

    def test_barrier(self):
        row = {"problem": "twist x1", "tets": 5, "contacts": 6, "frames": 2, "seconds": 1.0, "newton_iterations": 41, "pcg_iterations": 100, "error": None,
               "solver": "ipc", "preconditioner": "block_jacobi", "warm_start": False}
        self.kept("barrier", [{"device": "D", "rows": [row, {**row, "solver": "barrier_al", "seconds": 2.0, "pcg_iterations": 0}]}])
        self.assertEqual(result_tables.barrier().splitlines()[-1], "| `twist` x1 | 5, 6 | 20.5 / 50 / 0.50 | 1.00 / - / 0.50 | - | - | - |")

    def test_marks(self):
        figure = {"name": "spmv", "value": 20.0, "unit": "GB/s", "floor": 40.0, "floor_name": "triad", "peer": None, "peer_name": ""}
        self.kept("marks", [{"bench": "b", "device": "D", "figures": [figure, {**figure, "name": "launch", "unit": "us", "floor": None},
                                                                       {**figure, "name": "pcg", "unit": "us", "value": 50.0}]}])
        lines = result_tables.marks().splitlines()[4:]
        self.assertEqual(lines, ["| b | spmv | 20.0 GB/s | 50% of triad |  |", "| b | pcg | 50.0 us | 1.25 times the time of triad |  |"])

    def test_device_model(self):
        row = {"launches": 3.0, "nodes": 0.0, "waits": 1.0, "copies": 1.0, "megabytes": 0.5, "floor_us": 0.2, "predicted_us": 12.4,
               "by": {"launches": 6.6, "waits": 5.8}}
        run = {"scene": "drop", "settings": ["dt=0.01"], "scale": 2, "size": "12 tets", "steps": 1, "warm": 3, "device": "emulated H100",
               "resources": {"file": "a.json", "kernels": 9, "matched": 7, "unmatched": ["f", "g"]},
               "sum": row, "stages": [{**row, "stage": "contacts"}],
               "largest": [{"stage": "contacts", "place": "find", "predicted_us": 5.8, "bound": "waits"}]}
        self.kept("rigid", [])
        folder = result_tables.RESULTS / "device_model"
        folder.mkdir()
        (folder / "drop.json").write_text(json.dumps(run))
        text = result_tables.device_model()
        self.assertIn("`drop` `--scale 2` `--set dt=0.01`, 12 tets; the step after 3, on an H100. Registers and stacks are known of 7 of 9 kernels.\n", text)
        self.assertIn("| contacts | 3 | 0 | 1 | 1 | 0.500 | 0.200 | 12.4 | launches |", text)
        self.assertIn("| all | 3 |", text)
        self.assertIn("Largest costs: `find` (contacts) 5.80 µs, waits.", text)

    def test_table1(self):
        figures = {"step": 80.0, "newton": 4.0, "pcg": 300.0, "tets": 2400.0, "contacts at most": 964.0}
        published = {"published step": 15540.0, "published tets": 355000.0, "published contacts": 617000.0, "published newton": 24.1}
        named = [{"name": f"{scene}, 2k tets, {name}", "value": value} for scene, some in (("rods", figures | published), ("bowl", figures | published), ("drop", figures)) for name, value in some.items()]
        self.kept("table1", [{"device": "D, 2 threads", "threads": 1, "figures": named}])
        folder = result_tables.RESULTS / "device_model" / "table1"
        folder.mkdir(parents=True)
        (folder / "rods.json").write_text(json.dumps({"scene": "rods", "newton": 2.0, "pcg": 90.0, "sum": {"predicted_us": 5000.0}}))
        self.assertIn("on D, 1 thread: ", result_tables.table1())
        lines = result_tables.table1().splitlines()[4:]
        self.assertEqual(lines[0], "| `rods` | 2.4k / 964 | 4 / 300 | 0.0800 | 2 / 90 | 5.00 | 0.0100 | 355k / 617k | 24.1 | 15.5 |")
        self.assertEqual(lines[1], "| `bowl` | 2.4k / 964 | 4 / 300 | 0.0800 |  |  |  | 355k / 617k | 24.1 | 15.5 |")
        self.assertEqual(len(lines), 2)

    def test_causes(self):
        row = {"scene": "drop", "program": "old", "steps": 4, "converged": 3, "newton": 40, "pcg": 9, "impact": 10, "halved": 20, "full": 10}
        self.kept("causes", [{"device": "D", "rows": [row, {**row, "program": "new", "converged": 4, "newton": 10, "halved": 0, "full": 0},
                                                       {**row, "scene": "twist", "program": "new", "converged": 4, "newton": 0, "impact": 0, "halved": 0, "full": 0}]}])
        lines = result_tables.causes().splitlines()[2:]
        self.assertEqual(lines[0], "| scene, steps | old | impact / halved / full | new | impact / halved / full |")
        self.assertEqual(lines[2:], ["| drop, 4 | 40 (1 step misses) | 25 / 50 / 25% | 10 | 100 / 0 / 0% |", "| twist, 4 | - | - | 0 | 0 / 0 / 0% |"])

    def test_a_missing_kind_is_named(self):
        self.kept("rigid", [])
        with self.assertRaisesRegex(RuntimeError, "marks.json"):
            result_tables.marks()

    def test_fclib(self):
        def run(side, solver, ms):
            return {"problem": "p", "side": side, "solver": solver, "tolerance": 1e-8, "ms": ms, "end": "converged", "siconos_error": 1e-9, "judge": 1e-9}

        self.kept("fclib", [{"device": "D", "peer": "Siconos 4", "limit": 1.0, "tolerances": [1e-4, 1e-8], "problems": [{"name": "p", "contacts": 3}, {"name": "q", "contacts": 4}],
                             "runs": [run("siconos", "NSGS", 10.0), run("ours", "auto", 5.0), run("ours", "nsgs", 2.0)]}])
        lines = result_tables.fclib().splitlines()
        self.assertEqual(lines[-2:], ["| p | 3 | NSGS 10.0 | nsgs 2.00 | 5.00 | 5.00 |", "| q | 4 | none | none |  | none |"])
        self.assertEqual(result_tables.fclib_means().splitlines()[3], "| 1e-8 | 5.0 | 5.0 | 2.0, faster on 1 of 1 | 1 / 1 of 2 |")


if __name__ == "__main__":
    unittest.main(verbosity=0)
