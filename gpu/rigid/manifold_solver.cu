#include "gpu/rigid/manifold_solver.cuh"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/law/projection.h"
#include "gpu/math/mat.h"

namespace stickslip {

// Not in an anonymous namespace, as lambdas of members keep some of it.
namespace manifold_detail {

using V3 = Vec<double, 3>;

constexpr int kLookInterval = 10;  // iterations between two looks, where the parameters leave it open

/// What the lane of a manifold is made of.
struct LaneFiller {
  const RigidContact* contacts;
  const ManifoldRange* ranges;
  BodiesView at;
  SurfaceTable table;
  ContactRowOptions options;
  const double* free;
  const Vec<double, 4>* before;  // null: no impulses to start from
  std::size_t before_count;

  SS_HD SurfacePair surfaces(const RigidContact& c) const {
    const std::int32_t material = at.material[c.a], other = c.b >= 0 ? at.material[c.b] : 0;
    const std::int32_t column = table.column(other, c.b);
    return surface_pair(table.surface[material], table.surface[column],
                        table.mu[material * table.columns + column], {0, 0, 0}, {0, 0, 0});
  }
  /// Before any impulse, at a place in the world.
  SS_HD V3 free_velocity(std::int32_t b, const V3& arm) const {
    if (b < 0) return {0, 0, 0};
    const double* v = free + 6 * static_cast<std::size_t>(b);
    return V3{v[0], v[1], v[2]} + cross(V3{v[3], v[4], v[5]}, arm);
  }
  /// Of the last step, in this one's frame and cone.
  SS_HD V3 start(const RigidContact& c, const ContactFrame& frame, double mu) const {
    if (before == nullptr || c.previous < 0 || static_cast<std::size_t>(c.previous) >= before_count)
      return {0, 0, 0};
    const Vec<double, 4> f = before[c.previous];
    const V3 force{f[0], f[1], f[2]};
    const ContactLaw<3> law{{mu, mu}, FrictionSet::ellipsoid, FlowRule::exact};
    return project(law, V3{dot(force, frame.n), dot(force, frame.t1), dot(force, frame.t2)});
  }

  /// Writes the lane and returns the sum of |u|^2 of its points before any impulse.
  SS_HD double fill(std::size_t m, const PackCell<double>& cell, const PackCell<double>& impulse) const {
    const ManifoldRange range = ranges[m];
    const RigidContact& first = contacts[range.first];
    const BodyAtStep a = at.at_step(first.a), b = at.at_step(first.b);
    const SurfacePair pair = surfaces(first);
    const ContactFrame frame = contact_frame(first.normal);
    cell.set3(manifold_field::normal, frame.n);
    cell.set3(manifold_field::tangent, frame.t1);
    cell.set3(manifold_field::apart, a.pose.x - b.pose.x);
    cell.write(manifold_field::mu, pair.mu);
    cell.write(manifold_field::mass_a, a.inverse.mass);
    cell.write(manifold_field::mass_b, b.inverse.mass);
    for (int i = 0; i < 6; ++i) {
      cell.write(manifold_field::inertia_a + i, a.inverse.inertia[i]);
      cell.write(manifold_field::inertia_b + i, b.inverse.inertia[i]);
    }
    double sum = 0;
    for (int p = 0; p < kManifoldPoints; ++p)
      sum += p < range.count ? fill_point(contacts[range.first + p], p, a, b, frame, pair, cell, impulse)
                             : leave_out(p, cell, impulse);
    return sum;
  }

  SS_HD double fill_point(const RigidContact& c, int p, const BodyAtStep& a, const BodyAtStep& b,
                          const ContactFrame& frame, const SurfacePair& pair, const PackCell<double>& cell,
                          const PackCell<double>& impulse) const {
    const V3 arm = c.point - a.pose.x, arm_b = c.point - b.pose.x;
    const auto mobility = [&](const V3& d) {
      const V3 x = cross(arm, d), y = cross(arm_b, d);
      return a.inverse.mass + b.inverse.mass + dot(x, a.inverse.turn(x)) + dot(y, b.inverse.turn(y));
    };
    const V3 now = a.velocity + cross(a.spin, arm) - b.velocity - cross(b.spin, arm_b);
    const double w = rigid_detail::contact_speed(options, c.gap, dot(frame.n, now), pair.restitution);
    const double normal = mobility(frame.n), tangents = mobility(frame.t1) + mobility(frame.t2);
    if (!(normal > 0) || !(tangents > 0)) {
      leave_out(p, cell, impulse);
      impulse.set3(3 * p, start(c, frame, pair.mu));  // who sleeps keeps what held him
      return 0;
    }
    const double softness = options.feedback.softness * normal;
    const int f = point_at(p);
    cell.set3(f + point_field::arm, arm);
    cell.write(f + point_field::speed, w);
    cell.write(f + point_field::softness, softness);
    cell.write(f + point_field::r_normal, 1 / (normal + softness));
    cell.write(f + point_field::r_tangent, 2 / tangents);
    impulse.set3(3 * p, start(c, frame, pair.mu));
    V3 u = free_velocity(c.a, arm) - free_velocity(c.b, arm_b);
    u = {dot(frame.n, u) + w, dot(frame.t1, u), dot(frame.t2, u)};
    return norm2(u);
  }

  SS_HD static double leave_out(int p, const PackCell<double>& cell, const PackCell<double>& impulse) {
    for (int f = point_at(p); f < point_at(p + 1); ++f) cell.write(f, 0.0);
    impulse.set3(3 * p, V3{0, 0, 0});
    return 0;
  }
  SS_HD static void leave_empty(const PackCell<double>& cell, const PackCell<double>& impulse) {
    for (int f = 0; f < kManifoldFields; ++f) cell.write(f, 0.0);
    for (int f = 0; f < kImpulseFields; ++f) impulse.write(f, 0.0);
  }
};

/// M of a body: m, and I as BodyInverse has I^-1.
SS_HD inline void put_mass(const BodyInverse& inverse, double* mass) {
  for (int i = 0; i < kMotionFields; ++i) mass[i] = 0;
  if (!(inverse.mass > 0)) return;
  mass[0] = 1 / inverse.mass;
  const Vec<double, 6>& e = inverse.inertia;
  Mat<double, 3> turn{};
  for (int i = 0; i < 3; ++i) turn(i, i) = e[i];
  turn(0, 1) = turn(1, 0) = e[3];
  turn(0, 2) = turn(2, 0) = e[4];
  turn(1, 2) = turn(2, 1) = e[5];
  if (!(e[0] > 0)) return;  // does not turn
  const Mat<double, 3> inertia = stickslip::inverse(turn);
  for (int i = 0; i < 3; ++i) mass[1 + i] = inertia(i, i);
  mass[4] = inertia(0, 1);
  mass[5] = inertia(0, 2);
  mass[6] = inertia(1, 2);
}

/// <x, M y> of one body.
SS_HD inline double mass_product(const double* m, const double* x, const double* y) {
  return m[0] * (x[0] * y[0] + x[1] * y[1] + x[2] * y[2]) + x[4] * (m[1] * y[4] + m[4] * y[5] + m[5] * y[6]) +
         x[5] * (m[4] * y[4] + m[2] * y[5] + m[6] * y[6]) + x[6] * (m[5] * y[4] + m[6] * y[5] + m[3] * y[6]);
}

/// d + beta last, where `last` may be anything if beta is zero.
SS_HD inline double conjugate(double beta, double last, double d) { return beta == 0 ? d : d + beta * last; }

/// The block of point p, as ContactBlocks makes it.
SS_HD inline ConstraintBlock<3> block_of(const PackCell<const double>& cell, int p, std::int32_t a,
                                         std::int32_t b) {
  const int f = point_at(p);
  const V3 n = cell.get3<double>(manifold_field::normal), t = cell.get3<double>(manifold_field::tangent);
  const V3 arm = cell.get3<double>(f + point_field::arm), apart = cell.get3<double>(manifold_field::apart);
  const V3 direction[3] = {n, t, cross(n, t)};
  const double mu = cell.get<double>(manifold_field::mu);
  ConstraintBlock<3> block{};
  block.body[0] = a;
  block.body[1] = b;
  for (int i = 0; i < 3; ++i) {
    block.jacobian[0][i] = rigid_detail::point_row(direction[i], arm);
    block.jacobian[1][i] = -rigid_detail::point_row(direction[i], arm + apart);
  }
  rigid_detail::drop_world(block);
  block.w = {cell.get<double>(f + point_field::speed), 0, 0};
  block.compliance = {cell.get<double>(f + point_field::softness), 0, 0};
  block.law = {{mu, mu}, FrictionSet::ellipsoid, FlowRule::exact};
  return block;
}

}  // namespace manifold_detail
}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

using namespace manifold_detail;

void ManifoldSolver::build(Context& ctx, const DeviceBodies& bodies, const ManifoldInput& input) {
  bodies_ = bodies.size();
  contacts_ = input.list.count;
  order_.build(ctx, input.list, bodies.view(), bodies_);
  sums_.resize(ctx, 1);
  sum_.resize(ctx, 1);
  pair_sum_.resize(ctx, 1);
  free_sum_.resize(ctx, 1);
  judged_.resize(ctx, 1);
  fill_packs(ctx, bodies, input);
  fill_masses(ctx, bodies);
  if (input.before != nullptr) push_impulses(ctx);
}

void ManifoldSolver::fill_packs(Context& ctx, const DeviceBodies& bodies, const ManifoldInput& input) {
  const std::size_t packs = order_.packs(), slots = packs * kPackWidth;
  data_.resize(ctx, slots * kManifoldFields);
  impulse_.resize(ctx, slots * kImpulseFields);
  body_.resize(ctx, 2 * slots);
  owner_.resize(ctx, slots);
  points_.resize(ctx, packs);
  free2_.resize(ctx, slots);
  fill(ctx, owner_.data(), slots, std::int32_t{-1});
  const LaneFiller filler{input.list.contacts, order_.ranges(),    bodies.view(), input.surfaces,
                          input.options,       bodies.free.data(), input.before,  input.before_count};
  const std::int32_t *slot = order_.slot(), world = static_cast<std::int32_t>(bodies_);
  std::int32_t *owner = owner_.data(), *body = body_.data();
  double *data = data_.data(), *impulse = impulse_.data(), *free2 = free2_.data();
  std::uint8_t* points = points_.data();
  launch(
      ctx, order_.manifolds(),
      [=] SS_LAMBDA(std::size_t m) { owner[slot[m]] = static_cast<std::int32_t>(m); }, kLight);
  launch(
      ctx, slots,
      [=] SS_LAMBDA(std::size_t i) {
        const std::size_t pack = i / kPackWidth, lane = i % kPackWidth;
        const PackCell<double> cell{data + pack * kManifoldFields * kPackWidth + lane, kPackWidth},
            impulses{impulse + pack * kImpulseFields * kPackWidth + lane, kPackWidth};
        std::int32_t* a = body + pack * 2 * kPackWidth + lane;
        if (owner[i] < 0) {
          LaneFiller::leave_empty(cell, impulses);
          a[0] = a[kPackWidth] = ~world;
          free2[i] = 0;
          return;
        }
        const auto m = static_cast<std::size_t>(owner[i]);
        const RigidContact& c = filler.contacts[filler.ranges[m].first];
        const auto side = [&](std::int32_t b) {
          return b < 0 ? ~world : filler.at.inverse[b].mass > 0 ? b : ~b;
        };
        a[0] = side(c.a);
        a[kPackWidth] = side(c.b);
        free2[i] = filler.fill(m, cell, impulses);
      },
      kMedium);
  launch(
      ctx, packs,
      [=] SS_LAMBDA(std::size_t pack) {
        std::int32_t most = 0;
        for (std::size_t i = pack * kPackWidth; i < (pack + 1) * kPackWidth; ++i)
          if (owner[i] >= 0 && filler.ranges[owner[i]].count > most) most = filler.ranges[owner[i]].count;
        points[pack] = static_cast<std::uint8_t>(most);
      },
      kMedium);
  reduce_sum(
      ctx, slots, [=] SS_LAMBDA(std::size_t i) { return free2[i]; }, free_sum_.data(), kLight);
}

/// Masses, and velocities without impulses.
void ManifoldSolver::fill_masses(Context& ctx, const DeviceBodies& bodies) {
  v_.resize(ctx, (bodies_ + 1) * kMotionFields);
  mass_.resize(ctx, (bodies_ + 1) * kMotionFields);
  const std::size_t n = bodies_;
  const BodyInverse* inverse = bodies.inverse.data();
  const double* free = bodies.free.data();
  double *v = v_.data(), *mass = mass_.data();
  launch(
      ctx, n + 1,
      [=] SS_LAMBDA(std::size_t b) {
        double* row = v + b * kMotionFields;
        for (std::size_t i = 0; i < kMotionFields; ++i) row[i] = 0;
        put_mass(b < n ? inverse[b] : BodyInverse{0, {}}, mass + b * kMotionFields);
        for (std::size_t i = 0; b < n && i < 3; ++i) {
          row[i] = free[6 * b + i];
          row[4 + i] = free[6 * b + 3 + i];
        }
      },
      kMedium);
}

template <class Op>
void ManifoldSolver::each_pack(Context& ctx, bool backward, Op op) {
  const ManifoldView packs = view();
  for (std::size_t step = 0; step < order_.batches(); ++step) {
    const std::size_t b = backward ? order_.batches() - 1 - step : step;
    const std::size_t first = order_.batch(b), runs = order_.batch(b + 1) - first;
#if STICKSLIP_ON_CUDA
    launch(ctx, runs * kPackWidth,
           [=] SS_LAMBDA(std::size_t i) { run_on_pack(packs, first * kPackWidth + i, op); });
#else
    const std::int32_t* start = order_.run_start() + first;
    launch(
        ctx, runs,
        [=](std::size_t run) {
          const auto begin = static_cast<std::size_t>(start[run]),
                     end = static_cast<std::size_t>(start[run + 1]);
          for (std::size_t k = begin; k < end; ++k)
            run_on_pack(packs, backward ? begin + end - 1 - k : k, op);
        },
        Grain{1});
#endif
  }
}

void ManifoldSolver::push_impulses(Context& ctx) { each_pack(ctx, false, PushOp{}); }

void ManifoldSolver::sweep(Context& ctx, const ManifoldSweep& options) {
  each_pack(ctx, options.backward, SweepOp{options});
}

double ManifoldSolver::residual(Context& ctx) {
  const ManifoldView packs = view();
  JudgedSums* judged = judged_.data();
  const double* free2 = free_sum_.data();
  reduce_sum(
      ctx, order_.packs() * (kPackWidth / kPackLanes),
      [=] SS_LAMBDA(std::size_t i) { return run_on_pack(packs, i, JudgeOp{}); }, pair_sum_.data(), kMedium);
  const Vec<double, 2>* pair = pair_sum_.data();
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { *judged = {(*pair)[0], (*pair)[1], *free2}; });
  const JudgedSums sums = read_back(ctx, judged);
  const double size2 = std::max(sums.speed2, sums.free2);
  return size2 > 0 ? std::sqrt(sums.error2 / size2) : 0.0;
}

/// Where a sweep starts.
void ManifoldSolver::remember(Context& ctx) {
  impulse_before_.resize(ctx, impulse_.size());
  v_before_.resize(ctx, v_.size());
  copy(ctx, impulse_before_.data(), impulse_.data(), impulse_.size());
  copy(ctx, v_before_.data(), v_.data(), v_.size());
}

void ManifoldSolver::go_further(Context& ctx) {
  const std::size_t n = impulse_.size(), numbers = v_.size();
  p_.resize(ctx, n);
  p_v_.resize(ctx, numbers);
  double *p = p_.data(), *p_v = p_v_.data(), *r = impulse_.data(), *v = v_.data();
  const double *r_before = impulse_before_.data(), *v_before = v_before_.data(), *mass = mass_.data(),
               *data = data_.data();
  ConjugateSums* sums = sums_.data();
  reduce_sum(
      ctx, bodies_,
      [=] SS_LAMBDA(std::size_t b) {
        const std::size_t at = b * kMotionFields;
        double d[kMotionFields];
        for (std::size_t i = 0; i < kMotionFields; ++i) d[i] = v[at + i] - v_before[at + i];
        return sums->energy > 0 ? mass_product(mass + at, p_v + at, d) : 0.0;
      },
      sum_.data(), kMedium);
  const double* sum = sum_.data();
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { sums->conjugation = *sum; });
  launch(
      ctx, numbers,
      [=] SS_LAMBDA(std::size_t i) { p_v[i] = conjugate(sums->beta(), p_v[i], v[i] - v_before[i]); }, kLight);
  launch(
      ctx, n, [=] SS_LAMBDA(std::size_t i) { p[i] = conjugate(sums->beta(), p[i], r[i] - r_before[i]); },
      kLight);

  Vec<double, 2>* pair = pair_sum_.data();
  reduce_sum(
      ctx, bodies_,
      [=] SS_LAMBDA(std::size_t b) {
        const std::size_t at = b * kMotionFields;
        return Vec<double, 2>{mass_product(mass + at, p_v + at, p_v + at),
                              mass_product(mass + at, p_v + at, v_before + at)};
      },
      pair, kMedium);
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
    sums->energy = (*pair)[0];
    sums->slope = (*pair)[1];
  });
  reduce_sum(
      ctx, n / 3,
      [=] SS_LAMBDA(std::size_t i) {
        constexpr std::size_t lanes = kPackWidth, rows = kManifoldPoints;
        const std::size_t lane = i % lanes, point = i / lanes % rows, pack = i / lanes / rows;
        const std::size_t at = (pack * kImpulseFields + 3 * point) * lanes + lane;
        const double* cell =
            data +
            (pack * kManifoldFields + static_cast<std::size_t>(point_at(static_cast<int>(point)))) * lanes +
            lane;
        const double speed = cell[point_field::speed * lanes], softness = cell[point_field::softness * lanes];
        return Vec<double, 2>{softness * p[at] * p[at], (speed + softness * r_before[at]) * p[at]};
      },
      pair, kMedium);
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
    sums->soft_energy = (*pair)[0];
    sums->soft_slope = (*pair)[1];
    // No way down: what the sweep found stays, and the next direction is its own.
    if (!(sums->alpha() > 0)) sums->energy = sums->soft_energy = 0;
  });
  launch(
      ctx, numbers,
      [=] SS_LAMBDA(std::size_t i) {
        if (sums->energy > 0) v[i] = v_before[i] + sums->alpha() * p_v[i];
      },
      kLight);
  launch(
      ctx, n,
      [=] SS_LAMBDA(std::size_t i) {
        if (sums->energy > 0) r[i] = r_before[i] + sums->alpha() * p[i];
      },
      kLight);
}

void ManifoldSolver::solve(Context& ctx, const LabParams& params, ContactSolveRecord& record) {
  record.tolerance = params.tolerance;
  record.message.clear();
  record.iterations = 0;
  record.residual = 0;
  record.colours = static_cast<int>(order_.batches());
  if (order_.packs() == 0) return;
  const auto begin = std::chrono::steady_clock::now();
  fill(ctx, sums_.data(), 1, ConjugateSums{});
  const ManifoldSweep forth{params.prox_local_steps, params.omega, false},
      back{params.prox_local_steps, params.omega, true};
  const long interval = params.check_interval > 0 ? params.check_interval : kLookInterval;
  for (long i = 1; i <= params.max_iterations; ++i) {
    const bool last = i == params.max_iterations;
    if (params.conjugate) remember(ctx);
    sweep(ctx, forth);
    if (params.conjugate) sweep(ctx, back);
    record.iterations = i;
    // What is judged, and what comes back, is what a sweep left: impulses in their cones.
    if (last || i % interval == 0) {
      record.residual = residual(ctx);
      if (last || record.residual <= params.tolerance) break;
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
      if (params.time_budget > 0 && spent.count() > params.time_budget) break;
    }
    if (params.conjugate) go_further(ctx);
  }
}

void ManifoldSolver::velocities(Context& ctx, DeviceBodies& bodies) const {
  const double* v = v_.data();
  V3 *linear = bodies.velocity.data(), *spin = bodies.spin.data();
  launch(
      ctx, bodies_,
      [=] SS_LAMBDA(std::size_t b) {
        for (int i = 0; i < 3; ++i) {
          linear[b][i] = v[b * kMotionFields + static_cast<std::size_t>(i)];
          spin[b][i] = v[b * kMotionFields + 4 + static_cast<std::size_t>(i)];
        }
      },
      kMedium);
}

void ManifoldSolver::impulses(Context& ctx, Vec<double, 3>* r) const {
  const std::int32_t* slot = order_.slot();
  const ManifoldRange* ranges = order_.ranges();
  const double* impulse = impulse_.data();
  launch(
      ctx, order_.manifolds(),
      [=] SS_LAMBDA(std::size_t m) {
        const auto pack = static_cast<std::size_t>(slot[m] / kPackWidth);
        const PackCell<const double> cell{impulse + pack * kImpulseFields * kPackWidth + slot[m] % kPackWidth,
                                          kPackWidth};
        for (int p = 0; p < ranges[m].count; ++p) r[ranges[m].first + p] = cell.get3<double>(3 * p);
      },
      kMedium);
}

void ManifoldSolver::world_impulses(Context& ctx, Vec<double, 4>* out) const {
  const std::int32_t* slot = order_.slot();
  const ManifoldRange* ranges = order_.ranges();
  const double *impulse = impulse_.data(), *data = data_.data();
  launch(
      ctx, order_.manifolds(),
      [=] SS_LAMBDA(std::size_t m) {
        const std::size_t pack = static_cast<std::size_t>(slot[m] / kPackWidth),
                          lane = static_cast<std::size_t>(slot[m] % kPackWidth);
        const PackCell<const double> cell{data + pack * kManifoldFields * kPackWidth + lane, kPackWidth},
            impulses{impulse + pack * kImpulseFields * kPackWidth + lane, kPackWidth};
        const V3 n = cell.get3<double>(manifold_field::normal),
                 t = cell.get3<double>(manifold_field::tangent);
        const V3 b = cross(n, t);
        for (int p = 0; p < ranges[m].count; ++p) {
          const V3 r = impulses.get3<double>(3 * p), f = r[0] * n + r[1] * t + r[2] * b;
          out[ranges[m].first + p] = {f[0], f[1], f[2], 0.0};
        }
      },
      kMedium);
}

void ManifoldSolver::put_blocks(Context& ctx, const BlockWriter<3>& writer, ContactLaw<3>* law) const {
  const std::int32_t *slot = order_.slot(), *body = body_.data(), world = static_cast<std::int32_t>(bodies_);
  const ManifoldRange* ranges = order_.ranges();
  const double* data = data_.data();
  launch(
      ctx, order_.manifolds(),
      [=] SS_LAMBDA(std::size_t m) {
        const std::size_t pack = static_cast<std::size_t>(slot[m] / kPackWidth),
                          lane = static_cast<std::size_t>(slot[m] % kPackWidth);
        const PackCell<const double> cell{data + pack * kManifoldFields * kPackWidth + lane, kPackWidth};
        const std::int32_t* sides = body + pack * 2 * kPackWidth + lane;
        const auto index = [&](std::int32_t b) { return b >= 0 ? b : ~b == world ? -1 : ~b; };
        for (int p = 0; p < ranges[m].count; ++p) {
          const ConstraintBlock<3> block = block_of(cell, p, index(sides[0]), index(sides[kPackWidth]));
          const auto c = static_cast<std::size_t>(ranges[m].first + p);
          law[c] = block.law;
          writer.put(c, block);
        }
      },
      kMedium);
}

}  // namespace stickslip::STICKSLIP_BACKEND
