// The GLFW window; its input events become calls.
#pragma once

#include <functional>
#include <string>

struct GLFWwindow;

namespace stickslip {

struct InputHandlers {
  std::function<void(int key, const char* name, int mods, bool repeat)> key;  // pressed or held
  std::function<void(char32_t)> character;
  std::function<void(int button, int mods, bool down)> button;
  std::function<void(float x, float y)> move;  // window coordinates
  std::function<void(float notches)> scroll;
  std::function<void(const std::string& path)> drop;  // a file, for each of them
  std::function<void()> any;  // any of the above, or the window was resized or uncovered
};

/// At most one exists; used by the main thread only, except `wake`.
class Window {
 public:
  /// Throws NoDisplayError if no display is available.
  Window(int width, int height, const std::string& title);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  GLFWwindow* handle() const { return window_; }
  /// Call before ImGui's backend is set up; the backend passes events on to these.
  void set_handlers(InputHandlers handlers);
  void set_title(const std::string& title);
  void hide();

  bool closing() const;
  /// Scale factor for font and widget sizes.
  float ui_scale() const;
  /// In window coordinates.
  int width() const;
  int height() const;

  /// Waits until input arrives, `wake` is called or the time has passed [s]; calls the handlers.
  void wait(double seconds);
  /// Ends a wait; from any thread.
  static void wake();

 private:
  GLFWwindow* window_ = nullptr;
  InputHandlers handlers_;
};

}  // namespace stickslip
