// Coupling: explicit penalty forces among elastic solids.
#include "gpu/core/launch.h"
#include "gpu/core/trace.h"
#include "gpu/rigid/coupling.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// The part of a point's impulse on a corner of its triangle; a point has four corners, the last one unused.
struct PushedCorner {
  const SurfacePoint* at;
  PointSides sides;
  const Vec<double, 4>* impulse;  // per contact, on side a

  SS_HD Vec3 operator()(std::int32_t corner) const {
    const std::int32_t k = corner / 4, c = corner % 4;
    if (c == 3) return Vec3::zero();
    const Vec<double, 4>& f = impulse[sides.contact(static_cast<std::size_t>(k))];
    const double part = sides.sign(static_cast<std::size_t>(k)) * at[k].weights[c];
    return (part * Vec<double, 3>{f[0], f[1], f[2]}).cast<Real>();
  }
};

}  // namespace

void Coupling::stage_points(Context& ctx, const DeviceBodies& bodies, const StepConstraints& list) {
  particles_.stage(ctx, bodies, solids_, touching_, contacts_.data() + first_,
                   {list.joints, list.joint_count}, shares_.shares(), CoreUse::all);
}

template <int D>
void Coupling::push_penalties(Context& ctx, ContactSystem<D>& system, DeviceBodies& bodies,
                              const StepConstraints& list, double* steepness) {
  const Span span(ctx, "penalties of solids");
  stage_points(ctx, bodies, list);
  particles_.add_core_mobilities(ctx);
  DeviceBodies& all = particles_.all();
  system.push_penalties(ctx, all, list, steepness);
  copy(ctx, bodies.free.data(), all.free.data(), 6 * bodies.size());
  pushed_.resize(ctx, touching_.count());
  system.pushed_impulses(ctx, static_cast<std::size_t>(first_), touching_.count(), pushed_.data());
  fill(ctx, node_impulse_.data(), solids_.size(), Vec3::zero());
  touching_.gather().sum(ctx, PushedCorner{touching_.points(), touching_.sides(), pushed_.data()},
                         node_impulse_.data());
  solids_.add_load(ctx, node_impulse_.data());
  touching_.set_aside(ctx, solids_.size());
}
template void Coupling::push_penalties(Context&, ContactSystem<3>&, DeviceBodies&, const StepConstraints&,
                                       double*);
template void Coupling::push_penalties(Context&, ContactSystem<4>&, DeviceBodies&, const StepConstraints&,
                                       double*);
template void Coupling::push_penalties(Context&, ContactSystem<5>&, DeviceBodies&, const StepConstraints&,
                                       double*);

void Coupling::return_contacts(Context& ctx, const DeviceBodies& bodies, const StepConstraints& list) {
  touching_.bring_back(ctx, solids_.size());
  stage_points(ctx, bodies, list);
}

void Coupling::check_equations(Context& ctx, SolidsCheck* out) {
  solids_.launch_balance(ctx, particles_.frames().size() > 0 ? node_impulse_.data() : nullptr, &out->balance);
}

}  // namespace stickslip::STICKSLIP_BACKEND
