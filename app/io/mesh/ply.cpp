// PLY [Turk94].
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "app/io/file/byte_cursor.h"
#include "app/io/file/number_text.h"
#include "app/io/mesh/mesh_check.h"
#include "app/io/mesh/polygon.h"
#include "app/io/mesh/surface_parse.h"

namespace stickslip {
namespace {

enum class Scalar { int8, uint8, int16, uint16, int32, uint32, float32, float64 };

struct ScalarName {
  std::string_view name;
  Scalar scalar;
  std::size_t bytes;
};
constexpr ScalarName kScalars[] = {
    {"char", Scalar::int8, 1},      {"uchar", Scalar::uint8, 1},    {"short", Scalar::int16, 2},
    {"ushort", Scalar::uint16, 2},  {"int", Scalar::int32, 4},      {"uint", Scalar::uint32, 4},
    {"float", Scalar::float32, 4},  {"double", Scalar::float64, 8}, {"int8", Scalar::int8, 1},
    {"uint8", Scalar::uint8, 1},    {"int16", Scalar::int16, 2},    {"uint16", Scalar::uint16, 2},
    {"int32", Scalar::int32, 4},    {"uint32", Scalar::uint32, 4},  {"float32", Scalar::float32, 4},
    {"float64", Scalar::float64, 8}};

struct Property {
  std::string name;
  const ScalarName* type = nullptr;
  const ScalarName* count = nullptr;  // of a list
};

struct Element {
  std::string name;
  std::uint64_t count = 0;
  std::vector<Property> properties;
};

class PlyReader {
 public:
  PlyReader(std::string_view bytes, const std::string& name) : in_(bytes, name) {
    in_.skip_byte_order_mark();
  }

  SurfaceMesh read() {
    read_header();
    for (const Element& element : elements_) {
      if (element.properties.empty()) continue;
      std::size_t least = 0;
      for (const Property& p : element.properties) least += binary_ ? (p.count ? p.count : p.type)->bytes : 2;
      in_.check_count((element.name + " rows").c_str(), element.count, least);
      for (std::uint64_t row = 0; row < element.count; ++row) {
        if (element.name == "vertex") read_vertex(element);
        else if (element.name == "face") read_face(element);
        else
          for (const Property& p : element.properties) read_property(p);
      }
    }
    if (faces_.empty()) in_.fail("has no faces");
    return connect();
  }

 private:
  void read_header() {
    if (in_.word() != "ply") in_.fail_at(0, "does not begin with 'ply'");
    in_.expect("format");
    const std::string_view format = in_.word();
    if (format != "ascii" && format != "binary_little_endian" && format != "binary_big_endian")
      in_.fail("the format should be ascii, binary_little_endian or binary_big_endian");
    in_.line();
    for (std::string_view key = in_.word(); key != "end_header"; key = in_.word()) {
      if (key == "element") {
        Element& element = elements_.emplace_back();
        element.name = in_.word();
        element.count = static_cast<std::uint64_t>(
            in_.whole("the number of rows", 0, std::numeric_limits<std::int64_t>::max()));
      } else if (key == "property") {
        read_property_line();
      } else if (key == "comment" || key == "obj_info") {
        in_.line();
      } else {
        in_.fail(key.empty() ? "the header has no end_header: is the file truncated?"
                             : "element, property, comment or end_header should begin this line");
      }
    }
    in_.line();
    binary_ = format != "ascii";
    if (binary_)
      in_.set_binary((format == "binary_big_endian") == (std::endian::native == std::endian::little));
  }
  void read_property_line() {
    if (elements_.empty()) in_.fail("a property comes before the first element");
    Property& property = elements_.back().properties.emplace_back();
    std::string_view type = in_.word();
    if (type == "list") {
      property.count = &scalar(in_.word());
      if (property.count->scalar >= Scalar::float32)
        in_.fail("the length of a list should be a whole number");
      type = in_.word();
    }
    property.type = &scalar(type);
    property.name = in_.word();
  }
  const ScalarName& scalar(std::string_view name) {
    const auto* found = std::find_if(std::begin(kScalars), std::end(kScalars),
                                     [&](const ScalarName& s) { return s.name == name; });
    if (found == std::end(kScalars)) in_.fail("a type such as float, double, uchar or int should be here");
    return *found;
  }

  double read_scalar(const ScalarName& type) {
    constexpr const char* what = "a number";
    if (!binary_) return in_.number(what);
    switch (type.scalar) {
      case Scalar::int8:
        return in_.binary<std::int8_t>(what);
      case Scalar::uint8:
        return in_.binary<std::uint8_t>(what);
      case Scalar::int16:
        return in_.binary<std::int16_t>(what);
      case Scalar::uint16:
        return in_.binary<std::uint16_t>(what);
      case Scalar::int32:
        return in_.binary<std::int32_t>(what);
      case Scalar::uint32:
        return in_.binary<std::uint32_t>(what);
      case Scalar::float32:
        return in_.binary<float>(what);
      default:
        return in_.binary<double>(what);
    }
  }
  /// Reads the value of a property, or the values of a list into list_.
  double read_property(const Property& property) {
    if (!property.count) return read_scalar(*property.type);
    const double count = read_scalar(*property.count);
    if (!(count >= 0) || count != std::floor(count) || count > 4e9)
      in_.fail("the length of a list should be a whole number");
    in_.check_count("numbers", static_cast<std::uint64_t>(count), binary_ ? property.type->bytes : 2);
    list_.clear();
    for (double i = 0; i < count; ++i) list_.push_back(read_scalar(*property.type));
    return 0;
  }

  void read_vertex(const Element& element) {
    const double missing = std::numeric_limits<double>::quiet_NaN();
    Vec<double, 3> p = Vec<double, 3>::filled(missing);
    for (const Property& property : element.properties) {
      const double value = read_property(property);
      if (property.name.size() == 1 && !property.count && property.name[0] >= 'x' && property.name[0] <= 'z')
        p[property.name[0] - 'x'] = value;
    }
    for (int c = 0; c < 3; ++c)
      if (!(std::abs(p[c]) < 1e30))
        in_.fail("vertex " + std::to_string(mesh_.nodes.size()) + " has no finite " + "xyz"[c]);
    mesh_.nodes.push_back(p);
  }
  void read_face(const Element& element) {
    std::vector<double> corners;
    const std::size_t offset = in_.offset();
    for (const Property& property : element.properties) {
      read_property(property);
      if (property.count && (property.name == "vertex_indices" || property.name == "vertex_index"))
        corners = list_;
    }
    if (corners.size() < 3 || corners.size() > kMostCorners)
      in_.fail_at(offset, "face " + std::to_string(faces_.size()) + " has " + std::to_string(corners.size()) +
                              " corners in vertex_indices: between 3 and " + std::to_string(kMostCorners) +
                              " make one");
    faces_.push_back({offset, std::move(corners)});
  }

  /// Faces are resolved last: the vertices may follow them.
  SurfaceMesh connect() {
    const auto count = static_cast<double>(mesh_.nodes.size());
    for (const Face& face : faces_) {
      std::vector<std::int32_t> polygon;
      for (const double corner : face.corners) {
        if (!(corner >= 0 && corner < count) || corner != std::floor(corner))
          in_.fail_at(face.offset, "a face names vertex " + number_text(corner) + " of " +
                                       std::to_string(mesh_.nodes.size()));
        polygon.push_back(static_cast<std::int32_t>(corner));
      }
      triangulate(mesh_.nodes, polygon, mesh_.triangles);
    }
    drop_unused(mesh_);
    return std::move(mesh_);
  }

  struct Face {
    std::size_t offset;
    std::vector<double> corners;
  };

  ByteCursor in_;
  bool binary_ = false;
  std::vector<Element> elements_;
  std::vector<double> list_;
  std::vector<Face> faces_;
  SurfaceMesh mesh_;
};

}  // namespace

SurfaceMesh parse_ply(std::string_view bytes, const std::string& name) {
  return PlyReader(bytes, name).read();
}

}  // namespace stickslip
