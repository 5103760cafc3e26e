// [[spring]] tables, and hairs whose roots are tied to a solid.
#include <gtest/gtest.h>

#include <string>

#include "app/io/file/input_error.h"
#include "app/io/scene/scene.h"
#include "gpu/engine.h"
#include "gpu/model/spring_points.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

const std::string kSpringBox =
    "[[material]]\nname = 'm'\n[[object]]\nname = 'box'\nshape = 'box'\nsize = [0.2, 0.2, 0.2]\nedge = 0.1\n"
    "material = 'm'\nposition = [0, 1, 0]\n";
const std::string kTiedHair =
    "[[object]]\nname = 'hair'\nbody = 'rods'\nshape = 'strand'\nlength = 0.2\nsegments = 4\ndiameter = "
    "2e-3\n"
    "material = 'm'\nposition = [0.01, 1.104, 0.02]\nrotation = [180, 0, 0]\nhold = 'root'\nfollow = 'box'\n";

Scene parse_springs(const std::string& text) { return parse_scene(text, "springs.toml"); }

void expect_spring_fault(const std::string& text, const std::string& part) {
  try {
    parse_springs(text);
    ADD_FAILURE() << "accepted:\n" << text;
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << part << " in: " << error.what();
  }
}

TEST(SceneSprings, EndAtTheNearestPointsOfTheirObjects) {
  const Scene scene =
      parse_springs(kSpringBox +
                    "[[spring]]\nname = 's'\nbetween = ['box', 'world']\nanchor = [0.05, 3, 0.02]\n"
                    "anchor_b = [0.05, 1.6, 0.02]\nstiffness = 10\ndamping = 0.1\n");
  ASSERT_EQ(scene.model.springs.size(), 1u);
  const Spring& spring = scene.model.springs[0];
  EXPECT_LT(norm(start_of(scene.model, spring.a) - Vec3d{0.05, 1.1, 0.02}), 1e-12);
  EXPECT_LT(norm(start_of(scene.model, spring.b) - Vec3d{0.05, 1.6, 0.02}), 1e-12);
  EXPECT_NEAR(spring.length, 0.5, 1e-12) << "no force at the start";
  EXPECT_EQ(spring.stiffness, 10);
  EXPECT_EQ(spring.damping, 0.1);
}

TEST(SceneSprings, FaultsAreNamed) {
  const auto spring = [](const std::string& keys) { return kSpringBox + "[[spring]]\nname = 's'\n" + keys; };
  const std::string good = "between = ['box', 'world']\nanchor = [0, 2, 0]\nstiffness = 1\n";
  parse_springs(spring(good));
  expect_spring_fault(spring("between = ['bxo', 'world']\nanchor = [0, 2, 0]\nstiffness = 1\n"),
                      "did you mean 'box'");
  expect_spring_fault(spring("between = ['world', 'world']\nanchor = [0, 2, 0]\nstiffness = 1\n"),
                      "needs an object");
  expect_spring_fault(spring("between = ['box', 'world']\nstiffness = 1\n"), "anchor");
  expect_spring_fault(spring("between = ['box', 'world']\nanchor = [0, 2, 0]\n"), "stiffness");
  expect_spring_fault(spring(good + "length = -1\n"), "length");
  expect_spring_fault(spring(good + "stifness = 1\n"), "stifness");
  expect_spring_fault(spring(good) + "[[spring]]\nname = 's'\n" + good, "another spring");
  std::string rigid = spring(good);
  rigid.insert(rigid.find("shape"), "body = 'rigid'\n");
  expect_spring_fault(rigid, "is not deformable");
}

TEST(SceneSprings, HairsFollowASolid) {
  const Scene scene = parse_springs(kSpringBox + kTiedHair);
  EXPECT_TRUE(scene.model.scripted.empty()) << "nothing is held by a script";
  ASSERT_EQ(scene.model.springs.size(), 3u) << "two points of the first segment, and its ghost";
  for (const Spring& spring : scene.model.springs) {
    EXPECT_LT(norm(start_of(scene.model, spring.a) - start_of(scene.model, spring.b)), 1e-12);
    EXPECT_EQ(spring.length, 0);
  }
  for (const SolverKind solver : {SolverKind::ipc, SolverKind::velocity}) {
    const std::unique_ptr<Engine> engine = make_engine(Backend::cpu, 1);
    Params params = scene.params;
    params.solver = solver;
    engine->set_params(params);
    engine->load(scene.model);
    for (int i = 0; i < 20; ++i) engine->step();
    // Box and hair fall freely, together.
    const std::vector<Vec3d> x = engine->state().positions;
    for (const Spring& spring : scene.model.springs) {
      const auto node = static_cast<std::size_t>(spring.a.nodes[0]);
      EXPECT_LT(norm(x[node] - scene.model.positions[node] - (x[0] - scene.model.positions[0])), 1e-4);
    }
    EXPECT_LT(x[0][1], scene.model.positions[0][1] - 0.1);
  }
  std::string affine = kSpringBox + kTiedHair;
  affine.insert(affine.find("shape"), "body = 'affine'\n");
  expect_spring_fault(affine, "strands follow a deformable solid");
}

}  // namespace
}  // namespace stickslip
