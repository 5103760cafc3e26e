// Products and energies that ElasticSolids keeps, compared bit by bit with those of objects that were asked
// for nothing else.
#include "gpu/elastic/elastic_solids.cuh"
#include "tests/backend_test.h"
#include "tests/fixtures/box_model.h"
#include "tests/fixtures/cloth_model.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using KeptVec = Vec<double, 3>;

/// A solid, an affine body, a sheet and a strand, with a node that is held.
Model kept_model(double young) {
  Model model;
  fixtures::add_box(model, "solid", {0.3, 0.2, 0.2}, {0, 0, 0}, 2);
  fixtures::add_box(model, "affine", {0.2, 0.2, 0.2}, {1, 0, 0}, 1, 10, {0, 0, 0}, fixtures::BoxBody::affine);
  const fixtures::SheetMesh sheet = fixtures::sheet_mesh(fixtures::Weave::irregular, 0.4, 0.3, 3, 3);
  add_cloth(model, "sheet", sheet.nodes, sheet.triangles, 0, 1e-3);
  add_rods(model, "strand", {{0, 1, 0}, {0, 1.1, 0}, {0.05, 1.2, 0}, {0.05, 1.3, 0.05}},
           {{0, 1}, {1, 2}, {2, 3}}, 0, 0.01);
  model.materials[0].young = young;
  model.materials[0].damping = 0.01;
  ScriptedNodes script;
  script.nodes = {model.objects[0].node_begin};
  model.scripted.push_back(script);
  finalize(model);
  return model;
}

/// Small different numbers per node, by k.
std::vector<KeptVec> kept_field(const Model& model, int k, double size) {
  std::vector<KeptVec> out;
  for (std::size_t i = 0; i < model.node_count(); ++i) {
    const double a = 0.7 * static_cast<double>(i) + 1.3 * k;
    out.push_back({size * std::sin(a), size * std::cos(2 * a), size * std::sin(3 * a + k)});
  }
  return out;
}

std::vector<Vec3> kept_reals(const std::vector<KeptVec>& of) {
  std::vector<Vec3> out;
  out.reserve(of.size());
  for (const KeptVec& p : of) out.push_back(p.template cast<Real>());
  return out;
}

/// Positions of the model, moved by the field k; 0: as they are.
std::vector<KeptVec> kept_places(const Model& model, int k) {
  std::vector<KeptVec> out = model.positions;
  const std::vector<KeptVec> move = kept_field(model, k, 2e-3);
  for (std::size_t i = 0; i < out.size() && k > 0; ++i) out[i] += move[i];
  return out;
}

/// At the start of a step of `dt` from the places k.
void begin_kept(Context& ctx, ElasticSolids& solids, int k, double dt) {
  solids.set_state(ctx, kept_places(solids.model(), k), kept_field(solids.model(), k, 0.1), 0, dt);
  solids.save(ctx);
  Params params;
  params.dt = dt;
  solids.begin_step(ctx, params, std::nullopt, 0);
}

double kept_residual(Context& ctx, ElasticSolids& solids, int k) {
  Buffer<Vec3> velocity(ctx, kept_reals(kept_field(solids.model(), k, 0.3)));
  return solids.residual_size(ctx, nullptr, velocity.data());
}

double fresh_residual(Context& ctx, const Model& model, int places, double dt, int k) {
  ElasticSolids solids;
  solids.load(ctx, model);
  begin_kept(ctx, solids, places, dt);
  return kept_residual(ctx, solids, k);
}

double kept_energy(Context& ctx, ElasticSolids& solids, int k) {
  solids.x.upload(ctx, kept_reals(kept_places(solids.model(), k)));
  return solids.elastic_energy(ctx);
}

double fresh_energy(Context& ctx, const Model& model, int k) {
  ElasticSolids solids;
  solids.load(ctx, model);
  return kept_energy(ctx, solids, k);
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

// More velocities than are kept, asked for again in another order: some products are kept, others are not.
BACKEND_TEST(KeptProducts, AreThoseOfFreshEvaluations) {
  const Model model = kept_model(1e5);
  ElasticSolids solids;
  solids.load(ctx, model);
  begin_kept(ctx, solids, 1, 0.01);
  for (const int k : {1, 2, 1, 3, 1, 4, 2, 2, 3, 5, 1, 4})
    EXPECT_EQ(kept_residual(ctx, solids, k), fresh_residual(ctx, model, 1, 0.01, k)) << k;
  EXPECT_NE(kept_residual(ctx, solids, 1), kept_residual(ctx, solids, 2));
}

// The same velocities with another matrix: of another step, linearised elsewhere, or after A + W.
BACKEND_TEST(KeptProducts, EndWithTheirMatrix) {
  const Model model = kept_model(1e5);
  ElasticSolids solids;
  solids.load(ctx, model);
  begin_kept(ctx, solids, 1, 0.01);
  const double first = kept_residual(ctx, solids, 1);
  begin_kept(ctx, solids, 1, 0.02);
  const double longer = kept_residual(ctx, solids, 1);
  EXPECT_NE(longer, first);
  EXPECT_EQ(longer, fresh_residual(ctx, model, 1, 0.02, 1));

  Buffer<Vec3> there(ctx, kept_reals(kept_field(model, 7, 0.5)));
  const auto linearised = [&](ElasticSolids& of) {
    of.linearise_at(ctx, there.data());
    return kept_residual(ctx, of, 1);
  };
  ElasticSolids fresh;
  fresh.load(ctx, model);
  begin_kept(ctx, fresh, 1, 0.02);
  const double elsewhere = linearised(solids);
  EXPECT_NE(elsewhere, longer);
  EXPECT_EQ(elsewhere, linearised(fresh));

  const std::vector<double> weights(model.node_count(), 0.5);
  Buffer<double> weight(ctx, weights);
  solids.add_weights(ctx, weight.data());
  EXPECT_NE(kept_residual(ctx, solids, 1), elsewhere) << "of A + W";
  solids.remove_weights(ctx);
  EXPECT_EQ(kept_residual(ctx, solids, 1), elsewhere) << "of A again";
}

BACKEND_TEST(KeptEnergies, AreThoseOfFreshEvaluations) {
  const Model model = kept_model(1e5);
  ElasticSolids solids;
  solids.load(ctx, model);
  for (const int k : {1, 2, 1, 3, 2, 1, 1, 3})
    EXPECT_EQ(kept_energy(ctx, solids, k), fresh_energy(ctx, model, k)) << k;
  EXPECT_GT(kept_energy(ctx, solids, 1), 0);
  EXPECT_NE(kept_energy(ctx, solids, 1), kept_energy(ctx, solids, 2));
}

// The same places of other materials, or of another model with as many nodes.
BACKEND_TEST(KeptEnergies, EndWithTheirMaterials) {
  const Model model = kept_model(1e5), stiff = kept_model(3e5);
  ElasticSolids solids;
  solids.load(ctx, model);
  const double soft_energy = kept_energy(ctx, solids, 1);
  solids.set_materials(ctx, stiff);
  const double stiff_energy = kept_energy(ctx, solids, 1);
  EXPECT_GT(stiff_energy, 2 * soft_energy);
  EXPECT_EQ(stiff_energy, fresh_energy(ctx, stiff, 1));
  solids.load(ctx, model);
  EXPECT_EQ(kept_energy(ctx, solids, 1), soft_energy);
}
