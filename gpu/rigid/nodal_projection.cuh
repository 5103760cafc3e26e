// NodalProjection: the velocities of nodes and rigid bodies that obey the contact law and are nearest to
// given ones.
#pragma once

#include <cmath>

#include "gpu/dfcp/operator/colouring.cuh"
#include "gpu/dfcp/operator/delassus.cuh"
#include "gpu/elastic/touched_surfaces.cuh"
#include "gpu/law/local_data.h"
#include "gpu/law/local_facets.h"
#include "gpu/linear/embedding.cuh"
#include "gpu/params/params.h"
#include "gpu/rigid/solid_frames.cuh"

namespace stickslip {

/// A touched point by the nodes that can move: its own ones, or those that they follow. A point of a lattice
/// or of frames has more than four: then it is a sum of several of these, see PiecesOfPoint.
struct NodalPoint {
  Vec4i nodes{-1, -1, -1, -1};
  Vec<double, 4> weights{0, 0, 0, 0};   // b: the velocity of the point is the sum of b p
  Vec<double, 4> mobility{0, 0, 0, 0};  // [1/kg] b / w: an impulse on the point changes p by that

  /// False: there is no room.
  SS_HD bool add(std::int32_t node, double b, double w) {
    if (!(w > 0) || b == 0) return true;
    for (int k = 0; k < 4; ++k) {
      if (nodes[k] >= 0 && nodes[k] != node) continue;
      nodes[k] = node;
      weights[k] += b;
      mobility[k] += b / w;
      return true;
    }
    return false;
  }
  /// sum_j b_j c_j / w_j with the weights c of another point; [1/kg].
  SS_HD double mobility_to(const NodalPoint& other) const {
    double sum = 0;
    for (int k = 0; k < 4; ++k)
      for (int l = 0; l < 4; ++l)
        if (nodes[k] >= 0 && nodes[k] == other.nodes[l]) sum += mobility[k] * other.weights[l];
    return sum;
  }
};

/// All nodes of a point.
struct PiecesOfPoint {
  const NodalPoint* piece;
  int count;

  SS_HD Vec<double, 3> velocity(const Vec<double, 3>* node) const {
    Vec<double, 3> v{0, 0, 0};
    for (int i = 0; i < count; ++i)
      for (int k = 0; k < 4; ++k)
        if (piece[i].nodes[k] >= 0) v += piece[i].weights[k] * node[piece[i].nodes[k]];
    return v;
  }
  SS_HD void push(const Vec<double, 3>& impulse, Vec<double, 3>* node) const {
    for (int i = 0; i < count; ++i)
      for (int k = 0; k < 4; ++k)
        if (piece[i].nodes[k] >= 0) node[piece[i].nodes[k]] += piece[i].mobility[k] * impulse;
  }
  /// See NodalPoint.
  SS_HD double mobility_to(const PiecesOfPoint& other) const {
    double sum = 0;
    for (int i = 0; i < count; ++i)
      for (int k = 0; k < other.count; ++k) sum += piece[i].mobility_to(other.piece[k]);
    return sum;
  }
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// u = H y + q of blocks whose bodies are rigid ones, then a particle per touched point, then a frame per
/// side of a joint that a solid holds (ContactParticles): y are velocities relative to those without impulses
/// that q was computed with, three numbers per node and six per rigid body. A particle is one arm, a point on
/// which a block acts by three numbers per row; a frame is four, the corners of its tet (TetFrame).
template <int D>
struct NodalRows {
  BodyRows<D> rows;
  std::int64_t rigid;        // bodies before the first particle
  std::int64_t first_frame;  // behind the particles
  const NodalPoint* piece;   // `pieces` per arm: of particles, then of frames
  int pieces;
  const TetFrame* frames;

  SS_HD std::int32_t body(std::size_t entry) const { return rows.body[entry]; }
  SS_HD bool is_rigid(std::int32_t body) const { return body < rigid; }
  SS_HD bool is_particle(std::int32_t body) const { return body >= rigid && body < first_frame; }
  SS_HD int arms(std::int32_t body) const { return is_particle(body) ? 1 : 4; }
  SS_HD PiecesOfPoint arm(std::int32_t body, int k) const {
    const std::int64_t at =
        is_particle(body) ? body - rigid : first_frame - rigid + 4 * (body - first_frame) + k;
    return {piece + pieces * at, pieces};
  }
  /// Row i of the entry at arm k of its body.
  SS_HD Vec<double, 3> direction(std::size_t e, int i, int k) const {
    const double* h = row(e, i);
    if (is_particle(body(e))) return {h[0], h[1], h[2]};
    return frames[body(e) - first_frame].force_on(k, Vec<double, 6>{h[0], h[1], h[2], h[3], h[4], h[5]});
  }
  SS_HD const double* row(std::size_t entry, int i) const {
    return rows.jacobian + (entry * D + static_cast<std::size_t>(i)) * 6;
  }

  /// Row c of H y.
  SS_HD Vec<double, D> times(std::size_t c, const Vec<double, 3>* node, const double* bodies) const {
    Vec<double, D> u = Vec<double, D>::zero();
    for (std::size_t e = 2 * c; e < 2 * c + 2; ++e) {
      const std::int32_t b = body(e);
      if (b < 0) continue;
      if (!is_rigid(b)) {
        for (int k = 0; k < arms(b); ++k) {
          const Vec<double, 3> v = arm(b, k).velocity(node);
          for (int i = 0; i < D; ++i) u[i] += dot(direction(e, i, k), v);
        }
      } else {
        const double* v = bodies + 6 * static_cast<std::size_t>(b);
        for (int i = 0; i < D; ++i)
          for (int j = 0; j < 6; ++j) u[i] += row(e, i)[j] * v[j];
      }
    }
    return u;
  }

  /// y += M^-1 H_c' dr, with M = W at nodes and A at bodies. Not for concurrent blocks that share a node or a
  /// body.
  SS_HD void push(std::size_t c, const Vec<double, D>& dr, Vec<double, 3>* node, double* bodies) const {
    for (std::size_t e = 2 * c; e < 2 * c + 2; ++e) {
      const std::int32_t b = body(e);
      if (b < 0) continue;
      if (!is_rigid(b)) {
        for (int k = 0; k < arms(b); ++k) {
          Vec<double, 3> impulse{0, 0, 0};
          for (int i = 0; i < D; ++i) impulse += dr[i] * direction(e, i, k);
          arm(b, k).push(impulse, node);
        }
      } else {
        const Vec<double, 6> dv = rows.inverse[b].times(rows.wrench(static_cast<std::int32_t>(e), dr));
        for (int j = 0; j < 6; ++j)
          bodies[6 * static_cast<std::size_t>(b) + static_cast<std::size_t>(j)] += dv[j];
      }
    }
  }

  /// S_cc = H_c M^-1 H_c' + E_c [1/kg].
  SS_HD Mat<double, D> diagonal(std::size_t c) const {
    Mat<double, D> s = Mat<double, D>::zero();
    for (int i = 0; i < D; ++i) s(i, i) = rows.compliance[c][i];
    for (std::size_t e = 2 * c; e < 2 * c + 2; ++e) {
      const std::int32_t b = body(e);
      if (b < 0) continue;
      if (is_rigid(b)) {
        for (int i = 0; i < D; ++i) {
          Vec<double, D> unit = Vec<double, D>::zero();
          unit[i] = 1;
          const Vec<double, 6> dv = rows.inverse[b].times(rows.wrench(static_cast<std::int32_t>(e), unit));
          for (int j = 0; j < D; ++j)
            for (int k = 0; k < 6; ++k) s(j, i) += row(e, j)[k] * dv[k];
        }
        continue;
      }
      for (std::size_t f = 2 * c; f < 2 * c + 2; ++f)  // both sides of a block may share nodes
        if (body(f) >= 0 && !is_rigid(body(f))) add_arms(e, f, s);
    }
    return s;
  }
  /// s += H_e M^-1 H_f' of two entries that act on nodes.
  SS_HD void add_arms(std::size_t e, std::size_t f, Mat<double, D>& s) const {
    for (int k = 0; k < arms(body(e)); ++k)
      for (int l = 0; l < arms(body(f)); ++l) {
        const double mobility = arm(body(e), k).mobility_to(arm(body(f), l));
        if (mobility == 0) continue;
        for (int i = 0; i < D; ++i)
          for (int j = 0; j < D; ++j) s(i, j) += mobility * dot(direction(e, i, k), direction(f, j, l));
      }
  }

  /// The entry whose first three columns are the axes of block c; -1: it moves nothing.
  SS_HD std::int64_t axes(std::size_t c) const {
    for (std::size_t e = 2 * c; e < 2 * c + 2; ++e)
      if (body(e) >= 0) return static_cast<std::int64_t>(e);
    return -1;
  }
  /// 1 or -1 where the rows of e are those of `first` times it, else 0.
  SS_HD double sign(std::size_t e, std::size_t first) const {
    double sign = 1;
    for (int j = 0; j < 3; ++j)
      if (row(e, 0)[j] != row(first, 0)[j]) sign = -1;
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < 3; ++j)
        if (row(e, i)[j] != sign * row(first, i)[j]) return 0;
    return sign;
  }
  SS_HD Vec<double, 3> to_world(std::size_t axes, const Vec<double, 3>& x) const {
    Vec<double, 3> y{0, 0, 0};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) y[j] += x[i] * row(axes, i)[j];
    return y;
  }
  SS_HD Vec<double, 3> to_axes(std::size_t axes, const Vec<double, 3>& y) const {
    Vec<double, 3> x{0, 0, 0};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) x[i] += row(axes, i)[j] * y[j];
    return x;
  }
};

/// A block whose S_cc = s I couples nodes and nothing else, in world axes and with the scaled impulse s r in
/// place of r [Daviet20 Alg.3]. Blocks that are not like that have s = 0. A block of more than four nodes, of
/// points that follow lattices or frames, has them in the pieces of its points: see `set_sides`.
struct NodalContact {
  Vec4i nodes{0, 0, 0, 0};             // behind the last one the first again, with zeros
  Vec<double, 4> weights{0, 0, 0, 0};  // b: u = sum b y + q
  Vec<double, 4> shares{0, 0, 0, 0};   // b / (s w): a change of s r by d changes y by d times that
  Vec<double, 3> normal{0, 0, 0}, q{0, 0, 0};
  double s = 0;  // [1/kg]
  double mu = 0;

  SS_HD Vec<double, 3> velocity(const Vec<double, 3>* node) const {
    Vec<double, 3> u = q;
    for (int k = 0; k < 4; ++k) u += weights[k] * node[nodes[k]];
    return u;
  }
  SS_HD void push(const Vec<double, 3>& change, Vec<double, 3>* node) const {
    for (int k = 0; k < 4; ++k) node[nodes[k]] += shares[k] * change;
  }
  /// A block of more nodes: u = sum of sign times the velocity of the point of each side + q. The first
  /// pieces of the two points are in nodes[1] and nodes[2], -1: none, and the signs in the weights.
  SS_HD void set_sides(const Vec2i& first_pieces, const Vec<double, 2>& signs) {
    nodes = {-1, first_pieces[0], first_pieces[1], -1};
    weights = {signs[0], signs[1], 0, 0};
  }
  SS_HD bool is_wide() const { return nodes[0] < 0; }
  SS_HD Vec<double, 3> wide_velocity(const NodalPoint* piece, int pieces, const Vec<double, 3>* node) const {
    Vec<double, 3> u = q;
    for (int side = 0; side < 2; ++side)
      if (nodes[1 + side] >= 0)
        u += weights[side] * PiecesOfPoint{piece + nodes[1 + side], pieces}.velocity(node);
    return u;
  }
  SS_HD void wide_push(const NodalPoint* piece, int pieces, const Vec<double, 3>& change,
                       Vec<double, 3>* node) const {
    for (int side = 0; side < 2; ++side)
      if (nodes[1 + side] >= 0)
        PiecesOfPoint{piece + nodes[1 + side], pieces}.push((weights[side] / s) * change, node);
  }
  /// s r with s r + u_free = u in Coulomb's law [Daviet20 §5.2.2].
  SS_HD Vec<double, 3> scaled_impulse(const Vec<double, 3>& u_free) const {
    const double approach = dot(normal, u_free);
    if (approach >= 0) return {0, 0, 0};
    const Vec<double, 3> slip = u_free - approach * normal;
    const double most = -mu * approach, slip2 = norm2(slip);
    const double share = slip2 > most * most ? most / std::sqrt(slip2) : 1.0;
    return -approach * normal - share * slip;
  }
  /// The same with a polygon in the friction disc, one of its corners on `tangent`.
  SS_HD Vec<double, 3> scaled_impulse(const Vec<double, 3>& u_free, const Vec<double, 3>& tangent,
                                      int facets) const {
    const double approach = dot(normal, u_free);
    if (approach >= 0) return {0, 0, 0};
    const Vec<double, 3> other = cross(normal, tangent);
    const Vec<double, 2> t =
        project_on_polygon({-dot(tangent, u_free), -dot(other, u_free)}, -mu * approach, facets);
    return -approach * normal + t[0] * tangent + t[1] * other;
  }
};

/// The frictional problem of [Daviet20 Eq.7],
///   W p = W z + H_n' r,   A_b v_b = f_b + H_b' r,   u = H (p, v_b) + w + E r,   (u, r) in the law,
/// by the matrix-free Gauss-Seidel of [Daviet20 Alg.3]: p and v_b change together with r. W is diagonal, one
/// weight per node, so contacts between nodes have isotropic S_cc and closed solutions [Daviet20 §5.2.2],
/// however many nodes a point follows; they lie in memory in the order of the sweeps (NodalContact). Joints
/// on solids act on the nodes of tets, with a full S_cc, as contacts with rigid bodies do. Rigid bodies keep
/// their own A_b in the projection, as all of A_b is known: with them S_cc is a full matrix, and local_solve
/// takes the block. Blocks that share a node or a movable body have different colours and are solved one
/// colour after the other, so results do not depend on the number of threads. The paper has eight colours and
/// a sequential rest; here there is no limit.
///
/// ProjectionRule::positions leaves out the step in which a block first takes back its own impulse, and only
/// projects the present velocity, as position-based dynamics does [Daviet20 §5.2.4; Mueller07]. Impulses add
/// up, and stay where another block has made them superfluous: u of such a contact is positive beside r_N >
/// 0. With `facets` the friction disc of blocks with two tangents is a polygon (local_facets.h); blocks with
/// torsion, rolling resistance or a box keep their sections.
template <int D>
class NodalProjection {
 public:
  struct Input {
    const Delassus<D>& W;  // of bodies and particles: its rows, and q of velocities without impulses
    const ContactLaw<D>* law;
    std::size_t rigid;           // bodies before the first particle
    const SurfacePoint* points;  // per particle
    std::size_t point_count;
    const Embedding& embedding;
    int pieces;  // NodalPoints that a point may need
    const SolidFrames& frames;
    double* weight;  // W, per node [kg]
    std::size_t node_count;
    bool isotropic = true;  // closed solutions where S_cc is a multiple of the identity
    ProjectionRule rule = ProjectionRule::impulses;
    int facets = 0;  // corners of the polygon in a friction disc; 0: the law's own section
  };
  /// Copies what it needs of q; W itself is to stay. Some host reads for the colours.
  void build(Context& ctx, const Input& in);

  /// Sets the weights of nodes that no block moves to zero. The split p = v is void there: lambda stays zero,
  /// and a weight would only hold v back.
  void clear_untouched(Context& ctx, double* weight);
  /// r, and y that it belongs to: y_b = A_b^-1 H_b' r for rigid bodies. Nodes start where `node` is.
  void start(Context& ctx, const Delassus<D>& W, const Vec<double, D>* impulses);
  /// r = 0, and no motion of rigid bodies.
  void start_without_impulses(Context& ctx);
  /// All contacts are awake at first. One whose u a sweep changes by less than `least` [m/s] sleeps for the
  /// next kSleep sweeps [Daviet20 §6.3.3].
  void sweep(Context& ctx, int count, double least = 0);

  std::size_t blocks() const { return blocks_; }
  int colours() const { return blocks_ > 0 ? colouring_.colours() : 0; }
  const std::int32_t* colour() const { return colouring_.colour(); }  // per block
  /// r of every block, in its own axes.
  void impulses(Context& ctx, Vec<double, D>* out) const;
  /// In the order of the sweeps, scaled and in world axes where NodalContact is: for sums of multiples.
  Buffer<Vec<double, D>> r;
  Buffer<Vec<double, 3>> node;  // y of nodes
  Buffer<double> bodies;        // y of rigid bodies, six each; entries beyond these are not used

 private:
  static constexpr int kSleep = 8;

  void find_points(Context& ctx, const Input& in);
  /// Entries of touched_ per block.
  std::size_t touches() const { return 2 * static_cast<std::size_t>(width_); }
  void prepare_blocks(Context& ctx, const Input& in);
  void colour(Context& ctx, std::size_t node_count);

  std::size_t blocks_ = 0, rigid_ = 0;
  int width_ = 1;  // pieces of all arms of a body
  NodalRows<D> rows_{};
  const ContactLaw<D>* law_ = nullptr;
  ProjectionRule rule_ = ProjectionRule::impulses;
  int facets_ = 0;
  Buffer<NodalPoint> points_;  // NodalRows::piece
  Buffer<Vec<double, D>> q_;
  Buffer<NodalContact> contacts_;  // in the order of the sweeps
  // Of the blocks that are none, per block.
  Buffer<Mat<double, D>> diagonal_;
  Buffer<LocalData<D>> local_;
  Buffer<double> slip_;
  Buffer<std::int32_t> asleep_;       // sweeps for which a block sleeps, in their order
  Buffer<Vec4i> touched_;             // width_ per side: what a block moves, rigid bodies behind the nodes
  Buffer<std::int32_t> touch_count_;  // entries of touched_ per node and rigid body
#if STICKSLIP_ON_CUDA
  NodeGather gather_;
  Buffer<std::int32_t> conflict_start_, conflict_;
#endif
  Colouring colouring_;
};

extern template class NodalProjection<3>;
extern template class NodalProjection<4>;
extern template class NodalProjection<5>;

}  // namespace stickslip::STICKSLIP_BACKEND
