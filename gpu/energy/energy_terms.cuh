// EnergyTerms: the elastic part of the incremental potential of a model, one EnergyTerm per kind of element.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "gpu/energy/energy_term.cuh"
#include "gpu/energy/rod_terms.cuh"
#include "gpu/model/model.h"

namespace stickslip::STICKSLIP_BACKEND {

/// Stencils are numbered through, the first kind's first: for assembly they are one list.
class EnergyTerms {
 public:
  /// Terms for the element groups of a finalized model, see gpu/model/element_group.h.
  void load(Context& ctx, const Model& model);
  void set_materials(Context& ctx, std::span<const Material> materials);

  /// See EnergyTerm.
  void set_rigidity(double factor);
  void set_wind(const Wind& wind);
  void begin_step();

  std::size_t size() const { return stencils_.size(); }
  std::span<const Vec4i> stencils() const { return stencils_; }
  bool forbids_inversion() const;
  double energy_rounding() const;
  /// Until `set_materials` or `set_wind`. Elements stand in the order of the model's groups.
  RodViews rods() const;

  // As those of EnergyTerm, over all terms.
  void energy(Context& ctx, const SolidMotion& motion, double* out);
  void gradient(Context& ctx, const SolidMotion& motion, IndexRange stencils, Vec3* corner_gradients);
  void gradient_and_hessian(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                            Vec3* corner_gradients, Mat3* corner_blocks);
  /// Over all stencils. Sets the flags first.
  void relinearise(Context& ctx, const SolidMotion& motion, Vec3* corner_gradients, const KeptBlocks& kept);
  void min_determinant(Context& ctx, const Vec3* x, bool only_forbidden, double* out);
  void count_inverted(Context& ctx, const Vec3* x, double* out);
  void drag_power(Context& ctx, const SolidMotion& motion, double* out);

 private:
  /// Calls write(term, where its value goes) for each term, and combines the values, from `start` on.
  template <class Write, class Combine>
  void over_terms(Context& ctx, Write write, double start, Combine combine, double* out);
  /// Calls work(term, its stencils among `stencils`, how many of `stencils` come before).
  template <class Work>
  void over_parts(IndexRange stencils, Work work);

  std::vector<std::unique_ptr<EnergyTerm>> terms_;
  std::vector<Vec4i> stencils_;
  Buffer<double> values_;  // one per term
};

}  // namespace stickslip::STICKSLIP_BACKEND
