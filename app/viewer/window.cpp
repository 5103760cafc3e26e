#include "app/viewer/window.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <algorithm>

#include "app/viewer/viewer.h"

namespace stickslip {
namespace {

std::string last_glfw_error() {
  const char* description = nullptr;
  glfwGetError(&description);
  return description ? description : "unknown error";
}

const InputHandlers& handlers_of(GLFWwindow* window) {
  return *static_cast<const InputHandlers*>(glfwGetWindowUserPointer(window));
}

}  // namespace

Window::Window(int width, int height, const std::string& title) {
  if (!glfwInit())
    throw NoDisplayError("no window can be opened (" + last_glfw_error() +
                         "); `stickslip run` renders to pictures and videos without a display");
  if (GLFWmonitor* monitor = glfwGetPrimaryMonitor()) {
    int x = 0, y = 0, most_width = 0, most_height = 0;
    glfwGetMonitorWorkarea(monitor, &x, &y, &most_width, &most_height);
    if (most_width > 0 && most_height > 0) {
      width = std::min(width, most_width);
      height = std::min(height, most_height);
    }
  }
  glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
  window_ = glfwCreateWindow(width, height, title.c_str(), nullptr, nullptr);
  if (!window_) {
    const std::string error = last_glfw_error();
    glfwTerminate();
    throw NoDisplayError("no window can be opened (" + error + ")");
  }
  glfwSetWindowSizeLimits(window_, 640, 400, GLFW_DONT_CARE, GLFW_DONT_CARE);
}

Window::~Window() {
  glfwDestroyWindow(window_);
  glfwTerminate();
}

void Window::set_handlers(InputHandlers handlers) {
  handlers_ = std::move(handlers);
  glfwSetWindowUserPointer(window_, &handlers_);
  glfwSetKeyCallback(window_, [](GLFWwindow* w, int key, int scancode, int action, int mods) {
    if (action != GLFW_RELEASE)
      handlers_of(w).key(key, glfwGetKeyName(key, scancode), mods, action == GLFW_REPEAT);
    handlers_of(w).any();
  });
  glfwSetCharCallback(window_, [](GLFWwindow* w, unsigned character) {
    handlers_of(w).character(static_cast<char32_t>(character));
    handlers_of(w).any();
  });
  glfwSetMouseButtonCallback(window_, [](GLFWwindow* w, int button, int action, int mods) {
    handlers_of(w).button(button, mods, action == GLFW_PRESS);
    handlers_of(w).any();
  });
  glfwSetCursorPosCallback(window_, [](GLFWwindow* w, double x, double y) {
    handlers_of(w).move(static_cast<float>(x), static_cast<float>(y));
    handlers_of(w).any();
  });
  glfwSetScrollCallback(window_, [](GLFWwindow* w, double, double notches) {
    handlers_of(w).scroll(static_cast<float>(notches));
    handlers_of(w).any();
  });
  glfwSetDropCallback(window_, [](GLFWwindow* w, int count, const char** paths) {
    for (int i = 0; i < count; ++i) handlers_of(w).drop(paths[i]);
    handlers_of(w).any();
  });
  glfwSetFramebufferSizeCallback(window_, [](GLFWwindow* w, int, int) { handlers_of(w).any(); });
  glfwSetWindowRefreshCallback(window_, [](GLFWwindow* w) { handlers_of(w).any(); });
  glfwSetCursorEnterCallback(window_, [](GLFWwindow* w, int) { handlers_of(w).any(); });
}

void Window::set_title(const std::string& title) { glfwSetWindowTitle(window_, title.c_str()); }
void Window::hide() { glfwHideWindow(window_); }
bool Window::closing() const { return glfwWindowShouldClose(window_); }

float Window::ui_scale() const {
  float scale = 1, unused = 1;
  glfwGetWindowContentScale(window_, &scale, &unused);
  int pixels = 0, unused_height = 0;
  glfwGetFramebufferSize(window_, &pixels, &unused_height);
  // If a window coordinate spans several pixels, the system already scales the picture.
  return pixels > 0 && width() > 0 ? scale * static_cast<float>(width()) / static_cast<float>(pixels) : scale;
}

int Window::width() const {
  int width = 0, height = 0;
  glfwGetWindowSize(window_, &width, &height);
  return width;
}

int Window::height() const {
  int width = 0, height = 0;
  glfwGetWindowSize(window_, &width, &height);
  return height;
}

void Window::wait(double seconds) {
  if (seconds > 0) glfwWaitEventsTimeout(seconds);
  else glfwPollEvents();
}

void Window::wake() { glfwPostEmptyEvent(); }

}  // namespace stickslip
