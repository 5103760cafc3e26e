#!/usr/bin/env python3
"""device_table.py on small inputs: marks met and missed, missing measurements, and refused input."""
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import device_table


def figure(name: str, value: float, unit: str, floor: float | None = None, peer: float | None = None,
           peer_name: str = "") -> dict:
    return {"name": name, "value": value, "unit": unit, "floor": floor, "floor_name": "floor" if floor else "", "peer": peer,
            "peer_name": peer_name if peer else ""}


def bench(name: str, *figures: dict, backend: str = "cuda") -> dict:
    return {"bench": name, "backend": backend, "device": "a device", "threads": 0, "figures": list(figures), "notes": [f"note of {name}"]}


SPMV = "spmv 1M nodes, 100k contacts"


class DeviceTable(unittest.TestCase):
    def rows(self, *results: dict, backend: str | None = None) -> dict[str, list[str]]:
        text = device_table.table(list(results), backend)
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")]
        self.assertEqual(rows[0], ["work", "measured", "figure", "floor; peer", "ratio", "mark", "met"])
        return {f"{row[0]} ({row[1]})" if row[1] else row[0]: row[2:] for row in rows[1:]}

    def met(self, work: str, *results: dict, **more) -> str:
        return self.rows(*results, **more)[work][-1]

    def test_every_row_is_there_without_any_result(self):
        rows = self.rows(bench("pile"))
        self.assertEqual({row.work for row in device_table.ROWS}, set(rows))
        self.assertTrue(all(cells[0] == "not measured" and cells[-1] == "" for cells in rows.values()))

    def test_marks_in_milliseconds(self):
        work = "LBVH over 1M triangles, codes to boxes (1M triangles of a surface, codes to boxes)"
        for value, expected in ((0.9, "yes"), (1.1, "NO")):
            result = bench("lbvh", figure("1M triangles of a surface, codes to boxes", value, "ms", 0.3))
            self.assertEqual(self.met(work, result), expected)

    def test_marks_against_floors_know_what_is_better(self):
        work = "PCG iteration, 1M nodes (pcg iteration 1M nodes)"
        for value, expected in ((129, "yes"), (131, "NO")):
            rows = self.rows(bench("pcg", figure("pcg iteration 1M nodes", value, "us", 100)))
            self.assertEqual(rows[work], [f"{value} us", "100 (floor)", f"{value / 100:.2f}", "1.3 times its floor", expected])
        work = "SPG iteration (1M assembled, spg)"
        for value, expected in ((51, "yes"), (49, "NO")):
            result = bench("contacts", figure("1M assembled, spg", value, "iterations/s", 100))
            self.assertEqual(self.met(work, result), expected)

    def test_products_are_judged_by_copies_where_they_were_measured(self):
        work = f"SpMV, 1M nodes with contacts ({SPMV})"
        spmv = bench("spmv", figure(SPMV, 85, "GB/s", 100))
        self.assertEqual(self.met(work, spmv), "yes")
        self.assertEqual(self.met(work, spmv, bench("device", figure("copy 16M f64", 110, "GB/s"))), "NO")

    def test_primitives_against_cub(self):
        work = "scan (scan 10M i32)"
        for peer, expected in ((100, "yes"), (110, "NO"), (None, "cannot be told")):
            self.assertEqual(self.met(work, bench("primitives", figure("scan 10M i32", 98, "GB/s", 200, peer, "CUB called directly"))), expected)

    def test_another_peer_than_cub_tells_nothing(self):
        sort = bench("primitives", figure("sort 10M u32 pairs", 98, "Mpairs/s", 200, 9, "std::sort(par), packed"))
        self.assertEqual(self.met("radix sort, 32-bit pairs (sort 10M u32 pairs)", sort), "cannot be told")

    def test_only_a_million_contacts_have_a_mark_of_colouring(self):
        contacts = bench("contacts", figure("100k factored, colouring", 9, "ms", 1), figure("1M factored, colouring", 9, "ms", 1))
        rows = self.rows(contacts)
        self.assertEqual(rows["colouring, 100k contacts (100k factored, colouring)"][-1], "")
        self.assertEqual(rows["colouring, 1M contacts (1M factored, colouring)"][-1], "NO")

    def test_steps_against_what_was_published(self):
        work = "step of `bowl` (bowl, 826k tets, step)"
        for value, expected in ((3000, "yes"), (4000, "NO")):
            result = bench("steps", figure("bowl, 826k tets, step", value, "ms/step", None, 3400, "published, bowl"))
            self.assertEqual(self.met(work, result), expected)

    def test_memory(self):
        projected, built = "9M tets with 300k contacts, projected", "9M tets with 299k contacts, built and stepped"
        rows = self.rows(bench("memory", figure(projected, 7.1, "GB", 3), figure(built, 8.2, "GB")))
        self.assertEqual(rows[f"memory of 9M tets ({projected})"][-1], "yes")
        self.assertEqual(rows[f"memory of 9M tets ({built})"][-1], "NO")

    def test_a_processor_is_not_held_to_a_devices_milliseconds(self):
        pcg = bench("pcg", figure("pcg iteration 10.6k nodes", 300, "us", 200), figure("pcg iteration 1M nodes", 1, "us", 1), backend="cpu")
        rows = self.rows(pcg)
        self.assertEqual(rows["PCG iteration, 10k nodes (pcg iteration 10.6k nodes)"][-1], "")
        self.assertEqual(rows["PCG iteration, 1M nodes (pcg iteration 1M nodes)"][-1], "yes")
        self.assertIn("not judged here", device_table.table([pcg]))

    def test_takes_the_device_unless_told_and_the_last_of_a_kind(self):
        name = "pcg iteration 10.6k nodes"
        results = [bench("pcg", figure(name, value, "us"), backend=b) for value, b in ((1, "cuda"), (9, "cuda"), (300, "cpu"))]
        work = f"PCG iteration, 10k nodes ({name})"
        self.assertEqual(self.rows(*results)[work][0], "9 us")
        self.assertEqual(self.rows(*results, backend="cpu")[work][0], "300 us")

    def test_program(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.json"
            path.write_text(json.dumps({"benches": [bench("device", figure("copy 16M f64", 4000, "GB/s", 4800))]}))
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                self.assertEqual(device_table.main([str(path)]), 0)
                path.write_text("{")
                self.assertEqual(device_table.main([str(path)]), 2)
        self.assertIn("| copy 16M f64 ", out.getvalue())
        self.assertIn("note of device", out.getvalue())
        self.assertIn("no JSON", err.getvalue())


if __name__ == "__main__":
    unittest.main(verbosity=0)
