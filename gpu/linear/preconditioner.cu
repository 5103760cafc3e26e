#include "gpu/linear/preconditioner.cuh"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "gpu/core/reduce.h"
#include "gpu/linear/node_groups.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

constexpr int kMostLevels = 4;
// Nodes in a group of two_level at most, but at least so many that there are no more groups than this.
constexpr std::size_t kGroupNodes = 48, kMostGroups = 512;
constexpr std::int64_t kMostFactorValues = 50'000'000;
// What multiplications of factors cost beside one of PCG, on a processor with AVX-512: they work on single
// precision, and the factorisation on tiles in registers.
constexpr double kBuildWeight = 0.35, kSolveWeight = 0.4;

/// What the domains of all levels give to a node.
struct Corrections {
  const Vec3* z[kMostLevels];
  const std::int32_t* slot[kMostLevels];
  int count = 0;

  template <int Size>
  void add(const Domains<Size>& domains, std::size_t n) {
    for (int level = 0; level < domains.levels(); ++level, ++count) {
      z[count] = domains.z();
      slot[count] = domains.slot_of_node() + static_cast<std::size_t>(level) * n;
    }
  }
  SS_HD Vec3 at(std::size_t i) const {
    Vec3 sum = Vec3::zero();
    for (int k = 0; k < count; ++k) sum += z[k][slot[k][i]];
    return sum;
  }
};

/// The inverses of the diagonal blocks; zero at fixed nodes and members of chains (may be null), and at all
/// unless `used`. `none`: the identity instead.
void invert_diagonal(Context& ctx, const SplitMatrix& matrix, const std::uint8_t* fixed,
                     const std::uint8_t* in_chain, const std::uint8_t* in_factor, bool none, bool used,
                     Symmetric3* inverse) {
  const Mat3* diagonal = matrix.reduced_diagonal();
  launch(
      ctx, matrix.node_count(),
      [=] SS_LAMBDA(std::size_t i) {
        const Symmetric3 zero{0, 0, 0, 0, 0, 0}, one{1, 0, 1, 0, 0, 1};
        const bool is_absent = fixed != nullptr && fixed[i] != 0;
        const bool is_elsewhere =
            (in_chain != nullptr && in_chain[i] != 0) || (in_factor != nullptr && in_factor[i] != 0);
        inverse[i] = is_absent || is_elsewhere || !used ? zero : none ? one : inverse_spd(diagonal[i]);
      },
      kMedium);
}

}  // namespace

void Preconditioner::set_positions(std::span<const Vec3> positions) {
  positions_.assign(positions.begin(), positions.end());
  threes_.forget_plan();
  nines_.forget_plan();
  levels_.forget_plan();
  coarse_.forget_plan();
}

void Preconditioner::set_chains(std::vector<std::vector<std::int32_t>> chains) {
  chain_nodes_ = std::move(chains);
  chains_.forget_plan();
  factors_.forget_plan();
  knows_factors_ = false;
}

void Preconditioner::build(Context& ctx, const SplitMatrix& matrix, const PreconditionerSettings& settings,
                           const std::uint8_t* fixed, const Vec3* x) {
  const PreconditionerKind kind =
      settings.kind == PreconditionerKind::automatic ? PreconditionerKind::block_jacobi : settings.kind;
  const bool additive = kind == PreconditionerKind::additive;
  const AdditiveBlocks blocks = settings.additive_blocks;
  fixed_ = fixed;
  bodies_.clear();
  if (matrix.embedding() != nullptr && kind != PreconditionerKind::none) {
    bodies_.build(ctx, *matrix.embedding(), matrix.body_blocks(), fixed);
    fixed_ = bodies_.absent();
  }
  uses_threes_ = additive && blocks != AdditiveBlocks::b3_27;
  uses_nines_ = additive && blocks != AdditiveBlocks::b3_9;
  const bool links_contacts = kind == PreconditionerKind::multilevel_contacts;
  if (links_contacts != links_contacts_ && levels_.has_plan()) {
    ctx.synchronize();
    levels_.forget_plan();
  }
  links_contacts_ = links_contacts;
  uses_levels_ = kind == PreconditionerKind::multilevel || links_contacts;
  uses_factors_ = build_factors(ctx, matrix, settings.kind);
  uses_coarse_ = kind == PreconditionerKind::two_level;
  uses_chains_ = !chain_nodes_.empty() && kind != PreconditionerKind::none;
  if (uses_chains_) build_chains(ctx, matrix);
  // An inverse, and the coarse space, contain all motions of an object.
  uses_modes_ = modes_ != nullptr && !modes_->empty() && kind != PreconditionerKind::none && !uses_factors_ &&
                !uses_coarse_ && !is_inverse(matrix);
  build_local(ctx, matrix, kind, !uses_levels_ && !(additive && blocks == AdditiveBlocks::b9_27));
  if (kind == PreconditionerKind::block_jacobi) bodies_.set_local(ctx, matrix.body_blocks(), inverse_.data());
  build_domains(ctx, threes_, uses_threes_, matrix, 1);
  build_domains(ctx, nines_, uses_nines_, matrix, 1);
  if (links_contacts_) build_linked_levels(ctx, matrix);
  else build_domains(ctx, levels_, uses_levels_, matrix, kMostLevels);
  if (uses_coarse_ && !settings.keep_coarse) build_coarse(ctx, matrix, x);
}

void Preconditioner::build_coarse(Context& ctx, const SplitMatrix& matrix, const Vec3* x) {
  if (positions_.size() != matrix.node_count() || x == nullptr)
    throw std::logic_error("Preconditioner: no positions for this matrix");
  if (!coarse_.has_plan()) {
    const std::size_t most = std::max(kGroupNodes, positions_.size() / kMostGroups);
    coarse_.set_plan(ctx, make_node_groups(positions_, matrix.download_entries(ctx), most));
  }
  coarse_.build(ctx, matrix, x, fixed_);
}

void Preconditioner::build_chains(Context& ctx, const SplitMatrix& matrix) {
  if (!chains_.has_plan())
    chains_.set_plan(ctx, chain_nodes_, matrix.download_entries(ctx), matrix.node_count());
  chains_.build(ctx, matrix, fixed_);
}

void Preconditioner::plan_factors(Context& ctx, const SplitMatrix& matrix) {
  if (knows_factors_) return;
  const std::vector<Vec2i> pairs = matrix.download_entries(ctx);
  std::vector<std::uint8_t> member(matrix.node_count(), 0);
  for (const Vec2i& pair : pairs)
    for (const std::int32_t node : {pair[0], pair[1]}) member[static_cast<std::size_t>(node)] = 1;
  for (const std::vector<std::int32_t>& chain : chain_nodes_)
    for (const std::int32_t node : chain) member[static_cast<std::size_t>(node)] = 0;
  factors_.set_plan(ctx, member, pairs, kMostFactorValues);
  knows_factors_ = true;
}

/// Whether factors are used; builds them then.
bool Preconditioner::build_factors(Context& ctx, const SplitMatrix& matrix, PreconditionerKind kind) {
  if (kind != PreconditionerKind::factors &&
      (kind != PreconditionerKind::automatic || !are_cheap_inverse(ctx, matrix)))
    return false;
  plan_factors(ctx, matrix);
  if (!factors_.has_plan()) return false;
  factors_.build(ctx, matrix, fixed_);
  return true;
}

/// Whether `automatic` uses factors: where the matrix does not couple objects, so that they are its inverse,
/// if they are cheap. A step takes some 500 iterations of PCG, or 35 solves with factors. On CUDA it never
/// does: one thread does all of a task, which may be a whole object.
bool Preconditioner::are_cheap_inverse(Context& ctx, const SplitMatrix& matrix) {
  constexpr double kIterations = 500, kSolves = 35;
  if (STICKSLIP_ON_CUDA || modes_ == nullptr) return false;
  const double iteration =
      9.0 * (static_cast<double>(matrix.node_count()) + 2 * static_cast<double>(matrix.pair_count()));
  plan_factors(ctx, matrix);
  return factors_.has_plan() && kBuildWeight * factors_.build_multiplications() +
                                        kSolves * kSolveWeight * factors_.solve_multiplications() <
                                    kIterations * iteration;
}

void Preconditioner::build_local(Context& ctx, const SplitMatrix& matrix, PreconditionerKind kind,
                                 bool used) {
  inverse_.resize(ctx, matrix.node_count());
  invert_diagonal(ctx, matrix, fixed_, uses_chains_ ? chains_.is_member() : nullptr,
                  uses_factors_ ? factors_.is_member() : nullptr, kind == PreconditionerKind::none, used,
                  inverse_.data());
}

/// Domains are found anew where stencils link nodes, in this matrix or in the last.
void Preconditioner::build_linked_levels(Context& ctx, const SplitMatrix& matrix) {
  constexpr std::int32_t size = 16;
  const std::size_t count = matrix.stencil_count();
  if (!levels_.has_plan() || count > 0 || knows_links_) {
    const std::vector<Vec2i> pairs = matrix.download_entries(ctx);
    std::vector<Vec4i> stencils(count);
    copy_to_host(ctx, stencils.data(), matrix.stencils(), count);
    std::vector<Vec2i> links;
    links.reserve(6 * count);
    for (const Vec4i& nodes : stencils)
      for (int a = 0; a < 4; ++a)
        for (int b = 0; b < a; ++b)
          if (nodes[a] >= 0 && nodes[b] >= 0) links.push_back({nodes[a], nodes[b]});
    std::vector<Vec2i> all = pairs;
    all.insert(all.end(), links.begin(), links.end());
    ctx.synchronize();
    levels_.set_plan(
        ctx, make_domain_plan(linked_order(matrix.node_count(), all, size), pairs, size, kMostLevels, links));
    knows_links_ = count > 0;
  }
  levels_.build(ctx, matrix, fixed_);
}

template <int Size>
void Preconditioner::build_domains(Context& ctx, Domains<Size>& domains, bool used, const SplitMatrix& matrix,
                                   int levels) {
  if (!used && domains.has_plan()) {
    ctx.synchronize();
    domains.forget_plan();
  }
  if (!used) return;
  if (!domains.has_plan()) {
    if (positions_.size() != matrix.node_count())
      throw std::logic_error("Preconditioner: no positions for this matrix");
    const std::vector<Vec2i> pairs = matrix.download_entries(ctx);
    domains.set_plan(ctx, make_domain_plan(morton_order(positions_, pairs), pairs, Size, levels));
  }
  domains.build(ctx, matrix, fixed_);
}

void Preconditioner::add_domains(Context& ctx, const Vec3* r, Vec3* z, Real* r_dot_z,
                                 const std::int32_t* skip) {
  const std::size_t n = inverse_.size();
  Corrections corrections;
  const auto solve = [&](auto& domains, bool used) {
    if (!used) return;
    domains.solve(ctx, r, skip);
    corrections.add(domains, n);
  };
  solve(threes_, uses_threes_);
  solve(nines_, uses_nines_);
  solve(levels_, uses_levels_);
  if (uses_chains_) chains_.solve(ctx, r, skip);
  if (uses_factors_) factors_.solve(ctx, r, skip);
  const Vec3* of_chains = uses_chains_ ? chains_.z() : nullptr;
  const Vec3* of_factors = uses_factors_ ? factors_.z() : nullptr;
  const std::uint8_t* fixed = fixed_;
  if (corrections.count > 0 || uses_chains_ || uses_factors_)
    reduce_sum(
        ctx, n,
        [=] SS_LAMBDA(std::size_t i) {
          if (*skip != 0) return Real(0);
          // Control nodes of affine bodies are among the fixed ones, and have a local part.
          if (fixed == nullptr || fixed[i] == 0) {
            z[i] += corrections.at(i);
            if (of_chains != nullptr) z[i] += of_chains[i];
            if (of_factors != nullptr) z[i] += of_factors[i];
          }
          return dot(r[i], z[i]);
        },
        r_dot_z, Grain{1024});
  bodies_.replace(ctx, r, z, r_dot_z, skip);
  if (uses_modes_) modes_->add(ctx, n, r, z, r_dot_z, skip);
  if (uses_coarse_) coarse_.add(ctx, n, r, z, r_dot_z, skip);
}

}  // namespace stickslip::STICKSLIP_BACKEND
