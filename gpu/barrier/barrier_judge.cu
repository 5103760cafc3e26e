#include "gpu/barrier/barrier_judge.cuh"

#include <algorithm>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/core/sort.h"
#include "gpu/core/trace.h"
#include "gpu/geometry/tangent.h"
#include "gpu/model/spring.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using V3 = Vec<double, 3>;

// Bits of `counted_`.
constexpr std::uint8_t kLinear = 1, kAngular = 2;

/// The force of a friction stencil on its side a [N], and its sliding speed times the time of sliding.
SS_HD V3 friction_force(const ContactTermsView& c, std::size_t j, const Vec3* x) {
  const FrictionStencil& f = c.friction[j];
  const Vec3 u = sliding_displacement(f, corner_displacements(c.friction_nodes[j], x, c.still));
  return (-f.mu_lambda * sliding(norm(u), c.slip_threshold).slope_over_y * u).template cast<double>();
}

/// Sums of weights by node, over four nodes that follow four others each.
struct NodeShares {
  int count = 0;
  std::int32_t node[4 * kMostLeaders];
  double share[4 * kMostLeaders];

  SS_HD void add(std::int32_t to, double weight) {
    int k = 0;
    while (k < count && node[k] != to) ++k;
    if (k == count) {
      node[count] = to;
      share[count++] = 0;
    }
    share[k] += weight;
  }
};

/// One contact, or one friction stencil without a contact, under the judge.
struct JudgeContact {
  ContactTermsView contacts;
  EmbeddingView embedding;
  bool has_embedded;
  const double* body_mass;  // per affine body
  const Real* mass;
  const std::uint8_t* scripted;
  const std::int32_t* friction_of;  // per contact; null: friction is aligned
  JudgedStep step;

  /// sum w_k^2 / m_k over the nodes that move [1/kg].
  SS_HD double mobility(const Vec4i& nodes, const Vec<Real, 4>& weights) const {
    double sum = 0;
    NodeShares shares;  // of lattice nodes
    std::int32_t body[2] = {-1, -1};
    Vec<double, 4> share[2] = {};
    for (int k = 0; k < 4; ++k) {
      const std::int32_t node = nodes[k];
      if (node < 0 || scripted[node] || weights[k] == Real(0)) continue;
      const double w = weights[k];
      if (!has_embedded || embedding.is_free(node)) {
        sum += w * w / mass[node];
        continue;
      }
      const std::int32_t of = embedding.body(node);
      if (of < 0) {
        for (int c = 0; c < embedding.count(node); ++c)
          if (!scripted[embedding.controls(node)[c]])
            shares.add(embedding.controls(node)[c], w * double(embedding.weights(node)[c]));
        continue;
      }
      const int side = body[0] < 0 || body[0] == of ? 0 : 1;
      body[side] = of;
      for (int c = 0; c < 4; ++c) share[side][c] += w * static_cast<double>(embedding.weights(node)[c]);
    }
    // A body's four control nodes have a quarter of its mass each, see affine.h.
    for (int side = 0; side < 2; ++side)
      if (body[side] >= 0) sum += 4 * norm2(share[side]) / body_mass[body[side]];
    for (int k = 0; k < shares.count; ++k) sum += shares.share[k] * shares.share[k] / mass[shares.node[k]];
    return sum;
  }

  /// The work of scripts on what touches their nodes [J].
  SS_HD double script_work(const Vec4i& nodes, const Vec<Real, 4>& weights, const V3& impulse) const {
    double work = 0;
    for (int k = 0; k < 4; ++k)
      if (nodes[k] >= 0 && scripted[nodes[k]])
        work -= double(weights[k]) / step.dt *
                dot(impulse, (step.x[nodes[k]] - step.x_t[nodes[k]]).template cast<double>());
    return work;
  }

  SS_HD ContactTotals judged(const Vec4i& nodes, const Vec<Real, 4>& weights, const V3& normal, double gap,
                             double mu, const V3& impulse) const {
    const double s = step.gamma * mobility(nodes, weights);
    if (!(s > 0)) return {};
    ContactOutcome end{};
    const TangentBasis<double> frame = tangent_basis(normal);
    end.n = normal;
    end.t1 = frame.t1;
    end.t2 = frame.t2;
    end.mu1 = end.mu2 = mu;
    end.impulse = impulse;
    V3 point{0, 0, 0};
    for (int k = 0; k < 4; ++k) {
      if (nodes[k] < 0) continue;
      end.velocity += double(weights[k]) * step.v[nodes[k]].template cast<double>();
      if (weights[k] > Real(0)) point += double(weights[k]) * step.x[nodes[k]].template cast<double>();
    }
    end.offset = gap / step.dt - dot(normal, end.velocity);
    const V3 q = end.velocity + end.offset * normal - s * impulse;
    ContactTotals totals = judge_contact(end, s, norm2(q), step.most_speed);
    totals.law.torque = norm(cross(point, impulse));
    totals.work = script_work(nodes, weights, impulse);
    return totals;
  }

  /// A stencil of A' counts in the contact of its pair in A, if it has one.
  SS_HD ContactTotals operator()(std::size_t i) const {
    const Contact c = contacts.contact[i];
    const ContactStencil stencil = stencil_at(c, contacts.near.planes, step.x);
    const ClosestPoints closest = closest_points(stencil);
    const bool in_a = i < contacts.active;
    if (!in_a && closest.gap < contacts.d_hat) return {};
    const double weight = stencil_mollifier(stencil), d = closest.gap;
    Jet2<Real> jet = contacts.potential(i).jet(closest.gap);
    V3 friction = friction_at(i);
    const std::int32_t at =
        in_a && contacts.augmented_count > 0
            ? find_pair(contacts.augmented, contacts.keys, contacts.augmented_count, contacts.pair(i))
            : -1;
    if (at >= 0) {
      const std::size_t other = contacts.active + static_cast<std::size_t>(at);
      const Jet2<Real> more = contacts.potential(other).jet(closest.gap);
      jet.value += more.value;
      jet.first += more.first;
      friction += friction_at(other);
    }
    if (!in_a && !(jet.first < Real(0))) return {};
    const V3 normal = closest.normal.template cast<double>(),
             force = (-weight * double(jet.first)) * normal + friction;
    ContactTotals totals = judged(c.nodes, closest.weights, normal, d, c.mu, step.dt * force);
    totals.stored = weight * double(jet.value);
    return totals;
  }

  SS_HD V3 friction_at(std::size_t i) const {
    if (friction_of == nullptr) return friction_force(contacts, i, step.x);
    return friction_of[i] < 0 ? V3{0, 0, 0}
                              : friction_force(contacts, static_cast<std::size_t>(friction_of[i]), step.x);
  }

  /// Friction that acts without a contact: outside any cone.
  SS_HD ContactTotals orphan(std::size_t j) const {
    const FrictionStencil& f = contacts.friction[j];
    const Vec4i& nodes = contacts.friction_nodes[j];
    V3 reach{0, 0, 0};
    std::int32_t b = nodes[0];
    for (int k = 0; k < 4; ++k) {
      if (nodes[k] < 0) continue;
      reach += double(f.weights[k]) * step.x[nodes[k]].template cast<double>();
      if (f.weights[k] < Real(0)) b = nodes[k];
    }
    const Real* radius = contacts.near.radius;
    const double thickness = radius != nullptr ? double(radius[nodes[0]]) + double(radius[b]) : 0.0;
    const V3 normal = f.normal.template cast<double>();
    return judged(nodes, f.weights, normal,
                  nodes[1] >= 0 ? dot(normal, reach) - thickness : double(contacts.d_hat), 0.0,
                  step.dt * friction_force(contacts, j, step.x));
  }
};

/// The momentum that one contact stencil, or one of friction, gives to the counted objects.
struct PushOfContact {
  ContactTermsView contacts;
  const std::int32_t* object;  // of each node: the first of its group, see spring_groups
  const std::uint8_t* counted;
  const Vec3* x;
  double dt;

  SS_HD void add(MomentumSums& sums, std::int32_t node, const V3& impulse) const {
    const std::uint8_t bits = counted[object[node]];
    if ((bits & kLinear) == 0) return;
    const V3 torque = (bits & kAngular) != 0 ? cross(x[node].template cast<double>(), impulse) : V3{0, 0, 0};
    sums += momentum_sums(impulse, torque, 1, momentum_sign(object[node]));
  }
  SS_HD MomentumSums operator()(std::size_t i) const {
    MomentumSums sums = MomentumSums::zero();
    if (i < contacts.size) {
      const Contact c = contacts.contact[i];
      const CornerVectors g = barrier_gradient(stencil_at(c, contacts.near.planes, x), contacts.potential(i));
      for (int k = 0; k < node_count(c.type); ++k) add(sums, c.nodes[k], -dt * g[k].template cast<double>());
      return sums;
    }
    const std::size_t j = i - contacts.size;
    const V3 impulse = dt * friction_force(contacts, j, x);
    for (int k = 0; k < 4; ++k)
      if (contacts.friction_nodes[j][k] >= 0)
        add(sums, contacts.friction_nodes[j][k], double(contacts.friction[j].weights[k]) * impulse);
    return sums;
  }
};

/// What one node gained beside gravity and the forces of the scene.
struct GainOfNode {
  const std::int32_t* object;
  const std::uint8_t *counted, *scripted;
  const Real* mass;
  const Vec3* acceleration;
  JudgedStep step;

  /// The mouse's force [N].
  SS_HD V3 pull(std::size_t i) const {
    V3 force{0, 0, 0};
    for (int c = 0; c < 3; ++c)
      if (step.drag.nodes[c] == static_cast<std::int32_t>(i))
        force += double(step.drag.weights[c] * step.drag.stiffness) *
                 (step.drag.targets[c] - step.x[i]).template cast<double>();
    return force;
  }
  SS_HD BodyMomentum operator()(std::size_t i) const {
    BodyMomentum out;
    if (scripted[i]) return out;
    const V3 held = pull(i);
    // The mouse may pull a surface node of a lattice, which has no mass.
    if (!(mass[i] > Real(0)) && norm2(held) == 0) return out;
    const double m = mass[i], dt = step.dt;
    const V3 x = step.x[i].template cast<double>(), v = step.v[i].template cast<double>(),
             acting = acceleration[i].template cast<double>();
    out.work = dot(m * acting + held, x - step.x_t[i].template cast<double>());
    const std::uint8_t bits = counted[object[i]];
    if ((bits & kLinear) == 0) return out;
    const V3 gained =
        step.y != nullptr
            ? (m / (step.beta * dt)) * (x - step.y[i].template cast<double>())
            : m * (v - step.v_t[i].template cast<double>() - dt * (acting + V3{0, step.gravity, 0}));
    const V3 linear = gained - dt * held;
    out.gained = momentum_sums(linear, (bits & kAngular) != 0 ? cross(x, linear) : V3{0, 0, 0}, 1,
                               momentum_sign(object[i]));
    out.size = m * norm(v);
    return out;
  }
};

/// What the air does at one corner: the negative of the momentum that it gives, and its work.
struct DragOfCorner {
  DragCheck drag;
  const std::int32_t* group;  // of each object
  const std::uint8_t *counted, *scripted;
  JudgedStep step;

  SS_HD BodyMomentum operator()(std::size_t k) const {
    BodyMomentum out;
    const std::int32_t node = drag.node(k);
    if (node < 0 || scripted[node]) return out;
    const V3 force = drag.force(k), x = step.x[node].template cast<double>();
    out.work = dot(force, x - step.x_t[node].template cast<double>());
    const std::int32_t object = group[drag.face(k).object];
    const std::uint8_t bits = counted[object];
    if ((bits & kLinear) == 0) return out;
    const V3 taken = -step.dt * force;
    out.gained = momentum_sums(taken, (bits & kAngular) != 0 ? cross(x, taken) : V3{0, 0, 0}, 1,
                               momentum_sign(object));
    return out;
  }
};

/// Index of `key` among n sorted keys; -1: not found.
SS_HD std::int32_t find_key(const std::uint64_t* keys, std::size_t n, std::uint64_t key) {
  std::size_t low = 0, high = n;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (keys[middle] < key) low = middle + 1;
    else high = middle;
  }
  return low < n && keys[low] == key ? static_cast<std::int32_t>(low) : -1;
}

/// The keys of all contacts, and 0, 1, 2, ...
void set_keys(Context& ctx, const ContactTermsView& contacts, std::uint64_t* keys, std::int32_t* order,
              std::int32_t* friction_of) {
  launch(ctx, contacts.size, [=] SS_LAMBDA(std::size_t i) {
    keys[i] = friction_key(contacts.pair(i), i >= contacts.active);
    order[i] = static_cast<std::int32_t>(i);
    friction_of[i] = -1;
  });
}

/// friction_of[contact] = friction stencil; orphan[stencil] = 1 where there is no contact.
void set_friction_of(Context& ctx, const ContactTermsView& contacts, const std::uint64_t* keys,
                     const std::int32_t* order, std::int32_t* friction_of, std::uint8_t* orphan) {
  launch(ctx, contacts.friction_count, [=] SS_LAMBDA(std::size_t j) {
    const std::int32_t at = find_key(keys, contacts.size, contacts.friction_keys[j]);
    orphan[j] = at < 0;
    if (at >= 0) friction_of[order[at]] = static_cast<std::int32_t>(j);
  });
}

void judge_contacts(Context& ctx, const JudgeContact& judge, float* errors, ContactTotals* out) {
  reduce(
      ctx, judge.contacts.size,
      [=] SS_LAMBDA(std::size_t i) {
        const ContactTotals totals = judge(i);
        errors[i] = totals.contacts > 0 ? static_cast<float>(totals.error) : -1.0F;
        return totals;
      },
      AddContacts{}, ContactTotals{}, out, kMedium);
}

/// `orphan`: null: none.
void judge_orphans(Context& ctx, const JudgeContact& judge, const std::uint8_t* orphan, ContactTotals* out) {
  reduce(
      ctx, orphan == nullptr ? 0 : judge.contacts.friction_count,
      [=] SS_LAMBDA(std::size_t j) { return orphan[j] ? judge.orphan(j) : ContactTotals{}; }, AddContacts{},
      ContactTotals{}, out, kMedium);
}

void sum_momenta(Context& ctx, const PushOfContact& push, const GainOfNode& gain, std::size_t nodes,
                 MomentumSums* pushed, BodyMomentum* gained) {
  reduce_sum(
      ctx, push.contacts.size + push.contacts.friction_count,
      [=] SS_LAMBDA(std::size_t i) { return push(i); }, pushed, kMedium);
  reduce(
      ctx, nodes, [=] SS_LAMBDA(std::size_t i) { return gain(i); }, AddMomentum{}, BodyMomentum{}, gained,
      kMedium);
}

void sum_drag(Context& ctx, const DragOfCorner& drag, BodyMomentum* out) {
  reduce(ctx, drag.drag.corners(), drag, AddMomentum{}, BodyMomentum{}, out, kMedium);
}

/// `gained`: by the nodes, and from the air.
void combine(Context& ctx, const ContactTotals* totals, const MomentumSums* pushed,
             const BodyMomentum* gained, JudgeSums* out) {
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
    *out = judge_sums(AddContacts{}(totals[0], totals[1]), AddMomentum{}(gained[0], gained[1]), *pushed);
  });
}

/// The mass of every affine body [kg], which its mesh nodes or its control nodes carry.
void sum_masses(Context& ctx, const Embedding& embedding, const Real* mass, Buffer<double>& partial,
                double* out) {
  embedding.sum_by_body(
      ctx, [=] SS_LAMBDA(const EmbeddedNode& s) { return static_cast<double>(mass[s.node]); }, partial, out);
  const std::int32_t* control = embedding.view().control;
  launch(ctx, embedding.body_count(), [=] SS_LAMBDA(std::size_t b) {
    for (int k = 0; k < 4; ++k) out[b] += mass[control[b] + k];
  });
}

}  // namespace

void BarrierJudge::load(Context& ctx, const Model& model, const DeviceModel& device,
                        const Embedding& embedding) {
  totals_.resize(ctx, 2);
  pushed_.resize(ctx, 1);
  gained_.resize(ctx, 2);
  set_materials(ctx, model, device, embedding);
}

void BarrierJudge::set_materials(Context& ctx, const Model& model, const DeviceModel& device,
                                 const Embedding& embedding) {
  std::vector<std::uint8_t> counted(model.objects.size(), 0);
  for (std::size_t i = 0; i < counted.size(); ++i) {
    const Object& object = model.objects[i];
    if (!object.is_movable()) continue;
    const bool damped = object.is_deformable() && model.materials[object.material].damping > 0;
    counted[i] = damped ? kLinear : kLinear | kAngular;
  }
  has_unknown_work_ = false;
  for (const ScriptedNodes& script : model.scripted) {
    std::vector<std::int32_t> held(counted.size(), 0);
    for (const std::int32_t node : script.nodes) ++held[static_cast<std::size_t>(model.node_object[node])];
    for (std::size_t i = 0; i < counted.size(); ++i) {
      if (held[i] == 0) continue;
      counted[i] = 0;
      const Object& object = model.objects[i];
      has_unknown_work_ |=
          object.is_movable() && held[i] < object.node_end - object.node_begin && !script.is_static();
    }
  }
  // Joints give momentum, too, and motors work.
  has_unknown_work_ |= !model.constraints.empty();
  for (const ConstraintPoint& point : model.constraint_points)
    if (point.nodes[0] >= 0) counted[static_cast<std::size_t>(model.node_object[point.nodes[0]])] = 0;
  count_by_groups(ctx, model, counted);
  air_faces_.upload(ctx, air_faces(model));
  if (embedding.body_count() == 0) return;
  body_mass_.resize(ctx, embedding.body_count());
  sum_masses(ctx, embedding, device.mass.data(), partial_, body_mass_.data());
}

/// Objects that springs join are counted as one, which springs give no momentum: if all of them are. A damped
/// spring of length 0 has a moment, so angular momentum is not counted there.
void BarrierJudge::count_by_groups(Context& ctx, const Model& model, std::vector<std::uint8_t>& counted) {
  const std::vector<std::int32_t> group = spring_groups(model);
  const std::vector<std::uint8_t> tied = tied_to_world(model);
  for (std::size_t i = 0; i < counted.size(); ++i) {
    if (tied[i] != 0) counted[i] = 0;
    const auto first = static_cast<std::size_t>(group[i]);
    if (first == i) continue;
    counted[first] &= counted[i];
  }
  for (const Spring& spring : model.springs)
    for (const ConstraintPoint* point : {&spring.a, &spring.b})
      if (spring.length == 0 && spring.damping > 0 && point->nodes[0] >= 0) {
        const std::int32_t object = model.node_object[static_cast<std::size_t>(point->nodes[0])];
        counted[static_cast<std::size_t>(group[static_cast<std::size_t>(object)])] &= kLinear;
      }
  std::vector<std::int32_t> of_node;
  of_node.reserve(model.node_object.size());
  for (const std::int32_t object : model.node_object)
    of_node.push_back(group[static_cast<std::size_t>(object)]);
  counted_.upload(ctx, counted);
  group_.upload(ctx, group);
  node_group_.upload(ctx, of_node);
}

/// Per contact, the stencil of its friction, where friction lags.
const std::int32_t* BarrierJudge::match_friction(Context& ctx, const ContactTermsView& contacts) {
  keys_.resize(ctx, contacts.size);
  order_.resize(ctx, contacts.size);
  friction_of_.resize(ctx, contacts.size);
  orphan_.resize(ctx, contacts.friction_count);
  set_keys(ctx, contacts, keys_.data(), order_.data(), friction_of_.data());
  sort_pairs(ctx, contacts.size, keys_.data(), order_.data());
  set_friction_of(ctx, contacts, keys_.data(), order_.data(), friction_of_.data(), orphan_.data());
  return friction_of_.data();
}

void BarrierJudge::measure(Context& ctx, const DeviceModel& device, const ContactTermsView& contacts,
                           const Embedding& embedding, const JudgedStep& step, JudgeSums* out) {
  const Span span(ctx, "judge");
  const std::int32_t* friction_of = contacts.aligned ? nullptr : match_friction(ctx, contacts);
  const JudgeContact judge{contacts,           embedding.view(),       !embedding.empty(), body_mass_.data(),
                           device.mass.data(), device.scripted.data(), friction_of,        step};
  judged_ = contacts.size;
  errors_.resize(ctx, judged_);
  judge_contacts(ctx, judge, errors_.data(), totals_.data());
  judge_orphans(ctx, judge, contacts.aligned ? nullptr : orphan_.data(), totals_.data() + 1);
  sum_momenta(ctx, {contacts, node_group_.data(), counted_.data(), step.x, step.dt},
              {node_group_.data(), counted_.data(), device.scripted.data(), device.mass.data(),
               device.acceleration.data(), step},
              device.node_count, pushed_.data(), gained_.data());
  sum_drag(ctx,
           {{air_faces_.data(), air_faces_.size(), step.x_t, step.v, nullptr, step.wind},
            group_.data(),
            counted_.data(),
            device.scripted.data(),
            step},
           gained_.data() + 1);
  combine(ctx, totals_.data(), pushed_.data(), gained_.data(), out);
}

}  // namespace stickslip::STICKSLIP_BACKEND
