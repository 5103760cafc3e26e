// Lemke's method on the linear complementarity problem of friction cones with facets [Course 1.6, Eq.34],
// dense and on the host for either backend: small problems only.
//
// The impulse of a contact is r = r_N n + sum beta_i d_i with d_i on the rim of the section (r_N = 1), beta_i
// >= 0 and sum beta_i <= r_N. With the slack lambda >= 0, the largest -d_i . u_T of a sliding contact, the
// law is
//   0 <= u_N                  complementary to  r_N >= 0,
//   0 <= d_i . u_T + lambda   complementary to  beta_i >= 0,
//   0 <= r_N - sum beta_i     complementary to  lambda >= 0.
// For a disc the d_i are the vertices of an inscribed polygon, so the cone is a part of Coulomb's. For a box
// they are its corners: that law is solved exactly. Joints are eliminated first. Where W is singular,
// problems with W + E are solved that tend to the given one (proximal steps, as in pivot.cu).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numbers>
#include <optional>
#include <string>

#include "gpu/dfcp/solvers/lemke_dense.h"
#include "gpu/dfcp/solvers/row_sweep.cuh"
#include "gpu/dfcp/solvers/solvers.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// The vertices d_i of a contact's section at r_N = 1.
template <int D>
std::vector<Vec<double, D - 1>> section_vertices(const ContactLaw<D>& law, int facets) {
  using Tangent = Vec<double, D - 1>;
  std::vector<Tangent> vertices;
  const bool smooth = std::ranges::all_of(law.mu.v, [](double m) { return !(m > 0); });
  if (law.set == FrictionSet::bilateral || smooth) return vertices;
  if (law.set == FrictionSet::box) {
    for (int corner = 0; corner < 1 << (D - 1); ++corner) {
      Tangent d = law.mu;
      for (int i = 0; i < D - 1; ++i)
        if ((corner >> i & 1) != 0) d[i] = -d[i];
      vertices.push_back(d);
    }
    return vertices;
  }
  for (int i = 0; i < facets; ++i) {
    const double angle = 2 * std::numbers::pi * i / facets;
    Tangent d{};
    d[0] = law.mu[0] * std::cos(angle);
    d[1] = law.mu[1] * std::sin(angle);
    vertices.push_back(d);
  }
  for (int axis = 2; axis < D - 1; ++axis)
    for (const double side : {1.0, -1.0}) {
      Tangent d{};
      d[axis] = side * law.mu[axis];
      vertices.push_back(d);
    }
  return vertices;
}

/// A variable of the linear complementarity problem, a direction of one block's impulse; `slack`: lambda.
template <int D>
struct FacetVariable {
  std::size_t block;
  Vec<double, D> direction;
  bool slack;
};

template <int D>
class FacetProblem {
 public:
  FacetProblem(System<D>& s, const std::vector<ContactLaw<D>>& law) : s_(s), rows_(s.blocks() * D) {
    for (std::size_t c = 0; c < law.size(); ++c) {
      if (law[c].set == FrictionSet::bilateral) {
        for (std::size_t i = 0; i < D; ++i) joint_rows_.push_back(c * D + i);
        continue;
      }
      const auto vertices = section_vertices(law[c], s.params.facets);
      variables_.push_back({c, from_parts<D>(1, {}), false});
      for (const auto& vertex : vertices) variables_.push_back({c, from_parts<D>(0, vertex), false});
      if (!vertices.empty()) variables_.push_back({c, Vec<double, D>::zero(), true});
    }
  }

  std::size_t size() const { return variables_.size(); }

  /// Forms the problem; velocities are in units of |q|_inf, impulses in those of |q|_inf over the mean
  /// diagonal of W. False: the rows of the joints depend on each other, or the budget is spent.
  bool assemble() {
    read_matrix();
    velocity_ = 1e-300;
    for (const double q : q_) velocity_ = std::max(velocity_, std::fabs(q));
    impulse_ = velocity_ / s_.W.mean_diagonal();
    if (!joint_rows_.empty() && !eliminate_joints()) return false;
    const std::size_t n = size();
    given_.n = n;
    given_.m.reserve(n * n);
    given_.q.assign(n, 0.0);
    const double unit = impulse_ / velocity_;
    for (std::size_t i = 0; i < n; ++i) {
      if (s_.monitor.out_of_budget()) return false;
      const FacetVariable<D>& a = variables_[i];
      for (int k = 0; k < D; ++k)
        given_.q[i] += a.direction[k] * q_[a.block * D + static_cast<std::size_t>(k)] / velocity_;
      for (std::size_t j = 0; j < n; ++j)
        given_.m.push_back(unit * product(a, variables_[j]) + coupling(i, j));
    }
    return true;
  }

  /// A proximal step: the problem with W + `shift` times its mean diagonal, centred at the impulses of z.
  ComplementarityProblem shifted(const std::vector<double>& z, double shift) const {
    ComplementarityProblem p = given_;
    for (std::size_t i = 0; i < p.n; ++i)
      for (std::size_t j = 0; j < p.n; ++j) {
        if (variables_[i].block != variables_[j].block) continue;
        const double add = shift * dot(variables_[i].direction, variables_[j].direction);
        p.m[i * p.n + j] += add;
        p.q[i] -= add * z[j];
      }
    return p;
  }

  /// True for a direction whose impulses move nothing, but would have to stop something.
  bool contradicts(const std::vector<double>& z) const {
    constexpr double kRounding = 1e-9;
    double along = 0, moved = 0, size = 0;
    for (std::size_t i = 0; i < given_.n; ++i) {
      if (variables_[i].slack) continue;
      double w = 0;
      for (std::size_t j = 0; j < given_.n; ++j)
        if (!variables_[j].slack) w += given_.m[i * given_.n + j] * z[j];
      along += given_.q[i] * z[i];
      moved = std::max(moved, std::fabs(w));
      size = std::max(size, std::fabs(z[i]));
    }
    return along < -kRounding * size && moved < kRounding * size;
  }

  const ComplementarityProblem& given() const { return given_; }
  /// `error` of z in velocities, relative to |q|_2 as the judge's residual.
  double relative(double error) const { return error * velocity_ / std::max(s_.W.norm_q(), 1e-300); }

  /// The impulses of z, of joints too.
  std::vector<double> impulses(const std::vector<double>& z) const {
    std::vector<double> r(rows_, 0.0);
    for (std::size_t i = 0; i < size(); ++i)
      for (int k = 0; k < D; ++k)
        r[variables_[i].block * D + static_cast<std::size_t>(k)] +=
            impulse_ * z[i] * variables_[i].direction[k];
    if (joint_rows_.empty()) return r;
    std::vector<double> x;
    for (const std::size_t row : joint_rows_) {
      double u = joint_q_[x.size()];
      for (std::size_t j = 0; j < rows_; ++j) u += given_w_[row * rows_ + j] * r[j];
      x.push_back(-u);
    }
    joints_->solve(x.data());
    for (std::size_t k = 0; k < x.size(); ++k) r[joint_rows_[k]] = x[k];
    return r;
  }

 private:
  void read_matrix() {
    w_.assign(rows_ * rows_, 0.0);
    q_.resize(rows_);
    copy_to_host(s_.ctx, q_.data(), reinterpret_cast<const double*>(s_.W.q()), rows_);
    const auto start = s_.W.pattern_start(), column = s_.W.pattern_column();
    const auto value = s_.W.host_values(s_.ctx);
    for (std::size_t c = 0; c < s_.blocks(); ++c)
      for (auto k = static_cast<std::size_t>(start[c]); k < static_cast<std::size_t>(start[c + 1]); ++k)
        for (int i = 0; i < D; ++i)
          for (int j = 0; j < D; ++j)
            w_[(c * D + static_cast<std::size_t>(i)) * rows_ + static_cast<std::size_t>(column[k]) * D +
               static_cast<std::size_t>(j)] += value[k](i, j);
  }

  /// W := W - W_j W_jj^-1 W_j' and q likewise, for the joints' rows j, in the rows and columns of contacts.
  bool eliminate_joints() {
    const std::size_t k = joint_rows_.size();
    std::vector<double> own(k * k);
    for (std::size_t a = 0; a < k; ++a)
      for (std::size_t b = 0; b < k; ++b) own[a * k + b] = w_[joint_rows_[a] * rows_ + joint_rows_[b]];
    // Joints that depend on each other make this matrix singular up to rounding.
    for (std::size_t a = 0; a < k; ++a) own[a * k + a] *= 1 + 1e-13;
    const auto stop = [&] { return s_.monitor.out_of_budget(); };
    joints_.emplace(k, std::move(own), stop);
    if (!joints_->regular()) return false;
    given_w_ = w_;
    std::vector<std::size_t> contact_rows;
    for (std::size_t i = 0, joint = 0; i < rows_; ++i) {
      if (joint < k && joint_rows_[joint] == i) ++joint;
      else contact_rows.push_back(i);
    }
    std::vector<double> x(k);
    const auto subtract = [&](const auto& entry_of_joint, const auto& subtract_from) {
      for (std::size_t a = 0; a < k; ++a) x[a] = entry_of_joint(joint_rows_[a]);
      joints_->solve(x.data());
      for (const std::size_t i : contact_rows) {
        double sum = 0;
        for (std::size_t a = 0; a < k; ++a) sum += given_w_[i * rows_ + joint_rows_[a]] * x[a];
        subtract_from(i, sum);
      }
    };
    for (const std::size_t row : joint_rows_) joint_q_.push_back(q_[row]);
    subtract([&](std::size_t row) { return q_[row]; }, [&](std::size_t i, double sum) { q_[i] -= sum; });
    for (const std::size_t j : contact_rows) {
      if (stop()) return false;
      subtract([&](std::size_t row) { return given_w_[row * rows_ + j]; },
               [&](std::size_t i, double sum) { w_[i * rows_ + j] -= sum; });
    }
    return true;
  }

  double product(const FacetVariable<D>& a, const FacetVariable<D>& b) const {
    double sum = 0;
    for (std::size_t i = 0; i < D; ++i)
      for (std::size_t j = 0; j < D; ++j)
        sum += a.direction[static_cast<int>(i)] * w_[(a.block * D + i) * rows_ + b.block * D + j] *
               b.direction[static_cast<int>(j)];
    return sum;
  }

  /// The entries of lambda's column and row.
  double coupling(std::size_t i, std::size_t j) const {
    const FacetVariable<D>&a = variables_[i], &b = variables_[j];
    if (a.block != b.block || a.slack == b.slack) return 0;
    const bool normal = (a.slack ? b : a).direction[0] > 0;
    if (b.slack) return normal ? 0 : 1;
    return normal ? 1 : -1;
  }

  System<D>& s_;
  std::size_t rows_;
  std::vector<std::size_t> joint_rows_;
  std::vector<FacetVariable<D>> variables_;
  std::vector<double> w_, q_, given_w_, joint_q_;
  std::optional<DenseLu> joints_;
  ComplementarityProblem given_;
  double velocity_ = 0, impulse_ = 0;
};

template <int D>
void stop_with_law(System<D>& s, double residual) {
  char text[200];
  std::snprintf(
      text, sizeof text,
      "solves friction cones with %d facets, of which the residual is %.2g; the problem has another "
      "law, of which it is %.2g",
      s.params.facets, residual, s.monitor.best_residual());
  s.monitor.stop(SolveEnd::stalled, text);
}

template <int D>
void run_lemke(System<D>& s, FacetProblem<D>& facets) {
  constexpr int kProximalSteps = 8;
  constexpr double kShift = 1e-6;  // relative to the mean diagonal of W
  std::vector<double> z(facets.size(), 0.0), next;
  long pivots = 0;
  const auto stop = [&] { return s.monitor.out_of_budget(); };
  double error = std::numeric_limits<double>::infinity();
  // The problem as it is first; where W is singular, rounding can make that fail.
  for (int k = 0; k <= kProximalSteps && facets.relative(error) > 1e-3 * s.params.tolerance; ++k) {
    const LemkeEnd end = k == 0 ? solve_by_lemke(facets.given(), next, pivots, stop)
                                : solve_by_lemke(facets.shifted(z, kShift), next, pivots, stop);
    if (end == LemkeEnd::ray && facets.contradicts(next))
      return s.monitor.stop(SolveEnd::infeasible,
                            "the path of pivots ends in impulses that move nothing, but would have to stop "
                            "something: no velocities satisfy all contacts");
    if (end != LemkeEnd::solved && stop()) return;
    const double now = end == LemkeEnd::solved ? complementarity_error(facets.given(), next)
                                               : std::numeric_limits<double>::infinity();
    if (now < error) {
      z = next;
      error = now;
    } else if (k > 1) {
      break;
    }
  }
  if (!std::isfinite(error))
    return s.monitor.stop(SolveEnd::stalled, "the path of pivots has no end: rounding errors, W is singular");
  // The monitor sees the last iterate only: it keeps the best by the problem's own law.
  const std::vector<double> r = facets.impulses(z);
  copy_to_device(s.ctx, reinterpret_cast<double*>(s.r), r.data(), r.size());
  Buffer<Vec<double, D>> u(s.ctx, s.blocks());
  s.W.apply(s.ctx, s.r, u.data(), true);
  if (s.monitor.done(s.r, u.data())) return;
  const double residual = facets.relative(error);
  if (residual <= s.params.tolerance) return stop_with_law(s, residual);
  char text[120];
  std::snprintf(text, sizeof text, "pivots leave a residual of %.2g of the cones with facets: W is singular",
                residual);
  s.monitor.stop(SolveEnd::stalled, text);
}

/// Why the method does not take a problem; empty: it does.
template <int D>
std::string refusal_of(const System<D>& s, const std::vector<ContactLaw<D>>& law) {
  if (s.W.factored()) return "lemke needs the entries of W: set storage = assembled";
  for (const ContactLaw<D>& l : law)
    if (l.flow == FlowRule::associated && l.set != FrictionSet::bilateral && !is_box_law(l))
      return "lemke solves Coulomb's flow rule, not the associated one";
  return {};
}

}  // namespace

template <int D>
void solve_lemke(System<D>& s) {
  std::vector<ContactLaw<D>> law(s.blocks());
  copy_to_host(s.ctx, law.data(), s.law, law.size());
  if (const std::string refusal = refusal_of(s, law); !refusal.empty())
    return s.monitor.stop(SolveEnd::refused, refusal);
  FacetProblem<D> facets(s, law);
  if (facets.size() > static_cast<std::size_t>(s.params.pivot_rows) ||
      s.blocks() * D > static_cast<std::size_t>(s.params.pivot_rows))
    return s.monitor.stop(SolveEnd::refused, std::to_string(std::max(facets.size(), s.blocks() * D)) +
                                                 " rows are too many for dense pivoting (pivot_rows = " +
                                                 std::to_string(s.params.pivot_rows) +
                                                 "); fewer facets make fewer rows");
  if (!facets.assemble()) {
    if (s.monitor.out_of_budget()) return;
    return s.monitor.stop(SolveEnd::refused, "lemke does not take joints that depend on each other");
  }
  run_lemke(s, facets);
}
STICKSLIP_SOLVER(solve_lemke)

}  // namespace stickslip::STICKSLIP_BACKEND
