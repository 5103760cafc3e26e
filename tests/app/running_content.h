// A run of a scene whose objects change, with picks of its objects.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>

#include "app/viewer/picking.h"
#include "app/viewer/scene_content.h"
#include "gpu/engine.h"
#include "tests/app/simulation_fixture.h"

namespace stickslip::test {

/// Null if the model has none of this name.
inline const Object* find(const Model& model, const std::string& name) {
  const auto found = std::ranges::find(model.objects, name, &Object::name);
  return found == model.objects.end() ? nullptr : &*found;
}

/// A pick of the middle of a triangle of an object.
inline Pick pick_of(const Model& model, const std::string& name) {
  const Object& object = *find(model, name);
  for (const auto& triangle : model.triangles)
    if (triangle[0] >= object.node_begin && triangle[0] < object.node_end)
      return {static_cast<int>(&object - model.objects.data()), triangle, {0.5, 0.25, 0.25}};
  return {};
}

class RunningContent : public ::testing::Test {
 protected:
  void load(const std::function<Scene()>& make) {
    simulation.emplace([] { return make_engine(Backend::cpu, 1); },
                       [make](const std::string&, const std::string&) { return make(); });
    post(LoadScene{"a"});
  }
  void post(const Command& command) {
    simulation->post(command);
    ASSERT_TRUE(reached(*simulation, [&] { return simulation->is_caught_up(); }));
  }
  void steps(int count) {
    const int frame = simulation->status().frame + count;
    for (int i = 0; i < count; ++i) simulation->step_once();
    ASSERT_TRUE(reached(*simulation, [&] {
      return simulation->is_caught_up() && simulation->frame().snapshot.frame == frame;
    }));
  }
  const Model& model() { return simulation->frame().scene->model; }
  std::optional<Simulation> simulation;
};

}  // namespace stickslip::test
