#include "gpu/elastic/elastic_solids.cuh"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "gpu/core/cleared.h"
#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/core/trace.h"
#include "gpu/model/affine.h"
#include "gpu/model/element_group.h"
#include "gpu/model/lattice.h"
#include "gpu/model/spring.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using Vec3d = Vec<double, 3>;

// The share of a residual that a direct solve may leave, so that `follow` takes its result unchecked.
constexpr double kMostLeft = 1e-4;
// Of PCG, at a time, after it has stagnated.
constexpr int kMoreIterations = 500;

struct AddSolidSums {
  SS_HD SolidSums operator()(const SolidSums& a, const SolidSums& b) const {
    return {a.kinetic + b.kinetic, a.gravity + b.gravity, a.momentum + b.momentum, a.angular + b.angular,
            a.nodes + b.nodes};
  }
};

std::vector<Vec3> chosen_nodes(const std::vector<Vec3d>& all, const std::vector<std::int32_t>& nodes) {
  std::vector<Vec3> out;
  out.reserve(nodes.size());
  for (const std::int32_t n : nodes) out.push_back(all[static_cast<std::size_t>(n)].template cast<Real>());
  return out;
}

/// The nodes of each deformable object.
std::vector<Vec2i> deformable_ranges(const Model& model) {
  std::vector<Vec2i> ranges;
  for (const Object& object : model.objects)
    if (object.is_deformable()) ranges.push_back({object.node_begin, object.node_end});
  return ranges;
}

/// The control nodes of each affine body.
std::vector<Vec2i> control_ranges(const Model& model) {
  std::vector<Vec2i> ranges;
  for (const Object& object : model.objects)
    if (object.is_affine()) ranges.push_back({object.control_begin, object.control_begin + 4});
  return ranges;
}

/// Adds the corners of all elements to their nodes.
void add_corners(Context& ctx, const NodeGather& gather, const Vec3* corner, Vec3* sum) {
  gather.sum(
      ctx, [=] SS_LAMBDA(std::size_t c) { return corner[c]; }, sum);
}

/// The diagonal of A / dt^2 besides elasticity [N/m]: mass / dt^2 and the mouse spring.
void set_inertia(Context& ctx, std::size_t n, const Real* mass, double dt2, const SolidPull& pull,
                 Real* inertia) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) {
    double sum = static_cast<double>(mass[i]) / dt2;
    for (int c = 0; c < 3; ++c)
      if (pull.nodes[c] == static_cast<std::int32_t>(i)) sum += pull.weights[c] * pull.stiffness;
    inertia[i] = static_cast<Real>(sum);
  });
}

/// `diagonal`: the blocks of A / dt^2; see ElasticSolids::resistance. `affine` may be null.
void set_resistance(Context& ctx, std::size_t n, const std::uint8_t* held, const Mat3* diagonal, double dt2,
                    const double* affine, double* resistance) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) {
    resistance[i] = held[i] ? 0.0 : dt2 * static_cast<double>(trace(diagonal[i])) / 3;
    if (affine != nullptr && affine[i] > 0) resistance[i] = affine[i];
  });
}

/// dt^4 |r|^2 / resistance of a node, with the residual r of A / dt^2.
struct ResidualSquare {
  const Vec3* residual;
  const double* resistance;
  double dt4;

  SS_HD double operator()(std::size_t i) const {
    return resistance[i] > 0 ? dt4 * norm2(residual[i].template cast<double>()) / resistance[i] : 0.0;
  }
};

/// of -= share * what.
void subtract(Context& ctx, std::size_t n, Real share, const Vec3* what, Vec3* of) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { of[i] -= share * what[i]; });
}

/// Velocities of nodes that follow a sequence of positions.
void set_frame_velocities(Context& ctx, std::size_t n, const std::int32_t* node, const Vec3* target,
                          const Vec3* at, Real dt, Vec3* velocity) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { velocity[node[i]] = (target[i] - at[node[i]]) / dt; });
}

/// f of node i, and the velocity of its script.
struct LoadWriter {
  const RigidPose* pose;       // of each script at the end of the step
  const std::int32_t* script;  // per node; -1: none
  const Vec3 *anchor, *force, *at, *before, *gradient;
  const Real* mass;
  Real dt, g;
  SolidPull pull;
  Vec3 *out, *scripted;

  SS_HD void operator()(std::size_t i) const {
    Vec3 sum = mass[i] * (before[i] + dt * (Vec3{0, g, 0} + force[i])) - dt * gradient[i];
    for (int c = 0; c < 3; ++c)
      if (pull.nodes[c] == static_cast<std::int32_t>(i))
        sum += static_cast<Real>(dt * pull.weights[c] * pull.stiffness) *
               (pull.targets[c].template cast<Real>() - at[i]);
    out[i] = sum;
    scripted[i] = script[i] >= 0 ? (pose[script[i]].linear * anchor[i] + pose[script[i]].shift - at[i]) / dt
                                 : Vec3::zero();
  }
};

/// Scripted nodes get the velocity of their script.
void set_scripted(Context& ctx, std::size_t n, const std::uint8_t* held, const Vec3* scripted,
                  Vec3* velocity) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) {
    if (held[i]) velocity[i] = scripted[i];
  });
}

/// residual = (f + J - residual) / dt^2, zero at scripted nodes; `impulse` J may be null.
void subtract_from_load(Context& ctx, std::size_t n, const std::uint8_t* held, const Vec3* f,
                        const Vec3* impulse, Real per_dt2, Vec3* residual) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) {
    const Vec3 push = impulse != nullptr ? f[i] + impulse[i] : f[i];
    residual[i] = held[i] ? Vec3::zero() : per_dt2 * push - residual[i];
  });
}

/// residual = (impulse - before) / dt^2.
void set_difference(Context& ctx, std::size_t n, const std::uint8_t* held, const Vec3* impulse,
                    const Vec3* before, Real per_dt2, Vec3* residual) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) {
    residual[i] = held[i] ? Vec3::zero() : per_dt2 * (impulse[i] - before[i]);
  });
}

}  // namespace

void ElasticSolids::load(Context& ctx, const Model& whole) {
  part_ = elastic_part(whole);
  if (empty()) return;
  place_.assign(whole.node_count(), -1);
  for (std::size_t i = 0; i < part_.node.size(); ++i) place_[part_.node[i]] = static_cast<std::int32_t>(i);
  const Model& m = part_.model;
  node_.upload(ctx, part_.node);
  device_.upload(ctx, m);
  energy_.load(ctx, m);
  for (KnownEnergy& known : known_energies_) known.asked = 0;
  embedding_.load(ctx, m);
  matrix_.set_pattern(ctx, m.node_count(), energy_.stencils(), embedding_.empty() ? nullptr : &embedding_);
  for (MatrixSolver* of : {&plain_, &weighted_}) {
    of->linear.set_positions(chosen_nodes(whole.positions, part_.node));
    of->linear.set_chains(rod_chains(m));
  }
  modes_.load(ctx, deformable_ranges(m));
  weighted_modes_.load(ctx, deformable_ranges(m));
  plain_.linear.set_modes(&modes_);
  weighted_.linear.set_modes(&weighted_modes_);
  affine_modes_.load(ctx, control_ranges(m));
  const std::size_t n = size();
  for (Buffer<Vec3>* b : {&x, &v, &load_, &script_, &gradient_, &residual_, &change_, &saved_x_, &saved_v_,
                          &rigid_x_, &rigid_v_, &trial_})
    b->resize(ctx, n);
  corners_.resize(ctx, 4 * energy_.size());
  blocks_.resize(ctx, kCornerBlocks * energy_.size());
  inertia_.resize(ctx, n);
  resistance_.resize(ctx, n);
  number_.resize(ctx, 1);
  resize_cleared(ctx, error_, 1);
  sums_.resize(ctx, 1);
  prediction_.load(ctx, device_);
  strands_.load(ctx, m);
  if (has_open_rods_alone(m)) splitting_.load(ctx, m);
  for (Buffer<Vec3>* b : {&first_x_, &first_v_}) b->resize(ctx, strands_.empty() ? 0 : n);
  air_faces_.upload(ctx, air_faces(m));
  group_.upload(ctx, spring_groups(m));
  tied_.upload(ctx, tied_to_world(m));
  set_masses(ctx);
}

/// An impulse at a node of an affine body acts on its control nodes, each with a quarter of the mass m:
/// 1 / resistance = sum_k w_k^2 / (m / 4). What holds the body in shape resists too, but not rigid motions.
void ElasticSolids::set_masses(Context& ctx) {
  follows_.clear();
  if (embedding_.empty()) return;
  follows_.resize(size());
  std::vector<double> resistance(size(), 0.0), masses;
  for (const Object& object : part_.model.objects) {
    if (object.is_embedded())
      for (const LatticeFollower& f : followers(part_.model, object))
        follows_[static_cast<std::size_t>(f.node)] = {f.controls, f.weights};
    if (!object.is_affine()) continue;
    const double mass = part_.model.materials[static_cast<std::size_t>(object.material)].density *
                        solid_volume(part_.model, object);
    masses.push_back(mass);
    const std::vector<Vec<double, 4>> weights = control_weights(part_.model, object);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const std::size_t node = static_cast<std::size_t>(object.node_begin) + i;
      follows_[node].controls = leaders_of(control_tet(object));
      for (int k = 0; k < 4; ++k) follows_[node].weights[k] = weights[i][k];
      resistance[node] = 0.25 * mass / norm2(weights[i]);
    }
  }
  affine_resistance_.upload(ctx, resistance);
  affine_mass_.upload(ctx, masses);
}

void ElasticSolids::set_materials(Context& ctx, const Model& whole) {
  if (empty()) return;
  part_.model.materials = whole.materials;
  part_.model.half_spaces = whole.half_spaces;
  device_.upload_materials(ctx, part_.model);
  energy_.set_materials(ctx, part_.model.materials);
  for (KnownEnergy& known : known_energies_) known.asked = 0;
  air_faces_.upload(ctx, air_faces(part_.model));
  set_masses(ctx);
}

void ElasticSolids::set_state(Context& ctx, const std::vector<Vec3d>& positions,
                              const std::vector<Vec3d>& velocities, double time, double dt) {
  if (empty()) return;
  x.upload(ctx, chosen_nodes(positions, part_.node));
  v.upload(ctx, chosen_nodes(velocities, part_.node));
  embedding_.expand(ctx, x.data());
  embedding_.expand(ctx, v.data());
  device_.forget_acting(ctx);
  device_.select_acting(ctx, part_.model, time, dt, x.data());
}

void ElasticSolids::place_nodes(Context& ctx, Vec3* all_x, Vec3* all_v) const {
  const std::int32_t* node = node_.data();
  const Vec3 *from_x = x.data(), *from_v = v.data();
  launch(ctx, size(), [=] SS_LAMBDA(std::size_t i) {
    all_x[node[i]] = from_x[i];
    all_v[node[i]] = from_v[i];
  });
}

void ElasticSolids::save(Context& ctx) {
  copy(ctx, saved_x_.data(), x.data(), size());
  copy(ctx, saved_v_.data(), v.data(), size());
}

void ElasticSolids::restore(Context& ctx) {
  copy(ctx, x.data(), saved_x_.data(), size());
  copy(ctx, v.data(), saved_v_.data(), size());
}

/// The mouse spring acts at the dragged point of the triangle; each corner gets its share by weight.
SolidPull ElasticSolids::attach(Context& ctx, const Params& params, const std::optional<Drag>& drag) const {
  SolidPull pull;
  if (!drag) return pull;
  Vec3d point{0, 0, 0};
  for (int c = 0; c < 3; ++c) {
    const std::int32_t node = place_[static_cast<std::size_t>(drag->triangle[c])];
    if (node < 0) return {};
    pull.nodes[c] = node;
    pull.targets[c] = read_back(ctx, x.data() + node).template cast<double>();
    point += drag->weights[c] * pull.targets[c];
  }
  for (Vec3d& target : pull.targets) target += drag->target - point;
  pull.weights = drag->weights;
  pull.stiffness = params.drag_stiffness;
  return pull;
}

void ElasticSolids::begin_step(Context& ctx, const Params& params, const std::optional<Drag>& drag,
                               double time) {
  params_ = params;
  time_ = time;
  has_added_ = has_split_ = false;
  device_.select_acting(ctx, part_.model, time, params.dt, x.data());
  pull_ = attach(ctx, params, drag);
  wind_ = wind_at(params, time + params.dt);
  energy_.set_wind(wind_);
  prediction_.predict(ctx, device_, x.data(), v.data(), params.dt, rigid_x_.data(), rigid_v_.data());
  if (!strands_.empty()) {
    copy(ctx, first_x_.data(), rigid_x_.data(), size());
    copy(ctx, first_v_.data(), rigid_v_.data(), size());
    strands_.predict(ctx, device_, x.data(), v.data(), params.dt, first_x_.data(), first_v_.data());
  }
  linearise_first(ctx, time);
}

/// A / dt^2, and grad Psi at `at` = x_t + dt `guess`, less dt (K + C / dt) `guess`. Damping acts on strains
/// that differ from those of `still`; its Hessian is C / dt.
void ElasticSolids::assemble(Context& ctx, const Vec3* at, const Vec3* guess, const Vec3* still,
                             const AirMotion& air) {
  const Span span(ctx, "elastic assembly");
  plain_.solved = weighted_.solved = false;
  for (KnownProduct& known : known_) known.at = 0;
  assembled_at_ = at;
  plain_.linear.set_current_positions(at);
  weighted_.linear.set_current_positions(at);
  LinearSolver::prepare(matrix_, params_);
  air_ = air;
  energy_.gradient_and_hessian(
      ctx, {at, still, static_cast<Real>(params_.dt), nullptr, false, air, saved_x_.data()},
      {0, energy_.size()}, corners_.data(), blocks_.data());
  matrix_.assemble(ctx, blocks_.data());
  fill(ctx, gradient_.data(), size(), Vec3::zero());
  add_corners(ctx, matrix_.element_gather(), corners_.data(), gradient_.data());
  matrix_.multiply(ctx, guess, residual_.data());
  subtract(ctx, size(), static_cast<Real>(params_.dt), residual_.data(), gradient_.data());

  const double dt2 = params_.dt * params_.dt;
  set_inertia(ctx, size(), device_.mass.data(), dt2, pull_, inertia_.data());
  matrix_.add_diagonal(ctx, inertia_.data());
  if (!embedding_.empty()) matrix_.set_stencils(ctx, nullptr, 0, nullptr);  // the blocks of affine bodies
  set_resistance(ctx, size(), device_.scripted.data(), matrix_.diagonal(), dt2, affine_resistance_.data(),
                 resistance_.data());
  embedding_.follow_resistance(ctx, resistance_.data());
  has_modes_ = is_weighted_ = false;
  affine_modes_.build(ctx, matrix_, at, device_.scripted.data());
}

/// `at`: the positions at the start of the step.
void ElasticSolids::set_load(Context& ctx, double time, const Vec3* at) {
  poses_.upload(ctx, script_poses(part_.model, time + params_.dt));
  launch(ctx, size(),
         LoadWriter{
             .pose = poses_.data(),
             .script = device_.node_script.data(),
             .anchor = device_.anchor.data(),
             .force = device_.acceleration.data(),
             .at = at,
             .before = v.data(),
             .gradient = gradient_.data(),
             .mass = device_.mass.data(),
             .dt = static_cast<Real>(params_.dt),
             .g = static_cast<Real>(params_.gravity),
             .pull = pull_,
             .out = load_.data(),
             .scripted = script_.data(),
         });
  follow_frames(ctx, time + params_.dt, at);
  embedding_.reduce(ctx, load_.data());
  if (has_added_) subtract(ctx, size(), Real(-1), added_.data(), load_.data());
  // Contacts are found with the velocities that scripts have in this step.
  set_scripted(ctx, size(), device_.scripted.data(), script_.data(), v.data());
  if (embedding_.has_lattices()) embedding_.expand(ctx, v.data());
}

void ElasticSolids::add_load(Context& ctx, const Vec3* at_nodes) {
  given_.resize(ctx, size());
  copy(ctx, given_.data(), at_nodes, size());
  embedding_.reduce(ctx, given_.data());
  subtract(ctx, size(), Real(-1), given_.data(), load_.data());
  added_.resize(ctx, size());
  if (has_added_) subtract(ctx, size(), Real(-1), given_.data(), added_.data());
  else copy(ctx, added_.data(), given_.data(), size());
  has_added_ = true;
}

void ElasticSolids::follow_frames(Context& ctx, double time, const Vec3* at) {
  for (const ScriptedNodes& script : part_.model.scripted) {
    if (script.frames.empty()) continue;
    frame_nodes_.upload(ctx, script.nodes);
    frame_targets_.upload(ctx, frame_positions(part_.model, script, time));
    set_frame_velocities(ctx, script.nodes.size(), frame_nodes_.data(), frame_targets_.data(), at,
                         static_cast<Real>(params_.dt), script_.data());
  }
}

double ElasticSolids::residual_size(Context& ctx, const Vec3* impulse, Vec3* velocity) {
  correct(ctx, impulse, velocity);
  return measure_residual(ctx);
}

double ElasticSolids::measure_residual(Context& ctx) {
  reduce_sum(
      ctx, size(),
      ResidualSquare{residual_.data(), resistance_.data(), params_.dt * params_.dt * params_.dt * params_.dt},
      number_.data(), kMedium);
  return std::sqrt(read_back(ctx, number_.data()));
}

void ElasticSolids::fall(Context& ctx, Vec3* velocity) const {
  const std::uint8_t* held = device_.scripted.data();
  const Vec3* acceleration = device_.acceleration.data();
  const Real dt = static_cast<Real>(params_.dt), g = static_cast<Real>(params_.gravity);
  launch(ctx, size(), [=] SS_LAMBDA(std::size_t i) {
    if (!held[i]) velocity[i] += dt * (Vec3{0, g, 0} + acceleration[i]);
  });
  embedding_.expand(ctx, velocity);
}

PcgResult ElasticSolids::solve(Context& ctx, const Vec3* impulse, Vec3* velocity, double tolerance,
                               double reference) {
  correct(ctx, impulse, velocity);
  PcgResult refined;
  double left = 0;
  if (reference > 0) {
    left = measure_residual(ctx);
    if (left <= tolerance * reference) return {.stop = PcgStop::converged};
  }
  if (refine(ctx, impulse, velocity, tolerance, reference, left, refined)) return refined;
  build_modes(ctx);
  if (reference > 0) {
    constexpr double kMost = 0.5;
    tolerance = std::min(kMost, tolerance * reference / left);
  }
  Params params = params_;
  params.pcg_tolerance = tolerance;
  MatrixSolver& own = solver();
  PcgResult result = own.linear.solve(ctx, matrix_, residual_.data(), change_.data(), params,
                                      device_.scripted.data(), std::exchange(own.solved, true));
  // Residuals of badly conditioned solids stay the same for hundreds of iterations, and fall again.
  if (result.stop == PcgStop::stagnated)
    while (result.residual > tolerance && own.linear.resume(ctx, kMoreIterations, params, result)) {
    }
  add_change(ctx, velocity);
  result.iterations += refined.iterations;
  return result;
}

/// Iterative refinement, where the preconditioner is the inverse but for rounding: an iteration solves with
/// it once, one of PCG twice. `left`: the residual (measure_residual), needed with a `reference` and kept up
/// to date. Whether it fell far enough.
bool ElasticSolids::refine(Context& ctx, const Vec3* impulse, Vec3* velocity, double tolerance,
                           double reference, double& left, PcgResult& result) {
  constexpr int kMost = 4;
  MatrixSolver& own = solver();
  if (!own.solved) own.left_by_inverse = -1;
  for (int i = 0; i < kMost; ++i) {
    if (!own.linear.apply_inverse(ctx, matrix_, residual_.data(), change_.data(), params_,
                                  device_.scripted.data(), own.solved))
      return false;
    own.solved = true;
    if (reference == 0) reference = left = measure_residual(ctx);
    add_change(ctx, velocity);
    correct(ctx, impulse, velocity);
    const double before = std::exchange(left, measure_residual(ctx));
    if (before > 0) own.left_by_inverse = std::max(own.left_by_inverse, left / before);
    ++result.iterations;
    result.residual = reference > 0 ? static_cast<Real>(left / reference) : Real(0);
    result.stop = PcgStop::converged;
    if (left <= tolerance * reference) return true;
    if (!(left < 0.1 * before)) return false;
  }
  return false;
}

bool ElasticSolids::follow(Context& ctx, const Vec3* before, const Vec3* impulse, Vec3* velocity) {
  MatrixSolver& own = solver();
  if (!own.solved || !(own.left_by_inverse >= 0 && own.left_by_inverse <= kMostLeft) || !embedding_.empty())
    return false;
  set_difference(ctx, size(), device_.scripted.data(), impulse, before,
                 static_cast<Real>(1 / (params_.dt * params_.dt)), residual_.data());
  if (!own.linear.apply_inverse(ctx, matrix_, residual_.data(), change_.data(), params_,
                                device_.scripted.data(), true))
    return false;
  add_change(ctx, velocity);
  return true;
}

/// What PCG and `balance` need beside the matrix; direct solves do without.
void ElasticSolids::build_modes(Context& ctx) {
  bool& has = is_weighted_ ? has_weighted_modes_ : has_modes_;
  if (std::exchange(has, true)) return;
  (is_weighted_ ? weighted_modes_ : modes_).build(ctx, matrix_, assembled_at_, device_.scripted.data());
}

void ElasticSolids::add_change(Context& ctx, Vec3* velocity) {
  subtract(ctx, size(), Real(-1), change_.data(), velocity);
  embedding_.expand(ctx, velocity);
}

void ElasticSolids::balance(Context& ctx, const Vec3* impulse, Vec3* velocity) {
  correct(ctx, impulse, velocity);
  build_modes(ctx);
  modes_.balance(ctx, residual_.data(), velocity);
  affine_modes_.balance(ctx, residual_.data(), velocity);
  embedding_.expand(ctx, velocity);
}

/// A / dt^2 times v. A step measures residuals of the same few velocities (those of its start and its end,
/// and those without impulses) several times, with other impulses: on processors the last products are kept.
void ElasticSolids::multiply(Context& ctx, const Vec3* velocity, Vec3* out) {
#if !STICKSLIP_ON_CUDA
  if (!is_weighted_) {
    KnownProduct* oldest = known_;
    for (KnownProduct& known : known_) {
      if (known.at > 0 && std::memcmp(known.velocity.data(), velocity, size() * sizeof(Vec3)) == 0) {
        known.at = ++products_;
        return copy(ctx, out, known.product.data(), size());
      }
      if (known.at < oldest->at) oldest = &known;
    }
    matrix_.multiply(ctx, velocity, out);
    for (Buffer<Vec3>* b : {&oldest->velocity, &oldest->product}) b->resize(ctx, size());
    copy(ctx, oldest->velocity.data(), velocity, size());
    copy(ctx, oldest->product.data(), out, size());
    oldest->at = ++products_;
    return;
  }
#endif
  matrix_.multiply(ctx, velocity, out);
}

/// (f + J - A v) / dt^2, after scripted nodes have their velocities.
void ElasticSolids::correct(Context& ctx, const Vec3* impulse, Vec3* velocity) {
  const std::uint8_t* held = device_.scripted.data();
  set_scripted(ctx, size(), held, script_.data(), velocity);
  multiply(ctx, velocity, residual_.data());
  const Real per_dt2 = static_cast<Real>(1 / (params_.dt * params_.dt));
  subtract_from_load(ctx, size(), held, load_.data(), impulse, per_dt2, residual_.data());
  embedding_.reduce(ctx, residual_.data());
}

void ElasticSolids::advance(Context& ctx, double dt) {
  Vec3* at = x.data();
  const Vec3* velocity = v.data();
  const Real step = static_cast<Real>(dt);
  launch(ctx, size(), [=] SS_LAMBDA(std::size_t i) { at[i] += step * velocity[i]; });
  embedding_.expand(ctx, at);
}

void ElasticSolids::node_stiffness(Context& ctx, std::vector<float>& out) const {
  if (resistance_.size() == 0) return;
  const std::vector<double> resistance = resistance_.download(ctx);
  out.reserve(place_.size());
  for (const std::int32_t place : place_) {
    const double mass = place >= 0 ? resistance[static_cast<std::size_t>(place)] : 0;
    out.push_back(mass > 0 ? static_cast<float>(mass / (params_.dt * params_.dt)) : -1.0F);
  }
}

SolidSums ElasticSolids::sums(Context& ctx, double gravity) {
  const Vec3 *at = x.data(), *velocity = v.data();
  const Real* mass = device_.mass.data();
  const std::uint8_t* held = device_.scripted.data();
  reduce(
      ctx, size(),
      [=] SS_LAMBDA(std::size_t i) {
        SolidSums s;
        if (held[i]) return s;
        const Vec3d p = at[i].template cast<double>(), u = velocity[i].template cast<double>();
        const double m = static_cast<double>(mass[i]);
        s.kinetic = 0.5 * m * norm2(u);
        s.gravity = -m * gravity * p[1];
        s.momentum = m * u;
        s.angular = cross(p, s.momentum);
        s.nodes = 1;
        return s;
      },
      AddSolidSums{}, SolidSums{}, sums_.data(), kMedium);
  return read_back(ctx, sums_.data());
}

std::size_t ElasticSolids::follower_count() const {
  return static_cast<std::size_t>(std::ranges::count_if(follows_, &FollowingNode::follows));
}

double ElasticSolids::elastic_energy(Context& ctx) {
  launch_energy(ctx, x.data(), number_.data());
  return read_back(ctx, number_.data());
}

/// *out = Psi(at). A step asks for that of its start and twice for that of its end, which is the start of the
/// next one: on processors the last two are kept.
void ElasticSolids::launch_energy(Context& ctx, const Vec3* at, double* out) {
  const SolidMotion still{at, at, static_cast<Real>(params_.dt)};
#if !STICKSLIP_ON_CUDA
  KnownEnergy* oldest = known_energies_;
  for (KnownEnergy& known : known_energies_) {
    if (known.asked > 0 && std::memcmp(known.at.data(), at, size() * sizeof(Vec3)) == 0) {
      known.asked = ++energies_;
      *out = known.energy;
      return;
    }
    if (known.asked < oldest->asked) oldest = &known;
  }
  energy_.energy(ctx, still, out);
  oldest->at.resize(ctx, size());
  copy(ctx, oldest->at.data(), at, size());
  oldest->energy = *out;
  oldest->asked = ++energies_;
#else
  energy_.energy(ctx, still, out);
#endif
}

double ElasticSolids::min_volume_ratio(Context& ctx) {
  energy_.min_determinant(ctx, x.data(), false, number_.data());
  return read_back(ctx, number_.data());
}

int ElasticSolids::count_inverted(Context& ctx) {
  energy_.count_inverted(ctx, x.data(), number_.data());
  return static_cast<int>(read_back(ctx, number_.data()));
}

}  // namespace stickslip::STICKSLIP_BACKEND
