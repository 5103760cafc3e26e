// The peer of velocity-level stepping: Bullet, where the library is installed.
#pragma once

#include <memory>
#include <string>

#include "bench/rigid_study.h"

namespace stickslip {

/// True if this build has Bullet.
bool bullet_present();

struct BulletSettings {
  int iterations = 10;  // Bullet's default; all other settings are its defaults
  /// Friction along two fixed directions instead of one along the sliding velocity.
  bool two_directions = false;

  /// "Bullet 3.24, 10 iterations"
  std::string name() const;
};

/// Null without Bullet. Single precision; one thread where its libraries were built without
/// threads, as Debian's are. The same scene as ours: a box for the floor, no sleeping, no damping,
/// mu the same for all pairs.
std::unique_ptr<RigidRunner> make_bullet_runner(const RigidScene& scene, const BulletSettings& settings);

}  // namespace stickslip
