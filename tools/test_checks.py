#!/usr/bin/env python3
"""Plants one violation at a time in an empty tree: each check must find it, and must pass what is allowed."""
import json
import pathlib
import tempfile
import unittest

import check_includes
import check_length
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
            ("gpu/step/a.cu", '#include "gpu/solver/newton.cuh"'),
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
        ]:
            self.assertEqual(self.faults(path, text), [], path)

    def test_forbidden(self):
        for path, text in [
            ("gpu/core/a.h", '#include "gpu/math/vec.h"'),
            ("gpu/geometry/a.h", '#include "gpu/model/model.h"'),
            ("gpu/energy/a.h", '#include "gpu/ccd/additive.h"'),
            ("gpu/solver/a.cu", '#include "gpu/engine.h"'),
            ("gpu/params/a.cpp", '#include "app/io/scene.h"'),
            ("gpu/step/a.cu", '#include "bench/bench.h"'),
            ("app/cli/a.cpp", '#include "bench/bench.h"'),
            ("bench/a.cu", '#include "app/io/scene.h"'),
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


class TidyDatabase(Tree):
    def test_host_sources_and_wrappers(self):
        build = self.root / "build"
        names = ["gpu/engine.cpp", "gpu/core/scan.cu", "build/kernels/gpu/core/scan_cpu.cpp", "tests/core/t.cpp"]
        command = "c++ -O3 -Wall -Wno-restrict -mmove-max=128 -march=native -c x.cpp"
        entries = [{"directory": str(self.root), "file": name, "command": command} for name in names]
        self.write("build/compile_commands.json", json.dumps(entries))
        found = tidy_entries(build, self.root)
        files = [pathlib.Path(e["file"]).relative_to(self.root).as_posix() for e in found]
        self.assertEqual(files, ["build/kernels/gpu/core/scan_cpu.cpp", "gpu/engine.cpp"])
        self.assertEqual({e["command"] for e in found}, {"c++ -O3 -march=native -c x.cpp"})

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
