#!/usr/bin/env python3
"""fclib_siconos.py PROBLEM.npz RESULT.npz SOLVER TOLERANCE LIMIT REPEATS: one solver of Siconos on one problem.

Runs in its own process, since a solver may crash or never return: SIGALRM ends it LIMIT seconds after a call.
Two times are kept: that of its own form of the problem, made of W in compressed columns (blocks, where the
solver takes them), and that of the call of fc3d_driver, each time with new options and from zero."""
import os
import signal
import sys
import time
import warnings

# name: (solver, local solver or None for the default, storage of W). Excluded because they failed or refused
# in 4.4: DSFP, HP, PFP (slow), NSGSV (not implemented), CONVEXQP_PG_CYLINDER (unknown to the driver), and
# SOCLCP, which solves the associated problem. NSGS in rows of blocks is 2 to 8 times as fast as in compressed
# columns.
SOLVERS = {
    "NSGS": ("NSGS", None, "blocks"),
    "NSGS-NSN": ("NSGS", "ONECONTACT_NSN", "blocks"),
    "NSGS-NSN_GP": ("NSGS", "ONECONTACT_NSN_GP", "blocks"),
    "NSGS-PLI": ("NSGS", "ONECONTACT_ProjectionOnConeWithLocalIteration", "blocks"),
    "NSGS-P": ("NSGS", "ONECONTACT_ProjectionOnCone", "blocks"),
    "NSGS-PD": ("NSGS", "ONECONTACT_ProjectionOnConeWithDiagonalization", "blocks"),
    "NSGS-quartic": ("NSGS", "ONECONTACT_QUARTIC", "blocks"),
    "NSN_AC": ("NSN_AC", None, "blocks"),
    "NSN_AC_TEST": ("NSN_AC_TEST", None, "blocks"),
    "NSN_FB": ("NSN_FB", None, "blocks"),
    "NSN_NM": ("NSN_NM", None, "blocks"),
    "ADMM": ("ADMM", None, "blocks"),
    "PROX": ("PROX", None, "blocks"),
    "TFP": ("TFP", None, "blocks"),
    "ACLMFP": ("ACLMFP", None, "blocks"),
    "FPP": ("FPP", None, "blocks"),
    "EG": ("EG", None, "blocks"),
    "VI_FPP": ("VI_FPP", None, "blocks"),
    "VI_EG": ("VI_EG", None, "blocks"),
    "NSGS csc": ("NSGS", None, "columns"),
    "NSGS-NSN csc": ("NSGS", "ONECONTACT_NSN", "columns"),
    "NSN_AC csc": ("NSN_AC", None, "columns"),
    "ADMM csc": ("ADMM", None, "columns"),
    "PROX csc": ("PROX", None, "columns"),
}
QUICK = ("NSGS-NSN", "NSGS-P", "NSN_AC", "ADMM", "PROX", "EG", "VI_EG")
MOST_ITERATIONS = 10**7  # the time limit ends a solve, not the iteration count
ENOUGH_SECONDS = 2.0  # of all repetitions
SHORT_SECONDS, MOST_REPEATS = 0.1, 20  # short solves are repeated more often


def repetitions(first_seconds: float, least: int) -> int:
    """Number of repetitions of a solve, for both sides, given the time of the first."""
    if first_seconds >= ENOUGH_SECONDS:
        return 1
    return max(least, min(MOST_REPEATS, int(SHORT_SECONDS / max(first_seconds, 1e-9))))


def stored(W, storage: str):
    import siconos.numerics as numerics

    return numerics.SBM_from_csparse(3, W)[1] if storage == "blocks" else W


def error(W, q, mu, r) -> float:
    """Siconos' own error function: |r - P_K(r - u~)| / max(|q|, |r|, |u|)."""
    import numpy as np
    import siconos.numerics as numerics

    problem = numerics.FrictionContactProblem(3, W, q, mu)
    options = numerics.SolverOptions(numerics.SICONOS_FRICTION_3D_NSGS)
    r = np.array(r)
    return float(numerics.fc3d_compute_error(problem, r, np.zeros_like(r), 1e-8, options, float(np.linalg.norm(q)))[1])


def options_of(name: str, tolerance: float):
    import siconos.numerics as numerics

    solver, local, _ = SOLVERS[name]
    options = numerics.SolverOptions(getattr(numerics, "SICONOS_FRICTION_3D_" + solver))
    if local:
        numerics.solver_options_update_internal(options, 0, getattr(numerics, "SICONOS_FRICTION_3D_" + local))
    options.dparam[numerics.SICONOS_DPARAM_TOL] = tolerance
    options.iparam[numerics.SICONOS_IPARAM_MAX_ITER] = MOST_ITERATIONS
    return options


def main(arguments: list[str]) -> None:
    import numpy as np
    import scipy.sparse as sparse
    import siconos.numerics as numerics

    def save() -> None:
        with open(target + ".part", "wb") as file:
            np.savez(file, r=r, info=info, times=times, setups=setups, iterations=options.iparam[numerics.SICONOS_IPARAM_ITER_DONE])
        os.replace(target + ".part", target)

    source, target, name, tolerance, limit, repeats = arguments
    warnings.simplefilter("ignore")  # about converted indices, outside of the timing
    data = np.load(source)
    size = len(data["q"])
    W = sparse.csc_matrix((data["x"], data["i"], data["p"]), shape=(size, size))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    times, setups = [], []
    while not times or len(times) < repetitions(times[0], int(repeats)) and sum(times) < ENOUGH_SECONDS:
        begin = time.perf_counter()
        matrix = stored(W, SOLVERS[name][2])
        problem = numerics.FrictionContactProblem(3, matrix, data["q"], data["mu"])
        setups.append(time.perf_counter() - begin)
        options = options_of(name, float(tolerance))
        r, u = np.zeros(size), np.zeros(size)
        signal.setitimer(signal.ITIMER_REAL, float(limit))
        begin = time.perf_counter()
        info = numerics.fc3d_driver(problem, r, u, options)
        times.append(time.perf_counter() - begin)
        signal.setitimer(signal.ITIMER_REAL, 0)
        if len(times) == 1:
            save()
    save()
    os._exit(0)  # Siconos' destructors free blocks twice


if __name__ == "__main__":
    main(sys.argv[1:])
