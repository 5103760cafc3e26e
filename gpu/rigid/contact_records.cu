#include "gpu/rigid/contact_records.cuh"

#include <cmath>

#include "gpu/core/buffer.h"
#include "gpu/core/launch.h"
#include "gpu/law/natural_map.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// The fields of a contact's record that are known before the solve. Sides are bodies here;
/// see Coupling::name_objects.
SS_HD ContactRecord record_of(const RigidContact& contact) {
  ContactRecord x;
  x.point = contact.point.template cast<float>();
  x.normal = contact.normal.template cast<float>();
  x.gap = static_cast<float>(contact.gap);
  x.object_a = contact.a;
  x.object_b = contact.b < 0 ? -1 : contact.b;
  x.name = mix_name(mix_name(mix_name(0, contact.a), contact.b), contact.feature);
  return x;
}

/// sum_i r_i t_i over the two tangents of a contact's rows, whose first `dofs` numbers of each begin with a
/// multiple of the direction; `normal` tells the sign of side b.
template <int D>
SS_HD Vec<float, 3> friction_of(const double* rows, std::int64_t dofs, const Vec<double, 3>& normal,
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
SS_HD float cone_share(const ContactLaw<D>& law, const Vec<double, D>& r) {
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
SS_HD float mu_in_use(const ContactLaw<D>& law, const Vec<double, D>& r) {
  const float share = cone_share(law, r);
  const double friction = std::sqrt(r[1] * r[1] + r[2] * r[2]);
  if (!(share > 0) || !(friction > 0)) return static_cast<float>(law.mu[0]);
  return static_cast<float>(friction / (static_cast<double>(share) * r[0]));
}

/// Sets what a record tells of rolling resistance. `rows`: of the side that friction_of takes, in which the
/// rolling rows are a length times the tangents about which they turn.
template <int D>
SS_HD void set_rolling(const ContactLaw<D>& law, const double* rows, std::int64_t dofs,
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
SS_HD BlockState state_of_friction(const ContactLaw<D>& law, double s, const Vec<double, D>& r,
                                   const Vec<double, D>& u) {
  const BlockState state = block_state(law, s, r, u);
  if constexpr (D == kRollingRows)
    if (state == BlockState::slides) {
      const Vec<double, D> z = r - (1 / s) * shifted(law, u), p = project(law, z);
      if (p[1] == z[1] && p[2] == z[2]) return BlockState::sticks;
    }
  return state;
}

template <int D>
struct SolvedRecord {
  SolvedContacts<D> of;
  BodyRows<D> rows;
  std::size_t first_block;
  double dt;
  ContactRecord* record;

  /// Of the first body of a contact that moves; null: none does.
  SS_HD const double* moving_rows(std::size_t c) const {
    for (std::int32_t k = rows.start[first_block + c]; k < rows.start[first_block + c + 1]; ++k)
      if (rows.body[k] >= 0)
        return rows.jacobian + static_cast<std::size_t>(k) * D * static_cast<std::size_t>(rows.dofs);
    return nullptr;
  }

  SS_HD void operator()(std::size_t c) const {
    const Vec<double, D>&r = of.r[c], &u = of.u[c];
    Vec<double, D> slide = u;
    slide[0] = 0;
    if constexpr (D == kRollingRows) slide[3] = slide[4] = 0;
    const BlockState state = state_of_friction(of.law[c], of.scale[c], r, u);
    ContactRecord x = record_of(of.contacts[c]);
    x.normal_force = static_cast<float>(r[0] / dt);
    x.slip_speed = static_cast<float>(norm(slide));
    if (const double* of_body = moving_rows(c); of_body != nullptr) {
      x.friction = friction_of<D>(of_body, rows.dofs, of.contacts[c].normal, r, dt);
      set_rolling(of.law[c], of_body, rows.dofs, r, dt, x);
    }
    x.cone_share = cone_share(of.law[c], r);
    x.mu = mu_in_use(of.law[c], r);
    if (of.colour != nullptr) x.colour = of.colour[c];
    x.error = static_cast<float>(block_error(of.law[c], of.scale[c], r, u));
    x.state = state == BlockState::open     ? ContactState::open
              : state == BlockState::sticks ? ContactState::stick
                                            : ContactState::slip;
    record[c] = x;
  }
};

template <int D>
struct PushedRecord {
  PushedContacts<D> of;
  double dt;
  ContactRecord* record;

  SS_HD void operator()(std::size_t c) const {
    const Vec<double, D>& r = of.r[c];
    const double friction = std::sqrt(r[1] * r[1] + r[2] * r[2]);
    ContactRecord x = record_of(of.contacts[c]);
    x.normal_force = static_cast<float>(r[0] / dt);
    x.friction = friction_of<D>(of.block[c].jacobian[0][0].v, 6, of.contacts[c].normal, r, dt);
    x.cone_share = cone_share(of.block[c].law, r);
    x.mu = mu_in_use(of.block[c].law, r);
    x.state = !(r[0] > 0)                                       ? ContactState::open
              : friction < 0.999 * of.block[c].law.mu[0] * r[0] ? ContactState::stick
                                                                : ContactState::slip;
    record[c] = x;
  }
};

}  // namespace

template <int D>
void contact_records(Context& ctx, const SolvedContacts<D>& solved, const BodyRows<D>& rows,
                     std::size_t first_block, double dt, std::vector<ContactRecord>& out) {
  Buffer<ContactRecord> records(ctx, solved.count);
  launch(ctx, solved.count, SolvedRecord<D>{solved, rows, first_block, dt, records.data()}, kMedium);
  out = records.download(ctx);
}

template <int D>
void contact_records(Context& ctx, const PushedContacts<D>& pushed, double dt,
                     std::vector<ContactRecord>& out) {
  Buffer<ContactRecord> records(ctx, pushed.count);
  launch(ctx, pushed.count, PushedRecord<D>{pushed, dt, records.data()}, kMedium);
  out = records.download(ctx);
}

template void contact_records(Context&, const SolvedContacts<3>&, const BodyRows<3>&, std::size_t, double,
                              std::vector<ContactRecord>&);
template void contact_records(Context&, const SolvedContacts<4>&, const BodyRows<4>&, std::size_t, double,
                              std::vector<ContactRecord>&);
template void contact_records(Context&, const SolvedContacts<5>&, const BodyRows<5>&, std::size_t, double,
                              std::vector<ContactRecord>&);
template void contact_records(Context&, const PushedContacts<3>&, double, std::vector<ContactRecord>&);
template void contact_records(Context&, const PushedContacts<4>&, double, std::vector<ContactRecord>&);
template void contact_records(Context&, const PushedContacts<5>&, double, std::vector<ContactRecord>&);

}  // namespace stickslip::STICKSLIP_BACKEND
