// Lines of a script that do what the pointer does, or change the view.
#include <algorithm>
#include <stdexcept>

#include "app/viewer/action_script.h"
#include "app/viewer/picking.h"

namespace stickslip {

void ActionScript::parse_view(Line& line, const std::string& verb,
                              const std::vector<std::string>& words) const {
  const int number = line.number;
  // A simulation without a window has no view.
  const auto need = [this, number, verb](const auto& hand) {
    if (!hand) fail(number, "there is no window here for " + verb);
  };
  if (verb == "drag") return parse_drag(line, words);
  if (verb == "view") return parse_row(line, words);
  if (verb == "camera") {
    if (words.size() != 6) fail(number, "camera needs the place of the eye and that of the target [m]");
    const std::vector<double> at = numbers_of(line, words, 0);
    const Vec3f eye = Vec<double, 3>{at[0], at[1], at[2]}.cast<float>(),
                target = Vec<double, 3>{at[3], at[4], at[5]}.cast<float>();
    if (!(norm(eye - target) > 0)) fail(number, "the eye and the target must differ");
    line.begin = [need, eye, target](const Hands& hands) {
      need(hands.look);
      hands.look(eye, target);
    };
  } else if (verb == "quality") {
    if (words.size() != 1) fail(number, "quality needs a name");
    const Quality quality = [&] {
      try {
        return parse_quality(words[0]);
      } catch (const std::invalid_argument& error) {
        fail(number, error.what());
      }
    }();
    line.begin = [need, quality](const Hands& hands) {
      need(hands.set_quality);
      hands.set_quality(quality);
    };
  } else if (verb == "clip") {
    if (words.size() != 3) fail(number, "clip needs two angles [degrees] and a place between -1 and 1");
    const std::vector<double> at = numbers_of(line, words, 0);
    ClipChoice choice{true, static_cast<float>(at[0]), static_cast<float>(at[1]), static_cast<float>(at[2])};
    line.begin = [need, choice](const Hands& hands) {
      need(hands.clip);
      hands.clip(choice);
    };
  } else if (words.size() == 2) {
    const std::vector<double> at = numbers_of(line, words, 0);
    const Vec<float, 2> pixel{static_cast<float>(at[0]), static_cast<float>(at[1])};
    line.begin = [need, pixel](const Hands& hands) {
      need(hands.click);
      hands.click(pixel);
    };
  } else {
    if (words.empty()) fail(number, "select needs an object, or the two numbers of a pixel");
    line.begin = [this, number, need, name = words[0]](const Hands& hands) {
      need(hands.select);
      located(number, [&] { hands.select(name); });
    };
  }
}

void ActionScript::parse_row(Line& line, const std::vector<std::string>& words) const {
  const std::size_t equals = words.size() == 1 ? words[0].find('=') : std::string::npos;
  if (equals == std::string::npos) fail(line.number, "view needs KEY=VALUE");
  try {
    const ViewRow& row = view_row(words[0].substr(0, equals));
    const double value = checked(row, std::string_view(words[0]).substr(equals + 1));
    line.begin = [this, number = line.number, &row, value](const Hands& hands) {
      if (!hands.show) fail(number, "there is no window here for view");
      hands.show(row, value);
    };
  } catch (const std::invalid_argument& error) {
    fail(line.number, error.what());
  }
}

void ActionScript::parse_drag(Line& line, const std::vector<std::string>& words) const {
  if (words.size() != 4) fail(line.number, "drag needs an object and three numbers [m]");
  const std::vector<double> numbers = numbers_of(line, words, 1);
  const Vec<double, 3> by{numbers[0], numbers[1], numbers[2]};
  line.begin = [this, number = line.number, name = words[0], by](const Hands& hands) {
    const SimulationFrame& frame = hands.simulation.frame();
    if (!frame.scene) fail(number, "no scene is loaded");
    const Pick held = located(
        number, [&] { return end_towards(frame.scene->model, name, frame.positions(), by.cast<float>()); });
    hands.simulation.post(DragStart{{held.triangle, held.weights, held.point.cast<double>() + by}});
  };
}

}  // namespace stickslip
