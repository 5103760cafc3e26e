#include "gpu/model/air_faces.h"

#include "gpu/model/element_group.h"
#include "gpu/model/frames.h"

namespace stickslip {

std::vector<AirFace> air_faces(const Model& model) {
  std::vector<AirFace> faces;
  for (std::size_t o = 0; o < model.objects.size(); ++o) {
    const Object& object = model.objects[o];
    if (!object.feels_air()) continue;
    const Material& material = model.materials[static_cast<std::size_t>(object.material)];
    const double part = object.has_frames ? kSkinShare : 1;
    const auto add = [&](const Vec3i& nodes, double diameter) {
      faces.push_back(
          {nodes, static_cast<std::int32_t>(o), diameter, part * material.drag, part * material.skin_drag});
    };
    for (const Vec3i& t : triangles_of(model, object)) add(t, 0);
    if (!object.is_rods()) continue;
    for (const Vec2i& s : segments_of(model, object)) add({s[0], s[1], -1}, object.thickness);
  }
  return faces;
}

}  // namespace stickslip
