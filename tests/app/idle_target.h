// A window that does nothing, for actions that change only the simulation or the view.
#pragma once

#include <stdexcept>

#include "app/viewer/panels/panel_context.h"

namespace stickslip::test {

class IdleTarget final : public ActionTarget {
 public:
  IdleTarget() = default;
  explicit IdleTarget(Simulation& simulation) : simulation_(&simulation) {}
  Simulation& simulation() override {
    if (simulation_ == nullptr) throw std::logic_error("made without a simulation");
    return *simulation_;
  }
  ViewState& view() override { return view_; }
  void switch_scene(int) override {}
  void frame_camera() override {}
  void view_from(float, float) override {}
  void pick_worst_contact() override {}
  void ask_screenshot() override {}
  void toggle_video() override {}
  void save_report() override {}
  void save_plots() override {}
  void save_scene() override {}
  void save_bundle() override {}
  void open_outputs() override {}
  void shoot() override {}
  void add_object() override {}
  void add_camera_key() override {}
  void quit() override {}

 private:
  Simulation* simulation_ = nullptr;
  ViewState view_;
};

}  // namespace stickslip::test
