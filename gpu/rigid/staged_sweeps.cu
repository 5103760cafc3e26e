#include "gpu/rigid/staged_sweeps.cuh"

#include <algorithm>

#include "gpu/core/launch.h"
#include "gpu/core/select.h"
#include "gpu/core/sort.h"
#include "gpu/law/local_solve.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// True if blocks c and d belong to one group.
SS_HD bool same_group(const Stages& stages, const std::int32_t* body, std::size_t c, std::size_t d) {
  return stages.of_block[c] == stages.of_block[d] && body[2 * c] == body[2 * d] &&
         body[2 * c + 1] == body[2 * d + 1];
}

SS_HD bool moves_in(const Stages& stages, std::int32_t body, std::int32_t stage) {
  return body >= 0 && stages.of_body[body] >= stage;
}

/// True for the first block of a group.
struct GroupStart {
  Stages stages;
  const std::int32_t* body;

  SS_HD bool operator()(std::size_t c) const {
    return stages.of_block[c] >= 0 && (c == 0 || !same_group(stages, body, c, c - 1));
  }
};

/// Writes the group of each of its blocks.
struct GroupFiller {
  Stages stages;
  const std::int32_t *body, *first;
  std::size_t blocks;
  std::int32_t* group;

  SS_HD void operator()(std::size_t g) const {
    const auto begin = static_cast<std::size_t>(first[g]);
    for (std::size_t c = begin; c < blocks && same_group(stages, body, c, begin); ++c)
      group[c] = static_cast<std::int32_t>(g);
  }
};

/// The parts of a Delassus operator that tell which groups share a body.
struct ConflictAdjacency {
  const std::int32_t *body, *gather, *entry, *block_of, *first, *group;
  Stages stages;

  /// Visits the groups of the same stage that share a movable body with group g; some twice, g itself too.
  template <class F>
  SS_HD void visit(std::size_t g, F f) const {
    const auto c = static_cast<std::size_t>(first[g]);
    const std::int32_t stage = stages.of_block[c];
    for (std::size_t side = 0; side < 2; ++side) {
      const std::int32_t b = body[2 * c + side];
      if (!moves_in(stages, b, stage)) continue;
      for (std::int32_t k = gather[b]; k < gather[b + 1]; ++k) {
        const std::int32_t d = block_of[entry[k]], other = group[d];
        if (other >= 0 && first[other] == d && stages.of_block[d] == stage) f(other);
      }
    }
  }
};

/// The number of conflicts of a group.
struct ConflictCounter {
  ConflictAdjacency adjacency;
  std::int32_t* count;

  SS_HD void operator()(std::size_t g) const {
    std::int32_t found = 0;
    adjacency.visit(g, [&](std::int32_t) { ++found; });
    count[g] = found;
  }
};

/// Writes the conflicts of a group from start[g] on.
struct ConflictLister {
  ConflictAdjacency adjacency;
  const std::int32_t* start;
  std::int32_t* conflict;

  SS_HD void operator()(std::size_t g) const {
    std::int32_t at = start[g];
    adjacency.visit(g, [&](std::int32_t other) { conflict[at++] = other; });
  }
};

/// Keys that sort groups by stage, then by colour.
struct GroupKeys {
  const std::int32_t *of_block, *first, *colour;
  std::int32_t colours;
  std::int32_t* order;
  std::uint32_t* key;

  SS_HD void operator()(std::size_t g) const {
    order[g] = static_cast<std::int32_t>(g);
    key[g] = static_cast<std::uint32_t>(of_block[first[g]] * colours + colour[g]);
  }
};

/// Which bodies of a block move in its stage, and its local problem with the others held.
template <int D>
struct HeldBlock {
  Stages stages;
  BodyRows<D> rows;
  const ContactLaw<D>* law;
  Vec<std::uint8_t, 2>* moves;
  Mat<double, D>* held;
  LocalData<D>* local;

  SS_HD void operator()(std::size_t c) const {
    if (stages.of_block[c] < 0) return;
    Mat<double, D> w = Mat<double, D>::zero();
    for (int i = 0; i < D; ++i) w(i, i) = rows.compliance[c][i];
    for (int side = 0; side < 2; ++side) {
      const auto k = static_cast<std::int32_t>(2 * c) + side;
      moves[c][side] = moves_in(stages, rows.body[k], stages.of_block[c]) ? 1 : 0;
      if (moves[c][side] == 0) continue;
      const double* h = rows.jacobian + static_cast<std::size_t>(k) * D * 6;
      for (int i = 0; i < D; ++i) {
        Vec<double, D> unit = Vec<double, D>::zero();
        unit[i] = 1;
        const Vec<double, 6> response = rows.inverse[rows.body[k]].times(rows.wrench(k, unit));
        for (int j = 0; j < D; ++j)
          for (int l = 0; l < 6; ++l) w(j, i) += h[j * 6 + l] * response[l];
      }
    }
    held[c] = w;
    local[c] = prepare_local(law[c], w);
  }
};

/// Solves the blocks of group order[i], one after the other.
template <int D>
struct GroupSweep {
  BodyRows<D> rows;
  const Vec<double, D>* q;
  const ContactLaw<D>* law;
  const std::int32_t *order, *first, *group;
  std::size_t blocks;
  const Vec<std::uint8_t, 2>* moves;
  const Mat<double, D>* held;
  const LocalData<D>* local;
  Vec<double, D>* r;
  double* v;

  SS_HD void operator()(std::size_t i) const {
    const std::int32_t g = order[i];
    for (auto c = static_cast<std::size_t>(first[g]); c < blocks && group[c] == g; ++c) {
      Vec<double, D> u = rows.times(c, v) + q[c];
      for (int j = 0; j < D; ++j) u[j] += rows.compliance[c][j] * r[c][j];
      const Vec<double, D> next = local_solve(law[c], local[c], u - held[c] * r[c]);
      const Vec<double, D> change = next - r[c];
      r[c] = next;
      for (int side = 0; side < 2; ++side) {
        if (moves[c][side] == 0) continue;
        const auto k = static_cast<std::int32_t>(2 * c) + side;
        const std::int32_t b = rows.body[k];
        const Vec<double, 6> dv = rows.inverse[b].times(rows.wrench(k, change));
        for (int j = 0; j < 6; ++j) v[6 * static_cast<std::size_t>(b) + static_cast<std::size_t>(j)] += dv[j];
      }
    }
  }
};

}  // namespace

template <int D>
void StagedSweeps<D>::find_groups(Context& ctx, const Delassus<D>& W, const Stages& stages) {
  const std::size_t n = W.blocks();
  first_.resize(ctx, n);
  group_.resize(ctx, n);
  count_.resize(ctx, 1);
  const std::int32_t* body = W.body_rows().body;
  select_indices(ctx, n, GroupStart{stages, body}, first_.data(), count_.data());
  groups_ = static_cast<std::size_t>(read_back(ctx, count_.data()));
  fill(ctx, group_.data(), n, std::int32_t{-1});
  launch(ctx, groups_, GroupFiller{stages, body, first_.data(), n, group_.data()});
}

template <int D>
void StagedSweeps<D>::colour_groups(Context& ctx, const Delassus<D>& W, const Stages& stages) {
  const ConflictAdjacency adjacency{W.body_rows().body,
                                    W.gather_start(),
                                    W.gather_entry(),
                                    W.entry_block(),
                                    first_.data(),
                                    group_.data(),
                                    stages};
  conflict_start_.resize(ctx, groups_ + 1);
  std::int32_t* start = conflict_start_.data();
  launch(ctx, groups_, ConflictCounter{adjacency, start}, kMedium);
  conflict_.resize(ctx, start_neighbours(ctx, groups_, start, "switch shock_propagation off"));
  launch(ctx, groups_, ConflictLister{adjacency, start, conflict_.data()}, kMedium);
  colouring_.build(ctx, {groups_, start, conflict_.data()});
}

/// Sorts groups by stage, then by colour; a batch begins where either changes.
template <int D>
void StagedSweeps<D>::order_groups(Context& ctx, const Stages& stages) {
  order_.resize(ctx, groups_);
  key_.resize(ctx, groups_);
  std::int32_t* order = order_.data();
  std::uint32_t* key = key_.data();
  const auto colours = static_cast<std::int32_t>(colouring_.colours()) + 1;  // a colour may be empty
  launch(ctx, groups_, GroupKeys{stages.of_block, first_.data(), colouring_.colour(), colours, order, key});
  sort_pairs(ctx, groups_, key, order);
  keys_.resize(groups_);
  copy_to_host(ctx, keys_.data(), key, groups_);
  batch_.clear();
  stage_.clear();
  for (std::size_t i = 0; i < groups_; ++i) {
    if (i > 0 && keys_[i] == keys_[i - 1]) continue;
    const auto per_stage = static_cast<std::uint32_t>(colours);
    if (i == 0 || keys_[i] / per_stage != keys_[i - 1] / per_stage) stage_.push_back(batch_.size());
    batch_.push_back(i);
  }
  stage_.push_back(batch_.size());
  batch_.push_back(groups_);
}

template <int D>
void StagedSweeps<D>::prepare_blocks(Context& ctx, const Delassus<D>& W, const ContactLaw<D>* law,
                                     const Stages& stages) {
  const std::size_t n = W.blocks();
  moves_.resize(ctx, n);
  w_.resize(ctx, n);
  local_.resize(ctx, n);
  launch(ctx, n, HeldBlock<D>{stages, W.body_rows(), law, moves_.data(), w_.data(), local_.data()}, kMedium);
}

template <int D>
void StagedSweeps<D>::prepare(Context& ctx, const Delassus<D>& W, const ContactLaw<D>* law,
                              const Stages& stages) {
  groups_ = 0;
  if (W.blocks() == 0) return;
  find_groups(ctx, W, stages);
  if (groups_ == 0) return;
  colour_groups(ctx, W, stages);
  order_groups(ctx, stages);
  prepare_blocks(ctx, W, law, stages);
}

template <int D>
void StagedSweeps<D>::run_batch(Context& ctx, const Delassus<D>& W, const ContactLaw<D>* law,
                                std::size_t batch, Vec<double, D>* r, double* v) {
  const GroupSweep<D> sweep{W.body_rows(), W.q(),         law,        order_.data() + batch_[batch],
                            first_.data(), group_.data(), W.blocks(), moves_.data(),
                            w_.data(),     local_.data(), r,          v};
  launch(ctx, batch_[batch + 1] - batch_[batch], sweep, kHeavy);
}

template <int D>
void StagedSweeps<D>::run(Context& ctx, const Delassus<D>& W, const ContactLaw<D>* law, int sweeps,
                          Vec<double, D>* r, double* v) {
  if (groups_ == 0) return;
  for (std::size_t stage = 0; stage + 1 < stage_.size(); ++stage)
    for (int sweep = 0; sweep < sweeps; ++sweep)
      for (std::size_t batch = stage_[stage]; batch < stage_[stage + 1]; ++batch)
        run_batch(ctx, W, law, batch, r, v);
}

template class StagedSweeps<3>;
template class StagedSweeps<4>;
template class StagedSweeps<5>;

}  // namespace stickslip::STICKSLIP_BACKEND
