#!/usr/bin/env python3
"""Tests of kernel_resources.py."""
import json
import pathlib
import tempfile
import unittest

import kernel_resources
from kernel_resources import Kernel

REPORT = """
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'first' for 'sm_90'
ptxas info    : Function properties for helper
    640 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Function properties for first
    48 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 688 bytes cumulative stack size
ptxas info    : Compiling entry function 'second' for 'sm_90'
ptxas info    : Function properties for second
    128 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 17 registers, used 0 barriers, 2048 bytes smem
"""


class Reports(unittest.TestCase):
    def test_the_stack_is_that_of_all_calls(self):
        self.assertEqual(kernel_resources.kernels(REPORT), {"first": Kernel(688, 12, 16, 40, 0), "second": Kernel(128, 0, 0, 17, 2048)})


class Limits(unittest.TestCase):
    def test_a_stack_beyond_it_is_named(self):
        rows = [(Kernel(kernel_resources.LIMIT + 1, 0, 0, 32, 0), "deep"), (Kernel(kernel_resources.LIMIT, 0, 0, 255, 0), "flat")]
        self.assertEqual(kernel_resources.above_limit(rows), ["deep"])


class Documents(unittest.TestCase):
    def test_equal_kernels_of_several_sources_have_one_row(self):
        kernel = Kernel(16, 0, 0, 40, 0)
        found = {"a": kernel, "b": kernel, "c": Kernel(0, 4, 8, 32, 64)}
        names = {"a": "void launch_kernel<F<1> >(unsigned long, F<1>)", "b": "void launch_kernel<F<1> >(unsigned long, F<1>)", "c": "set_condition(int const*)"}
        content = kernel_resources.document(found, names, "90", "13.0.88", "2026-01-02")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.json"
            kernel_resources.write_json(path, content)
            self.assertEqual(json.loads(path.read_text()), content)
        self.assertEqual((content["date"], content["nvcc"], content["arch"]), ("2026-01-02", "13.0.88", "sm_90"))
        self.assertEqual(content["kernels"], [
            {"name": "set_condition(int const*)", "stack": 0, "spill_stores": 4, "spill_loads": 8, "registers": 32, "shared": 64},
            {"name": "void launch_kernel<F<1> >", "stack": 16, "spill_stores": 0, "spill_loads": 0, "registers": 40, "shared": 0}])


class Names(unittest.TestCase):
    def test_a_lambda_has_the_name_of_its_function(self):
        name = "void stickslip::cuda::detail::launch_kernel<stickslip::cuda::ContactTerms::linearise(" \
               "stickslip::cuda::Context&, stickslip::Vec<double, 3> const*)::{lambda(unsigned long)#1}>(unsigned long)"
        self.assertEqual(kernel_resources.short(name), "linearise")

    def test_a_functor_has_its_own(self):
        name = "void stickslip::cuda::detail::launch_kernel<stickslip::PairCollider<(stickslip::PairClass)0> >" \
               "(unsigned long, stickslip::PairCollider<(stickslip::PairClass)0>)"
        self.assertEqual(kernel_resources.short(name), "PairCollider<(PairClass)0>")


if __name__ == "__main__":
    unittest.main()
