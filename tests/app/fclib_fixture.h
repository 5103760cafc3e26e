// Small contact problems, and files with them.
#pragma once

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "app/io/fclib/fclib.h"
#include "app/io/fclib/hdf5_file.h"

namespace stickslip::testing {

/// A temporary folder, removed by the destructor.
struct ScratchFolder {
  std::filesystem::path root;

  explicit ScratchFolder(const std::string& name)
      : root(std::filesystem::temp_directory_path() /
             ("stickslip_" + name + "_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(root);
  }
  ~ScratchFolder() { std::filesystem::remove_all(root); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return root / name; }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(root), {}));
  }
};

inline SparseRows sparse(const std::vector<std::vector<double>>& dense) {
  SparseRows a{
      static_cast<std::int32_t>(dense.size()), static_cast<std::int32_t>(dense[0].size()), {0}, {}, {}};
  for (const std::vector<double>& row : dense) {
    for (std::size_t k = 0; k < row.size(); ++k)
      if (row[k] != 0) a.indices.push_back(static_cast<std::int32_t>(k)), a.values.push_back(row[k]);
    a.offsets.push_back(static_cast<std::int32_t>(a.values.size()));
  }
  return a;
}

inline std::vector<std::vector<double>> dense(const SparseRows& a) {
  std::vector<std::vector<double>> d(static_cast<std::size_t>(a.rows),
                                     std::vector<double>(static_cast<std::size_t>(a.columns), 0.0));
  for (std::int32_t row = 0; row < a.rows; ++row)
    for (std::int32_t k = a.offsets[row]; k < a.offsets[row + 1]; ++k)
      d[static_cast<std::size_t>(row)][static_cast<std::size_t>(a.indices[k])] += a.values[k];
  return d;
}

/// Random numbers for problems. Each may be zero, so that matrices are sparse.
class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  double number() { return std::uniform_real_distribution<double>(-1, 1)(engine_); }
  double sparse_number(double share) { return std::bernoulli_distribution(share)(engine_) ? number() : 0; }
  std::vector<double> list(std::size_t count) {
    std::vector<double> values(count);
    for (double& x : values) x = number();
    return values;
  }

 private:
  std::mt19937 engine_;
};

inline std::vector<BlockLaw> coulomb_laws(Draw& draw, std::size_t contacts, std::size_t joints) {
  std::vector<BlockLaw> laws(contacts + joints);
  for (std::size_t c = 0; c < laws.size(); ++c) {
    const double mu = c == 0 ? 0 : 1 + draw.number();
    if (c < contacts) laws[c].mu = {mu, mu, 0};
    else laws[c].set = FrictionSet::bilateral;
  }
  return laws;
}

/// A problem in the global form: `contacts` contacts, then `equalities` equalities, then rows that fill the
/// last block.
inline FclibFile random_global(unsigned seed, std::size_t contacts, std::size_t equalities) {
  Draw draw(seed);
  const std::size_t dofs = 3 * contacts + equalities + 2, blocks = contacts + (equalities + 2) / 3;
  FclibFile file;
  ContactProblem& p = file.problem;
  p.title = "random", p.description = "global\nof two lines \xa8";
  p.form = ContactProblem::Form::global;
  p.laws = coulomb_laws(draw, contacts, blocks - contacts);
  std::vector<std::vector<double>> a(dofs, std::vector<double>(dofs, 0.0)),
      h(3 * blocks, std::vector<double>(dofs));
  for (std::size_t i = 0; i < dofs; ++i) {
    a[i][i] = 10;
    for (std::size_t j = 0; j < i; ++j) a[i][j] = a[j][i] = draw.sparse_number(0.1);
  }
  for (std::size_t i = 0; i < 3 * contacts + equalities; ++i)
    for (std::size_t j = 0; j < dofs; ++j) h[i][j] = i == j ? 1 + draw.number() / 2 : draw.sparse_number(0.3);
  p.A = sparse(a), p.H = sparse(h);
  p.f = draw.list(dofs), p.w = draw.list(3 * contacts + equalities);
  p.w.resize(3 * blocks);
  return file;
}

/// Adds a skew part to A, as large as a third of its diagonal: A becomes unsymmetric, v' A v is unchanged.
inline void add_skew(ContactProblem& problem, unsigned seed) {
  Draw draw(seed);
  std::vector<std::vector<double>> a = dense(problem.A);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const double skew = draw.sparse_number(0.3) * std::sqrt(a[i][i] * a[j][j]) / 3;
      a[i][j] += skew;
      a[j][i] -= skew;
    }
  problem.A = sparse(a);
}

inline FclibFile random_local(unsigned seed, std::size_t contacts, std::size_t equalities) {
  FclibFile file = random_global(seed, contacts, equalities);
  const std::vector<std::vector<double>> h = dense(file.problem.H);
  std::vector<std::vector<double>> w(h.size(), std::vector<double>(h.size(), 0.0));
  for (std::size_t i = 0; i < h.size(); ++i)
    for (std::size_t j = 0; j < h.size(); ++j)
      for (std::size_t k = 0; k < h[i].size(); ++k) w[i][j] += h[i][k] * h[j][k];
  ContactProblem& p = file.problem;
  p.form = ContactProblem::Form::local;
  p.W = sparse(w), p.q = std::move(p.w);
  p.A = p.H = {}, p.f = {}, p.w = {};
  return file;
}

/// Adds a solution and a guess as a reader would.
inline void add_impulses(FclibFile& file, unsigned seed) {
  Draw draw(seed);
  ContactProblem& p = file.problem;
  const FclibRows rows = fclib_rows(p);
  const auto some = [&] {
    std::vector<double> r = draw.list(p.size());
    for (std::size_t k = rows.contacts.size() + rows.equalities.size(); k < r.size(); ++k) r[k] = 0;
    return r;
  };
  p.solution = some(), p.guess = some();
  file.solution = to_fclib(p, p.solution, some());
  file.guesses = {to_fclib(p, p.guess, some()), to_fclib(p, some(), some())};
  file.math_info = "none";
}

/// The datasets of a file, for editing and writing again.
struct RawFile {
  using Value = std::variant<std::vector<std::int32_t>, std::vector<double>, std::string>;
  std::map<std::string, Value> data;

  std::vector<std::int32_t>& integers(const std::string& name) {
    return std::get<std::vector<std::int32_t>>(data.at(name));
  }
  std::vector<double>& reals(const std::string& name) { return std::get<std::vector<double>>(data.at(name)); }

  void write(const std::filesystem::path& path) const {
    Hdf5Writer file(path);
    std::set<std::string> groups;
    for (const auto& [name, value] : data) {
      for (std::size_t end = name.find('/', 1); end != std::string::npos; end = name.find('/', end + 1))
        if (groups.insert(name.substr(0, end)).second) file.group(name.substr(0, end));
      if (const auto* whole = std::get_if<std::vector<std::int32_t>>(&value)) file.integers(name, *whole);
      else if (const auto* real = std::get_if<std::vector<double>>(&value)) file.reals(name, *real);
      else file.text(name, std::get<std::string>(value));
    }
    file.commit();
  }
};

/// Two contacts with coupled normals.
inline RawFile small_local() {
  RawFile file;
  file.data = {{"/fclib_local/spacedim", std::vector<std::int32_t>{3}},
               {"/fclib_local/vectors/mu", std::vector<double>{0.5, 0.25}},
               {"/fclib_local/vectors/q", std::vector<double>{-1, 0, 0, -1, 0.5, 0}},
               {"/fclib_local/W/m", std::vector<std::int32_t>{6}},
               {"/fclib_local/W/n", std::vector<std::int32_t>{6}},
               {"/fclib_local/W/nz", std::vector<std::int32_t>{-2}},
               {"/fclib_local/W/nzmax", std::vector<std::int32_t>{8}},
               {"/fclib_local/W/p", std::vector<std::int32_t>{0, 2, 3, 4, 6, 7, 8}},
               {"/fclib_local/W/i", std::vector<std::int32_t>{0, 3, 1, 2, 0, 3, 4, 5}},
               {"/fclib_local/W/x", std::vector<double>{2, 1, 2, 2, 1, 2, 2, 2}},
               {"/fclib_local/info/title", std::string("two")},
               {"/solution/r", std::vector<double>{1, 0, 0, 1, 0, 0}},
               {"/guesses/number_of_guesses", std::vector<std::int32_t>{1}},
               {"/guesses/1/r", std::vector<double>{0, 0, 0, 0, 0, 0}}};
  return file;
}

}  // namespace stickslip::testing
