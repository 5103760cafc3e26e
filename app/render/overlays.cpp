#include "app/render/overlays.h"

#include <algorithm>

namespace stickslip {

bool has_long_spring(const Model& model) {
  return std::ranges::any_of(model.springs, [](const Spring& spring) { return spring.length > 0; });
}

bool moves_nodes(const Model& model) {
  return std::ranges::any_of(model.scripted, [&](const ScriptedNodes& script) {
    if (script.nodes.empty()) return false;
    const auto object = model.node_object[static_cast<std::size_t>(script.nodes.front())];
    return model.objects[static_cast<std::size_t>(object)].is_movable();
  });
}

std::span<const OverlayInfo> overlay_table() {
#define STICKSLIP_ROW(flag, label, key, meaning, condition, reads_contacts)                               \
  {#flag, label, meaning, key, &Overlays::flag, reads_contacts, []([[maybe_unused]] const Model& model) { \
     return condition;                                                                                    \
   }},
#define STICKSLIP_CONTACT(...) STICKSLIP_ROW(__VA_ARGS__, true)
#define STICKSLIP_OTHER(...) STICKSLIP_ROW(__VA_ARGS__, false)
  static constexpr OverlayInfo table[] = {
      STICKSLIP_OVERLAYS(STICKSLIP_CONTACT, STICKSLIP_OTHER, STICKSLIP_OTHER)};
#undef STICKSLIP_ROW
#undef STICKSLIP_CONTACT
#undef STICKSLIP_OTHER
  return table;
}

Overlays offered_overlays(Overlays overlays, const Model& model) {
  for (const OverlayInfo& overlay : overlay_table())
    if (!overlay.is_offered(model)) overlays.*overlay.flag = false;
  return overlays;
}

bool shows_contacts(const Overlays& overlays) {
  return std::ranges::any_of(
      overlay_table(), [&](const OverlayInfo& row) { return row.reads_contacts && overlays.*row.flag; });
}

}  // namespace stickslip
