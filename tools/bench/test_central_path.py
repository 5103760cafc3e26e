#!/usr/bin/env python3
"""central_path.py: its Jacobian by finite differences, and the ends of paths, where numpy is installed (Debian's:
/usr/bin/python3 tools/bench/test_central_path.py)."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
try:
    import numpy as np

    import central_path
except ImportError:
    np = None


def random_problem(contacts: int, dofs: int, seed: int):
    """W (singular where dofs < 3 contacts), q and mu; velocities without impulses press every contact."""
    random = np.random.default_rng(seed)
    H = random.normal(size=(3 * contacts, dofs))
    q = random.normal(size=3 * contacts)
    q[::3] = -1 - np.abs(q[::3])
    return H @ H.T, q, random.uniform(0.2, 0.6, contacts)


@unittest.skipIf(np is None, "needs numpy")
class CentralPathTest(unittest.TestCase):
    def test_derivatives(self):
        for associated in (False, True):
            path = central_path.CentralPath(*random_problem(4, 9, 1), associated=associated)
            random = np.random.default_rng(2)
            z, direction, log_tau, h = random.normal(size=(4, 3)), random.normal(size=(4, 3)), -1.0, 1e-6
            _, minus_jacobian, by_tau = path.evaluate(z, log_tau)
            forward, back = (path.evaluate(z + x * direction, log_tau)[0] for x in (h, -h))
            difference = (forward - back) / (2 * h)
            self.assertLess(np.linalg.norm(difference + minus_jacobian @ direction.ravel()), 1e-6 * path.size)
            forward, back = (path.evaluate(z, log_tau + x)[0] for x in (h, -h))
            self.assertLess(np.linalg.norm((forward - back) / (2 * h) - by_tau), 1e-6 * path.size)

    def test_sliding_and_sticking_contact(self):
        for tangential, friction in ((2.0, -0.5), (0.2, -0.2)):
            path = central_path.CentralPath(np.eye(3), np.array([-1.0, tangential, 0]), np.array([0.5]))
            *_, end = path.follow(1e-5 * path.first_tau(), 200)
            np.testing.assert_allclose(path.impulses(end), [[1, friction, 0]], atol=1e-4)

    def test_associated_path_descends_to_a_solution(self):
        W, q, mu = random_problem(5, 18, 3)
        path = central_path.CentralPath(W, q, mu, associated=True)
        points = list(path.follow(1e-6 * path.first_tau(), 300))
        self.assertFalse(any(p.turned or p.determinant < 0 for p in points))
        r = path.impulses(points[-1])
        u = (W @ r.ravel() + q).reshape(-1, 3)
        slack = u[:, 0] - mu * np.linalg.norm(u[:, 1:], axis=1)
        self.assertGreater((mu * r[:, 0] - np.linalg.norm(r[:, 1:], axis=1)).min(), -1e-9)
        self.assertGreater(slack.min(), -1e-6)
        self.assertLess(abs((r * u).sum()), 1e-6 * abs((r * q.reshape(-1, 3)).sum()))


if __name__ == "__main__":
    unittest.main()
