#include "gpu/linear/factor_plan.h"

#include <algorithm>
#include <numeric>

#include "gpu/linear/fill_order.h"

namespace stickslip {
namespace {

using Ints = std::vector<std::int32_t>;

/// Neighbours of each column, in compressed rows.
struct Adjacency {
  Ints start, column;

  std::span<const std::int32_t> of(std::int32_t i) const {
    return std::span(column).subspan(static_cast<std::size_t>(start[i]),
                                     static_cast<std::size_t>(start[i + 1] - start[i]));
  }
};

Adjacency adjacency(std::span<const Vec2i> pairs, const Ints& column_of_node, std::size_t columns) {
  std::vector<Vec2i> sides;
  sides.reserve(2 * pairs.size());
  for (const Vec2i& pair : pairs) {
    const std::int32_t a = column_of_node[pair[0]], b = column_of_node[pair[1]];
    if (a < 0 || b < 0 || a == b) continue;
    sides.push_back({a, b});
    sides.push_back({b, a});
  }
  const auto before = [](const Vec2i& a, const Vec2i& b) { return a[0] != b[0] ? a[0] < b[0] : a[1] < b[1]; };
  std::ranges::sort(sides, before);
  Adjacency out;
  out.start.assign(columns + 1, 0);
  for (std::size_t k = 0; k < sides.size(); ++k) {
    if (k > 0 && sides[k][0] == sides[k - 1][0] && sides[k][1] == sides[k - 1][1]) continue;
    ++out.start[sides[k][0] + 1];
    out.column.push_back(sides[k][1]);
  }
  std::partial_sum(out.start.begin(), out.start.end(), out.start.begin());
  return out;
}

/// The parent of each column in the elimination tree [Liu90]; -1: a root.
Ints elimination_tree(const Adjacency& a) {
  const std::size_t n = a.start.size() - 1;
  Ints parent(n, -1), ancestor(n, -1);
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(n); ++i)
    for (std::int32_t k : a.of(i))
      while (k < i && k >= 0) {
        const std::int32_t next = ancestor[k];
        ancestor[k] = i;
        if (next < 0) parent[k] = i;
        k = next < 0 ? i : next;
      }
  return parent;
}

/// Children before parents, each subtree in one piece: postorder[k] is the k-th column.
Ints postorder(const Ints& parent) {
  const auto n = static_cast<std::int32_t>(parent.size());
  Ints first_child(parent.size(), -1), sibling(parent.size(), -1), order, stack;
  Ints roots;
  for (std::int32_t i = n - 1; i >= 0; --i) {
    if (parent[i] < 0) {
      roots.push_back(i);
      continue;
    }
    sibling[i] = first_child[parent[i]];
    first_child[parent[i]] = i;
  }
  order.reserve(parent.size());
  for (auto root = roots.rbegin(); root != roots.rend(); ++root) {
    stack.push_back(*root);
    while (!stack.empty()) {
      const std::int32_t at = stack.back();
      if (const std::int32_t child = first_child[at]; child >= 0) {
        first_child[at] = sibling[child];
        stack.push_back(child);
      } else {
        order.push_back(at);
        stack.pop_back();
      }
    }
  }
  return order;
}

/// A panel in the making: its columns are [first, last], its rows are those below the last column.
struct Supernode {
  std::int32_t first, last;
  Ints rows;
  double entries;  // blocks of L in it that do not vanish

  double width() const { return last - first + 1; }
  double size() const { return width() * (width() + 1) / 2 + width() * static_cast<double>(rows.size()); }
};

/// Whether `child`, whose columns end where those of `parent` begin, should join it: a few vanishing blocks
/// cost less than one more panel.
bool should_join(const Supernode& child, const Supernode& parent) {
  const Supernode joined{child.first, parent.last, {}, 0};
  const double width = joined.width(), rows = static_cast<double>(parent.rows.size());
  const double size = width * (width + 1) / 2 + width * rows;
  const double vanishing = 1 - (child.entries + parent.entries) / size;
  return vanishing <= (width <= 4 ? 0.5 : width <= 12 ? 0.2 : 0.05);
}

/// The columns' rows from those of their children, joined to supernodes on the way. `a`: postordered.
std::vector<Supernode> find_supernodes(const Adjacency& a, const Ints& parent) {
  const auto n = static_cast<std::int32_t>(parent.size());
  std::vector<Supernode> done;
  Ints supernode_of(parent.size(), -1), mark(parent.size(), -1);
  std::vector<Ints> children(parent.size());  // supernodes
  for (std::int32_t i = 0; i < n; ++i) {
    Supernode own{i, i, {}, 0};
    const auto add = [&](std::int32_t row) {
      if (row <= i || mark[row] == i) return;
      mark[row] = i;
      own.rows.push_back(row);
    };
    for (const std::int32_t row : a.of(i)) add(row);
    for (const std::int32_t child : children[i])
      for (const std::int32_t row : done[child].rows) add(row);
    std::ranges::sort(own.rows);
    own.entries = 1 + static_cast<double>(own.rows.size());
    // The child that ends at the column before is the last one that was made.
    while (!done.empty() && done.back().last == own.first - 1 && !done.back().rows.empty() &&
           done.back().rows.front() <= own.last && should_join(done.back(), own)) {
      own.first = done.back().first;
      own.entries += done.back().entries;
      done.pop_back();
    }
    done.push_back(std::move(own));
    if (parent[i] >= 0) children[parent[i]].push_back(static_cast<std::int32_t>(done.size()) - 1);
  }
  return done;
}

/// Tasks from the largest to the smallest, by turns into two halves: two threads then begin with the largest,
/// and end with small ones.
template <class Work>
Ints shared_out(Ints tasks, const Work& work) {
  std::ranges::stable_sort(tasks, [&](std::int32_t a, std::int32_t b) { return work(a) > work(b); });
  Ints out;
  for (const std::size_t first : {0, 1})
    for (std::size_t k = first; k < tasks.size(); k += 2) out.push_back(tasks[k]);
  return out;
}

/// Panels of each task, tasks of each stage. A subtree with at most an eighth of the work is one task of the
/// first stage. The panels above are cut into paths, each from a panel with no or several children among them
/// up to the next such one: a task that waits for those that end below it.
void schedule(FactorPlan& plan, const std::vector<double>& work, const Ints& parent) {
  const auto n = static_cast<std::int32_t>(plan.panels.size());
  std::vector<double> of_subtree = work;
  double all = 0;
  for (std::int32_t p = 0; p < n; ++p) {
    all += work[p];
    if (parent[p] >= 0) of_subtree[parent[p]] += of_subtree[p];
  }
  const auto is_high = [&](std::int32_t p) { return of_subtree[p] > all / 8; };
  Ints high_children(parent.size(), 0), task(parent.size(), -1), stage;
  std::vector<Ints> tasks;
  for (std::int32_t p = 0; p < n; ++p)
    if (parent[p] >= 0 && is_high(p)) ++high_children[parent[p]];
  Ints child_stage(parent.size(), 0), only_child(parent.size(), -1);
  for (std::int32_t p = 0; p < n; ++p) {
    const std::int32_t up = parent[p];
    if (!is_high(p)) {
      // A subtree of the first stage is contiguous, and ends at its root.
      if (tasks.empty() || stage.back() != 0 || (p > 0 && (parent[p - 1] < 0 || is_high(parent[p - 1])))) {
        tasks.emplace_back();
        stage.push_back(0);
      }
      task[p] = static_cast<std::int32_t>(tasks.size()) - 1;
      tasks.back().push_back(p);
      continue;
    }
    if (high_children[p] == 1) {
      task[p] = task[only_child[p]];
    } else {
      task[p] = static_cast<std::int32_t>(tasks.size());
      tasks.emplace_back();
      stage.push_back(child_stage[p] + 1);
    }
    tasks[task[p]].push_back(p);
    if (up < 0) continue;
    only_child[up] = p;
    child_stage[up] = std::max(child_stage[up], stage[task[p]]);
  }
  plan.stage_begin.push_back(0);
  plan.task_begin.push_back(0);
  const int last = stage.empty() ? 0 : *std::ranges::max_element(stage);
  const auto work_of = [&](std::int32_t t) {
    double sum = 0;
    for (const std::int32_t p : tasks[t]) sum += work[p];
    return sum;
  };
  for (int s = 0; s <= last; ++s) {
    Ints order;
    for (std::size_t t = 0; t < tasks.size(); ++t)
      if (stage[t] == s) order.push_back(static_cast<std::int32_t>(t));
    for (const std::int32_t t : shared_out(order, work_of)) {
      plan.sequence.insert(plan.sequence.end(), tasks[t].begin(), tasks[t].end());
      plan.task_begin.push_back(static_cast<std::int32_t>(plan.sequence.size()));
    }
    plan.stage_begin.push_back(static_cast<std::int32_t>(plan.task_begin.size()) - 1);
  }
}

/// Updates and their places, once all panels are there.
void connect(FactorPlan& plan, const Ints& panel_of) {
  std::vector<std::vector<FactorUpdate>> updates(plan.panels.size());
  for (std::size_t k = 0; k < plan.panels.size(); ++k) {
    const FactorPanel& source = plan.panels[k];
    const std::int32_t* rows = plan.rows.data() + source.rows_begin;
    for (std::int32_t from = 0; from < source.below();) {
      const std::int32_t p = panel_of[rows[from]];
      const FactorPanel& target = plan.panels[p];
      std::int32_t to = from;
      while (to < source.below() && panel_of[rows[to]] == p) ++to;
      updates[p].push_back(
          {static_cast<std::int32_t>(k), from, to, static_cast<std::int32_t>(plan.places.size())});
      std::int32_t place = 0;
      for (std::int32_t r = from; r < source.below(); ++r) {
        if (r < to) {
          plan.places.push_back(rows[r] - target.first);
          continue;
        }
        while (plan.rows[target.rows_begin + place] != rows[r]) ++place;
        plan.places.push_back(target.width + place);
      }
      from = to;
    }
  }
  for (std::size_t p = 0; p < plan.panels.size(); ++p) {
    plan.panels[p].updates_begin = static_cast<std::int32_t>(plan.updates.size());
    plan.updates.insert(plan.updates.end(), updates[p].begin(), updates[p].end());
    plan.panels[p].updates_end = static_cast<std::int32_t>(plan.updates.size());
  }
}

/// Where the blocks of the matrix go.
void place_entries(FactorPlan& plan, std::span<const Vec2i> pairs, const Ints& column_of_node,
                   const Ints& panel_of) {
  std::vector<std::vector<FactorEntry>> entries(plan.panels.size());
  for (std::size_t e = 0; e < pairs.size(); ++e) {
    const std::int32_t a = column_of_node[pairs[e][0]], b = column_of_node[pairs[e][1]];
    if (a < 0 || b < 0 || a == b) continue;
    const std::int32_t row = std::max(a, b), column = std::min(a, b), p = panel_of[column];
    const FactorPanel& panel = plan.panels[p];
    std::int32_t place = row - panel.first;
    if (place >= panel.width) {
      const auto begin = plan.rows.begin() + panel.rows_begin, end = plan.rows.begin() + panel.rows_end;
      place = panel.width + static_cast<std::int32_t>(std::lower_bound(begin, end, row) - begin);
    }
    entries[p].push_back({static_cast<std::int32_t>(2 * e + (a > b ? 0 : 1)), place, column - panel.first});
  }
  for (std::size_t p = 0; p < plan.panels.size(); ++p) {
    plan.panels[p].entries_begin = static_cast<std::int32_t>(plan.entries.size());
    plan.entries.insert(plan.entries.end(), entries[p].begin(), entries[p].end());
    plan.panels[p].entries_end = static_cast<std::int32_t>(plan.entries.size());
  }
}

}  // namespace

FactorPlan make_factor_plan(std::span<const std::uint8_t> is_member, std::span<const Vec2i> pairs,
                            std::int64_t most_values) {
  FactorPlan plan;
  Ints column_of_node(is_member.size(), -1);
  for (std::size_t i = 0; i < is_member.size(); ++i) {
    if (is_member[i] == 0) continue;
    column_of_node[i] = static_cast<std::int32_t>(plan.node.size());
    plan.node.push_back(static_cast<std::int32_t>(i));
  }
  const std::size_t n = plan.node.size();
  // Twice: by minimum degree, then along the elimination tree of that order.
  const auto reorder = [&](const Ints& order) {
    Ints node(n);
    for (std::size_t k = 0; k < n; ++k) node[k] = plan.node[order[k]];
    plan.node = std::move(node);
    for (std::size_t k = 0; k < n; ++k) column_of_node[plan.node[k]] = static_cast<std::int32_t>(k);
  };
  Adjacency a = adjacency(pairs, column_of_node, n);
  reorder(fill_reducing_order(a.start, a.column));
  a = adjacency(pairs, column_of_node, n);
  reorder(postorder(elimination_tree(a)));
  a = adjacency(pairs, column_of_node, n);

  std::vector<Supernode> supernodes = find_supernodes(a, elimination_tree(a));
  Ints panel_of(n), parent(supernodes.size(), -1);
  std::vector<double> work;
  for (std::size_t p = 0; p < supernodes.size(); ++p) {
    const Supernode& s = supernodes[p];
    FactorPanel panel{};
    panel.first = s.first;
    panel.width = s.last - s.first + 1;
    panel.rows_begin = static_cast<std::int32_t>(plan.rows.size());
    plan.rows.insert(plan.rows.end(), s.rows.begin(), s.rows.end());
    panel.rows_end = static_cast<std::int32_t>(plan.rows.size());
    panel.values = plan.values;
    plan.values += std::int64_t{3} * panel.width * panel.leading() + kFactorSpare;
    if (plan.values > most_values) return {};
    const double w = 3.0 * panel.width, m = 3.0 * panel.below();
    work.push_back(w * w * w / 6 + w * w * m / 2 + w * m * m / 2);
    plan.multiplications += work.back();
    plan.panels.push_back(panel);
    std::fill(panel_of.begin() + s.first, panel_of.begin() + s.last + 1, static_cast<std::int32_t>(p));
  }
  for (std::size_t p = 0; p < supernodes.size(); ++p)
    if (!supernodes[p].rows.empty()) parent[p] = panel_of[supernodes[p].rows.front()];
  connect(plan, panel_of);
  place_entries(plan, pairs, column_of_node, panel_of);
  schedule(plan, work, parent);
  return plan;
}

}  // namespace stickslip
