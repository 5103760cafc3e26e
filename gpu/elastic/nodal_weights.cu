// ElasticSolids: the weights of nodes for ADMM, and A + W in place of A.
#include "gpu/core/launch.h"
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

/// The weights of nodes that have blocks of their own in A; zero for others.
struct NodeWeights {
  WeightRule rule;
  const std::uint8_t* held;
  const std::int32_t* embedded;  // see EmbeddingView::index; null: no affine bodies
  const Mat3* diagonal;
  const Real* mass;
  double* out;

  SS_HD void operator()(std::size_t i) const {
    const bool is_free = held[i] == 0 && (embedded == nullptr || embedded[i] == EmbeddingView::kFree);
    out[i] = is_free ? rule(diagonal[i], static_cast<double>(mass[i])) : 0;
  }
};

/// Those of the control nodes of affine bodies, each with a quarter of the mass.
struct ControlWeights {
  WeightRule rule;
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

/// to = scale weight.
void scale_weights(Context& ctx, std::size_t n, double scale, const double* weight, Real* to) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { to[i] = static_cast<Real>(scale * weight[i]); });
}

}  // namespace

void ElasticSolids::nodal_weights(Context& ctx, double* weight) const {
  const WeightRule rule{params_.admm_beta, params_.admm_sigma, params_.dt * params_.dt};
  const EmbeddingView view = embedding_.view();
  launch(ctx, size(),
         NodeWeights{rule, device_.scripted.data(), embedding_.empty() ? nullptr : view.index,
                     matrix_.diagonal(), device_.mass.data(), weight},
         kMedium);
  launch(ctx, embedding_.body_count(),
         ControlWeights{rule, device_.scripted.data(), view.control, matrix_.body_blocks().data(),
                        affine_mass_.data(), weight},
         kMedium);
}

void ElasticSolids::add_weights(Context& ctx, const double* weight) {
  diagonal_.resize(ctx, size());
  copy(ctx, diagonal_.data(), matrix_.diagonal(), size());
  weight_.resize(ctx, size());
  scale_weights(ctx, size(), 1 / (params_.dt * params_.dt), weight, weight_.data());
  matrix_.add_diagonal(ctx, weight_.data());
  if (!embedding_.empty()) matrix_.set_stencils(ctx, nullptr, 0, nullptr);  // the blocks of affine bodies
  weighted_modes_.build(ctx, matrix_, assembled_at_, device_.scripted.data());
  linear_.set_modes(&weighted_modes_);
  solved_ = false;
}

void ElasticSolids::remove_weights(Context& ctx) {
  matrix_.restore_diagonal(ctx, diagonal_.data());
  if (!embedding_.empty()) matrix_.set_stencils(ctx, nullptr, 0, nullptr);
  linear_.set_modes(&modes_);
  solved_ = false;
}

}  // namespace stickslip::STICKSLIP_BACKEND
