#include "app/io/ipc/ipc_script_parse.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <set>
#include <string_view>

#include "app/io/file/byte_cursor.h"
#include "app/io/ipc/ipc_animation.h"
#include "app/io/ipc/ipc_words.h"
#include "gpu/params/params.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

constexpr int kMostShapes = 100000;
constexpr std::size_t kMostListed = 20;
constexpr double kRadians = std::numbers::pi / 180;

// Settings of other solvers or of output, or removed in later versions of the reference.
const std::set<std::string, std::less<>> kWithoutMeaning{"warmStart",
                                                         "constraintType",
                                                         "constraintOffset",
                                                         "QPSolver",
                                                         "appendStr",
                                                         "disableCout",
                                                         "zoom",
                                                         "cameraTracking",
                                                         "playBackSpeed",
                                                         "exactCCD",
                                                         "CCDMethod",
                                                         "ccdMethod",
                                                         "CCDTolerance",
                                                         "ccdTolerance",
                                                         "linearSolver",
                                                         "linSysSolver",
                                                         "inexactSolve",
                                                         "timeStepper",
                                                         "resolution",
                                                         "kappaMinMultiplier",
                                                         "minBarrierStiffnessScale",
                                                         "useActiveSetConvergence",
                                                         "noActiveSetConvergence"};

/// Reason for refusing an animation of the format; empty when the format does not define it.
std::string refused_animation(const std::string& name) {
  if (name == "scaleF" || name == "stampInv" || name == "standInv")
    return "cannot start from a deformed state";
  if (name == "onepoint" || name == "random") return "cannot start from a state that intersects itself";
  if (name == "ACOSquash" || name == "ACOSquash6" || name == "ACOSquashShear")
    return "half-spaces cannot move";
  return "";
}

class Parser {
 public:
  Parser(const std::string& text, const std::filesystem::path& file) : lines_(split_ipc_lines(text)) {
    script_.file = file;
    add_commands();
  }

  IpcScript parse(const IpcOptions& options) {
    for (; at_ < lines_.size(); ++at_) {
      IpcWords words(script_.file, lines_[at_], lines_[at_].words[0], 1);
      read_command(words);
    }
    const double beta = script_.newmark ? script_.newmark->beta : 1;
    if (damping_ratio_ > 0) script_.damping = damping_ratio_ * script_.dt * 3 / 4 / beta;
    else script_.damping = damping_stiff_ / (beta * script_.dt * script_.dt);
    if (!unsupported_.empty() && !options.ignore_unknown) refuse();
    script_.left_out = listed();
    script_.left_out.insert(script_.left_out.end(), passed_over_.begin(), passed_over_.end());
    if (script_.shapes.empty()) throw InputError(script_.file.string() + ": the script has no shapes");
    return std::move(script_);
  }

 private:
  using Reader = std::function<void(IpcWords&)>;

  void add_commands();
  void add_contact_commands();
  void add_accuracy_commands();
  void read_command(IpcWords& words);
  void read_section(IpcWords& words);
  void read_shapes(IpcWords& words);
  void read_shape_matrix(IpcWords& words);
  IpcShape read_shape(IpcWords& words);
  void read_extra(IpcWords& words, IpcShape& shape);
  void read_animation(IpcWords& words);
  void read_mesh_collider(IpcWords& words);
  std::vector<double> read_list(IpcWords& words);
  void unsupported(int line, const std::string& what) {
    unsupported_.push_back("line " + std::to_string(line) + ": " + what);
  }
  /// The first unsupported commands, and the number of the others.
  std::vector<std::string> listed() const;
  [[noreturn]] void refuse() const;
  const IpcLine& next_line(IpcWords& words, const char* what) {
    if (at_ + 1 >= lines_.size()) words.fail(std::string("the file ends where ") + what + " should be");
    return lines_[++at_];
  }

  IpcScript script_;
  std::vector<IpcLine> lines_;
  std::size_t at_ = 0;
  double damping_stiff_ = 0, damping_ratio_ = 0;
  std::vector<std::string> unsupported_;
  std::vector<std::string> passed_over_;  // words that the reference does not read either
  std::map<std::string, Reader, std::less<>> commands_;
};

void Parser::add_commands() {
  commands_["energy"] = [this](IpcWords& w) {
    const std::string name = w.word("NH or FCR");
    if (name != "NH" && name != "FCR") w.fail(shown(name) + " must be NH or FCR");
    script_.neo_hookean = name == "NH";
  };
  commands_["timeIntegration"] = [this](IpcWords& w) {
    const std::string name = w.word("BE or NM");
    script_.newmark.reset();
    if (name == "BE") return;
    if (name != "NM") w.fail(shown(name) + " must be BE or NM");
    const auto value = [&](const char* key, const char* what, double fallback) {
      const ParamInfo& row = *find_param(param_table(), key);
      return w.at_number() ? w.number(what, row.low, row.high) : fallback;
    };
    const double beta = value("newmark_beta", "beta", 0.25), gamma = value("newmark_gamma", "gamma", 0.5);
    script_.newmark = {beta, gamma};
  };
  commands_["time"] = [this](IpcWords& w) {
    script_.duration = w.number("the duration", 1e-12, 1e12);
    script_.dt = w.number("the time step", 1e-12, 1e12);
  };
  commands_["density"] = [this](IpcWords& w) {
    script_.material.density = w.number("the density", 1e-12, 1e12);
  };
  commands_["stiffness"] = [this](IpcWords& w) {
    script_.material.young = w.number("Young's modulus", 1e-12, 1e15);
    script_.material.poisson = w.number("Poisson's ratio", 0, 0.499999);
  };
  commands_["size"] = [this](IpcWords& w) { script_.size = w.number("the size"); };
  commands_["turnOffGravity"] = [this](IpcWords&) { script_.gravity = false; };
  commands_["dampingStiff"] = [this](IpcWords& w) {
    damping_stiff_ = std::max(0.0, w.number("the damping"));
  };
  commands_["dampingRatio"] = [this](IpcWords& w) {
    damping_ratio_ = std::clamp(w.number("the damping ratio"), 0.0, 1.0);
  };
  commands_["script"] = [this](IpcWords& w) { read_animation(w); };
  const auto read_range = [](IpcWords& w, std::array<double, 2>& range) {
    range[0] = w.number("the start", 0);
    range[1] = w.number("the end");
    if (!(range[1] > range[0])) w.fail("the end must come after the start");
  };
  commands_["DBCTimeRange"] = [this, read_range](IpcWords& w) { read_range(w, script_.dirichlet_range); };
  commands_["NBCTimeRange"] = [this, read_range](IpcWords& w) { read_range(w, script_.neumann_range); };
  commands_["handleRatio"] = [this](IpcWords& w) {
    script_.handle_ratio = w.number("the ratio", 1e-12, 0.5 - 1e-12);
  };
  commands_["rotateModel"] = [this](IpcWords& w) {
    script_.model_axis = w.vec3("the axis");
    if (!(norm(script_.model_axis) > 0)) w.fail("the axis must not be zero");
    script_.model_degrees = w.number("the angle");
  };
  commands_["shapes"] = [this](IpcWords& w) { read_shapes(w); };
  commands_["shape"] = [this](IpcWords& w) {
    IpcShape shape;
    w.word("'input'");
    shape.file = w.word("a mesh file");
    shape.line = w.line();
    script_.shapes.push_back(std::move(shape));
  };
  commands_["shapeMatrix"] = [this](IpcWords& w) { read_shape_matrix(w); };
  commands_["section"] = [this](IpcWords& w) { read_section(w); };
  commands_["view"] = [this](IpcWords& w) {
    script_.orthographic = !w.done() && w.word("a view") == "orthographic";
  };
  commands_["restart"] = [this](IpcWords& w) {
    unsupported(w.line(), "restart " + shown(w.rest()) + ": a run starts at time 0");
    w.skip();
  };
  add_contact_commands();
  add_accuracy_commands();
}

void Parser::add_contact_commands() {
  commands_["ground"] = [this](IpcWords& w) {
    IpcHalfSpace plane;
    plane.line = w.line();
    plane.mu = w.number("mu", 0, 10);
    plane.origin[1] = w.number("the height");
    script_.half_spaces.push_back(plane);
    if (!w.done() && passed_over_.size() < kMostListed)
      passed_over_.push_back("line " + std::to_string(w.line()) + ": ground: " + shown(w.rest()) +
                             " at its end, which the format does not read");
    w.skip();
  };
  commands_["halfSpace"] = [this](IpcWords& w) {
    IpcHalfSpace plane;
    plane.line = w.line();
    plane.origin = w.vec3("the origin");
    plane.normal = w.vec3("the normal");
    if (!(norm(plane.normal) > 0)) w.fail("the normal must not be zero");
    w.number("the stiffness");
    plane.mu = w.number("mu", 0, 10);
    script_.half_spaces.push_back(plane);
  };
  commands_["meshCO"] = [this](IpcWords& w) { read_mesh_collider(w); };
  commands_["selfCollisionOn"] = [this](IpcWords&) { script_.self_collision = true; };
  commands_["selfCollisionOff"] = [this](IpcWords&) { script_.self_collision = false; };
  commands_["selfFric"] = [this](IpcWords& w) { script_.mu = w.number("mu", 0, 10); };
}

void Parser::add_accuracy_commands() {
  commands_["constraintSolver"] = [this](IpcWords& w) {
    const std::string name = w.word("a solver");
    if (name != "IP" && name != "interiorPoint")
      unsupported(w.line(), "constraintSolver " + shown(name) + ": there is the interior-point method only");
  };
  commands_["tol"] = [this](IpcWords& w) {
    const std::vector<double> values = read_list(w);
    if (values.empty()) return;
    // The script gives one value per step; further steps repeat the last. So the last value holds for almost
    // all steps.
    script_.tolerance = values.back();
    if (!(script_.tolerance > 0 && script_.tolerance <= 1)) w.fail("the tolerance must lie in (0, 1]");
  };
  commands_["tuning"] = [this](IpcWords& w) {
    const std::vector<double> values = read_list(w);
    const auto value = [&](std::size_t i, double fallback) {
      return i < values.size() ? values[i] : fallback;
    };
    // The second of each pair is the end of the reference's continuation; a short list leaves its default.
    script_.tuning.kappa = value(0, 0);
    script_.tuning.d_hat = value(2, 1e-3);
    script_.tuning.eps_v = value(5, 1e-3);
    if (!(script_.tuning.kappa >= 0 && script_.tuning.d_hat > 0 && script_.tuning.eps_v > 0))
      w.fail("kappa must not be negative, dHat and eps_v must be positive");
  };
  commands_["dHat"] = [this](IpcWords& w) { script_.tuning.d_hat = w.number("dHat", 1e-15, 1e15); };
  commands_["epsv"] = [this](IpcWords& w) { script_.tuning.eps_v = w.number("epsv", 1e-15, 1e15); };
  commands_["useAbsParameters"] = [this](IpcWords&) { script_.tuning.absolute = true; };
  commands_["fricIterAmt"] = [this](IpcWords& w) {
    script_.friction_lags = w.whole("the count", -1000, 100);
  };
}

void Parser::read_command(IpcWords& words) {
  const std::string& name = lines_[at_].words[0];
  if (kWithoutMeaning.contains(name)) return;
  const auto command = commands_.find(name);
  if (command == commands_.end()) {
    std::vector<std::string_view> names(kWithoutMeaning.begin(), kWithoutMeaning.end());
    for (const auto& [known, reader] : commands_) names.push_back(known);
    const std::string nearest = nearest_name(names, name);
    unsupported(words.line(), shown(name) + ": unknown command" +
                                  (nearest.empty() ? "" : ", did you mean '" + nearest + "'?"));
    return;
  }
  command->second(words);
  if (!words.done()) unsupported(words.line(), name + ": " + shown(words.rest()) + " at its end");
}

std::vector<std::string> Parser::listed() const {
  const std::size_t count = std::min(unsupported_.size(), kMostListed);
  std::vector<std::string> list(unsupported_.begin(),
                                unsupported_.begin() + static_cast<std::ptrdiff_t>(count));
  if (unsupported_.size() > count)
    list.push_back("and " + std::to_string(unsupported_.size() - count) + " more");
  return list;
}

void Parser::refuse() const {
  std::string message = script_.file.string() + ": " + std::to_string(unsupported_.size()) +
                        (unsupported_.size() == 1 ? " command is" : " commands are") +
                        " not supported (--ignore-unknown runs the script without):";
  for (const std::string& what : listed()) message += "\n  " + what;
  throw InputError(message);
}

/// A section with names applies to these solvers only; a section for others is skipped.
void Parser::read_section(IpcWords& words) {
  bool ours = words.done();
  while (!words.done()) {
    const std::string name = words.word("a solver");
    ours = ours || name == "end" || name == "IP" || name == "interiorPoint";
  }
  if (ours) return;
  const auto ends = [](const IpcLine& line) {
    return line.words[0] == "section" && (line.words.size() == 1 || line.words[1] == "end");
  };
  while (at_ + 1 < lines_.size() && !ends(lines_[++at_])) {
  }
}

std::vector<double> Parser::read_list(IpcWords& words) {
  std::vector<double> values(words.whole("the number of values", 0, 1000000));
  std::size_t have = 0;
  while (have < values.size()) {
    IpcWords row(script_.file, next_line(words, "a value"), words.command(), 0);
    while (!row.done() && have < values.size()) values[have++] = row.number("a value");
    if (!row.done()) unsupported(row.line(), shown(row.rest()) + " after the last value");
  }
  return values;
}

void Parser::read_shapes(IpcWords& words) {
  words.word("'input'");
  const int count = words.whole("the number of shapes", 0, kMostShapes);
  for (int i = 0; i < count; ++i) {
    IpcWords shape_words(script_.file, next_line(words, "a shape"), "shape", 0);
    script_.shapes.push_back(read_shape(shape_words));
  }
}

IpcShape Parser::read_shape(IpcWords& words) {
  IpcShape shape;
  shape.line = words.line();
  shape.file = words.word("a mesh file");
  shape.translation = words.vec3("the translation");
  shape.rotation = words.vec3("the rotation");
  shape.scale = words.vec3("the scale");
  for (int c = 0; c < 3; ++c)
    if (shape.scale[c] == 0) words.fail("the scale must not be zero");
  while (!words.done()) read_extra(words, shape);
  return shape;
}

void Parser::read_extra(IpcWords& words, IpcShape& shape) {
  const std::string extra = words.word("an extra");
  const auto read_box = [&](IpcBox& box) {
    box.low = words.vec3("the lower corner");
    box.high = words.vec3("the upper corner");
  };
  const auto read_interval = [&](IpcBox& box) {
    if (words.at_number()) box.begin = words.number("the start", 0);
    if (words.at_number()) box.end = words.number("the end");
    if (!(box.end > box.begin)) words.fail("the end must come after the start");
  };
  if (extra == "material") {
    const double density = words.number("the density"), young = words.number("Young's modulus");
    const double poisson = words.number("Poisson's ratio", -1, 0.499999);
    if (density > 0 && young > 0) shape.material = IpcMaterial{density, young, poisson};
  } else if (extra == "linearVelocity") {
    shape.linear_velocity = words.vec3("the velocity");
  } else if (extra == "angularVelocity") {
    shape.angular_velocity = kRadians * words.vec3("the angular velocity");
  } else if (extra == "initVel") {
    shape.initial_velocity = words.vec3("the velocity");
    shape.initial_spin = kRadians * words.vec3("the angular velocity");
  } else if (extra == "DBC") {
    IpcDirichlet dirichlet;
    read_box(dirichlet);
    dirichlet.velocity = words.vec3("the velocity");
    dirichlet.angular_velocity = kRadians * words.vec3("the angular velocity");
    read_interval(dirichlet);
    shape.dirichlet.push_back(dirichlet);
  } else if (extra == "NBC") {
    IpcNeumann neumann;
    read_box(neumann);
    neumann.acceleration = words.vec3("the force");
    read_interval(neumann);
    shape.neumann.push_back(neumann);
  } else if (extra == "meshSeq") {
    shape.sequence = words.word("a folder");
  } else {
    unsupported(words.line(), shown(extra) + ": unknown extra of a shape");
  }
}

void Parser::read_shape_matrix(IpcWords& words) {
  words.word("'input'");
  std::array<int, 3> count{};
  for (int& c : count) c = words.whole("the count", 1, 100000);
  Vec3d start{0, 0, 0};
  for (int c = 0; c < 3 && words.at_number(); ++c) start[c] = words.number("the position");
  IpcWords shape_words(script_.file, next_line(words, "a shape"), "shape", 0);
  const IpcShape shape = read_shape(shape_words);
  const double shapes = double(count[0]) * count[1] * count[2] + double(script_.shapes.size());
  if (shapes > kMostShapes) words.fail("makes more than " + std::to_string(kMostShapes) + " shapes");
  for (int x = 0; x < count[0]; ++x)
    for (int y = 0; y < count[1]; ++y)
      for (int z = 0; z < count[2]; ++z) {
        IpcShape copy = shape;
        const Vec3d step = shape.translation;
        copy.translation = start + Vec3d{x * step[0], y * step[1], z * step[2]};
        script_.shapes.push_back(std::move(copy));
      }
}

void Parser::read_animation(IpcWords& words) {
  script_.animation = words.word("a name");
  script_.animation_line = words.line();
  script_.animation_params.clear();
  const std::vector<std::string> names = ipc_animation_names();
  if (std::find(names.begin(), names.end(), script_.animation) == names.end()) {
    const std::string refused = refused_animation(script_.animation);
    const std::string nearest =
        refused.empty()
            ? nearest_name(std::vector<std::string_view>(names.begin(), names.end()), script_.animation)
            : "";
    unsupported(words.line(), "script " + shown(script_.animation) + ": " +
                                  (refused.empty() ? "unknown name" : refused) +
                                  (nearest.empty() ? "" : ", did you mean '" + nearest + "'?"));
    script_.animation = "null";
    words.skip();
    return;
  }
  if (script_.animation == "meshSeqFromFile") script_.sequence = words.word("a folder");
  if (!words.at_number()) return;
  const int count = words.whole("the number of parameters", 0, 1000);
  for (int i = 0; i < count; ++i) script_.animation_params.push_back(words.number("a parameter"));
}

void Parser::read_mesh_collider(IpcWords& words) {
  IpcMeshCollider collider;
  collider.line = words.line();
  collider.file = words.word("a mesh file");
  collider.origin = words.vec3("the origin");
  collider.size = words.number("the scale", 1e-12, 1e12);
  words.number("the stiffness");
  collider.mu = words.number("mu", 0, 10);
  if (!words.done()) {
    const std::string extra = words.word("'rotate'");
    if (extra != "rotate") words.fail(shown(extra) + " must be 'rotate'");
    collider.rotation = words.vec3("the rotation");
  }
  script_.mesh_colliders.push_back(std::move(collider));
}

}  // namespace

void IpcScript::fail(int line, const std::string& what) const {
  throw InputError(file.string() + ":" + std::to_string(line) + ": " + what);
}

IpcScript parse_ipc_script(const std::string& text, const std::filesystem::path& file,
                           const IpcOptions& options) {
  return Parser(text, file).parse(options);
}

}  // namespace stickslip
