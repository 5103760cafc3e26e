#include "gpu/barrier/contact_terms.cuh"

#include <algorithm>
#include <limits>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

// A contact whose force is below this share of a mean node's weight is shown as open.
constexpr Real kNoticeableForce = Real(1e-3);

/// Writes the record of one contact of A or, behind those, of A'.
struct ContactRecorder {
  Proximity near;
  const Contact* contact;         // of A, then of A'
  std::size_t active;             // of A
  const std::int32_t* candidate;  // of A: the index of the contact's pair in `near`
  const AugmentedPair* augmented;
  const std::uint64_t* keys;  // of `augmented`
  std::size_t augmented_count;
  const std::int32_t* object;  // per node
  const Vec3 *x, *v;
  Real sigma, d_hat, constraint_gap, eps_v, noticeable;
  const float* errors;  // per contact; null: not known
  ContactRecord* record;

  SS_HD void operator()(std::size_t i) const {
    const Contact c = contact[i];
    const ContactStencil stencil = stencil_at(c, near.planes, x);
    const ClosestPoints closest = closest_points(stencil);
    const CornerVectors velocity = gather_corners(c.nodes, v);
    Vec3 point = Vec3::zero(), slip = Vec3::zero();
    std::int32_t b_node = -1;
    for (int k = 0; k < node_count(c.type); ++k) {
      if (closest.weights[k] > 0) point += closest.weights[k] * stencil.x[k];
      if (closest.weights[k] < 0) b_node = c.nodes[k];
      slip += closest.weights[k] * velocity[k];
    }
    slip -= dot(slip, closest.normal) * closest.normal;
    const auto force_of = [&](bool is_augmented, Real m) {
      const ContactPotential potential = potential_of(c, d_hat, sigma, constraint_gap, is_augmented, m);
      return make_friction_stencil(stencil, potential, Real(1)).mu_lambda;
    };
    // A stencil of A' adds its force to the record of its pair in A; beyond d_hat, without such a
    // pair, it gets its own record.
    const bool is_active = i < active;
    const ContactPair pair =
        is_active ? near[static_cast<std::size_t>(candidate[i])] : augmented[i - active].pair;
    const std::int32_t at =
        is_active ? find_pair(augmented, keys, augmented_count, pair) : static_cast<std::int32_t>(i - active);
    Real force = force_of(!is_active, Real(0));
    if (!is_active && constraint_gap > 0) force = 0;
    if (at >= 0) force += force_of(true, augmented[at].multiplier);
    ContactRecord r;
    r.name = pair_key(pair);
    r.point =
        (point - (near.radius_of(c, c.nodes[0]) + closest.gap / 2) * closest.normal).template cast<float>();
    r.normal = closest.normal.template cast<float>();
    r.gap = static_cast<float>(closest.gap);
    const bool is_counted = !is_active && closest.gap < d_hat;  // in the record of its pair in A
    r.step_kind = StepKind::stiffness;
    r.step_normal = static_cast<float>(c.own.is_set() ? c.own.at(closest.gap) : sigma);
    r.normal_force = is_counted ? 0 : static_cast<float>(force);
    r.augmented = at >= 0;
    r.multiplier = at >= 0 ? static_cast<float>(augmented[at].multiplier) : 0;
    r.slip_speed = static_cast<float>(norm(slip));
    const Vec3 share = sliding(norm(slip), eps_v).slope_over_y * slip;
    r.friction = (-c.mu * Real(r.normal_force) * share).template cast<float>();
    r.cone_share = r.normal_force > 0 ? static_cast<float>(norm(share)) : 0;
    r.mu = static_cast<float>(c.mu);
    if (errors != nullptr) r.error = errors[i];
    r.object_a = object[c.nodes[0]];
    r.object_b = b_node >= 0 ? object[b_node] : -1;
    r.state = force < noticeable     ? ContactState::open
              : r.slip_speed < eps_v ? ContactState::stick
                                     : ContactState::slip;
    record[i] = r;
  }
};

}  // namespace

void ContactTerms::begin_step(const ContactSettings& settings, const Vec3* still) {
  // Multipliers of constraints are the start of the next step.
  if (!has_constraints() || !(settings.constraint_gap > 0)) augmented_.clear();
  settings_ = settings;
  still_ = still;
  friction_count_ = 0;
  last_gap_ = std::numeric_limits<Real>::infinity();
}

void ContactTerms::update(Context& ctx, const Proximity& pairs, const Vec3* x, bool after_values) {
  const Proximity near = near_ = seen(pairs);
  set_.build(ctx, near, x, settings_.d_hat, after_values, !has_constraints());
  set_.append(ctx, near, augmented_, x, !has_constraints());
  if (!settings_.lagged_friction) update_friction(ctx, x);
  if (has_constraints())
    constraints_.linearise_at(ctx, set_.contacts() + set_.active_count(), augmented_.size(), near, x);
}

void ContactTerms::merge(Context& ctx, const Proximity& near, const std::uint8_t* added, const Vec3* x,
                         Real keep) {
  augmented_.merge(ctx, near, added, x, keep);
  update(ctx, near, x);
}

Real ContactTerms::multiplier_residual(Context& ctx, const Vec3* y) {
  return constraints_.residual(ctx, augmented_.pairs(), y, {sigma_, settings_.constraint_gap});
}

void ContactTerms::update_multipliers(Context& ctx, const Vec3* y) {
  augmented_.update_multipliers(ctx, constraints_.gaps(), y, sigma_, settings_.constraint_gap);
}

void ContactTerms::follow_constraints(Context& ctx, const Vec3* y) {
  constraints_.update_friction(ctx, augmented_.pairs(), y, {sigma_, settings_.constraint_gap});
}

bool ContactTerms::augment(Context& ctx, const Proximity& pairs, const Vec3* x) {
  if (!settings_.augmentation) return false;
  const Proximity near = seen(pairs);
  const std::size_t before = augmented_.size();
  augmented_.update_multipliers(ctx, near, x, settings_.d_hat, sigma_, settings_.augmentation->update);
  const Real gap = set_.min_gap();
  augmented_.select(ctx, near, set_, x, gap < last_gap_, *settings_.augmentation);
  last_gap_ = gap;
  if (before == 0 && augmented_.size() == 0) return false;
  set_.append(ctx, near, augmented_, x);
  if (!settings_.lagged_friction) update_friction(ctx, x);
  return true;
}

void ContactTerms::update_friction(Context& ctx, const Vec3* x) {
  friction_count_ = set_.size();
  friction_.resize(ctx, friction_count_);
  friction_nodes_.resize(ctx, friction_count_);
  friction_keys_.resize(ctx, friction_count_);
  const ContactTermsView all = view();
  std::uint64_t* keys = friction_keys_.data();
  const Contact* contact = set_.contacts();
  const Plane* planes = near_.planes;
  FrictionStencil* friction = friction_.data();
  Vec4i* nodes = friction_nodes_.data();
  launch(
      ctx, friction_count_,
      [=] SS_LAMBDA(std::size_t i) {
        nodes[i] = contact[i].nodes;
        keys[i] = friction_key(all.pair(i), i >= all.active);
        friction[i] =
            make_friction_stencil(stencil_at(contact[i], planes, x), all.potential(i), contact[i].mu);
      },
      kMedium);
}

ContactTermsView ContactTerms::view() const {
  return {.near = near_,
          .contact = set_.contacts(),
          .size = set_.size(),
          .active = set_.active_count(),
          .candidate = set_.candidates(),
          .augmented = augmented_.pairs(),
          .keys = augmented_.keys(),
          .augmented_count = augmented_.size(),
          .sigma = sigma_,
          .d_hat = settings_.d_hat,
          .constraint_gap = settings_.constraint_gap,
          .friction_nodes = friction_nodes_.data(),
          .friction = friction_.data(),
          .friction_keys = friction_keys_.data(),
          .friction_count = friction_count_,
          .aligned = !settings_.lagged_friction,
          .still = still_,
          .slip_threshold = settings_.slip_threshold};
}

std::size_t ContactTerms::count_active(Context& ctx, const Proximity& near, const Vec3* x) {
  active_count_.resize(ctx, 1);
  const Real d_hat = settings_.d_hat;
  reduce_sum(
      ctx, near.size(),
      [=] SS_LAMBDA(std::size_t i) {
        return static_cast<std::int32_t>(pair_gap_below(near, near[i], x, d_hat) < d_hat);
      },
      active_count_.data(), kMedium);
  return static_cast<std::size_t>(read_back(ctx, active_count_.data()));
}

void ContactTerms::values(Context& ctx, const Proximity& pairs, const Vec3* x, double* barrier_out,
                          double* augmented_out, double* friction_out) {
  const Proximity near = seen(pairs);
  const Real d_hat = settings_.d_hat, sigma = sigma_;
  if (has_constraints()) {
    fill(ctx, barrier_out, 1, 0.0);
    constraints_.values(ctx, augmented_.pairs(), x, {sigma, settings_.constraint_gap},
                        {still_, settings_.slip_threshold}, augmented_out, friction_out);
    return;
  }
  const Real* gaps = set_.find_gaps(ctx, near, x, d_hat);
  reduce_sum(
      ctx, near.size(),
      [=] SS_LAMBDA(std::size_t i) {
        if (gaps[i] >= d_hat) return 0.0;
        const Contact contact = contact_at(near, near[i], x);
        const ContactStencil stencil = stencil_at(contact, near.planes, x);
        return static_cast<double>(barrier_value(stencil, contact.potential(d_hat, sigma)));
      },
      barrier_out, kMedium);
  other_values(ctx, near, x, augmented_out, friction_out);
}

void ContactTerms::current_values(Context& ctx, const Proximity& near, const Vec3* x, double* barrier_out,
                                  double* augmented_out, double* friction_out) {
  barrier_energy(ctx, x, sigma_, barrier_out);
  other_values(ctx, near, x, augmented_out, friction_out);
}

void ContactTerms::other_values(Context& ctx, const Proximity& pairs, const Vec3* x, double* augmented_out,
                                double* friction_out) {
  const Proximity near = seen(pairs);
  const Real d_hat = settings_.d_hat, sigma = sigma_;
  const AugmentedPair* augmented = augmented_.pairs();
  reduce_sum(
      ctx, augmented_.size(),
      [=] SS_LAMBDA(std::size_t i) {
        Contact contact = contact_at(near, augmented[i].pair, x);
        contact.multiplier = augmented[i].multiplier;
        const ContactStencil stencil = stencil_at(contact, near.planes, x);
        return static_cast<double>(barrier_value(stencil, contact.potential(d_hat, sigma)));
      },
      augmented_out);
  const FrictionStencil* friction = friction_.data();
  const Vec4i* nodes = friction_nodes_.data();
  const Vec3* still = still_;
  const Real threshold = settings_.slip_threshold;
  reduce_sum(
      ctx, friction_count_,
      [=] SS_LAMBDA(std::size_t i) {
        return static_cast<double>(
            friction_value(friction[i], corner_displacements(nodes[i], x, still), threshold));
      },
      friction_out);
}

void ContactTerms::linearise(Context& ctx, const Vec3* x, std::size_t extra) {
  if (has_constraints()) {
    resize(ctx, augmented_.size() + extra);
    extra_ = extra;
    constraints_.linearise(ctx, augmented_.pairs(), x, {sigma_, settings_.constraint_gap},
                           {still_, settings_.slip_threshold}, friction_secant_,
                           {stencil_nodes_.data(), gradients_.data(), blocks_.data()});
    return;
  }
  // Friction of the current set shares its stencils; lagged friction has its own, stored behind them.
  const std::size_t count = set_.size();
  const bool separate = settings_.lagged_friction;
  const std::size_t lag = separate ? count : 0;
  resize(ctx, (separate ? count + friction_count_ : count) + extra);
  extra_ = extra;
  const Contact* contact = set_.contacts();
  const Plane* planes = near_.planes;
  Vec4i* nodes = stencil_nodes_.data();
  CornerVectors* gradients = gradients_.data();
  CornerBlocks* blocks = blocks_.data();
  const Real sigma = sigma_, d_hat = settings_.d_hat;
  launch(
      ctx, count,
      [=] SS_LAMBDA(std::size_t i) {
        nodes[i] = contact[i].nodes;
        const ContactStencil stencil = stencil_at(contact[i], planes, x);
        const ContactPotential potential = contact[i].potential(d_hat, sigma);
        gradients[i] = barrier_gradient(stencil, potential);
        set_barrier_hessian<true>(stencil, potential, blocks[i]);
      },
      kHeavy);
  const FrictionStencil* friction = friction_.data();
  const Vec4i* friction_nodes = friction_nodes_.data();
  const Vec3* still = still_;
  const Real threshold = settings_.slip_threshold, secant = friction_secant_;
  launch(
      ctx, friction_count_,
      [=] SS_LAMBDA(std::size_t i) {
        const CornerVectors moved = corner_displacements(friction_nodes[i], x, still);
        const CornerVectors g = friction_gradient(friction[i], moved, threshold);
        const CornerBlocks h = friction_hessian(friction[i], moved, threshold, secant);
        const std::size_t slot = lag + i;
        if (separate) {
          nodes[slot] = friction_nodes[i];
          gradients[slot] = g;
          blocks[slot] = h;
        } else {
          for (int c = 0; c < 4; ++c) gradients[slot][c] += g[c];
          for (int k = 0; k < kCornerBlocks; ++k) blocks[slot].b[k] += h.b[k];
        }
      },
      kMedium);
}

void ContactTerms::friction_change(Context& ctx, const Vec3* x, const Vec3* p) {
  changes_.resize(ctx, set_.size());
  const Contact* contact = set_.contacts();
  const Plane* planes = near_.planes;
  const FrictionStencil* friction = friction_.data();
  const Vec3* still = still_;
  const Real sigma = sigma_, d_hat = settings_.d_hat, threshold = settings_.slip_threshold;
  CornerVectors* out = changes_.data();
  launch(
      ctx, set_.size(),
      [=] SS_LAMBDA(std::size_t i) {
        const Vec4i& nodes = contact[i].nodes;
        const CornerVectors change = friction_gradient_change(
            friction[i], stencil_at(contact[i], planes, x), contact[i].potential(d_hat, sigma),
            corner_displacements(nodes, x, still), gather_corners(nodes, p), threshold);
        for (int c = 0; c < 4; ++c) out[i][c] = -change[c];
      },
      kMedium);
}

void ContactTerms::barrier_gradients(Context& ctx, const Vec3* x) {
  resize(ctx, set_.size());
  const Contact* contact = set_.contacts();
  const Plane* planes = near_.planes;
  Vec4i* nodes = stencil_nodes_.data();
  CornerVectors* gradients = gradients_.data();
  const Real d_hat = settings_.d_hat;
  launch(
      ctx, set_.size(),
      [=] SS_LAMBDA(std::size_t i) {
        nodes[i] = contact[i].nodes;
        gradients[i] = barrier_gradient(stencil_at(contact[i], planes, x), d_hat);
      },
      kMedium);
}

void ContactTerms::barrier_energy(Context& ctx, const Vec3* x, Real sigma, double* out) {
  const Contact* contact = set_.contacts();
  const Plane* planes = near_.planes;
  const Real d_hat = settings_.d_hat;
  reduce_sum(
      ctx, set_.active_count(),
      [=] SS_LAMBDA(std::size_t i) {
        return static_cast<double>(
            barrier_value(stencil_at(contact[i], planes, x), contact[i].potential(d_hat, sigma)));
      },
      out, kMedium);
}

void ContactTerms::records(Context& ctx, const DeviceModel& device, const Params& params, const Vec3* x,
                           const Vec3* v, const float* errors, std::vector<ContactRecord>& out) {
  const std::size_t active = set_.active_count();
  records_.resize(ctx, set_.size());
  launch(ctx, set_.size(),
         ContactRecorder{
             .near = near_,
             .contact = set_.contacts(),
             .active = active,
             .candidate = set_.candidates(),
             .augmented = augmented_.pairs(),
             .keys = augmented_.keys(),
             .augmented_count = augmented_.size(),
             .object = device.node_object.data(),
             .x = x,
             .v = v,
             .sigma = sigma_,
             .d_hat = settings_.d_hat,
             .constraint_gap = settings_.constraint_gap,
             .eps_v = static_cast<Real>(params.eps_v),
             .noticeable = kNoticeableForce * device.mean_mass * Real(9.81),
             .errors = errors,
             .record = records_.data(),
         });
  out = records_.download(ctx);
  const auto augmented = out.begin() + static_cast<std::ptrdiff_t>(active);
  out.erase(
      std::remove_if(augmented, out.end(), [](const ContactRecord& r) { return !(r.normal_force > 0); }),
      out.end());
}

void ContactTerms::resize(Context& ctx, std::size_t count) {
  stencil_count_ = count;
  stencil_nodes_.resize(ctx, count);
  gradients_.resize(ctx, count);
  blocks_.resize(ctx, count);
}

}  // namespace stickslip::STICKSLIP_BACKEND
