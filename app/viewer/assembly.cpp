#include "app/viewer/assembly.h"

#include <algorithm>

#include "gpu/model/solid_joints.h"

namespace stickslip {
namespace {

/// The object at one side of a joint; -1: the world.
int object_at(const Model& model, std::int32_t body, std::int32_t tet) {
  if (tet >= 0) return object_of_tet(model, tet);
  return body >= 0 ? model.bodies[static_cast<std::size_t>(body)].object : -1;
}

}  // namespace

std::array<int, 2> objects_of(const Model& model, const Joint& joint) {
  return {object_at(model, joint.a, joint.tet_a), object_at(model, joint.b, joint.tet_b)};
}

std::vector<int> assembly_of(const Model& model, int object) {
  std::vector<bool> is_member(model.objects.size(), false);
  is_member.at(static_cast<std::size_t>(object)) = true;
  bool grows = true;
  while (grows) {
    grows = false;
    for (const Joint& joint : model.joints) {
      const auto [a, b] = objects_of(model, joint);
      if (joint.kind == JointKind::distance || a < 0 || b < 0) continue;
      const bool has_a = is_member[static_cast<std::size_t>(a)],
                 has_b = is_member[static_cast<std::size_t>(b)];
      if (has_a == has_b) continue;
      is_member[static_cast<std::size_t>(a)] = is_member[static_cast<std::size_t>(b)] = grows = true;
    }
  }
  std::vector<int> members;
  for (int k = 0; k < static_cast<int>(is_member.size()); ++k)
    if (is_member[static_cast<std::size_t>(k)]) members.push_back(k);
  return members;
}

}  // namespace stickslip
