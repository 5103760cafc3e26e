#include "gpu/linear/crew_factors.h"

#include <algorithm>
#include <numeric>

namespace stickslip::cpu {
namespace {

struct SlotVectors {
  const std::int32_t* slot;
  const Lanes3* r;
  float operator()(std::int32_t column, int c) const { return static_cast<float>(r[slot[column]][c]); }
};

struct SlotSolutions {
  const std::int32_t* slot;
  const std::uint8_t* fixed;
  Lanes3* z;
  void operator()(std::int32_t column, const float* x) const {
    const std::int32_t s = slot[column];
    if (fixed[s] == 0) z[s] += Lanes3{x[0], x[1], x[2], Real(0)};
  }
};

}  // namespace

/// The tasks of a stage go to the threads from the largest to the smallest, each to the one with the least
/// work.
void CrewFactors::load(const ChunkView& rows, PanelFactors& factors, int threads) {
  solves_ = factors.view();
  sequence_ = factors.sequence();
  task_begin_ = factors.task_begin();
  slot_.resize(factors.columns());
  for (std::size_t c = 0; c < slot_.size(); ++c) slot_[c] = rows.slot_of_node[factors.nodes()[c]];
  const std::span<const std::int32_t> stages = factors.stage_begin();
  tasks_.assign(stages.size() - 1, std::vector<std::vector<std::int32_t>>(static_cast<std::size_t>(threads)));
  for (std::size_t s = 0; s + 1 < stages.size(); ++s) {
    std::vector<std::int32_t> order(static_cast<std::size_t>(stages[s + 1] - stages[s]));
    std::iota(order.begin(), order.end(), stages[s]);
    const auto work = [&](std::int32_t task) {
      std::int64_t sum = 0;
      for (std::int32_t k = task_begin_[task]; k < task_begin_[task + 1]; ++k) {
        const FactorPanel& panel = solves_.panels[sequence_[k]];
        sum += std::int64_t{panel.width} * panel.leading();
      }
      return sum;
    };
    std::ranges::stable_sort(order, [&](std::int32_t a, std::int32_t b) { return work(a) > work(b); });
    std::vector<std::int64_t> load(static_cast<std::size_t>(threads), 0);
    for (const std::int32_t task : order) {
      const auto least = static_cast<std::size_t>(std::ranges::min_element(load) - load.begin());
      load[least] += work(task);
      tasks_[s][least].push_back(task);
    }
  }
}

void CrewFactors::add(Arena& arena, const Lanes3* r, Lanes3* z, const std::uint8_t* fixed) const {
  const SlotVectors right{slot_.data(), r};
  const SlotSolutions left{slot_.data(), fixed, z};
  for (const auto& stage : tasks_)
    arena.run_each(stage.size(), [&](std::size_t thread) {
      for (const std::int32_t task : stage[thread])
        for (std::int32_t k = task_begin_[task]; k < task_begin_[task + 1]; ++k)
          solves_.forward(sequence_[k], right);
    });
  for (auto stage = tasks_.rbegin(); stage != tasks_.rend(); ++stage)
    arena.run_each(stage->size(), [&](std::size_t thread) {
      for (const std::int32_t task : (*stage)[thread])
        for (std::int32_t k = task_begin_[task + 1] - 1; k >= task_begin_[task]; --k)
          solves_.backward(sequence_[k], left);
    });
}

}  // namespace stickslip::cpu
