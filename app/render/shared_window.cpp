#include "app/render/shared_window.h"

#ifdef STICKSLIP_HAS_XSHM
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <X11/extensions/XShm.h>
#include <sys/ipc.h>
#include <sys/shm.h>

#include <algorithm>
#include <cstring>
#include <utility>

// Weak, because a GLFW that was built for another window system lacks it.
extern "C" __attribute__((weak)) Window glfwGetX11Window(GLFWwindow* window);

namespace stickslip {
namespace {

// Xlib reports errors to a function without context: the last one is kept here, for the thread of the window.
thread_local bool x_error_seen = false;

int note_x_error(Display*, XErrorEvent*) {
  x_error_seen = true;
  return 0;
}

/// While it lives, errors of the server are noted; otherwise they would end the program. They arrive with
/// answers, so it is needed where the program waits for one.
class XErrors {
 public:
  XErrors() : before_(XSetErrorHandler(note_x_error)) { x_error_seen = false; }
  ~XErrors() { XSetErrorHandler(before_); }
  XErrors(const XErrors&) = delete;
  XErrors& operator=(const XErrors&) = delete;
  static bool seen() { return x_error_seen; }

 private:
  XErrorHandler before_;
};

}  // namespace

/// A connection of its own: GLFW's replies and errors stay GLFW's.
struct SharedWindow::Impl {
  Display* display = nullptr;
  Window window = 0;
  Visual* visual = nullptr;
  int depth = 0;
  GC context = nullptr;
  XImage* image = nullptr;
  XShmSegmentInfo segment{};

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (display == nullptr) return;
    release();
    const XErrors errors;
    if (context != nullptr) XFreeGC(display, context);
    XCloseDisplay(display);
  }

  bool connect(GLFWwindow* of) {
    if (glfwGetX11Window == nullptr) return false;
    window = glfwGetX11Window(of);
    display = window != 0 ? XOpenDisplay(nullptr) : nullptr;
    if (display == nullptr || !XShmQueryExtension(display)) return false;
    const XErrors errors;
    XWindowAttributes is{};
    if (XGetWindowAttributes(display, window, &is) == 0) return false;
    visual = is.visual;
    depth = is.depth;
    context = XCreateGC(display, window, 0, nullptr);
    return context != nullptr && allocate(1, 1);
  }

  bool allocate(int width, int height) {
    release();
    const XErrors errors;
    image = XShmCreateImage(display, visual, static_cast<unsigned>(depth), ZPixmap, nullptr, &segment,
                            static_cast<unsigned>(width), static_cast<unsigned>(height));
    if (image == nullptr) return false;
    const bool has_our_pixels = image->bits_per_pixel == 32 && image->byte_order == LSBFirst &&
                                image->red_mask == 0xff0000 && image->green_mask == 0xff00 &&
                                image->blue_mask == 0xff && image->bytes_per_line == 4 * width;
    if (!has_our_pixels ||
        !share(static_cast<std::size_t>(image->bytes_per_line) * static_cast<std::size_t>(height))) {
      XDestroyImage(image);
      image = nullptr;
      return false;
    }
    return true;
  }

  /// A segment that ends with its last user, also where the program is killed.
  bool share(std::size_t bytes) {
    segment.shmid = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);
    if (segment.shmid < 0) return false;
    void* const memory = shmat(segment.shmid, nullptr, 0);
    const bool mapped = memory != reinterpret_cast<void*>(-1);
    if (mapped) {
      segment.shmaddr = image->data = static_cast<char*>(memory);
      segment.readOnly = True;
      XShmAttach(display, &segment);
      XSync(display, False);
    }
    shmctl(segment.shmid, IPC_RMID, nullptr);
    if (mapped && !XErrors::seen()) return true;
    if (mapped) shmdt(memory);
    image->data = nullptr;
    return false;
  }

  void release() {
    if (image == nullptr) return;
    const XErrors errors;
    XShmDetach(display, &segment);
    XSync(display, False);
    image->data = nullptr;  // not Xlib's to free
    XDestroyImage(image);
    image = nullptr;
    shmdt(segment.shmaddr);
  }
};

SharedWindow::SharedWindow(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SharedWindow::~SharedWindow() = default;

std::unique_ptr<SharedWindow> SharedWindow::open(GLFWwindow* window) {
  auto impl = std::make_unique<Impl>();
  if (!impl->connect(window)) return nullptr;
  return std::unique_ptr<SharedWindow>(new SharedWindow(std::move(impl)));
}

bool SharedWindow::show(std::span<const std::byte> pixels, int width, int height) {
  Impl& x = *impl_;
  if (x.image == nullptr || x.image->width != width || x.image->height != height) {
    if (!x.allocate(width, height)) return false;
  } else {
    const XErrors errors;
    XSync(x.display, False);  // the server has read the picture before
  }
  const auto rows = static_cast<std::size_t>(x.image->bytes_per_line) * static_cast<std::size_t>(height);
  std::memcpy(x.segment.shmaddr, pixels.data(), std::min(rows, pixels.size()));
  XShmPutImage(x.display, x.window, x.context, x.image, 0, 0, 0, 0, static_cast<unsigned>(width),
               static_cast<unsigned>(height), False);
  XFlush(x.display);
  return true;
}

}  // namespace stickslip

#else
#include <utility>

namespace stickslip {

struct SharedWindow::Impl {};
SharedWindow::SharedWindow(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SharedWindow::~SharedWindow() = default;
std::unique_ptr<SharedWindow> SharedWindow::open(GLFWwindow*) { return nullptr; }
bool SharedWindow::show(std::span<const std::byte>, int, int) { return false; }

}  // namespace stickslip
#endif
