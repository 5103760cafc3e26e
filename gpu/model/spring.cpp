#include "gpu/model/spring.h"

#include <algorithm>
#include <numeric>

#include "gpu/math/corner_blocks.h"

namespace stickslip {
namespace {

void add_side(const ConstraintPoint& point, double sign, SpringElement& to) {
  to.offset += sign * point.fixed;
  for (int c = 0; c < 4; ++c) {
    if (point.nodes[c] < 0 || point.weights[c] == 0) continue;
    std::int32_t* const end = to.nodes + to.count;
    std::int32_t* const found = std::find(to.nodes, end, point.nodes[c]);
    if (found == end) {
      to.nodes[to.count] = point.nodes[c];
      to.share[to.count++] = 0;
    }
    to.share[found - to.nodes] += sign * point.weights[c];
  }
}

/// The stencil of the corners [first, first + 2) and [second, second + 2) of `count`.
SpringStencil stencil_of(std::int32_t element, int first, int second, int count) {
  SpringStencil stencil;
  stencil.element = element;
  int at = 0;
  for (const int begin : {first, second})
    for (int k = begin; k < std::min(begin + 2, count); ++k) stencil.corner[at++] = k;
  return stencil;
}

}  // namespace

SpringElement spring_element(const Spring& spring) {
  SpringElement element{};
  add_side(spring.a, 1, element);
  add_side(spring.b, -1, element);
  element.length = spring.length;
  element.stiffness = spring.stiffness;
  element.damping = spring.damping;
  return element;
}

std::vector<SpringElement> spring_elements(std::span<const Spring> springs) {
  std::vector<SpringElement> elements;
  elements.reserve(springs.size());
  for (const Spring& spring : springs) elements.push_back(spring_element(spring));
  return elements;
}

std::vector<SpringStencil> spring_stencils(std::span<const SpringElement> elements) {
  std::vector<SpringStencil> stencils;
  for (std::size_t e = 0; e < elements.size(); ++e) {
    const int count = elements[e].count;
    bool owned[kSpringNodes][kSpringNodes] = {};  // by an earlier stencil of the element
    for (int first = 0; first < count; first += 2)
      for (int second = first + 2; second < std::max(count, first + 3); second += 2) {
        // Up to two nodes are one pair alone; what has more needs no stencil of the last pair alone.
        if (second >= count && first > 0) continue;
        SpringStencil stencil = stencil_of(static_cast<std::int32_t>(e), first, second, count);
        for (int row = 0; row < 4; ++row)
          for (int column = 0; column <= row; ++column) {
            const int a = stencil.corner[row], b = stencil.corner[column];
            if (a < 0 || b < 0 || owned[a][b]) continue;
            owned[a][b] = owned[b][a] = true;
            stencil.owned |= 1U << static_cast<unsigned>(corner_block(row, column));
          }
        stencils.push_back(stencil);
      }
  }
  return stencils;
}

std::vector<std::int32_t> spring_groups(const Model& model) {
  std::vector<std::int32_t> group(model.objects.size());
  std::iota(group.begin(), group.end(), 0);
  const auto first_of = [&](std::int32_t object) {
    while (group[static_cast<std::size_t>(object)] != object)
      object = group[static_cast<std::size_t>(object)];
    return object;
  };
  for (const Spring& spring : model.springs) {
    std::int32_t joined = -1;
    for (const ConstraintPoint* point : {&spring.a, &spring.b})
      for (int c = 0; c < 4; ++c) {
        if (point->nodes[c] < 0) continue;
        const std::int32_t object = first_of(model.node_object[static_cast<std::size_t>(point->nodes[c])]);
        const std::int32_t low = joined < 0 ? object : std::min(joined, object);
        if (joined >= 0) group[static_cast<std::size_t>(std::max(joined, object))] = low;
        joined = low;
      }
  }
  for (std::int32_t& object : group) object = first_of(object);
  return group;
}

std::vector<std::uint8_t> tied_to_world(const Model& model) {
  std::vector<std::uint8_t> tied(model.objects.size(), 0);
  for (const Spring& spring : model.springs) {
    const bool a_stands = spring.a.nodes[0] < 0, b_stands = spring.b.nodes[0] < 0;
    if (a_stands == b_stands) continue;
    const std::int32_t node = (a_stands ? spring.b : spring.a).nodes[0];
    tied[static_cast<std::size_t>(model.node_object[static_cast<std::size_t>(node)])] = 1;
  }
  return tied;
}

}  // namespace stickslip
