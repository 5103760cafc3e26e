// What the record of a contact says of its impulses and velocities: pure functions, shared by the records of
// a running scene (contact_records) and those of a frozen problem (frozen_records).
#pragma once

#include <cmath>
#include <cstdint>

#include "gpu/law/natural_map.h"
#include "gpu/model/interaction.h"

namespace stickslip {

/// sum_i r_i t_i over the two tangents of a contact's rows, whose first `dofs` numbers of each begin with a
/// multiple of the direction; `normal` tells the sign of side b.
template <int D>
SS_HD inline Vec<float, 3> friction_of(const double* rows, std::int64_t dofs, const Vec<double, 3>& normal,
                                       const Vec<double, D>& r, double dt) {
  const Vec<double, 3> n{rows[0], rows[1], rows[2]};
  const double along = dot(n, normal), size = norm(n);
  // Rows of another kind have no such direction: the friction is then not shown.
  if (!(std::abs(along) > 0.999 * size) || !(size > 0)) return {0, 0, 0};
  Vec<double, 3> sum{0, 0, 0};
  for (int i = 1; i < 3; ++i) {
    const double* t = rows + i * dofs;
    sum += (r[i] / (along * dt)) * Vec<double, 3>{t[0], t[1], t[2]};
  }
  return sum.template cast<float>();
}

/// |friction| over what the law allows in its direction; zero without a normal impulse.
template <int D>
SS_HD inline float cone_share(const ContactLaw<D>& law, const Vec<double, D>& r) {
  if (!(r[0] > 0)) return 0;
  if constexpr (D == kRollingRows)
    return law.mu[0] > 0 ? static_cast<float>(disc_length(tangential(r), 0) / (law.mu[0] * r[0])) : 0.0f;
  double sum = 0, largest = 0;
  for (int i = 1; i < D; ++i) {
    if (!(law.mu[i - 1] > 0)) continue;
    const double part = std::abs(r[i]) / (law.mu[i - 1] * r[0]);
    sum += part * part;
    largest = part > largest ? part : largest;
  }
  return static_cast<float>(law.set == FrictionSet::ellipsoid ? std::sqrt(sum) : largest);
}

/// What the law allows over the normal impulse in the direction of friction; without friction its first
/// coefficient.
template <int D>
SS_HD inline float mu_in_use(const ContactLaw<D>& law, const Vec<double, D>& r) {
  const float share = cone_share(law, r);
  const double friction = std::sqrt(r[1] * r[1] + r[2] * r[2]);
  if (!(share > 0) || !(friction > 0)) return static_cast<float>(law.mu[0]);
  return static_cast<float>(friction / (static_cast<double>(share) * r[0]));
}

/// Sets what a record tells of rolling resistance. `rows`: of the side that friction_of takes, in which the
/// rolling rows are a length times the tangents about which they turn.
template <int D>
SS_HD inline void set_rolling(const ContactLaw<D>& law, const double* rows, std::int64_t dofs,
                              const Vec<double, D>& r, double dt, ContactRecord& x) {
  if constexpr (D == kRollingRows) {
    if (!(law.mu[2] > 0) || !(r[0] > 0)) return;
    const double* row = rows + 3 * dofs;
    const double length = norm(Vec<double, 3>{row[3], row[4], row[5]}), size = disc_length(tangential(r), 1);
    x.rolling_moment = static_cast<float>(length * size / dt);
    x.rolling_share = static_cast<float>(size / (law.mu[2] * r[0]));
  }
}

/// Whether friction holds: a contact that rolls against resistance does not slide by that.
template <int D>
SS_HD inline BlockState state_of_friction(const ContactLaw<D>& law, double s, const Vec<double, D>& r,
                                          const Vec<double, D>& u) {
  const BlockState state = block_state(law, s, r, u);
  if constexpr (D == kRollingRows)
    if (state == BlockState::slides) {
      const Vec<double, D> z = r - (1 / s) * shifted(law, u), p = project(law, z);
      if (p[1] == z[1] && p[2] == z[2]) return BlockState::sticks;
    }
  return state;
}

/// A contact with a solution of its block.
template <int D>
struct SolvedContact {
  const ContactLaw<D>& law;
  double scale;                // s_c, see Judgement
  const Vec<double, D>&r, &u;  // [N s], [m/s]
  const double* rows;          // of the first of its bodies that moves, D rows of `dofs`; null: none moves
  std::int64_t dofs;
  Vec<double, 3> normal;  // unit, pointing to side a
};

/// Sets all of a record that depends on the solution. `dt` [s] converts impulses to forces.
template <int D>
SS_HD inline void set_solution(const SolvedContact<D>& of, double dt, ContactRecord& x) {
  const Vec<double, D>&r = of.r, &u = of.u;
  Vec<double, D> slide = u;
  slide[0] = 0;
  if constexpr (D == kRollingRows) slide[3] = slide[4] = 0;
  const BlockState state = state_of_friction(of.law, of.scale, r, u);
  x.normal_force = static_cast<float>(r[0] / dt);
  x.slip_speed = static_cast<float>(norm(slide));
  x.friction = {0, 0, 0};
  x.rolling_moment = x.rolling_share = 0;
  if (of.rows != nullptr) {
    x.friction = friction_of<D>(of.rows, of.dofs, of.normal, r, dt);
    set_rolling(of.law, of.rows, of.dofs, r, dt, x);
  }
  x.cone_share = cone_share(of.law, r);
  x.mu = mu_in_use(of.law, r);
  x.error = static_cast<float>(block_error(of.law, of.scale, r, u));
  x.state = state == BlockState::open     ? ContactState::open
            : state == BlockState::sticks ? ContactState::stick
                                          : ContactState::slip;
}

}  // namespace stickslip
