// The whole potential compared with finite differences: all terms at once, with contacts of every kind.
#include <random>

#include "gpu/barrier/incremental_potential.cuh"
#include "gpu/broadphase/broadphase.cuh"
#include "tests/backend_test.h"
#include "tests/fixtures/box_model.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

constexpr Real kCubicInertia = Real(0.04);  // (d_hat / dt)^2 [m^2/s^2]

/// Two slightly deformed boxes above a half-space; one nearly rests on the other.
struct Setup {
  explicit Setup(Context& ctx, bool lagged, std::size_t smallest_batch = 1000, std::size_t most_kept = 1000,
                 Real cubic_inertia = 0) {
    fixtures::add_box(model, "lower", {0.1, 0.1, 0.1}, {0, 0.0505, 0}, 1);
    fixtures::add_box(model, "upper", {0.1, 0.1, 0.1}, {0.013, 0.1516, 0.017}, 1, 0.3);
    model.half_spaces.push_back({});
    model.materials[0].damping = 0.01;
    finalize(model);
    device.upload(ctx, model);
    potential.load(ctx, model, device, smallest_batch, most_kept);

    std::mt19937 random(7);
    std::uniform_real_distribution<double> noise(-1e-4, 1e-4);
    for (const auto& p : model.positions) {
      x.push_back((p + fixtures::Vec3d{noise(random), noise(random), noise(random)}).cast<Real>());
      x_t.push_back((p + fixtures::Vec3d{noise(random), noise(random), noise(random)}).cast<Real>());
      y.push_back((p + fixtures::Vec3d{noise(random), -2e-3, noise(random)}).cast<Real>());
    }
    device_x_t.upload(ctx, x_t);
    device_y.upload(ctx, y);
    inputs.dt = Real(0.01);
    inputs.x_t = device_x_t.data();
    inputs.y = inputs.target = device_y.data();
    inputs.drag.nodes = model.triangles[0];
    inputs.drag.weights = {Real(0.2), Real(0.3), Real(0.5)};
    inputs.drag.stiffness = 300;
    potential.begin_step(ctx, inputs, {Real(2e-3), Real(1e-5), lagged, {}, 0, cubic_inertia});
    potential.contacts().set_stiffness(500);
    broad_phase.set_topology(surface_view(device));
    device_x.upload(ctx, x);
    broad_phase.find(ctx, device_x.data(), nullptr, Real(4e-3), device.scripted.data());
    near = make_proximity(device, broad_phase.view());
    potential.contacts().update(ctx, near, device_x.data());
    if (lagged) potential.contacts().update_friction(ctx, device_x.data());
  }

  double value(Context& ctx, const std::vector<Vec3>& at) {
    device_trial.upload(ctx, at);
    double sum = 0;
    for (const double term : potential.values(ctx, near, device_trial.data())) sum += term;
    return sum;
  }

  Model model;
  DeviceModel device;
  IncrementalPotential potential;
  BroadPhase broad_phase;
  Proximity near{};
  StepInputs inputs;
  std::vector<Vec3> x, x_t, y;
  Buffer<Vec3> device_x, device_x_t, device_y, device_trial;
};

/// Multipliers of one update at Setup's x. Then the upper box rises and tilts, so that some pairs are inside
/// d_hat, some in the tail and some beyond it.
struct AugmentedSetup : Setup {
  AugmentedSetup(Context& ctx, bool lagged, AugmentationSettings settings) : Setup(ctx, lagged) {
    const ContactSettings contact{Real(2e-3), Real(1e-5), lagged, settings};
    potential.begin_step(ctx, inputs, contact);
    potential.contacts().update(ctx, near, device_x.data());
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(potential.contacts().augment(ctx, near, device_x.data()));
    const Object& upper = model.objects[1];
    for (int i = upper.node_begin; i < upper.node_end; ++i)
      x[i] += Vec3{
          0, Real(2.4e-3) + Real(0.03) * (x[i][0] - Real(0.013)) + Real(0.016) * (x[i][2] - Real(0.017)), 0};
    device_x.upload(ctx, x);
    broad_phase.find(ctx, device_x.data(), nullptr, Real(4e-3), device.scripted.data());
    near = make_proximity(device, broad_phase.view());
    potential.contacts().update(ctx, near, device_x.data());
    if (lagged) potential.contacts().update_friction(ctx, device_x.data());
  }

  /// Number of augmented pairs inside d_hat, in the tail and beyond it.
  std::array<int, 3> zones(Context& ctx) {
    const AugmentedSet& set = potential.contacts().augmented();
    std::vector<AugmentedPair> pairs(set.size());
    copy_to_host(ctx, pairs.data(), set.pairs(), pairs.size());
    std::array<int, 3> count{};
    for (const AugmentedPair& p : pairs) {
      const Vec4i& v = p.pair.nodes;
      const Real d2 = p.pair.kind == ContactPair::half_space ? x[v[0]][1] * x[v[0]][1]
                      : p.pair.kind == ContactPair::point_triangle
                          ? point_triangle_d2(x[v[0]], x[v[1]], x[v[2]], x[v[3]])
                          : edge_edge_d2(x[v[0]], x[v[1]], x[v[2]], x[v[3]]);
      const Real d = std::sqrt(d2);
      const ContactPotential phi(Real(2e-3), potential.contacts().stiffness(), p.multiplier);
      EXPECT_GT(p.multiplier, 0);
      ++count[d < phi.d_hat ? 0 : d < phi.reach() ? 1 : 2];
    }
    return count;
  }
};

/// Bodies of a model above a half-space through the origin.
struct OnAPlane {
  OnAPlane(Context& ctx, Model& model) {
    model.half_spaces.push_back({});
    finalize(model);
    device.upload(ctx, model);
    potential.load(ctx, model, device);
    for (const auto& p : model.positions) x.push_back(p.cast<Real>());
  }

  DeviceModel device;
  IncrementalPotential potential;
  std::vector<Vec3> x;
};

std::vector<Vec3> product(Context& ctx, Setup& s, const std::vector<Vec3>& p) {
  const Buffer<Vec3> device_p(ctx, std::span<const Vec3>(p));
  Buffer<Vec3> out(ctx, p.size());
  s.potential.hessian().multiply(ctx, device_p.data(), out.data());
  return out.download(ctx);
}

double inner(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += dot(a[i], b[i]);
  return sum;
}

/// The pairs of the contacts, which are in device memory.
std::vector<ContactPair> pairs_of(Context& ctx, const ContactTerms& contacts) {
  const ContactTermsView view = contacts.view();
  Buffer<ContactPair> pairs(ctx, view.size);
  ContactPair* out = pairs.data();
  launch(ctx, view.size, [=] SS_LAMBDA(std::size_t i) { out[i] = view.pair(i); });
  return pairs.download(ctx);
}

void expect_gradient_of_values(Context& ctx, Setup& s) {
  s.potential.linearise(ctx, s.device_x.data());
  std::vector<Vec3> gradient(s.x.size());
  copy_to_host(ctx, gradient.data(), s.potential.gradient(), gradient.size());
  const double h = 1e-8;
  for (std::size_t i = 0; i < s.x.size(); ++i)
    for (int c = 0; c < 3; ++c) {
      std::vector<Vec3> plus = s.x, minus = s.x;
      plus[i][c] += h;
      minus[i][c] -= h;
      const double numeric = (s.value(ctx, plus) - s.value(ctx, minus)) / (2 * h);
      EXPECT_NEAR(gradient[i][c], numeric, 1e-4 * (1 + std::abs(numeric))) << "node " << i << ", axis " << c;
    }
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(IncrementalPotential, GradientIsTheDerivativeOfTheValue) {
  if (sizeof(Real) < 8) GTEST_SKIP() << "differences need double";
  for (const bool lagged : {false, true}) {
    Setup s(ctx, lagged);
    ASSERT_GT(s.potential.contacts().set().size(), 8u);
    const auto values = s.potential.values(ctx, s.near, s.device_x.data());
    for (int term = 0; term < IncrementalPotential::term_count; ++term)
      if (term == IncrementalPotential::augmentation) {
        EXPECT_EQ(values[term], 0);
      } else {
        EXPECT_GT(values[term], 0) << "every other term takes part";
      }
    expect_gradient_of_values(ctx, s);
  }
}

BACKEND_TEST(IncrementalPotential, WithACubicBarrierItsGradientIsTheDerivativeOfTheValue) {
  if (sizeof(Real) < 8) GTEST_SKIP() << "differences need double";
  for (const bool lagged : {false, true}) {
    Setup s(ctx, lagged, 1000, 1000, kCubicInertia);
    ASSERT_GT(s.potential.contacts().set().size(), 8u);
    EXPECT_GT(s.potential.values(ctx, s.near, s.device_x.data())[IncrementalPotential::barrier], 0);
    expect_gradient_of_values(ctx, s);
  }
}

// A node's own stiffness is the trace of its block of the elastic Hessian at rest; a contact has
// that of both sides in series, and the reduced mass, both as means over the nodes of a side.
BACKEND_TEST(IncrementalPotential, ContactsResistWithTheMassAndStiffnessOfTheirBodies) {
  Setup s(ctx, false, 1000, 1000, kCubicInertia);
  const std::size_t n = s.x.size();
  std::vector<double> mass(n), stiffness(n);
  {
    Model model;
    fixtures::add_box(model, "lower", {0.1, 0.1, 0.1}, {0, 0.0505, 0}, 1);
    fixtures::add_box(model, "upper", {0.1, 0.1, 0.1}, {0.013, 0.1516, 0.017}, 1, 0.3);
    OnAPlane rest(ctx, model);
    const Buffer<Vec3> x(ctx, rest.x);
    StepInputs inputs;
    inputs.dt = 1;
    inputs.x_t = inputs.y = inputs.target = x.data();
    rest.potential.begin_step(ctx, inputs, {Real(1e-5), Real(1e-5), false, {}});
    rest.potential.linearise(ctx, x.data());
    const std::vector<Real> lumped = rest.device.mass.download(ctx);
    Buffer<Vec3> out(ctx, n);
    for (std::size_t i = 0; i < n; ++i) {
      mass[i] = static_cast<double>(lumped[i]);
      for (int c = 0; c < 3; ++c) {
        std::vector<Vec3> unit(n, Vec3::zero());
        unit[i][c] = 1;
        const Buffer<Vec3> p(ctx, unit);
        rest.potential.hessian().multiply(ctx, p.data(), out.data());
        stiffness[i] += static_cast<double>(out.download(ctx)[i][c]) - mass[i];
      }
    }
  }
  const ContactSet& set = s.potential.contacts().set();
  std::vector<Contact> contacts(set.size());
  copy_to_host(ctx, contacts.data(), set.contacts(), contacts.size());
  const std::vector<ContactPair> pairs = pairs_of(ctx, s.potential.contacts());
  int planes = 0;
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    const ContactPair& pair = pairs[k];
    const int split = pair.kind == ContactPair::edge_edge ? 2 : 1;
    const int count = pair.kind == ContactPair::half_space ? 1 : 4;
    double inverse = 0, gives = 0;
    for (int c = 0; c < count; ++c) {
      const double share = 1.0 / (c < split ? split : 4 - split);
      inverse += share / mass[static_cast<std::size_t>(pair.nodes[c])];
      gives += share / stiffness[static_cast<std::size_t>(pair.nodes[c])];
    }
    const double tolerance = sizeof(Real) == 8 ? 1e-9 : 1e-3;
    EXPECT_NEAR(contacts[k].own.inertia, kCubicInertia / inverse, tolerance * kCubicInertia / inverse);
    EXPECT_NEAR(contacts[k].own.stiffness, 1 / gives, tolerance / gives);
    planes += pair.kind == ContactPair::half_space;
  }
  EXPECT_GT(planes, 0);
  EXPECT_LT(planes, static_cast<int>(contacts.size()));
}

BACKEND_TEST(IncrementalPotential, WithMultipliersItsGradientIsTheDerivativeOfTheValue) {
  if (sizeof(Real) < 8) GTEST_SKIP() << "differences need double";
  for (const bool lagged : {false, true})
    for (const auto update : {MultiplierUpdate::derivative, MultiplierUpdate::value}) {
      AugmentedSetup s(ctx, lagged, {Real(1.8e-3), update, AugmentationEnd::singly});
      const auto values = s.potential.values(ctx, s.near, s.device_x.data());
      EXPECT_NE(values[IncrementalPotential::augmentation], 0);
      EXPECT_GT(values[IncrementalPotential::friction], 0);
      const auto [inside, tail, beyond] = s.zones(ctx);
      EXPECT_GT(inside, 0);
      EXPECT_GT(beyond, 0);
      // The printed update leaves multipliers of sigma b; their tails are thinner than a pair's noise.
      if (update == MultiplierUpdate::derivative) {
        EXPECT_GT(tail, 0);
      }
      expect_gradient_of_values(ctx, s);
    }
}

/// With x unchanged, each update adds the barrier force f to every pair again, and the friction of f.
BACKEND_TEST(IncrementalPotential, FrictionFollowsTheForcesOfMultipliers) {
  for (const bool lagged : {false, true}) {
    Setup s(ctx, lagged);
    const AugmentationSettings all{Real(2e-3), MultiplierUpdate::derivative, AugmentationEnd::singly};
    ContactTerms& contacts = s.potential.contacts();
    s.potential.begin_step(ctx, s.inputs, {Real(2e-3), Real(1e-5), lagged, all});
    const auto friction = [&] {
      if (lagged) contacts.update_friction(ctx, s.device_x.data());
      return s.potential.values(ctx, s.near, s.device_x.data())[IncrementalPotential::friction];
    };
    contacts.update(ctx, s.near, s.device_x.data());
    const double plain = friction();
    for (int updates = 0; updates < 4; ++updates) {
      contacts.augment(ctx, s.near, s.device_x.data());
      EXPECT_EQ(contacts.augmented().size(), contacts.set().active_count());
      // f of A, f of the barrier in A', and a multiplier of `updates` f.
      EXPECT_NEAR(friction(), (2 + updates) * plain, 1e-4 * plain) << updates;
    }
  }
}

/// Every term is computed in Real, so that no line search can see smaller changes of their sum.
BACKEND_TEST(IncrementalPotential, RoundingIsBoundedRelativeToThePrecisionOfTheTerms) {
  Setup s(ctx, false);
  s.potential.contacts().set_stiffness(Real(1e7));
  const double energy = s.value(ctx, s.x);
  const double elastic = s.potential.energy_rounding(0), all = s.potential.energy_rounding(energy);
  ASSERT_GT(elastic, 0);
  EXPECT_GE(all - elastic, 8.0 * std::numeric_limits<Real>::epsilon() * energy);
  EXPECT_LE(all - elastic, 1e-5 * energy) << "a line search must still see a change";
}

BACKEND_TEST(IncrementalPotential, BatchesOfTetsAddUp) {
  Setup whole(ctx, false), batches(ctx, false, 1, 0);
  const std::size_t n = whole.x.size();
  Buffer<Vec3> direction(ctx, whole.x), product(ctx, n);
  std::vector<Vec3> gradients[2], products[2];
  int i = 0;
  for (Setup* s : {&whole, &batches}) {
    s->potential.linearise(ctx, s->device_x.data());
    s->potential.hessian().multiply(ctx, direction.data(), product.data());
    gradients[i].resize(n);
    copy_to_host(ctx, gradients[i].data(), s->potential.gradient(), n);
    products[i++] = product.download(ctx);
  }
  for (std::size_t k = 0; k < n; ++k) {
    EXPECT_LE(norm(gradients[0][k] - gradients[1][k]), 1e-4 * norm(gradients[0][k])) << k;
    EXPECT_LE(norm(products[0][k] - products[1][k]), 1e-4 * norm(products[0][k])) << k;
  }
}

// Only the elements at one node change much between two linearisations of a step.
BACKEND_TEST(IncrementalPotential, KeptBlocksAndNewOnesAddUp) {
  Setup kept(ctx, false), fresh(ctx, false);
  kept.potential.linearise(ctx, kept.device_x.data());
  std::vector<std::vector<Vec3>> products;
  for (Setup* s : {&kept, &fresh}) {
    s->x[0] += Vec3{Real(-0.01), 0, Real(-0.02)};
    s->device_x.upload(ctx, s->x);
    s->potential.linearise(ctx, s->device_x.data());
    products.push_back(product(ctx, *s, s->x_t));
  }
  for (std::size_t k = 0; k < products[0].size(); ++k)
    EXPECT_LE(norm(products[0][k] - products[1][k]), 1e-4 * norm(products[0][k])) << k;
  if (sizeof(Real) == 8) expect_gradient_of_values(ctx, kept);
}

BACKEND_TEST(IncrementalPotential, HessianIsSymmetricAndPositiveAndBoundsTheCurvature) {
  if (sizeof(Real) < 8) GTEST_SKIP() << "differences need double";
  Setup plain(ctx, false);
  AugmentedSetup augmented(ctx, false, {Real(1.8e-3), MultiplierUpdate::derivative, AugmentationEnd::singly});
  for (Setup* s : {&plain, static_cast<Setup*>(&augmented)}) {
    s->potential.linearise(ctx, s->device_x.data());
    std::mt19937 random(11);
    std::normal_distribution<Real> normal;
    const std::size_t n = s->x.size();
    const double h = 1e-6;
    const double middle = s->value(ctx, s->x);
    for (int trial = 0; trial < 20; ++trial) {
      std::vector<Vec3> p(n), q(n), plus = s->x, minus = s->x;
      for (std::size_t i = 0; i < n; ++i) {
        p[i] = {normal(random), normal(random), normal(random)};
        q[i] = {normal(random), normal(random), normal(random)};
        plus[i] += h * p[i];
        minus[i] -= h * p[i];
      }
      const std::vector<Vec3> hp = product(ctx, *s, p), hq = product(ctx, *s, q);
      EXPECT_GT(inner(p, hp), 0);
      EXPECT_NEAR(inner(q, hp), inner(p, hq), 1e-9 * inner(p, hp));
      // Projection only removes negative curvature.
      const double numeric = (s->value(ctx, plus) - 2 * middle + s->value(ctx, minus)) / (h * h);
      EXPECT_GT(inner(p, hp), numeric * (1 - 1e-2));
    }
  }
}

/// On a half-space the normals and weights of contacts are constant: the Hessian and the change by normal
/// forces are the whole derivative of forces whose friction is refreshed.
BACKEND_TEST(IncrementalPotential, FrictionChangesWithTheNormalForces) {
  if (sizeof(Real) < 8) GTEST_SKIP() << "differences need double";
  Model model;
  fixtures::add_box(model, "soft", {0.1, 0.1, 0.1}, {0, 0.0507, 0}, 3, 0.5);
  fixtures::add_box(model, "affine", {0.1, 0.1, 0.1}, {1, 0.0511, 0}, 2, 0.5, {0, 0, 0},
                    fixtures::BoxBody::affine);
  OnAPlane scene(ctx, model);
  const DeviceModel& device = scene.device;
  IncrementalPotential& potential = scene.potential;
  const std::vector<Vec3>& x = scene.x;
  const std::size_t n = x.size();
  std::vector<Vec3> before;
  for (const Vec3& p : x) before.push_back(p - Vec3{Real(1e-3), 0, Real(2e-4)});
  Buffer<Vec3> device_x(ctx, std::span<const Vec3>(x)), device_before(ctx, std::span<const Vec3>(before));
  StepInputs inputs;
  inputs.dt = Real(0.01);
  inputs.x_t = inputs.target = device_before.data();
  inputs.y = device_x.data();
  potential.begin_step(ctx, inputs, {Real(2e-3), Real(1e-4), false, {}});
  potential.contacts().set_stiffness(500);
  const Proximity near = make_proximity(device, {});
  const auto gradient_at = [&](const std::vector<Vec3>& at) {
    const Buffer<Vec3> trial(ctx, std::span<const Vec3>(at));
    potential.contacts().update(ctx, near, trial.data());
    potential.linearise(ctx, trial.data());
    std::vector<Vec3> gradient(n);
    copy_to_host(ctx, gradient.data(), potential.gradient(), n);
    return gradient;
  };
  FRESH_SEED(seed);
  std::mt19937 random(seed);
  std::normal_distribution<Real> normal;
  const double h = 1e-9;
  double with = 0, without = 0, largest = 0;
  for (int trial = 0; trial < 5; ++trial) {
    std::vector<Vec3> p(n);
    for (Vec3& v : p) v = {normal(random), normal(random), normal(random)};
    Buffer<Vec3> device_p(ctx, std::span<const Vec3>(p)), product(ctx, n), change(ctx, n);
    potential.embedding().expand(ctx, device_p.data());
    p = device_p.download(ctx);
    std::vector<Vec3> plus = x, minus = x;
    for (std::size_t i = 0; i < n; ++i) {
      plus[i] += h * p[i];
      minus[i] -= h * p[i];
    }
    const std::vector<Vec3> up = gradient_at(plus), down = gradient_at(minus);
    gradient_at(x);
    ASSERT_TRUE(potential.contacts().follows_normal_forces());
    ASSERT_GT(potential.contacts().set().active_count(), 10u);
    potential.hessian().multiply(ctx, device_p.data(), product.data());
    potential.friction_change(ctx, device_x.data(), device_p.data(), change.data());
    const std::vector<Vec3> hp = product.download(ctx), np = change.download(ctx);
    for (std::size_t i = 0; i < n; ++i) {
      const Vec3 numeric = (up[i] - down[i]) / Real(2 * h);
      with = std::max(with, static_cast<double>(norm(hp[i] - np[i] - numeric)));
      without = std::max(without, static_cast<double>(norm(hp[i] - numeric)));
      largest = std::max(largest, static_cast<double>(norm(numeric)));
    }
  }
  EXPECT_LE(with, 1e-5 * largest);
  EXPECT_GE(without, 1e-2 * largest);
}

/// For a plane, distances are linear, and at rest elastic curvature is positive: nothing is projected.
BACKEND_TEST(IncrementalPotential, WithMultipliersOnAHalfSpaceItsHessianIsExact) {
  if (sizeof(Real) < 8) GTEST_SKIP() << "differences need double";
  Model model;
  fixtures::add_box(model, "tilted", {0.1, 0.1, 0.1}, {0, 0.0517, 0}, 3, 1.2);
  OnAPlane scene(ctx, model);
  const DeviceModel& device = scene.device;
  IncrementalPotential& potential = scene.potential;
  const std::vector<Vec3>& x = scene.x;
  const std::size_t n = x.size();
  // Every multiplier is from a position where its node was close.
  std::vector<Vec3> low = x;
  for (Vec3& p : low) p[1] = std::max(Real(3e-4), p[1] - Real(2e-3));
  Buffer<Vec3> device_x(ctx, std::span<const Vec3>(x)), device_low(ctx, std::span<const Vec3>(low));
  StepInputs inputs;
  inputs.dt = Real(0.01);
  inputs.x_t = inputs.target = device_low.data();
  inputs.y = device_x.data();
  const Real d_hat = Real(2e-3);
  const AugmentationSettings settings{d_hat, MultiplierUpdate::derivative, AugmentationEnd::singly};
  // Sticking: friction far below its threshold distance is nearly quadratic.
  potential.begin_step(ctx, inputs, {d_hat, Real(1e-2), false, settings});
  potential.contacts().set_stiffness(500);
  const Proximity near = make_proximity(device, {});
  potential.contacts().update(ctx, near, device_low.data());
  potential.contacts().augment(ctx, near, device_low.data());
  potential.contacts().augment(ctx, near, device_low.data());
  potential.contacts().update(ctx, near, device_x.data());
  const ContactSet& set = potential.contacts().set();
  ASSERT_GT(set.active_count(), 0u);
  ASSERT_GT(set.size() - set.active_count(), set.active_count()) << "some are in the tail";

  std::mt19937 random(13);
  std::normal_distribution<Real> normal;
  const auto gradient_at = [&](const std::vector<Vec3>& at) {
    const Buffer<Vec3> trial(ctx, std::span<const Vec3>(at));
    potential.linearise(ctx, trial.data());
    std::vector<Vec3> gradient(n);
    copy_to_host(ctx, gradient.data(), potential.gradient(), n);
    return gradient;
  };
  const double h = 1e-9;
  for (int trial = 0; trial < 5; ++trial) {
    std::vector<Vec3> p(n), plus = x, minus = x;
    for (std::size_t i = 0; i < n; ++i) {
      p[i] = {normal(random), normal(random), normal(random)};
      plus[i] += h * p[i];
      minus[i] -= h * p[i];
    }
    const std::vector<Vec3> up = gradient_at(plus), down = gradient_at(minus);
    potential.linearise(ctx, device_x.data());
    Buffer<Vec3> device_p(ctx, std::span<const Vec3>(p)), out(ctx, n);
    potential.hessian().multiply(ctx, device_p.data(), out.data());
    const std::vector<Vec3> hp = out.download(ctx);
    double largest = 0;
    for (const Vec3& v : hp) largest = std::max(largest, static_cast<double>(norm(v)));
    for (std::size_t i = 0; i < n; ++i)
      EXPECT_LE(norm(hp[i] - (up[i] - down[i]) / Real(2 * h)), 1e-5 * largest) << "node " << i;
  }
}

BACKEND_TEST(IncrementalPotential, BalancingStiffnessIsTheLeastSquaresBalanceOfTheOtherForces) {
  // sigma_0 = -(sum grad b)'(grad E) / |sum grad b|^2 over all free nodes, without friction [Guo24 §3].
  Setup s(ctx, false);
  s.model.materials[0].mu = s.model.half_spaces[0].mu = 0;
  s.device.upload(ctx, s.model);
  s.potential.contacts().update(ctx, s.near, s.device_x.data());
  const auto gradient = [&](Real sigma) {
    s.potential.contacts().set_stiffness(sigma);
    s.potential.linearise(ctx, s.device_x.data());
    std::vector<Vec3> g(s.x.size());
    copy_to_host(ctx, g.data(), s.potential.gradient(), g.size());
    return g;
  };
  const std::vector<Vec3> weak = gradient(500), strong = gradient(1500);
  std::vector<Vec3> barrier(s.x.size()), others(s.x.size());
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    barrier[i] = (strong[i] - weak[i]) / Real(1000);
    others[i] = weak[i] - Real(500) * barrier[i];
  }
  const double want = -inner(barrier, others) / inner(barrier, barrier);
  ASSERT_GT(want, 0);
  const double tolerance = sizeof(Real) == 8 ? 1e-9 : 1e-2;
  const auto start = s.potential.starting_barrier(ctx, s.device_x.data());
  EXPECT_NEAR(start.balancing_stiffness, want, tolerance * want);

  // The energy per mass of the nodes that the barrier pushes, and by how much contacts close without it.
  const std::vector<Real> masses = s.device.mass.download(ctx);
  double mass = 0, way = 0, size = 0;
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    if (norm(barrier[i]) < Real(1e-9) * norm(barrier[0] + Vec3{1, 1, 1})) continue;
    mass += static_cast<double>(masses[i]);
    way += static_cast<double>(dot(barrier[i], s.y[i] - s.x_t[i]));
    size += static_cast<double>(norm(barrier[i]));
  }
  s.potential.contacts().set_stiffness(1);
  const auto values = s.potential.values(ctx, s.near, s.device_x.data());
  const double loose = sizeof(Real) == 8 ? 1e-6 : 5e-2;
  EXPECT_NEAR(start.energy, values[IncrementalPotential::barrier] / mass, loose * start.energy);
  ASSERT_GT(way, 0);
  EXPECT_NEAR(start.approach, way / size, loose * start.approach);
}
