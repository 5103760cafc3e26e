// FrozenRecords: the contacts of a frozen problem as records of any impulses. Host only.
#pragma once

#include <array>
#include <vector>

#include "gpu/dfcp/problem/contact_problem.h"
#include "gpu/model/interaction.h"

namespace stickslip {

class FrozenRecords {
 public:
  /// `contacts`: the records of the step, those of the problem's last blocks in their order. They give
  /// points, normals, names, and the pull of cohesion, which the problem counts as a part of its impulses.
  /// Empty (a problem of a file), or more than the problem has blocks: points are not known. `dt` [s]
  /// converts impulses to forces. Throws std::invalid_argument as `to_local`.
  FrozenRecords(const ContactProblem& problem, std::vector<ContactRecord> contacts, double dt);

  /// Whether records have points and normals.
  bool has_points() const { return has_points_; }

  /// Records of impulses r [N s] with velocities u = W r + q [m/s], as the lab reports them; shape of both:
  /// dim * blocks. One record for each contact of the step, or, without points, for each block that is not
  /// bilateral. Throws std::invalid_argument for other sizes.
  std::vector<ContactRecord> at(std::vector<double> r, std::vector<double> u) const;

 private:
  struct Contact {
    std::size_t block;
    ContactRecord record;           // what the solution does not change
    std::array<double, 30> rows{};  // of the side that moves, six numbers a row
    bool moves = false;             // it has such rows
    double scale = 1, pull = 0;     // s_c; [N] of cohesion
  };
  void read_rows(const ContactProblem& problem, Contact& contact) const;
  template <int D>
  void fill(const std::vector<double>& r, const std::vector<double>& u,
            std::vector<ContactRecord>& records) const;

  int dim_;
  double dt_;
  bool has_points_;
  std::vector<BlockLaw> laws_;   // per block
  std::vector<double> lengths_;  // per block, of rolling rows, see rolling_lengths; empty: none
  std::vector<Contact> contacts_;
};

}  // namespace stickslip
