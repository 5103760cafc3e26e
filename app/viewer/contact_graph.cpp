#include "app/viewer/contact_graph.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace stickslip {
namespace {

/// Numbers in one group each; the name of a group is its smallest member.
class Groups {
 public:
  explicit Groups(std::size_t size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), 0); }
  std::int32_t name(std::int32_t of) {
    while (up(of) != of) of = up(of) = up(up(of));
    return of;
  }
  void join(std::int32_t a, std::int32_t b) {
    a = name(a);
    b = name(b);
    up(std::max(a, b)) = std::min(a, b);
  }

 private:
  std::int32_t& up(std::int32_t of) { return parent_[static_cast<std::size_t>(of)]; }
  std::vector<std::int32_t> parent_;
};

/// The object that holds a side of a joint; -1: the world.
std::int32_t object_of_side(const Model& model, std::int32_t body, std::int32_t tet) {
  if (body >= 0) return model.bodies[static_cast<std::size_t>(body)].object;
  if (tet < 0) return -1;
  return model.node_object[static_cast<std::size_t>(model.tets[static_cast<std::size_t>(tet)][0])];
}

std::vector<std::uint8_t> movable_objects(const Model& model) {
  std::vector<std::uint8_t> moves;
  moves.reserve(model.objects.size());
  for (const Object& object : model.objects) moves.push_back(can_move(model, object));
  return moves;
}

/// Contacts of one owner by cells: pairs of a cell and a number, ascending.
using CellCounts = std::map<int, double>;

void add_product(const CellCounts& counts, double sign, int cells, std::vector<double>& sum) {
  for (const auto& [row, a] : counts)
    for (const auto& [column, b] : counts)
      sum[static_cast<std::size_t>(row) * static_cast<std::size_t>(cells) +
          static_cast<std::size_t>(column)] += sign * a * b;
}

std::vector<std::size_t> in_order(std::span<const ContactRecord> contacts, ContactOrder order) {
  std::vector<std::size_t> sorted(contacts.size());
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  if (order == ContactOrder::swept)
    std::ranges::stable_sort(sorted, {}, [&](std::size_t c) { return contacts[c].colour; });
  return sorted;
}

}  // namespace

bool can_move(const Model& model, const Object& object) {
  if (object.is_rigid()) return model.bodies[static_cast<std::size_t>(object.body)].moves;
  return object.is_movable();
}

std::vector<std::int32_t> islands_of(const Model& model, std::span<const ContactRecord> contacts) {
  const std::vector<std::uint8_t> moves = movable_objects(model);
  Groups groups(moves.size());
  const auto join = [&](std::int32_t a, std::int32_t b) {
    const auto known = [&](std::int32_t of) {
      return of >= 0 && static_cast<std::size_t>(of) < moves.size() && moves[static_cast<std::size_t>(of)];
    };
    if (known(a) && known(b)) groups.join(a, b);
  };
  for (const ContactRecord& contact : contacts) join(contact.object_a, contact.object_b);
  for (const Joint& joint : model.joints)
    join(object_of_side(model, joint.a, joint.tet_a), object_of_side(model, joint.b, joint.tet_b));
  std::vector<std::int32_t> islands(moves.size(), -1);
  for (std::size_t i = 0; i < moves.size(); ++i)
    if (moves[i] != 0) islands[i] = groups.name(static_cast<std::int32_t>(i));
  return islands;
}

Vec<float, 3> island_color(std::int32_t island) {
  // Hues at steps of the golden ratio: any few successive ones are far apart.
  constexpr float kStep = 0.618034f, kSaturation = 0.55f, kValue = 0.85f;
  const float turn = kStep * static_cast<float>(island), hue = 6 * (turn - std::floor(turn));
  const auto channel = [&](float shift) {
    const float k = std::fmod(shift + hue, 6.f);
    return kValue * (1 - kSaturation * std::clamp(std::min(k, 4 - k), 0.f, 1.f));
  };
  return {channel(5), channel(3), channel(1)};
}

MatrixPattern pattern_of(const Model& model, std::span<const ContactRecord> contacts, int cells,
                         ContactOrder order) {
  MatrixPattern pattern;
  const std::size_t n = contacts.size();
  pattern.cells = static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(cells), n));
  if (pattern.cells == 0) return pattern;
  const std::vector<std::uint8_t> moves = movable_objects(model);
  const auto can = [&](std::int32_t object) {
    return object >= 0 && static_cast<std::size_t>(object) < moves.size() &&
           moves[static_cast<std::size_t>(object)] != 0;
  };
  // Blocks of contacts that share an object: per object all pairs of its contacts, less those of contacts
  // that share two objects and were counted twice.
  std::map<std::int32_t, CellCounts> of_object;
  std::map<std::pair<std::int32_t, std::int32_t>, CellCounts> of_pair;
  std::vector<double> size(static_cast<std::size_t>(pattern.cells), 0);
  const std::vector<std::size_t> sorted = in_order(contacts, order);
  for (std::size_t i = 0; i < n; ++i) {
    const int cell = static_cast<int>(i * static_cast<std::size_t>(pattern.cells) / n);
    const ContactRecord& contact = contacts[sorted[i]];
    const auto [a, b] = std::minmax(contact.object_a, contact.object_b);
    ++size[static_cast<std::size_t>(cell)];
    if (can(a)) ++of_object[a][cell];
    if (can(b) && a != b) ++of_object[b][cell];
    if (can(a) && can(b) && a != b) ++of_pair[{a, b}][cell];
  }
  std::vector<double> sum(size.size() * size.size(), 0);
  for (const auto& [object, counts] : of_object) add_product(counts, 1, pattern.cells, sum);
  for (const auto& [pair, counts] : of_pair) add_product(counts, -1, pattern.cells, sum);
  pattern.share.resize(sum.size());
  double total = 0;
  for (std::size_t row = 0; row < size.size(); ++row)
    for (std::size_t column = 0; column < size.size(); ++column) {
      const std::size_t k = row * size.size() + column;
      pattern.share[k] = static_cast<float>(sum[k] / (size[row] * size[column]));
      total += sum[k];
    }
  pattern.filled = total / (static_cast<double>(n) * static_cast<double>(n));
  return pattern;
}

}  // namespace stickslip
