#include "app/io/mesh/strands.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <stdexcept>

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;
using Points = std::vector<Vec3d>;

constexpr double kTurn = 2 * std::numbers::pi;
constexpr Vec3d kDown{0, -1, 0};

// Not std::uniform_real_distribution: its values differ between standard libraries.
double uniform(std::mt19937_64& random, double low, double high) {
  return low + (high - low) * (static_cast<double>(random() >> 11) * 0x1p-53);
}

Vec3d across(const Vec3d& t) {
  return normalized(cross(t, std::abs(t[1]) < 0.9 ? Vec3d{0, 1, 0} : Vec3d{1, 0, 0}));
}

/// Points at equal arc lengths along a line.
Points evenly(const Points& line, int segments) {
  std::vector<double> at(line.size(), 0);
  for (std::size_t i = 1; i < line.size(); ++i) at[i] = at[i - 1] + norm(line[i] - line[i - 1]);
  Points out{line.front()};
  std::size_t i = 1;
  for (int k = 1; k < segments; ++k) {
    const double want = at.back() * k / segments;
    while (i + 1 < line.size() && at[i] < want) ++i;
    const double share = at[i] > at[i - 1] ? (want - at[i - 1]) / (at[i] - at[i - 1]) : 0;
    out.push_back(line[i - 1] + std::clamp(share, 0.0, 1.0) * (line[i] - line[i - 1]));
  }
  out.push_back(line.back());
  return out;
}

/// The nearest point at least `gap` off the sphere.
Vec3d outside(const Vec3d& p, const Groom& groom, double gap) {
  const Vec3d out = p - groom.center;
  const double least = groom.clear + gap, distance = norm(out);
  return groom.clear > 0 && distance < least && distance > 0 ? groom.center + (least / distance) * out : p;
}

/// Down, along the sphere or scalp where that is below.
Vec3d downhill(const Vec3d& p, const Root& root, const Groom& groom) {
  const Vec3d n = groom.clear > 0 ? normalized(p - groom.center) : root.normal;
  if (n[1] <= 0) return kDown;
  const Vec3d along = kDown - dot(kDown, n) * n;
  return norm(along) > 1e-6 ? normalized(along) : across(n);
}

/// The line that starts at the root, by small steps.
Points grown(const Root& root, const Vec3d& direction, const Groom& groom) {
  const int steps = std::max(64, 4 * groom.segments);
  const double h = groom.length / steps;
  // Strands that grow higher on the sphere lie over others.
  const double layer = groom.volume * (1 + root.normal[1]) / 2;
  Points line{root.point};
  for (int k = 0; k < steps; ++k) {
    // The turn takes half of the length, and sin^2 starts and ends smoothly; the layer a fifth.
    const double part = (k + 0.5) / steps, share = std::sin(std::min(1.0, 2 * part) * kTurn / 4);
    const double turned = groom.droop * share * share, raised = std::min(1.0, 5 * part);
    const Vec3d d = normalized((1 - turned) * direction + turned * downhill(line.back(), root, groom));
    line.push_back(outside(line.back() + h * d, groom, groom.gap + raised * layer));
  }
  return line;
}

/// Winds a line, from amplitude zero at its root to the whole one after a turn.
Points wound(const Points& line, const Curl& curl, std::mt19937_64& random) {
  if (curl.style == Curl::Style::straight || curl.radius <= 0) return line;
  const double phase = uniform(random, 0, kTurn);
  Vec3d frizz[6];  // amplitudes of waves in both directions across
  double waves[6];
  for (int k = 0; k < 6; ++k) {
    frizz[k] = {uniform(random, -1, 1), uniform(random, -1, 1), 0};
    waves[k] = uniform(random, 0.6, 2.2);
  }
  Points out;
  double s = 0;
  Vec3d u = across(normalized(line[1] - line[0]));
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (i > 0) s += norm(line[i] - line[i - 1]);
    const Vec3d t = normalized(line[std::min(i + 1, line.size() - 1)] - line[i > 0 ? i - 1 : 0]);
    u = normalized(u - dot(u, t) * t);
    const Vec3d v = cross(t, u);
    const double angle = kTurn * s / curl.pitch, grown = std::min(1.0, s / curl.pitch);
    const double size = curl.radius * grown * grown * (3 - 2 * grown);
    double a = 0, b = 0;
    if (curl.style == Curl::Style::wavy) {
      a = std::sin(angle) * std::cos(phase);
      b = std::sin(angle) * std::sin(phase);
    } else if (curl.style == Curl::Style::curly) {
      a = std::cos(angle + phase);
      b = std::sin(angle + phase);
    } else {
      for (int k = 0; k < 6; ++k) {
        a += frizz[k][0] * std::sin(waves[k] * angle + phase + k) / 2;
        b += frizz[k][1] * std::cos(waves[k] * angle - phase + k) / 2;
      }
    }
    out.push_back(line[i] + size * (a * u + b * v));
  }
  return out;
}

}  // namespace

std::size_t Strands::segments() const {
  std::size_t count = 0;
  for (const Points& strand : points) count += strand.size() - (closed ? 0 : 1);
  return count;
}

Strands make_strand(double length, int segments, const Curl& curl) {
  Points strand;
  const bool helix = curl.radius > 0 && curl.pitch > 0;
  const double turn = helix ? std::hypot(kTurn * curl.radius, curl.pitch) : 1;
  for (int i = 0; i <= segments; ++i) {
    const double s = length * i / segments, angle = kTurn * s / turn;
    strand.push_back(
        helix ? Vec3d{curl.radius * std::cos(angle), -curl.pitch * s / turn, curl.radius * std::sin(angle)}
              : Vec3d{0, -s, 0});
  }
  return {{strand}, false};
}

Strands make_ring_strand(double radius, int segments) {
  Points ring;
  for (int i = 0; i < segments; ++i) {
    const double angle = kTurn * i / segments;
    ring.push_back({radius * std::cos(angle), 0, radius * std::sin(angle)});
  }
  return {{ring}, true};
}

std::vector<Root> roots_on_sphere(double radius, int count, double cap) {
  std::vector<Root> roots;
  const double lowest = std::cos(cap), golden = kTurn * (1 - 1 / std::numbers::phi);
  for (int i = 0; i < count; ++i) {
    const double y = 1 - (1 - lowest) * (i + 0.5) / count, r = std::sqrt(std::max(0.0, 1 - y * y));
    const Vec3d n{r * std::cos(golden * i), y, r * std::sin(golden * i)};
    roots.push_back({radius * n, n});
  }
  return roots;
}

std::vector<Root> roots_on_surface(const SurfaceMesh& scalp, int count, double cap, std::uint64_t seed) {
  std::vector<double> area{0};  // up to and with each triangle
  std::vector<Vec3d> normals;
  for (const Vec3i& t : scalp.triangles) {
    const Vec3d n = cross(scalp.nodes[t[1]] - scalp.nodes[t[0]], scalp.nodes[t[2]] - scalp.nodes[t[0]]);
    normals.push_back(normalized(n));
    area.push_back(area.back() + (normals.back()[1] >= std::cos(cap) - 1e-12 ? norm(n) : 0));
  }
  if (!(area.back() > 0)) throw std::invalid_argument("no triangle of the scalp has a normal within its cap");
  std::mt19937_64 random(seed);
  std::vector<Root> roots;
  for (int i = 0; i < count; ++i) {
    // One root per equal part of the area.
    const double at = area.back() * (i + uniform(random, 0, 1)) / count;
    const auto above = std::upper_bound(area.begin() + 1, area.end() - 1, at);
    const auto t = static_cast<std::size_t>(above - area.begin() - 1);
    double a = uniform(random, 0, 1), b = uniform(random, 0, 1);
    if (a + b > 1) a = 1 - a, b = 1 - b;
    const Vec3i& nodes = scalp.triangles[t];
    const Vec3d p = scalp.nodes[nodes[0]];
    roots.push_back({p + a * (scalp.nodes[nodes[1]] - p) + b * (scalp.nodes[nodes[2]] - p), normals[t]});
  }
  return roots;
}

Strands make_hair(const std::vector<Root>& roots, const Groom& groom) {
  std::mt19937_64 random(groom.seed);
  Strands out;
  for (const Root& root : roots) {
    const double tilt = uniform(random, -groom.unruly, groom.unruly), way = uniform(random, 0, kTurn);
    const Vec3d u = across(root.normal), v = cross(root.normal, u);
    const Vec3d direction =
        std::cos(tilt) * root.normal + std::sin(tilt) * (std::cos(way) * u + std::sin(way) * v);
    const Root start{root.point + groom.gap * root.normal, root.normal};
    const Points line = grown(start, direction, groom);
    Points strand = evenly(wound(line, groom.curl, random), groom.segments);
    for (Vec3d& p : strand) p = outside(p, groom, groom.gap);
    out.points.push_back(std::move(strand));
  }
  return out;
}

Strands make_curve_strand(const Points& points, int segments) {
  // Beyond the ends: the mirror images of the points next to them.
  Points p{2 * points[0] - points[1]};
  p.insert(p.end(), points.begin(), points.end());
  p.push_back(2 * points[points.size() - 1] - points[points.size() - 2]);
  Points line{points[0]};
  for (std::size_t i = 1; i + 2 < p.size(); ++i) {
    double knot[4] = {};
    for (std::size_t k = 1; k < 4; ++k) knot[k] = knot[k - 1] + std::sqrt(norm(p[i + k - 1] - p[i + k - 2]));
    // Barry and Goldman's pyramid.
    const auto between = [&](int a, int b, double t, const Vec3d& at_a, const Vec3d& at_b) {
      return 1 / (knot[b] - knot[a]) * ((knot[b] - t) * at_a + (t - knot[a]) * at_b);
    };
    const int steps = std::max(16, 4 * segments / static_cast<int>(points.size()));
    for (int k = 1; k <= steps; ++k) {
      const double t = knot[1] + (knot[2] - knot[1]) * k / steps;
      const Vec3d a = between(0, 1, t, p[i - 1], p[i]), b = between(1, 2, t, p[i], p[i + 1]),
                  c = between(2, 3, t, p[i + 1], p[i + 2]);
      line.push_back(between(1, 2, t, between(0, 2, t, a, b), between(1, 3, t, b, c)));
    }
  }
  Strands out;
  out.points.push_back(evenly(line, segments));
  return out;
}

Strands at_rest(const Strands& strands, double stretch, bool straight) {
  Strands out = strands;
  if (stretch == 1 && !straight) return out;
  for (Points& strand : out.points) {
    const Points bent = strand;
    const Vec3d along = normalized(bent[1] - bent[0]);
    for (std::size_t i = 1; i < strand.size(); ++i) {
      const Vec3d e = bent[i] - bent[i - 1];
      strand[i] = strand[i - 1] + 1 / stretch * (straight ? norm(e) * along : e);
    }
  }
  return out;
}

Strands thinned(Strands strands, std::size_t most) {
  const std::size_t count = strands.points.size();
  if (most == 0 || count <= most) return strands;
  Strands out;
  out.closed = strands.closed;
  for (std::size_t i = 0; i < most; ++i) out.points.push_back(std::move(strands.points[i * count / most]));
  return out;
}

Strands resampled(const Strands& strands, int segments) {
  Strands out;
  out.closed = strands.closed;
  for (const Points& strand : strands.points) out.points.push_back(evenly(strand, segments));
  return out;
}

}  // namespace stickslip
