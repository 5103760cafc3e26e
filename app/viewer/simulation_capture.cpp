// The copy of a running scene and its state, on the simulation's thread.
#include <utility>

#include "app/viewer/simulation.h"

namespace stickslip {

void Simulation::capture() {
  auto captured = std::make_shared<CapturedState>();
  captured->scene = scene_->name;
  captured->solver = stepper_name(engine_->params());
  StepRaceStart& start = captured->start;
  start.model = scene_->model;
  start.model.materials = engine_->materials();
  for (std::size_t i = 0; i < half_space_mu_.size(); ++i) start.model.half_spaces[i].mu = half_space_mu_[i];
  start.params = engine_->params();
  start.contact = engine_->contact_params();
  start.state = engine_->state();
  const std::lock_guard lock(mutex_);
  captured_ = std::move(captured);
}

}  // namespace stickslip
