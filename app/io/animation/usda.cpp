// USD as text: one prim per mesh, points or poses as time samples.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>

#include "app/io/animation/animation.h"
#include "app/io/file/number_text.h"

namespace stickslip {
namespace {

using Points = std::vector<Vec3f>;

std::string number(float value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string tuple(const Vec3f& v) {
  return "(" + number(v[0]) + ", " + number(v[1]) + ", " + number(v[2]) + ")";
}

std::string tuple(const Vec<double, 3>& v) {
  return "(" + number_text(v[0]) + ", " + number_text(v[1]) + ", " + number_text(v[2]) + ")";
}

std::string list(const Points& points) {
  std::string text = "[";
  for (std::size_t i = 0; i < points.size(); ++i) text += (i > 0 ? ", " : "") + tuple(points[i]);
  return text + "]";
}

template <class T>
std::string list(const std::vector<T>& values) {
  std::string text = "[";
  for (std::size_t i = 0; i < values.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(values[i]);
  return text + "]";
}

/// Names of prims are identifiers, and differ.
std::string prim_name(const std::string& name, std::set<std::string>& used) {
  std::string prim;
  for (const char c : name) prim += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (prim.empty() || std::isdigit(static_cast<unsigned char>(prim[0]))) prim = "_" + prim;
  std::string unique = prim;
  for (int n = 1; !used.insert(unique).second; ++n) unique = prim + "_" + std::to_string(n);
  return unique;
}

class UsdaWriter {
 public:
  explicit UsdaWriter(const std::vector<MotionFrame>& frames) : frames_(frames) {
    const double last = frames.back().time - frames.front().time;
    const double rate = frames.size() > 1 ? static_cast<double>(frames.size() - 1) / last : 24;
    per_second_ = rate;
    text_ =
        "#usda 1.0\n(\n    defaultPrim = \"stickslip\"\n    upAxis = \"Y\"\n    metersPerUnit = 1\n"
        "    startTimeCode = 0\n    endTimeCode = " +
        number_text(rate * last) + "\n    timeCodesPerSecond = " + number_text(rate) +
        "\n)\n\ndef Xform \"stickslip\"\n{\n";
  }

  void add(const MovingMesh& mesh) {
    const bool rods = !mesh.strands.empty();
    line(1, "def " + std::string(rods ? "BasisCurves" : "Mesh") + " \"" + prim_name(mesh.name, used_) + "\"");
    line(1, "{");
    if (rods) add_curves(mesh);
    else add_faces(mesh);
    line(2, "color3f[] primvars:displayColor = [" + tuple(mesh.color) + "]");
    line(1, "}");
  }

  std::string finish() { return text_ + "}\n"; }

 private:
  void line(int depth, const std::string& text) {
    text_.append(static_cast<std::size_t>(4 * depth), ' ');
    text_ += text + "\n";
  }
  /// "attribute.timeSamples = { 0: value, ... }" of value(frame).
  template <class F>
  void samples(const std::string& attribute, F value) {
    line(2, attribute + ".timeSamples = {");
    for (std::size_t f = 0; f < frames_.size(); ++f)
      line(3, number_text(per_second_ * (frames_[f].time - frames_[0].time)) + ": " + value(f) + ",");
    line(2, "}");
  }
  void points(const std::vector<Points>& of_frames) {
    if (of_frames.size() == 1) return line(2, "point3f[] points = " + list(of_frames[0]));
    samples("point3f[] points", [&](std::size_t f) { return list(of_frames[f]); });
  }

  void add_curves(const MovingMesh& mesh) {
    line(2, "uniform token type = \"linear\"");
    line(2, "int[] curveVertexCounts = " + list(mesh.strands));
    line(2, "float[] widths = [" + number(mesh.diameter) + "] (");
    line(3, "interpolation = \"constant\"");
    line(2, ")");
    points(mesh.strand_points);
  }

  void add_faces(const MovingMesh& mesh) {
    std::vector<int> indices;
    for (const Vec3i& t : mesh.triangles) indices.insert(indices.end(), {t[0], t[1], t[2]});
    line(2, "uniform token subdivisionScheme = \"none\"");
    if (mesh.two_sided) line(2, "uniform bool doubleSided = 1");
    line(2, "int[] faceVertexCounts = " + list(std::vector<int>(mesh.triangles.size(), 3)));
    line(2, "int[] faceVertexIndices = " + list(indices));
    points(mesh.points);
    if (mesh.motion == MovingMesh::Motion::deforming && mesh.points.size() > 1)
      samples("normal3f[] normals",
              [&](std::size_t f) { return list(smooth_normals(mesh.points[f], mesh.triangles)); });
    else line(2, "normal3f[] normals = " + list(mesh.normals));
    if (mesh.motion != MovingMesh::Motion::rigid) return;
    samples("double3 xformOp:translate", [&](std::size_t f) { return tuple(mesh.poses[f].x); });
    samples("quatd xformOp:orient", [&](std::size_t f) {
      const auto& q = mesh.poses[f].q;
      return "(" + number_text(q.w) + ", " + number_text(q.v[0]) + ", " + number_text(q.v[1]) + ", " +
             number_text(q.v[2]) + ")";
    });
    line(2, "uniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:orient\"]");
  }

  const std::vector<MotionFrame>& frames_;
  double per_second_ = 24;
  std::string text_;
  std::set<std::string> used_;
};

}  // namespace

std::string usda_text(const std::vector<MovingMesh>& meshes, const std::vector<MotionFrame>& frames) {
  UsdaWriter writer(frames);
  for (const MovingMesh& mesh : meshes) writer.add(mesh);
  return writer.finish();
}

}  // namespace stickslip
