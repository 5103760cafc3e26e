#!/usr/bin/env python3
"""Tests of kernel_resources.py."""
import unittest

import kernel_resources

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
ptxas info    : Used 17 registers, used 0 barriers
"""


class Reports(unittest.TestCase):
    def test_the_stack_is_that_of_all_calls(self):
        self.assertEqual(kernel_resources.kernels(REPORT), {"first": (688, 12, 40), "second": (128, 0, 17)})


class Limits(unittest.TestCase):
    def test_a_stack_beyond_it_is_named(self):
        rows = [((kernel_resources.LIMIT + 1, 0, 32), "deep"), ((kernel_resources.LIMIT, 0, 255), "flat")]
        self.assertEqual(kernel_resources.above_limit(rows), ["deep"])


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
