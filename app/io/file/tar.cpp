#include "app/io/file/tar.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <stdexcept>

#include "app/io/file/byte_cursor.h"
#include "app/io/file/input_error.h"

namespace stickslip {
namespace {

constexpr std::size_t kTarBlock = 512;
constexpr std::size_t kTarEnd = 2 * kTarBlock;             // of zeros, after the last file
constexpr std::uint64_t kTarMostBytes = (1ULL << 33) - 1;  // 11 octal digits
constexpr std::size_t kTarNameBytes = 100, kTarFolderBytes = 155;

/// A field of the header: its offset and length in bytes.
struct TarField {
  std::size_t at, length;
};
constexpr TarField kTarName{0, 100}, kTarMode{100, 8}, kTarUser{108, 8}, kTarGroup{116, 8}, kTarSize{124, 12},
    kTarTime{136, 12}, kTarChecksum{148, 8}, kTarKind{156, 1}, kTarMagic{257, 8}, kTarPrefix{345, 155};

/// Why a name of a member is refused; empty: it is good.
std::string tar_name_fault(std::string_view name) {
  if (name.empty()) return "has no name";
  if (name.front() == '/') return "has an absolute name";
  if (name.find('\0') != std::string_view::npos) return "has a zero byte in its name";
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..")
      return "has a name with the part '" + std::string(part) + "'";
    begin = end + 1;
  }
  return "";
}

/// Names of the files so far, and of the folders in which they lie.
class TarNames {
 public:
  /// Why the next file cannot have this name; empty: it can.
  std::string add(const std::string& name) {
    if (std::string fault = tar_name_fault(name); !fault.empty()) return fault;
    if (folders_.contains(name)) return "has the name of a folder of the archive";
    for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1)) {
      const std::string folder = name.substr(0, slash);
      if (files_.contains(folder)) return "lies below a file of the archive";
      folders_.insert(folder);
    }
    return files_.insert(name).second ? "" : "has the name of an earlier one";
  }

 private:
  std::set<std::string> files_, folders_;
};

/// Sum of the header's bytes, with spaces in place of the checksum.
std::uint64_t tar_checksum(std::string_view header) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kTarBlock; ++i) {
    const bool own = i >= kTarChecksum.at && i < kTarChecksum.at + kTarChecksum.length;
    sum += own ? ' ' : static_cast<unsigned char>(header[i]);
  }
  return sum;
}

// ---- Writing ----

void put_text(std::string& header, const TarField& field, std::string_view text) {
  std::copy(text.begin(), text.end(), header.begin() + static_cast<std::ptrdiff_t>(field.at));
}

/// `digits` octal digits; the rest of the field stays zero.
void put_octal(std::string& header, const TarField& field, std::size_t digits, std::uint64_t value) {
  for (std::size_t i = digits; i-- > 0; value /= 8) header[field.at + i] = static_cast<char>('0' + value % 8);
}

/// Splits a long name at a '/' into the header's prefix and name. Empty: there is no such place.
std::optional<std::array<std::string, 2>> split_tar_name(const std::string& name) {
  if (name.size() <= kTarNameBytes) return std::array<std::string, 2>{"", name};
  for (std::size_t slash = name.find('/'); slash != std::string::npos && slash <= kTarFolderBytes;
       slash = name.find('/', slash + 1))
    if (name.size() - slash - 1 <= kTarNameBytes)
      return std::array<std::string, 2>{name.substr(0, slash), name.substr(slash + 1)};
  return std::nullopt;
}

std::string tar_header(const TarMember& member) {
  const auto parts = split_tar_name(member.name);
  if (!parts) throw std::invalid_argument("the name '" + member.name + "' is too long for a tar archive");
  if (member.bytes.size() > kTarMostBytes)
    throw std::invalid_argument(member.name + " is too large for a tar archive: 8 GiB at most");
  std::string header(kTarBlock, '\0');
  put_text(header, kTarPrefix, (*parts)[0]);
  put_text(header, kTarName, (*parts)[1]);
  put_octal(header, kTarMode, 7, 0644);
  put_octal(header, kTarUser, 7, 0);
  put_octal(header, kTarGroup, 7, 0);
  put_octal(header, kTarSize, 11, member.bytes.size());
  put_octal(header, kTarTime, 11, 0);  // equal files make equal archives
  put_text(header, kTarKind, "0");
  put_text(header, kTarMagic, std::string_view("ustar\00000", 8));
  put_octal(header, kTarChecksum, 6, tar_checksum(header));
  header[kTarChecksum.at + 7] = ' ';
  return header;
}

// ---- Reading ----

class TarReader {
 public:
  TarReader(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  std::vector<TarMember> read() {
    std::vector<TarMember> members;
    TarNames names;
    while (!at_end()) {
      check_header();
      TarMember member{member_name(), ""};
      const char kind = bytes_[at_ + kTarKind.at];
      const std::uint64_t size = octal(kTarSize, "size");
      const std::uint64_t left = bytes_.size() - at_ - kTarBlock;
      if (size > left)
        fail(shown(member.name) + " claims " + std::to_string(size) + " bytes, and the file has only " +
             std::to_string(left) + " more");
      if (kind == '0' || kind == '\0') {
        if (const std::string fault = names.add(member.name); !fault.empty())
          fail("the file " + shown(member.name) + " " + fault);
        member.bytes = bytes_.substr(at_ + kTarBlock, size);
        members.push_back(std::move(member));
      } else if (kind != '5') {
        fail(shown(member.name) + " is neither a plain file nor a folder");
      }
      const std::uint64_t blocks = (size + kTarBlock - 1) / kTarBlock;
      at_ += kTarBlock * (1 + blocks);
    }
    return members;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(name_ + ": byte " + std::to_string(at_) + ": " + what);
  }

  /// True behind the last file, where only zeros follow.
  bool at_end() const {
    if (bytes_.empty()) fail("the file is empty");
    if (at_ == 0 && !is_marked() && bytes_.size() < kTarBlock) fail("here is no header of a tar archive");
    if (at_ > bytes_.size() || bytes_.size() - at_ < kTarBlock)
      fail("the archive is cut off: its end is missing");
    const auto is_zero = [](char c) { return c == '\0'; };
    if (!std::ranges::all_of(bytes_.substr(at_, kTarBlock), is_zero)) return false;
    if (bytes_.size() - at_ < kTarEnd) fail("the archive is cut off: its end is missing");
    if (!std::ranges::all_of(bytes_.substr(at_), is_zero)) fail("something follows the end of the archive");
    return true;
  }

  /// Whether a block at this place has the mark of a header, if it is long enough for it.
  bool is_marked() const { return bytes_.substr(std::min(bytes_.size(), at_ + kTarMagic.at), 5) == "ustar"; }

  void check_header() const {
    if (!is_marked()) fail("here is no header of a tar archive");
    if (octal(kTarChecksum, "checksum") != tar_checksum(bytes_.substr(at_, kTarBlock)))
      fail("the checksum of the header is wrong: the file is damaged");
  }

  /// Up to the first zero byte of the field.
  std::string text(const TarField& field) const {
    const std::string_view raw = bytes_.substr(at_ + field.at, field.length);
    return std::string(raw.substr(0, raw.find('\0')));
  }

  std::string member_name() const {
    const bool posix = bytes_[at_ + kTarMagic.at + 5] == '\0';  // GNU's headers have other fields there
    const std::string prefix = posix ? text(kTarPrefix) : "", own = text(kTarName);
    return prefix.empty() ? own : prefix + "/" + own;
  }

  /// Octal digits, before them spaces, behind them a space or zero byte.
  std::uint64_t octal(const TarField& field, const char* what) const {
    std::string digits = text(field);
    digits.erase(0, std::min(digits.find_first_not_of(' '), digits.size()));
    digits.erase(digits.find_last_not_of(' ') + 1);
    if (digits.empty() || !std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '7'; }))
      fail(std::string("the ") + what + " in the header is no octal number");
    std::uint64_t value = 0;
    for (const char c : digits) value = 8 * value + static_cast<std::uint64_t>(c - '0');
    return value;
  }

  std::string_view bytes_;
  const std::string& name_;
  std::size_t at_ = 0;
};

}  // namespace

void write_tar(std::ostream& out, const std::vector<TarMember>& members) {
  TarNames names;
  for (const TarMember& member : members) {
    if (const std::string fault = names.add(member.name); !fault.empty())
      throw std::invalid_argument("the file '" + member.name + "' " + fault);
    out << tar_header(member) << member.bytes;
    out << std::string((kTarBlock - member.bytes.size() % kTarBlock) % kTarBlock, '\0');
  }
  out << std::string(kTarEnd, '\0');
}

std::vector<TarMember> parse_tar(std::string_view bytes, const std::string& name) {
  return TarReader(bytes, name).read();
}

}  // namespace stickslip
