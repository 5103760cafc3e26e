// Preconditioner: z = P^-1 r for PCG, of the kind that is chosen. Every kind is symmetric positive definite.
#pragma once

#include "gpu/linear/affine_modes.cuh"
#include "gpu/linear/chains.cuh"
#include "gpu/linear/coarse_space.cuh"
#include "gpu/linear/domains.cuh"
#include "gpu/linear/panel_factors.cuh"
#include "gpu/linear/preconditioner_settings.h"
#include "gpu/linear/symmetric3.h"

namespace stickslip::STICKSLIP_BACKEND {

/// block_jacobi  the inverses of the 3x3 diagonal blocks
/// additive      the sum of the inverses of the diagonal blocks of two or three sizes: 3, 9, 27 rows, which
///               are 1, 3, 9 consecutive nodes in Morton order [Guo24 App. A]
/// multilevel    additive Schwarz on Morton-sorted nodes: domains of 16 nodes and, recursively, of 16 sums
///               over domains [Wu22; the baseline of Guo24 Fig.27]
/// multilevel_contacts  the same, with nodes in the order of linked_order over elements and the stencils of
///               the matrix, and sums over what these link: domains found anew for every matrix with stencils
/// two_level     block_jacobi and a coarse space of affine motions of groups of nodes, see CoarseSpace
/// All but `none` leave out affine bodies, and invert the 12x12 diagonal block of each.
class Preconditioner {
 public:
  /// Where the nodes are at the start of the scene [m]; additive, multilevel and two_level need it, and find
  /// their domains when they are first built after it. The matrix that `build` gets keeps its pattern until
  /// the next call.
  void set_positions(std::span<const Vec3> positions);

  /// Adds the correction of these modes to every kind but `none`; null: none. They must outlive this object
  /// or the next call, and be built for the matrix that `build` gets.
  void set_modes(AffineModes* modes) { modes_ = modes; }

  /// Chains of nodes whose part of the matrix every kind but `none` inverts instead of their 3x3 blocks, see
  /// Chains; none: an empty list. The matrix that `build` gets keeps its pattern until the next call.
  void set_chains(std::vector<std::vector<std::int32_t>> chains);

  /// For the matrix as it is now, and, for two_level, the positions x of the nodes [m]. Nodes with fixed[i]
  /// != 0 (may be null) get z_i = 0 and count as absent. Throws std::logic_error when positions are missing.
  void build(Context& ctx, const SplitMatrix& matrix, const PreconditionerSettings& settings,
             const std::uint8_t* fixed, const Vec3* x = nullptr);

  /// For kernels: the part of z_i that needs only r_i, fused into the kernel that computes r_i.
  struct Local {
    const Symmetric3* inverse;
    SS_HD Vec3 apply(std::size_t i, const Vec3& r) const { return inverse[i] * r; }
  };
  Local local() const { return {inverse_.data()}; }
  /// Whether that is all of it, but for the modes.
  bool is_local_or_modes() const { return fits_crew() && !uses_factors_ && !uses_levels_ && !uses_coarse_; }
  /// Whether that is all of it, but for what CrewPcg can apply: modes, factors, levels and the coarse space.
  bool fits_crew() const { return !uses_threes_ && !uses_nines_ && !uses_chains_ && bodies_.empty(); }
  /// The factors that are part of it; null if none.
  PanelFactors* factors() { return uses_factors_ ? &factors_ : nullptr; }
  /// The levels of domains that are part of it; null if none.
  const Domains<16>* levels() const { return uses_levels_ ? &levels_ : nullptr; }
  /// The coarse space that is part of it; null if none.
  const CoarseSpace* coarse() const { return uses_coarse_ ? &coarse_ : nullptr; }
  /// Whether it is the inverse of `matrix` but for rounding to single precision: factors, chains or both have
  /// all couplings.
  bool is_inverse(const SplitMatrix& matrix) const {
    if (matrix.stencil_count() > 0 || (uses_chains_ && !chains_.is_exact())) return false;
    return uses_factors_ || (uses_chains_ && !chains_.has_others());
  }
  /// Solves with the chains for an r that is zero at fixed nodes, where they and, at nodes of no chain,
  /// `local` are all of it; null: there is more. Nothing is done while *skip is not zero.
  const Chains* solve_chains(Context& ctx, const Vec3* r, const std::int32_t* skip) {
    if (!uses_chains_ || uses_threes_ || uses_nines_ || uses_levels_ || uses_factors_ || uses_modes_ ||
        uses_coarse_ || !bodies_.empty())
      return nullptr;
    chains_.solve(ctx, r, skip);
    return &chains_;
  }
  /// The modes whose correction is part of it; null if none.
  const AffineModes* modes() const { return uses_modes_ ? modes_ : nullptr; }

  /// Adds the rest to z, which holds the local part, and sets *r_dot_z = r'z anew; does nothing where there
  /// is no rest, and while *skip is not zero. r is zero at fixed nodes.
  void add_domains(Context& ctx, const Vec3* r, Vec3* z, Real* r_dot_z, const std::int32_t* skip);

 private:
  void build_chains(Context& ctx, const SplitMatrix& matrix);
  bool build_factors(Context& ctx, const SplitMatrix& matrix, PreconditionerKind kind);
  void plan_factors(Context& ctx, const SplitMatrix& matrix);
  void build_coarse(Context& ctx, const SplitMatrix& matrix, const Vec3* x);
  bool are_cheap_inverse(Context& ctx, const SplitMatrix& matrix);
  void build_local(Context& ctx, const SplitMatrix& matrix, PreconditionerKind kind, bool used);
  void build_linked_levels(Context& ctx, const SplitMatrix& matrix);
  template <int Size>
  void build_domains(Context& ctx, Domains<Size>& domains, bool used, const SplitMatrix& matrix, int levels);

  std::vector<Vec3> positions_;
  const std::uint8_t* fixed_ = nullptr;
  Buffer<Symmetric3> inverse_;
  std::vector<std::vector<std::int32_t>> chain_nodes_;
  Chains chains_;
  PanelFactors factors_;
  bool knows_factors_ = false;  // or that there are too many
  bool uses_chains_ = false, uses_factors_ = false;
  bool uses_threes_ = false, uses_nines_ = false, uses_levels_ = false, uses_modes_ = false;
  bool uses_coarse_ = false, links_contacts_ = false;
  bool knows_links_ = false;  // of stencils: levels_ has some that the next matrix may not have
  AffineModes* modes_ = nullptr;
  Domains<3> threes_;
  Domains<9> nines_;
  Domains<16> levels_;
  CoarseSpace coarse_;
  BodyBlocksInverse bodies_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
