#include "app/viewer/action_script.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "app/io/file/input_error.h"
#include "app/io/scene/settings.h"
#include "app/viewer/journal_file.h"
#include "app/viewer/object_moves.h"
#include "app/viewer/preset_edits.h"
#include "app/viewer/spawn.h"
#include "gpu/params/contact_solvers.h"

namespace stickslip {
namespace {

using Activity = SimulationStatus::Activity;

// A race starts a moment after its problem was copied or read.
constexpr double kRaceStarts = 0.5;  // [s]

/// While the run plays, its steps are none of the script's.
bool is_idle(const Simulation& simulation) {
  const SimulationStatus& status = simulation.status();
  return status.activity == Activity::idle || status.playing;
}

std::vector<std::string_view> action_names() {
  std::vector<std::string_view> names{
      "scene",        "open",          "add",         "lab_iteration", "set",  "steps", "play",
      "rewind",       "wait",          "fork_seed",   "sweep",         "move", "turn",  "select",
      "drag",         "drag_end",      "camera",      "quality",       "clip", "view",  "preset_save",
      "preset_apply", "preset_delete", "preset_list", "step_iteration"};
  for (const Action& action : action_table()) names.push_back(action.name);
  return names;
}

/// How many words may follow the first one of a line.
std::size_t most_words(const std::string& verb) {
  if (verb == "sweep" || verb == "camera") return 6;
  return verb == "turn" ? 5 : verb == "move" || verb == "drag" ? 4 : verb == "add" || verb == "clip" ? 3 : 2;
}

/// Sets a row of one of the tables through `post`. Throws std::invalid_argument.
void post_setting(Simulation& simulation, const std::string& key, const std::string& text) {
  const auto value_of = [&](const ParamInfo& info, auto object) {
    set_param(&object, info, std::string_view(text));
    return get_param(&object, info);
  };
  if (key.starts_with(contact_key_prefix)) {
    const ParamInfo* row = find_param(lab_param_table(), key.substr(contact_key_prefix.size()));
    if (row == nullptr) throw std::invalid_argument("unknown key '" + key + "'");
    return simulation.post(ContactParamEdit{row->name, value_of(*row, LabParams{})});
  }
  if (key.starts_with(tripwire_key_prefix)) {
    const ParamInfo* row = find_param(tripwire_table(), key.substr(tripwire_key_prefix.size()));
    if (row == nullptr) throw std::invalid_argument("unknown key '" + key + "'");
    return simulation.post(TripwireEdit{row->name, value_of(*row, Tripwires{})});
  }
  if (key == "solver") {
    // As --solver: the name of a contact solver means velocity-level steps with it.
    Params wanted = simulation.settings().params;
    set_solver(wanted, text);
    for (const char* name : {"contact_solver", "solver"}) {
      const ParamInfo& row = *find_param(param_table(), name);
      simulation.post(ParamEdit{row.name, get_param(&wanted, row)});
    }
    return;
  }
  if (const ParamInfo* row = find_param(param_table(), key))
    return simulation.post(ParamEdit{row->name, value_of(*row, Params{})});
  const ParamInfo* row = find_param(material_table(), key);
  if (row == nullptr) throw std::invalid_argument("unknown key '" + key + "'");
  simulation.post(MaterialEdit{-1, row->name, value_of(*row, Material{})});
}

}  // namespace

ActionScript::ActionScript(const std::filesystem::path& file) : file_(file) {
  std::ifstream stream(file);
  if (!stream) throw InputError(file.string() + ": cannot be read");
  int number = 0;
  for (std::string text; std::getline(stream, text);) {
    ++number;
    text = text.substr(0, text.find('#'));
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    lines_.push_back(parse(number, text));
  }
}

void ActionScript::fail(int number, const std::string& what) const {
  throw InputError(file_.string() + ":" + std::to_string(number) + ": " + what);
}

/// A line that is done when the simulation is idle, and nothing else runs.
ActionScript::Line ActionScript::idle_line(int number, const std::string& text) {
  return {number, text, {}, [](const Hands& hands, double) {
            return is_idle(hands.simulation) && !hands.busy();
          }};
}

ActionScript::Line ActionScript::parse(int number, const std::string& text) const {
  std::istringstream stream(text);
  std::string verb;
  stream >> verb;
  if (const std::vector<std::string_view> names = action_names();
      std::ranges::find(names, verb) == names.end()) {
    const std::string nearest = nearest_name(names, verb);
    fail(number,
         "unknown action '" + verb + "'" + (nearest.empty() ? "" : "; did you mean '" + nearest + "'?"));
  }
  std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
  if (words.size() > most_words(verb)) fail(number, "too many words in '" + text + "'");
  if (verb == "sweep" || verb == "fork_seed") {
    Line line = idle_line(number, text);
    verb == "sweep" ? parse_sweep(line, words) : parse_fork_seed(line, words);
    return line;
  }
  if (verb == "select" || verb == "drag" || verb == "camera" || verb == "quality" || verb == "clip" ||
      verb == "view") {
    Line line = idle_line(number, text);
    parse_view(line, verb, words);
    return line;
  }
  if (verb.starts_with("preset_")) {
    Line line = idle_line(number, text);
    parse_preset(line, verb, words);
    return line;
  }
  if (verb == "move" || verb == "turn") {
    Line line = idle_line(number, text);
    parse_move(line, verb, words);
    return line;
  }
  words.resize(3);
  const std::string &first = words[0], &second = words[1];
  const auto only = [&](bool has_first, bool has_second) {
    if (has_first == first.empty()) fail(number, verb + (has_first ? " needs a value" : " takes no value"));
    if (!has_second && !second.empty()) fail(number, "unexpected '" + second + "'");
  };
  const auto number_in = [&](double least) {
    double value = 0;
    const auto [end, error] = std::from_chars(first.data(), first.data() + first.size(), value);
    if (error != std::errc() || end != first.data() + first.size() || !(value >= least) || !(value <= 1e9))
      fail(number, verb + " needs a number of at least " + std::to_string(static_cast<int>(least)));
    return value;
  };
  Line line = idle_line(number, text);
  if (verb == "scene") {
    only(true, true);
    line.begin = [first, second](const Hands& hands) { hands.simulation.post(LoadScene{first, second}); };
    line.is_done = [](const Hands& hands, double) {
      return is_idle(hands.simulation) && hands.simulation.status().loaded;
    };
  } else if (verb == "open") {
    only(true, false);
    line.begin = [first](const Hands& hands) { hands.open(first); };
    line.is_done = [](const Hands& hands, double passed) {
      return passed > kRaceStarts && is_idle(hands.simulation) && !hands.busy();
    };
  } else if (verb == "drag_end") {
    only(false, false);
    line.begin = [](const Hands& hands) { hands.simulation.post(DragEnd{}); };
  } else if (verb == "add") {
    if (second.empty()) fail(number, "add needs a kind and a shape");
    parse_add(line, words);
  } else if (verb == "lab_iteration") {
    if (second.empty()) fail(number, "lab_iteration needs a solver and a number");
    parse_iteration(line, first, second);
  } else if (verb == "set") {
    only(true, false);
    const std::size_t equals = first.find('=');
    if (equals == std::string::npos) fail(number, "set needs KEY=VALUE");
    const std::string key = first.substr(0, equals), value = first.substr(equals + 1);
    line.begin = [this, number, key, value](const Hands& hands) {
      try {
        post_setting(hands.simulation, key, value);
      } catch (const std::invalid_argument& error) {
        fail(number, error.what());
      }
    };
  } else if (verb == "step_iteration") {
    only(true, false);
    const double wanted = number_in(0);
    if (wanted != std::floor(wanted)) fail(number, verb + " needs a whole number");
    line.begin = [this, number, iteration = static_cast<int>(wanted)](const Hands& hands) {
      located(number, [&] { hands.show_step_iteration(iteration); });
    };
  } else if (verb == "steps" || verb == "rewind") {
    only(true, false);
    const double wanted = number_in(verb == "steps" ? 1 : 0);
    if (wanted != std::floor(wanted)) fail(number, verb + " needs a whole number");
    const int count = static_cast<int>(wanted);
    if (verb == "rewind") line.begin = [count](const Hands& hands) { hands.simulation.post(Rewind{count}); };
    else
      line.begin = [count](const Hands& hands) {
        for (int i = 0; i < count; ++i) hands.simulation.step_once();
      };
  } else if (verb == "play" || verb == "wait") {
    only(true, false);
    const double seconds = number_in(0);
    line.begin = [plays = verb == "play"](const Hands& hands) {
      if (plays) hands.simulation.play();
    };
    line.is_done = [seconds, plays = verb == "play"](const Hands& hands, double passed) {
      if (passed < seconds) return false;
      if (plays) hands.simulation.pause();
      return true;
    };
  } else {
    only(false, false);
    const ActionId id = std::ranges::find(action_table(), std::string_view(verb), &Action::name)->id;
    line.begin = [id](const Hands& hands) { hands.act(id); };
    if (id == ActionId::freeze || id == ActionId::race_steppers)
      line.is_done = [](const Hands& hands, double passed) { return passed > kRaceStarts && !hands.busy(); };
    // Play goes on while later lines act; all others are over once the simulation is idle.
    if (id == ActionId::toggle_play) line.is_done = [](const Hands&, double) { return true; };
  }
  return line;
}

void ActionScript::parse_add(Line& line, const std::vector<std::string>& words) const {
  const SpawnRequest request =
      located(line.number, [&] { return spawn_request(words.at(0), words.at(1), words.at(2)); });
  line.begin = [this, number = line.number, request](const Hands& hands) {
    SpawnRequest here = request;
    here.at = hands.target;
    located(number, [&] { add_body(hands.simulation, here); });
  };
}

std::vector<double> ActionScript::numbers_of(const Line& line, const std::vector<std::string>& words,
                                             std::size_t first) const {
  std::vector<double> numbers;
  numbers.reserve(words.size());
  for (std::size_t k = first; k < words.size(); ++k) {
    const char* const last = words[k].data() + words[k].size();
    numbers.push_back(0);
    const auto [end, error] = std::from_chars(words[k].data(), last, numbers.back());
    if (error != std::errc() || end != last || !std::isfinite(numbers.back()))
      fail(line.number, "'" + words[k] + "' is no number");
  }
  return numbers;
}

void ActionScript::parse_move(Line& line, const std::string& verb,
                              const std::vector<std::string>& words) const {
  if (words.size() != most_words(verb))
    fail(line.number,
         verb + (verb == "move" ? " needs an object and three numbers [m]"
                                : " needs an object, the three numbers of an axis, and degrees"));
  const std::vector<double> numbers = numbers_of(line, words, 1);
  MoveObject move{words[0]};
  const Vec<double, 3> vector{numbers[0], numbers[1], numbers[2]};
  if (verb == "move") move.shift = vector;
  else if (!(norm(vector) > 0)) fail(line.number, "turn needs an axis that is not zero");
  else move.turn = numbers[3] * normalized(vector);
  line.begin = [this, number = line.number, move](const Hands& hands) {
    located(number, [&] { move_object(hands.simulation, move); });
  };
}

void ActionScript::parse_preset(Line& line, const std::string& verb,
                                const std::vector<std::string>& words) const {
  const std::size_t wanted = verb == "preset_list" ? 0 : 1;
  if (words.size() != wanted) fail(line.number, verb + (wanted == 0 ? " takes no value" : " needs a name"));
  line.begin = [this, number = line.number, verb, name = wanted == 0 ? "" : words[0]](const Hands& hands) {
    if (hands.presets == nullptr) fail(number, "there are no presets here");
    located(number, [&] {
      if (verb == "preset_save") save_preset(hands.simulation, *hands.presets, name);
      else if (verb == "preset_apply") apply_preset(hands.simulation, *hands.presets, name);
      else if (verb == "preset_delete") delete_preset(*hands.presets, name);
      else list_presets(*hands.presets);
    });
  };
}

void ActionScript::parse_fork_seed(Line& line, const std::vector<std::string>& words) const {
  const auto value_of = [&](const std::string& word, auto value, const char* what) {
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || !(value > 0))
      fail(line.number, "'" + word + "': fork_seed needs " + what);
    return value;
  };
  if (words.empty()) fail(line.number, "fork_seed needs a value");
  ForkState fork;
  fork.seed = value_of(words[0], std::uint64_t{0}, "a whole number of at least 1");
  if (words.size() > 1) fork.size = value_of(words[1], 0.0, "a size above 0 [m/s]");
  if (!std::isfinite(fork.size)) fail(line.number, "fork_seed needs a finite size [m/s]");
  line.begin = [fork](const Hands& hands) { hands.simulation.post(fork); };
}

void ActionScript::parse_sweep(Line& line, const std::vector<std::string>& words) const {
  const SweepRequest request = located(line.number, [&] { return sweep_request(words); });
  line.begin = [this, number = line.number, request](const Hands& hands) {
    if (!hands.sweep) fail(number, "there is nothing here that sweeps");
    located(number, [&] { hands.sweep(request); });
  };
}

void ActionScript::parse_iteration(Line& line, const std::string& solver,
                                   const std::string& iteration) const {
  std::vector<std::string_view> names;
  for (const ContactSolverInfo& info : list_lab_solvers()) names.push_back(info.name);
  if (std::ranges::find(names, solver) == names.end()) {
    const std::string nearest = nearest_name(names, solver);
    fail(line.number, "unknown contact solver '" + solver + "'" +
                          (nearest.empty() ? "" : "; did you mean '" + nearest + "'?"));
  }
  long wanted = 0;
  const char* const last = iteration.data() + iteration.size();
  const auto [end, error] = std::from_chars(iteration.data(), last, wanted);
  if (error != std::errc() || end != last || wanted < 0)
    fail(line.number, "lab_iteration needs a whole number of at least 0");
  line.begin = [this, number = line.number, solver, wanted](const Hands& hands) {
    try {
      hands.show_iteration(solver, wanted);
    } catch (const InputError& failure) {
      fail(number, failure.what());
    }
  };
}

/// An error that a later command has cleared before it was seen here is none.
void ActionScript::watch_faults(const SimulationStatus& status, int number) {
  const bool failed = std::exchange(faults_, status.faults).value_or(status.faults) != status.faults;
  const bool refused = std::exchange(refusals_, status.refusals) != status.refusals;
  if (status.error.empty() || (!failed && !refused)) return;
  const std::string text = file_.string() + ":" + std::to_string(number) + ": " + status.error;
  if (refused) throw std::runtime_error(text);
  has_failed_ = true;
  spdlog::error("{}", text);
}

bool ActionScript::advance(const Hands& hands) {
  while (next_ < lines_.size()) {
    const Line& line = lines_[next_];
    // In this order: the status that is seen then is that of all that was asked for.
    const bool is_caught_up = hands.simulation.is_caught_up();
    if (is_caught_up) hands.update();
    watch_faults(hands.simulation.status(), line.number);
    if (!begun_) {
      // The scene or journal with which the program was started may still be loading.
      if (next_ == 0 && !(is_caught_up && is_idle(hands.simulation) && !hands.busy())) return true;
      line.begin(hands);
      begun_ = true;
      since_ = Clock::now();
      hands.update();
      // What was posted is seen by the simulation's thread first.
      return true;
    }
    const double passed = std::chrono::duration<double>(Clock::now() - since_).count();
    if (!is_caught_up || !line.is_done(hands, passed)) return true;
    begun_ = false;
    ++next_;
  }
  return false;
}

}  // namespace stickslip
