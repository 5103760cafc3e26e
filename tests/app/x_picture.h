// What an X server shows of a window, which may differ from the program's own pictures of it.
#pragma once

#include <xcb/xcb.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "app/render/image.h"

namespace stickslip::test {

/// Of the window of this number (as xdotool prints it) on the display of $DISPLAY, at 24 bits per pixel;
/// empty when the server refuses.
inline Image shown_in_window(const std::string& window) {
  Image picture;
  const std::unique_ptr<xcb_connection_t, decltype(&xcb_disconnect)> x(xcb_connect(nullptr, nullptr),
                                                                       &xcb_disconnect);
  if (xcb_connection_has_error(x.get())) return picture;
  const auto id = static_cast<xcb_window_t>(std::strtoul(window.c_str(), nullptr, 10));
  const std::unique_ptr<xcb_get_geometry_reply_t, decltype(&std::free)> size(
      xcb_get_geometry_reply(x.get(), xcb_get_geometry(x.get(), id), nullptr), &std::free);
  if (!size) return picture;
  const std::unique_ptr<xcb_get_image_reply_t, decltype(&std::free)> image(
      xcb_get_image_reply(
          x.get(),
          xcb_get_image(x.get(), XCB_IMAGE_FORMAT_Z_PIXMAP, id, 0, 0, size->width, size->height, ~0U),
          nullptr),
      &std::free);
  const std::size_t pixels = std::size_t{size->width} * size->height;
  if (!image || static_cast<std::size_t>(xcb_get_image_data_length(image.get())) < 4 * pixels) return picture;
  picture = {size->width, size->height, std::vector<std::uint8_t>(4 * pixels, 255)};
  const std::uint8_t* bgr = xcb_get_image_data(image.get());
  for (std::size_t i = 0; i < pixels; ++i)
    for (std::size_t k = 0; k < 3; ++k) picture.rgba[4 * i + k] = bgr[4 * i + 2 - k];
  return picture;
}

}  // namespace stickslip::test
