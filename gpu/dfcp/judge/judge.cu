#include "gpu/dfcp/judge/judge.cuh"

#include <algorithm>
#include <cmath>

#include "gpu/law/natural_map.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// One block's terms of the sums: squares of e_c, of the unit-step error, of u and of r.
template <int D>
SS_HD Vec<double, 4> quick_terms(const ContactLaw<D>& law, double s, const Vec<double, D>& r,
                                 const Vec<double, D>& u) {
  const double e = block_error(law, s, r, u), unit = block_error(law, 1.0, r, u);
  return {e * e, unit * unit, norm2(u), norm2(r)};
}

/// a / b; a itself where b = 0, so that 0 counts as solved.
double ratio(double a, double b) { return b > 0 ? a / b : a; }

/// Largest values and the dissipation of one block.
struct Extremes {
  double error, penetration, violation, complementarity, r;
};
struct Larger {
  SS_HD Extremes operator()(const Extremes& a, const Extremes& b) const {
    const Maximum larger;
    return {larger(a.error, b.error), larger(a.penetration, b.penetration), larger(a.violation, b.violation),
            larger(a.complementarity, b.complementarity), larger(a.r, b.r)};
  }
};

template <int D>
SS_HD Extremes extremes_of(const ContactLaw<D>& law, double s, const Vec<double, D>& r,
                           const Vec<double, D>& u) {
  const bool contact = law.set != FrictionSet::bilateral;
  return {block_error(law, s, r, u), contact && u[0] < 0 ? -u[0] : 0.0, cone_distance(law, r),
          contact ? std::fabs(dot(r, shifted(law, u))) : 0.0, norm(r)};
}

}  // namespace

template <int D>
QuickJudgement judge_quickly(Context& ctx, const Delassus<D>& W, const ContactLaw<D>* law,
                             const Vec<double, D>* r, const Vec<double, D>* u, Vec<double, 4>* sums) {
  const double* scale = W.scale();
  reduce_sum(
      ctx, W.blocks(), [=] SS_LAMBDA(std::size_t c) { return quick_terms(law[c], scale[c], r[c], u[c]); },
      sums, kMedium);
  const Vec<double, 4> s = read_back(ctx, sums);
  const double norm_u = std::sqrt(s[2]), norm_r = std::sqrt(s[3]);
  return {ratio(std::sqrt(s[0]), W.norm_q()), ratio(std::sqrt(s[1]), std::max({W.norm_q(), norm_u, norm_r}))};
}

template <int D>
Judgement judge_fully(Context& ctx, const Delassus<D>& W, const ContactLaw<D>* law, const Vec<double, D>* r,
                      std::vector<BlockError>* errors) {
  const std::size_t n = W.blocks();
  const double* scale = W.scale();
  Buffer<Vec<double, D>> velocity(ctx, n);
  W.apply(ctx, r, velocity.data(), true);
  const Vec<double, D>* u = velocity.data();

  Judgement j;
  Buffer<Vec<double, 4>> sums(ctx, 1);
  const QuickJudgement quick = judge_quickly(ctx, W, law, r, u, sums.data());
  j.residual = quick.residual;
  j.residual_fclib = quick.residual_fclib;
  j.norm_q = W.norm_q();
  j.norm_u = std::sqrt(read_back(ctx, sums.data())[2]);

  Buffer<Extremes> largest(ctx, 1);
  reduce(
      ctx, n, [=] SS_LAMBDA(std::size_t c) { return extremes_of(law[c], scale[c], r[c], u[c]); }, Larger{},
      Extremes{0, 0, 0, 0, 0}, largest.data(), kMedium);
  const Extremes x = read_back(ctx, largest.data());
  j.largest_error = x.error;
  j.penetration = x.penetration;
  j.cone_violation = ratio(x.violation, x.r);
  j.cone_distance = x.violation;
  j.complementarity = x.complementarity;

  Buffer<double> power(ctx, 1);
  reduce_sum(
      ctx, n,
      [=] SS_LAMBDA(std::size_t c) {
        return law[c].set == FrictionSet::bilateral ? 0.0 : r[c][0] * u[c][0] - dot(r[c], u[c]);
      },
      power.data(), kMedium);
  j.dissipation = read_back(ctx, power.data());

  if (errors != nullptr) {
    Buffer<BlockError> each(ctx, n);
    BlockError* out = each.data();
    launch(
        ctx, n,
        [=] SS_LAMBDA(std::size_t c) {
          out[c] = {block_error(law[c], scale[c], r[c], u[c]),
                    static_cast<int>(block_state(law[c], scale[c], r[c], u[c]))};
        },
        kMedium);
    *errors = each.download(ctx);
  }
  return j;
}

#define STICKSLIP_JUDGE(D)                                                                                  \
  template QuickJudgement judge_quickly(Context&, const Delassus<D>&, const ContactLaw<D>*,                 \
                                        const Vec<double, D>*, const Vec<double, D>*, Vec<double, 4>*);     \
  template Judgement judge_fully(Context&, const Delassus<D>&, const ContactLaw<D>*, const Vec<double, D>*, \
                                 std::vector<BlockError>*);
STICKSLIP_JUDGE(3)
STICKSLIP_JUDGE(4)
STICKSLIP_JUDGE(5)
#undef STICKSLIP_JUDGE

}  // namespace stickslip::STICKSLIP_BACKEND
