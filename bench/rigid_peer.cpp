#include "bench/rigid_peer.h"

#if STICKSLIP_HAS_BULLET
#include <btBulletDynamicsCommon.h>

#include <cmath>

#include "gpu/core/timer.h"
#endif

namespace stickslip {

#if STICKSLIP_HAS_BULLET

namespace {

btVector3 vector_of(const Vec<double, 3>& x) {
  return {static_cast<btScalar>(x[0]), static_cast<btScalar>(x[1]), static_cast<btScalar>(x[2])};
}

btTransform transform_of(const Pose& pose) {
  const btVector3 v = vector_of(pose.q.v);
  return btTransform(btQuaternion(v.x(), v.y(), v.z(), static_cast<btScalar>(pose.q.w)), vector_of(pose.x));
}

class BulletRunner final : public RigidRunner {
 public:
  BulletRunner(const RigidScene& scene, const BulletSettings& settings)
      : dispatcher_(&configuration_),
        world_(&dispatcher_, &broad_phase_, &solver_, &configuration_),
        // Bullet multiplies the coefficients of two bodies.
        friction_(static_cast<btScalar>(std::sqrt(scene.mu))) {
    world_.setGravity(btVector3(0, static_cast<btScalar>(kRigidGravity), 0));
    world_.getSolverInfo().m_numIterations = settings.iterations;
    if (settings.two_directions)
      world_.getSolverInfo().m_solverMode |=
          SOLVER_USE_2_FRICTION_DIRECTIONS | SOLVER_ENABLE_FRICTION_DIRECTION_CACHING;
    for (const SceneBox& box : scene.boxes) add(box, box.moves ? scene.density : 0);
    SceneBox floor;
    floor.half = {kFloorHalf, 1, kFloorHalf};
    floor.pose.x = {0, -1, 0};
    add(floor, 0);
  }
  ~BulletRunner() override {
    for (const auto& body : bodies_) world_.removeRigidBody(body.get());
  }

  RigidStep step() override {
    RigidStep done;
    const Timer timer;
    world_.stepSimulation(static_cast<btScalar>(kRigidDt), 0);
    done.seconds = timer.seconds();
    for (int i = 0; i < dispatcher_.getNumManifolds(); ++i)
      done.contacts += dispatcher_.getManifoldByIndexInternal(i)->getNumContacts();
    return done;
  }

  void read(std::vector<SceneBox>& boxes) override {
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      const btTransform& at = bodies_[i]->getWorldTransform();
      const btVector3& x = at.getOrigin();
      const btQuaternion q = at.getRotation();
      boxes[i].pose = {{x.x(), x.y(), x.z()}, normalized(Quat{q.w(), {q.x(), q.y(), q.z()}})};
    }
  }

 private:
  static constexpr double kFloorHalf = 200;  // [m]

  void add(const SceneBox& box, double density) {
    shapes_.push_back(std::make_unique<btBoxShape>(vector_of(box.half)));
    const auto mass = static_cast<btScalar>(8 * density * box.half[0] * box.half[1] * box.half[2]);
    btVector3 inertia(0, 0, 0);
    if (mass > 0) shapes_.back()->calculateLocalInertia(mass, inertia);
    btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, shapes_.back().get(), inertia);
    info.m_startWorldTransform = transform_of(box.pose);
    info.m_friction = friction_;
    bodies_.push_back(std::make_unique<btRigidBody>(info));
    if (mass > 0) bodies_.back()->setActivationState(DISABLE_DEACTIVATION);
    world_.addRigidBody(bodies_.back().get());
  }

  btDefaultCollisionConfiguration configuration_;
  btCollisionDispatcher dispatcher_;
  btDbvtBroadphase broad_phase_;
  btSequentialImpulseConstraintSolver solver_;
  btDiscreteDynamicsWorld world_;
  btScalar friction_;
  std::vector<std::unique_ptr<btBoxShape>> shapes_;
  std::vector<std::unique_ptr<btRigidBody>> bodies_;
};

}  // namespace

bool bullet_present() { return true; }

std::unique_ptr<RigidRunner> make_bullet_runner(const RigidScene& scene, const BulletSettings& settings) {
  return std::make_unique<BulletRunner>(scene, settings);
}

std::string BulletSettings::name() const {
  return "Bullet " + std::to_string(btGetVersion() / 100) + "." + std::to_string(btGetVersion() % 100) +
         ", " + std::to_string(iterations) + " iterations" + (two_directions ? ", two directions" : "");
}

#else

bool bullet_present() { return false; }
std::unique_ptr<RigidRunner> make_bullet_runner(const RigidScene&, const BulletSettings&) { return nullptr; }
std::string BulletSettings::name() const { return "Bullet, " + std::to_string(iterations) + " iterations"; }

#endif

}  // namespace stickslip
