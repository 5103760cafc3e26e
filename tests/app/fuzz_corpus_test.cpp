// Every input that a fuzzer found worth keeping, through its parser.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/fuzz/targets.h"

namespace stickslip {
namespace {

TEST(FuzzCorpus, IsReadOrRefused) {
  const std::filesystem::path corpus = STICKSLIP_FUZZ_CORPUS;
  ::testing::internal::CaptureStderr();  // warnings
  for (const FuzzTarget& target : fuzz_targets()) {
    SCOPED_TRACE(target.name);
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(corpus / target.name)) {
      SCOPED_TRACE(entry.path());
      std::ostringstream bytes;
      bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
      EXPECT_NO_THROW(target.run(bytes.str()));
      ++count;
    }
    EXPECT_GT(count, 0);
  }
  ::testing::internal::GetCapturedStderr();
}

}  // namespace
}  // namespace stickslip
