#include "gpu/barrier/incremental_potential.cuh"

#include <algorithm>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/model/affine.h"
#include "gpu/model/element_group.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

constexpr std::size_t kMostBatches = 16;  // each walks the whole pattern

/// [kg] per node: by ghosts of rods, the mass of their segment. A script pulls a ghost as firmly as the
/// segment: its own mass is that of the segment's twist, which may vanish. Empty without rods.
std::vector<Real> pulled_masses(const Model& model, const DeviceModel& device, Context& ctx) {
  if (std::ranges::none_of(model.objects, &Object::is_rods)) return {};
  std::vector<Real> masses = device.mass.download(ctx);
  for (const Object& object : model.objects) {
    if (!object.is_rods()) continue;
    const double line = model.materials[object.material].density *
                        rod_section(object.thickness, object.aspect).area;  // [kg/m]
    for (std::int32_t s = object.segment_begin; s < object.segment_end; ++s) {
      const Vec2i& ends = model.segments[s];
      masses[rod_ghost(object, s)] =
          static_cast<Real>(line * norm(model.rest_positions[ends[1]] - model.rest_positions[ends[0]]));
    }
  }
  return masses;
}

/// Writes the gradient of inertia and springs at x to g; `inertia` is 1 / (beta dt^2), `pulled` as
/// pulled_masses.
void set_node_gradients(Context& ctx, const DeviceModel& device, const StepInputs& in, Real inertia,
                        const Real* pulled, const Vec3* x, Vec3* g) {
  const Real* mass = device.mass.data();
  const std::uint8_t* scripted = device.scripted.data();
  launch(ctx, device.node_count, [=] SS_LAMBDA(std::size_t i) {
    Vec3 sum = scripted[i] ? in.script_stiffness * inertia * pulled[i] * (x[i] - in.target[i])
                           : inertia * mass[i] * (x[i] - in.y[i]);
    for (int c = 0; c < 3; ++c)
      if (in.drag.nodes[c] == static_cast<std::int32_t>(i))
        sum += in.drag.weights[c] * in.drag.stiffness * (x[i] - in.drag.targets[c]);
    g[i] = sum;
  });
}

/// Adds the corners of `elements`, whose first is element_corner[0], to g.
void add_element_corners(Context& ctx, const NodeGather& gather, IndexRange elements,
                         const Vec3* element_corner, Vec3* g) {
  const std::size_t first = 4 * elements.begin;
  gather.sum(
      ctx,
      [=] SS_LAMBDA(std::size_t corner) {
        return elements.has(corner / 4) ? element_corner[corner - first] : Vec3::zero();
      },
      g);
}

/// Of node i with the gradients `e` without the barrier and b per unit of sigma: e . b, |b|^2, and the mass
/// of nodes that embedded nodes follow.
struct StartingSums {
  const Vec3 *e, *b;
  const Real* mass;
  const std::uint8_t* fixed;
  EmbeddingView embedding;

  SS_HD Vec<double, 3> operator()(std::size_t i) const {
    const double b2 = static_cast<double>(norm2(b[i]));
    if (fixed[i] || b2 == 0) return Vec<double, 3>::zero();
    const bool leads = embedding.index != nullptr && embedding.leads(static_cast<std::int32_t>(i));
    return {static_cast<double>(dot(b[i], e[i])), b2, leads ? static_cast<double>(mass[i]) : 0.0};
  }
};

/// Of node i, before embedded nodes are reduced: its mass, b . (its way without forces), |b|.
struct ApproachSums {
  const Vec3* b;
  const Real* mass;
  const std::uint8_t* fixed;
  const Vec3 *x_t, *y, *target;

  SS_HD Vec<double, 3> operator()(std::size_t i) const {
    const double size = static_cast<double>(norm(b[i]));
    if (size == 0) return Vec<double, 3>::zero();
    const Vec3 way = (fixed[i] ? target[i] : y[i]) - x_t[i];
    return {fixed[i] ? 0.0 : static_cast<double>(mass[i]), static_cast<double>(dot(b[i], way)), size};
  }
};

}  // namespace

template <class F>
void IncrementalPotential::for_batches(F work) const {
  std::size_t begin = 0;
  do {
    const std::size_t end = std::min(elastic_.size(), begin + batch_);
    work(IndexRange{begin, end});
    begin = end;
  } while (begin < elastic_.size());
}

void IncrementalPotential::load(Context& ctx, const Model& model, const DeviceModel& device,
                                std::size_t smallest_batch, std::size_t most_kept) {
  device_ = &device;
  is_linearised_ = false;
  embedding_.load(ctx, model);
  elastic_.load(ctx, model);
  constraints_.load(ctx, model);
  pulled_mass_.upload(ctx, pulled_masses(model, device, ctx));
  hessian_.set_pattern(ctx, model.node_count(), elastic_.stencils(),
                       embedding_.empty() ? nullptr : &embedding_);

  fixed_.resize(ctx, device.node_count);
  gradient_.resize(ctx, device.node_count);
  barrier_gradient_.resize(ctx, device.node_count);
  node_diagonal_.resize(ctx, device.node_count);
  keeps_blocks_ = elastic_.size() <= most_kept;
  knows_blocks_ = false;
  batch_ = keeps_blocks_
               ? elastic_.size()
               : std::min(elastic_.size(),
                          std::max(smallest_batch, (elastic_.size() + kMostBatches - 1) / kMostBatches));
  renewed_.resize(ctx, keeps_blocks_ ? batch_ : 0);
  element_corners_.resize(ctx, 4 * batch_);
  element_blocks_.resize(ctx, kCornerBlocks * batch_);
  values_.resize(ctx, term_count);
  starting_.resize(ctx, 1);
}

void IncrementalPotential::set_materials(Context& ctx, const Model& model) {
  knows_blocks_ = false;
  pulled_mass_.upload(ctx, pulled_masses(model, *device_, ctx));
  elastic_.set_materials(ctx, model.materials);
}

void IncrementalPotential::set_rigidity(Context& ctx, const Model& model, double factor) {
  elastic_.set_rigidity(factor);
  set_materials(ctx, model);
}

void IncrementalPotential::begin_step(Context& ctx, const StepInputs& inputs,
                                      const ContactSettings& contact) {
  inputs_ = inputs;
  if (!inputs.still) {
    inputs_.still = inputs.x_t;
    inputs_.velocity_dt = inputs.dt;
  }
  elastic_.set_wind(inputs.wind);
  elastic_.begin_step();
  knows_blocks_ = false;
  contacts_.begin_step(contact, inputs_.still);
  constraints_.begin_step(ctx, inputs.dt, inputs.x_t);
  const std::uint8_t* scripted = device_->scripted.data();
  const std::int32_t* script_of = device_->node_script.data();
  const std::uint8_t* moves = device_->script_moves.data();
  const bool blocked = inputs.scripts_blocked;
  const Real *mass = device_->mass.data(), *pulled = pulled_mass();
  Real* diagonal = node_diagonal_.data();
  std::uint8_t* fixed = fixed_.data();
  const Real inertia = inverse_beta_dt2();
  const Real script = inputs.script_stiffness * inertia;
  const DragSpring drag = inputs.drag;
  launch(ctx, device_->node_count, [=] SS_LAMBDA(std::size_t i) {
    fixed[i] = scripted[i] && !(blocked && moves[script_of[i]]);
    diagonal[i] = scripted[i] ? script * pulled[i] : inertia * mass[i];
    for (int c = 0; c < 3; ++c)
      if (drag.nodes[c] == static_cast<std::int32_t>(i)) diagonal[i] += drag.weights[c] * drag.stiffness;
  });
}

IncrementalPotential::Values IncrementalPotential::values(Context& ctx, const Proximity& near,
                                                          const Vec3* x) {
  launch_values(ctx, near, x, values_.data());
  Values host;
  copy_to_host(ctx, host.data(), values_.data(), term_count);
  return host;
}

void IncrementalPotential::launch_contact_values(Context& ctx, const Proximity& near, const Vec3* x,
                                                 double* out) {
  contacts_.current_values(ctx, near, x, out + barrier, out + augmentation, out + friction);
}

void IncrementalPotential::launch_values(Context& ctx, const Proximity& near, const Vec3* x, double* out) {
  const std::size_t n = device_->node_count;
  const StepInputs in = inputs_;
  const Real *mass = device_->mass.data(), *pulled = pulled_mass();
  const std::uint8_t* scripted = device_->scripted.data();
  const std::uint8_t* fixed = fixed_.data();
  const double half_inertia = 0.5 / (double(in.beta) * in.dt * in.dt);
  reduce_sum(
      ctx, n,
      [=] SS_LAMBDA(std::size_t i) {
        return scripted[i] ? 0.0 : half_inertia * mass[i] * norm2((x[i] - in.y[i]).template cast<double>());
      },
      out + inertia);
  elastic_.energy(ctx, motion(x), out + elastic);
  contacts_.values(ctx, near, x, out + barrier, out + augmentation, out + friction);
  reduce_sum(
      ctx, n,
      [=] SS_LAMBDA(std::size_t i) {
        double value = 0;
        if (scripted[i] && !fixed[i])
          value = in.script_stiffness * half_inertia * pulled[i] *
                  norm2((x[i] - in.target[i]).template cast<double>());
        for (int c = 0; c < 3; ++c)
          if (in.drag.nodes[c] == static_cast<std::int32_t>(i))
            value += 0.5 * in.drag.weights[c] * in.drag.stiffness * norm2(x[i] - in.drag.targets[c]);
        return value;
      },
      out + springs);
  if (!constraints_.empty()) constraints_.add_value(ctx, x, out + springs);
}

void IncrementalPotential::linearise_elements(Context& ctx, const Vec3* x, Real kept_share) {
  const NodeGather& gather = hessian_.element_gather();
  Vec3* corners = element_corners_.data();
  Mat3* blocks = element_blocks_.data();
  if (!keeps_blocks_)
    return for_batches([&](IndexRange elements) {
      elastic_.gradient_and_hessian(ctx, motion(x), elements, corners, blocks);
      hessian_.assemble_batch(ctx, blocks, elements);
      add_element_corners(ctx, gather, elements, corners, gradient_.data());
    });
  elastic_.relinearise(ctx, motion(x), corners, {blocks, renewed_.data(), knows_blocks_, kept_share});
  hessian_.assemble_renewed(ctx, blocks, renewed_.data(), knows_blocks_);
  add_element_corners(ctx, gather, {0, elastic_.size()}, corners, gradient_.data());
  knows_blocks_ = true;
}

void IncrementalPotential::linearise(Context& ctx, const Vec3* x, Real kept_share) {
  set_node_gradients(ctx, *device_, inputs_, inverse_beta_dt2(), pulled_mass(), x, gradient_.data());
  linearise_elements(ctx, x, kept_share);
  contacts_.linearise(ctx, x, constraints_.share_count());
  if (!constraints_.empty())
    constraints_.linearise(ctx, x, contacts_.extra_nodes(), contacts_.extra_gradients(),
                           contacts_.extra_blocks());

  hessian_.add_diagonal(ctx, node_diagonal_.data());
  hessian_.set_stencils(ctx, contacts_.stencil_nodes(), contacts_.stencil_count(), contacts_.corner_blocks());
  const Vec3* contact_corner = contacts_.corner_gradients();
  hessian_.stencil_gather().sum(
      ctx, [=] SS_LAMBDA(std::size_t corner) { return contact_corner[corner]; }, gradient_.data());
  embedding_.reduce(ctx, gradient_.data());
  is_linearised_ = true;
}

void IncrementalPotential::node_stiffness(Context& ctx, std::vector<float>& out) const {
  if (!is_linearised_) return;
  hessian_.node_stiffness(ctx, out);
  const std::vector<std::uint8_t> fixed = fixed_.download(ctx);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (fixed[i] != 0) out[i] = -1;
}

void IncrementalPotential::friction_change(Context& ctx, const Vec3* x, const Vec3* p, Vec3* out) {
  fill(ctx, out, device_->node_count, Vec3::zero());
  contacts_.friction_change(ctx, x, p);
  const std::size_t corners = 4 * contacts_.set().size();
  const Vec3* change = contacts_.corner_changes();
  hessian_.stencil_gather().sum(
      ctx, [=] SS_LAMBDA(std::size_t corner) { return corner < corners ? change[corner] : Vec3::zero(); },
      out);
  embedding_.reduce(ctx, out);
  const std::uint8_t* fixed = fixed_.data();
  launch(ctx, device_->node_count, [=] SS_LAMBDA(std::size_t i) {
    if (fixed[i]) out[i] = Vec3::zero();
  });
}

IncrementalPotential::StartingBarrier IncrementalPotential::starting_barrier(Context& ctx, const Vec3* x) {
  if (contacts_.set().size() == 0) return {};
  const std::size_t n = device_->node_count;
  set_node_gradients(ctx, *device_, inputs_, inverse_beta_dt2(), pulled_mass(), x, gradient_.data());
  for_batches([&](IndexRange elements) {
    elastic_.gradient(ctx, motion(x), elements, element_corners_.data());
    add_element_corners(ctx, hessian_.element_gather(), elements, element_corners_.data(), gradient_.data());
  });

  if (!constraints_.empty()) constraints_.add_gradient(ctx, x, gradient_.data());

  contacts_.barrier_gradients(ctx, x);
  contact_gather_.build(ctx, contacts_.stencil_nodes(), contacts_.stencil_count(), n);
  Vec3* gb = barrier_gradient_.data();
  fill(ctx, gb, n, Vec3::zero());
  const Vec3* contact_corner = contacts_.corner_gradients();
  contact_gather_.sum(
      ctx, [=] SS_LAMBDA(std::size_t corner) { return contact_corner[corner]; }, gb);
  Starting* out = starting_.data();
  const Real* mass = device_->mass.data();
  reduce_sum(ctx, n, ApproachSums{gb, mass, fixed_.data(), inputs_.x_t, inputs_.y, inputs_.target},
             &out->approach);
  embedding_.reduce(ctx, gradient_.data());
  embedding_.reduce(ctx, gb);
  reduce_sum(ctx, n,
             StartingSums{gradient_.data(), gb, mass, fixed_.data(),
                          embedding_.empty() ? EmbeddingView{} : embedding_.view()},
             &out->sums);
  contacts_.barrier_energy(ctx, x, Real(1), &out->energy);
  const Starting at = read_back(ctx, starting_.data());
  if (!(at.sums[1] > 0)) return {};
  const double moved = at.approach[0] + at.sums[2];
  return {-at.sums[0] / at.sums[1], moved > 0 ? at.energy / moved : 0,
          std::max(0.0, at.approach[1] / at.approach[2])};
}

void IncrementalPotential::launch_elastic_state(Context& ctx, const Vec3* x, double* energy,
                                                double* volume_ratio_min, double* inverted) {
  // At x_t = x the damping vanishes.
  elastic_.energy(ctx, {x, x, inputs_.dt}, energy);
  elastic_.min_determinant(ctx, x, false, volume_ratio_min);
  elastic_.count_inverted(ctx, x, inverted);
}

bool IncrementalPotential::is_inverted(Context& ctx, const Vec3* x) {
  if (!elastic_.forbids_inversion()) return false;
  elastic_.min_determinant(ctx, x, true, values_.data());
  return !(read_back(ctx, values_.data()) > 0);
}

}  // namespace stickslip::STICKSLIP_BACKEND
