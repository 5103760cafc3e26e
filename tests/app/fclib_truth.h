// Checks FCLIB files by dense algebra on their own datasets, without the program's code for reading, reducing
// or judging. Contacts only, no equalities.
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "app/io/fclib/hdf5_file.h"

namespace stickslip::testing {

struct FclibTruth {
  Eigen::MatrixXd W, M, H;  // M and H for global problems only
  Eigen::VectorXd q, f, w;
  std::vector<double> mu;

  explicit FclibTruth(const std::filesystem::path& path) {
    const Hdf5Reader file(path);
    const bool global = file.has("/fclib_global");
    const std::string root = global ? "/fclib_global/" : "/fclib_local/";
    mu = file.reals(root + "vectors/mu");
    if (!global) {
      W = matrix(file, root + "W");
      q = vector(file, root + "vectors/q");
      return;
    }
    M = matrix(file, root + "M"), H = matrix(file, root + "H");
    f = vector(file, root + "vectors/f"), w = vector(file, root + "vectors/w");
    const Eigen::PartialPivLU<Eigen::MatrixXd> factors(M);
    W = H.transpose() * factors.solve(H);
    q = w + H.transpose() * factors.solve(f);
  }

  /// Residuals of Coulomb's law for given impulses, with u = W r + q and W from the file.
  struct Errors {
    double residual;  // |e|_2 / |q|_2, e_c = s_c (r_c - P_K(r_c - u~_c / s_c)), s_c = tr W_cc / 3
    double unit;      // |r - P_K(r - u~)|_2 / |q|_2, as in FCLIB's merit function and older Siconos
    double outside;   // max |r_c - P_K(r_c)| / max |r_c|
  };
  Errors judge(const std::vector<double>& impulses) const {
    const Eigen::VectorXd r = Eigen::Map<const Eigen::VectorXd>(impulses.data(), q.size()), u = W * r + q;
    double scaled = 0, unit = 0, outside = 0, largest = 0;
    for (std::size_t c = 0; c < mu.size(); ++c) {
      const auto first = static_cast<Eigen::Index>(3 * c);
      const Eigen::Vector3d push = r.segment<3>(first);
      Eigen::Vector3d shifted = u.segment<3>(first);
      shifted[0] += mu[c] * shifted.tail<2>().norm();
      const double s = W.block<3, 3>(first, first).trace() / 3;
      scaled += (s * (push - projected(push - shifted / s, mu[c]))).squaredNorm();
      unit += (push - projected(push - shifted, mu[c])).squaredNorm();
      outside = std::max(outside, (push - projected(push, mu[c])).norm());
      largest = std::max(largest, push.norm());
    }
    return {std::sqrt(scaled) / q.norm(), std::sqrt(unit) / q.norm(), largest > 0 ? outside / largest : 0};
  }

  /// |M v - H r - f|_2 / |f|_2, and |u - H' v - w|_2 / |q|_2.
  double motion(const std::vector<double>& v, const std::vector<double>& r) const {
    return (M * map(v) - H * map(r) - f).norm() / f.norm();
  }
  double kinematics(const std::vector<double>& v, const std::vector<double>& u) const {
    return (map(u) - H.transpose() * map(v) - w).norm() / q.norm();
  }

 private:
  static Eigen::VectorXd map(const std::vector<double>& x) {
    return Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size()));
  }
  static Eigen::VectorXd vector(const Hdf5Reader& file, const std::string& name) {
    return map(file.reals(name));
  }
  /// nz = -1: compressed columns, -2: compressed rows, else triplets with the row in i.
  static Eigen::MatrixXd matrix(const Hdf5Reader& file, const std::string& name) {
    Eigen::MatrixXd out = Eigen::MatrixXd::Zero(file.integer(name + "/m"), file.integer(name + "/n"));
    const int nz = file.integer(name + "/nz");
    const std::vector<std::int32_t> p = file.integers(name + "/p"), i = file.integers(name + "/i");
    const std::vector<double> x = file.reals(name + "/x");
    if (nz >= 0)
      for (std::size_t k = 0; k < static_cast<std::size_t>(nz); ++k) out(i[k], p[k]) += x[k];
    else
      for (std::size_t line = 0; line + 1 < p.size(); ++line)
        for (auto k = static_cast<std::size_t>(p[line]); k < static_cast<std::size_t>(p[line + 1]); ++k) {
          const auto along = static_cast<Eigen::Index>(line);
          (nz == -1 ? out(i[k], along) : out(along, i[k])) += x[k];
        }
    return out;
  }
  static Eigen::Vector3d projected(const Eigen::Vector3d& x, double mu) {
    const double t = x.tail<2>().norm();
    if (t <= mu * x[0]) return x;
    if (mu * t <= -x[0]) return Eigen::Vector3d::Zero();
    const double n = (x[0] + mu * t) / (1 + mu * mu);
    return {n, mu * n * x[1] / t, mu * n * x[2] / t};
  }
};

}  // namespace stickslip::testing
