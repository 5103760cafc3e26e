#include "gpu/rigid/contact_records.cuh"

#include <cmath>

#include "gpu/core/buffer.h"
#include "gpu/core/launch.h"
#include "gpu/rigid/contact_record.h"

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
    ContactRecord x = record_of(of.contacts[c]);
    set_solution<D>(
        {of.law[c], of.scale[c], of.r[c], of.u[c], moving_rows(c), rows.dofs, of.contacts[c].normal}, dt, x);
    if (of.colour != nullptr) x.colour = of.colour[c];
    if (of.step_kind != StepKind::none) {
      x.step_kind = of.step_kind;
      x.step_normal = of.step[c][0];
      x.step_tangent = of.step[c][1];
    }
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
