#include "gpu/linear/body_blocks.cuh"

#include "gpu/core/reduce.h"
#include "gpu/math/spd.h"

namespace stickslip {
namespace {

constexpr int kPairs = 6;

/// Where the coupling of corners (a, b), a > b, stands.
SS_HD constexpr int pair_index(int a, int b) { return a * (a - 1) / 2 + b; }

/// What corner a of a stencil adds to its body's block: its couplings with earlier corners of the same body.
SS_HD BodyBlock stencil_share(const EmbeddingView& embedding, const Vec4i& nodes, const Mat3* couplings,
                              int a) {
  BodyBlock share{};
  const std::int32_t body = embedding.body(nodes[a]);
  const Vec<Real, kMostLeaders>& wa = embedding.weights(nodes[a]);
  for (int b = 0; b < a; ++b) {
    if (nodes[b] < 0 || embedding.body(nodes[b]) != body) continue;
    const Vec<Real, kMostLeaders>& wb = embedding.weights(nodes[b]);
    const Mat3 c = couplings[pair_index(a, b)], ct = c.transposed();
    for (int k = 0; k < 4; ++k)
      for (int l = 0; l <= k; ++l) share(k, l) += (wa[k] * wb[l]) * c + (wb[k] * wa[l]) * ct;
  }
  return share;
}

SS_HD bool shares_body_with_earlier(const EmbeddingView& embedding, const Vec4i& nodes, int a) {
  if (nodes[a] < 0 || embedding.body(nodes[a]) < 0) return false;
  for (int b = 0; b < a; ++b)
    if (nodes[b] >= 0 && embedding.body(nodes[b]) == embedding.body(nodes[a])) return true;
  return false;
}

SS_HD Mat<Real, 12> inverse_or_mean(const Mat<Real, 12>& block) {
  if (factor_ldl(block).positive) return inverse_spd(block);
  return (Real(12) / trace(block)) * Mat<Real, 12>::identity();
}

}  // namespace
}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

void BodyBlocks::assemble(Context& ctx, const Embedding& embedding, const BodyBlockSources& sources) {
  const std::size_t n = embedding.body_count();
  blocks_.resize(ctx, n);
  BodyBlock* blocks = blocks_.data();
  const BodyBlockSources from = sources;
  embedding.sum_by_body(
      ctx,
      [=] SS_LAMBDA(const EmbeddedNode& s) {
        BodyBlock share{};
        for (int k = 0; k < 4; ++k)
          for (int l = 0; l <= k; ++l) share(k, l) = (s.weights[k] * s.weights[l]) * from.diagonal[s.node];
        return share;
      },
      partial_, blocks);

  const EmbeddingView view = embedding.view();
  launch(
      ctx, n,
      [=] SS_LAMBDA(std::size_t body) {
        const std::int32_t* entries = from.control_entries + kPairs * body;
        for (int k = 0; k < 4; ++k) {
          blocks[body](k, k) += from.diagonal[view.control[body] + k];
          for (int l = 0; l < k; ++l) blocks[body](k, l) += from.lower[entries[pair_index(k, l)]];
        }
      },
      kMedium);

  stencil_bodies_.resize(ctx, from.stencil_count);
  Vec4i* bodies = stencil_bodies_.data();
  launch(ctx, from.stencil_count, [=] SS_LAMBDA(std::size_t s) {
    const Vec4i nodes = from.stencils[s];
    for (int a = 0; a < 4; ++a)
      bodies[s][a] = shares_body_with_earlier(view, nodes, a) ? view.body(nodes[a]) : -1;
  });
  stencil_gather_.build(ctx, bodies, from.stencil_count, n);
  stencil_gather_.sum(
      ctx,
      [=] SS_LAMBDA(std::int32_t corner) {
        const auto s = static_cast<std::size_t>(corner / 4);
        return stencil_share(view, from.stencils[s], from.couplings + kPairs * s, corner % 4);
      },
      blocks);
}

void BodyBlocks::set_stiffness(Context& ctx, const Embedding& embedding, Real* stiffness) const {
  const EmbeddingView view = embedding.view();
  const BodyBlock* blocks = blocks_.data();
  launch(ctx, embedding.body_count(), [=] SS_LAMBDA(std::size_t b) {
    for (int k = 0; k < 4; ++k) stiffness[view.control[b] + k] = blocks[b].trace() / 4;
  });
  launch(ctx, embedding.node_count(), [=] SS_LAMBDA(std::size_t i) {
    const EmbeddedNode& s = view.nodes[i];
    if (s.body >= 0) stiffness[s.node] = stiffness[s.controls[0]];
  });
}

void BodyBlocksInverse::build(Context& ctx, const Embedding& embedding, const BodyBlocks& blocks,
                              const std::uint8_t* fixed) {
  embedding_ = &embedding;
  inverse_.resize(ctx, embedding.body_count());
  absent_.resize(ctx, embedding.all_node_count());
  dot_.resize(ctx, 1);
  Mat<Real, 12>* inverse = inverse_.data();
  const BodyBlock* block = blocks.data();
  launch(
      ctx, embedding.body_count(),
      [=] SS_LAMBDA(std::size_t b) { inverse[b] = inverse_or_mean(block[b].dense()); }, kHeavy);
  const EmbeddingView view = embedding.view();
  std::uint8_t* absent = absent_.data();
  launch(ctx, absent_.size(), [=] SS_LAMBDA(std::size_t i) {
    absent[i] = !view.is_free(static_cast<std::int32_t>(i)) || (fixed != nullptr && fixed[i] != 0);
  });
}

void BodyBlocksInverse::set_local(Context& ctx, const BodyBlocks& blocks, Symmetric3* inverse) {
  if (embedding_ == nullptr) return;
  const EmbeddingView view = embedding_->view();
  const BodyBlock* block = blocks.data();
  launch(ctx, embedding_->body_count(), [=] SS_LAMBDA(std::size_t b) {
    for (int k = 0; k < 4; ++k) inverse[view.control[b] + k] = inverse_spd(block[b](k, k));
  });
}

void BodyBlocksInverse::replace(Context& ctx, const Vec3* r, Vec3* z, Real* r_dot_z,
                                const std::int32_t* skip) {
  if (embedding_ == nullptr) return;
  const Mat<Real, 12>* inverse = inverse_.data();
  const EmbeddingView view = embedding_->view();
  Real* dot = dot_.data();
  reduce_sum(
      ctx, embedding_->body_count(),
      [=] SS_LAMBDA(std::size_t b) {
        if (*skip != 0) return Real(0);
        const std::int32_t c = view.control[b];
        Real sum = 0;
        for (int i = 0; i < 12; ++i) {
          Real z_new = 0;
          for (int j = 0; j < 12; ++j) z_new += inverse[b](i, j) * r[c + j / 3][j % 3];
          Real& z_i = z[c + i / 3][i % 3];
          sum += (z_new - z_i) * r[c + i / 3][i % 3];
          z_i = z_new;
        }
        return sum;
      },
      dot, kMedium);
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
    if (*skip == 0) *r_dot_z += *dot;
  });
}

}  // namespace stickslip::STICKSLIP_BACKEND
