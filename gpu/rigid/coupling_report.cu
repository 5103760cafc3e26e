// Outputs of a coupled step: its problem, its sums, the objects of its contacts.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/dfcp/problem/rolling_rows.h"
#include "gpu/rigid/coupling.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Largest coordinate of a node.
struct NodeDistance {
  const Vec3* x;

  SS_HD double operator()(std::size_t i) const {
    double far = 0;
    for (int k = 0; k < 3; ++k) {
      const double distance = std::fabs(static_cast<double>(x[i][k]));
      far = distance > far ? distance : far;
    }
    return far;
  }
};

}  // namespace

/// The impulses on the nodes are those of the last solve, for the velocities at the end.
template <int D>
void Coupling::check(Context& ctx, const ContactSystem<D>& system, const CohesivePulls& pulls,
                     SolidsCheck* out) {
  const SolidFrames& frames = particles_.frames();
  const Vec3* at_nodes = touching_.point_count() + frames.size() > 0 ? node_impulse_.data() : nullptr;
  solids_.launch_balance(ctx, at_nodes, &out->balance);
  checker_.check(ctx, solids_, touching_, system.world_impulses() + system.joint_blocks() + first_,
                 {frames.sides(), wrench_.data(), frames.size()}, pulls, static_cast<std::size_t>(first_),
                 &out->momentum);
}
template void Coupling::check(Context&, const ContactSystem<3>&, const CohesivePulls&, SolidsCheck*);
template void Coupling::check(Context&, const ContactSystem<4>&, const CohesivePulls&, SolidsCheck*);
template void Coupling::check(Context&, const ContactSystem<5>&, const CohesivePulls&, SolidsCheck*);

template <int D>
ContactProblem Coupling::problem(Context& ctx, ContactSystem<D>& system) {
  // The end of the step left the velocities of the points there.
  particles_.move_free(ctx, touching_, solids_.v.data(), impulse_.data(), wrench_.data());
  if (list_.cores.core != nullptr) {
    DeviceBodies& all = particles_.all();
    system.start_velocities(ctx, all);
    list_.cores = {};
    list_.warm_start = true;
    system.build(ctx, all, list_);
  }
  ContactProblem between_bodies = system.problem(ctx, particles_.all());
  between_bodies.guess = guess_.download(ctx);
  between_bodies = with_rolling_in_metres(std::move(between_bodies));
  return coupled_problem(between_bodies, particles_.bodies(), solid_system(ctx));
}
template ContactProblem Coupling::problem(Context&, ContactSystem<3>&);
template ContactProblem Coupling::problem(Context&, ContactSystem<4>&);
template ContactProblem Coupling::problem(Context&, ContactSystem<5>&);

SolidSystem Coupling::solid_system(Context& ctx) const {
  SolidSystem s = solids_.system(ctx);
  s.points.resize(touching_.point_count());
  copy_to_host(ctx, s.points.data(), touching_.points(), s.points.size());
  const SolidFrames& frames = particles_.frames();
  std::vector<SolidSide> sides(frames.size());
  s.frames.resize(frames.size());
  copy_to_host(ctx, sides.data(), frames.sides(), sides.size());
  copy_to_host(ctx, s.frames.data(), frames.frames(), s.frames.size());
  for (const SolidSide& side : sides) s.frame_nodes.push_back(side.point.nodes);
  return s;
}

void Coupling::report(Context& ctx, const Params& params, std::size_t moving, StepReport& report) {
  const SolidSums sums = solids_.sums(ctx, params.gravity);
  report.elastic_energy = solids_.elastic_energy(ctx);
  if (!std::isfinite(sums.kinetic + sums.gravity + report.elastic_energy + norm2(sums.momentum) +
                     norm2(sums.angular)))
    throw SimulationError("velocities or positions of the elastic solids are not finite after step " +
                          std::to_string(report.frame));
  // A long step of a strongly deformed solid may throw nodes away: linearised forces grow with a power of the
  // deformation. Where positions are rounded by more than the contact margin, contacts mean nothing.
  reduce_max(ctx, solids_.size(), NodeDistance{solids_.x.data()}, 0.0, &totals_.data()->steepness, kMedium);
  constexpr double kLeastMargin = 1e-3;  // [m]
  const double far = read_back(ctx, &totals_.data()->steepness);
  if (far * std::numeric_limits<Real>::epsilon() > std::max(params.contact_margin, kLeastMargin))
    throw SimulationError(
        "the elastic solids fly apart: a node is so far away after step " + std::to_string(report.frame) +
        " that rounding exceeds contact_margin; dt is too long for their deformation: shorten "
        "it, and reset");
  report.candidates += static_cast<int>(touching_.meshes().candidates());
  report.kinetic_energy += sums.kinetic;
  report.gravity_energy += sums.gravity;
  report.momentum += sums.momentum;
  report.angular_momentum += sums.angular;
  const double dofs =
      6.0 * static_cast<double>(moving) + 3 * (sums.nodes - static_cast<double>(solids_.follower_count()));
  report.contact_solve->nu = dofs > 0 ? 3.0 * report.contacts / dofs : 0;
  report.volume_ratio_min = solids_.min_volume_ratio(ctx);
  if (report.volume_ratio_min <= 0) report.inverted = solids_.count_inverted(ctx);
}

void Coupling::name_objects(Context& ctx, const Model& model, std::vector<ContactRecord>& records) const {
  std::vector<SurfacePoint> points(touching_.point_count());
  copy_to_host(ctx, points.data(), touching_.points(), points.size());
  const Model& solids = solids_.model();
  const std::size_t bodies = model.bodies.size();
  const auto is_particle = [&](std::int32_t side) {
    return side >= 0 && static_cast<std::size_t>(side) >= bodies;
  };
  const auto point_of = [&](std::int32_t side) -> const SurfacePoint& {
    return points[static_cast<std::size_t>(side) - bodies];
  };
  for (std::size_t c = 0; c < records.size(); ++c) records[c].gap += static_cast<float>(kept_gaps().of(c));
  for (ContactRecord& record : records) {
    // A particle's number changes from step to step, its nodes do not.
    if (is_particle(record.object_a) || is_particle(record.object_b)) {
      record.name = 0;
      for (const std::int32_t side : {record.object_a, record.object_b}) {
        if (!is_particle(side)) record.name = mix_name(record.name, side);
        else
          for (int c = 0; c < 3; ++c) record.name = mix_name(record.name, point_of(side).nodes[c]);
      }
    }
    for (std::int32_t* side : {&record.object_a, &record.object_b})
      if (*side >= 0)
        *side = is_particle(*side) ? solids_.object_of(solids.node_object[point_of(*side).nodes[0]])
                                   : model.bodies[static_cast<std::size_t>(*side)].object;
  }
}

}  // namespace stickslip::STICKSLIP_BACKEND
