// ContactSet: the active contact stencils at one configuration, sorted by type.
#pragma once

#include "gpu/barrier/contact.h"
#include "gpu/broadphase/model_filter.cuh"
#include "gpu/broadphase/primitive_pairs.h"
#include "gpu/core/buffer.h"
#include "gpu/model/device_model.cuh"

namespace stickslip::STICKSLIP_BACKEND {

class AugmentedSet;

class ContactSet {
 public:
  /// A: selects the candidates with a gap below d_hat [m] at x and sorts them by type, so that neighbouring
  /// threads take the same branch. One host read. `has_gaps`: the last gaps found were those of
  /// the same candidates at x. `mollify`: see contact_at.
  void build(Context& ctx, const Proximity& near, const Vec3* x, Real d_hat, bool has_gaps = false,
             bool mollify = true);
  /// The gaps of all candidates at x, as of pair_gap_below with d_hat.
  const Real* find_gaps(Context& ctx, const Proximity& near, const Vec3* x, Real d_hat);
  /// A': writes the stencils of the augmented pairs at x behind those of A, at any
  /// distance; replaces earlier ones.
  void append(Context& ctx, const Proximity& near, const AugmentedSet& augmented, const Vec3* x,
              bool mollify = true);
  void clear() {
    found_ = {};
    size_ = 0;
  }

  /// Stencils of A and A'.
  std::size_t size() const { return size_; }
  /// Size of A alone: contacts()[0 .. active_count).
  std::size_t active_count() const { return static_cast<std::size_t>(found_.count); }
  /// Smallest gap [m] over A; the d_hat of the last build when it is empty.
  Real min_gap() const { return min_gap_; }
  const Contact* contacts() const { return contacts_.data(); }
  /// For A: the index of each contact's pair in the Proximity that the set was built from.
  const std::int32_t* candidates() const { return selected_.data(); }
  /// The nodes of each contact, in the format of the linear algebra.
  const Vec4i* nodes() const { return nodes_.data(); }

 private:
  struct Found {
    std::int32_t count = 0;
    Real min_gap = 0;  // [m]
  };
  Found found_;
  std::size_t size_ = 0;
  Real min_gap_ = 0;
  Buffer<Found> device_found_;
  Buffer<Real> gap_;
  Buffer<Contact> contacts_;
  Buffer<Vec4i> nodes_;
  Buffer<std::int32_t> selected_;
  Buffer<std::uint32_t> types_;
};

Proximity make_proximity(const DeviceModel& device, const CandidateView& pairs);
/// The triangles and edges of all objects.
SurfaceView surface_view(const DeviceModel& device);
/// The same, and segments among the triangles (DeviceModel::faces): what contacts are sought on.
SurfaceView contact_surface(const DeviceModel& device);

}  // namespace stickslip::STICKSLIP_BACKEND
