#include "gpu/rigid/coupled_problem.h"

#include <map>

#include "gpu/math/mat.h"

namespace stickslip {
namespace {

/// Sparse rows whose entries can be added in any order.
class RowBuilder {
 public:
  RowBuilder(std::size_t rows, std::size_t columns) : rows_(rows), columns_(columns) {}
  void add(std::size_t row, std::size_t column, double value) {
    if (value != 0) rows_[row][static_cast<std::int32_t>(column)] += value;
  }
  SparseRows take() const {
    SparseRows out;
    out.rows = static_cast<std::int32_t>(rows_.size());
    out.columns = static_cast<std::int32_t>(columns_);
    out.offsets.push_back(0);
    for (const auto& row : rows_) {
      for (const auto& [column, value] : row) {
        out.indices.push_back(column);
        out.values.push_back(value);
      }
      out.offsets.push_back(static_cast<std::int32_t>(out.indices.size()));
    }
    return out;
  }

 private:
  std::vector<std::map<std::int32_t, double>> rows_;
  std::size_t columns_;
};

class Assembly {
 public:
  Assembly(const ContactProblem& bodies, std::size_t first, const SolidSystem& solids)
      : bodies_(bodies),
        solids_(solids),
        first_(first),
        body_dof_(first, -1),
        node_dof_(solids.held.size(), -1) {
    for (std::size_t b = 0; b < first; ++b)
      if (bodies.inverse_mass[36 * b] > 0) {
        body_dof_[b] = static_cast<std::int64_t>(dofs_);
        dofs_ += 6;
      }
    for (std::size_t i = 0; i < node_dof_.size(); ++i)
      if (solids.held[i] == 0) {
        node_dof_[i] = static_cast<std::int64_t>(dofs_);
        dofs_ += 3;
      }
  }

  ContactProblem run() {
    ContactProblem p = bodies_;
    p.form = ContactProblem::Form::global;
    p.inverse_mass.clear();
    p.block_start.clear();
    p.jacobian.clear();
    p.f.assign(dofs_, 0.0);
    RowBuilder a(dofs_, dofs_), h(p.size(), dofs_);
    put_bodies(a, p.f);
    put_solids(a, p.f);
    put_contacts(h, p.w);
    p.A = a.take();
    p.H = h.take();
    return p;
  }

 private:
  void put_bodies(RowBuilder& a, std::vector<double>& f) const {
    for (std::size_t b = 0; b < first_; ++b) {
      if (body_dof_[b] < 0) continue;
      const auto at = static_cast<std::size_t>(body_dof_[b]);
      const double* inverse_mass = bodies_.inverse_mass.data() + 36 * b;
      Mat<double, 3> turn{};
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) turn(i, j) = inverse_mass[6 * (3 + i) + 3 + j];
      const Mat<double, 3> inertia = inverse(turn);
      for (std::size_t i = 0; i < 3; ++i) {
        a.add(at + i, at + i, 1 / inverse_mass[0]);
        for (std::size_t j = 0; j < 3; ++j)
          a.add(at + 3 + i, at + 3 + j,
                0.5 * (inertia(static_cast<int>(i), static_cast<int>(j)) +
                       inertia(static_cast<int>(j), static_cast<int>(i))));
      }
      for (std::size_t i = 0; i < 6; ++i) f[at + i] = bodies_.f[6 * b + i];
    }
  }

  /// Terms of fixed nodes move to the right side.
  void put_solids(RowBuilder& a, std::vector<double>& f) const {
    for (std::size_t i = 0; i < node_dof_.size(); ++i)
      for (std::size_t k = 0; k < 3 && node_dof_[i] >= 0; ++k)
        f[static_cast<std::size_t>(node_dof_[i]) + k] = solids_.f[i][static_cast<int>(k)];
    const HostBlocks& m = solids_.matrix;
    for (std::size_t e = 0; e < m.places.size(); ++e) {
      const std::int32_t row = m.places[e][0], column = m.places[e][1];
      put_block(a, f, row, column, m.blocks[e]);
      if (row != column) put_block(a, f, column, row, m.blocks[e].transposed());
    }
  }

  void put_block(RowBuilder& a, std::vector<double>& f, std::int32_t row, std::int32_t column,
                 const Mat3& block) const {
    const std::int64_t r = node_dof_[row], c = node_dof_[column];
    if (r < 0) return;
    const double dt2 = solids_.dt * solids_.dt;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        const double value = dt2 * block(i, j);
        if (c >= 0) a.add(static_cast<std::size_t>(r + i), static_cast<std::size_t>(c + j), value);
        else f[static_cast<std::size_t>(r + i)] -= value * solids_.velocity[column][j];
      }
  }

  void put_contacts(RowBuilder& h, std::vector<double>& w) const {
    const auto dim = static_cast<std::size_t>(bodies_.dim);
    for (std::size_t c = 0; c < bodies_.blocks(); ++c)
      for (auto e = static_cast<std::size_t>(bodies_.block_start[c]);
           e < static_cast<std::size_t>(bodies_.block_start[c + 1]); ++e) {
        const JacobianBlock& entry = bodies_.jacobian[e];
        const auto b = static_cast<std::size_t>(entry.body);
        for (std::size_t i = 0; i < dim; ++i) {
          const std::size_t row = c * dim + i;
          const double* of_body = entry.rows.data() + 6 * i;
          const std::size_t frame = first_ + solids_.points.size();
          if (b >= frame) put_frame(h, w, row, of_body, b - frame);
          else if (b >= first_) put_point(h, w, row, of_body, solids_.points[b - first_]);
          for (std::size_t j = 0; b < first_ && j < 6; ++j)
            h.add(row, static_cast<std::size_t>(body_dof_[b]) + j, entry.rows[6 * i + j]);
        }
      }
  }

  void put_point(RowBuilder& h, std::vector<double>& w, std::size_t row, const double* direction,
                 const SurfacePoint& point) const {
    for (int k = 0; k < 3; ++k)
      if (point.nodes[k] >= 0) put_corner(h, w, row, direction, point.nodes[k], point.weights[k]);
  }

  /// The row of a frame's twist at the corners of its tet.
  void put_frame(RowBuilder& h, std::vector<double>& w, std::size_t row, const double* of_twist,
                 std::size_t frame) const {
    const Vec<double, 6> wrench{of_twist[0], of_twist[1], of_twist[2], of_twist[3], of_twist[4], of_twist[5]};
    for (int k = 0; k < 4; ++k) {
      const Vec<double, 3> direction = solids_.frames[frame].force_on(k, wrench);
      put_corner(h, w, row, &direction[0], solids_.frame_nodes[frame][k], 1);
    }
  }

  /// A node, or those that it follows.
  void put_corner(RowBuilder& h, std::vector<double>& w, std::size_t row, const double* direction,
                  std::int32_t node, double weight) const {
    const FollowingNode follows = solids_.follows.empty() ? FollowingNode{} : solids_.follows[node];
    if (!follows.follows()) put_node(h, w, row, direction, node, weight);
    for (int c = 0; follows.follows() && c < kMostLeaders && follows.controls[c] >= 0; ++c)
      put_node(h, w, row, direction, follows.controls[c], weight * follows.weights[c]);
  }

  void put_node(RowBuilder& h, std::vector<double>& w, std::size_t row, const double* direction,
                std::int32_t node, double weight) const {
    for (int j = 0; j < 3; ++j) {
      const double value = weight * direction[j];
      if (node_dof_[node] >= 0) h.add(row, static_cast<std::size_t>(node_dof_[node] + j), value);
      else w[row] += value * solids_.velocity[node][j];
    }
  }

  const ContactProblem& bodies_;
  const SolidSystem& solids_;
  std::size_t first_, dofs_ = 0;
  std::vector<std::int64_t> body_dof_, node_dof_;
};

}  // namespace

ContactProblem coupled_problem(const ContactProblem& between_bodies, std::size_t first,
                               const SolidSystem& solids) {
  return Assembly(between_bodies, first, solids).run();
}

}  // namespace stickslip
