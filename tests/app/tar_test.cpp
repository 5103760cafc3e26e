// Tar archives of plain files.
#include "app/io/file/tar.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <sstream>

#include "app/io/file/input_error.h"

namespace stickslip {
namespace {

constexpr std::size_t kHeader = 512;

std::string archive_of(const std::vector<TarMember>& members) {
  std::ostringstream out;
  write_tar(out, members);
  return out.str();
}

/// The archive with other bytes in its first header, whose checksum is right again.
std::string with_header(std::string archive, std::size_t at, const std::string& bytes) {
  archive.replace(at, bytes.size(), bytes);
  archive.replace(148, 8, 8, ' ');
  unsigned sum = 0;
  for (std::size_t i = 0; i < kHeader; ++i) sum += static_cast<unsigned char>(archive[i]);
  char text[8];
  std::snprintf(text, sizeof text, "%06o", sum);
  return archive.replace(148, 7, text, 7);
}

std::string tar_refusal(const std::string& archive) {
  try {
    parse_tar(archive, "some.tar");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

void expect_tar_refused(const std::string& archive, const std::string& part) {
  const std::string seen = tar_refusal(archive);
  EXPECT_NE(seen.find("some.tar: byte "), std::string::npos) << part << ": " << seen;
  EXPECT_NE(seen.find(part), std::string::npos) << seen;
}

TEST(Tar, ReadsWhatItWrote) {
  const std::string deep = std::string(80, 'f') + "/" + std::string(60, 'g') + "/" + std::string(90, 'n');
  const std::vector<TarMember> members{{"a.txt", "some text"},
                                       {"folder/empty", ""},
                                       {"folder/block", std::string(kHeader, '\0')},
                                       {"folder/more", std::string(3 * kHeader + 1, 'x')},
                                       {deep, "deep"}};
  const std::string archive = archive_of(members);
  EXPECT_EQ(archive.size() % kHeader, 0u);
  const std::vector<TarMember> seen = parse_tar(archive, "some.tar");
  ASSERT_EQ(seen.size(), members.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    EXPECT_EQ(seen[i].name, members[i].name);
    EXPECT_TRUE(seen[i].bytes == members[i].bytes) << members[i].name;
  }
  EXPECT_EQ(archive_of(members), archive) << "no times in it";
  EXPECT_EQ(parse_tar(archive + std::string(8192, '\0'), "some.tar").size(), 5u) << "as tar fills its files";
}

TEST(Tar, DoesNotWriteWhatItWouldRefuse) {
  for (const char* name : {"", "/etc/passwd", "../up", "a/../../b", "a//b", "a/", "./a"})
    EXPECT_THROW(archive_of({{name, "x"}}), std::invalid_argument) << name;
  EXPECT_THROW(archive_of({{std::string(101, 'n'), "x"}}), std::invalid_argument);
  EXPECT_THROW(archive_of({{"a", "x"}, {"a", "y"}}), std::invalid_argument);
  EXPECT_THROW(archive_of({{"a", "x"}, {"a/b", "y"}}), std::invalid_argument);
  EXPECT_THROW(archive_of({{"a/b", "x"}, {"a", "y"}}), std::invalid_argument);
}

TEST(Tar, RefusesNamesThatLeadElsewhere) {
  const std::string archive = archive_of({{"aaaaaaaaaa", "x"}, {"b", "y"}});
  for (const char* name : {"/etc/hosts", "../../over", "a/../../bb", "a//aaaaaaa", "./aaaaaaaa"})
    expect_tar_refused(with_header(archive, 0, name), "name");
  expect_tar_refused(with_header(archive, 0, std::string("b") + std::string(9, '\0')),
                     "name of an earlier one");
  expect_tar_refused(with_header(archive, 0, std::string(10, '\0')), "no name");
  expect_tar_refused(with_header(archive, 345, "../up"), "'..'");
}

TEST(Tar, RefusesWhatIsNoPlainFile) {
  const std::string archive = archive_of({{"a", "x"}});
  for (const char* kind : {"1", "2", "3", "6", "x", "L"})
    expect_tar_refused(with_header(archive, 156, kind), "neither a plain file nor a folder");
  const std::string folder = with_header(archive_of({{"a", ""}}), 156, "5");
  EXPECT_TRUE(parse_tar(folder, "some.tar").empty());
}

TEST(Tar, RefusesSizesThatLie) {
  const std::string archive = archive_of({{"a", "0123456789"}, {"b", "y"}});
  expect_tar_refused(with_header(archive, 124, "77777777777"), "claims 8589934591 bytes");
  expect_tar_refused(with_header(archive, 124, "00000000x00"), "no octal number");
  expect_tar_refused(with_header(archive, 124, "-0000000001"), "no octal number");
  expect_tar_refused(with_header(archive, 124, "\x80\x01\x01\x01"), "no octal number");
  expect_tar_refused(with_header(archive, 124, "00000001750"), "no header");  // it ends inside the next file
}

TEST(Tar, RefusesDamageAndWhatIsCutOff) {
  const std::string archive = archive_of({{"a", std::string(700, 'x')}, {"b", "y"}});
  for (std::size_t length = 0; length < archive.size(); length += 64)
    EXPECT_NE(tar_refusal(archive.substr(0, length)), "") << length;
  EXPECT_NE(tar_refusal(archive.substr(0, archive.size() - 1)), "");
  std::string damaged = archive;
  damaged[3] = 'z';
  expect_tar_refused(damaged, "checksum");
  expect_tar_refused(std::string(2048, 'z'), "no header");
  expect_tar_refused(archive + "more", "follows the end");
  // What is too short for one header is no archive, unless it begins as one.
  expect_tar_refused("", "the file is empty");
  expect_tar_refused("some words", "no header");
  expect_tar_refused(std::string(511, 'z'), "no header");
  expect_tar_refused(archive.substr(0, 300), "is cut off");
  expect_tar_refused(archive.substr(0, 1600), "is cut off");
}

}  // namespace
}  // namespace stickslip
