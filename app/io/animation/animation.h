// A run as moving meshes, for programs that render them: glTF 2.0, USD, and sequences of OBJ or PLY files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "gpu/engine.h"

namespace stickslip {

/// The nodes and rigid bodies of a model at one time.
struct MotionFrame {
  double time = 0;                       // [s]
  std::vector<Vec<float, 3>> positions;  // [m] per node
  std::vector<Pose> poses;               // per rigid body
};

/// Keeps the frames of a run at a rate: those that are nearest after each multiple of its period.
class MotionRecording {
 public:
  /// `rate` [1/s] of frames.
  explicit MotionRecording(double rate) : rate_(rate) {}
  bool wants(double time) const;
  void add(const Snapshot& snapshot);
  const std::vector<MotionFrame>& frames() const { return frames_; }

 private:
  double rate_, next_ = 0;
  std::vector<MotionFrame> frames_;
};

/// One object as a mesh: still, moved by the poses of a rigid body, or with points of its own in every frame.
/// Rods are tubes.
struct MovingMesh {
  enum class Motion { still, rigid, deforming };
  std::string name;
  Vec<float, 3> color{0.7f, 0.7f, 0.7f};  // sRGB
  bool two_sided = false;
  Motion motion = Motion::still;
  std::vector<Vec3i> triangles;
  std::vector<Vec<float, 3>> normals;              // of the first frame, unit, per point
  std::vector<std::vector<Vec<float, 3>>> points;  // [m] of each frame of a deforming mesh; else of one: in
                                                   // the world, or in the frame of the body
  std::vector<Pose> poses;                         // of each frame, of a rigid mesh
  /// Rods: the number of nodes of each strand, the points of all strands in each frame, and their diameter.
  std::vector<int> strands;
  std::vector<std::vector<Vec<float, 3>>> strand_points;
  float diameter = 0;
};

/// The objects with a surface or strands, in their order, then half-spaces as squares. Normals of still and
/// rigid meshes have creases; points are repeated there.
std::vector<MovingMesh> moving_meshes(const Model& model, const std::vector<MotionFrame>& frames);

/// Unit normals of the points, by the areas of the triangles around them.
std::vector<Vec<float, 3>> smooth_normals(const std::vector<Vec<float, 3>>& points,
                                          const std::vector<Vec3i>& triangles);

/// Throws InputError unless the file ends in .glb, .usda, .obj or .ply and can be written.
void check_animation_file(const std::filesystem::path& file);

/// Writes the frames in the format of the file's ending: .glb (binary glTF 2.0) and .usda with the motion in
/// the file; of .obj and .ply (binary, with colours) one file per frame, NAME_00000.obj and so on. Returns
/// the files. Throws InputError without frames, and OutputError.
std::vector<std::filesystem::path> write_animation(const std::filesystem::path& file, const Model& model,
                                                   const std::vector<MotionFrame>& frames);

// The formats.
std::string gltf_bytes(const std::vector<MovingMesh>& meshes, const std::vector<MotionFrame>& frames);
std::string usda_text(const std::vector<MovingMesh>& meshes, const std::vector<MotionFrame>& frames);
std::string obj_text(const std::vector<MovingMesh>& meshes, std::size_t frame);
std::string ply_bytes(const std::vector<MovingMesh>& meshes, std::size_t frame);

}  // namespace stickslip
