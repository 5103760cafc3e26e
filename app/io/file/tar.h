// Tar archives of plain files (POSIX ustar). A bundle is one: `tar` and file managers of every system unpack
// it, and it needs a header of 512 bytes per file and no library. HDF5, which the program links, would hide
// text and pictures from other programs, and zip would need a checksum and a directory of its own.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace stickslip {

struct TarMember {
  std::string name;  // relative, parts joined by '/'
  std::string bytes;
};

/// Writes the members in their order. Throws std::invalid_argument for a name that does not fit (100 bytes,
/// or up to 255 where a '/' splits it), a bad one as `parse_tar` refuses, or one that occurs twice.
void write_tar(std::ostream& out, const std::vector<TarMember>& members);

/// The files of an archive; entries of folders are skipped. Throws InputError "name: byte N: ..." for
/// everything that is no complete archive of plain files: no header, a wrong checksum, a size beyond the end,
/// a missing end, links and devices; names that are absolute, have an empty part, "." or "..", occur twice,
/// or lie below another file.
std::vector<TarMember> parse_tar(std::string_view bytes, const std::string& name);

}  // namespace stickslip
