#include "app/render/renderer.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "app/render/frame_slot.h"
#include "app/render/passes.h"
#include "app/render/shared_positions.h"
#include "app/render/shared_window.h"
#include "app/render/swapchain.h"
#include "app/render/ui.h"

namespace stickslip {
namespace {

constexpr VkFormat kOffscreenFormat = VK_FORMAT_B8G8R8A8_UNORM;

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value && std::strcmp(value, "1") == 0;
}

Quality resolve(Quality wanted, bool window, bool software) {
  if (wanted != Quality::automatic) return wanted;
  return window && software ? Quality::light : Quality::high;
}

bool same(VkExtent2D a, VkExtent2D b) { return a.width == b.width && a.height == b.height; }

/// One view of everything.
Pane whole(const FrameView& view, VkExtent2D size) {
  return {view, 0, 0, static_cast<int>(size.width), static_cast<int>(size.height)};
}

/// The part of a pane that is in the picture; of no size if there is none.
Pane cut(const Pane& pane, VkExtent2D size) {
  Pane part = pane;
  part.x = std::max(0, pane.x);
  part.y = std::max(0, pane.y);
  part.width = std::min(pane.x + pane.width, static_cast<int>(size.width)) - part.x;
  part.height = std::min(pane.y + pane.height, static_cast<int>(size.height)) - part.y;
  return part;
}

/// Throws std::invalid_argument for positions and colours that are not of this scene.
void check_counts(const Pane& pane, const SceneBuffers& scene) {
  if (!pane.positions.empty()) scene.check_count(pane.positions);
  if (!pane.colors.empty() && pane.colors.size() != scene.objects())
    throw std::invalid_argument("the picture's scene has " + std::to_string(scene.objects()) +
                                " objects, but " + std::to_string(pane.colors.size()) +
                                " colours were given");
}

/// Copies an image in TRANSFER_SRC_OPTIMAL to a buffer. The host may read it once the commands are done.
void copy_to_host(VkCommandBuffer commands, VkImage image, VkExtent2D size, const GpuBuffer& buffer) {
  VkBufferImageCopy region{};
  region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  region.imageExtent = {size.width, size.height, 1};
  vkCmdCopyImageToBuffer(commands, image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, buffer.handle(), 1, &region);
  memory_barrier(commands, VK_PIPELINE_STAGE_2_TRANSFER_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT,
                 VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
}

/// `value` of a colour that was drawn over black with coverage alpha, both of 255: that of the colour itself.
/// The multisampled picture is resolved without decoding its gamma, so this is the inverse of that mean.
std::uint8_t uncovered_by(std::uint8_t value, int alpha) {
  return static_cast<std::uint8_t>(std::min(255, (255 * value + alpha / 2) / alpha));
}

/// With `transparent` as FrameView has it.
Image to_image(const GpuBuffer& buffer, VkExtent2D size, VkFormat format, bool transparent = false) {
  Image image{static_cast<int>(size.width), static_cast<int>(size.height), {}};
  image.rgba.resize(std::size_t{4} * size.width * size.height);
  const auto* source = reinterpret_cast<const std::uint8_t*>(buffer.data());
  const int red = format == VK_FORMAT_B8G8R8A8_UNORM ? 2 : 0;
  for (std::size_t i = 0; i < image.rgba.size(); i += 4) {
    image.rgba[i] = source[i + static_cast<std::size_t>(red)];
    image.rgba[i + 1] = source[i + 1];
    image.rgba[i + 2] = source[i + static_cast<std::size_t>(2 - red)];
    const int alpha = transparent ? source[i + 3] : 255;
    image.rgba[i + 3] = static_cast<std::uint8_t>(alpha);
    for (std::size_t c = 0; alpha > 0 && alpha < 255 && c < 3; ++c)
      image.rgba[i + c] = uncovered_by(image.rgba[i + c], alpha);
  }
  return image;
}

}  // namespace

class Renderer::Impl {
 public:
  explicit Impl(const RendererOptions& options);
  ~Impl() { vkDeviceWaitIdle(device.handle()); }

  void set_scene(const Model& model);
  PositionOffer offer_positions(const Sharing& how);
  void set_positions(std::span<const Vec3f> positions);
  void set_positions(const SlotHold& published);
  PositionTraffic position_traffic() const;
  void set_quality(Quality wanted);
  /// Draws one view of the whole window, or the panes.
  bool draw_window(const FrameView* view, std::span<const Pane> panes, const UiLayers& ui, Image* shown);
  Image render_offscreen(std::span<const Pane> panes, VkExtent2D size);
  bool shares_window() const { return shared_window_ != nullptr; }

  GLFWwindow* window;
  Interop interop;
  Device device;
  Quality quality;
  SceneBuffers scene;
  std::unique_ptr<SharedPositions> shared;
  VkClearColorValue window_color{};  // where a window shows no scene

 private:
  static constexpr std::size_t kOffscreenSlot = 2;

  /// A picture that is drawn, and then copied for the host.
  struct CopiedImage {
    CopiedImage() = default;
    CopiedImage(const Device& device, VkExtent2D size, VkFormat format)
        : image(device,
                {size, format, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT}),
          bytes(GpuBuffer::readback(device, std::size_t{4} * size.width * size.height)) {}
    Output output() const { return {image.handle(), image.view()}; }

    GpuImage image;
    GpuBuffer bytes;
  };

  /// Waits for the slot, uploads, and records everything up to the finished scene at the targets' size.
  /// Throws std::invalid_argument for a pane with positions or colours of another count than the scene's.
  void record_picture(FrameSlot& slot, std::span<const Pane> panes, const Targets& targets,
                      const Output& output, const VkClearColorValue& background);
  void record_pane(FrameSlot& slot, std::size_t number, const Pane& pane, const Targets& targets,
                   const Output& output);
  void submit(const FrameSlot& slot, VkSemaphore wait, VkSemaphore signal) const;
  void drop_shared();
  void make_swapchain(VkExtent2D size);
  /// Into images of our own, for shared_window_.
  void make_window_image(VkExtent2D size);
  /// False: shared_window_ is of no use.
  bool draw_shared(FrameSlot& slot, std::span<const Pane> panes, const UiLayers& ui, VkExtent2D size,
                   Image* shown);
  /// An image for the window, and its number for the Ui.
  struct WindowImage {
    VkImage image;
    std::uint32_t number;
    VkExtent2D size;
  };
  /// Returns how the image was used last.
  Access record_ui(const FrameSlot& slot, const UiLayers& ui, const WindowImage& to,
                   const GpuBuffer* shown) const;
  void forget_bindings();

  QualitySettings settings_;
  VkFormat format_;
  PipelineLayouts layouts_;
  Pipelines pipelines_;
  LightMaps maps_;
  std::array<FrameSlot, 3> slots_;               // two for the window, one for pictures
  std::unique_ptr<SharedWindow> shared_window_;  // instead of a swapchain
  CopiedImage window_image_;
  std::optional<Swapchain> swapchain_;
  std::optional<Ui> ui_;
  Targets window_targets_, picture_targets_;
  CopiedImage picture_;
  std::size_t frames_shown_ = 0;
  SlotHold published_;  // positions for the pictures; empty: the scene's
  PositionTraffic traffic_;
  bool swapchain_outdated_ = false;
};

Renderer::Impl::Impl(const RendererOptions& options)
    : window(options.window),
      interop(options.interop),
      device(options.window, options.validation || is_set("STICKSLIP_VALIDATION")),
      quality(resolve(options.quality, window != nullptr, device.software())),
      scene(device, Model{}),
      settings_(quality_settings(quality)),
      format_(window ? choose_surface_format(device).format : kOffscreenFormat),
      layouts_(device),
      pipelines_(device, layouts_, format_, settings_),
      maps_(device, settings_),
      slots_{FrameSlot(device, layouts_), FrameSlot(device, layouts_), FrameSlot(device, layouts_)} {
  if (window) ui_.emplace(device, format_);
  if (window && device.software() && format_ == VK_FORMAT_B8G8R8A8_UNORM && !is_set("STICKSLIP_SWAPCHAIN"))
    shared_window_ = SharedWindow::open(window);
}

void Renderer::Impl::forget_bindings() {
  for (FrameSlot& slot : slots_) slot.forget_bindings();
}

void Renderer::Impl::set_scene(const Model& model) {
  device.wait_idle();
  drop_shared();
  scene = SceneBuffers(device, model);
  forget_bindings();
}

/// The device must be idle.
void Renderer::Impl::drop_shared() {
  published_ = {};
  for (FrameSlot& slot : slots_) slot.let_go();
  if (shared) traffic_.read += shared->bytes_read();
  shared.reset();
}

PositionOffer Renderer::Impl::offer_positions(const Sharing& how) {
  device.wait_idle();
  drop_shared();
  forget_bindings();
  if (how.kind == ShareKind::staged || scene.positions().empty()) return {how};
  shared = std::make_unique<SharedPositions>(device, scene.positions().size(), how.kind);
  return {how, shared->slots(), shared->target(scene.drawn_nodes())};
}

void Renderer::Impl::set_positions(std::span<const Vec3f> positions) {
  scene.set_positions(positions);
  traffic_.copied += positions.size_bytes();
  published_ = {};
}

void Renderer::Impl::set_positions(const SlotHold& published) {
  if (!shared || !published.is_of(*shared->slots()))
    throw std::invalid_argument("these positions were not published in the slots of this scene");
  scene.set_box(published.box());
  published_ = published;
}

PositionTraffic Renderer::Impl::position_traffic() const {
  PositionTraffic traffic = traffic_;
  for (const FrameSlot& slot : slots_) traffic.copied += slot.bytes_copied();
  if (shared) traffic.read += shared->bytes_read();
  return traffic;
}

void Renderer::Impl::set_quality(Quality wanted) {
  wanted = resolve(wanted, window != nullptr, device.software());
  if (wanted == quality) return;
  device.wait_idle();
  quality = wanted;
  settings_ = quality_settings(quality);
  pipelines_ = Pipelines(device, layouts_, format_, settings_);
  maps_ = LightMaps(device, settings_);
  window_targets_ = Targets();
  picture_targets_ = Targets();
  forget_bindings();
}

void Renderer::Impl::record_picture(FrameSlot& slot, std::span<const Pane> panes, const Targets& targets,
                                    const Output& output, const VkClearColorValue& background) {
  for (const Pane& pane : panes) check_counts(pane, scene);
  slot.wait();
  slot.hold(published_);
  VkCommandBufferBeginInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  check(vkBeginCommandBuffer(slot.commands(), &info), "vkBeginCommandBuffer");
  if (slot.held()) shared->record_takeover(slot.commands(), slot.held());
  record_clear(slot.commands(), format_, targets.size(), output, background);
  for (std::size_t i = 0; i < panes.size(); ++i) {
    const Pane part = cut(panes[i], targets.size());
    if (part.width > 0 && part.height > 0) record_pane(slot, i, part, targets, output);
  }
}

/// The panes of a picture follow each other on the queue and share the light maps and the targets.
void Renderer::Impl::record_pane(FrameSlot& slot, std::size_t number, const Pane& pane,
                                 const Targets& targets, const Output& output) {
  const bool has_own = !pane.positions.empty();
  const Bounds bounds = has_own ? scene.bounds_of(pane.positions) : scene.bounds();
  const LightRig rig = make_light_rig(scene, bounds, settings_);
  ViewSlot& view = slot.view(number);
  view.upload(scene, maps_, slot.held() && !has_own ? shared->binding(slot.held()) : VkDescriptorBufferInfo{},
              make_frame_data(pane, scene, rig), pane);
  const PassInputs in{layouts_, pipelines_, settings_, scene, rig, maps_, slot.commands(), view, format_};
  record_normals(in);
  record_light_maps(in);
  record_scene(in, pane, targets, output);
}

void Renderer::Impl::submit(const FrameSlot& slot, VkSemaphore wait, VkSemaphore signal) const {
  check(vkEndCommandBuffer(slot.commands()), "vkEndCommandBuffer");
  const VkFence fence = slot.fence();
  check(vkResetFences(device.handle(), 1, &fence), "vkResetFences");
  const SemaphoreWait filled = slot.held() ? shared->filled(slot.held()) : SemaphoreWait{};
  device.submit(slot.commands(), {SemaphoreWait{wait}, filled}, signal, fence);
}

Image Renderer::Impl::render_offscreen(std::span<const Pane> panes, VkExtent2D size) {
  if (!same(picture_targets_.size(), size)) {
    picture_targets_ = Targets(device, size, format_, settings_.samples);
    picture_ = CopiedImage(device, size, format_);
  }
  FrameSlot& slot = slots_[kOffscreenSlot];
  record_picture(slot, panes, picture_targets_, picture_.output(), {});
  image_barrier(slot.commands(), picture_.image.handle(), format_, color_written(), copied_from());
  copy_to_host(slot.commands(), picture_.image.handle(), size, picture_.bytes);
  submit(slot, VK_NULL_HANDLE, VK_NULL_HANDLE);
  slot.wait();
  slot.let_go();
  return to_image(picture_.bytes, size, format_, !panes.empty() && panes[0].view.transparent);
}

void Renderer::Impl::make_swapchain(VkExtent2D size) {
  device.wait_idle();
  Swapchain fresh(device, size, swapchain_ ? swapchain_->handle() : VK_NULL_HANDLE);
  swapchain_.reset();
  swapchain_.emplace(std::move(fresh));
  ui_->set_images(swapchain_->views(), swapchain_->size());
  swapchain_outdated_ = false;
}

void Renderer::Impl::make_window_image(VkExtent2D size) {
  device.wait_idle();
  window_image_ = CopiedImage(device, size, format_);
  const VkImageView view = window_image_.image.view();
  ui_->set_images({&view, 1}, size);
  window_targets_ = Targets(device, size, format_, settings_.samples);
}

bool Renderer::Impl::draw_shared(FrameSlot& slot, std::span<const Pane> panes, const UiLayers& ui,
                                 VkExtent2D size, Image* shown) {
  if (!same(window_image_.image.size(), size) || !same(window_targets_.size(), size)) make_window_image(size);
  GpuBuffer bytes;
  if (shown) bytes = GpuBuffer::readback(device, std::size_t{4} * size.width * size.height);
  const VkImage image = window_image_.image.handle();
  record_picture(slot, panes, window_targets_, window_image_.output(), window_color);
  const Access last = record_ui(slot, ui, {image, 0, size}, shown ? &bytes : nullptr);
  image_barrier(slot.commands(), image, format_, last, copied_from());
  copy_to_host(slot.commands(), image, size, window_image_.bytes);
  submit(slot, VK_NULL_HANDLE, VK_NULL_HANDLE);
  slot.wait();
  if (shown) *shown = to_image(bytes, size, format_);
  ++frames_shown_;
  return shared_window_->show({window_image_.bytes.data(), std::size_t{4} * size.width * size.height},
                              static_cast<int>(size.width), static_cast<int>(size.height));
}

bool Renderer::Impl::draw_window(const FrameView* view, std::span<const Pane> panes, const UiLayers& ui,
                                 Image* shown) {
  int width = 0, height = 0;
  glfwGetFramebufferSize(window, &width, &height);
  if (width <= 0 || height <= 0) return false;
  const VkExtent2D wanted{static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height)};
  std::optional<Pane> one;
  if (view) one = whole(*view, wanted);
  if (one) panes = {&*one, 1};

  FrameSlot& slot = slots_[frames_shown_ % 2];
  slot.wait();
  if (shared_window_) {
    if (draw_shared(slot, panes, ui, wanted, shown)) return true;
    device.wait_idle();
    shared_window_.reset();
    if (shown) return true;
  }
  if (!swapchain_ || swapchain_outdated_) make_swapchain(wanted);
  std::optional<std::uint32_t> image = swapchain_->acquire(slot.acquired());
  if (!image) {
    make_swapchain(wanted);
    image = swapchain_->acquire(slot.acquired());
    if (!image) {  // resized again meanwhile: the next call recreates it
      swapchain_outdated_ = true;
      return false;
    }
  }
  if (!same(window_targets_.size(), swapchain_->size())) {
    device.wait_idle();
    window_targets_ = Targets(device, swapchain_->size(), format_, settings_.samples);
  }
  GpuBuffer bytes;
  if (shown)
    bytes =
        GpuBuffer::readback(device, std::size_t{4} * swapchain_->size().width * swapchain_->size().height);
  if (one) one = whole(*view, swapchain_->size());
  const VkImage target = swapchain_->image(*image);
  record_picture(slot, panes, window_targets_, {target, swapchain_->view(*image)}, window_color);
  const Access last = record_ui(slot, ui, {target, *image, swapchain_->size()}, shown ? &bytes : nullptr);
  image_barrier(slot.commands(), target, format_, last,
                {VK_PIPELINE_STAGE_2_NONE, 0, VK_IMAGE_LAYOUT_PRESENT_SRC_KHR});
  submit(slot, slot.acquired(), swapchain_->rendered(*image));
  const VkExtent2D now = swapchain_->size();
  swapchain_outdated_ = !swapchain_->present(*image) || !same(now, wanted);
  ++frames_shown_;
  if (shown) {
    slot.wait();
    *shown = to_image(bytes, now, format_);
  }
  return true;
}

Access Renderer::Impl::record_ui(const FrameSlot& slot, const UiLayers& ui, const WindowImage& to,
                                 const GpuBuffer* shown) const {
  const VkCommandBuffer commands = slot.commands();
  if (ui.panels) ui_->record(commands, to.number, ui.panels);
  Access last = color_written();
  if (shown) {
    image_barrier(commands, to.image, format_, last, copied_from());
    copy_to_host(commands, to.image, to.size, *shown);
    last = copied_from();
  }
  if (ui.marks) {
    if (shown)
      image_barrier(commands, to.image, format_, std::exchange(last, color_written()), color_written());
    ui_->record(commands, to.number, ui.marks);
  }
  return last;
}

Renderer::Renderer(const RendererOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Renderer::~Renderer() = default;

void Renderer::set_scene(const Model& model) { impl_->set_scene(model); }
void Renderer::set_positions(std::span<const Vec3f> positions) { impl_->set_positions(positions); }
Sharing Renderer::negotiate(const std::optional<DeviceUuid>& engine) const {
  return stickslip::negotiate(impl_->interop, engine, impl_->device.exports());
}
PositionOffer Renderer::offer_positions(const Sharing& how) { return impl_->offer_positions(how); }
void Renderer::set_positions(const SlotHold& published) { impl_->set_positions(published); }
PositionTraffic Renderer::position_traffic() const { return impl_->position_traffic(); }
SharedPositions* Renderer::shared_positions() { return impl_->shared.get(); }
void Renderer::set_object_color(std::size_t object, const Vec3f& srgb) {
  impl_->scene.set_color(object, srgb);
}
Bounds Renderer::bounds() const { return impl_->scene.bounds(); }

bool Renderer::draw_window(const FrameView& view, ImDrawData* ui, Image* shown, ImDrawData* marks) {
  if (!impl_->window) throw std::logic_error("draw_window needs a renderer made with a window");
  return impl_->draw_window(&view, {}, {ui, marks}, shown);
}

bool Renderer::draw_window(std::span<const Pane> panes, ImDrawData* ui, Image* shown, ImDrawData* marks) {
  if (!impl_->window) throw std::logic_error("draw_window needs a renderer made with a window");
  return impl_->draw_window(nullptr, panes, {ui, marks}, shown);
}

bool Renderer::shares_window() const { return impl_->shares_window(); }

void Renderer::set_window_color(const Vec3f& srgb) { impl_->window_color = {{srgb[0], srgb[1], srgb[2], 1}}; }

Image Renderer::render_offscreen(const FrameView& view, int width, int height) {
  const Pane one{view, 0, 0, width, height};
  return render_offscreen(std::span(&one, 1), width, height);
}

Image Renderer::render_offscreen(std::span<const Pane> panes, int width, int height) {
  const auto limit = static_cast<int>(impl_->device.properties().limits.maxImageDimension2D);
  if (width < 1 || height < 1 || width > limit || height > limit)
    throw std::invalid_argument("a picture of " + std::to_string(width) + "x" + std::to_string(height) +
                                " is not possible: each side must be 1 to " + std::to_string(limit));
  return impl_->render_offscreen(panes,
                                 {static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height)});
}

Quality Renderer::quality() const { return impl_->quality; }
void Renderer::set_quality(Quality quality) { impl_->set_quality(quality); }
const std::string& Renderer::device_name() const { return impl_->device.name(); }
bool Renderer::software_device() const { return impl_->device.software(); }
const std::vector<std::string>& Renderer::validation_messages() const { return impl_->device.messages(); }
bool Renderer::validation_active() const { return impl_->device.validation_active(); }

}  // namespace stickslip
