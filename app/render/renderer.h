// The one renderer, for a window and for pictures without a window system.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "app/render/frame_view.h"
#include "app/render/image.h"
#include "app/render/interop.h"
#include "app/render/position_offer.h"
#include "gpu/model/model.h"

struct GLFWwindow;
struct ImDrawData;

namespace stickslip {

/// There is no usable Vulkan device, or none that can show on this window. The program exits with code 3.
struct NoDeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// A Vulkan call failed; the text has the call, its result and the place.
struct RenderError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Quality { automatic, light, medium, high };
/// "automatic", "light", "medium", "high". Throws std::invalid_argument naming the choices.
Quality parse_quality(std::string_view name);
std::string_view quality_name(Quality quality);

struct RendererOptions {
  GLFWwindow* window = nullptr;  // nullptr: offscreen only, no window system is touched
  /// automatic: light in a window on a software device, else high.
  Quality quality = Quality::automatic;
  bool validation = false;  // also on when the environment has STICKSLIP_VALIDATION=1
  Interop interop = Interop::automatic;
};

/// Bytes of positions that the host has moved so far: for pictures, and because somebody asked where nodes
/// are.
struct PositionTraffic {
  std::uint64_t copied = 0, read = 0;
};

class SharedPositions;

/// Not thread safe: one thread owns a renderer. With a window it owns ImGui's Vulkan side: the ImGui context
/// must exist before the constructor and outlive the renderer; per frame the caller calls its platform
/// backend's NewFrame, ImGui::NewFrame, ..., ImGui::Render and gives ImGui::GetDrawData() to draw_window.
class Renderer {
 public:
  /// Throws NoDeviceError, RenderError.
  explicit Renderer(const RendererOptions& options = {});
  ~Renderer();
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;

  /// Uploads topology and looks; positions become the model's start. A horizontal half-space shows as the
  /// gridded ground, a tilted one as a finite translucent plane. Object colours are sRGB in [0, 1].
  void set_scene(const Model& model);
  /// Node positions [m] of the pictures to come; one per node of the model. Throws std::invalid_argument
  /// otherwise.
  void set_positions(std::span<const Vec3f> positions);
  /// How an engine could write positions by itself that runs on this device; nothing: on the CPU.
  Sharing negotiate(const std::optional<DeviceUuid>& engine) const;
  /// Slots for the nodes of the scene, one way or the other. They are closed by the next offer or scene, and
  /// by the renderer's end. `how` as `negotiate` has it.
  PositionOffer offer_positions(const Sharing& how);
  /// As set_positions, with what was published in the slots offered last. Throws std::invalid_argument for
  /// others.
  void set_positions(const SlotHold& published);
  PositionTraffic position_traffic() const;
  /// What the slots stand on, for tests that write as another driver would; null without an offer.
  SharedPositions* shared_positions();
  void set_object_color(std::size_t object, const Vec3f& srgb);
  /// Of the bodies at the current positions (for Camera::frame); a unit box when there are none.
  Bounds bounds() const;

  /// Shows a picture in the window with `ui` (may be null) on top. Returns false, having shown nothing, while
  /// the window is minimised. Follows the window's size. `shown`, when given, receives the picture including
  /// the ui.
  bool draw_window(const FrameView& view, ImDrawData* ui, Image* shown = nullptr);
  /// A picture without ui, in either mode. Throws std::invalid_argument for a size below 1 or above the
  /// device's limit.
  Image render_offscreen(const FrameView& view, int width, int height);

  Quality quality() const;  // never automatic
  void set_quality(Quality quality);
  const std::string& device_name() const;
  bool software_device() const;
  /// What the validation layers have said so far (warnings and errors). Empty when they are off.
  const std::vector<std::string>& validation_messages() const;
  /// Whether the layers were asked for and are there.
  bool validation_active() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stickslip
