#include "gpu/rigid/surface_textures.cuh"

namespace stickslip::STICKSLIP_BACKEND {

void SurfaceTextures::load(Context& ctx, const Model& model) {
  std::vector<Vec<float, 2>> all;
  for (const SurfaceTexture& texture : model.textures)
    all.insert(all.end(), texture.texels.begin(), texture.texels.end());
  texels_.upload(ctx, all);
  std::vector<TextureView> views;
  std::size_t first = 0;
  for (const SurfaceTexture& t : model.textures) {
    views.push_back({t.kind, t.columns, t.rows, t.size, t.patch, texels_.data() + first});
    first += t.texels.size();
  }
  views_.upload(ctx, views);
}

}  // namespace stickslip::STICKSLIP_BACKEND
