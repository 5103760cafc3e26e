#include "tests/collide/contacts_by_loops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>
#include <set>
#include <string>

#include "gpu/geometry/collide.h"
#include "gpu/geometry/manifold_reduce.h"

namespace stickslip::testing {
namespace {

/// The hulls of a model in the form that `collide` reads, with face planes and edges derived directly.
class HostLibrary {
 public:
  explicit HostLibrary(const Model& model) : parts_(model.hulls.size()) {
    for (std::size_t h = 0; h < model.hulls.size(); ++h) {
      const ConvexHull& hull = model.hulls[h];
      Part& part = parts_[h];
      std::set<std::pair<int, int>> edges;
      for (std::size_t f = 0; f + 1 < hull.face_start.size(); ++f) {
        const std::int32_t* corner = &hull.face_vertices[hull.face_start[f]];
        const int corners = hull.face_start[f + 1] - hull.face_start[f];
        const Vec3d p = hull.vertices[corner[0]];
        part.normals.push_back(normalized(cross(hull.vertices[corner[1]] - p, hull.vertices[corner[2]] - p)));
        part.offsets.push_back(dot(part.normals.back(), p));
        for (int k = 0; k < corners; ++k) edges.insert(std::minmax({corner[k], corner[(k + 1) % corners]}));
      }
      for (const auto& [a, b] : edges) part.edges.push_back({a, b});
      const auto size = [](const auto& v) { return static_cast<std::int32_t>(v.size()); };
      views_.push_back({hull.vertices.data(), size(hull.vertices), part.normals.data(), part.offsets.data(),
                        hull.face_start.data(), hull.face_vertices.data(), size(part.normals),
                        part.edges.data(), size(part.edges)});
    }
  }
  ShapeLibrary view() const { return {views_.data(), nullptr}; }

 private:
  struct Part {
    std::vector<Vec3d> normals;
    std::vector<double> offsets;
    std::vector<Vec2i> edges;
  };
  std::vector<Part> parts_;
  std::vector<HullView> views_;
};

/// Largest distance from a body's centre to a point on the surfaces of its shapes.
double body_radius(const Model& model, const Body& body) {
  double most = 0;
  for (std::int32_t i = body.shape_begin; i < body.shape_end; ++i) {
    const Shape& shape = model.shapes[i];
    const Vec3d& s = shape.size;
    std::vector<Vec3d> points;
    double around = 0;
    if (shape.kind == ShapeKind::sphere) {
      points = {{0, 0, 0}};
      around = s[0];
    } else if (shape.kind == ShapeKind::capsule) {
      points = {{0, s[1], 0}, {0, -s[1], 0}};
      around = s[0];
    } else if (shape.kind == ShapeKind::hull) {
      points = model.hulls[shape.data].vertices;
    } else if (shape.kind == ShapeKind::cylinder) {
      for (int k = 0; k < 7200; ++k) {
        const double t = 2 * std::numbers::pi * (k / 2) / 3600;
        points.push_back({s[0] * std::cos(t), k % 2 == 0 ? s[1] : -s[1], s[0] * std::sin(t)});
      }
    } else {
      for (int k = 0; k < 8; ++k)
        points.push_back({k & 1 ? s[0] : -s[0], k & 2 ? s[1] : -s[1], k & 4 ? s[2] : -s[2]});
    }
    for (const Vec3d& p : points) most = std::max(most, norm(shape.pose.apply(p)) + around);
  }
  return most;
}

class ContactLoops {
 public:
  ContactLoops(const Model& model, const HostMotion& motion, double margin, double dt, int points)
      : model_(model), motion_(motion), library_(model), margin_(margin), dt_(dt), points_(points) {
    for (const Body& body : model.bodies) radius_.push_back(body_radius(model, body));
    std::set<std::pair<std::int32_t, std::int32_t>> joined;
    for (const Joint& j : model.joints)
      if (!j.collide) joined.insert(std::minmax({j.a, j.b}));
    const auto bodies = static_cast<std::int32_t>(model.bodies.size());
    for (std::int32_t a = 0; a < bodies; ++a) {
      for (std::int32_t b = a + 1; b < bodies; ++b)
        if ((motion.moves[a] || motion.moves[b]) && !joined.count({a, b})) collide_pair(a, b);
      for (std::size_t k = 0; motion.moves[a] && k < model.half_spaces.size(); ++k)
        collide_pair(a, -1 - static_cast<std::int32_t>(k));
    }
  }
  LoopContacts found;

 private:
  Vec3d velocity(std::int32_t body, const Vec3d& at) const {
    if (body < 0) return {0, 0, 0};
    return motion_.velocity[body] + cross(motion_.spin[body], at - motion_.pose[body].x);
  }
  void collide_pair(std::int32_t a, std::int32_t b) {
    const Vec3d va = motion_.velocity[a], vb = b < 0 ? Vec3d{0, 0, 0} : motion_.velocity[b];
    double margin = margin_ + dt_ * std::max({norm(va - vb), norm(va), norm(vb)});
    margin += dt_ * radius_[a] * norm(motion_.spin[a]);
    if (b >= 0) margin += dt_ * radius_[b] * norm(motion_.spin[b]);
    if (b >= 0 && norm(motion_.pose[a].x - motion_.pose[b].x) > radius_[a] + radius_[b] + margin) return;
    const Body& body_a = model_.bodies[a];
    for (std::int32_t i = body_a.shape_begin; i < body_a.shape_end; ++i) {
      const Shape& sa = model_.shapes[i];
      if (b < 0) {
        const HalfSpace& h = model_.half_spaces[-1 - b];
        add(a, b, collide_half_space(sa, motion_.pose[a], h.normal, h.offset, library_.view(), margin));
        continue;
      }
      const Body& body_b = model_.bodies[b];
      for (std::int32_t j = body_b.shape_begin; j < body_b.shape_end; ++j)
        add(a, b, collide(sa, motion_.pose[a], model_.shapes[j], motion_.pose[b], library_.view(), margin));
    }
  }
  void add(std::int32_t a, std::int32_t b, Manifold m) {
    int kept = 0;
    for (int k = 0; k < m.count; ++k) {
      const Vec3d p = m.points[k].point;
      // With both motions, or with one of the bodies stopped.
      const double closing = std::max({0.0, -dot(m.normal, velocity(a, p) - velocity(b, p)),
                                       -dot(m.normal, velocity(a, p)), dot(m.normal, velocity(b, p))});
      if (m.points[k].gap <= margin_ + dt_ * closing) m.points[kept++] = m.points[k];
    }
    m.count = kept;
    if (m.count == 0) return;
    LoopPair& pair = found[{a, b}];
    ++pair.shape_pairs;
    const auto append = [&](std::vector<RigidContact>& to) {
      for (int k = 0; k < m.count; ++k)
        to.push_back({a, b, m.points[k].point, m.normal, m.points[k].gap, m.points[k].feature, -1});
    };
    append(pair.contacts);
    reduce_manifold(m, points_);
    pair.reduced.clear();
    append(pair.reduced);
  }

  const Model& model_;
  const HostMotion& motion_;
  HostLibrary library_;
  double margin_, dt_;
  int points_;
  std::vector<double> radius_;
};

/// Cylinders and hulls use an iteration; a one-bit difference may select another exit of a deep overlap.
/// Other shapes have closed formulas.
bool by_formula(const Model& model, std::int32_t body) {
  if (body < 0) return true;
  for (std::int32_t i = model.bodies[body].shape_begin; i < model.bodies[body].shape_end; ++i)
    if (model.shapes[i].kind > ShapeKind::box) return false;
  return true;
}

bool same_place(const RigidContact& x, const RigidContact& y, double tolerance) {
  return norm(x.point - y.point) < tolerance && std::abs(x.gap - y.gap) < tolerance;
}

double least_gap(const std::vector<RigidContact>& contacts) {
  double least = 1e300;
  for (const RigidContact& c : contacts) least = std::min(least, c.gap);
  return least;
}

/// Whether the two bodies come within the margin at some time within dt.
bool meet_within(const Model& model, HostMotion motion, std::int32_t a, std::int32_t b, double margin,
                 double dt) {
  const HostLibrary library(model);
  constexpr int kInstants = 20;
  for (int k = 0; k <= kInstants; ++k, motion.advance(dt / kInstants))
    for (std::int32_t i = model.bodies[a].shape_begin; i < model.bodies[a].shape_end; ++i) {
      const Shape& shape = model.shapes[i];
      if (b < 0) {
        const HalfSpace& h = model.half_spaces[-1 - b];
        if (collide_half_space(shape, motion.pose[a], h.normal, h.offset, library.view(), margin).count > 0)
          return true;
        continue;
      }
      for (std::int32_t j = model.bodies[b].shape_begin; j < model.bodies[b].shape_end; ++j)
        if (collide(shape, motion.pose[a], model.shapes[j], motion.pose[b], library.view(), margin).count > 0)
          return true;
    }
  return false;
}

/// Compares the contacts of one pair. If one pair of shapes touches: equal to the loops', in order. If
/// several do: a subset of the loops' that contains the deepest.
void expect_pair(const Model& model, const std::vector<RigidContact>& mine, const LoopPair& theirs) {
  const bool formula = by_formula(model, mine[0].a) && by_formula(model, mine[0].b);
  const double tolerance = 1e-9;
  EXPECT_NEAR(least_gap(mine), least_gap(theirs.contacts), formula ? 1e-5 : 0.01);
  if (!formula) return;
  if (theirs.shape_pairs == 1) {
    ASSERT_EQ(mine.size(), theirs.reduced.size());
    for (std::size_t k = 0; k < mine.size(); ++k) {
      EXPECT_TRUE(same_place(mine[k], theirs.reduced[k], tolerance));
      EXPECT_LT(norm(mine[k].normal - theirs.reduced[k].normal), tolerance);
    }
    return;
  }
  for (const RigidContact& c : mine)
    EXPECT_TRUE(std::any_of(theirs.contacts.begin(), theirs.contacts.end(), [&](const RigidContact& t) {
      return same_place(c, t, tolerance) && dot(c.normal, t.normal) > 0.92;
    }));
}

}  // namespace

LoopContacts contacts_by_loops(const Model& model, const HostMotion& motion, double margin, double dt,
                               int points) {
  return ContactLoops(model, motion, margin, dt, points).found;
}

void expect_contacts(const Model& model, const HostMotion& motion, const std::vector<RigidContact>& contacts,
                     const LoopContacts& expected, double margin, double dt) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<RigidContact>> got;
  for (const RigidContact& c : contacts) got[{c.a, c.b}].push_back(c);
  for (const auto& [bodies, mine] : got) {
    SCOPED_TRACE("pair " + std::to_string(bodies.first) + " " + std::to_string(bodies.second));
    const auto theirs = expected.find(bodies);
    ASSERT_TRUE(theirs != expected.end());
    expect_pair(model, mine, theirs->second);
  }
  for (const auto& [bodies, theirs] : expected) {
    if (got.count(bodies) != 0) continue;
    SCOPED_TRACE("pair " + std::to_string(bodies.first) + " " + std::to_string(bodies.second));
    EXPECT_GT(least_gap(theirs.contacts), margin);
    EXPECT_FALSE(meet_within(model, motion, bodies.first, bodies.second, margin, dt));
  }
}

}  // namespace stickslip::testing
