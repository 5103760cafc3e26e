// The states that marks of contacts show: which contact misses the law, and colours that stay apart for every
// eye.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "app/render/frame_view.h"
#include "app/viewer/step_text.h"
#include "tests/app/frozen_boxes.h"

namespace stickslip {
namespace {

constexpr std::array kStates{ShownState::open, ShownState::stick, ShownState::slip, ShownState::unconverged};

using Matrix = std::array<std::array<double, 3>, 3>;

/// What an eye without one kind of cones sees, in linear RGB, by the matrices of Machado, Oliveira and
/// Fernandes for a complete lack.
struct Eye {
  const char* name;
  Matrix seen;
};
constexpr std::array<Eye, 4> kEyes{
    {{"all cones", {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}},
     {"protanopia",
      {{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}}},
     {"deuteranopia",
      {{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}}},
     {"tritanopia",
      {{{1.255528, -0.076749, -0.178779},
        {-0.078411, 0.930809, 0.147602},
        {0.004733, 0.691367, 0.303900}}}}}};

/// CIE L*a*b* of an sRGB colour as an eye sees it, for the white of D65.
std::array<double, 3> lab_of(const Vec3f& srgb, const Matrix& seen) {
  std::array<double, 3> linear{}, rgb{};
  for (int k = 0; k < 3; ++k) {
    const auto c = static_cast<double>(srgb[k]);
    linear[static_cast<std::size_t>(k)] = c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) rgb[i] += seen[i][j] * linear[j];
    rgb[i] = std::clamp(rgb[i], 0.0, 1.0);
  }
  const auto f = [](double t) { return t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116; };
  const double x = f((0.4124564 * rgb[0] + 0.3575761 * rgb[1] + 0.1804375 * rgb[2]) / 0.95047);
  const double y = f(0.2126729 * rgb[0] + 0.7151522 * rgb[1] + 0.0721750 * rgb[2]);
  const double z = f((0.0193339 * rgb[0] + 0.1191920 * rgb[1] + 0.9503041 * rgb[2]) / 1.08883);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

/// CIEDE2000 (ISO/CIE 11664-6).
double difference(const std::array<double, 3>& p, const std::array<double, 3>& q) {
  constexpr double kDegree = std::numbers::pi / 180;
  const auto seventh = [](double c) {
    return std::sqrt(std::pow(c, 7) / (std::pow(c, 7) + std::pow(25.0, 7)));
  };
  const double g = 0.5 * (1 - seventh(0.5 * (std::hypot(p[1], p[2]) + std::hypot(q[1], q[2]))));
  const double a1 = (1 + g) * p[1], a2 = (1 + g) * q[1];
  const double c1 = std::hypot(a1, p[2]), c2 = std::hypot(a2, q[2]);
  const auto hue = [&](double a, double b) {
    const double angle = a == 0 && b == 0 ? 0 : std::atan2(b, a) / kDegree;
    return angle < 0 ? angle + 360 : angle;
  };
  const double h1 = hue(a1, p[2]), h2 = hue(a2, q[2]);
  double turn = c1 * c2 == 0 ? 0 : h2 - h1;
  if (turn > 180) turn -= 360;
  if (turn < -180) turn += 360;
  double mean_hue = c1 * c2 == 0 ? h1 + h2 : 0.5 * (h1 + h2);
  if (c1 * c2 != 0 && std::abs(h1 - h2) > 180) mean_hue += h1 + h2 < 360 ? 180 : -180;
  const double lightness = 0.5 * (p[0] + q[0]), chroma = 0.5 * (c1 + c2);
  const double t = 1 - 0.17 * std::cos(kDegree * (mean_hue - 30)) + 0.24 * std::cos(kDegree * 2 * mean_hue) +
                   0.32 * std::cos(kDegree * (3 * mean_hue + 6)) -
                   0.2 * std::cos(kDegree * (4 * mean_hue - 63));
  const double from_50 = (lightness - 50) * (lightness - 50);
  const double l = (q[0] - p[0]) / (1 + 0.015 * from_50 / std::sqrt(20 + from_50));
  const double c = (c2 - c1) / (1 + 0.045 * chroma);
  const double h = 2 * std::sqrt(c1 * c2) * std::sin(0.5 * kDegree * turn) / (1 + 0.015 * chroma * t);
  const double rotation =
      -2 * seventh(chroma) * std::sin(60 * kDegree * std::exp(-std::pow((mean_hue - 275) / 25, 2)));
  return std::sqrt(l * l + c * c + h * h + rotation * c * h);
}

TEST(ContactStates, TheDifferenceIsThatOfThePublishedPairs) {
  EXPECT_NEAR(difference({50, 2.6772, -79.7751}, {50, 0, -82.7485}), 2.0425, 1e-4);
  EXPECT_NEAR(difference({50, 2.5, 0}, {73, 25, -18}), 27.1492, 1e-4);
  EXPECT_NEAR(difference({2.0776, 0.0795, -1.1350}, {0.9033, -0.0636, -0.5514}), 0.9082, 1e-4);
}

// About 2 can just be told apart side by side; 20 is apart at a glance, also of small marks.
TEST(ContactStates, TheirColoursStayApartForEyesThatLackOneKindOfCones) {
  for (const Eye& eye : kEyes)
    for (const ShownState a : kStates)
      for (const ShownState b : kStates) {
        if (a >= b) continue;
        EXPECT_GT(difference(lab_of(contact_color(a), eye.seen), lab_of(contact_color(b), eye.seen)), 20)
            << eye.name << ": " << name_of(a) << " and " << name_of(b);
      }
}

TEST(ContactStates, AContactBeyondTheToleranceIsUnconvergedWhateverItsState) {
  ContactRecord contact;
  for (const ContactState state : {ContactState::open, ContactState::stick, ContactState::slip}) {
    contact.state = state;
    contact.error = 0.2f;
    EXPECT_EQ(shown_state(contact, 0.3f), kStates[static_cast<std::size_t>(state)]);
    EXPECT_EQ(shown_state(contact, 0.1f), ShownState::unconverged);
    contact.error = -1;
    EXPECT_EQ(shown_state(contact, 0.1f), kStates[static_cast<std::size_t>(state)]) << "not known";
    contact.error = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(shown_state(contact, std::numeric_limits<float>::infinity()), ShownState::unconverged);
  }
}

TEST(ContactStates, TheLimitIsTheToleranceOfTheStep) {
  Params params;
  params.dt = 0.01;
  params.d_hat = 1e-3;
  params.eps_v = 1e-2;
  StepReport report;
  EXPECT_NEAR(error_limit(report, params), 2 * (0.1 + 0.02), 1e-6) << "a barrier step";
  report.contact_solve.emplace();
  EXPECT_EQ(error_limit(report, params), std::numeric_limits<float>::infinity()) << "penalties have none";
  report.contact_solve->tolerance = 1e-3;
  report.contact_solve->scale = 5;
  EXPECT_NEAR(error_limit(report, params), 5e-3, 1e-7);
}

/// Of the third step of two boxes whose solver may take so many iterations.
std::array<int, kShownStates> counts_after(int iterations) {
  const Scene scene = parse_scene(test::boxes_toml(), "/somewhere/boxes.toml");
  const std::unique_ptr<Engine> engine = make_engine(Backend::cpu, 1);
  engine->set_params(scene.params);
  LabParams solve = scene.contact_params;
  solve.tolerance = 1e-9;
  solve.max_iterations = iterations;
  solve.warm_start = false;
  engine->set_contact_params(solve);
  engine->load(scene.model);
  StepReport report;
  for (int i = 0; i < 3; ++i) report = engine->step();
  EXPECT_EQ(missed_tolerance(report), iterations == 1);
  Snapshot shown;
  engine->snapshot(shown);
  std::array<int, kShownStates> counts{};
  for (const ContactRecord& contact : shown.contacts)
    ++counts[static_cast<std::size_t>(shown_state(contact, error_limit(report, engine->params())))];
  return counts;
}

TEST(ContactStates, OnlyAStepThatMissedItsToleranceHasUnconvergedContacts) {
  const std::array<int, kShownStates> good = counts_after(5000), bad = counts_after(1);
  EXPECT_EQ(good[static_cast<std::size_t>(ShownState::unconverged)], 0);
  EXPECT_GE(good[static_cast<std::size_t>(ShownState::stick)], 3);
  EXPECT_GE(good[static_cast<std::size_t>(ShownState::slip)], 3);
  EXPECT_GE(bad[static_cast<std::size_t>(ShownState::unconverged)], 1);
}

}  // namespace
}  // namespace stickslip
