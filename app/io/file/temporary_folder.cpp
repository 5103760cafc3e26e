#include "app/io/file/temporary_folder.h"

#include <cstdlib>
#include <string>
#include <system_error>

#include "app/io/file/output_file.h"

namespace stickslip {

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  std::string name = (std::filesystem::temp_directory_path(error) / "stickslip-XXXXXX").string();
  if (error || mkdtemp(name.data()) == nullptr)
    throw OutputError("there is no folder for temporary files that can be written: set TMPDIR");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

}  // namespace stickslip
