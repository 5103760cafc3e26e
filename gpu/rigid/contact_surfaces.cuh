// ContactSurfaces: friction and restitution of a scene's materials, in backend memory.
#pragma once

#include "gpu/rigid/contact_rows.h"
#include "gpu/rigid/surface_textures.cuh"

namespace stickslip::STICKSLIP_BACKEND {

class ContactSurfaces {
 public:
  /// Loads the textures, which do not change afterwards.
  void load(Context& ctx, const Model& model) { textures_.load(ctx, model); }
  /// Loads the other data: call after `load`, and after materials, half-spaces or pairs changed.
  void set_materials(Context& ctx, const Model& model);
  SurfaceTable table() const {
    return {surfaces_.data(), mu_.data(),        material_count_,
            column_count_,    textures_.views(), rolling_.size() > 0 ? rolling_.data() : nullptr};
  }

 private:
  Buffer<ContactSurface> surfaces_;  // of the materials, then of the half-spaces
  Buffer<double> mu_;                // of all pairs: a row per material, a column per surface
  Buffer<double> rolling_;           // likewise, or empty
  std::int32_t material_count_ = 0, column_count_ = 0;
  SurfaceTextures textures_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
