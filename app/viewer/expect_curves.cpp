#include "app/viewer/expect_curves.h"

#include <algorithm>
#include <cstdio>
#include <limits>

namespace stickslip {
namespace {

constexpr double kNoPoint = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kHeight = 5, kSpeed = 7;  // in TrackedProbes::kQuantities

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

/// The object of this name, or the first instances of the array.
std::vector<int> objects_of(const Model& model, const std::string& name) {
  std::vector<int> found;
  for (std::size_t i = 0; i < model.objects.size() && found.size() < TrackedProbes::kMost; ++i) {
    const std::string& other = model.objects[i].name;
    if (other == name || other.starts_with(name + ".")) found.push_back(static_cast<int>(i));
  }
  return found;
}

class Curves {
 public:
  explicit Curves(const Model& model) : model_(model) {}
  std::vector<ExpectCurve> all;

  void operator()(const ExpectIntersections& e) {
    ExpectCurve curve = of_steps("Intersections", [](const StepReport& r) {
      return r.intersections < 0 ? kNoPoint : static_cast<double>(r.intersections);
    });
    curve.high = e.at_most;
    all.push_back(curve);
  }
  void operator()(const ExpectPositiveGap&) {
    ExpectCurve curve = of_steps("Smallest gap, m", [](const StepReport& r) {
      return r.contact_solve || r.contacts == 0 ? kNoPoint : r.gap_min;
    });
    curve.low = 0;
    all.push_back(curve);
  }
  void operator()(const ExpectVolume& e) {
    ExpectCurve curve =
        of_steps("Smallest volume over that at rest", [](const StepReport& r) { return r.volume_ratio_min; });
    curve.low = e.share;
    all.push_back(curve);
  }
  void operator()(const ExpectPenetration& e) {
    ExpectCurve curve = of_steps("Overlap after " + number(e.after) + " s, m", [e](const StepReport& r) {
      if (!r.contact_solve || r.time < e.after) return kNoPoint;
      return std::max(r.contact_solve->penetration, r.overlap);
    });
    curve.high = e.at_most;
    all.push_back(curve);
  }
  void operator()(const ExpectResidual& e) {
    ExpectCurve curve =
        of_steps("Residual, of " + number(100 * e.share) + "% of the steps",
                 [](const StepReport& r) { return r.contact_solve ? r.contact_solve->residual : kNoPoint; });
    curve.high = e.at_most;
    all.push_back(curve);
  }
  void operator()(const ExpectHeight& e) {
    if (e.of == ExpectHeight::Of::each)
      add_objects("Height of " + e.object + " at " + number(e.at) + " s, m", e, kHeight);
  }
  void operator()(const ExpectSpeed& e) {
    add_objects("Speed of " + e.object + " at " + number(e.at) + " s, m/s", e, kSpeed);
  }
  template <class Other>
  void operator()(const Other&) {}

 private:
  static ExpectCurve of_steps(std::string title, std::function<double(const StepReport&)> of_step) {
    ExpectCurve curve;
    curve.title = std::move(title);
    curve.of_step = std::move(of_step);
    return curve;
  }
  template <class Expect>
  void add_objects(std::string title, const Expect& e, std::size_t quantity) {
    ExpectCurve curve;
    curve.title = std::move(title);
    curve.low = e.low;
    curve.high = e.high;
    curve.objects = objects_of(model_, e.object);
    curve.quantity = quantity;
    if (!curve.objects.empty()) all.push_back(std::move(curve));
  }

  const Model& model_;
};

}  // namespace

std::vector<ExpectCurve> expect_curves(const Model& model, std::span<const Expectation> expectations) {
  Curves curves(model);
  for (const Expectation& expectation : expectations) std::visit(curves, expectation);
  return std::move(curves.all);
}

}  // namespace stickslip
