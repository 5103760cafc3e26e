// Solves with sparse Cholesky factors in panels: host + device, no launches.
#pragma once

#include "gpu/linear/factor_plan.h"

namespace stickslip {

/// The three columns of a node in a panel, from the node's own row on, for products with a vector of these
/// rows.
struct PanelColumns {
  const float *a, *b, *c;

  SS_HD PanelColumns(const float* values, std::int32_t leading, std::int32_t node)
      : a(values + std::int64_t{3 * node} * leading + 3 * node), b(a + leading), c(b + leading) {}

  /// t -= a x + b y + c z below the node's rows.
  SS_HD void subtract(float x, float y, float z, float* t, std::int32_t count) const {
    std::int32_t k = 3;
#if !STICKSLIP_ON_CUDA
    for (; k + kLanes <= count; k += kLanes) at(t, k) -= at(a, k) * x + at(b, k) * y + at(c, k) * z;
#endif
    for (; k < count; ++k) t[k] -= a[k] * x + b[k] * y + c[k] * z;
  }

  /// out = a't, b't, c't below the node's rows.
  SS_HD void multiply(const float* t, std::int32_t count, float* out) const {
    float x = 0, y = 0, z = 0;
    std::int32_t k = 3;
#if !STICKSLIP_ON_CUDA
    Lanes xs{}, ys{}, zs{};
    for (; k + kLanes <= count; k += kLanes) {
      const Lanes v = at(t, k);
      xs += at(a, k) * v;
      ys += at(b, k) * v;
      zs += at(c, k) * v;
    }
    for (int l = 0; l < kLanes; ++l) x += xs[l], y += ys[l], z += zs[l];
#endif
    for (; k < count; ++k) x += a[k] * t[k], y += b[k] * t[k], z += c[k] * t[k];
    out[0] = x, out[1] = y, out[2] = z;
  }

#if !STICKSLIP_ON_CUDA
 private:
  static constexpr int kLanes = 8;
  using Lanes = float __attribute__((vector_size(kLanes * sizeof(float))));
  using Loaded =
      float __attribute__((vector_size(kLanes * sizeof(float)), aligned(alignof(float)), may_alias));

  static const Loaded& at(const float* x, std::int32_t k) { return *reinterpret_cast<const Loaded*>(x + k); }
  static Loaded& at(float* x, std::int32_t k) { return *reinterpret_cast<Loaded*>(x + k); }
#endif
};

/// L x = r and L' x = r, panel by panel in the order of a FactorPlan and against it. `values`: of L, with the
/// inverses of its diagonal in place of the diagonal.
struct PanelSolves {
  const std::int32_t *rows, *places;
  const FactorPanel* panels;
  const FactorUpdate* updates;
  const float* values;
  float *solution, *work;  // per scalar column; per panel a vector of its rows

  /// The vector of a panel's rows in `work`.
  SS_HD float* rows_of(const FactorPanel& p) const { return work + 3 * (p.first + p.rows_begin); }

  /// x of the panel's columns = L^-1 r with component c of r(column, c), and what they add to the rows below.
  template <class Right>
  SS_HD void forward(std::int32_t index, const Right& r) const {
    const FactorPanel& p = panels[index];
    const std::int32_t leading = p.leading();
    float* t = rows_of(p);
    for (std::int32_t j = 0; j < p.width; ++j)
      for (int c = 0; c < 3; ++c) t[3 * j + c] = r(p.first + j, c);
    for (std::int32_t k = 3 * p.width; k < leading; ++k) t[k] = 0.0F;
    for (std::int32_t u = p.updates_begin; u < p.updates_end; ++u) {
      const FactorUpdate& update = updates[u];
      const FactorPanel& source = panels[update.panel];
      const float* from = rows_of(source) + 3 * source.width;
      for (std::int32_t q = update.from; q < update.to; ++q) {
        const std::int32_t place = places[update.place_begin + (q - update.from)];
        for (int c = 0; c < 3; ++c) t[3 * place + c] += from[3 * q + c];
      }
    }
    for (std::int32_t j = 0; j < p.width; ++j) {
      const PanelColumns l(values + p.values, leading, j);
      float* x = t + 3 * j;
      x[0] *= l.a[0];
      x[1] = (x[1] - l.a[1] * x[0]) * l.b[1];
      x[2] = (x[2] - l.a[2] * x[0] - l.b[2] * x[1]) * l.c[2];
      l.subtract(x[0], x[1], x[2], x, leading - 3 * j);
      for (int c = 0; c < 3; ++c) solution[3 * (p.first + j) + c] = x[c];
    }
  }

  /// x of the panel's columns := L^-T x, handed to set(column, x).
  template <class Set>
  SS_HD void backward(std::int32_t index, const Set& set) const {
    const FactorPanel& p = panels[index];
    const std::int32_t leading = p.leading();
    float* t = rows_of(p);
    for (std::int32_t k = 0; k < 3 * p.width; ++k) t[k] = solution[3 * p.first + k];
    for (std::int32_t i = 0; i < p.below(); ++i)
      for (int c = 0; c < 3; ++c) t[3 * (p.width + i) + c] = solution[3 * rows[p.rows_begin + i] + c];
    for (std::int32_t j = p.width - 1; j >= 0; --j) {
      const PanelColumns l(values + p.values, leading, j);
      float* x = t + 3 * j;
      float product[3];
      l.multiply(x, leading - 3 * j, product);
      x[2] = (x[2] - product[2]) * l.c[2];
      x[1] = (x[1] - product[1] - l.b[2] * x[2]) * l.b[1];
      x[0] = (x[0] - product[0] - l.a[1] * x[1] - l.a[2] * x[2]) * l.a[0];
      for (int c = 0; c < 3; ++c) solution[3 * (p.first + j) + c] = x[c];
      set(p.first + j, x);
    }
  }
};

}  // namespace stickslip
