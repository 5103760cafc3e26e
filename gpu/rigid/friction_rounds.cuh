// FrictionRounds: the states at which the coefficients of a step's contacts are evaluated.
#pragma once

#include "gpu/core/buffer.h"
#include "gpu/rigid/contact_blocks.h"

namespace stickslip {

/// Of the contacts' friction impulses when coefficients change, and of all impulses: sums of squares, and the
/// largest squares [N^2 s^2].
struct FrictionChange {
  double change2 = 0, impulse2 = 0, most_change2 = 0, most_impulse2 = 0;
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Coefficients that depend on the solution follow it in rounds: solve, `update`, build the problem again,
/// until the changes are small. A contact may have several solutions: with mu_static > mu one that sticks and
/// one that slides. The state at the start of the step chooses: the first coefficient of a contact that was
/// at rest is mu_static, that of one which slid is mu of its speed. A round moves the coefficient to that of
/// the speed which it led to, and for a falling mu(s) this sequence is monotone. So a contact at rest keeps
/// sticking as long as mu_static permits, and one that slides goes on as long as mu(s) permits.
template <int D>
class FrictionRounds {
 public:
  /// No states: the next `begin` sets all.
  void clear() { count_ = 0; }
  /// Sets the states of contacts beyond those that have one, from velocities at the start of the step and the
  /// `impulses` of the last one, in world axes, of which there are `known`. No host read.
  void begin(Context& ctx, const ContactBlocks<D>& blocks, const RigidContact* contacts, std::size_t count,
             const Vec<double, 4>* impulses, std::size_t known);
  /// Per contact; null: none depends on the solution.
  const FrictionState* states() const { return count_ > 0 ? state_.data() : nullptr; }
  /// Moves the states to a solution: `impulses` of all contacts in world axes, velocities at the end of the
  /// step in `bodies`, those at its start in `blocks`. Returns the change of friction impulses relative to
  /// all impulses, in the Euclidean norm or, if that is more, in the largest norm: a single contact outside
  /// its cone counts as much among many contacts. One host read.
  double update(Context& ctx, const ContactBlocks<D>& blocks, const RigidContact* contacts, std::size_t count,
                const Vec<double, 4>* impulses, const DeviceBodies& bodies);

 private:
  std::size_t count_ = 0;
  Buffer<FrictionState> state_, kept_;
  Buffer<Vec<double, 2>> part_;  // squares of changes and of impulses
  Buffer<FrictionChange> sum_;
};

extern template class FrictionRounds<3>;
extern template class FrictionRounds<4>;
extern template class FrictionRounds<5>;

}  // namespace stickslip::STICKSLIP_BACKEND
