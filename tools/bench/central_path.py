#!/usr/bin/env python3
"""central_path.py FILE: follows the central path of a contact problem in an FCLIB file by arc length, and prints where
it turns back.

    stickslip solve --generate tasora_b4 --size 30 --solver nsgs --max-iterations 1 --out wall.hdf5
    /usr/bin/python3 tools/bench/central_path.py wall.hdf5

Interior points, smoothed Newton methods and regularisation take a parameter tau to zero and follow the solution. The
path is that of impulses r and velocities y = u + sigma(u_T) n in the interior of their cones with r o y / s = tau^2 e
for each contact, where o is the product of the second-order cone and s the mean diagonal of W. Under the associated
law the Jacobian is the product of two positive definite matrices, so tau falls all along. Under Coulomb's law its
determinant can change sign: the path turns back, and a method that only lowers tau loses it there. Dense matrices, so
some hundred contacts. Needs numpy, scipy, h5py."""
import argparse
import dataclasses
import pathlib
import sys
from collections.abc import Iterator

import numpy as np

TOLERANCE = 1e-9  # of |F| / |q|
SMOOTHING = 1.0  # |u_T| becomes sqrt(|u_T|^2 + (SMOOTHING tau s)^2) with the mean s
FEWEST, MOST = 4, 12  # corrections after which steps grow, and at which they count as failed


@dataclasses.dataclass
class Point:
    z: np.ndarray  # (n, 3) [N s]: r - y / s
    log_tau: float
    direction: float = 0.0  # d log tau / d arc length
    determinant: float = 1.0  # sign
    turned: bool = False

    @property
    def tau(self) -> float:
        return float(np.exp(self.log_tau))


class CentralPath:
    """F(z, log tau) = y(z) - (u + sigma(u_T) n) = 0 with u = W r(z) + q, in units that make cones circular:
    r = (mu r_N, r_T), u = (u_N / mu, u_T)."""

    def __init__(self, W: np.ndarray, q: np.ndarray, mu: np.ndarray, associated: bool = False):
        self.n, self.mu = len(mu), np.asarray(mu)
        units = np.ones((self.n, 3))
        units[:, 0] = 1 / mu
        units = units.ravel()
        self.s = np.asarray(W).diagonal().reshape(-1, 3).mean(axis=1)[:, None]
        self.W = units[:, None] * np.asarray(W) * units
        self.q = units * q
        self.shift = 0.0 if associated else 1.0
        self.size = np.linalg.norm(q)

    def first_tau(self) -> float:
        return float(self.size / np.sqrt(self.n) / self.s.mean())

    def evaluate(self, z: np.ndarray, log_tau: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """F (3 n), -dF/dz (3 n, 3 n) and dF/dlog_tau (3 n)."""
        tau2 = np.exp(2 * log_tau)
        length = np.linalg.norm(z[:, 1:], axis=1)
        axis = np.where(length[:, None] > 0, z[:, 1:] / np.maximum(length, 1e-300)[:, None], [1.0, 0.0])
        # r has the eigenvalues f(l) = (l + sqrt(l^2 + 4 tau^2)) / 2 of those l of z, and y / s has f(l) - l.
        eigen = np.stack([z[:, 0] + length, z[:, 0] - length])
        root = np.sqrt(eigen**2 + 4 * tau2)
        f = np.where(eigen > 0, (eigen + root) / 2, 2 * tau2 / np.where(eigen > 0, 1.0, root - eigen))
        r = self.vector(axis, f)
        by_tau = self.vector(axis, 2 * tau2 / root)
        slope = self.matrix(axis, *(f / root), (f[0] * f[1]) / (f[0] * f[1] + tau2))
        rest = self.matrix(axis, *(1 - f / root), tau2 / (f[0] * f[1] + tau2))  # I - slope
        u = (self.W @ r.ravel() + self.q).reshape(-1, 3)
        smoothing2 = SMOOTHING**2 * tau2 * self.s.mean() ** 2
        slip = np.sqrt((u[:, 1:] ** 2).sum(axis=1) + smoothing2)
        shifted = u.copy()
        shifted[:, 0] += self.shift * slip
        F = (self.s * self.vector(axis, tau2 / f) - shifted).ravel()
        rows = np.tile(np.eye(3), (self.n, 1, 1))
        rows[:, 0, 1:] = self.shift * u[:, 1:] / slip[:, None]
        moved = np.einsum("cij,cjk->cik", rows, self.times_blocks(slope).reshape(self.n, 3, -1)).reshape(3 * self.n, -1)
        for c in range(self.n):
            moved[3 * c : 3 * c + 3, 3 * c : 3 * c + 3] += self.s[c] * rest[c]
        caused = np.einsum("cij,cj->ci", rows, (self.W @ by_tau.ravel()).reshape(-1, 3))
        caused[:, 0] += self.shift * smoothing2 / slip
        return F, moved, (self.s * by_tau - caused).ravel()

    def impulses(self, point: Point) -> np.ndarray:
        """r [N s], (n, 3)."""
        length = np.linalg.norm(point.z[:, 1:], axis=1)
        axis = point.z[:, 1:] / np.maximum(length, 1e-300)[:, None]
        eigen = np.stack([point.z[:, 0] + length, point.z[:, 0] - length])
        r = self.vector(axis, (eigen + np.sqrt(eigen**2 + 4 * point.tau**2)) / 2)
        return r / np.column_stack([self.mu, np.ones((self.n, 2))])

    def times_blocks(self, blocks: np.ndarray) -> np.ndarray:
        """W times a block diagonal."""
        columns = self.W.reshape(3 * self.n, self.n, 3)
        return np.einsum("rci,cij->rcj", columns, blocks).reshape(3 * self.n, 3 * self.n)

    @staticmethod
    def vector(axis: np.ndarray, eigen: np.ndarray) -> np.ndarray:
        return np.column_stack([(eigen[0] + eigen[1]) / 2, ((eigen[0] - eigen[1]) / 2)[:, None] * axis])

    @staticmethod
    def matrix(axis: np.ndarray, upper: np.ndarray, lower: np.ndarray, across: np.ndarray) -> np.ndarray:
        m = np.zeros((len(axis), 3, 3))
        along = (upper + lower) / 2
        m[:, 0, 0] = along
        m[:, 0, 1:] = m[:, 1:, 0] = ((upper - lower) / 2)[:, None] * axis
        m[:, 1:, 1:] = across[:, None, None] * np.eye(2) + (along - across)[:, None, None] * (
            axis[:, :, None] * axis[:, None, :]
        )
        return m

    def solve_at(self, z: np.ndarray, log_tau: float, most: int = 60) -> np.ndarray | None:
        """Damped Newton at a fixed tau; None where it fails."""
        F, minus_jacobian, _ = self.evaluate(z, log_tau)
        for _ in range(most):
            size = np.linalg.norm(F)
            if size < TOLERANCE * self.size:
                return z
            step = np.linalg.solve(minus_jacobian, F).reshape(-1, 3)
            length = 1.0
            while True:
                F, minus_jacobian, _ = self.evaluate(z + length * step, log_tau)
                if np.linalg.norm(F) <= (1 - 1e-3 * length) * size:
                    break
                length /= 2
                if length < 1e-6:
                    return None
            z = z + length * step
        return None

    def follow(self, until: float, most_points: int, longest: float = 1.0) -> Iterator[Point]:
        """Points of the path from first_tau down to `until`, at most so many. Ends early where corrections fail."""
        log_tau = np.log(self.first_tau())
        z = self.solve_at(np.zeros((self.n, 3)), log_tau)
        if z is None:
            return
        before = None
        step = 0.02
        for _ in range(most_points):
            # Impulses count relative to a tenth of their size: an arc length of 1 changes tau by a factor of e, or
            # impulses by a tenth.
            weight = 1e2 / max(np.linalg.norm(z) ** 2, 1e-300)
            _, minus_jacobian, by_tau = self.evaluate(z, log_tau)
            along = np.linalg.solve(minus_jacobian, by_tau).reshape(-1, 3)
            size = np.sqrt(weight * (along**2).sum() + 1)
            dz, dt = along / size, 1 / size
            turn = -1.0 if before is None else np.sign(weight * (before[0] * dz).sum() + before[1] * dt) or 1.0
            dz, dt = turn * dz, turn * dt
            turned = before is not None and before[1] * dt < 0
            yield Point(z, log_tau, dt, np.linalg.slogdet(minus_jacobian)[0], turned)
            if np.exp(log_tau) <= until:
                return
            while (corrected := self.correct(z, log_tau, dz, dt, step, weight)) is None:
                step /= 2
                if step < 1e-7:
                    return
            z, log_tau, corrections = corrected
            before = dz, dt
            if corrections <= FEWEST:
                step = min(1.5 * step, longest)

    def correct(self, z, log_tau, dz, dt, step, weight):
        """The point at this arc length from z, and the corrections it took; None where they fail."""
        z1, log_tau1 = z + step * dz, log_tau + step * dt
        for k in range(MOST):
            F, minus_jacobian, by_tau = self.evaluate(z1, log_tau1)
            size = np.linalg.norm(F)
            if size < TOLERANCE * self.size:
                return z1, log_tau1, k
            if not size < self.size:
                return None
            solved = np.linalg.solve(minus_jacobian, np.column_stack([F, by_tau]))
            fix, along = solved[:, 0].reshape(-1, 3), solved[:, 1].reshape(-1, 3)
            gap = weight * (dz * (z1 - z)).sum() + dt * (log_tau1 - log_tau) - step
            x = -(gap + weight * (dz * fix).sum()) / (weight * (dz * along).sum() + dt)
            z1, log_tau1 = z1 + fix + x * along, log_tau1 + x
        return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--associated", action="store_true", help="the associated law instead of Coulomb's")
    parser.add_argument("--until", type=float, default=1e-4, help="end at this tau, by the first (%(default)s)")
    parser.add_argument("--points", type=int, default=400, help="points at most (%(default)s)")
    options = parser.parse_args()
    import fclib_problems

    problem = fclib_problems.load(options.file)
    path = CentralPath(problem.W.toarray(), problem.q, problem.mu, options.associated)
    first = path.first_tau()
    turns, point = 0, None
    for k, point in enumerate(path.follow(options.until * first, options.points)):
        if not point.turned:
            continue
        turns += 1
        print(f"point {k}: turns at tau = {point.tau / first:.3e}, sign of the determinant {point.determinant:+.0f}")
    if point is None:
        print("Newton's method fails at the first tau", file=sys.stderr)
        return 1
    print(f"{k + 1} points, {turns} turns, ends at tau = {point.tau / first:.3e} of the first")
    return 0


if __name__ == "__main__":
    sys.exit(main())
