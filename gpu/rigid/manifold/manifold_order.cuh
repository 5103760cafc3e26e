// ManifoldOrder: groups a list of contacts into manifolds and arranges them for sweeps.
#pragma once

#include <vector>

#include "gpu/collide/rigid_contact.h"
#include "gpu/core/buffer.h"
#include "gpu/dfcp/operator/colouring.cuh"
#include "gpu/rigid/bodies.cuh"
#include "gpu/rigid/contact_blocks.h"
#include "gpu/rigid/manifold/manifold_layout.h"
#include "gpu/rigid/manifold/manifold_packs.h"

namespace stickslip {

/// Contacts of a step by pairs of bodies: those of pair p are [pair_start[p], pair_start[p + 1]). Backend
/// memory.
struct PairedContacts {
  const RigidContact* contacts = nullptr;
  const std::int32_t* pair_start = nullptr;
  std::size_t count = 0, pairs = 0;
  PlainContacts plain{};  // those that form manifolds
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Manifolds are stored in lanes of packs of `kPackWidth`. A sweep processes batch after batch. The runs of a
/// batch share no movable body and are processed concurrently; the packs of a run are processed one after the
/// other. No two lanes of a pack share a movable body.
///
/// On the CPU, runs are slabs of the scene, and the last batch has the manifolds between two slabs. Within a
/// run every manifold comes after the earlier ones in the list that share a body with it. So the sweep equals
/// one in list order, but updates eight manifolds at a time (four with AVX2). On CUDA batches are colours,
/// and every pack is a run. Neither depends on the number of threads.
class ManifoldOrder {
 public:
  /// `poses` and `inverse` of all bodies. A handful of host reads on CUDA, none on the CPU.
  void build(Context& ctx, const PairedContacts& contacts, const BodiesView& bodies, std::size_t body_count);

  std::size_t manifolds() const { return manifolds_; }
  const ManifoldRange* ranges() const { return ranges_.data(); }
  std::size_t packs() const { return packs_; }
  /// Per manifold: its pack times kPackWidth plus its lane.
  const std::int32_t* slot() const { return slot_.data(); }
  std::size_t batches() const { return batch_start_.size() - 1; }
  /// Runs of batch b: [batch(b), batch(b + 1)).
  std::size_t batch(std::size_t b) const { return batch_start_[b]; }
  /// Packs of run k: [run_start()[k], run_start()[k + 1]).
  const std::int32_t* run_start() const { return run_start_.data(); }

 private:
  void find_manifolds(Context& ctx, const PairedContacts& contacts);
  void colour_manifolds(Context& ctx, const PairedContacts& contacts, const BodiesView& bodies,
                        std::size_t body_count);
  void assign_slots(Context& ctx);
  void lay_out(Context& ctx, const PairedContacts& contacts, const BodiesView& bodies,
               std::size_t body_count);

  std::size_t manifolds_ = 0, packs_ = 0;
  Buffer<std::int32_t> of_pair_, slot_, run_start_;
  Buffer<ManifoldRange> ranges_;
  std::vector<std::size_t> batch_start_{0};
  Buffer<std::int32_t> touch_start_, touch_, cursor_, conflict_start_, conflict_;  // for colours
  Colouring colouring_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
