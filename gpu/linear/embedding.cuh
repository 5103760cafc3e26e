// Embedding: nodes that follow four or eight others, x_s = sum_k w_sk c_k: those of affine bodies follow the
// control nodes of their body [Lan22], and surface nodes of a solid in a lattice follow the nodes of a
// lattice tet [Daviet20] or the points of one or two frames [Faure11]. Seen as the matrix J from the nodes
// that are free to all nodes: a system A in all nodes becomes J'A J, and the rows and columns of embedded
// nodes become zero. Lattice nodes are free.
#pragma once

#include "gpu/core/buffer.h"
#include "gpu/core/launch.h"
#include "gpu/linear/host_blocks.h"
#include "gpu/linear/node_gather.cuh"
#include "gpu/model/model.h"

namespace stickslip {

struct EmbeddedNode {
  std::int32_t node, body;  // body -1: it follows a lattice
  std::int32_t count;       // of the nodes that it follows: four, of frames four or eight
  Leaders controls;
  Vec<Real, kMostLeaders> weights;
};

/// A few embedded nodes of one body, so that a large body's sum is shared by many threads.
struct EmbeddedChunk {
  std::int32_t begin, end;
};

/// A value per control node of a body.
struct BodyVectors {
  Vec3 c[4];
  SS_HD BodyVectors& operator+=(const BodyVectors& other) {
    for (int k = 0; k < 4; ++k) c[k] += other.c[k];
    return *this;
  }
};

/// The view for kernels.
struct EmbeddingView {
  const EmbeddedNode* nodes;    // by body, then those of lattices
  const std::int32_t* index;    // per node of the model: into `nodes`, or one of the three below
  const std::int32_t* control;  // per body: the first of its control nodes

  /// kControl: of an affine body; kLattice: a lattice node that some node follows.
  static constexpr std::int32_t kFree = -1, kControl = -2, kLattice = -3;

  SS_HD bool is_free(std::int32_t node) const { return index[node] == kFree || index[node] == kLattice; }
  SS_HD bool is_embedded(std::int32_t node) const { return index[node] >= 0; }
  SS_HD bool leads(std::int32_t node) const { return index[node] == kControl || index[node] == kLattice; }
  /// -1: of none.
  SS_HD std::int32_t body(std::int32_t node) const { return index[node] >= 0 ? nodes[index[node]].body : -1; }
  SS_HD int count(std::int32_t node) const { return nodes[index[node]].count; }
  SS_HD const Leaders& controls(std::int32_t node) const { return nodes[index[node]].controls; }
  SS_HD const Vec<Real, kMostLeaders>& weights(std::int32_t node) const { return nodes[index[node]].weights; }
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

class Embedding {
 public:
  /// Takes the affine bodies and the lattices of a finalized model.
  void load(Context& ctx, const Model& model);

  bool empty() const { return nodes_.size() == 0; }
  /// Affine bodies.
  std::size_t body_count() const { return body_count_; }
  /// Whether some nodes move along paths on which bodies turn, see `turn`.
  bool turns() const { return body_count_ > 0; }
  bool has_lattices() const { return followers() > 0; }
  /// Embedded nodes, and all nodes of the model.
  std::size_t node_count() const { return nodes_.size(); }
  std::size_t all_node_count() const { return index_.size(); }
  EmbeddingView view() const { return {nodes_.data(), index_.data(), control_.data()}; }

  /// x = J x: embedded nodes go where their control nodes put them. All nodes, backend memory.
  void expand(Context& ctx, Vec3* x) const;
  /// g = J'g: control and lattice nodes receive the values of their embedded nodes, which become zero.
  void reduce(Context& ctx, Vec3* g);

  /// out = p, but bodies turn as rigid ones: where control nodes at x + p would be (I + A) F, they are R (I +
  /// S) F with the rotation R of I + A and the symmetric part S of A. `out` differs from p by O(|A|^2) and,
  /// if A is a turn, strains no body. All nodes, backend memory; out may not be p.
  void turn(Context& ctx, const Vec3* x, const Vec3* p, Vec3* out) const;

  /// J'A J of a matrix in host memory, with the identity at embedded nodes.
  HostBlocks reduced(Context& ctx, const HostBlocks& a) const;

  /// diagonal[c] += sum of w_sc^2 A_ss over the nodes s that follow a lattice node c: the diagonal of J'A J
  /// without what couples two embedded nodes. `diagonal` may be that of A.
  void reduce_diagonal(Context& ctx, const Mat3* of_a, Mat3* diagonal) const;
  /// Resistances r [kg] to impulses at nodes that follow a lattice: 1 / r_s = sum_k w_sk^2 / r_k over its
  /// nodes that move, which have r_k > 0; 0 where none does.
  void follow_resistance(Context& ctx, double* resistance) const;
  /// Nodes that follow a lattice get the value of their first lattice node.
  void follow_first(Context& ctx, Real* values) const;

  /// out[body] = sum of value(EmbeddedNode) over the body's nodes, in a fixed order; T has `+=`.
  template <class T, class F>
  void sum_by_body(Context& ctx, F value, Buffer<T>& partial, T* out) const {
    partial.resize(ctx, chunks_.size());
    const EmbeddedNode* nodes = nodes_.data();
    const EmbeddedChunk* chunks = chunks_.data();
    const std::int32_t* begin = chunk_begin_.data();
    T* sums = partial.data();
    launch(
        ctx, chunks_.size(),
        [=] SS_LAMBDA(std::size_t c) {
          T sum = value(nodes[chunks[c].begin]);
          for (std::int32_t i = chunks[c].begin + 1; i < chunks[c].end; ++i) sum += value(nodes[i]);
          sums[c] = sum;
        },
        kHeavy);
    launch(
        ctx, body_count_,
        [=] SS_LAMBDA(std::size_t b) {
          T sum = sums[begin[b]];
          for (std::int32_t c = begin[b] + 1; c < begin[b + 1]; ++c) sum += sums[c];
          out[b] = sum;
        },
        kMedium);
  }

  /// The part of `reduce` for lattices. Public for nvcc.
  void reduce_lattices(Context& ctx, Vec3* g) const;

 private:
  /// Nodes that follow lattices; they come last.
  std::size_t followers() const { return nodes_.size() - of_bodies_; }

  std::size_t body_count_ = 0, of_bodies_ = 0;  // of_bodies_: nodes that follow affine bodies
  Buffer<EmbeddedNode> nodes_;
  Buffer<std::int32_t> index_, control_;
  Buffer<EmbeddedChunk> chunks_;
  Buffer<std::int32_t> chunk_begin_;  // per body and one more
  Buffer<BodyVectors> partial_, sums_;
  NodeGather lattice_gather_;  // corner kMostLeaders s + k: weight k of follower s
};

}  // namespace stickslip::STICKSLIP_BACKEND
