// FCLIB files with rolling resistance, written here with the HDF5 library in the layout that Siconos writes.
#include <gtest/gtest.h>
#include <hdf5.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "app/io/file/input_error.h"
#include "gpu/contact_lab.h"
#include "gpu/dfcp/problem/generators.h"
#include "tests/app/cli_lab_fixture.h"
#include "tests/app/fclib_fixture.h"
#include "tests/fixtures/fresh_seed.h"

namespace stickslip {
namespace {

using nlohmann::json;
using testing::dense;
using testing::ScratchFolder;

/// An HDF5 file by the library's own calls.
class RollingFile {
 public:
  explicit RollingFile(const std::filesystem::path& path)
      : file_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)) {}
  ~RollingFile() { H5Fclose(file_); }
  RollingFile(const RollingFile&) = delete;
  RollingFile& operator=(const RollingFile&) = delete;

  void group(const std::string& name) const {
    H5Gclose(H5Gcreate2(file_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  }
  void integers(const std::string& name, const std::vector<int>& values) const {
    put(name, H5T_NATIVE_INT, values.size(), values.data());
  }
  void reals(const std::string& name, const std::vector<double>& values) const {
    put(name, H5T_NATIVE_DOUBLE, values.size(), values.data());
  }
  /// Triplets as CSparse has them: i rows, p columns.
  void matrix(const std::string& name, const std::vector<std::vector<double>>& rows) const {
    std::vector<int> i, p;
    std::vector<double> x;
    for (std::size_t row = 0; row < rows.size(); ++row)
      for (std::size_t column = 0; column < rows[row].size(); ++column)
        if (rows[row][column] != 0) {
          i.push_back(static_cast<int>(row));
          p.push_back(static_cast<int>(column));
          x.push_back(rows[row][column]);
        }
    const int count = static_cast<int>(x.size());
    group(name);
    integers(name + "/nzmax", {count});
    integers(name + "/m", {static_cast<int>(rows.size())});
    integers(name + "/n", {static_cast<int>(rows[0].size())});
    integers(name + "/nz", {count});
    integers(name + "/p", p);
    integers(name + "/i", i);
    reals(name + "/x", x);
  }

 private:
  void put(const std::string& name, hid_t type, hsize_t size, const void* values) const {
    const hid_t space = H5Screate_simple(1, &size, nullptr);
    const hid_t data = H5Dcreate2(file_, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(data);
    H5Sclose(space);
  }

  hid_t file_;
};

constexpr double kMass = 2, kRadius = 0.1, kInertia = 0.4 * kMass * kRadius * kRadius, kRolling = 0.003,
                 kSpeed = 1, kStep = 0.01, kGravity = 9.81;

/// H' of one ball on the ground, normal along z, rolling along x: u_N, u_x, u_y, omega_x, omega_y from (v,
/// omega).
std::vector<std::vector<double>> rows_of_the_ball() {
  std::vector<std::vector<double>> h(6, std::vector<double>(5, 0.0));
  h[2][0] = 1;                      // u_N = v_z
  h[0][1] = 1, h[4][1] = -kRadius;  // u_x = v_x - R omega_y
  h[1][2] = 1, h[3][2] = kRadius;   // u_y = v_y + R omega_x
  h[3][3] = h[4][4] = 1;            // omega_x, omega_y
  return h;
}

std::vector<double> masses() { return {kMass, kMass, kMass, kInertia, kInertia, kInertia}; }

std::vector<double> momenta_of_the_ball() {
  return {kMass * kSpeed, 0, -kMass * kGravity * kStep, 0, kInertia * kSpeed / kRadius, 0};
}

struct Spoiled {
  std::vector<int> spacedim{5};
  std::vector<double> mu{0.5}, mu_r{kRolling};
  bool has_mu_r = true, two_groups = false;
};

void write_global(const std::filesystem::path& path, const Spoiled& values = {}) {
  const RollingFile file(path);
  const std::string root = "/fclib_global_rolling";
  file.group(root);
  file.integers(root + "/spacedim", values.spacedim);
  std::vector<std::vector<double>> m(6, std::vector<double>(6, 0.0));
  for (std::size_t i = 0; i < 6; ++i) m[i][i] = masses()[i];
  file.matrix(root + "/M", m);
  file.matrix(root + "/H", rows_of_the_ball());
  file.group(root + "/vectors");
  file.reals(root + "/vectors/mu", values.mu);
  if (values.has_mu_r) file.reals(root + "/vectors/mu_r", values.mu_r);
  file.reals(root + "/vectors/f", momenta_of_the_ball());
  file.reals(root + "/vectors/w", {0, 0, 0, 0, 0});
  if (values.two_groups) file.group("/fclib_global");
}

/// W = H' M^-1 H and q = H' M^-1 f of the same ball.
void write_local(const std::filesystem::path& path) {
  const RollingFile file(path);
  const std::string root = "/fclib_local_rolling";
  file.group(root);
  file.integers(root + "/spacedim", {5});
  const auto h = rows_of_the_ball();
  std::vector<std::vector<double>> w(5, std::vector<double>(5, 0.0));
  std::vector<double> q(5);
  for (std::size_t k = 0; k < 6; ++k)
    for (std::size_t i = 0; i < 5; ++i) {
      q[i] += h[k][i] / masses()[k] * momenta_of_the_ball()[k];
      for (std::size_t j = 0; j < 5; ++j) w[i][j] += h[k][i] / masses()[k] * h[k][j];
    }
  file.matrix(root + "/W", w);
  file.group(root + "/vectors");
  file.reals(root + "/vectors/mu", {0.5});
  file.reals(root + "/vectors/mu_r", {kRolling});
  file.reals(root + "/vectors/q", q);
}

/// It rolls without slip, slowed down by 5/7 (mu_r / R) g; its moment is mu_r times the normal impulse.
void expect_rolling(const ContactProblem& problem) {
  const auto lab = make_contact_lab(Backend::cpu, 1);
  lab->load(problem);
  LabParams params;
  params.tolerance = 1e-12;
  const double normal = kMass * kGravity * kStep,
               speed = kSpeed - 5.0 / 7 * kRolling / kRadius * kGravity * kStep;
  for (const char* solver : {"auto", "nsgs", "prox_gs", "apgd", "newton_ac"}) {
    SCOPED_TRACE(solver);
    const SolveReport report = lab->solve(solver, params);
    ASSERT_TRUE(report.converged) << report.message;
    EXPECT_NEAR(report.r[0], normal, 1e-10);
    EXPECT_NEAR(report.r[1], kMass * (speed - kSpeed), 1e-10);
    EXPECT_NEAR(report.r[4], -kRolling * normal, 1e-10);
    EXPECT_NEAR(report.u[0], 0, 1e-10);
    EXPECT_NEAR(report.u[1], 0, 1e-10);
    EXPECT_NEAR(report.u[4], speed / kRadius, 1e-8);
  }
}

TEST(FclibRolling, ReadsAGlobalProblem) {
  const ScratchFolder folder("fclib_rolling_global");
  write_global(folder / "ball.hdf5");
  const FclibFile file = read_fclib(folder / "ball.hdf5");
  const ContactProblem& p = file.problem;
  EXPECT_EQ(p.dim, 5);
  EXPECT_EQ(p.form, ContactProblem::Form::global);
  ASSERT_EQ(p.laws.size(), 1U);
  EXPECT_EQ(p.laws[0].set, FrictionSet::rolling);
  EXPECT_EQ(p.laws[0].mu, (std::array{0.5, 0.5, kRolling, kRolling}));
  EXPECT_EQ(dense(p.H)[1], (std::vector<double>{1, 0, 0, 0, -kRadius, 0}));
  expect_rolling(p);
}

TEST(FclibRolling, ReadsALocalProblem) {
  const ScratchFolder folder("fclib_rolling_local");
  write_local(folder / "ball.hdf5");
  const FclibFile file = read_fclib(folder / "ball.hdf5");
  EXPECT_EQ(file.problem.dim, 5);
  EXPECT_EQ(file.problem.form, ContactProblem::Form::local);
  expect_rolling(file.problem);
}

TEST(FclibRolling, RefusesFaults) {
  const ScratchFolder folder("fclib_rolling_bad");
  const auto path = folder / "bad.hdf5";
  const auto refused = [&](const Spoiled& values, std::initializer_list<const char*> parts) {
    write_global(path, values);
    try {
      read_fclib(path);
      ADD_FAILURE() << "accepted: " << *parts.begin();
    } catch (const InputError& error) {
      for (const char* part : parts)
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  refused({.spacedim = {3}}, {"/fclib_global_rolling/spacedim", "planar"});
  refused({.spacedim = {4}}, {"= 4, not 5"});
  refused({.has_mu_r = false}, {"vectors/mu_r", "is missing"});
  refused({.mu_r = {0.1, 0.2}}, {"vectors/mu_r", "2 values, not 1"});
  refused({.mu_r = {-0.1}}, {"vectors/mu_r[0]", "negative"});
  refused({.mu = {0.5, 0.5}, .mu_r = {0.1, 0.1}},
          {"vectors/w", "5 values, not 10", "five for each value of mu"});
  refused({.two_groups = true}, {"holds both /fclib_global and /fclib_global_rolling"});
}

/// A random problem of five-row blocks with equalities behind them, whose last block ends in empty rows.
FclibFile random_rolling(unsigned seed, std::size_t contacts, std::size_t equalities, bool local) {
  testing::Draw draw(seed);
  FclibFile file;
  ContactProblem& p = file.problem;
  p.dim = 5;
  p.title = "random";
  const std::size_t blocks = contacts + (equalities + 4) / 5, rows = 5 * contacts + equalities;
  p.laws.resize(blocks);
  for (std::size_t c = 0; c < blocks; ++c) {
    const double mu = 1 + draw.number(), rolling = 1 + draw.number();
    if (c < contacts) p.laws[c] = {{mu, mu, rolling, rolling}, FrictionSet::rolling};
    else p.laws[c].set = FrictionSet::bilateral;
  }
  std::vector<std::vector<double>> h(5 * blocks, std::vector<double>(rows, 0.0)),
      a(rows, std::vector<double>(rows));
  for (std::size_t i = 0; i < rows; ++i) {
    a[i][i] = 2 + draw.number();
    for (std::size_t j = 0; j < rows; ++j) h[i][j] = i == j ? 1 + draw.number() / 2 : draw.sparse_number(0.3);
  }
  std::vector<double> w = draw.list(rows);
  w.resize(5 * blocks);
  if (local) {
    std::vector<std::vector<double>> product(5 * blocks, std::vector<double>(5 * blocks, 0.0));
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < rows; ++j)
        for (std::size_t k = 0; k < rows; ++k) product[i][j] += h[i][k] * h[j][k];
    p.W = testing::sparse(product);
    p.q = w;
    return file;
  }
  p.form = ContactProblem::Form::global;
  p.A = testing::sparse(a), p.H = testing::sparse(h);
  p.f = draw.list(rows), p.w = w;
  return file;
}

TEST(FclibRolling, RoundTrips) {
  FRESH_SEED(seed);
  const ScratchFolder folder("fclib_rolling_round");
  for (const bool local : {true, false})
    for (const std::size_t equalities : {0, 3, 5, 7})
      for (const FclibStorage storage : {FclibStorage::columns, FclibStorage::rows, FclibStorage::triplets}) {
        FclibFile file = random_rolling(seed, 3, equalities, local);
        testing::add_impulses(file, seed + 1);
        write_fclib(folder / "a.hdf5", file, storage);
        const FclibFile back = read_fclib(folder / "a.hdf5");
        const ContactProblem &p = file.problem, &s = back.problem;
        EXPECT_EQ(s.dim, 5);
        EXPECT_EQ(s.form, p.form);
        ASSERT_EQ(s.laws.size(), p.laws.size());
        for (std::size_t c = 0; c < p.laws.size(); ++c) {
          EXPECT_EQ(s.laws[c].mu, p.laws[c].mu);
          EXPECT_EQ(s.laws[c].set, p.laws[c].set);
        }
        EXPECT_EQ(s.W.values, p.W.values);
        EXPECT_EQ(s.A.values, p.A.values);
        EXPECT_EQ(s.H.values, p.H.values);
        EXPECT_EQ(s.H.indices, p.H.indices);
        EXPECT_EQ(s.q, p.q);
        EXPECT_EQ(s.w, p.w);
        EXPECT_EQ(s.guess, p.guess);
        EXPECT_EQ(s.solution, p.solution);
        EXPECT_EQ(back.solution.l.size(), equalities);
      }
}

TEST(FclibRolling, RefusesWhatTheFormatLacks) {
  const ScratchFolder folder("fclib_rolling_lacks");
  FclibFile file = random_rolling(1, 2, 0, false);
  file.problem.laws[1].flow = FlowRule::associated;
  EXPECT_THROW(write_fclib(folder / "x.hdf5", file), InputError);
  file.problem.laws[1].flow = FlowRule::exact;
  file.problem.laws[1].compliance = 1;
  EXPECT_THROW(write_fclib(folder / "x.hdf5", file), InputError);
  EXPECT_EQ(folder.files(), 0U);
}

class CliRolling : public testing::CliLab {};

/// The program generates, solves and writes a problem, and solves the file.
TEST_F(CliRolling, SolvesGeneratedProblemsAndFiles) {
  const Result made = call({"solve", "--generate", "rolling_spheres", "--size", "6", "--json", "--backend",
                            "cpu", "--out", path("out.hdf5")},
                           true);
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(json::parse(made.out)["dim"], 5);
  const Result file = call({"solve", path("out.hdf5"), "--solver", "spg", "--backend", "cpu"}, true);
  EXPECT_EQ(file.code, 0) << file.err;
  EXPECT_NE(file.out.find("5 a block (rolling resistance)"), std::string::npos) << file.out;
  const Result refused = call({"solve", path("out.hdf5"), "--solver", "lemke", "--backend", "cpu"}, true);
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.out.find("only these take: auto, nsgs"), std::string::npos) << refused.out;
  const Result box = call({"solve", path("out.hdf5"), "--law", "box", "--backend", "cpu"}, true);
  EXPECT_EQ(box.code, 2);
  EXPECT_NE(box.err.find("no pyramid"), std::string::npos) << box.err;
  for (const json& row : json::parse(call({"list", "problems", "--json"}).out))
    EXPECT_EQ(row["dim"], row["name"] == "rolling_spheres" ? 5 : 3);
}

}  // namespace
}  // namespace stickslip
