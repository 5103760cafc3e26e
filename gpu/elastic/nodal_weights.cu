// ElasticSolids: the weights of nodes for ADMM, and A + W in place of A.
#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/elastic/elastic_solids.cuh"
#include "gpu/math/eigen.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// w_j = max(sigma eta_j, min(beta m_j, eta_j)) [Daviet20 §6.2.6], eta_j [kg] the smallest eigenvalue of
/// A_jj. A block is that of A / dt^2.
struct WeightRule {
  double beta, sigma, dt2;

  SS_HD double operator()(const Mat3& block, double mass) const {
    Mat<double, 3> a{};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j <= i; ++j) a(i, j) = a(j, i) = dt2 * static_cast<double>(block(i, j));
    const double least = symmetric_eigen(a).values[0], eta = least > 0 ? least : 0;
    const double limited = beta * mass < eta ? beta * mass : eta;
    return sigma * eta > limited ? sigma * eta : limited;
  }
};

/// A third of the trace of A_jj [kg], times `scale`.
struct TraceRule {
  double scale, dt2;

  SS_HD double operator()(const Mat3& block, double) const {
    return scale * dt2 * static_cast<double>(trace(block)) / 3;
  }
};

/// The weights of nodes that have blocks of their own in A; zero for others.
template <class Rule>
struct NodeWeights {
  Rule rule;
  const std::uint8_t* held;
  const std::int32_t* touches;   // null: all nodes have weights; else those where it is not zero
  const std::int32_t* embedded;  // see EmbeddingView::index; null: no node follows others
  const Mat3* diagonal;
  const Real* mass;
  double* out;

  SS_HD void operator()(std::size_t i) const {
    const bool is_free = held[i] == 0 && (touches == nullptr || touches[i] != 0) &&
                         (embedded == nullptr || embedded[i] == EmbeddingView::kFree ||
                          embedded[i] == EmbeddingView::kLattice);
    out[i] = is_free ? rule(diagonal[i], static_cast<double>(mass[i])) : 0;
  }
};

struct OneCorner {
  SS_HD std::int32_t operator()(std::int32_t) const { return 1; }
};

/// Those of the control nodes of affine bodies, each with a quarter of the mass.
template <class Rule>
struct ControlWeights {
  Rule rule;
  const std::uint8_t* held;
  const std::int32_t* control;
  const BodyBlock* block;
  const double* mass;  // [kg] per body
  double* out;

  SS_HD void operator()(std::size_t body) const {
    for (int k = 0; k < 4; ++k) {
      const std::int32_t node = control[body] + k;
      out[node] = held[node] == 0 ? rule(block[body](k, k), 0.25 * mass[body]) : 0;
    }
  }
};

/// A start with parts of all modes.
struct StartPowers {
  const double* weight;
  Vec3* at;

  SS_HD void operator()(std::size_t i) const {
    for (int k = 0; k < 3; ++k)
      at[i][k] =
          weight[i] > 0
              ? ((i * 2654435761U + 40503U * static_cast<unsigned>(k)) >> 9 & 1U) != 0 ? Real(1) : Real(-1)
              : Real(0);
  }
};

/// at = D^-1 A at; `image` is A at / dt^2. Returns a node's part of |at|^2 in the norm of D.
struct PowerOfNode {
  const double* weight;
  double dt2;
  const Vec3* image;
  Vec3* at;

  SS_HD double operator()(std::size_t i) const {
    if (!(weight[i] > 0)) return 0;
    const double factor = dt2 / weight[i];
    const Vec<double, 3> next = factor * image[i].template cast<double>();
    at[i] = next.template cast<Real>();
    return weight[i] * norm2(next);
  }
};

struct ScalePower {
  Real factor;
  Vec3* at;

  SS_HD void operator()(std::size_t i) const { at[i] *= factor; }
};

/// to = scale weight.
void scale_weights(Context& ctx, std::size_t n, double scale, const double* weight, Real* to) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { to[i] = static_cast<Real>(scale * weight[i]); });
}

}  // namespace

template <class Rule>
void ElasticSolids::weigh(Context& ctx, const Rule& rule, const std::int32_t* touches, double* weight) const {
  const EmbeddingView view = embedding_.view();
  launch(ctx, size(),
         NodeWeights<Rule>{rule, device_.scripted.data(), touches, embedding_.empty() ? nullptr : view.index,
                           matrix_.diagonal(), device_.mass.data(), weight},
         kMedium);
  launch(ctx, embedding_.body_count(),
         ControlWeights<Rule>{rule, device_.scripted.data(), view.control, matrix_.body_blocks().data(),
                              affine_mass_.data(), weight},
         kMedium);
}

void ElasticSolids::nodal_weights(Context& ctx, const NodeGather* points, double* weight) {
  const WeightRule rule{params_.admm_beta, params_.admm_sigma, params_.dt * params_.dt};
  // Points of affine bodies and of lattices move other nodes.
  if (points == nullptr || !embedding_.empty()) return weigh(ctx, rule, nullptr, weight);
  touch_count_.resize(ctx, size());
  fill(ctx, touch_count_.data(), size(), std::int32_t{0});
  points->sum(ctx, OneCorner{}, touch_count_.data());
  weigh(ctx, rule, touch_count_.data(), weight);
}

void ElasticSolids::jacobi_weights(Context& ctx, double* weight) {
  // A Jacobi step is stable where twice the weights exceed A. Power iterations estimate the largest
  // eigenvalue of D^-1 A.
  constexpr int kPowers = 40;
  constexpr double kMargin = 1.25;  // powers estimate the largest eigenvalue from below
  weigh(ctx, TraceRule{1, params_.dt * params_.dt}, nullptr, weight);
  Vec3* at = change_.data();
  launch(ctx, size(), StartPowers{weight, at});
  double ratio = 0;
  for (int k = 0; k < kPowers; ++k) {
    embedding_.expand(ctx, at);
    matrix_.multiply(ctx, at, residual_.data());
    embedding_.reduce(ctx, residual_.data());
    reduce_sum(ctx, size(), PowerOfNode{weight, params_.dt * params_.dt, residual_.data(), at},
               number_.data(), kMedium);
    const double square = read_back(ctx, number_.data());
    if (!(square > 0)) return;  // nothing moves
    if (k > 0) ratio = std::sqrt(square);
    launch(ctx, size(), ScalePower{static_cast<Real>(1 / std::sqrt(square)), at});
  }
  const double scale = 0.5 * kMargin * ratio;
  if (scale > 1) weigh(ctx, TraceRule{scale, params_.dt * params_.dt}, nullptr, weight);
}

void ElasticSolids::jacobi(Context& ctx, const Vec3* impulse, const double* weight, Vec3* velocity) {
  embedding_.expand(ctx, velocity);
  correct(ctx, impulse, velocity);
  const Vec3* residual = residual_.data();
  const double dt2 = params_.dt * params_.dt;
  launch(ctx, size(), [=] SS_LAMBDA(std::size_t i) {
    if (weight[i] > 0) velocity[i] += static_cast<Real>(dt2 / weight[i]) * residual[i];
  });
  embedding_.expand(ctx, velocity);
}

void ElasticSolids::add_weights(Context& ctx, const double* weight, bool again) {
  diagonal_.resize(ctx, size());
  copy(ctx, diagonal_.data(), matrix_.diagonal(), size());
  weight_.resize(ctx, size());
  scale_weights(ctx, size(), 1 / (params_.dt * params_.dt), weight, weight_.data());
  matrix_.add_diagonal(ctx, weight_.data());
  if (!embedding_.empty()) matrix_.set_stencils(ctx, nullptr, 0, nullptr);  // the blocks of affine bodies
  is_weighted_ = true;
  if (again) return;
  has_weighted_modes_ = weighted_.solved = false;
}

void ElasticSolids::remove_weights(Context& ctx) {
  matrix_.restore_diagonal(ctx, diagonal_.data());
  if (!embedding_.empty()) matrix_.set_stencils(ctx, nullptr, 0, nullptr);
  is_weighted_ = false;
}

}  // namespace stickslip::STICKSLIP_BACKEND
