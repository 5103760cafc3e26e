#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "app/io/file/byte_cursor.h"
#include "app/io/mesh/msh.h"

namespace stickslip {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostNodes = std::numeric_limits<std::int32_t>::max();

struct ElementType {
  int type, nodes, dimension;
  const char* name;
};
constexpr ElementType kTypes[] = {
    {1, 2, 1, "line"},         {2, 3, 2, "triangle"},      {3, 4, 2, "quadrangle"},
    {4, 4, 3, "tetrahedron"},  {5, 8, 3, "hexahedron"},    {6, 6, 3, "prism"},
    {7, 5, 3, "pyramid"},      {8, 3, 1, "line"},          {9, 6, 2, "triangle"},
    {10, 9, 2, "quadrangle"},  {11, 10, 3, "tetrahedron"}, {12, 27, 3, "hexahedron"},
    {13, 18, 3, "prism"},      {14, 14, 3, "pyramid"},     {15, 1, 0, "point"},
    {16, 8, 2, "quadrangle"},  {17, 20, 3, "hexahedron"},  {18, 15, 3, "prism"},
    {19, 13, 3, "pyramid"},    {20, 9, 2, "triangle"},     {21, 10, 2, "triangle"},
    {22, 12, 2, "triangle"},   {23, 15, 2, "triangle"},    {24, 15, 2, "triangle"},
    {25, 21, 2, "triangle"},   {26, 4, 1, "line"},         {27, 5, 1, "line"},
    {28, 6, 1, "line"},        {29, 20, 3, "tetrahedron"}, {30, 35, 3, "tetrahedron"},
    {31, 56, 3, "tetrahedron"}};

/// An element as stored in the file: its nodes are still tags.
template <int N>
struct TaggedElement {
  std::int64_t tag;
  std::size_t offset;
  std::array<std::int64_t, N> nodes;
};

class MshReader {
 public:
  MshReader(std::string_view bytes, const std::string& name) : in_(bytes, name) {
    in_.skip_byte_order_mark();
  }

  MshContent read() {
    read_format();
    bool has_nodes = false, has_elements = false;
    for (std::string_view word = in_.word(); !word.empty(); word = in_.word()) {
      const std::size_t begin = in_.offset() - word.size();
      if (word[0] != '$') in_.fail_at(begin, "a section such as $Nodes should begin here");
      const std::string section(word.substr(1));
      if ((section == "Nodes" && std::exchange(has_nodes, true)) ||
          (section == "Elements" && std::exchange(has_elements, true)))
        in_.fail_at(begin, "there is a second $" + section);
      if (section == "Nodes" || section == "Elements") {
        in_.line();
        if (section == "Nodes") version2_ ? read_nodes2() : read_nodes4();
        else version2_ ? read_elements2() : read_elements4();
        in_.expect("$End" + section);
      } else if (!in_.skip_past("$End" + section)) {
        in_.fail_at(begin, shown(word) + " has no end: is the file truncated?");
      }
    }
    for (const auto& [has, section] : {std::pair(has_nodes, "$Nodes"), {has_elements, "$Elements"}})
      if (!has) in_.fail(std::string("the file has no ") + section + ": is it truncated?");
    resolve();
    return std::move(out_);
  }

 private:
  void read_format() {
    if (in_.word() != "$MeshFormat")
      in_.fail_at(0, "does not begin with $MeshFormat: a Gmsh file of version 2.2 or 4.1 would");
    const std::string_view version = in_.word();
    version2_ = version == "2.2" || version == "2.1" || version == "2.0" || version == "2";
    if (!version2_ && version != "4.1")
      in_.fail("MSH version " + shown(version) + " is not read: save as 4.1 or 2.2 (gmsh -format msh41)");
    out_.binary = in_.whole("0 for text or 1 for binary", 0, 1) == 1;
    in_.whole("the size of a number, 8 bytes", 8, 8);
    in_.line();
    if (out_.binary) {
      in_.set_binary(false);
      const auto one = in_.binary<std::int32_t>("the number 1 that shows the byte order");
      if (one != 1 && one != 0x01000000)
        in_.fail_at(in_.offset() - 4, "the number 1 should be here, to show the byte order");
      in_.set_binary(one != 1);
    }
    in_.expect("$EndMeshFormat");
  }

  /// Reads an int of the format.
  std::int64_t integer(const char* what, std::int64_t low, std::int64_t high) {
    return out_.binary ? checked(what, in_.binary<std::int32_t>(what), 4, low, high)
                       : in_.whole(what, low, high);
  }
  /// Reads a size_t of the format (4.1), or an int (2.2).
  std::int64_t size(const char* what, std::int64_t low = 0) {
    if (!out_.binary || version2_) return integer(what, low, kMost);
    return checked(what, in_.binary<std::int64_t>(what), 8, low, kMost);
  }
  std::int64_t checked(const char* what, std::int64_t value, std::size_t bytes, std::int64_t low,
                       std::int64_t high) {
    if (value < low || value > high)
      in_.fail_at(in_.offset() - bytes,
                  std::to_string(value) + " should be " + what + ", at least " + std::to_string(low));
    return value;
  }
  double coordinate() {
    constexpr const char* what = "a coordinate";
    const double value = out_.binary ? in_.binary<double>(what) : in_.number(what);
    if (!(std::abs(value) < 1e30))
      in_.fail_at(in_.offset() - (out_.binary ? sizeof(double) : 0), "a coordinate is not a finite length");
    return value;
  }
  /// Reads the number of items of a section or block; throws unless that many fit into the rest of the file.
  std::int64_t count(const char* what, std::size_t binary_bytes, std::size_t text_bytes) {
    const std::int64_t n = size(what);
    in_.check_count(what, static_cast<std::uint64_t>(n), out_.binary ? binary_bytes : text_bytes);
    return n;
  }

  /// Reads the number of rows of a version 2.2 section: a line of text, also in binary files.
  std::int64_t rows(const char* what, std::size_t binary_bytes, std::size_t text_bytes) {
    const std::int64_t n = in_.whole(what, 0, kMost);
    in_.line();
    in_.check_count(what, static_cast<std::uint64_t>(n), out_.binary ? binary_bytes : text_bytes);
    return n;
  }

  void read_nodes2() {
    const std::int64_t nodes = rows("nodes", 28, 8);
    for (std::int64_t i = 0; i < nodes; ++i) {
      out_.node_tags.push_back(size("a node's number"));
      read_position(0);
    }
  }
  void read_nodes4() {
    const std::int64_t blocks = count("blocks of nodes", 20, 8), nodes = size("the number of nodes");
    size("the smallest node tag"), size("the largest node tag");
    for (std::int64_t b = 0; b < blocks; ++b) {
      const std::int64_t dimension = integer("the dimension of an entity", 0, 3);
      integer("the tag of an entity", std::numeric_limits<std::int32_t>::min(), kMostNodes);
      const std::int64_t parametric = integer("0, or 1 for nodes with parameters", 0, 1);
      const std::int64_t in_block = count("nodes", 32, 8);
      for (std::int64_t i = 0; i < in_block; ++i) out_.node_tags.push_back(size("a node's tag"));
      for (std::int64_t i = 0; i < in_block; ++i) read_position(parametric ? dimension : 0);
    }
    if (nodes != static_cast<std::int64_t>(out_.nodes.size()))
      in_.fail("$Nodes says that it holds " + std::to_string(nodes) + " nodes, and holds " +
               std::to_string(out_.nodes.size()));
  }
  void read_position(std::int64_t parameters) {
    Vec<double, 3> p{};
    for (int c = 0; c < 3; ++c) p[c] = coordinate();
    out_.nodes.push_back(p);
    for (std::int64_t i = 0; i < parameters; ++i) coordinate();
  }

  void read_elements2() {
    const std::int64_t elements = rows("elements", 4, 6);
    for (std::int64_t e = 0; e < elements;) {
      const std::size_t begin = in_.offset();
      if (!out_.binary) {
        const std::int64_t tag = size("an element's number");
        const ElementType& type = element_type(tag);
        skip_tags(integer("the number of tags", 0, 1000));
        read_element(type, tag);
        ++e;
        continue;
      }
      const ElementType& type = element_type(-1);
      const std::int64_t follow = integer("the number of elements that follow", 1, elements - e);
      const std::int64_t tags = integer("the number of tags", 0, 1000);
      const auto bytes = static_cast<std::size_t>(4 * (1 + tags + type.nodes));
      if (in_.remaining() / bytes < static_cast<std::size_t>(follow))
        in_.fail_at(begin, "says that " + std::to_string(follow) +
                               " elements follow, but the file ends before: is it truncated?");
      for (std::int64_t i = 0; i < follow; ++i) {
        const std::int64_t tag = size("an element's number");
        skip_tags(tags);
        read_element(type, tag);
      }
      e += follow;
    }
  }
  void skip_tags(std::int64_t tags) {
    for (std::int64_t i = 0; i < tags; ++i)
      integer("an element's tag", std::numeric_limits<std::int32_t>::min(), kMostNodes);
  }
  void read_elements4() {
    const std::int64_t blocks = count("blocks of elements", 20, 8), elements = size("the number of elements");
    size("the smallest element tag"), size("the largest element tag");
    std::int64_t seen = 0;
    for (std::int64_t b = 0; b < blocks; ++b) {
      integer("the dimension of an entity", 0, 3);
      integer("the tag of an entity", std::numeric_limits<std::int32_t>::min(), kMostNodes);
      const ElementType& type = element_type(-1);
      const std::int64_t in_block = count("elements", 8 * (1 + static_cast<std::size_t>(type.nodes)),
                                          2 * (1 + static_cast<std::size_t>(type.nodes)));
      for (std::int64_t i = 0; i < in_block; ++i) read_element(type, size("an element's tag"));
      seen += in_block;
    }
    if (elements != seen)
      in_.fail("$Elements says that it holds " + std::to_string(elements) + " elements, and holds " +
               std::to_string(seen));
  }

  /// `tag` of the element for messages; negative for a whole block.
  const ElementType& element_type(std::int64_t tag) {
    const std::int64_t type = integer("the type of an element", 0, kMostNodes);
    const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                     [&](const ElementType& t) { return t.type == type; });
    const std::string which =
        tag < 0 ? "elements of type " : "element " + std::to_string(tag) + " is of type ";
    if (found == std::end(kTypes)) in_.fail(which + std::to_string(type) + ", which is unknown");
    if (found->dimension == 3 && type != 4)
      in_.fail(which + std::to_string(type) + " (" + found->name + " with " + std::to_string(found->nodes) +
               " nodes): solids need tetrahedra with 4 nodes, type 4");
    return *found;
  }
  void read_element(const ElementType& type, std::int64_t tag) {
    const std::size_t offset = in_.offset();  // on the line of the tag
    if (type.type == 4) tets_.push_back({tag, offset, read_tags<4>()});
    else if (type.type == 2) triangles_.push_back({tag, offset, read_tags<3>()});
    else
      for (int i = 0; i < type.nodes; ++i) size("a node's tag");
  }
  template <int N>
  std::array<std::int64_t, N> read_tags() {
    std::array<std::int64_t, N> tags{};
    for (std::int64_t& tag : tags) tag = size("a node's tag");
    return tags;
  }

  /// Replaces tags by indices.
  void resolve() {
    const std::vector<std::int64_t>& tags = out_.node_tags;
    if (static_cast<std::int64_t>(tags.size()) > kMostNodes) in_.fail("has more than 2^31 nodes");
    std::vector<std::int32_t> order(tags.size());
    std::iota(order.begin(), order.end(), 0);
    const auto by_tag = [&](std::int32_t a, std::int32_t b) { return tags[a] < tags[b]; };
    if (!std::is_sorted(order.begin(), order.end(), by_tag)) std::sort(order.begin(), order.end(), by_tag);
    for (std::size_t i = 1; i < order.size(); ++i)
      if (tags[order[i]] == tags[order[i - 1]])
        in_.fail("two nodes have the tag " + std::to_string(tags[order[i]]));
    const auto index = [&](std::int64_t tag) -> std::optional<std::int32_t> {
      const auto found = std::lower_bound(order.begin(), order.end(), tag,
                                          [&](std::int32_t i, std::int64_t t) { return tags[i] < t; });
      return found != order.end() && tags[*found] == tag ? std::optional(*found) : std::nullopt;
    };
    const auto indices = [&](const auto& element, auto& to) {
      int c = 0;
      for (const std::int64_t tag : element.nodes) {
        const auto i = index(tag);
        if (!i)
          in_.fail_at(element.offset, "element " + std::to_string(element.tag) + " names node " +
                                          std::to_string(tag) + ", which $Nodes does not hold");
        to[c++] = *i;
      }
    };
    for (const TaggedElement<4>& tet : tets_) {
      indices(tet, out_.tets.emplace_back());
      out_.tet_tags.push_back(tet.tag);
      out_.tet_offsets.push_back(tet.offset);
    }
    for (const TaggedElement<3>& triangle : triangles_) indices(triangle, out_.triangles.emplace_back());
  }

  ByteCursor in_;
  bool version2_ = false;
  MshContent out_;
  std::vector<TaggedElement<4>> tets_;
  std::vector<TaggedElement<3>> triangles_;
};

}  // namespace

MshContent parse_msh(std::string_view bytes, const std::string& name) {
  return MshReader(bytes, name).read();
}

}  // namespace stickslip
