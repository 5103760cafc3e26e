// The impulses of ManifoldSolver, and its blocks.
#include "gpu/core/launch.h"
#include "gpu/rigid/manifold/manifold_lane.h"
#include "gpu/rigid/manifold/manifold_solver.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

template <int D>
struct BlockImpulses {
  const double* impulse;
  BlockPlaces place;
  Vec<double, D>* r;

  SS_HD void operator()(std::size_t c) const { r[place(c)] = read_impulse<D>(impulse + D * c); }
};

/// Of the blocks of contacts.
template <int D>
struct WorldImpulses {
  const SweptBlock<D>* block;
  const double* impulse;
  BlockPlaces place;
  Vec<double, 4>* world;

  SS_HD void operator()(std::size_t c) const {
    if (c < place.first) return;
    const double* rows = &block[c].rows.jacobian[0][0][0];
    world[place(c) - place.contacts] = world_impulse(rows, read_impulse<D>(impulse + D * c));
  }
};

/// The law and the rows of block c.
template <int D>
struct BlockPutter {
  const SweptBlock<D>* block;
  BlockPlaces place;
  BlockWriter<D> writer;
  ContactLaw<D>* law;

  SS_HD void operator()(std::size_t c) const {
    law[place(c)] = block[c].rows.law;
    writer.put(place(c), block[c].rows);
  }
};

/// One lane of packs with this many fields.
SS_HD PackCell<const double> cell_at(const double* packs, int fields, std::int32_t slot) {
  const std::size_t pack = static_cast<std::size_t>(slot / kPackWidth),
                    lane = static_cast<std::size_t>(slot % kPackWidth);
  return {packs + pack * static_cast<std::size_t>(fields) * kPackWidth + lane, kPackWidth};
}

}  // namespace

template <int D>
void ManifoldSolver<D>::joint_impulses(Context& ctx, Vec<double, D>* r) const {
  launch(ctx, places_.first, BlockImpulses<D>{block_impulse(), places_, r});
}

template <int D>
void ManifoldSolver<D>::impulses(Context& ctx, Vec<double, D>* out) const {
  launch(ctx, blocks_.size(), BlockImpulses<D>{block_impulse(), places_, out});
  Vec<double, D>* r = out + places_.contacts;
  const std::int32_t* slot = order_.slot();
  const ManifoldRange* ranges = order_.ranges();
  const double* impulse = impulse_.data();
  launch(
      ctx, order_.manifolds(),
      [=] SS_LAMBDA(std::size_t m) {
        const PackCell<const double> cell = cell_at(impulse, kImpulseFields, slot[m]);
        for (int p = 0; p < ranges[m].count; ++p) {
          const Vec<double, 3> of_point = cell.get3<double>(3 * p);
          Vec<double, D>& to = r[ranges[m].first + p];
          to = Vec<double, D>::zero();
          for (int i = 0; i < 3; ++i) to[i] = of_point[i];
        }
      },
      kMedium);
}

template <int D>
void ManifoldSolver<D>::world_impulses(Context& ctx, Vec<double, 4>* out) const {
  launch(ctx, blocks_.size(), WorldImpulses<D>{blocks_.blocks(), block_impulse(), places_, out}, kMedium);
  const std::int32_t* slot = order_.slot();
  const ManifoldRange* ranges = order_.ranges();
  const double *impulse = impulse_.data(), *data = data_.data();
  launch(
      ctx, order_.manifolds(),
      [=] SS_LAMBDA(std::size_t m) {
        const PackCell<const double> cell = cell_at(data, kManifoldFields, slot[m]),
                                     impulses = cell_at(impulse, kImpulseFields, slot[m]);
        const Vec<double, 3> n = cell.get3<double>(manifold_field::normal),
                             t = cell.get3<double>(manifold_field::tangent);
        const Vec<double, 3> b = cross(n, t);
        for (int p = 0; p < ranges[m].count; ++p) {
          const Vec<double, 3> r = impulses.get3<double>(3 * p), f = r[0] * n + r[1] * t + r[2] * b;
          out[ranges[m].first + p] = {f[0], f[1], f[2], 0.0};
        }
      },
      kMedium);
}

template <int D>
void ManifoldSolver<D>::r_factors(Context& ctx, double omega, Vec<float, 2>* out) const {
  const BlockPlaces places = places_;
  launch(ctx, blocks_.size(), [=] SS_LAMBDA(std::size_t c) { out[places(c)] = {0, 0}; });
  Vec<float, 2>* of_contact = out + places_.contacts;
  const std::int32_t* slot = order_.slot();
  const ManifoldRange* ranges = order_.ranges();
  const double* data = data_.data();
  launch(
      ctx, order_.manifolds(),
      [=] SS_LAMBDA(std::size_t m) {
        const PackCell<const double> cell = cell_at(data, kManifoldFields, slot[m]);
        for (int p = 0; p < ranges[m].count; ++p)
          of_contact[ranges[m].first + p] = {
              static_cast<float>(omega * cell.get<double>(point_at(p) + point_field::r_normal)),
              static_cast<float>(omega * cell.get<double>(point_at(p) + point_field::r_tangent))};
      },
      kMedium);
}

template <int D>
void ManifoldSolver<D>::put_blocks(Context& ctx, const BlockWriter<D>& writer, ContactLaw<D>* law) const {
  const std::size_t contacts = places_.contacts;
  launch(ctx, blocks_.size(), BlockPutter<D>{blocks_.blocks(), places_, writer, law}, kMedium);
  const std::int32_t *slot = order_.slot(), *body = body_.data(), world = static_cast<std::int32_t>(bodies_);
  const ManifoldRange* ranges = order_.ranges();
  const double* data = data_.data();
  launch(
      ctx, order_.manifolds(),
      [=] SS_LAMBDA(std::size_t m) {
        const PackCell<const double> cell = cell_at(data, kManifoldFields, slot[m]);
        const std::size_t pack = static_cast<std::size_t>(slot[m] / kPackWidth),
                          lane = static_cast<std::size_t>(slot[m] % kPackWidth);
        const std::int32_t* sides = body + pack * 2 * kPackWidth + lane;
        const auto index = [&](std::int32_t b) { return b >= 0 ? b : ~b == world ? -1 : ~b; };
        for (int p = 0; p < ranges[m].count; ++p) {
          const ConstraintBlock<D> block =
              manifold_detail::block_of<D>(cell, p, index(sides[0]), index(sides[kPackWidth]));
          const std::size_t c = contacts + static_cast<std::size_t>(ranges[m].first + p);
          law[c] = block.law;
          writer.put(c, block);
        }
      },
      kMedium);
}

template void ManifoldSolver<3>::joint_impulses(Context&, Vec<double, 3>*) const;
template void ManifoldSolver<4>::joint_impulses(Context&, Vec<double, 4>*) const;
template void ManifoldSolver<3>::impulses(Context&, Vec<double, 3>*) const;
template void ManifoldSolver<4>::impulses(Context&, Vec<double, 4>*) const;
template void ManifoldSolver<3>::world_impulses(Context&, Vec<double, 4>*) const;
template void ManifoldSolver<4>::world_impulses(Context&, Vec<double, 4>*) const;
template void ManifoldSolver<3>::r_factors(Context&, double, Vec<float, 2>*) const;
template void ManifoldSolver<4>::r_factors(Context&, double, Vec<float, 2>*) const;
template void ManifoldSolver<3>::put_blocks(Context&, const BlockWriter<3>&, ContactLaw<3>*) const;
template void ManifoldSolver<4>::put_blocks(Context&, const BlockWriter<4>&, ContactLaw<4>*) const;

}  // namespace stickslip::STICKSLIP_BACKEND
