#include "app/render/interop.h"

#include <stdexcept>

namespace stickslip {

Interop parse_interop(std::string_view name) {
  if (name == "auto") return Interop::automatic;
  if (name == "off") return Interop::off;
  throw std::invalid_argument("'" + std::string(name) + "': use auto or off");
}

Sharing negotiate(Interop wanted, const std::optional<DeviceUuid>& engine, const ExportSupport& vulkan) {
  if (wanted == Interop::off) return {ShareKind::staged, "switched off"};
  if (!engine) return {ShareKind::mapped, ""};
  if (*engine != vulkan.uuid)
    return {ShareKind::mapped, "Vulkan draws on " + vulkan.name + ", which is not the engine's device"};
  if (!vulkan.memory) return {ShareKind::mapped, vulkan.name + " exports no memory"};
  if (!vulkan.timelines) return {ShareKind::mapped, vulkan.name + " exports no timeline semaphores"};
  return {ShareKind::cuda, ""};
}

std::optional<Sharing> second_best(ShareKind offered, const Sharing& answer) {
  const bool refused = answer.kind == ShareKind::staged && !answer.note.empty();
  if (offered != ShareKind::cuda || !refused) return std::nullopt;
  return Sharing{ShareKind::mapped, answer.note};  // host-visible memory needs no support from the driver
}

std::string describe(const Sharing& sharing) {
  const std::string note = sharing.note.empty() ? "" : ": " + sharing.note;
  switch (sharing.kind) {
    case ShareKind::staged:
      return "staged" + note;
    case ShareKind::mapped:
      return (sharing.note.empty() ? "mapped (no copy)" : "mapped (one transfer)") + note;
    case ShareKind::cuda:
      return "cuda (no copy)" + note;
  }
  return "";
}

}  // namespace stickslip
