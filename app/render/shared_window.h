// Pictures for an X window through memory that the X server shares with the program.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

struct GLFWwindow;

namespace stickslip {

/// For software Vulkan: its swapchain may send each picture through a socket, which takes as long as drawing
/// it.
class SharedWindow {
 public:
  /// Empty where the window is of another system, or the server shares no memory with the program or has
  /// other pixels than 32 bits of blue, green, red, unused.
  static std::unique_ptr<SharedWindow> open(GLFWwindow* window);
  ~SharedWindow();
  SharedWindow(const SharedWindow&) = delete;
  SharedWindow& operator=(const SharedWindow&) = delete;

  /// Shows a picture whose rows follow each other without gaps, from the upper left corner; returns before
  /// the server has read it. False where no memory could be shared.
  bool show(std::span<const std::byte> pixels, int width, int height);

 private:
  struct Impl;
  explicit SharedWindow(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stickslip
