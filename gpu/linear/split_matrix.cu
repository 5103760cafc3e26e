#include "gpu/linear/split_matrix.cuh"

#include <algorithm>

#include "gpu/core/reduce.h"
#include "gpu/linear/stencil_product.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

SS_HD constexpr int coupling_block(int k) {
  return k == 0 ? corner_block(1, 0) : k < 3 ? corner_block(2, k - 1) : corner_block(3, k - 3);
}

/// Where the six couplings of each of `tets` stand, whose nodes ascend and are in no other tet.
std::vector<std::int32_t> find_entries(const Pattern& pattern, std::span<const Vec4i> tets) {
  std::vector<Vec2i> place(pattern.node.size(), Vec2i{-1, -1});  // tet and corner per node
  for (std::size_t t = 0; t < tets.size(); ++t)
    for (int a = 0; a < 4; ++a) place[tets[t][a]] = {static_cast<std::int32_t>(t), a};
  std::vector<std::int32_t> entries(kCouplings * tets.size());
  for (std::size_t e = 0; e < pattern.entries.size(); ++e) {
    const Vec2i row = place[pattern.entries[e][0]], column = place[pattern.entries[e][1]];
    if (row[0] < 0 || row[1] < column[1]) continue;  // of no such tet, or a transposed copy
    entries[kCouplings * row[0] + row[1] * (row[1] - 1) / 2 + column[1]] = static_cast<std::int32_t>(e);
  }
  return entries;
}

/// Each stencil adds to the stiffness of its nodes the trace of its blocks / its corners; `by_stencil`: a
/// place for n values.
void add_stencil_stiffness(Context& ctx, const NodeGather& gather, const Vec4i* nodes, std::size_t n,
                           const Mat3* blocks, Real* by_stencil, Real* stiffness) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t s) {
    Real sum = 0;
    int corners = 0;
    for (int a = 0; a < 4; ++a) {
      if (nodes[s][a] < 0) continue;
      sum += trace(blocks[kCornerBlocks * s + corner_block(a, a)]);
      ++corners;
    }
    by_stencil[s] = corners > 0 ? sum / corners : Real(0);
  });
  gather.sum(
      ctx, [=] SS_LAMBDA(std::int32_t corner) { return by_stencil[corner / 4]; }, stiffness);
}

/// The products of stencil s; returns x'(C + C')x.
template <class Coupled>
struct StencilProducts {
  Coupled coupled;
  const Vec4i* stencils;
  const Mat3* couplings;
  const Vec3* x;
  Vec3* products;  // four per stencil
  const std::int32_t* skip;

  SS_HD Real operator()(std::size_t s) const {
    if (skip != nullptr && *skip != 0) return Real(0);
    return stencil_product(stencils[s], couplings + kCouplings * s, coupled, x, products + 4 * s);
  }
};

/// Adds the products of the stencils' corners to their nodes.
void add_products(Context& ctx, const NodeGather& gather, const Vec3* products, Vec3* y) {
  gather.sum(
      ctx, [=] SS_LAMBDA(std::int32_t corner) { return products[corner]; }, y);
}

/// stiffness = a third of the trace, and -1 at nodes that follow others and at control nodes.
void set_node_stiffness(Context& ctx, std::size_t n, const Mat3* diagonal, const EmbeddingView& embedding,
                        float* stiffness) {
  const EmbeddingView nodes = embedding;
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) {
    const bool free = nodes.index == nullptr || nodes.is_free(static_cast<std::int32_t>(i));
    stiffness[i] = free ? static_cast<float>(trace(diagonal[i]) / Real(3)) : -1.0F;
  });
}

/// stiffness += the trace of now - before.
void add_trace_of_change(Context& ctx, std::size_t n, const Mat3* now, const Mat3* before, Real* stiffness) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { stiffness[i] += trace(now[i] - before[i]); });
}

/// *total += *part.
void add_part(Context& ctx, const Real* part, Real* total) {
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { *total += *part; });
}

}  // namespace

void SplitMatrix::set_pattern(Context& ctx, std::size_t node_count, std::span<const Vec4i> elements,
                              Embedding* embedding) {
  const Pattern pattern = make_pattern(node_count, elements, LowerProduct::chunk_size(node_count));
  node_count_ = node_count;
  element_count_ = elements.size();
  pair_count_ = pattern.pair_count();
  entry_count_ = pattern.entries.size();
  drop_stencils();
  embedding_ = embedding;
  if (embedding_ != nullptr) {
    control_entries_.upload(ctx, find_entries(pattern, elements.last(embedding_->body_count())));
    expanded_.resize(ctx, node_count);
  }
  lower_product_.set_pattern(ctx, pattern);
  entries_.upload(ctx, pattern.entries);
  assembly_begin_.upload(ctx, pattern.assembly_begin);
  assembly_.upload(ctx, pattern.assembly);
  const Buffer<Vec4i> corners(ctx, elements);
  element_gather_.build(ctx, corners.data(), elements.size(), node_count);
  std::vector<std::uint8_t> counts;
  if (std::ranges::any_of(elements, [](const Vec4i& e) { return e[3] < 0; }))
    for (const Vec4i& e : elements)
      counts.push_back(static_cast<std::uint8_t>(std::count_if(e.v, e.v + 4, [](int n) { return n >= 0; })));
  element_corners_.upload(ctx, counts);
  diagonal_.resize(ctx, node_count + 1);
  lower_.resize(ctx, entry_count_ + 1);
  fill(ctx, diagonal_.data(), diagonal_.size(), Mat3::zero());
  fill(ctx, lower_.data(), lower_.size(), Mat3::zero());
  dots_.resize(ctx, 2);
}

void SplitMatrix::assemble(Context& ctx, const Mat3* element_blocks) {
  assemble_batch(ctx, element_blocks, {0, element_count_});
}

void SplitMatrix::assemble_batch(Context& ctx, const Mat3* blocks_of_batch, IndexRange batch) {
  const std::size_t first = batch.begin * kCornerBlocks;
  assemble_batch_from(
      ctx, [=] SS_LAMBDA(std::size_t i) { return blocks_of_batch[i - first]; }, batch);
}

void SplitMatrix::assemble_renewed(Context& ctx, const Mat3* element_blocks, const std::uint8_t* renewed,
                                   bool known) {
  drop_stencils();
  if (!known) {
    element_diagonal_.resize(ctx, node_count_);
    fill(ctx, element_diagonal_.data(), node_count_, Mat3::zero());
  }
  const auto is_renewed = [=] SS_LAMBDA(std::int32_t corner) { return !known || renewed[corner / 4] != 0; };
  element_gather_.sum_where(
      ctx, is_renewed,
      [=] SS_LAMBDA(std::int32_t corner) {
        return element_blocks[static_cast<std::size_t>(corner / 4) * kCornerBlocks +
                              corner_block(corner % 4, corner % 4)];
      },
      element_diagonal_.data());
  copy(ctx, diagonal_.data(), element_diagonal_.data(), node_count_);
  assemble_stiffness(ctx, [=] SS_LAMBDA(std::size_t i) { return element_blocks[i]; }, {0, element_count_});

  const std::int32_t* begin = assembly_begin_.data();
  const std::uint32_t* sources = assembly_.data();
  Mat3* lower = lower_.data();
  launch(
      ctx, entry_count_,
      [=] SS_LAMBDA(std::size_t e) {
        bool changed = !known;
        for (std::int32_t k = begin[e]; !changed && k < begin[e + 1]; ++k)
          changed = renewed[(sources[k] >> 1) / kCornerBlocks] != 0;
        if (!changed) return;
        Mat3 sum = Mat3::zero();
        for (std::int32_t k = begin[e]; k < begin[e + 1]; ++k) {
          const Mat3 source = element_blocks[sources[k] >> 1];
          sum += (sources[k] & 1U) != 0 ? source.transposed() : source;
        }
        lower[e] = sum;
      },
      kMedium);
}

void SplitMatrix::add_diagonal(Context& ctx, const Real* per_node) {
  Mat3* diagonal = diagonal_.data();
  launch(ctx, node_count_, [=] SS_LAMBDA(std::size_t i) {
    for (int r = 0; r < 3; ++r) diagonal[i](r, r) += per_node[i];
  });
  if (!keeps_stiffness_) return;
  Real* stiffness = stiffness_.data();
  launch(ctx, node_count_, [=] SS_LAMBDA(std::size_t i) { stiffness[i] += 3 * per_node[i]; });
}

void SplitMatrix::add_diagonal(Context& ctx, const Mat3* per_node) {
  Mat3* diagonal = diagonal_.data();
  launch(ctx, node_count_, [=] SS_LAMBDA(std::size_t i) { diagonal[i] += per_node[i]; });
  if (!keeps_stiffness_) return;
  Real* stiffness = stiffness_.data();
  launch(ctx, node_count_, [=] SS_LAMBDA(std::size_t i) { stiffness[i] += trace(per_node[i]); });
}

void SplitMatrix::set_stencils(Context& ctx, const Vec4i* nodes, std::size_t n, const Mat3* blocks) {
  set_stencil_count(n);
  stencil_gather_.build(ctx, nodes, n, node_count_);
  stencils_.resize(ctx, n);
  couplings_.resize(ctx, kCouplings * n);
  corner_products_.resize(ctx, 4 * n);
  copy(ctx, stencils_.data(), nodes, n);
  Mat3* couplings = couplings_.data();
  launch(
      ctx, n,
      [=] SS_LAMBDA(std::size_t s) {
        for (int k = 0; k < kCouplings; ++k)
          couplings[kCouplings * s + k] = blocks[kCornerBlocks * s + coupling_block(k)];
      },
      kMedium);
  stencil_gather_.sum(
      ctx,
      [=] SS_LAMBDA(std::int32_t corner) {
        const int a = corner % 4;
        return blocks[static_cast<std::size_t>(corner / 4) * kCornerBlocks + corner_block(a, a)];
      },
      diagonal_.data());
  if (keeps_stiffness_) {
    element_stiffness_.resize(ctx, n);
    add_stencil_stiffness(ctx, stencil_gather_, nodes, n, blocks, element_stiffness_.data(),
                          stiffness_.data());
  }
  if (embedding_ == nullptr) return;
  if (embedding_->body_count() > 0) assemble_bodies(ctx);
  if (embedding_->has_lattices()) assemble_lattices(ctx);
}

#if !STICKSLIP_ON_CUDA
ChunkCouplings SplitMatrix::coupling_rows(Context& ctx) const {
  if (!knows_coupling_rows_)
    coupling_rows_.build(
        ctx, {node_count_, stencil_count_, stencils_.data(), couplings_.data(), stencil_gather_.runs()},
        chunk_rows().slot_of_node);
  knows_coupling_rows_ = true;
  return coupling_rows_.view();
}
#endif

void SplitMatrix::node_stiffness(Context& ctx, std::vector<float>& out) const {
  Buffer<float> stiffness;
  stiffness.resize(ctx, node_count_);
  set_node_stiffness(ctx, node_count_, reduced_diagonal(),
                     embedding_ != nullptr ? embedding_->view() : EmbeddingView{}, stiffness.data());
  out = stiffness.download(ctx);
}

MatrixParts SplitMatrix::parts(Context& ctx, std::int32_t most_cells) const {
  std::vector<Vec4i> stencils(stencil_count_);
  copy_to_host(ctx, stencils.data(), stencils_.data(), stencils.size());
  return count_parts(static_cast<std::int32_t>(node_count_), entries_.download(ctx), stencils, most_cells);
}

HostBlocks SplitMatrix::download(Context& ctx) const {
  HostBlocks out;
  out.node_count = node_count_;
  const auto add = [&](std::int32_t row, std::int32_t column, const Mat3& block) {
    out.places.push_back({row, column});
    out.blocks.push_back(block);
  };
  const std::vector<Mat3> diagonal = diagonal_.download(ctx), lower = lower_.download(ctx);
  for (std::size_t i = 0; i < node_count_; ++i) {
    const auto node = static_cast<std::int32_t>(i);
    add(node, node, diagonal[i]);
  }
  const std::vector<Vec2i> entries = entries_.download(ctx);
  for (std::size_t e = 0; e < entries.size(); ++e)
    if (entries[e][0] > entries[e][1]) add(entries[e][0], entries[e][1], lower[e]);
  std::vector<Vec4i> stencils(stencil_count_);
  std::vector<Mat3> couplings(kCouplings * stencil_count_);
  copy_to_host(ctx, stencils.data(), stencils_.data(), stencils.size());
  copy_to_host(ctx, couplings.data(), couplings_.data(), couplings.size());
  for (std::size_t s = 0; s < stencil_count_; ++s)
    for (int a = 1, k = 0; a < 4; ++a)
      for (int b = 0; b < a; ++b, ++k)
        if (stencils[s][a] >= 0 && stencils[s][b] >= 0)
          add(stencils[s][a], stencils[s][b], couplings[kCouplings * s + k]);
  return embedding_ != nullptr ? embedding_->reduced(ctx, out) : out;
}

void SplitMatrix::multiply(Context& ctx, const Vec3* x, Vec3* y, Real* x_dot_y, const std::int32_t* skip,
                           const NodeGroup* group) {
  if (embedding_ == nullptr) return multiply_all_nodes(ctx, x, y, x_dot_y, skip, group);
  copy(ctx, expanded_.data(), x, node_count_);
  embedding_->expand(ctx, expanded_.data());
  multiply_all_nodes(ctx, expanded_.data(), y, x_dot_y, skip, group);
  embedding_->reduce(ctx, y);
}

void SplitMatrix::assemble_bodies(Context& ctx) {
  body_blocks_.assemble(ctx, *embedding_,
                        {diagonal_.data(), lower_.data(), control_entries_.data(), stencils_.data(),
                         stencil_count_, couplings_.data()});
  if (keeps_stiffness_) body_blocks_.set_stiffness(ctx, *embedding_, stiffness_.data());
}

void SplitMatrix::assemble_lattices(Context& ctx) {
  reduced_diagonal_.resize(ctx, diagonal_.size());
  Mat3* reduced = reduced_diagonal_.data();
  const Mat3* own = diagonal_.data();
  copy(ctx, reduced, own, diagonal_.size());
  embedding_->reduce_diagonal(ctx, own, reduced);
  if (!keeps_stiffness_) return;
  add_trace_of_change(ctx, node_count_, reduced, own, stiffness_.data());
  embedding_->follow_first(ctx, stiffness_.data());
}

void SplitMatrix::multiply_all_nodes(Context& ctx, const Vec3* x, Vec3* y, Real* x_dot_y,
                                     const std::int32_t* skip, const NodeGroup* group) {
  Real* dots = dots_.data();
  Real* total = x_dot_y != nullptr ? x_dot_y : dots;
  lower_product_.multiply(ctx, diagonal_.data(), lower_.data(), x, y, total, skip, group);
  if (stencil_count_ == 0) return;
  if (group != nullptr) add_stencil_products(ctx, SameGroup{group}, x, y, total, skip);
  else add_stencil_products(ctx, AllCoupled{}, x, y, total, skip);
}

template <class Coupled>
void SplitMatrix::add_stencil_products(Context& ctx, Coupled coupled, const Vec3* x, Vec3* y, Real* x_dot_y,
                                       const std::int32_t* skip) {
  // In two phases, each with one writer per result: products by stencil, then their sums by node.
  const StencilProducts<Coupled> products{coupled, stencils_.data(),        couplings_.data(),
                                          x,       corner_products_.data(), skip};
  Real* dot = dots_.data() + 1;
  reduce_sum(ctx, stencil_count_, products, dot, kMedium);
  add_products(ctx, stencil_gather_, corner_products_.data(), y);
  add_part(ctx, dot, x_dot_y);
}

}  // namespace stickslip::STICKSLIP_BACKEND
