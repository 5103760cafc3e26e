// ElasticSolids: elastic solids at the level of velocities.
#pragma once

#include <cmath>
#include <optional>

#include "gpu/elastic/elastic_part.h"
#include "gpu/elastic/rigid_prediction.cuh"
#include "gpu/elastic/rod_splitting.cuh"
#include "gpu/elastic/solid_balance.h"
#include "gpu/elastic/solid_system.h"
#include "gpu/elastic/strand_prediction.cuh"
#include "gpu/energy/energy_terms.cuh"
#include "gpu/linear/linear_solver.cuh"
#include "gpu/model/device_model.cuh"
#include "gpu/model/interaction.h"
#include "gpu/model/report.h"

namespace stickslip {

/// What a step's linearised elastic forces do to energy. True ones take from the kinetic energy what elastic
/// energy gains, and more, since backward Euler damps.
struct LinearisationError {
  double created = 0;  // [J] gain of elastic energy, and of kinetic energy by elastic impulses
  double scale = 0;    // [J] kinetic energies at start and end, and the elastic energy
  double start = 0, end = 0;
  double rounding = 0;  // [J] of the elastic energies

  /// Linearised forces that create energy on this scale make steps of which nothing is right.
  bool is_large() const {
    constexpr double kMost = 0.1;
    return !(created <= kMost * scale + rounding);
  }
};

/// Sums over the nodes without a script.
struct SolidSums {
  double kinetic = 0, gravity = 0;                     // [J]
  Vec<double, 3> momentum{0, 0, 0}, angular{0, 0, 0};  // [kg m/s], [kg m^2/s] about the origin
  double nodes = 0;                                    // that are not scripted
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Backward Euler, linearised at the positions x_0 = x_t + dt v^0 to which the objects would move if they
/// were rigid (RigidPrediction) [Daviet20 Eq.5 at v^k = v^0; Course §4.3.3]:
///   A v = f + J,   A = M + dt^2 K + dt C,   f = M (v_t + dt g) - dt grad Psi(x_0) + (dt^2 K + dt C) v^0,
/// K and C projected to be positive semidefinite, J the contact impulses at the nodes [N s]. Psi is invariant
/// to rigid motions: grad Psi(x_0) and K turn with the objects, and a rotation is no strain, however stiff
/// the object is. Damping acts on velocities relative to v^0. The drag of the air on cloth and rods is
/// linearised at the velocities v_t, with the shape of x_t. As elsewhere, the stored matrix is A / dt^2
/// [N/m].
class ElasticSolids {
 public:
  /// Loads all objects that are not rigid bodies, at their start; see elastic_part. Colliders are nodes
  /// without elements that all follow scripts. Nodes of affine bodies follow their control nodes (Embedding):
  /// A is J'A J then.
  void load(Context& ctx, const Model& model);
  bool empty() const { return part_.node.empty(); }
  std::size_t size() const { return part_.node.size(); }
  const Model& model() const { return part_.model; }
  const DeviceModel& device() const { return device_; }
  const Embedding& embedding() const { return embedding_; }
  /// Object k of `model()`: its index in the whole model.
  std::int32_t object_of(std::int32_t k) const { return part_.object[static_cast<std::size_t>(k)]; }
  /// Pairs of objects of `model()` and rigid bodies that never touch, ascending.
  const std::vector<Vec2i>& exempt_bodies() const { return part_.exempt_bodies; }
  /// Per node of the whole model: its index among the solids' nodes; -1: not of a solid.
  const std::vector<std::int32_t>& node_places() const { return place_; }

  void set_materials(Context& ctx, const Model& model);
  /// Positions and velocities of all nodes of the whole model.
  void set_state(Context& ctx, const std::vector<Vec<double, 3>>& x, const std::vector<Vec<double, 3>>& v,
                 double time, double dt);
  /// Writes the solids' positions and velocities into arrays of the whole model.
  void place_nodes(Context& ctx, Vec3* x, Vec3* v) const;
  void save(Context& ctx);
  void restore(Context& ctx);

  /// Collects the loads of the step that starts at `time`; A and f at the present positions and velocities,
  /// which are those of the last `save`.
  void begin_step(Context& ctx, const Params& params, const std::optional<Drag>& drag, double time);
  /// After `solve` for a velocity v^k: A and f with the elastic forces linearised at x_t + dt v^k instead of
  /// x_0.
  /// Resets v to the start of the step.
  void relinearise(Context& ctx);
  /// The same at x_t + dt `velocity`.
  void linearise_at(Context& ctx, const Vec3* velocity);
  /// A and f of `begin_step` again, and v at the start of the step.
  void linearise_at_start(Context& ctx, double time);
  /// After `solve`, for the last linearisation. One host read.
  LinearisationError linearisation_error(Context& ctx);
  /// Adds given impulses at the nodes to f, in this and further linearisations of the step.
  void add_load(Context& ctx, const Vec3* at_nodes);
  /// Resets v to the start of the step, for a further contact problem with the same A and f.
  void return_to_start(Context& ctx) { copy(ctx, v.data(), saved_v_.data(), size()); }
  /// [sqrt(J)] |v - v_t| in the norm of the masses, of free nodes, after `solve` with the first
  /// linearisation; `least` [m/s] is added for each node. Two host reads.
  double first_change(Context& ctx, double least);
  /// The same of v - v^k, after `solve` with a further one. One host read.
  double further_change(Context& ctx);
  /// v = A^-1 (f + J), as a correction of the given v; J null: none. PCG ends at a residual of `tolerance`
  /// relative to the correction. Scripted nodes get the velocity of their script.
  /// With a `reference`, PCG ends at a residual of `tolerance` times `reference` instead, in the norm of
  /// `residual_size`.
  PcgResult solve(Context& ctx, const Vec3* impulse, Vec3* v, double tolerance, double reference = 0);
  /// The same where v is the solution for the impulses `before`, to what rounding leaves: by the difference
  /// of the impulses alone, without a product with A. False, and v as it was, where no inverse is at hand.
  bool follow(Context& ctx, const Vec3* before, const Vec3* impulse, Vec3* v);
  /// The share of a residual that a direct solve with the present matrix leaves; -1: there was none.
  double left_by_inverse() const {
    const MatrixSolver& own = is_weighted_ ? weighted_ : plain_;
    return own.solved ? own.left_by_inverse : -1;
  }
  /// Adds an affine motion to each object, such that the residual f + J - A v has no affine part there:
  /// momentum and angular momentum of a free object are then right (see AffineModes::balance). For affine
  /// bodies this is the solution.
  void balance(Context& ctx, const Vec3* impulse, Vec3* v);
  /// |f + J - A v| in the norm of the inverse resistances [sqrt(J)]. One host read.
  double residual_size(Context& ctx, const Vec3* impulse, Vec3* v);
  /// The weights W [kg] of the nodes for ADMM [Daviet20 §6.2.6]; zero at scripted nodes and at nodes of
  /// affine bodies, whose control nodes have weights. `points`: corners of the points that contacts touch;
  /// other nodes may have no weight. Null: all nodes have one.
  void nodal_weights(Context& ctx, const NodeGather* points, double* weight);
  /// Weights D [kg] for `jacobi`: a third of the trace of each node's block of A, at the nodes of
  /// nodal_weights, all of them enlarged by one factor where steps with them would not be stable. Some host
  /// reads.
  void jacobi_weights(Context& ctx, double* weight);
  /// v += D^-1 (f + J - A v) [Course Alg.16 line 6]: a step of Jacobi's method. J null: none.
  void jacobi(Context& ctx, const Vec3* impulse, const double* weight, Vec3* v);
  /// `solve` is then that of A + W, until `remove_weights` or the next assembly. Other methods need A: call
  /// them after `remove_weights`. `again`: the weights of the last call, with the same A.
  void add_weights(Context& ctx, const double* weight, bool again = false);
  void remove_weights(Context& ctx);
  /// Whether nodal_integrator = admm can be taken: see has_open_rods_alone.
  bool can_split() const { return !splitting_.empty(); }
  /// Of nodal_integrator = admm: begins a contact problem with the weights W [kg] of nodes, from the
  /// velocities v. The first one of a step starts from the strains of its start, further ones from the copies
  /// of the last one.
  void begin_splitting(Context& ctx, const double* weight, const Vec3* v);
  /// Each element of rods minimises its energy, see RodSplitting::separate.
  double separate(Context& ctx, const Vec3* v);
  /// v as RodSplitting::join finds it, with W (p + lambda) [N s] and the weights of begin_splitting.
  void join(Context& ctx, const Vec3* pull, const double* weight, double momentum, Vec3* v);
  /// Moves values at nodes of affine bodies to the control nodes: g = J'g.
  void move_to_controls(Context& ctx, Vec3* g) { embedding_.reduce(ctx, g); }
  /// Residuals of the step's equations at the velocities `v`, with the impulses J; no host read. The start of
  /// the step is the state of the last `save`.
  void launch_balance(Context& ctx, const Vec3* impulse, SolidBalance* out);
  /// Of the step, with `v` as the velocities at its end.
  NodeMotion motion() const;
  /// v += dt (g + other accelerations) at free nodes: their velocities without elastic forces and contacts.
  void fall(Context& ctx, Vec3* v) const;
  /// x + dt v.
  void advance(Context& ctx, double dt);

  /// |g| [m/s^2] of this step.
  double gravity() const { return std::abs(params_.gravity); }
  /// [kg] resistance of a node: a third of the trace of its block of A; for a node of an affine body, the
  /// effective mass of the control nodes there; 0: immovable.
  const double* resistance() const { return resistance_.data(); }

  /// [N/m] the resistance over dt^2, per node of the whole model; -1: of no solid, or immovable. Empty before
  /// the first step. One host read.
  void node_stiffness(Context& ctx, std::vector<float>& out) const;
  /// Of the matrix of the last step, which has no contacts; empty without elastic nodes.
  MatrixParts matrix_parts(Context& ctx, std::int32_t most_cells) const {
    return matrix_.parts(ctx, most_cells);
  }

  SolidSums sums(Context& ctx, double gravity);
  /// Nodes that follow others: they have no unknowns of their own.
  std::size_t follower_count() const;
  double elastic_energy(Context& ctx);
  double min_volume_ratio(Context& ctx);
  /// Number of inverted tets.
  int count_inverted(Context& ctx);

  /// The step's system on the host, without `points`, which come from the contacts.
  SolidSystem system(Context& ctx) const {
    SolidSystem s{matrix_.download(ctx),
                  params_.dt,
                  load_.download(ctx),
                  script_.download(ctx),
                  device_.scripted.download(ctx),
                  follows_,
                  {},
                  {},
                  {}};
    for (std::size_t i = 0; i < follows_.size(); ++i)
      if (follows_[i].follows()) s.held[i] = 1;
    return s;
  }

  Buffer<Vec3> x, v;  // per node [m], [m/s]

 private:
  RodSplitting::Step splitting_step();
  template <class Rule>
  void weigh(Context& ctx, const Rule& rule, const std::int32_t* touches, double* weight) const;
  void set_masses(Context& ctx);
  // Stages of `begin_step` and `solve`.
  void linearise_first(Context& ctx, double time);
  void assemble(Context& ctx, const Vec3* at, const Vec3* guess, const Vec3* still, const AirMotion& air);
  void set_load(Context& ctx, double time, const Vec3* at);
  void follow_frames(Context& ctx, double time, const Vec3* at);
  void multiply(Context& ctx, const Vec3* velocity, Vec3* out);
  void launch_energy(Context& ctx, const Vec3* at, double* out);
  void correct(Context& ctx, const Vec3* impulse, Vec3* velocity);
  double measure_residual(Context& ctx);
  bool refine(Context& ctx, const Vec3* impulse, Vec3* velocity, double tolerance, double reference,
              double& left, PcgResult& result);
  void add_change(Context& ctx, Vec3* velocity);
  void build_modes(Context& ctx);
  double change_from(Context& ctx, const Vec3* before);
  SolidPull attach(Context& ctx, const Params& params, const std::optional<Drag>& drag) const;

  /// Of A, or of A + W: what is built for one stays while solves are with the other.
  struct MatrixSolver {
    LinearSolver linear;
    bool solved = false;  // a system with the matrix as it is
    double left_by_inverse =
        -1;  // share of a residual that an iteration of `refine` leaves; -1: not measured
  };
  MatrixSolver& solver() { return is_weighted_ ? weighted_ : plain_; }

  ElasticPart part_;
  std::vector<std::int32_t> place_;  // per node of the whole model: its index in the part; -1: not of a solid
  DeviceModel device_;
  EnergyTerms energy_;
  Embedding embedding_;
  std::vector<FollowingNode> follows_;  // per node; empty without affine bodies and lattices
  Buffer<double> affine_resistance_;    // [kg] per node; 0: of no affine body. Empty likewise
  Buffer<double> affine_mass_;          // [kg] per affine body
  SplitMatrix matrix_;
  MatrixSolver plain_, weighted_;
  AffineModes modes_;                                    // of deformable objects
  AffineModes weighted_modes_;                           // the same for A + W
  bool has_modes_ = false, has_weighted_modes_ = false;  // built for the matrix as it is
  bool is_weighted_ = false;                             // the matrix is A + W
  AffineModes affine_modes_;  // of the control nodes of affine bodies, all that they can do
  RigidPrediction prediction_;
  StrandPrediction strands_;
  Params params_;
  SolidPull pull_;
  Buffer<AirFace> air_faces_;
  Buffer<std::int32_t> group_;  // per object, like tied_: see NodeMotion
  Buffer<std::uint8_t> tied_;
  Wind wind_;      // at the end of the step
  AirMotion air_;  // of the last linearisation
  Buffer<std::int32_t> node_;
  Buffer<Vec3> load_;   // f [N s]
  Buffer<Vec3> added_;  // what add_load gave in this step, at nodes that move by themselves
  Buffer<Vec3> given_;  // in its last call
  bool has_added_ = false;
  Buffer<Vec3> script_;  // [m/s] of scripted nodes
  Buffer<RigidPose> poses_;
  Buffer<std::int32_t> frame_nodes_;
  Buffer<Vec3> frame_targets_;
  /// A / dt^2 times a velocity, of the present linearisation.
  struct KnownProduct {
    Buffer<Vec3> velocity, product;
    long at = 0;  // of products_, when it was last asked for; 0: of an earlier linearisation
  };
  KnownProduct known_[3];
  struct KnownEnergy {
    Buffer<Vec3> at;
    double energy = 0;
    long asked = 0;  // likewise, of energies_; 0: of other materials
  };
  KnownEnergy known_energies_[2];
  long energies_ = 0;
  long products_ = 0;
  Buffer<Vec3> corners_, gradient_, residual_, change_, saved_x_, saved_v_, guess_, ahead_;
  Buffer<Vec3> rigid_x_, rigid_v_;  // the rigid motion of objects, from which damping is measured
  Buffer<Vec3> first_x_, first_v_;  // x_0 and v^0 of objects with rods, where they differ from these
  Buffer<Vec3> trial_;
  RodSplitting splitting_;
  Buffer<Vec3> inelastic_;  // f without elastic forces [N s], of `splitting_`
  bool has_split_ = false;  // in this step
  double time_ = 0;         // of the last begin_step
  Buffer<LinearisationError> error_;
  Buffer<Vec<double, 2>> error_terms_;
  const Vec3* assembled_at_ = nullptr;  // positions of the last linearisation
  Buffer<Mat3> blocks_;
  Buffer<Mat3> diagonal_;  // of A, while the matrix is A + W
  Buffer<Real> weight_;
  Buffer<std::int32_t> touch_count_;  // corners of touched points per node
  Buffer<Real> inertia_;              // diagonal of the matrix besides elasticity [N/m]
  Buffer<double> resistance_, number_;
  Buffer<SolidSums> sums_;
  Buffer<SolidBalance> balance_;  // parts of launch_balance
};

}  // namespace stickslip::STICKSLIP_BACKEND
