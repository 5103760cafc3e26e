// EnergyTerm: one term of the incremental potential [J], a sum over stencils of one to four nodes.
#pragma once

#include <span>

#include "gpu/core/buffer.h"
#include "gpu/core/index_range.h"
#include "gpu/energy/air_drag.h"
#include "gpu/math/corner_blocks.h"
#include "gpu/math/mat.h"
#include "gpu/model/cloth_pattern.h"
#include "gpu/model/model.h"
#include "gpu/params/params.h"

namespace stickslip {

/// Where the nodes are: x, x_t whose stiffness damps, and the velocities (x - still) / dt that are damped.
/// Backend memory, one entry per node.
struct SolidMotion {
  const Vec3* x;
  const Vec3* x_t;
  Real dt;
  const Vec3* still = nullptr;  // null: x_t
  /// x_t has the contents that it had at the last call of `begin_step`: what depends on x_t alone is computed
  /// once.
  bool x_t_kept = false;
  AirMotion air = {};
  /// Where objects were when damping between them began, as of springs; null: damped_from(). `still` may have
  /// moved each object rigidly by itself.
  const Vec3* between = nullptr;

  /// At x = x_t, with velocities of zero.
  SS_HD bool is_at_start() const { return x == x_t && still == nullptr; }
  SS_HD const Vec3* damped_from() const { return still != nullptr ? still : x_t; }
};

/// Corner blocks, ten per stencil, that the caller keeps from one linearisation of a step to the next.
/// Backend memory.
struct KeptBlocks {
  Mat3* blocks;
  std::uint8_t* renewed;  // per stencil
  bool known;             // `blocks` has those of an earlier linearisation of this step
  Real share = 1;         // of the usual change up to which blocks may stay

  KeptBlocks from(std::size_t stencil) const {
    return {blocks + kCornerBlocks * stencil, renewed + stencil, known, share};
  }
};

/// What a term is made for: all elements of one kind, in host memory.
struct TermElements {
  std::span<const Vec<double, 3>> rest;    // [m] stress-free, of all nodes
  std::span<const Vec4i> stencils;         // nodes; -1 in corners that the kind does not use
  std::span<const std::int32_t> material;  // per stencil
  std::span<const double> object_volume;   // [m^3] per stencil: of the whole object that it belongs to
  /// [J] per stencil: of a body that stands for a rigid one, whose material is the one behind the last; else
  /// 0.
  std::span<const double> stiffness = {};
  std::span<const double> thickness = {};     // [m] per stencil, of kinds of thin objects
  std::span<const double> aspect = {};        // per stencil, of rods: see Object
  std::span<const Vec<double, 3>> warp = {};  // per stencil, of kinds of cloth: see Object
  std::span<const Spring> springs = {};       // all of the model
  std::span<const double> share = {};         // per stencil, of kinds of tets: of its volume; empty: 1 each
  std::span<const FlatStencil> flat = {};     // per stencil, of kinds of cloth; empty: all of rest positions
  std::span<const FramePoint> points = {};    // of bones, by element
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

class EnergyTerm {
 public:
  EnergyTerm() = default;
  EnergyTerm(const EnergyTerm&) = delete;
  EnergyTerm& operator=(const EnergyTerm&) = delete;
  virtual ~EnergyTerm() = default;

  /// Stencils.
  virtual std::size_t size() const = 0;
  /// May be called again at any time to change materials, by index in the model's list.
  virtual void set_materials(Context& ctx, std::span<const Material> materials) = 0;
  /// Whether some stencil's energy is infinite where it is inverted.
  virtual bool forbids_inversion() const = 0;
  /// Factor on `TermElements::stiffness`, from the next `set_materials` on.
  virtual void set_rigidity(double /*factor*/) {}

  /// The air around cloth, rods and skins, from now on; other terms have no drag.
  virtual void set_wind(const Wind& /*wind*/) {}
  /// Writes the power [W] of the drag at `motion.air.velocity`, negative where it takes energy.
  virtual void drag_power(Context& ctx, const SolidMotion& motion, double* out);

  /// Before the first use of a motion with `x_t_kept`, and after x_t changed.
  virtual void begin_step() {}

  /// [J] a bound on the rounding error of `energy` near rest, where terms that are much larger than the
  /// energy cancel.
  virtual double energy_rounding() const = 0;
  /// Writes the energy of all stencils [J] to `out` in backend memory.
  virtual void energy(Context& ctx, const SolidMotion& motion, double* out) = 0;
  /// Writes the gradient [N] of each of `stencils` at its four corners, the first stencil's first; zero at
  /// corners that it does not have.
  virtual void gradient(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                        Vec3* corner_gradients) = 0;
  /// The same, and the lower blocks of each stencil's projected Hessian [N/m], ten per stencil by rows.
  virtual void gradient_and_hessian(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                                    Vec3* corner_gradients, Mat3* corner_blocks) = 0;
  /// As gradient_and_hessian, but the blocks of a stencil that has hardly changed since they were computed
  /// may stay: its flag in `kept.renewed`, which is 1 before the call, then becomes 0.
  virtual void relinearise(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                           Vec3* corner_gradients, const KeptBlocks& kept) {
    gradient_and_hessian(ctx, motion, stencils, corner_gradients, kept.blocks);
  }
  /// Writes the smallest det F to `out` in backend memory, of all stencils or of those whose energy forbids
  /// inversion; +infinity without any.
  virtual void min_determinant(Context& ctx, const Vec3* x, bool only_forbidden, double* out) = 0;
  /// Writes the number of stencils with det F <= 0 to `out` in backend memory.
  virtual void count_inverted(Context& ctx, const Vec3* x, double* out) = 0;
};

}  // namespace stickslip::STICKSLIP_BACKEND
