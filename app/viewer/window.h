// The GLFW window and its input, as calls.
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
  std::function<void()> any;  // one of the above, or the window was resized or uncovered
};

/// One at a time; used by the main thread only, but for `wake`.
class Window {
 public:
  /// Throws NoDisplayError when there is none.
  Window(int width, int height, const std::string& title);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  GLFWwindow* handle() const { return window_; }
  /// Call before ImGui's backend is set up, which passes events on to these.
  void set_handlers(InputHandlers handlers);
  void set_title(const std::string& title);
  void hide();

  bool closing() const;
  /// Font and widget sizes are to grow by this much.
  float ui_scale() const;
  /// In window coordinates.
  int width() const;
  int height() const;

  /// Sleeps until input arrives, `wake` is called or the time is over [s]; calls the handlers.
  void wait(double seconds);
  /// Ends a wait; from any thread.
  static void wake();

 private:
  GLFWwindow* window_ = nullptr;
  InputHandlers handlers_;
};

}  // namespace stickslip
