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

template <int D>
struct SolvedRecord {
  SolvedContacts<D> of;
  double dt;
  ContactRecord* record;

  SS_HD void operator()(std::size_t c) const {
    const Vec<double, D>&r = of.r[c], &u = of.u[c];
    Vec<double, D> slide = u;
    slide[0] = 0;
    const BlockState state = block_state(of.law[c], of.scale[c], r, u);
    ContactRecord x = record_of(of.contacts[c]);
    x.normal_force = static_cast<float>(r[0] / dt);
    x.slip_speed = static_cast<float>(norm(slide));
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
    x.state = !(r[0] > 0)                                       ? ContactState::open
              : friction < 0.999 * of.block[c].law.mu[0] * r[0] ? ContactState::stick
                                                                : ContactState::slip;
    record[c] = x;
  }
};

}  // namespace

template <int D>
void contact_records(Context& ctx, const SolvedContacts<D>& solved, double dt,
                     std::vector<ContactRecord>& out) {
  Buffer<ContactRecord> records(ctx, solved.count);
  launch(ctx, solved.count, SolvedRecord<D>{solved, dt, records.data()}, kMedium);
  out = records.download(ctx);
}

template <int D>
void contact_records(Context& ctx, const PushedContacts<D>& pushed, double dt,
                     std::vector<ContactRecord>& out) {
  Buffer<ContactRecord> records(ctx, pushed.count);
  launch(ctx, pushed.count, PushedRecord<D>{pushed, dt, records.data()}, kMedium);
  out = records.download(ctx);
}

template void contact_records(Context&, const SolvedContacts<3>&, double, std::vector<ContactRecord>&);
template void contact_records(Context&, const SolvedContacts<4>&, double, std::vector<ContactRecord>&);
template void contact_records(Context&, const PushedContacts<3>&, double, std::vector<ContactRecord>&);
template void contact_records(Context&, const PushedContacts<4>&, double, std::vector<ContactRecord>&);

}  // namespace stickslip::STICKSLIP_BACKEND
