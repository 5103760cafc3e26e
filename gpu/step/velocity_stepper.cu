#include "gpu/step/velocity_stepper.cuh"

#include "gpu/core/trace.h"

namespace stickslip::STICKSLIP_BACKEND {

VelocityStepper::VelocityStepper(Context& ctx, const Model& model) : Stepper(ctx, model) {
  nodes_.x.resize(ctx_, model_.node_count());
  nodes_.v.resize(ctx_, model_.node_count());
  rigid_.load(ctx_, model_);
}

std::string VelocityStepper::check_start(const Params& params) {
  return describe(rigid_.find_overlaps(ctx_, model_, params), model_);
}

void VelocityStepper::update_materials() {
  rigid_.wake();
  rigid_.set_materials(ctx_, model_);
}

StepReport VelocityStepper::step(const StepSettings& settings) {
  StepReport report =
      rigid_.step(ctx_, model_, settings.params, settings.contact, settings.drag, nodes_.frame, nodes_.time);
  nodes_.frame = report.frame;
  nodes_.time = report.time;
  place_nodes();
  if (settings.params.check_intersections) {
    StageClock clock;
    check_overlap(report);
    clock.lap(report.seconds.check);
  }
  return report;
}

void VelocityStepper::check_overlap(StepReport& report) {
  const Span span(ctx_, "overlap check");
  if (!overlap_check_) overlap_check_.emplace(model_);
  std::vector<Vec<double, 3>> positions;
  for (const Vec3& x : nodes_.x.download(ctx_)) positions.push_back(x.cast<double>());
  const MeshOverlap overlap = overlap_check_->deepest(positions);
  report.overlap = overlap.depth;
  report.overlap_of = describe(overlap, model_);
}

void VelocityStepper::place_nodes() {
  const Span span(ctx_, "place nodes");
  rigid_.bodies().place_nodes(ctx_, nodes_.x.data());
  rigid_.bodies().node_velocities(ctx_, nodes_.v.data());
  rigid_.solids().place_nodes(ctx_, nodes_.x.data(), nodes_.v.data());
}

State VelocityStepper::state() {
  State out = Stepper::state();
  const auto poses = rigid_.bodies().pose.download(ctx_);
  const auto velocities = rigid_.bodies().velocity.download(ctx_);
  const auto spins = rigid_.bodies().spin.download(ctx_);
  out.bodies.reserve(poses.size());
  for (std::size_t b = 0; b < poses.size(); ++b) out.bodies.push_back({poses[b], velocities[b], spins[b]});
  out.anchors = rigid_.anchors(ctx_);
  return out;
}

void VelocityStepper::set_state(const State& state, const Params& params) {
  if (state.bodies.size() != model_.bodies.size())
    throw std::invalid_argument("set_state: the model has " + std::to_string(model_.bodies.size()) +
                                " rigid bodies");
  if (!rigid_.solids().empty()) check_nodes(state);
  std::vector<Pose> poses;
  std::vector<Vec<double, 3>> velocities, spins;
  for (const BodyState& body : state.bodies) {
    poses.push_back(body.pose);
    velocities.push_back(body.velocity);
    spins.push_back(body.spin);
  }
  rigid_.bodies().pose.upload(ctx_, poses);
  rigid_.bodies().velocity.upload(ctx_, velocities);
  rigid_.bodies().spin.upload(ctx_, spins);
  if (!rigid_.solids().empty())
    rigid_.solids().set_state(ctx_, state.positions, state.velocities, state.time, params.dt);
  nodes_.frame = state.frame;
  nodes_.time = state.time;
  place_nodes();
  rigid_.forget_history();
  rigid_.set_anchors(ctx_, state.anchors);
}

void VelocityStepper::contact_records(const Params& params, std::vector<ContactRecord>& out) {
  rigid_.contact_records(ctx_, model_, params.dt, out);
}

}  // namespace stickslip::STICKSLIP_BACKEND
