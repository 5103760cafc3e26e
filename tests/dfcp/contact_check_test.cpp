// Every kind of bad input gives a message with the place and the valid values.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

#include "tests/fixtures/contact_problems.h"

namespace stickslip {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kHuge = 1e101;

ContactProblem named(const std::string& name) { return fixtures::known_contact(name).problem; }
ContactProblem local() { return named("slide_full_w"); }
ContactProblem bodies() { return named("two_stacked"); }
ContactProblem global() { return named("coupled_nodes"); }

struct BadCase {
  std::function<ContactProblem()> make;
  std::function<void(ContactProblem&)> spoil;
  std::vector<std::string> words;  // words that the message must contain
};

void expect_messages(const std::vector<BadCase>& cases) {
  for (const BadCase& bad : cases) {
    SCOPED_TRACE(bad.words.front());
    ContactProblem p = bad.make();
    ASSERT_NO_THROW(check(p));
    bad.spoil(p);
    try {
      check(p);
      ADD_FAILURE() << "accepted";
    } catch (const std::invalid_argument& error) {
      for (const std::string& word : bad.words)
        EXPECT_NE(std::string(error.what()).find(word), std::string::npos)
            << word << " is not in: " << error.what();
    }
  }
}

TEST(ContactCheck, LawsAndSizes) {
  expect_messages({
      {local, [](auto& p) { p.laws.clear(); }, {"empty", "at least one contact"}},
      {local, [](auto& p) { p.dim = 2; }, {"dim is 2", "must be 3, or 4"}},
      {local, [](auto& p) { p.laws[0].mu[1] = -0.5; }, {"mu of block 0, tangent 2, is -0.5", "not negative"}},
      {local, [](auto& p) { p.laws[0].mu[0] = kNaN; }, {"mu of block 0, tangent 1, is nan"}},
      {bodies, [](auto& p) { p.laws[1].mu[0] = kInfinity; }, {"mu of block 1", "inf", "finite"}},
      {local, [](auto& p) { p.laws[0].cohesion = -1; }, {"cohesion of block 0 is -1"}},
      {local, [](auto& p) { p.laws[0].compliance = -1; }, {"compliance of block 0 is -1"}},
      {local,
       [](auto& p) {
         p.laws[0].set = FrictionSet::bilateral;
         p.laws[0].cohesion = 1;
       },
       {"cohesion of block 0", "bilateral", "must be 0"}},
      {local, [](auto& p) { p.q.pop_back(); }, {"q has 2 entries and needs 3"}},
      {local, [](auto& p) { p.q[1] = kNaN; }, {"q[1] is nan", "finite"}},
      {local, [](auto& p) { p.guess.assign(2, 0.0); }, {"guess has 2 entries and needs 3"}},
      {local, [](auto& p) { p.solution.assign(3, kInfinity); }, {"solution[0] is inf"}},
      {local, [](auto& p) { p.laws.resize(2); }, {"W is 3 x 3 and must be 6 x 6"}},
  });
}

TEST(ContactCheck, CompressedRows) {
  expect_messages({
      {local, [](auto& p) { p.W.rows = 2; }, {"W is 2 x 3 and must be 3 x 3"}},
      {local, [](auto& p) { p.W.offsets.pop_back(); }, {"W.offsets has 3 entries", "rows + 1 = 4"}},
      {local, [](auto& p) { p.W.offsets[0] = 1; }, {"W.offsets[0] is 1 and must be 0"}},
      {local, [](auto& p) { p.W.offsets[1] = 8; }, {"W.offsets[2] is 6, less than 8"}},
      {local, [](auto& p) { p.W.values.pop_back(); }, {"9 indices and 8 values", "end at 9"}},
      {local, [](auto& p) { p.W.indices[5] = 3; }, {"W, row 1: column 3 is outside [0, 3)"}},
      {local, [](auto& p) { p.W.indices[0] = -1; }, {"W, row 0: column -1"}},
      {local, [](auto& p) { p.W.indices[4] = 0; }, {"W, row 1: column 0 comes after column 0", "ascend"}},
      {local, [](auto& p) { p.W.values[4] = kNaN; }, {"W(1, 1) is nan"}},
      {global, [](auto& p) { p.H.columns = 5; }, {"H is 6 x 5 and must be 6 x 6"}},
      {global, [](auto& p) { p.f.pop_back(); }, {"f has 5 entries and needs 6"}},
      {global, [](auto& p) { p.w.pop_back(); }, {"w has 5 entries and needs 6"}},
      {global, [](auto& p) { p.w[3] = kNaN; }, {"w[3] is nan"}},
      {global, [](auto& p) { p.A = {}; }, {"A has no rows"}},
  });
}

TEST(ContactCheck, SymmetryAndDefiniteness) {
  expect_messages({
      {local,
       [](auto& p) { p.W.values[1] = 0.9; },
       {"W is not symmetric", "W(1, 0) is 0.5", "W(0, 1) is 0.9", "2"}},
      {global, [](auto& p) { p.A.values[0] = 0; }, {"A(0, 0) is 0", "must be positive"}},
      {local, [](auto& p) { p.W.values[4] = -1; }, {"W(1, 1) is -1", "must not be negative"}},
      {local,
       [](auto& p) { p.W.values[1] = p.W.values[3] = 2; },
       {"W is not positive semidefinite", "eigenvalue"}},
  });
  // A symmetric pair with one entry missing, below or above the diagonal.
  for (const int gone : {2, 6}) {
    ContactProblem p = local();
    p.W.indices.erase(p.W.indices.begin() + gone);
    p.W.values.erase(p.W.values.begin() + gone);
    for (int row = gone / 3 + 1; row <= 3; ++row) --p.W.offsets[row];
    try {
      check(p);
      ADD_FAILURE() << gone;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find("W(2, 0)"), std::string::npos) << error.what();
    }
  }
  // An unsymmetric A is used unchanged.
  ContactProblem skew = global();
  skew.A.values[1] = -2;
  EXPECT_NO_THROW(check(skew));
  // The comparison is relative to the two rows, not to the largest entry.
  ContactProblem mixed = local();
  mixed.laws.resize(2);
  mixed.q.resize(6, 0.0);
  mixed.W = fixtures::dense_rows(6, {2,   0.5, -0.3, 0, 0,    0,  //
                                     0.5, 1.5, 0.2,  0, 0,    0,  //
                                     -.3, 0.2, 1,    0, 0,    0,  //
                                     0,   0,   0,    1, 0,    0,  //
                                     0,   0,   0,    0, 1e-4, 0,  //
                                     0,   0,   0,    0, 0,    1e-4});
  EXPECT_NO_THROW(check(mixed));
  mixed.W.values[4 * 6 + 5] = 5e-5;
  EXPECT_DOUBLE_EQ(asymmetry_of(mixed.W).relative, 0.5);
  EXPECT_TRUE(!asymmetry_of(mixed.W).one_sided);
  EXPECT_THROW(check(mixed), std::invalid_argument);
  // Asymmetries of the size found in published sets are accepted, and so is a singular W.
  ContactProblem p = local();
  p.W.values[1] += 4e-3;
  EXPECT_NO_THROW(check(p));
  p.W.values.assign(9, 1.0);
  EXPECT_NO_THROW(check(p));
}

/// Their squares, which residuals contain, would be infinite.
TEST(ContactCheck, AbsurdMagnitudes) {
  expect_messages({
      {local, [](auto& p) { p.laws[0].mu[0] = kHuge; }, {"mu of block 0", "1e100"}},
      {local, [](auto& p) { p.laws[0].cohesion = kHuge; }, {"cohesion of block 0", "1e100"}},
      {local, [](auto& p) { p.laws[0].compliance = kHuge; }, {"compliance of block 0", "1e100"}},
      {local, [](auto& p) { p.q[1] = -kHuge; }, {"q[1] is -1e+101", "1e100"}},
      {local, [](auto& p) { p.W.values[4] = kHuge; }, {"W(1, 1)", "1e100"}},
      {local, [](auto& p) { p.guess.assign(3, kHuge); }, {"guess[0]", "1e100"}},
      {global, [](auto& p) { p.f[0] = kHuge; }, {"f[0]", "1e100"}},
      {global, [](auto& p) { p.w[2] = kHuge; }, {"w[2]", "1e100"}},
      {global, [](auto& p) { p.A.values[0] = kHuge; }, {"A(0, 0)", "1e100"}},
      {bodies, [](auto& p) { p.inverse_mass[0] = kHuge; }, {"inverse_mass[0]", "1e100"}},
      {bodies, [](auto& p) { p.jacobian[0].rows[0] = kHuge; }, {"jacobian[0].rows[0]", "1e100"}},
  });
}

TEST(ContactCheck, Bodies) {
  expect_messages({
      {bodies, [](auto& p) { p.body_dofs = 5; }, {"body_dofs is 5", "6 (rigid bodies) or 3"}},
      {bodies,
       [](auto& p) { p.inverse_mass.pop_back(); },
       {"inverse_mass has 17 entries and needs 9 for each"}},
      {bodies, [](auto& p) { p.inverse_mass.clear(); }, {"inverse_mass has 0 entries"}},
      {bodies, [](auto& p) { p.inverse_mass[9] = kNaN; }, {"inverse_mass[9] is nan"}},
      {bodies,
       [](auto& p) { p.inverse_mass[10] = 0.01; },
       {"inverse_mass of body 1 is not symmetric", "0.01"}},
      {bodies, [](auto& p) { p.inverse_mass[13] = -0.1; }, {"inverse_mass of body 1", "pivot 1 is -0.1"}},
      {bodies,
       [](auto& p) { p.inverse_mass[1] = p.inverse_mass[3] = 2; },
       {"inverse_mass of body 0 is not positive semidefinite"}},
      {bodies,  // [[0, 1], [1, 0]] has no negative pivot
       [](auto& p) {
         p.inverse_mass[0] = p.inverse_mass[4] = 0;
         p.inverse_mass[1] = p.inverse_mass[3] = 1;
       },
       {"inverse_mass of body 0 is not positive semidefinite", "pivot 0 is 0", "entry of 1"}},
      {bodies, [](auto& p) { p.f.pop_back(); }, {"f has 5 entries and needs 6"}},
      {bodies, [](auto& p) { p.block_start.pop_back(); }, {"block_start has 2 entries and needs 3"}},
      {bodies, [](auto& p) { p.block_start[0] = 1; }, {"block_start[0] is 1 and must be 0"}},
      {bodies, [](auto& p) { p.block_start[1] = 4; }, {"block_start[2] is 3, less than 4"}},
      {bodies, [](auto& p) { p.jacobian.pop_back(); }, {"jacobian has 2 entries and needs 3"}},
      {bodies,
       [](auto& p) { p.jacobian[2].body = 2; },
       {"jacobian[2] of block 1 names body 2, outside [0, 2)"}},
      {bodies, [](auto& p) { p.jacobian[2].body = 0; }, {"block 1 names body 0 a second time"}},
      {bodies, [](auto& p) { p.jacobian[1].rows[4] = kInfinity; }, {"jacobian[1].rows[4] of block 1 is inf"}},
  });
}

}  // namespace
}  // namespace stickslip
