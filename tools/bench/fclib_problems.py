"""Frictional contact problems in FCLIB's files, and residuals of impulses.

A problem is local: u = W r + q, 3 rows per contact with the normal first, Coulomb's law with mu. Needs numpy,
scipy, h5py."""
import dataclasses
import pathlib

import h5py
import numpy as np
import scipy.sparse as sparse
import scipy.sparse.linalg

COLUMNS_AT_ONCE = 256
SYMMETRY = 1e-2  # asymmetry of a local W that `stickslip` accepts, as measured in gpu/dfcp/problem/contact_check.cpp


class BadInput(Exception):
    pass


@dataclasses.dataclass
class Problem:
    name: str
    W: sparse.csc_matrix  # (3 n, 3 n) [1/kg]
    q: np.ndarray  # (3 n) [m/s]
    mu: np.ndarray  # (n) [1]
    dofs: int = 0  # 0: unknown

    @property
    def contacts(self) -> int:
        return len(self.mu)


def read_matrix(group: h5py.Group) -> sparse.csc_matrix:
    """nz = -1: compressed columns, -2: compressed rows, else triplets with the row in i and the column in p."""
    m, n, nz = (int(np.ravel(group[key][()])[0]) for key in ("m", "n", "nz"))
    p, i, x = group["p"][()], group["i"][()], group["x"][()]
    if nz == -1:
        return sparse.csc_matrix((x, i, p), shape=(m, n))
    if nz == -2:
        return sparse.csr_matrix((x, i, p), shape=(m, n)).tocsc()
    return sparse.coo_matrix((x[:nz], (i[:nz], p[:nz])), shape=(m, n)).tocsc()


def reduced(M, H, f, w) -> tuple[sparse.csc_matrix, np.ndarray]:
    """W = H' M^-1 H and q = w + H' M^-1 f, some columns of H at a time."""
    factor = scipy.sparse.linalg.splu(M.tocsc())
    transposed = H.T.tocsr()
    columns = []
    for k in range(0, H.shape[1], COLUMNS_AT_ONCE):
        solved = factor.solve(H[:, k : k + COLUMNS_AT_ONCE].toarray())
        columns.append(transposed @ sparse.csc_matrix(solved))
    W = sparse.hstack(columns, format="csc")
    return W, w + transposed @ factor.solve(f)


def asymmetry(W: sparse.csc_matrix) -> float:
    """The largest |W_ij - W_ji| / sqrt(W_ii W_jj)."""
    root = np.sqrt(np.abs(W.diagonal()))
    gap = abs(W - W.T).tocoo()
    scale = np.maximum(root[gap.row] * root[gap.col], 1e-13 * abs(W).max())
    return float((gap.data / scale).max()) if gap.nnz else 0.0


def load(path: pathlib.Path) -> Problem:
    """Throws BadInput naming the file: no FCLIB, planar, far from symmetric, or with equalities (which fc3d does not
    support)."""
    try:
        with h5py.File(path) as file:
            group = file.get("fclib_local") or file.get("fclib_global")
            if group is None:
                raise BadInput(f"{path}: neither fclib_local nor fclib_global in it")
            if int(np.ravel(group["spacedim"][()])[0]) != 3:
                raise BadInput(f"{path}: not in three dimensions")
            if "G" in group or "V" in group:
                raise BadInput(f"{path}: has equalities, which these solvers of Siconos do not know")
            vectors = {key: value[()] for key, value in group["vectors"].items()}
            name = path.name.removesuffix(".hdf5")
            if "W" in group:
                return Problem(name, read_matrix(group["W"]), vectors["q"], vectors["mu"])
            M, H = read_matrix(group["M"]), read_matrix(group["H"])
            W, q = reduced(M, H, vectors["f"], vectors["w"])
            if (off := asymmetry(W)) > SYMMETRY:
                raise BadInput(f"{path}: W = H' M^-1 H is off symmetric by {off:.2g}; local problems of ours may be by "
                               f"{SYMMETRY} (stickslip solve takes the file itself)")
            return Problem(name, W, q, vectors["mu"], M.shape[0])
    except (OSError, KeyError, ValueError) as error:
        raise BadInput(f"{path}: {error}") from None


def save_local(path: pathlib.Path, problem: Problem) -> None:
    W = problem.W.tocsr()
    W.sort_indices()
    with h5py.File(path, "w") as file:
        local = file.create_group("fclib_local")
        local["spacedim"] = np.array([3], dtype=np.int32)
        for key, value in (("m", W.shape[0]), ("n", W.shape[1]), ("nz", -2), ("nzmax", W.nnz)):
            local[f"W/{key}"] = np.array([value], dtype=np.int32)
        local["W/p"], local["W/i"], local["W/x"] = W.indptr.astype(np.int32), W.indices.astype(np.int32), W.data
        local["vectors/q"], local["vectors/mu"] = problem.q, problem.mu


def load_impulses(path: pathlib.Path) -> np.ndarray:
    with h5py.File(path) as file:
        return file["solution/r"][()]


def projected(x: np.ndarray, mu: np.ndarray) -> np.ndarray:
    """The nearest points of the cones |x_T| <= mu x_N; x (n, 3)."""
    t = np.linalg.norm(x[:, 1:], axis=1)
    inside, polar = t <= mu * x[:, 0], mu * t <= -x[:, 0]
    normal = (x[:, 0] + mu * t) / (1 + mu * mu)
    out = np.empty_like(x)
    out[:, 0] = normal
    out[:, 1:] = x[:, 1:] * (mu * normal / np.where(t > 0, t, 1))[:, None]
    out[polar] = 0
    out[inside] = x[inside]
    return out


def judged(problem: Problem, r: np.ndarray) -> float:
    """|e|_2 / max(|q|_2, |u|_2) with e_c = s_c (r_c - P_K(r_c - u~_c / s_c)), s_c = trace(W_cc) / 3."""
    u = problem.W @ r + problem.q
    n = problem.contacts
    s = problem.W.diagonal().reshape(n, 3).sum(axis=1, keepdims=True) / 3
    s[~(s > 1e-300)] = s.mean() if s.sum() > 0 else 1.0  # an immovable pair: any positive scale will do
    R, shifted = r.reshape(n, 3), u.reshape(n, 3).copy()
    shifted[:, 0] += problem.mu * np.linalg.norm(shifted[:, 1:], axis=1)
    e = s * (R - projected(R - shifted / s, problem.mu))
    scale = max(np.linalg.norm(problem.q), np.linalg.norm(u))
    return float(np.linalg.norm(e) / scale) if scale > 0 else float(np.linalg.norm(e))
