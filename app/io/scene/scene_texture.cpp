// The texture of a material: a direction or height map that makes friction vary over the surface.
#include <algorithm>
#include <numbers>

#include "app/io/scene/grey_image.h"
#include "app/io/scene/scene_build.h"

namespace stickslip {
namespace {

/// [m] along columns and rows: a pair, or one number for both.
Vec<double, 2> read_sides(TableReader& table, const std::string& key) {
  if (!table.is_list(key)) return Vec<double, 2>::filled(table.number(key, Range::positive()));
  const std::vector<double> sides = table.numbers(key, 2);
  if (!(sides[0] > 0) || !(sides[1] > 0)) table.fail(key, "both must be positive");
  return {sides[0], sides[1]};
}

}  // namespace

SurfaceTexture read_texture(TableReader table, const std::filesystem::path& scene_file) {
  SurfaceTexture texture;
  const std::string kind = table.text("kind");
  check_known(table, "kind", "kind of texture", kind, {"direction", "height"});
  const GreyImage image = read_named_file(table, scene_file, load_grey_image);
  texture.columns = image.columns;
  texture.rows = image.rows;
  texture.size = read_sides(table, "size");
  std::vector<double> values;
  if (kind == "direction") {
    for (const std::uint16_t grey : image.grey) values.push_back(std::numbers::pi * grey / (image.white + 1));
    texture.texels = direction_texels(values);
  } else {
    texture.kind = TextureKind::height;
    const double depth = table.number("depth", Range::not_negative());
    for (const std::uint16_t grey : image.grey) values.push_back(depth * grey / image.white);
    texture.texels = facet_texels(values, image.columns, image.rows, texture.size);
    texture.patch = {texture.size[0] / image.columns * std::min(SurfaceTexture::kMostPatch, image.columns),
                     texture.size[1] / image.rows * std::min(SurfaceTexture::kMostPatch, image.rows)};
    if (table.has("patch")) texture.patch = read_sides(table, "patch");
  }
  table.finish();
  if (const std::string fault = texture_fault(texture); !fault.empty()) table.fail("", fault);
  return texture;
}

}  // namespace stickslip
