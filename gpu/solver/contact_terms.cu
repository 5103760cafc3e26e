#include "gpu/solver/contact_terms.cuh"

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

// A contact that carries less than this share of a mean node's weight shows as open.
constexpr Real kNoticeableForce = Real(1e-3);

}  // namespace

void ContactTerms::begin_step(const ContactSettings& settings, const Vec3* x_t) {
  settings_ = settings;
  x_t_ = x_t;
  friction_count_ = 0;
}

void ContactTerms::update(Context& ctx, const Proximity& near, const Vec3* x) {
  planes_ = near.planes;
  set_.build(ctx, near, x, settings_.d_hat);
  if (!settings_.lagged_friction) update_friction(ctx, x);
}

void ContactTerms::update_friction(Context& ctx, const Vec3* x) {
  friction_count_ = set_.size();
  friction_.resize(ctx, friction_count_);
  friction_nodes_.resize(ctx, friction_count_);
  const Contact* contact = set_.contacts();
  const Plane* planes = planes_;
  FrictionStencil* friction = friction_.data();
  Vec4i* nodes = friction_nodes_.data();
  const Real sigma = sigma_, d_hat = settings_.d_hat;
  launch(
      ctx, friction_count_,
      [=] SS_LAMBDA(std::size_t i) {
        nodes[i] = contact[i].nodes;
        friction[i] = make_friction_stencil(stencil_at(contact[i], planes, x), sigma, d_hat, contact[i].mu);
      },
      kMedium);
}

void ContactTerms::values(Context& ctx, const Proximity& near, const Vec3* x, double* barrier_out,
                          double* friction_out) {
  const Real d_hat = settings_.d_hat, d_hat2 = d_hat * d_hat, sigma = sigma_;
  reduce_sum(
      ctx, near.size(),
      [=] SS_LAMBDA(std::size_t i) {
        Contact contact{};
        if (classify(near, i, x, d_hat2, contact) >= d_hat2) return 0.0;
        return static_cast<double>(sigma * barrier_value(stencil_at(contact, near.planes, x), d_hat));
      },
      barrier_out);
  const FrictionStencil* friction = friction_.data();
  const Vec4i* nodes = friction_nodes_.data();
  const Vec3* x_t = x_t_;
  const Real threshold = settings_.slip_threshold;
  reduce_sum(
      ctx, friction_count_,
      [=] SS_LAMBDA(std::size_t i) {
        return static_cast<double>(
            friction_value(friction[i], corner_displacements(nodes[i], x, x_t), threshold));
      },
      friction_out);
}

void ContactTerms::linearise(Context& ctx, const Vec3* x) {
  // Friction of the current set shares its stencils; lagged friction brings its own, which follow.
  const std::size_t count = set_.size();
  const bool separate = settings_.lagged_friction;
  const std::size_t lag = separate ? count : 0;
  resize(ctx, separate ? count + friction_count_ : count);
  const Contact* contact = set_.contacts();
  const Plane* planes = planes_;
  Vec4i* nodes = stencil_nodes_.data();
  CornerVectors* gradients = gradients_.data();
  CornerBlocks* blocks = blocks_.data();
  const Real sigma = sigma_, d_hat = settings_.d_hat;
  launch(
      ctx, count,
      [=] SS_LAMBDA(std::size_t i) {
        nodes[i] = contact[i].nodes;
        const ContactStencil stencil = stencil_at(contact[i], planes, x);
        const CornerVectors g = barrier_gradient(stencil, d_hat);
        const CornerBlocks h = barrier_hessian_spd(stencil, d_hat);
        for (int c = 0; c < 4; ++c) gradients[i][c] = sigma * g[c];
        for (int k = 0; k < kTetBlocks; ++k) blocks[i].b[k] = sigma * h.b[k];
      },
      kHeavy);
  const FrictionStencil* friction = friction_.data();
  const Vec4i* friction_nodes = friction_nodes_.data();
  const Vec3* x_t = x_t_;
  const Real threshold = settings_.slip_threshold;
  launch(
      ctx, friction_count_,
      [=] SS_LAMBDA(std::size_t i) {
        const CornerVectors moved = corner_displacements(friction_nodes[i], x, x_t);
        const CornerVectors g = friction_gradient(friction[i], moved, threshold);
        const CornerBlocks h = friction_hessian(friction[i], moved, threshold);
        const std::size_t slot = lag + i;
        if (separate) {
          nodes[slot] = friction_nodes[i];
          gradients[slot] = g;
          blocks[slot] = h;
        } else {
          for (int c = 0; c < 4; ++c) gradients[slot][c] += g[c];
          for (int k = 0; k < kTetBlocks; ++k) blocks[slot].b[k] += h.b[k];
        }
      },
      kMedium);
}

void ContactTerms::barrier_gradients(Context& ctx, const Vec3* x) {
  resize(ctx, set_.size());
  const Contact* contact = set_.contacts();
  const Plane* planes = planes_;
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

void ContactTerms::records(Context& ctx, const DeviceModel& device, const Params& params, const Vec3* x,
                           const Vec3* v, Buffer<ContactRecord>& out) {
  out.resize(ctx, set_.size());
  const Contact* contact = set_.contacts();
  const Plane* planes = planes_;
  const std::int32_t* object = device.node_object.data();
  ContactRecord* record = out.data();
  const Real sigma = sigma_, d_hat = settings_.d_hat, eps_v = static_cast<Real>(params.eps_v);
  const Real noticeable = kNoticeableForce * device.mean_mass * Real(9.81);
  launch(ctx, set_.size(), [=] SS_LAMBDA(std::size_t i) {
    const Contact c = contact[i];
    const ContactStencil stencil = stencil_at(c, planes, x);
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
    const Real force = make_friction_stencil(stencil, sigma, d_hat, Real(1)).mu_lambda;
    ContactRecord r;
    r.point = (point - closest.distance / 2 * closest.normal).template cast<float>();
    r.normal = closest.normal.template cast<float>();
    r.gap = static_cast<float>(closest.distance);
    r.normal_force = static_cast<float>(force);
    r.slip_speed = static_cast<float>(norm(slip));
    r.object_a = object[c.nodes[0]];
    r.object_b = b_node >= 0 ? object[b_node] : -1;
    r.state = force < noticeable     ? ContactState::open
              : r.slip_speed < eps_v ? ContactState::stick
                                     : ContactState::slip;
    record[i] = r;
  });
}

void ContactTerms::resize(Context& ctx, std::size_t count) {
  stencil_count_ = count;
  stencil_nodes_.resize(ctx, count);
  gradients_.resize(ctx, count);
  blocks_.resize(ctx, count);
}

}  // namespace stickslip::STICKSLIP_BACKEND
