// SettledIslands: which objects a minimisation may leave alone, since they have converged.
#pragma once

#include <span>
#include <vector>

#include "gpu/barrier/object_balance.cuh"
#include "gpu/model/device_model.cuh"

namespace stickslip::STICKSLIP_BACKEND {

/// An island is a set of objects that active contacts connect, or elements such as springs. Islands share no
/// term of the potential, so each has a minimum of its own. One that has reached it is settled: it stays
/// where it is, and all of it is computed again when another island comes within d_hat of one of its objects.
///
/// For processors: all is decided on the host.
class SettledIslands {
 public:
  /// What an object must reach by itself, as BarrierNewton::Tolerance for all of them.
  struct Limits {
    double dt, momentum_dt;   // [s], see IncrementalPotential
    double speed, imbalance;  // [m/s]
  };

  /// `stencils`: nodes of every element, -1 in corners that it does not use.
  void load(Context& ctx, const DeviceModel& device, std::span<const Vec4i> stencils);

  /// Whether there can be more than one island.
  bool has_several() const { return movable_ > 1; }
  /// At the start of a minimisation: nothing is settled. `fixed`: 1 for nodes that do not move.
  void begin(Context& ctx, const std::uint8_t* fixed);
  /// Per node, in backend memory: 1 where it is fixed or of a settled island; null if none is settled.
  const std::uint8_t* flags() const { return settled_nodes_ > 0 ? flags_.data() : nullptr; }

  /// Nothing is settled any more. Returns whether something was.
  bool release();

  /// Nodes that could move, of settled islands.
  std::size_t settled_nodes() const { return settled_nodes_; }

  /// Finds the objects that a Newton step p has brought to their minimum: |p| / dt and the imbalance before
  /// it are within the limits, and so is the speed that PCG's residual r [N] leaves at most, a root mean
  /// square over the object. A rest of the residual on a whole object would be a small part of the residual
  /// of all.
  void measure(Context& ctx, const Vec3* p, const Vec3* r, const ObjectBalance& balance,
               const Limits& limits);
  /// After that step: finds the islands, with the nodes of the contacts that are active now.
  void connect(Context& ctx, const Vec4i* contacts, std::size_t count);
  /// Whether more islands would settle if the imbalance behind the step were within its limit.
  bool asks_for_balance() const;
  /// The last measurement of `balance` was behind the step.
  void rebalance(Context& ctx, const ObjectBalance& balance, const Limits& limits);
  /// Islands settle whose objects all have converged, if the step was `walked` to its end; settled ones that
  /// another one touches move again. Returns whether flags changed.
  bool update(Context& ctx, bool walked);

 private:
  struct Part {
    std::int32_t nodes = 0;  // that move
    double mass = 0;         // [kg] of these
    bool converged = false, balanced = false, settled = false;
    std::int32_t island = -1;  // while it is settled: an object of the island
  };
  struct Island {
    std::int32_t nodes = 0;
    bool has_settled = false, has_moving = false;  // objects
    bool waits = false, is_unbalanced = false;     // some object

    /// What a moving island has only just touched was computed without it.
    bool can_settle(bool balanced) const {
      return has_moving && !has_settled && !waits && (balanced || !is_unbalanced);
    }
  };

  std::int32_t root_of(std::int32_t object);
  void link(const Vec4i& nodes);
  std::int64_t settling(bool balanced) const;
  void set_flags(Context& ctx);

  std::vector<std::int32_t> object_;  // per node
  std::vector<Real> mass_;            // per node [kg]
  std::vector<Real> resists_;         // the same, and of control nodes a share of their body's
  std::vector<Vec4i> bridges_;        // elements between objects
  std::vector<std::uint8_t> fixed_, host_flags_;
  std::vector<Part> parts_;           // by object
  std::vector<std::int32_t> parent_;  // of the forest of islands
  std::vector<Island> islands_;       // at their roots
  std::vector<Vec3> p_, r_;
  std::vector<Vec4i> contacts_;
  std::size_t movable_ = 0, settled_nodes_ = 0;
  Buffer<std::uint8_t> flags_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
