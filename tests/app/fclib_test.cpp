// Valid FCLIB files: read, written, and read again.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <sstream>

#include "app/io/file/input_error.h"
#include "tests/app/fclib_fixture.h"
#include "tests/fixtures/fresh_seed.h"
#include "tests/fixtures/shared_data.h"

namespace stickslip {
namespace {

using testing::dense;
using testing::random_global;
using testing::random_local;
using testing::ScratchFolder;

void expect_same(const std::vector<double>& a, const std::vector<double>& b, const char* what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t k = 0; k < a.size(); ++k)
    EXPECT_EQ(std::bit_cast<std::uint64_t>(a[k]), std::bit_cast<std::uint64_t>(b[k]))
        << what << "[" << k << "]";
}

void expect_same(const SparseRows& a, const SparseRows& b, const char* what) {
  EXPECT_EQ(a.rows, b.rows) << what;
  EXPECT_EQ(a.columns, b.columns) << what;
  EXPECT_EQ(a.offsets, b.offsets) << what;
  EXPECT_EQ(a.indices, b.indices) << what;
  expect_same(a.values, b.values, what);
}

void expect_same(const FclibSolution& a, const FclibSolution& b) {
  expect_same(a.v, b.v, "v"), expect_same(a.u, b.u, "u"), expect_same(a.r, b.r, "r"),
      expect_same(a.l, b.l, "l");
}

/// Bitwise comparison.
void expect_same(const FclibFile& a, const FclibFile& b) {
  const ContactProblem &p = a.problem, &s = b.problem;
  EXPECT_EQ(p.form, s.form);
  EXPECT_EQ(p.title, s.title);
  EXPECT_EQ(p.description, s.description);
  EXPECT_EQ(a.math_info, b.math_info);
  ASSERT_EQ(p.laws.size(), s.laws.size());
  for (std::size_t c = 0; c < p.laws.size(); ++c) {
    EXPECT_EQ(p.laws[c].mu, s.laws[c].mu);
    EXPECT_EQ(p.laws[c].set, s.laws[c].set);
  }
  expect_same(p.W, s.W, "W"), expect_same(p.A, s.A, "A"), expect_same(p.H, s.H, "H");
  expect_same(p.q, s.q, "q"), expect_same(p.f, s.f, "f"), expect_same(p.w, s.w, "w");
  expect_same(p.guess, s.guess, "guess"), expect_same(p.solution, s.solution, "solution");
  expect_same(a.solution, b.solution);
  ASSERT_EQ(a.guesses.size(), b.guesses.size());
  for (std::size_t k = 0; k < a.guesses.size(); ++k) expect_same(a.guesses[k], b.guesses[k]);
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

constexpr FclibStorage kStorages[] = {FclibStorage::columns, FclibStorage::rows, FclibStorage::triplets};

TEST(Fclib, RoundTripsBitByBitInEveryStorage) {
  FRESH_SEED(seed);
  const ScratchFolder folder("fclib_round");
  const auto path = folder / "a.hdf5";
  for (const bool local : {true, false})
    for (const std::size_t equalities : {0, 3, 4, 5})
      for (const FclibStorage storage : kStorages) {
        SCOPED_TRACE(std::to_string(local) + " " + std::to_string(equalities) + " " +
                     std::to_string(static_cast<int>(storage)));
        const unsigned s = seed;
        const std::size_t contacts = equalities == 4 ? 0 : 4;  // a problem with equalities only is valid too
        FclibFile file =
            local ? random_local(s, contacts, equalities) : random_global(s, contacts, equalities);
        testing::add_impulses(file, s + 1);
        file.problem.w.empty() ? void() : void(file.problem.w[1] = -0.0);
        write_fclib(path, file, storage);
        const FclibFile back = read_fclib(path);
        expect_same(back, file);
        const std::string bytes = bytes_of(path);
        write_fclib(path, back, storage);
        EXPECT_EQ(bytes, bytes_of(path));
        EXPECT_EQ(folder.files(), 1u);
      }
}

TEST(Fclib, AnUnsymmetricMRoundTripsBitByBit) {
  FRESH_SEED(seed);
  const ScratchFolder folder("fclib_unsymmetric");
  const auto path = folder / "a.hdf5";
  for (const FclibStorage storage : kStorages) {
    FclibFile file = random_global(seed, 4, 4);
    testing::add_skew(file.problem, seed + 2);
    ASSERT_GT(asymmetry_of(file.problem.A).relative, 1e-2);
    testing::add_impulses(file, seed + 1);
    write_fclib(path, file, storage);
    expect_same(read_fclib(path), file);
  }
}

TEST(Fclib, ReadsWhatTheFormatSays) {
  const ScratchFolder folder("fclib_format");
  testing::RawFile raw = testing::small_local();
  raw.write(folder / "rows.hdf5");
  const FclibFile rows = read_fclib(folder / "rows.hdf5");
  EXPECT_EQ(rows.problem.title, "two");
  EXPECT_EQ(rows.problem.laws[1].mu[0], 0.25);
  EXPECT_EQ(rows.problem.laws[1].mu[1], 0.25);
  EXPECT_EQ(dense(rows.problem.W)[0], (std::vector<double>{2, 0, 0, 1, 0, 0}));
  EXPECT_EQ(rows.problem.solution, (std::vector<double>{1, 0, 0, 1, 0, 0}));
  // Unsorted triplets, i being rows, p columns; more space than entries.
  raw.integers("/fclib_local/W/nz") = {8}, raw.integers("/fclib_local/W/nzmax") = {20};
  raw.integers("/fclib_local/W/i") = {5, 3, 0, 1, 2, 0, 3, 4};
  raw.integers("/fclib_local/W/p") = {5, 0, 3, 1, 2, 0, 3, 4};
  raw.reals("/fclib_local/W/x") = {2, 1 + 1e-3, 1, 2, 2, 2, 2, 2};
  raw.write(folder / "triplets.hdf5");
  const SparseRows w = read_fclib(folder / "triplets.hdf5").problem.W;
  EXPECT_EQ(dense(w)[0], (std::vector<double>{2, 0, 0, 1, 0, 0}));
  EXPECT_EQ(dense(w)[3], (std::vector<double>{1 + 1e-3, 0, 0, 2, 0, 0}));
}

TEST(Fclib, EqualitiesBecomeBilateralBlocks) {
  const ScratchFolder folder("fclib_equalities");
  const FclibFile global = random_global(5, 2, 4), local = random_local(5, 2, 4);
  write_fclib(folder / "g.hdf5", global), write_fclib(folder / "l.hdf5", local);
  for (const char* name : {"g.hdf5", "l.hdf5"}) {
    const ContactProblem p = read_fclib(folder / name).problem;
    ASSERT_EQ(p.blocks(), 4u);
    EXPECT_EQ(p.contacts(), 2u);
    EXPECT_EQ(p.laws[3].set, FrictionSet::bilateral);
    EXPECT_EQ(fclib_rows(p).equalities, (std::vector<std::int32_t>{6, 7, 8, 9}));
  }
  const Hdf5Reader raw(folder / "g.hdf5");
  EXPECT_EQ(raw.integer("/fclib_global/G/m"), 12);
  EXPECT_EQ(raw.integer("/fclib_global/G/n"), 4);
  EXPECT_EQ(raw.reals("/fclib_global/vectors/b").size(), 4u);
}

/// Two bodies and the immovable ground (body 1), each with a contact, and a joint of two rows between the
/// blocks.
ContactProblem three_bodies() {
  ContactProblem p;
  p.form = ContactProblem::Form::bodies;
  p.laws.resize(3);
  p.laws[0].mu = p.laws[2].mu = {0.5, 0.5, 0};
  p.laws[1].set = FrictionSet::bilateral;
  p.inverse_mass.assign(3 * 36, 0.0);
  testing::Draw draw(11);
  for (std::size_t i = 0; i < 6; ++i) {
    p.inverse_mass[i * 7] = 2 + draw.number();
    if (i != 4) p.inverse_mass[72 + i * 7] = 2 + draw.number();  // body 2 cannot turn about one axis
  }
  p.inverse_mass[3 * 6 + 4] = p.inverse_mass[4 * 6 + 3] = 0.4;
  p.block_start = {0, 2, 4, 6};
  for (const std::int32_t body : {0, 1, 2, 0, 1, 2}) {
    JacobianBlock block{body, {}};
    for (std::size_t k = 0; k < 18; ++k) block.rows[k] = draw.number();
    p.jacobian.push_back(block);
  }
  for (std::size_t k = 2; k < 4; ++k) std::fill_n(p.jacobian[k].rows.begin() + 6, 6, 0.0);  // an empty row
  p.f = draw.list(18), p.w = draw.list(9);
  p.w[4] = 0;
  return p;
}

TEST(Fclib, BodiesAreWrittenAsAGlobalProblemWithoutWhatCannotMove) {
  const ScratchFolder folder("fclib_bodies");
  FclibFile file;
  file.problem = three_bodies();
  const std::vector<double> r{1, 2, 3, 4, 0, 6, 7, 8, 9}, u(9, 0.5);
  file.solution = to_fclib(file.problem, r, u);
  EXPECT_EQ(file.solution.l, (std::vector<double>{4, 6}));
  write_fclib(folder / "b.hdf5", file);
  const FclibFile back = read_fclib(folder / "b.hdf5");
  ASSERT_EQ(back.problem.f.size(), 11u);
  ASSERT_EQ(back.solution.v.size(), 11u);

  // The joint follows the contacts.
  const std::vector<std::int32_t> order{0, 1, 2, 6, 7, 8, 3, 5};
  const ContactProblem ours = to_local(file.problem), theirs = to_local(back.problem);
  const auto w = dense(ours.W), v = dense(theirs.W);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto a = static_cast<std::size_t>(order[i]);
    EXPECT_NEAR(ours.q[a], theirs.q[i], 1e-12);
    for (std::size_t j = 0; j < order.size(); ++j)
      EXPECT_NEAR(w[a][static_cast<std::size_t>(order[j])], v[i][j], 1e-12);
  }
  const std::vector<double> velocity = velocities(back.problem, back.problem.solution);
  for (std::size_t k = 0; k < velocity.size(); ++k) EXPECT_NEAR(velocity[k], back.solution.v[k], 1e-12);
}

TEST(Fclib, ComplianceOfALocalProblemGoesIntoW) {
  const ScratchFolder folder("fclib_compliance");
  FclibFile file = random_local(3, 2, 3);
  for (BlockLaw& law : file.problem.laws) law.compliance = 0.25;
  write_fclib(folder / "c.hdf5", file);
  const auto soft = dense(read_fclib(folder / "c.hdf5").problem.W), stiff = dense(file.problem.W);
  for (std::size_t i = 0; i < soft.size(); ++i) EXPECT_EQ(soft[i][i], stiff[i][i] + 0.25);
}

TEST(Fclib, RefusesToWriteWhatItCannotSay) {
  const ScratchFolder folder("fclib_refuse");
  const auto refused = [&](const auto& change, const char* part, bool local = false) {
    FclibFile file = local ? random_local(1, 2, 3) : random_global(1, 2, 3);
    change(file.problem);
    try {
      write_fclib(folder / "x.hdf5", file);
      ADD_FAILURE() << part;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("x.hdf5"), std::string::npos) << error.what();
    }
    EXPECT_EQ(folder.files(), 0u);
  };
  refused([](ContactProblem& p) { p.laws[1].mu[1] += 1; }, "block 1 has an elliptic cone");
  refused([](ContactProblem& p) { p.laws[1].set = FrictionSet::box; }, "pyramid");
  refused([](ContactProblem& p) { p.laws[1].flow = FlowRule::associated; }, "associated");
  refused([](ContactProblem& p) { p.laws[1].cohesion = 1; }, "cohesion", true);
  refused([](ContactProblem& p) { p.laws[2].compliance = 1; }, "compliance");
  refused([](ContactProblem& p) { p.dim = 4; }, "contacts of 4 rows");
  EXPECT_THROW(write_fclib(folder / "no/folder/x.hdf5", random_local(1, 2, 0)), InputError);
  EXPECT_THROW(write_fclib(folder.root, random_local(1, 2, 0)), InputError);
  FclibFile wrong = random_local(1, 2, 0);
  wrong.solution.r = {1, 2};
  EXPECT_THROW(write_fclib(folder / "x.hdf5", wrong), std::invalid_argument);
  EXPECT_EQ(folder.files(), 0u);
}

TEST(Fclib, SharedProblemsRoundTrip) {
  const auto files = testing::shared_files("fclib", ".hdf5");
  if (files.empty()) GTEST_SKIP() << "no shared/data/fclib";
  const ScratchFolder folder("fclib_shared");
  for (const auto& path : files) {
    SCOPED_TRACE(path.string());
    const FclibFile file = read_fclib(path);
    EXPECT_GT(file.problem.contacts(), 0u);
    for (const FclibStorage storage : kStorages) {
      write_fclib(folder / "copy.hdf5", file, storage);
      expect_same(read_fclib(folder / "copy.hdf5"), file);
    }
  }
}

}  // namespace
}  // namespace stickslip
