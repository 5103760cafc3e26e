#include <stdexcept>
#include <utility>

#include "app/io/fclib/fclib.h"
#include "app/io/fclib/hdf5_file.h"
#include "app/io/file/input_error.h"

namespace stickslip {
namespace {

/// A group of the format: what it holds.
struct Group {
  const char* root;
  bool local;
  std::size_t dim;  // rows of a contact
};
constexpr Group kGroups[] = {{"/fclib_local", true, 3},
                             {"/fclib_global", false, 3},
                             {"/fclib_local_rolling", true, kRollingRows},
                             {"/fclib_global_rolling", false, kRollingRows}};

/// Reads one file into a problem.
class FclibReader {
 public:
  explicit FclibReader(const std::filesystem::path& path) : name_(path.string()), file_(path) {}

  FclibFile read() {
    const Group& group = find_group();
    root_ = group.root;
    dim_ = group.dim;
    problem_.dim = static_cast<int>(dim_);
    check_space();
    read_laws();
    if (group.local) read_local();
    else read_global();
    if (problem_.laws.empty()) file_.fail(root_, "has neither contacts nor equalities");
    read_info();
    if (file_.has("/solution")) content_.solution = read_solution("/solution");
    if (file_.has("/guesses")) read_guesses();
    problem_.solution = all_rows(content_.solution);
    if (!content_.guesses.empty()) problem_.guess = all_rows(content_.guesses[0]);
    try {
      check(problem_);
    } catch (const std::invalid_argument& error) {
      throw InputError(name_ + ": " + root_ + ": " + error.what());
    }
    return std::move(content_);
  }

 private:
  const Group& find_group() const {
    const Group* found = nullptr;
    for (const Group& group : kGroups) {
      if (!file_.has(group.root)) continue;
      if (found != nullptr) throw InputError(name_ + ": holds both " + found->root + " and " + group.root);
      found = &group;
    }
    if (found == nullptr)
      throw InputError(name_ +
                       ": is no FCLIB file: none of /fclib_local, /fclib_global, /fclib_local_rolling and "
                       "/fclib_global_rolling is in it");
    return *found;
  }
  bool rolls() const { return dim_ == kRollingRows; }

  std::string at(const std::string& name) const { return root_ + "/" + name; }

  void check_space() {
    const std::int32_t space = file_.integer(at("spacedim"));
    if (space == (rolls() ? 3 : 2))
      file_.fail(at("spacedim"), "= " + std::to_string(space) + ": planar problems are not supported");
    if (space != problem_.dim)
      file_.fail(at("spacedim"), "= " + std::to_string(space) + ", not " + std::to_string(problem_.dim));
  }

  void read_laws() {
    const std::vector<double> mu = coefficients("vectors/mu");
    contacts_ = mu.size();
    problem_.laws.resize(contacts_);
    for (std::size_t c = 0; c < contacts_; ++c) problem_.laws[c].mu = {mu[c], mu[c], 0, 0};
    if (!rolls()) return;
    const std::vector<double> rolling = coefficients("vectors/mu_r");
    if (rolling.size() != contacts_)
      file_.fail(at("vectors/mu_r"), "has " + std::to_string(rolling.size()) + " values, not " +
                                         std::to_string(contacts_) + ": one for each value of mu");
    for (std::size_t c = 0; c < contacts_; ++c) {
      problem_.laws[c].set = FrictionSet::rolling;
      problem_.laws[c].mu[2] = problem_.laws[c].mu[3] = rolling[c];
    }
  }

  std::vector<double> coefficients(const std::string& name) {
    std::vector<double> values = file_.reals(at(name));
    for (std::size_t c = 0; c < values.size(); ++c)
      if (values[c] < 0)
        file_.fail(at(name + "[" + std::to_string(c) + "]"),
                   "= " + std::to_string(values[c]) + " is negative");
    return values;
  }

  /// A list of a known length; messages give `why` as the reason for it.
  std::vector<double> vector(const std::string& path, std::size_t length, const char* why) {
    std::vector<double> values = file_.reals(path);
    if (values.size() != length)
      file_.fail(path, "has " + std::to_string(values.size()) + " values, not " + std::to_string(length) +
                           ": " + why);
    return values;
  }
  std::vector<double> contact_vector(const std::string& path) {
    return vector(path, dim_ * contacts_,
                  rolls() ? "five for each value of mu" : "three for each value of mu");
  }

  SparseRows matrix(const std::string& name, FclibShape expected, bool transposed) {
    const std::string path = at(name);
    FclibMatrix m;
    m.m = file_.integer(path + "/m"), m.n = file_.integer(path + "/n");
    m.nz = file_.integer(path + "/nz"), m.nzmax = file_.integer(path + "/nzmax");
    m.p = file_.integers(path + "/p"), m.i = file_.integers(path + "/i");
    m.x = file_.reals(path + "/x");
    return checked_rows(m, expected, transposed, name_ + ": " + path);
  }

  /// Whether the datasets of equalities exist; all or none must.
  bool has_all(std::initializer_list<const char*> names) {
    std::size_t there = 0;
    for (const char* name : names) there += file_.has(at(name)) ? 1 : 0;
    if (there == 0 || there == names.size()) return there > 0;
    for (const char* name : names)
      if (!file_.has(at(name))) file_.fail(at(name), "is missing beside the other data of equalities");
    return false;
  }

  /// Adds bilateral blocks for the equalities; returns the number of empty rows that pad the last block.
  std::size_t add_equalities(std::size_t count) {
    equalities_ = count;
    const std::size_t blocks = (count + dim_ - 1) / dim_;
    BlockLaw bilateral;
    bilateral.set = FrictionSet::bilateral;
    problem_.laws.resize(contacts_ + blocks, bilateral);
    return dim_ * blocks - count;
  }

  void read_local() {
    problem_.form = ContactProblem::Form::local;
    const std::size_t rows = dim_ * contacts_;
    problem_.q = contact_vector(at("vectors/q"));
    problem_.W = matrix("W", {rows, rows}, false);
    if (!has_all({"V", "R", "vectors/s"})) return;
    const std::vector<double> s = file_.reals(at("vectors/s"));
    const SparseRows v = matrix("V", {rows, s.size()}, false), r = matrix("R", {s.size(), s.size()}, false);
    const std::size_t padding = add_equalities(s.size());
    problem_.q.insert(problem_.q.end(), s.begin(), s.end());
    problem_.q.resize(problem_.q.size() + padding);
    check_total(problem_.W.values.size() + 2 * v.values.size() + r.values.size());
    join_equalities(problem_.W, v, r, padding);
  }

  void check_total(std::size_t entries) {
    if (!std::in_range<std::int32_t>(entries))
      file_.fail(root_, "has more than 2^31 entries in its matrices");
  }

  /// [W V; V' R], padded with empty rows and columns.
  static void join_equalities(SparseRows& w, const SparseRows& v, const SparseRows& r, std::size_t padding) {
    SparseRows all{w.rows + r.rows + static_cast<std::int32_t>(padding), 0, {0}, {}, {}};
    all.columns = all.rows;
    const auto add_row = [&all](const SparseRows& part, std::int32_t row, std::int32_t shift) {
      for (std::int32_t k = part.offsets[row]; k < part.offsets[row + 1]; ++k) {
        all.indices.push_back(part.indices[k] + shift);
        all.values.push_back(part.values[k]);
      }
    };
    const auto end_row = [&all] { all.offsets.push_back(static_cast<std::int32_t>(all.values.size())); };
    for (std::int32_t row = 0; row < w.rows; ++row) add_row(w, row, 0), add_row(v, row, w.rows), end_row();
    const SparseRows across = transpose(v);
    for (std::int32_t row = 0; row < r.rows; ++row)
      add_row(across, row, 0), add_row(r, row, w.rows), end_row();
    for (std::size_t k = 0; k < padding; ++k) end_row();
    w = std::move(all);
  }

  void read_global() {
    problem_.form = ContactProblem::Form::global;
    problem_.f = file_.reals(at("vectors/f"));
    const std::size_t dofs = problem_.f.size();
    if (dofs == 0) file_.fail(at("vectors/f"), "is empty: the problem has no degrees of freedom");
    problem_.w = contact_vector(at("vectors/w"));
    problem_.A = matrix("M", {dofs, dofs}, false);
    problem_.H = matrix("H", {dofs, dim_ * contacts_}, true);
    if (!has_all({"G", "vectors/b"})) return;
    const std::vector<double> b = file_.reals(at("vectors/b"));
    const SparseRows g = matrix("G", {dofs, b.size()}, true);
    const std::size_t padding = add_equalities(b.size());
    problem_.w.insert(problem_.w.end(), b.begin(), b.end());
    problem_.w.resize(problem_.w.size() + padding);
    SparseRows& h = problem_.H;
    check_total(h.values.size() + g.values.size());
    for (std::int32_t row = 1; row <= g.rows; ++row) h.offsets.push_back(h.offsets[h.rows] + g.offsets[row]);
    h.offsets.resize(h.offsets.size() + padding, h.offsets.back());
    h.rows = static_cast<std::int32_t>(h.offsets.size()) - 1;
    h.indices.insert(h.indices.end(), g.indices.begin(), g.indices.end());
    h.values.insert(h.values.end(), g.values.begin(), g.values.end());
  }

  std::string optional_text(const std::string& path) { return file_.has(path) ? file_.text(path) : ""; }

  void read_info() {
    problem_.title = optional_text(at("info/title"));
    problem_.description = optional_text(at("info/description"));
    content_.math_info = optional_text(at("info/math_info"));
  }

  FclibSolution read_solution(const std::string& group) {
    FclibSolution s;
    const bool global = problem_.form == ContactProblem::Form::global;
    // A local problem does not determine the length of v.
    if (file_.has(group + "/v"))
      s.v = global ? vector(group + "/v", problem_.f.size(), "as many as f") : file_.reals(group + "/v");
    if (file_.has(group + "/u")) s.u = contact_vector(group + "/u");
    if (file_.has(group + "/r")) s.r = contact_vector(group + "/r");
    if (file_.has(group + "/l")) s.l = vector(group + "/l", equalities_, "one for each equality");
    return s;
  }

  void read_guesses() {
    const std::int32_t count = file_.integer("/guesses/number_of_guesses");
    if (count < 0) file_.fail("/guesses/number_of_guesses", "= " + std::to_string(count) + " is negative");
    for (std::int32_t k = 1; k <= count; ++k) {
      const std::string group = "/guesses/" + std::to_string(k);
      if (!file_.has(group)) file_.fail(group, "is missing: number_of_guesses = " + std::to_string(count));
      content_.guesses.push_back(read_solution(group));
    }
  }

  /// Impulses of all blocks; empty if the file has none.
  std::vector<double> all_rows(const FclibSolution& s) const {
    if (s.r.empty() && s.l.empty()) return {};
    std::vector<double> r = s.r;
    r.resize(dim_ * contacts_);
    r.insert(r.end(), s.l.begin(), s.l.end());
    r.resize(problem_.size());
    return r;
  }

  std::string name_, root_;
  Hdf5Reader file_;
  FclibFile content_;
  ContactProblem& problem_ = content_.problem;
  std::size_t dim_ = 3;  // rows of a block
  std::size_t contacts_ = 0, equalities_ = 0;
};

}  // namespace

FclibFile read_fclib(const std::filesystem::path& file) { return FclibReader(file).read(); }

}  // namespace stickslip
