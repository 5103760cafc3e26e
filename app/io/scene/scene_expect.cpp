// The [expect] table of a scene file.
#include <algorithm>

#include "app/io/scene/scene_build.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

std::string read_object(TableReader& table, const Model& model) {
  std::string name = table.text("object");
  check_known(table, "object", "object", name, object_names(model));
  return name;
}

Vec3d read_unit(TableReader& table, const char* key) {
  const Vec3d direction = table.vec3(key);
  if (!(norm(direction) > 0)) table.fail(key, "must not be zero");
  return normalized(direction);
}

Vec3d read_direction(TableReader& table) { return read_unit(table, "direction"); }

struct Window {
  double from, to;
};
Window read_window(TableReader& table) {
  const double from = table.number("from", Range::not_negative(), 0);
  return {from, table.number("to", {from, 1e30})};
}

struct Band {
  double low, high;
};
Band read_band(TableReader& table) {
  if (!table.has("low") && !table.has("high")) table.fail("", "needs low, high or both");
  const double low = table.number("low", {}, Range().low);
  return {low, table.number("high", {low, Range().high}, Range().high)};
}

/// The name of an object that has a pose.
std::string read_rigid(TableReader& table, const Model& model) {
  std::string name = read_object(table, model);
  for (const Object& object : model.objects)
    if (is_called(object, name) && !object.is_rigid())
      table.fail("object", "'" + name + "' is no rigid body");
  return name;
}

/// Nodes of `object` whose mean an expectation follows; none: its centre of mass.
std::vector<std::int32_t> read_expected_nodes(TableReader& table, const Model& model,
                                              const std::string& name) {
  if (!table.has("nodes")) return {};
  std::vector<std::int32_t> nodes;
  for (const Object& object : model.objects) {
    if (!is_called(object, name)) continue;
    if (object.is_rigid()) table.fail("nodes", "'" + name + "' is a rigid body, which has none");
    nodes = table.indices("nodes", object.node_end - std::max(object.node_begin, object.collides_from));
  }
  return nodes;
}

/// The name of rods.
std::string read_rods(TableReader& table, const Model& model) {
  std::string name = read_object(table, model);
  for (const Object& object : model.objects)
    if (is_called(object, name) && !object.is_rods()) table.fail("object", "'" + name + "' is not of rods");
  return name;
}

double read_at(TableReader& table) { return table.number("at", Range::not_negative()); }

ExpectHeight::Of read_of(TableReader& table) {
  const std::vector<std::string> names{"each", "mean", "highest"};
  const std::string of = table.text("of", names[0]);
  check_known(table, "of", "choice", of, names);
  return static_cast<ExpectHeight::Of>(std::find(names.begin(), names.end(), of) - names.begin());
}

/// Expectations on rigid bodies of the whole scene.
void read_rigid_scene(TableReader& table, const Model& model, std::vector<Expectation>& all) {
  if (auto penetration = table.table("penetration")) {
    const double at_most = penetration->number("at_most", Range::not_negative());
    all.push_back(ExpectPenetration{at_most, penetration->number("after", Range::not_negative(), 0)});
    penetration->finish();
  }
  if (auto residual = table.table("residual")) {
    const double at_most = residual->number("at_most", Range::not_negative());
    all.push_back(ExpectResidual{at_most, residual->number("share", {0, 1}, 1)});
    residual->finish();
  }
  if (table.has("joints")) {
    if (model.joints.empty()) table.fail("joints", "the scene has none");
    all.push_back(ExpectJoints{table.number("joints", Range::positive())});
  }
}

/// Expectations on single objects at one time.
void read_instants(TableReader& table, const Model& model, std::vector<Expectation>& all) {
  for (TableReader& height : table.tables("height")) {
    const std::string object = read_object(height, model);
    const Band band = read_band(height);
    all.push_back(ExpectHeight{object, read_at(height), band.low, band.high, read_of(height)});
    height.finish();
  }
  for (TableReader& speed : table.tables("speed")) {
    const std::string object = read_object(speed, model);
    const Band band = read_band(speed);
    all.push_back(ExpectSpeed{object, read_at(speed), band.low, band.high});
    speed.finish();
  }
  for (TableReader& spin : table.tables("spin")) {
    const std::string object = read_rigid(spin, model);
    const Band band = read_band(spin);
    all.push_back(ExpectSpin{object, read_direction(spin), read_at(spin), band.low, band.high});
    spin.finish();
  }
  for (TableReader& tilt : table.tables("tilt")) {
    const std::string object = read_rigid(tilt, model);
    const Band band = read_band(tilt);
    all.push_back(ExpectTilt{object, read_unit(tilt, "axis"), read_at(tilt), band.low, band.high});
    tilt.finish();
  }
  for (TableReader& repose : table.tables("repose")) {
    const std::string object = read_object(repose, model);
    const Band band = read_band(repose);
    const double ground = repose.number("ground", {}, 0);
    all.push_back(ExpectRepose{object, ground, read_at(repose), band.low, band.high});
    repose.finish();
  }
  for (TableReader& clumping : table.tables("clumping")) {
    const std::string object = read_rods(clumping, model);
    const Band band = read_band(clumping);
    all.push_back(ExpectClumping{object, read_at(clumping), band.low, band.high});
    clumping.finish();
  }
}

}  // namespace

std::vector<FamilyNote> read_families(std::optional<TableReader> table) {
  std::vector<FamilyNote> notes;
  if (!table) return notes;
  for (const auto& [key, family] :
       {std::pair{"barrier", StepperFamily::barrier}, {"velocity", StepperFamily::velocity}}) {
    if (!table->has(key)) continue;
    if (table->is_text(key)) notes.push_back({family, table->text(key)});
    else if (table->flag(key, true)) notes.push_back({family, ""});
    else table->fail(key, "must be true, or the reason why the expectations do not hold");
  }
  table->finish();
  return notes;
}

std::vector<Expectation> build_expectations(TableReader table, const Model& model) {
  std::vector<Expectation> all;
  if (table.has("intersections"))
    all.push_back(ExpectIntersections{table.whole("intersections", 0, 1 << 30, 0)});
  if (table.flag("gap_positive", false)) all.push_back(ExpectPositiveGap{});
  if (table.has("volume_ratio")) all.push_back(ExpectVolume{table.number("volume_ratio", {0, 1})});
  if (table.has("converged")) all.push_back(ExpectConverged{table.number("converged", {0, 1})});
  if (auto energy = table.table("energy")) {
    all.push_back(ExpectEnergy{energy->number("after", Range::not_negative(), 0),
                               energy->number("tolerance", Range::not_negative(), 0.01)});
    energy->finish();
  }
  if (auto momentum = table.table("momentum")) {
    all.push_back(ExpectMomentum{momentum->number("tolerance", Range::not_negative())});
    momentum->finish();
  }
  if (auto kept = table.table("energy_kept")) {
    all.push_back(ExpectEnergyKept{kept->number("after", Range::not_negative(), 0),
                                   kept->number("tolerance", Range::not_negative())});
    kept->finish();
  }
  if (auto momentum = table.table("angular_momentum")) {
    all.push_back(ExpectAngularMomentum{momentum->number("tolerance", Range::not_negative())});
    momentum->finish();
  }
  read_rigid_scene(table, model, all);
  read_instants(table, model, all);
  for (TableReader& rest : table.tables("rest")) {
    const std::string object = read_object(rest, model);
    const Window window = read_window(rest);
    all.push_back(ExpectRest{object, window.from, window.to, rest.number("at_most", Range::not_negative())});
    rest.finish();
  }
  for (TableReader& displacement : table.tables("displacement")) {
    const std::string object = read_object(displacement, model);
    const Window window = read_window(displacement);
    const Band band = read_band(displacement);
    all.push_back(ExpectDisplacement{object, read_direction(displacement), window.from, window.to, band.low,
                                     band.high, read_expected_nodes(displacement, model, object)});
    displacement.finish();
  }
  for (TableReader& acceleration : table.tables("acceleration")) {
    const std::string object = read_object(acceleration, model);
    const Window window = read_window(acceleration);
    all.push_back(ExpectAcceleration{object, read_direction(acceleration), window.from, window.to,
                                     acceleration.number("value", {}),
                                     acceleration.number("percent", Range::positive(), 2)});
    acceleration.finish();
  }
  table.finish();
  return all;
}

}  // namespace stickslip
