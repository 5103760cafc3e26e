#include "app/viewer/commands.h"

namespace stickslip {

bool supersedes(const Command& next, const Command& previous) {
  if (next.index() != previous.index()) return false;
  if (const auto* edit = std::get_if<ParamEdit>(&next))
    return edit->name == std::get<ParamEdit>(previous).name;
  if (const auto* edit = std::get_if<MaterialEdit>(&next)) {
    const auto& old = std::get<MaterialEdit>(previous);
    return edit->name == old.name && edit->material == old.material;
  }
  if (const auto* edit = std::get_if<HalfSpaceEdit>(&next))
    return edit->index == std::get<HalfSpaceEdit>(previous).index;
  return true;
}

}  // namespace stickslip
