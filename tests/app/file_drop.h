// Drops files on a window as a file manager does: the source's side of XDND 5 (freedesktop.org,
// "Drag-and-Drop Protocol for the X Window System"). xdotool has no drops.
#pragma once

#include <poll.h>
#include <xcb/xcb.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace stickslip::test {

/// "file:///a/b%20c": letters, digits and "/-._~" as they are, other bytes as %XX.
inline std::string file_uri(const std::filesystem::path& file) {
  constexpr const char* kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/-._~";
  constexpr const char* kDigits = "0123456789ABCDEF";
  std::string uri = "file://";
  for (const char c : std::filesystem::absolute(file).string()) {
    if (std::string(kPlain).find(c) != std::string::npos) {
      uri += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    uri += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return uri;
}

/// One drop on the display of $DISPLAY.
class FileDrop {
 public:
  explicit FileDrop(const std::vector<std::filesystem::path>& files) {
    for (const std::filesystem::path& file : files) uris_ += file_uri(file) + "\r\n";
    if (xcb_connection_has_error(x_.get())) return;
    const xcb_screen_t* screen = xcb_setup_roots_iterator(xcb_get_setup(x_.get())).data;
    source_ = xcb_generate_id(x_.get());
    xcb_create_window(x_.get(), XCB_COPY_FROM_PARENT, source_, screen->root, 0, 0, 1, 1, 0,
                      XCB_WINDOW_CLASS_INPUT_OUTPUT, screen->root_visual, 0, nullptr);
    xcb_set_selection_owner(x_.get(), source_, atom("XdndSelection"), XCB_CURRENT_TIME);
  }

  /// On the window of this number (as xdotool prints it), `x` and `y` pixels from the screen's corner.
  /// Whether the window has taken the files.
  bool on(const std::string& window, int x, int y) {
    if (source_ == 0) return false;
    target_ = static_cast<xcb_window_t>(std::strtoul(window.c_str(), nullptr, 10));
    constexpr std::uint32_t kVersion = 5;
    const auto place = static_cast<std::uint32_t>(x << 16 | y);
    tell("XdndEnter", {kVersion << 24, atom("text/uri-list"), 0, 0});
    tell("XdndPosition", {0, place, XCB_CURRENT_TIME, atom("XdndActionCopy")});
    if (!answered("XdndStatus", 1)) return false;
    tell("XdndDrop", {0, XCB_CURRENT_TIME, 0, 0});
    // Bit 0 by the protocol; GLFW 3.3 puts the number of the bytes that it took in its place.
    return answered("XdndFinished", ~std::uint32_t{0});
  }

 private:
  struct Disconnect {
    void operator()(xcb_connection_t* x) const { xcb_disconnect(x); }
  };

  xcb_atom_t atom(const std::string& name) const {
    const auto asked = xcb_intern_atom(x_.get(), 0, static_cast<std::uint16_t>(name.size()), name.c_str());
    const std::unique_ptr<xcb_intern_atom_reply_t, decltype(&std::free)> reply(
        xcb_intern_atom_reply(x_.get(), asked, nullptr), &std::free);
    return reply ? reply->atom : xcb_atom_t{XCB_ATOM_NONE};
  }

  void tell(const char* message, const std::vector<std::uint32_t>& words) {
    xcb_client_message_event_t event{};
    event.response_type = XCB_CLIENT_MESSAGE;
    event.format = 32;
    event.window = target_;
    event.type = atom(message);
    event.data.data32[0] = source_;
    for (std::size_t i = 0; i < words.size(); ++i) event.data.data32[i + 1] = words[i];
    xcb_send_event(x_.get(), 0, target_, XCB_EVENT_MASK_NO_EVENT, reinterpret_cast<const char*>(&event));
    xcb_flush(x_.get());
  }

  /// The list of files, where the target wants it.
  void give(const xcb_selection_request_event_t& request) {
    xcb_change_property(x_.get(), XCB_PROP_MODE_REPLACE, request.requestor, request.property, request.target,
                        8, static_cast<std::uint32_t>(uris_.size()), uris_.data());
    xcb_selection_notify_event_t event{};
    event.response_type = XCB_SELECTION_NOTIFY;
    event.requestor = request.requestor;
    event.selection = request.selection;
    event.target = request.target;
    event.property = request.property;
    event.time = request.time;
    xcb_send_event(x_.get(), 0, request.requestor, XCB_EVENT_MASK_NO_EVENT,
                   reinterpret_cast<const char*>(&event));
    xcb_flush(x_.get());
  }

  /// Waits for a message of the target, at most two minutes. Whether a bit of `agreement` is set in its
  /// word of flags.
  bool answered(const char* message, std::uint32_t agreement) {
    const xcb_atom_t wanted = atom(message);
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < std::chrono::minutes(2)) {
      const std::unique_ptr<xcb_generic_event_t, decltype(&std::free)> event(xcb_poll_for_event(x_.get()),
                                                                             &std::free);
      if (!event) {
        if (xcb_connection_has_error(x_.get())) return false;
        pollfd news{xcb_get_file_descriptor(x_.get()), POLLIN, 0};
        poll(&news, 1, 20);
        continue;
      }
      const int kind = event->response_type & 0x7f;
      if (kind == XCB_SELECTION_REQUEST) give(reinterpret_cast<const xcb_selection_request_event_t&>(*event));
      if (kind != XCB_CLIENT_MESSAGE) continue;
      const auto& answer = reinterpret_cast<const xcb_client_message_event_t&>(*event);
      if (answer.type == wanted) return (answer.data.data32[1] & agreement) != 0;
    }
    return false;
  }

  std::unique_ptr<xcb_connection_t, Disconnect> x_{xcb_connect(nullptr, nullptr)};
  std::string uris_;
  xcb_window_t source_ = 0, target_ = 0;
};

}  // namespace stickslip::test
