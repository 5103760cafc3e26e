// The elastic models of deformable bodies, one row each. From the rows come ElasticModel, the choices of the
// material parameter `model`, and the dispatch to their formulas.
#pragma once

#include <string_view>

namespace stickslip {

// MODEL(name, struct): the struct, in gpu/energy/elasticity.h, has the formulas. Rows are appended: the order
// is that of the enumerators and of the choices.
#define STICKSLIP_ELASTIC_MODELS(MODEL)       \
  MODEL(stable_neo_hookean, StableNeoHookean) \
  MODEL(fixed_corotated, FixedCorotated)      \
  MODEL(arap, Arap)                           \
  MODEL(neo_hookean, NeoHookean)

/// `orthogonality` holds affine bodies in shape, whatever their material chooses; it is no choice.
enum class ElasticModel : int {
#define STICKSLIP_ENUMERATOR(name, ...) name,
  STICKSLIP_ELASTIC_MODELS(STICKSLIP_ENUMERATOR)
#undef STICKSLIP_ENUMERATOR
      orthogonality
};

/// "stable_neo_hookean|...".
constexpr std::string_view elastic_model_choices() {
#define STICKSLIP_CHOICE(name, ...) "|" #name
  constexpr std::string_view names = STICKSLIP_ELASTIC_MODELS(STICKSLIP_CHOICE);
#undef STICKSLIP_CHOICE
  return names.substr(1);
}

}  // namespace stickslip
