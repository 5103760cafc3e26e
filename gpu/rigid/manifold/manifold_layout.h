// ManifoldLayout: assigns manifolds to SIMD lanes for sweeps on the CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "gpu/collide/rigid_contact.h"
#include "gpu/dfcp/problem/constraint_block.h"

namespace stickslip {

/// One to four successive contacts of a pair that share a normal.
struct ManifoldRange {
  std::int32_t first, count;
};

/// The bodies of each manifold.
struct ManifoldBodies {
  const RigidContact* contacts;
  const ManifoldRange* ranges;
  const BodyInverse* inverse;  // per body

  /// Calls f(body) for the movable bodies of manifold m.
  template <class F>
  SS_HD void visit(std::size_t m, F f) const {
    const RigidContact& c = contacts[ranges[m].first];
    if (c.a >= 0 && inverse[c.a].mass > 0) f(c.a);
    if (c.b >= 0 && inverse[c.b].mass > 0) f(c.b);
  }
};

/// Number of slabs for this many manifolds: small enough that few manifolds cross borders. Independent of the
/// number of threads, as all results are.
int slabs_for(std::size_t manifolds);

/// Calls f(0) ... f(n - 1), in any order and in parallel.
using ParallelFor = std::function<void(std::size_t n, const std::function<void(std::size_t)>& f)>;
inline void serial_for(std::size_t n, const std::function<void(std::size_t)>& f) {
  for (std::size_t i = 0; i < n; ++i) f(i);
}

/// Slabs are the runs of the first batch; manifolds across borders are the only run of the second. Within a
/// run every manifold goes into the first pack with room after the packs that contain its bodies. Runs are
/// filled in parallel: no body is in two runs of a batch. The result does not depend on `parallel`.
class ManifoldLayout {
 public:
  explicit ManifoldLayout(int width, ParallelFor parallel = serial_for)
      : width_(width), parallel_(std::move(parallel)) {}

  /// Cuts the movable bodies into `slabs` of equal numbers along the longest side of
  /// the box of their centres.
  void cut_into_slabs(const Pose* pose, const BodyInverse* inverse, std::size_t bodies, int slabs);
  /// slot[m] = pack * width + lane of every manifold, in the order of the list.
  void place(const ManifoldBodies& bodies, std::size_t manifolds, std::int32_t* slot);

  std::size_t packs() const { return static_cast<std::size_t>(run_start_.back()); }
  /// Packs of run k: [runs()[k], runs()[k + 1]). Runs of batch b: [batches()[b], batches()[b + 1]).
  const std::vector<std::int32_t>& runs() const { return run_start_; }
  const std::vector<std::size_t>& batches() const { return batch_start_; }

 private:
  /// The movable bodies of a manifold; -1: none.
  using BodyPair = Vec<std::int32_t, 2>;

  void group_by_run(const ManifoldBodies& bodies, std::size_t manifolds);
  std::int32_t run_of(const BodyPair& bodies) const;
  std::int32_t fill_run(std::size_t run, std::int32_t* slot);

  int width_, slabs_ = 1;
  ParallelFor parallel_;
  std::vector<std::int32_t> slab_;         // of each body
  std::vector<BodyPair> bodies_;           // per manifold
  std::vector<std::int32_t> run_, order_;  // per manifold: its run; the manifolds, run by run
  std::vector<std::size_t> first_;         // in order_, per run and one more
  std::vector<std::int32_t> behind_[2];    // per body: see fill_run
  std::vector<std::int32_t> run_start_{0};
  std::vector<std::size_t> batch_start_{0};
};

}  // namespace stickslip
