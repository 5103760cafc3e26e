#include "gpu/linear/embedding.cuh"

#include <algorithm>

#include "gpu/math/polar.h"
#include "gpu/model/affine.h"
#include "gpu/model/lattice.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

constexpr std::int32_t kChunk = 64;

/// What a node of A becomes in J'A J: itself, or its control nodes by weight.
struct Parts {
  int count = 1;
  std::int32_t node[kMostLeaders];
  Real weight[kMostLeaders];
};

/// A weight per node that one follows.
Vec<Real, kMostLeaders> widened(const Vec<double, 4>& w) {
  Vec<Real, kMostLeaders> out{};
  for (int k = 0; k < 4; ++k) out[k] = static_cast<Real>(w[k]);
  return out;
}

/// Writes the ways of the control nodes c with the ways p; see Embedding::turn.
SS_HD void turn_body(const Vec3* c, const Vec3* p, Vec3* out) {
  Mat3 edges, changes;
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < 3; ++i) {
      edges(i, k) = c[k + 1][i] - c[0][i];
      changes(i, k) = p[k + 1][i] - p[0][i];
    }
  const Mat3 a = changes * inverse(edges);
  if (!(determinant(Mat3::identity() + a) > 0)) return;
  const Mat3 stretch = Mat3::identity() + Real(0.5) * (a + a.transposed());
  const Mat3 change = polar_rotation(Mat3::identity() + a) * stretch;
  Vec3 centre = Vec3::zero(), way = Vec3::zero();
  for (int k = 0; k < 4; ++k) {
    centre += Real(0.25) * c[k];
    way += Real(0.25) * p[k];
  }
  for (int k = 0; k < 4; ++k) out[k] = way + change * (c[k] - centre) - (c[k] - centre);
}

}  // namespace

void Embedding::load(Context& ctx, const Model& model) {
  std::vector<EmbeddedNode> nodes;
  std::vector<std::int32_t> index(model.node_count(), EmbeddingView::kFree), control, chunk_begin{0};
  std::vector<EmbeddedChunk> chunks;
  for (const Object& object : model.objects) {
    if (!object.is_affine()) continue;
    const auto body = static_cast<std::int32_t>(control.size());
    const std::vector<Vec<double, 4>> weights = control_weights(model, object);
    auto begin = static_cast<std::int32_t>(nodes.size());
    for (std::int32_t i = object.node_begin; i < object.node_end; ++i) {
      index[i] = static_cast<std::int32_t>(nodes.size());
      nodes.push_back({i, body, 4, leaders_of(control_tet(object)), widened(weights[i - object.node_begin])});
    }
    const auto end = static_cast<std::int32_t>(nodes.size());
    for (; begin < end; begin += kChunk) chunks.push_back({begin, std::min(begin + kChunk, end)});
    chunk_begin.push_back(static_cast<std::int32_t>(chunks.size()));
    control.push_back(object.control_begin);
    for (int k = 0; k < 4; ++k) index[object.control_begin + k] = EmbeddingView::kControl;
  }
  body_count_ = control.size();
  of_bodies_ = nodes.size();
  std::vector<Vec4i> led;
  for (const Object& object : model.objects) {
    if (!object.is_embedded()) continue;
    for (const LatticeFollower& f : stickslip::followers(model, object)) {
      index[f.node] = static_cast<std::int32_t>(nodes.size());
      const int count = leader_count(f.controls);
      nodes.push_back({f.node, -1, count, f.controls, f.weights.cast<Real>()});
      for (int k = 0; k < kMostLeaders; k += 4)
        led.push_back({f.controls[k], f.controls[k + 1], f.controls[k + 2], f.controls[k + 3]});
      for (int k = 0; k < count; ++k) index[f.controls[k]] = EmbeddingView::kLattice;
    }
  }
  nodes_.upload(ctx, nodes);
  if (empty()) return;
  if (has_lattices()) {
    const Buffer<Vec4i> corners(ctx, led);
    lattice_gather_.build(ctx, corners.data(), led.size(), model.node_count());
    ctx.synchronize();  // before the corners go
  }
  index_.upload(ctx, index);
  control_.upload(ctx, control);
  chunks_.upload(ctx, chunks);
  chunk_begin_.upload(ctx, chunk_begin);
  sums_.resize(ctx, body_count_);
}

void Embedding::expand(Context& ctx, Vec3* x) const {
  if (empty()) return;
  const EmbeddingView v = view();
  launch(ctx, nodes_.size(), [=] SS_LAMBDA(std::size_t i) {
    const EmbeddedNode& s = v.nodes[i];
    Vec3 sum = s.weights[0] * x[s.controls[0]];
    for (int k = 1; k < s.count; ++k) sum += s.weights[k] * x[s.controls[k]];
    x[s.node] = sum;
  });
}

void Embedding::reduce_lattices(Context& ctx, Vec3* g) const {
  const EmbeddedNode* nodes = nodes_.data() + of_bodies_;
  lattice_gather_.sum(
      ctx,
      [=] SS_LAMBDA(std::int32_t corner) {
        const EmbeddedNode& s = nodes[corner / kMostLeaders];
        return s.weights[corner % kMostLeaders] * g[s.node];
      },
      g);
  launch(ctx, followers(), [=] SS_LAMBDA(std::size_t i) { g[nodes[i].node] = Vec3::zero(); });
}

void Embedding::reduce_diagonal(Context& ctx, const Mat3* of_a, Mat3* diagonal) const {
  if (!has_lattices()) return;
  const EmbeddedNode* nodes = nodes_.data() + of_bodies_;
  lattice_gather_.sum(
      ctx,
      [=] SS_LAMBDA(std::int32_t corner) {
        const EmbeddedNode& s = nodes[corner / kMostLeaders];
        const Real w = s.weights[corner % kMostLeaders];
        return (w * w) * of_a[s.node];
      },
      diagonal);
}

void Embedding::follow_resistance(Context& ctx, double* resistance) const {
  const EmbeddedNode* nodes = nodes_.data() + of_bodies_;
  launch(ctx, followers(), [=] SS_LAMBDA(std::size_t i) {
    const EmbeddedNode& s = nodes[i];
    double mobility = 0;
    for (int k = 0; k < s.count; ++k) {
      const double r = resistance[s.controls[k]], w = static_cast<double>(s.weights[k]);
      if (r > 0) mobility += w * w / r;
    }
    resistance[s.node] = mobility > 0 ? 1 / mobility : 0.0;
  });
}

void Embedding::follow_first(Context& ctx, Real* values) const {
  const EmbeddedNode* nodes = nodes_.data() + of_bodies_;
  launch(ctx, followers(),
         [=] SS_LAMBDA(std::size_t i) { values[nodes[i].node] = values[nodes[i].controls[0]]; });
}

void Embedding::reduce(Context& ctx, Vec3* g) {
  if (has_lattices()) reduce_lattices(ctx, g);
  if (body_count_ == 0) return;
  sum_by_body(
      ctx,
      [=] SS_LAMBDA(const EmbeddedNode& s) {
        const Vec3 taken = g[s.node];
        g[s.node] = Vec3::zero();
        BodyVectors shares{};
        for (int k = 0; k < 4; ++k) shares.c[k] = s.weights[k] * taken;
        return shares;
      },
      partial_, sums_.data());
  const EmbeddingView v = view();
  const BodyVectors* sums = sums_.data();
  launch(ctx, body_count_, [=] SS_LAMBDA(std::size_t b) {
    for (int k = 0; k < 4; ++k) g[v.control[b] + k] += sums[b].c[k];
  });
}

void Embedding::turn(Context& ctx, const Vec3* x, const Vec3* p, Vec3* out) const {
  copy(ctx, out, p, index_.size());
  const EmbeddingView v = view();
  launch(
      ctx, body_count_,
      [=] SS_LAMBDA(std::size_t b) {
        const std::int32_t c = v.control[b];
        turn_body(x + c, p + c, out + c);
      },
      kMedium);
  expand(ctx, out);
}

HostBlocks Embedding::reduced(Context& ctx, const HostBlocks& a) const {
  const std::vector<EmbeddedNode> embedded = nodes_.download(ctx);
  const std::vector<std::int32_t> index = index_.download(ctx);
  const auto parts_of = [&](std::int32_t i) {
    Parts parts{1, {i}, {1}};
    if (index[i] < 0) return parts;
    const EmbeddedNode& s = embedded[index[i]];
    parts.count = s.count;
    for (int k = 0; k < s.count; ++k) {
      parts.node[k] = s.controls[k];
      parts.weight[k] = s.weights[k];
    }
    return parts;
  };
  HostBlocks out;
  out.node_count = a.node_count;
  const auto add = [&](std::int32_t row, std::int32_t column, const Mat3& block) {
    out.places.push_back({row, column});
    out.blocks.push_back(block);
  };
  for (std::size_t b = 0; b < a.blocks.size(); ++b) {
    const Mat3& block = a.blocks[b];
    const bool diagonal = a.places[b][0] == a.places[b][1];
    const Parts rows = parts_of(a.places[b][0]), columns = parts_of(a.places[b][1]);
    for (int k = 0; k < rows.count; ++k)
      for (int l = 0; l < (diagonal ? k + 1 : columns.count); ++l) {
        Mat3 share = (rows.weight[k] * columns.weight[l]) * block;
        if (!diagonal && rows.node[k] == columns.node[l]) share += share.transposed();
        add(rows.node[k], columns.node[l], share);
      }
  }
  // In place of the zeros that A's own blocks leave there.
  for (const EmbeddedNode& s : embedded) add(s.node, s.node, Mat3::identity());
  return out;
}

}  // namespace stickslip::STICKSLIP_BACKEND
