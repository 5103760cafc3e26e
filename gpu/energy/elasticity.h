// Isotropic hyperelastic solids: energy density Psi(F) [J/m^3], stress P = dPsi/dF and its derivative, in
// closed form, one struct a model. Every model has zero energy and stress at F = I and matches linear
// elasticity there. All but Neo-Hookean, whose energy grows without bound as J = det F falls to 0, and
// orthogonality, which a mirror image does not change, are defined for inverted F too.
//
//   stable Neo-Hookean  m/2 (|F|^2 - 3 - log((|F|^2 + 1)/4)) + l/2 ((J - alpha)^2 - (1 - alpha)^2),
//   [Smith18]           with m = 4/3 mu, l = lambda + 5/6 mu, alpha = 1 + 3/4 m/l
//   Neo-Hookean         mu/2 (|F|^2 - 3) - mu log J + lambda/2 log^2 J [Bonet97]
//   fixed corotated     mu |F - R|^2 + lambda/2 (J - 1)^2 [Stomakhin12]
//   ARAP                mu |F - R|^2
//   orthogonality       mu/4 |F'F - I|^2, of affine bodies, kappa = mu/4 [Lan22]
#pragma once

#include <limits>

#include "gpu/math/mat.h"
#include "gpu/math/spd.h"
#include "gpu/math/svd.h"
#include "gpu/params/params.h"

namespace stickslip {

// Formulas are written for one number or for Lanes of them, T.

/// Lame's parameters [Pa] of linear elasticity.
template <class T>
struct LameOf {
  T mu, lambda;
};
using Lame = LameOf<Real>;

/// From Young's modulus [Pa] and Poisson's ratio.
SS_HD inline Lame lame_parameters(Real young, Real poisson) {
  return {young / (Real(2) * (Real(1) + poisson)),
          young * poisson / ((Real(1) + poisson) * (Real(1) - Real(2) * poisson))};
}

/// dJ/dF.
template <class T>
SS_HD inline Mat<T, 3> cofactor(const Mat<T, 3>& f) {
  const Vec<T, 3> a = f.column(0), b = f.column(1), c = f.column(2);
  return Mat<T, 3>::from_columns({cross(b, c), cross(c, a), cross(a, b)});
}

/// dP/dF of an isotropic energy in its own frame [Smith19]: with X = u' dF v,
///   dP = u Y v',   Y_ii = sum_j scaling_ij X_jj,   Y_ij = even_k X_ij + odd_k X_ji   (i, j, k all
///   different).
/// The eigenvalues are those of `scaling` and, per axis k, even + odd (flip) and even - odd (twist).
template <class T>
struct StressDerivativeOf {
  Mat<T, 3> u, v;
  Mat<T, 3> scaling;
  Vec<T, 3> even, odd;

  SS_HD Mat<T, 3> operator()(const Mat<T, 3>& df) const {
    const Mat<T, 3> x = u.transposed() * df * v;
    Mat<T, 3> y{};
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3, k = (i + 2) % 3;
      y(i, i) = scaling(i, 0) * x(0, 0) + scaling(i, 1) * x(1, 1) + scaling(i, 2) * x(2, 2);
      y(j, k) = even[i] * x(j, k) + odd[i] * x(k, j);
      y(k, j) = even[i] * x(k, j) + odd[i] * x(j, k);
    }
    return u * y * v.transposed();
  }
};
using StressDerivative = StressDerivativeOf<Real>;

/// The part of an energy that depends on J = det F alone: value, pressure and bulk modulus.
template <class T>
struct VolumeTerm {
  T value, first, second;  // g, dg/dJ, d2g/dJ2 [Pa]
};

/// How the rest of an energy resists, per singular value: Psi_i = stiffness s_i but for what R turns with.
template <class T>
struct Distortion {
  T stiffness;
  T softening = T(0);  // d stiffness / ds_j = softening s_j
  T turning = T(0);    // mu of a term mu |F - R|^2, which loses 4 mu / (s_a + s_b) where R turns
};

/// dP/dF of such an energy. With Psi_i = dPsi/ds_i: scaling_ij = d2Psi/ds_i ds_j, twist (Psi_i + Psi_j)/(s_i
/// + s_j), flip (Psi_i - Psi_j)/(s_i - s_j), the divisions carried out.
template <class T>
SS_HD inline StressDerivativeOf<T> stress_derivative(const Svd3<T>& svd, const Distortion<T>& distortion,
                                                     const VolumeTerm<T>& volume) {
  using Mat3 = Mat<T, 3>;
  using Vec3 = Vec<T, 3>;
  StressDerivativeOf<T> d{svd.u, svd.v, Mat3::zero(), Vec3::zero(), Vec3::zero()};
  const Vec3& s = svd.s;
  const Vec3 dj{s[1] * s[2], s[2] * s[0], s[0] * s[1]};  // dJ/ds
  const T pressure = volume.first, bulk = volume.second;
  const T stiffness = distortion.stiffness, softening = distortion.softening;
  for (int i = 0; i < 3; ++i) {
    const int a = (i + 1) % 3, b = (i + 2) % 3;
    d.scaling(i, i) = stiffness + softening * s[i] * s[i] + bulk * dj[i] * dj[i];
    d.scaling(a, b) = d.scaling(b, a) = softening * s[a] * s[b] + bulk * dj[a] * dj[b] + pressure * s[i];
    // The sum is zero only where a projected twist is zero too.
    const T turning = T(4) * distortion.turning / larger(s[a] + s[b], T(Real(1e-12)));
    const T twist = stiffness - turning + pressure * s[i], flip = stiffness - pressure * s[i];
    d.even[i] = (flip + twist) / T(2);
    d.odd[i] = (flip - twist) / T(2);
  }
  return d;
}

/// J from singular values.
template <class T>
SS_HD inline T volume_ratio(const Svd3<T>& svd) {
  return svd.s[0] * (svd.s[1] * svd.s[2]);
}

// Each model is one struct: `forbids_inversion` (inverted elements have infinite energy), `needs_svd` (Psi
// reads the singular values s of F, and P its rotation; for the others s and `svd` may be empty), Lame's
// parameters of a material, and Psi, P and dP/dF.

struct StableNeoHookean {
  static constexpr bool forbids_inversion = false, needs_svd = false;
  SS_HD static Lame lame(Real young, Real poisson) { return lame_parameters(young, poisson); }
  /// m: with l, its linearisation at rest agrees with Lame's parameters.
  template <class T>
  SS_HD static T shear(const LameOf<T>& lame) {
    return T(Real(4) / Real(3)) * lame.mu;
  }
  template <class T>
  SS_HD static VolumeTerm<T> volume(T j, const LameOf<T>& lame) {
    const T change = j - T(1);
    const T bulk = lame.lambda + T(Real(5) / Real(6)) * lame.mu;  // l; and l (1 - alpha) = -mu
    return {bulk / T(2) * change * change - lame.mu * change, bulk * change - lame.mu, bulk};
  }
  template <class T>
  SS_HD static T energy(const Mat<T, 3>& f, const Vec<T, 3>&, const LameOf<T>& lame) {
    using std::log1p;
    const T stretch = dot(f, f) - T(3);
    return shear(lame) / T(2) * (stretch - log1p(stretch / T(4))) + volume(determinant(f), lame).value;
  }
  template <class T>
  SS_HD static Mat<T, 3> stress(const Mat<T, 3>& f, const Svd3<T>&, const LameOf<T>& lame) {
    return shear(lame) * (T(1) - T(1) / (dot(f, f) + T(1))) * f +
           volume(determinant(f), lame).first * cofactor(f);
  }
  template <class T>
  SS_HD static StressDerivativeOf<T> derivative(const Svd3<T>& svd, const LameOf<T>& lame) {
    const T stretch = T(1) / (norm2(svd.s) + T(1));
    const T softening = T(2) * shear(lame) * stretch * stretch;
    return stress_derivative(svd, Distortion<T>{shear(lame) * (T(1) - stretch), softening},
                             volume(volume_ratio(svd), lame));
  }
};

/// What the two models with R have in common: mu |F - R|^2 beside the volume term.
template <class Model>
struct Corotated {
  static constexpr bool forbids_inversion = false, needs_svd = true;
  template <class T>
  SS_HD static T energy(const Mat<T, 3>& f, const Vec<T, 3>& s, const LameOf<T>& lame) {
    return lame.mu * norm2(s - Vec<T, 3>::filled(T(1))) + Model::volume(determinant(f), lame).value;
  }
  template <class T>
  SS_HD static Mat<T, 3> stress(const Mat<T, 3>& f, const Svd3<T>& svd, const LameOf<T>& lame) {
    return T(2) * lame.mu * (f - svd.u * svd.v.transposed()) +
           Model::volume(determinant(f), lame).first * cofactor(f);
  }
  template <class T>
  SS_HD static StressDerivativeOf<T> derivative(const Svd3<T>& svd, const LameOf<T>& lame) {
    return stress_derivative(svd, Distortion<T>{.stiffness = T(2) * lame.mu, .turning = lame.mu},
                             Model::volume(volume_ratio(svd), lame));
  }
};

struct FixedCorotated : Corotated<FixedCorotated> {
  SS_HD static Lame lame(Real young, Real poisson) { return lame_parameters(young, poisson); }
  template <class T>
  SS_HD static VolumeTerm<T> volume(T j, const LameOf<T>& lame) {
    const T change = j - T(1);
    return {lame.lambda / T(2) * change * change, lame.lambda * change, lame.lambda};
  }
};

struct Arap : Corotated<Arap> {
  /// There is no lateral contraction: the material keeps E and has nu = 0.
  SS_HD static Lame lame(Real young, Real) { return lame_parameters(young, Real(0)); }
  template <class T>
  SS_HD static VolumeTerm<T> volume(T, const LameOf<T>&) {
    return {T(0), T(0), T(0)};
  }
};

struct NeoHookean {
  static constexpr bool forbids_inversion = true, needs_svd = false;
  SS_HD static Lame lame(Real young, Real poisson) { return lame_parameters(young, poisson); }
  template <class T>
  SS_HD static VolumeTerm<T> volume(T j, const LameOf<T>& lame) {
    using std::log;
    const auto allowed = j > T(0);
    const T ratio = pick(allowed, j, T(1));
    const T log_j = log(ratio), pressure = (lame.lambda * log_j - lame.mu) / ratio;
    return {pick(allowed, (lame.lambda / T(2) * log_j - lame.mu) * log_j,
                 T(std::numeric_limits<Real>::infinity())),
            pick(allowed, pressure, T(0)), pick(allowed, (lame.lambda / ratio - pressure) / ratio, T(0))};
  }
  template <class T>
  SS_HD static T energy(const Mat<T, 3>& f, const Vec<T, 3>&, const LameOf<T>& lame) {
    return lame.mu / T(2) * (dot(f, f) - T(3)) + volume(determinant(f), lame).value;
  }
  template <class T>
  SS_HD static Mat<T, 3> stress(const Mat<T, 3>& f, const Svd3<T>&, const LameOf<T>& lame) {
    return lame.mu * f + volume(determinant(f), lame).first * cofactor(f);
  }
  template <class T>
  SS_HD static StressDerivativeOf<T> derivative(const Svd3<T>& svd, const LameOf<T>& lame) {
    return stress_derivative(svd, Distortion<T>{lame.mu}, volume(volume_ratio(svd), lame));
  }
};

/// Of affine bodies; no choice of a material.
struct Orthogonality {
  static constexpr bool forbids_inversion = true, needs_svd = false;
  /// As of ARAP.
  SS_HD static Lame lame(Real young, Real) { return lame_parameters(young, Real(0)); }
  template <class T>
  SS_HD static T energy(const Mat<T, 3>& f, const Vec<T, 3>&, const LameOf<T>& lame) {
    const Mat<T, 3> strain = f.transposed() * f - Mat<T, 3>::identity();
    return pick(determinant(f) > T(0), lame.mu / T(4) * dot(strain, strain),
                T(std::numeric_limits<Real>::infinity()));
  }
  template <class T>
  SS_HD static Mat<T, 3> stress(const Mat<T, 3>& f, const Svd3<T>&, const LameOf<T>& lame) {
    return lame.mu * (f * (f.transposed() * f - Mat<T, 3>::identity()));
  }
  /// Psi_i = mu s_i (s_i^2 - 1).
  template <class T>
  SS_HD static StressDerivativeOf<T> derivative(const Svd3<T>& svd, const LameOf<T>& lame) {
    StressDerivativeOf<T> d{svd.u, svd.v, Mat<T, 3>::zero(), Vec<T, 3>::zero(), Vec<T, 3>::zero()};
    const Vec<T, 3>& s = svd.s;
    for (int i = 0; i < 3; ++i) {
      const int a = (i + 1) % 3, b = (i + 2) % 3;
      d.scaling(i, i) = lame.mu * (T(3) * s[i] * s[i] - T(1));
      d.even[i] = lame.mu * (s[a] * s[a] + s[b] * s[b] - T(1));  // twist and flip: even -+ s_a s_b
      d.odd[i] = lame.mu * s[a] * s[b];
    }
    return d;
  }
};

/// visit(struct of the model).
template <class Visit>
SS_HD auto with_model(ElasticModel model, Visit visit) {
  switch (model) {
#define STICKSLIP_CASE(name, Struct) \
  case ElasticModel::name:           \
    return visit(Struct{});
    STICKSLIP_ELASTIC_MODELS(STICKSLIP_CASE)
#undef STICKSLIP_CASE
    case ElasticModel::orthogonality:
      break;
  }
  return visit(Orthogonality{});
}

SS_HD inline bool forbids_inversion(ElasticModel model) {
  return with_model(model, [](auto m) { return m.forbids_inversion; });
}

SS_HD inline Lame lame_parameters(ElasticModel model, Real young, Real poisson) {
  return with_model(model, [&](auto m) { return m.lame(young, poisson); });
}

SS_HD inline bool needs_svd(ElasticModel model) {
  return with_model(model, [](auto m) { return m.needs_svd; });
}

/// Psi(F) given the singular values of F.
template <class T>
SS_HD inline T energy_density(ElasticModel model, const Mat<T, 3>& f, const Vec<T, 3>& s,
                              const LameOf<T>& lame) {
  return with_model(model, [&](auto m) { return m.energy(f, s, lame); });
}

SS_HD inline Real energy_density(ElasticModel model, const Mat3& f, const Lame& lame) {
  return with_model(model, [&](auto m) { return m.energy(f, m.needs_svd ? svd3(f).s : Vec3{}, lame); });
}

/// P(F) given the SVD of F.
template <class T>
SS_HD inline Mat<T, 3> first_piola(ElasticModel model, const Mat<T, 3>& f, const Svd3<T>& svd,
                                   const LameOf<T>& lame) {
  return with_model(model, [&](auto m) { return m.stress(f, svd, lame); });
}

SS_HD inline Mat3 first_piola(ElasticModel model, const Mat3& f, const Lame& lame) {
  return with_model(model, [&](auto m) { return m.stress(f, m.needs_svd ? svd3(f) : Svd3<Real>{}, lame); });
}

template <class T>
SS_HD inline StressDerivativeOf<T> stress_derivative(ElasticModel model, const Svd3<T>& svd,
                                                     const LameOf<T>& lame) {
  return with_model(model, [&](auto m) { return m.derivative(svd, lame); });
}

/// P C P for C = dP/dF, positive semidefinite, and the orthogonal projector P onto the complement of
/// infinitesimal rotations, df = W F with W antisymmetric. In the frame of the singular values a turn in the
/// plane of j and k is (x_jk, x_kj) = w (s_k, -s_j), so that P C P = c n n' there, n along (s_j, s_k). At
/// rest this is C; under stress C resists turning too.
template <class T>
struct StrainResistanceOf {
  Mat<T, 3> u, v;
  Mat<T, 3> scaling;
  Mat<T, 3> even;  // of x_ij on y_ij, i != j
  Vec<T, 3> odd;   // of x_kj on y_jk

  StrainResistanceOf() = default;
  SS_HD StrainResistanceOf(const StressDerivativeOf<T>& d, const Vec<T, 3>& s)
      : u(d.u), v(d.v), scaling(d.scaling), even(Mat<T, 3>::zero()), odd(Vec<T, 3>::zero()) {
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3, k = (i + 2) % 3;
      const T size2 = s[j] * s[j] + s[k] * s[k];
      const auto turns = size2 > T(0);
      const T size = pick(turns, size2, T(1));
      const T c = pick(turns, (d.even[i] + T(2) * d.odd[i] * s[j] * s[k] / size) / size, T(0));
      even(j, k) = c * s[j] * s[j];
      even(k, j) = c * s[k] * s[k];
      odd[i] = c * s[j] * s[k];
    }
  }

  SS_HD Mat<T, 3> operator()(const Mat<T, 3>& df) const {
    return u * in_frame(u.transposed() * df * v) * v.transposed();
  }
  /// df : (*this)(df).
  SS_HD T square(const Mat<T, 3>& df) const {
    const Mat<T, 3> x = u.transposed() * df * v;
    return dot(x, in_frame(x));
  }

 private:
  /// In the frame of the singular values.
  SS_HD Mat<T, 3> in_frame(const Mat<T, 3>& x) const {
    Mat<T, 3> y{};
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3, k = (i + 2) % 3;
      y(i, i) = scaling(i, 0) * x(0, 0) + scaling(i, 1) * x(1, 1) + scaling(i, 2) * x(2, 2);
      y(j, k) = even(j, k) * x(j, k) + odd[i] * x(k, j);
      y(k, j) = even(k, j) * x(k, j) + odd[i] * x(j, k);
    }
    return y;
  }
};
using StrainResistance = StrainResistanceOf<Real>;

/// Makes the derivative the nearest positive semidefinite one: negative eigenvalues become zero. For Lanes
/// another overload of project_spd must be visible.
template <class T>
SS_HD inline void project(StressDerivativeOf<T>& d) {
  project_spd(d.scaling);
  for (int i = 0; i < 3; ++i) {
    const T flip = larger(d.even[i] + d.odd[i], T(0)), twist = larger(d.even[i] - d.odd[i], T(0));
    d.even[i] = (flip + twist) / T(2);
    d.odd[i] = (flip - twist) / T(2);
  }
}

SS_HD inline StressDerivative projected(StressDerivative d) {
  project(d);
  return d;
}

/// d vec(P) / d vec(F), vec by rows.
SS_HD inline Mat<Real, 9> dense(const StressDerivative& d) {
  Mat<Real, 9> h{};
  for (int c = 0; c < 9; ++c) {
    Mat3 df = Mat3::zero();
    df.m[c] = Real(1);
    const Mat3 dp = d(df);
    for (int r = 0; r < 9; ++r) h(r, c) = dp.m[r];
  }
  return h;
}

SS_HD inline Mat<Real, 9> hessian_spd(ElasticModel model, const Mat3& f, const Lame& lame) {
  return dense(projected(stress_derivative(model, svd3(f), lame)));
}

}  // namespace stickslip
