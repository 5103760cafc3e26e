// The [expect] table of a scene file.
#include "app/io/scene_build.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

std::string read_object(TableReader& table, const Model& model) {
  std::string name = table.text("object");
  check_known(table, "object", "object", name, object_names(model));
  return name;
}

Vec3d read_direction(TableReader& table) {
  const Vec3d direction = table.vec3("direction");
  if (!(norm(direction) > 0)) table.fail("direction", "must not be zero");
  return normalized(direction);
}

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

}  // namespace

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
  for (TableReader& height : table.tables("height")) {
    const std::string object = read_object(height, model);
    const Band band = read_band(height);
    all.push_back(ExpectHeight{object, height.number("at", Range::not_negative()), band.low, band.high});
    height.finish();
  }
  for (TableReader& displacement : table.tables("displacement")) {
    const std::string object = read_object(displacement, model);
    const Window window = read_window(displacement);
    const Band band = read_band(displacement);
    all.push_back(ExpectDisplacement{object, read_direction(displacement), window.from, window.to, band.low,
                                     band.high});
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
