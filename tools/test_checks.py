#!/usr/bin/env python3
"""Plants one violation at a time in an empty tree: each check must find it, and must accept valid files."""
import json
import pathlib
import tempfile
import unittest

import check_includes
import check_length
import check_links
import check_references
import check_tests
import check_words
from tidy_database import tidy_entries


class Tree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()

    def write(self, path: str, text: str):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)


class Includes(Tree):
    def faults(self, path: str, text: str) -> list[str]:
        self.write(path, text)
        found = check_includes.check(self.root)
        (self.root / path).unlink()
        return found

    def test_allowed(self):
        for path, text in [
            ("gpu/math/a.h", '#include "gpu/core/real.h"'),
            ("gpu/model/a.h", '#include "gpu/params/params.h"'),
            ("gpu/ccd/a.cuh", '#include "gpu/broadphase/candidates.h"'),
            ("gpu/step/a.cu", '#include "gpu/barrier/newton.cuh"'),
            ("bench/a.cu", '#include "gpu/linear/spmv.cuh"'),
            ("gpu/core/a.h", "#include <tbb/parallel_for.h>\ntbb::task_arena arena;"),
            ("app/cli/a.cpp", '#include "gpu/engine.h"\n#include "gpu/model/model.h"'),
            ("tests/energy/a.cu", '#include "gpu/energy/barrier.h"'),
            ("bench/tree_peer.cpp", "#include <embree3/rtcore.h>"),
            ("bench/rigid_peer.cpp", "#include <btBulletDynamicsCommon.h>"),
            ("bench/cub_peer.cu", "#include <cub/device/device_scan.cuh>\ncub::DeviceScan scan;"),
            ("bench/program/a.cpp", '#include "app/cli/cli.h"\n#include "bench/bench.h"'),
            ("tests/linear/a.cu", "#include <Eigen/Sparse>"),
            ("gpu/linear/a.cu", "// as tbb::parallel_for would"),
            ("gpu/dfcp/solvers/a.cu", '#include "gpu/dfcp/operator/delassus.cuh"'),
            ("app/io/scene/a.cpp", '#include "app/io/mesh/mesh.h"'),
        ]:
            self.assertEqual(self.faults(path, text), [], path)

    def test_forbidden(self):
        for path, text in [
            ("gpu/core/a.h", '#include "gpu/math/vec.h"'),
            ("gpu/geometry/a.h", '#include "gpu/model/model.h"'),
            ("gpu/energy/a.h", '#include "gpu/ccd/additive.h"'),
            ("gpu/barrier/a.cu", '#include "gpu/engine.h"'),
            ("gpu/dfcp/judge/a.cu", '#include "gpu/dfcp/solvers/solvers.cuh"'),
            ("app/io/mesh/a.cpp", '#include "app/io/scene/scene.h"'),
            ("gpu/params/a.cpp", '#include "app/io/scene/scene.h"'),
            ("gpu/step/a.cu", '#include "bench/bench.h"'),
            ("app/cli/a.cpp", '#include "bench/bench.h"'),
            ("bench/a.cu", '#include "app/io/scene/scene.h"'),
            ("gpu/novel/a.h", '#include "gpu/core/real.h"'),
            ("app/viewer/a.cpp", '#include "gpu/core/buffer.h"'),
            ("app/viewer/a.cpp", '#include "gpu/model/device_model.cuh"'),
            ("gpu/linear/a.cu", "#include <cub/cub.cuh>"),
            ("bench/bench_primitives.cu", "#include <cub/cub.cuh>"),
            ("gpu/linear/a.cpp", "#include <Eigen/Sparse>"),
            ("bench/bench_lbvh.cu", "#include <embree3/rtcore.h>"),
            ("bench/rigid_study.cpp", "#include <btBulletDynamicsCommon.h>"),
            ("gpu/linear/a.cu", "  tbb::parallel_for(0, 1, f);"),
            ("gpu/step/a.cu", "  cudaDeviceSynchronize();"),
        ]:
            self.assertEqual(len(self.faults(path, text)), 1, path + " " + text)


class Length(Tree):
    def test_limits(self):
        self.write("gpu/core/fine.h", "\n" * 400)
        self.write("gpu/core/long.h", "\n" * 401)
        self.write("app/too_long.cpp", "\n" * 801)
        warnings, failures = check_length.check(self.root)
        self.assertEqual([w.split(":")[0] for w in warnings], ["gpu/core/long.h"])
        self.assertEqual([f.split(":")[0] for f in failures], ["app/too_long.cpp"])


class Links(Tree):
    def test_targets_exist(self):
        self.write("docs/a.md", "[b](b.md#part) [up](../gpu) [web](https://example.org/x) `[code](none)` [gone](none.md)\n![also](none.png)\n")
        self.write("docs/b.md", "# Part\n```\n[example](none)\n```\n")
        self.write("gpu/x.h", "")
        self.assertEqual(check_links.check(self.root), ["docs/a.md:1: none.md does not exist", "docs/a.md:2: none.png does not exist"])

    def test_places_are_headings(self):
        self.write("docs/a.md", "# A `b_c`: d-e, [f](b.md)!\n## Same\n## Same\n```\n# code\n```\n"
                                "[1](#a-b_c-d-e-f) [2](#same) [3](#same-1) [4](b.md#b) [5](#code)\n[6](b.md#same) [7](#same-2) [8](../gpu/x.h#L3)\n")
        self.write("docs/b.md", "# B\n")
        self.write("gpu/x.h", "")
        self.assertEqual(check_links.check(self.root), ["docs/a.md:7: a.md has no heading #code", "docs/a.md:8: b.md has no heading #same", "docs/a.md:8: a.md has no heading #same-2"])


class References(Tree):
    def faults(self, path: str, text: str, cite: str = "// [Guo24 §3]") -> list[str]:
        self.write("docs/references.md", "# References\n\n| key | work |\n|---|---|\n| Guo24 | D. Guo. |\n| Course | S. Andrews. |\n")
        self.write("gpu/cites.h", cite + " and [Course 3.2.4]\n")
        self.write(path, text)
        found = check_references.check(self.root)
        (self.root / path).unlink()
        return found

    def test_allowed(self):
        for path, text in [
            ("gpu/core/a.h", "// as in [Guo24 §3; Course Alg.16] and [after Guo24 Fig.2]"),
            ("gpu/core/a.h", "// wrapped [Guo24\n// Alg.1, line 16]"),
            ("gpu/core/a.h", "double x = values[Unknown24]; // [m]"),
            ("docs/a.md", "[Siconos 2018](https://example.org) and [the course](a.md) [m/s]"),
            ("build/a.h", "// [Unknown24]"),
        ]:
            self.assertEqual(self.faults(path, text), [], text)

    def test_forbidden(self):
        for path, text in [
            ("gpu/core/a.h", "// [Unknown24 §3]"),
            ("gpu/core/a.h", "// wrapped [Course Alg.2;\n// Unknown24]"),
            ("gpu/core/a.h", "// [Guo 2024]"),
            ("docs/a.md", "by [Li et al. 2021, §6]"),
            ("assets/scenes/a.toml", 'description = "[Unknown24 B1]"'),
        ]:
            found = self.faults(path, text)
            self.assertEqual([fault.split(":")[0] for fault in found], [path], text)

    def test_keys_are_cited_and_unique(self):
        self.assertEqual(self.faults("docs/a.md", "", cite="// nothing"), ["docs/references.md: no file cites Guo24"])
        self.assertEqual(len(self.faults("docs/references.md", "| Guo24 | a |\n| Guo24 | b |\n| Course | c |\n")), 1)


class Words(Tree):
    def faults(self, path: str, text: str) -> list[str]:
        self.write(path, text)
        found = check_words.check(self.root)
        (self.root / path).unlink()
        return found

    def test_allowed(self):
        for path, text in [
            ("docs/a.md", "Bodies overlap; `body_looks` and a meeting are other words."),
            ("gpu/core/a.h", "// nobody"),
            ("docs/law-matrix.md", "steps that meet the tolerance"),
        ]:
            self.assertEqual(self.faults(path, text), [], text)

    def test_forbidden(self):
        for path, text in [
            ("docs/a.md", "first line\nNobody waits."),
            ("gpu/core/README.md", "boxes that meet"),
            ("assets/scenes/a.toml", 'title = "Balls meet"'),
            ("gpu/core/a.h", "int go_further();"),
            ("docs/a.md", "calls `everybody()`"),
        ]:
            self.assertTrue(self.faults(path, text), text)

    def test_rows_are_unique(self):
        words = [row.word for row in check_words.RETIRED]
        self.assertEqual(len(words), len(set(words)))


class Tests(Tree):
    def faults(self, path: str, text: str) -> list[str]:
        self.write(path, text)
        found = check_tests.check(self.root)
        (self.root / path).unlink()
        return found

    def test_allowed(self):
        for path, text in [
            ("tests/core/scan_test.cu", "BACKEND_TEST(Scan, EqualsTheSerialOne) {"),
            ("tests/step/rigid_test.cpp", "TEST_P(LongRobustness, SlidesAlongItsGrain) {"),
            ("tests/step/lost_device_test.cu", "TEST(cuda_LostDevice, IsNamed) {"),
            ("tests/collide/contacts_by_loops.cpp", "int helper() { return 0; }"),
            ("tests/backend_test.h", "// BACKEND_TEST(Suite, Name)"),
        ]:
            self.assertEqual(self.faults(path, text), [], path + " " + text)

    def test_forbidden(self):
        for path, text in [
            ("tests/core/test_scan.cu", ""),
            ("tests/core/scan.cu", "TEST(Scan, Sums) {"),
            ("tests/core/scan_test.cpp", "TEST(Scan, sums_in_place) {"),
            ("tests/core/scan_test.cpp", "TEST_F(\n    Scan_Place, Sums) {"),
            ("tests/core/scan_test.cpp", "TEST(Scan, IsNoLongerSlow) {"),
            ("tests/core/scan_test.cpp", "TEST(ScanLong, Sums) {"),
            ("tests/core/scan_test.cpp", "TEST(Longest, Sums) {"),
            ("tests/core/scan_test.cpp", "TEST(Scan, BoxesMeet) {"),
        ]:
            self.assertEqual(len(self.faults(path, text)), 1, path + " " + text)


class TidyDatabase(Tree):
    def test_host_sources_and_wrappers(self):
        build = self.root / "build"
        names = ["gpu/engine.cpp", "gpu/core/scan.cu", "build/kernels/gpu/core/scan_cpu.cpp", "tests/core/t.cpp"]
        command = "c++ -O3 -Wall -Wno-restrict -mmove-max=128 -march=native -include /b/cmake_pch.hxx -c x.cpp"
        entries = [{"directory": str(self.root), "file": name, "command": command} for name in names]
        self.write("build/compile_commands.json", json.dumps(entries))
        found = tidy_entries(build, self.root)
        files = [pathlib.Path(e["file"]).relative_to(self.root).as_posix() for e in found]
        self.assertEqual(files, ["build/kernels/gpu/core/scan_cpu.cpp", "build/tidy/gpu_host_0.cpp"])
        self.assertEqual({e["command"] for e in found}, {"c++ -O3 -march=native -c x.cpp"})

    def test_host_sources_of_a_folder_are_one_batch(self):
        build = self.root / "build"
        names = ["gpu/model/mesh.cpp", "gpu/model/body.cpp", "gpu/params/lab.cpp"]
        entries = [{"directory": str(self.root), "file": name, "command": f"c++ -c {name}"} for name in names]
        self.write("build/compile_commands.json", json.dumps(entries))
        found = {pathlib.Path(e["file"]).name: pathlib.Path(e["file"]).read_text() for e in tidy_entries(build, self.root)}
        model = "".join(f'#include "{self.root / name}"\n' for name in sorted(names[:2]))
        self.assertEqual(found["gpu_model_host_0.cpp"], model)
        self.assertEqual(set(found), {"gpu_model_host_0.cpp", "gpu_params_host_0.cpp"})

    def test_batches_of_sources_stay_together(self):
        build = self.root / "build"
        entries = []
        for part, names in (("app_io", ("app/io/a.cpp", "app/io/b.cpp")), ("test_app", ("tests/app/t.cpp",))):
            batch = build / f"x/CMakeFiles/{part}.dir/Unity/unity_0_cxx.cxx"
            sources = [str(self.root / name) for name in names]
            self.write(str(batch.relative_to(self.root)), "".join(f'#include "{s}"\n\n' for s in sources))
            entries.append({"directory": str(build), "file": str(batch), "command": f"c++ -o {batch}.o -c {batch}"})
        self.write("build/compile_commands.json", json.dumps(entries))
        self.assertEqual([e["file"] for e in tidy_entries(build, self.root)], [entries[0]["file"]])

    def test_batches_of_a_folder_are_read_together(self):
        build = self.root / "build"
        entries = []
        for name, source in [("law_0", "gpu/law/a.cpp"), ("law_1", "gpu/law/b.cpp"), ("law_x_0", "gpu/law/x/a.cpp"),
                             ("kernels_law_0", "build/kernels/gpu/law/a_cpu.cpp")]:
            batch = str(build / f"batches/{name}.cpp")
            self.write(f"build/batches/{name}.cpp", f'#include "{self.root / source}"\n')
            entries.append({"directory": str(build), "file": batch, "command": f"c++ -c {batch}"})
        self.write("build/compile_commands.json", json.dumps(entries))
        found = {pathlib.Path(e["file"]).stem: pathlib.Path(e["file"]).read_text() for e in tidy_entries(build, self.root)}
        self.assertEqual(set(found), {"gpu_law_merged_0", "gpu_law_x_merged_0", "kernels_gpu_law_merged_0"})
        self.assertEqual(found["gpu_law_merged_0"],
                         "".join(f'#include "{build}/batches/{name}.cpp"\n' for name in ("law_0", "law_1")))

    def test_kernels_of_a_batch_are_read_together(self):
        build = self.root / "build"
        self.write("build/kernels/gpu/law/batch_0.cu", '#include "gpu/law/a.cu"\n#include "gpu/law/b.cu"\n')
        copies = [str(build / f"kernels/gpu/law/{name}_cpu.cpp") for name in "abc"]
        entries = [{"directory": str(build), "file": copy, "command": f"c++ -c {copy}"} for copy in copies]
        self.write("build/compile_commands.json", json.dumps(entries))
        found = {e["file"]: e["command"].split()[-1] for e in tidy_entries(build, self.root)}
        batch = str(build / "tidy/gpu_law_batch_0.cpp")
        self.assertEqual(found, {copies[2]: copies[2], batch: batch})
        self.assertEqual(pathlib.Path(batch).read_text(), "".join(f'#include "{c}"\n' for c in copies[:2]))


if __name__ == "__main__":
    unittest.main(verbosity=0)
