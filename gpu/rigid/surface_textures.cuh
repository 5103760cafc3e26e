// SurfaceTextures: the textures of a scene in backend memory.
#pragma once

#include "gpu/core/buffer.h"
#include "gpu/model/model.h"
#include "gpu/rigid/texture_friction.h"

namespace stickslip::STICKSLIP_BACKEND {

class SurfaceTextures {
 public:
  void load(Context& ctx, const Model& model);
  /// One per texture; null without any.
  const TextureView* views() const { return views_.size() > 0 ? views_.data() : nullptr; }

 private:
  Buffer<Vec<float, 2>> texels_;
  Buffer<TextureView> views_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
