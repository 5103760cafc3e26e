// The renderer, for a window and for pictures without a window system.
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

/// No Vulkan device is usable, or none can present to this window. The program exits with code 3.
struct NoDeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// A Vulkan call failed; the message has the call, its result and the place.
struct RenderError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Quality { automatic, light, medium, high };
/// Parses "automatic", "light", "medium" or "high". Throws std::invalid_argument with the choices.
Quality parse_quality(std::string_view name);
std::string_view quality_name(Quality quality);

struct RendererOptions {
  GLFWwindow* window = nullptr;  // nullptr: offscreen only, no window system is used
  /// automatic: light in a window on a software device, else high.
  Quality quality = Quality::automatic;
  bool validation = false;  // also on when the environment has STICKSLIP_VALIDATION=1
  Interop interop = Interop::automatic;
};

/// Bytes of positions moved by the host so far: for pictures, and for other readers of positions.
struct PositionTraffic {
  std::uint64_t copied = 0, read = 0;
};

class SharedPositions;

/// Not thread safe: one thread owns a renderer. With a window it owns ImGui's Vulkan side, and the ImGui
/// context must be created before the renderer and outlive it. Per frame the caller calls its platform
/// backend's NewFrame, ImGui::NewFrame, ..., ImGui::Render and passes ImGui::GetDrawData() to draw_window.
class Renderer {
 public:
  /// Throws NoDeviceError, RenderError.
  explicit Renderer(const RendererOptions& options = {});
  ~Renderer();
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;

  /// Uploads topology and appearance; positions become the model's start. A horizontal half-space is drawn as
  /// the gridded ground, a tilted one as a finite translucent plane. Object colours are sRGB in [0, 1].
  void set_scene(const Model& model);
  /// Sets the node positions [m] for the next pictures, one per node of the model. Throws
  /// std::invalid_argument for another count.
  void set_positions(std::span<const Vec3f> positions);
  /// The way in which an engine on this device (empty: CPU) could write positions directly.
  Sharing negotiate(const std::optional<DeviceUuid>& engine) const;
  /// Allocates slots for the nodes of the scene. The next offer or scene, and the destructor, close them.
  /// `how` is the result of `negotiate`.
  PositionOffer offer_positions(const Sharing& how);
  /// Like set_positions, with a publication in the slots offered last. Throws std::invalid_argument for
  /// others.
  void set_positions(const SlotHold& published);
  PositionTraffic position_traffic() const;
  /// The memory behind the slots, for tests that write as another driver would; null without an offer.
  SharedPositions* shared_positions();
  void set_object_color(std::size_t object, const Vec3f& srgb);
  /// Bounds of the bodies at their current positions, for Camera::frame; a unit box without bodies.
  Bounds bounds() const;

  /// Draws a picture in the window with `ui` (may be null) on top. Returns false without drawing while the
  /// window is minimised. Adapts to the window's size. `shown`, when given, receives the picture including
  /// the ui. `marks`, when given, are drawn over both in the window alone: `shown` is without them.
  bool draw_window(const FrameView& view, ImDrawData* ui, Image* shown = nullptr,
                   ImDrawData* marks = nullptr);
  /// Likewise, of panes beside each other; what is in none of them has the window's colour. A pane that is
  /// not within the window, as right after a change of its size, is cut at its edge.
  bool draw_window(std::span<const Pane> panes, ImDrawData* ui, Image* shown = nullptr,
                   ImDrawData* marks = nullptr);
  /// Whether the window's pictures go through memory shared with the window system, as they do on software
  /// devices under X unless the environment has STICKSLIP_SWAPCHAIN=1, and not through a swapchain.
  bool shares_window() const;
  /// Of the window where it shows no scene: see FrameView::left.
  void set_window_color(const Vec3f& srgb);
  /// Draws a picture without ui, in either mode. Throws std::invalid_argument for a size below 1 or above the
  /// device's limit.
  Image render_offscreen(const FrameView& view, int width, int height);
  /// Likewise, of panes. It is transparent if the first of them is.
  Image render_offscreen(std::span<const Pane> panes, int width, int height);

  Quality quality() const;  // never automatic
  void set_quality(Quality quality);
  const std::string& device_name() const;
  bool software_device() const;
  /// Messages of the validation layers so far (warnings and errors). Empty when they are off.
  const std::vector<std::string>& validation_messages() const;
  /// Whether the layers were requested and are installed.
  bool validation_active() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stickslip
