// Invalid FCLIB files: each is refused with a message that has the file and the dataset.
#include <gtest/gtest.h>
#include <hdf5.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>

#include "app/io/file/input_error.h"
#include "tests/app/fclib_fixture.h"

namespace stickslip {
namespace {

using testing::RawFile;
using testing::ScratchFolder;
using testing::small_local;

std::string bytes_of(const std::filesystem::path& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

class FclibBad : public ::testing::Test {
 protected:
  ScratchFolder folder_{std::string("fclib_bad_") +
                        ::testing::UnitTest::GetInstance()->current_test_info()->name()};
  std::filesystem::path path_ = folder_ / "bad.hdf5";

  /// The reader's message; empty when it accepts the file.
  std::string refusal() const {
    ::testing::internal::CaptureStderr();
    std::string message;
    try {
      read_fclib(path_);
    } catch (const InputError& error) {
      message = error.what();
    }
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");  // HDF5 does not print
    return message;
  }

  void expect(const RawFile& raw, std::initializer_list<const char*> parts) const {
    raw.write(path_);
    expect_refused(parts);
  }
  void expect_refused(std::initializer_list<const char*> parts) const {
    const std::string message = refusal();
    EXPECT_EQ(message.rfind(path_.string() + ": ", 0), 0u) << message;
    for (const char* part : parts)
      EXPECT_NE(message.find(part), std::string::npos) << part << " in: " << message;
  }

  /// Changes an HDF5 file in ways that only the library supports.
  void edit(const std::function<void(hid_t)>& change) const {
    const hid_t file = H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    ASSERT_GE(file, 0);
    change(file);
    H5Fclose(file);
  }
};

/// Replaces a dataset by one of any type and shape.
void replace(hid_t file, const char* name, hid_t type, const std::vector<hsize_t>& shape,
             const void* values) {
  H5Ldelete(file, name, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
  const hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (values) H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  H5Dclose(dataset), H5Sclose(space);
}

TEST_F(FclibBad, TheFixtureItselfIsGood) {
  small_local().write(path_);
  EXPECT_EQ(refusal(), "");
}

TEST_F(FclibBad, MissingData) {
  for (const char* name :
       {"spacedim", "vectors/mu", "vectors/q", "W/m", "W/n", "W/nz", "W/nzmax", "W/p", "W/i", "W/x"}) {
    RawFile raw = small_local();
    raw.data.erase("/fclib_local/" + std::string(name));
    expect(raw, {name, "is missing"});
  }
  RawFile raw;
  raw.data["/solution/r"] = std::vector<double>{1};
  expect(raw, {"is no FCLIB file"});
  raw = small_local();
  raw.data["/fclib_global/spacedim"] = std::vector<std::int32_t>{3};
  expect(raw, {"both /fclib_local and /fclib_global"});
  raw = small_local();
  raw.data["/fclib_local/vectors/s"] = std::vector<double>{1};
  expect(raw, {"/fclib_local/V", "is missing beside"});
  raw = small_local();
  raw.data.erase("/guesses/1/r");
  expect(raw, {"/guesses/1", "is missing"});
}

TEST_F(FclibBad, WrongSizes) {
  const auto ints = [this](const char* name, std::vector<std::int32_t> values,
                           std::initializer_list<const char*> parts) {
    RawFile raw = small_local();
    raw.data[name] = std::move(values);
    expect(raw, parts);
  };
  ints("/fclib_local/spacedim", {2}, {"spacedim", "planar"});
  ints("/fclib_local/spacedim", {4}, {"spacedim", "= 4, not 3"});
  ints("/fclib_local/spacedim", {3, 3}, {"spacedim", "2 integers, not one"});
  ints("/fclib_local/spacedim", {}, {"spacedim", "0 integers"});
  ints("/fclib_local/W/m", {7}, {"/fclib_local/W is 7 x 6, not 6 x 6"});
  ints("/fclib_local/W/n", {-6}, {"W is 6 x -6"});
  ints("/fclib_local/W/m", {2000000000}, {"2000000000 x 6"});
  ints("/fclib_local/W/nz", {-3}, {"W/nz = -3"});
  ints("/fclib_local/W/nz", {9}, {"W/p holds 7 values"});
  ints("/fclib_local/W/nz", {2147483647}, {"W/p holds 7 values"});
  ints("/fclib_local/W/nzmax", {7}, {"W/nzmax = 7", "number of entries, 8"});
  ints("/fclib_local/W/nzmax", {-1}, {"W/nzmax = -1"});
  ints("/fclib_local/W/i", {0, 3, 1}, {"W/i holds 3 values"});
  ints("/fclib_local/W/p", {0, 2, 3, 4, 6, 7}, {"W/p holds 6 offsets", "6 rows"});
  ints("/fclib_local/W/p", {}, {"W/p holds 0 offsets"});
  ints("/guesses/number_of_guesses", {2}, {"/guesses/2 is missing"});
  ints("/guesses/number_of_guesses", {2147483647}, {"/guesses/2 is missing"});
  ints("/guesses/number_of_guesses", {-1}, {"negative"});
  RawFile empty = small_local();
  empty.data = {{"/fclib_local/spacedim", std::vector<std::int32_t>{3}},
                {"/fclib_local/vectors/mu", std::vector<double>{}},
                {"/fclib_local/vectors/q", std::vector<double>{}},
                {"/fclib_local/W/m", std::vector<std::int32_t>{0}},
                {"/fclib_local/W/n", std::vector<std::int32_t>{0}},
                {"/fclib_local/W/nz", std::vector<std::int32_t>{0}},
                {"/fclib_local/W/nzmax", std::vector<std::int32_t>{0}},
                {"/fclib_local/W/p", std::vector<std::int32_t>{}},
                {"/fclib_local/W/i", std::vector<std::int32_t>{}},
                {"/fclib_local/W/x", std::vector<double>{}}};
  expect(empty, {"/fclib_local has neither contacts nor equalities"});
  const auto reals = [this](const char* name, std::vector<double> values,
                            std::initializer_list<const char*> parts) {
    RawFile raw = small_local();
    raw.data[name] = std::move(values);
    expect(raw, parts);
  };
  reals("/fclib_local/vectors/mu", {0.5}, {"vectors/q has 6 values, not 3"});
  reals("/fclib_local/vectors/mu", {}, {"vectors/q has 6 values, not 0"});
  reals("/fclib_local/vectors/q", {1, 2, 3, 4, 5}, {"vectors/q has 5 values, not 6"});
  reals("/fclib_local/W/x", {1, 2}, {"W/x holds 2 values"});
  reals("/solution/r", {1, 2}, {"/solution/r has 2 values, not 6"});
  reals("/solution/l", {1}, {"/solution/l has 1 values, not 0"});
  reals("/guesses/1/u", {1}, {"/guesses/1/u has 1 values"});
}

TEST_F(FclibBad, WrongValues) {
  const double nan = std::nan(""), infinite = std::numeric_limits<double>::infinity();
  const auto real = [this](const char* name, std::size_t at, double value,
                           std::initializer_list<const char*> parts) {
    RawFile raw = small_local();
    raw.reals(name)[at] = value;
    expect(raw, parts);
  };
  real("/fclib_local/W/x", 3, nan, {"/fclib_local/W/x[3] is not a number"});
  real("/fclib_local/W/x", 0, -infinite, {"/fclib_local/W/x[0] is infinite"});
  real("/fclib_local/vectors/q", 5, nan, {"vectors/q[5] is not a number"});
  real("/fclib_local/vectors/mu", 1, infinite, {"vectors/mu[1] is infinite"});
  real("/fclib_local/vectors/mu", 1, -0.5, {"vectors/mu[1] = -0.5", "negative"});
  real("/solution/r", 2, nan, {"/solution/r[2] is not a number"});
  real("/fclib_local/W/x", 1, 1.5, {"/fclib_local", "W", "symmetric"});
  real("/fclib_local/W/x", 0, -2, {"/fclib_local", "W", "diagonal"});
  const auto integer = [this](const char* name, std::size_t at, std::int32_t value,
                              std::initializer_list<const char*> parts) {
    RawFile raw = small_local();
    raw.integers(name)[at] = value;
    expect(raw, parts);
  };
  integer("/fclib_local/W/i", 1, 6, {"W/i[1] = 6 is outside 0 to 5"});
  integer("/fclib_local/W/i", 7, -1, {"W/i[7] = -1 is outside 0 to 5"});
  integer("/fclib_local/W/i", 1, 0, {"/fclib_local/W holds the entry of row 0, column 0 twice"});
  integer("/fclib_local/W/p", 0, 1, {"W/p[0] = 1, not 0"});
  integer("/fclib_local/W/p", 2, 1, {"W/p[2] = 1 is below the offset before it, 2"});
  integer("/fclib_local/W/p", 6, 9, {"W/i holds 8 values, below the number of entries, 9"});
  integer("/fclib_local/W/p", 3, -4, {"W/p[3] = -4"});
}

TEST_F(FclibBad, WrongTripletsOfTransposedMatrices) {
  write_fclib(path_, testing::random_global(7, 2, 0));
  edit([](hid_t file) {
    std::vector<std::int32_t> row(static_cast<std::size_t>(1), 1000);
    const hid_t dataset = H5Dopen2(file, "/fclib_global/H/i", H5P_DEFAULT), space = H5Dget_space(dataset);
    const hsize_t start = 4, one = 1;
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &one, nullptr);
    const hid_t memory = H5Screate_simple(1, &one, nullptr);
    H5Dwrite(dataset, H5T_NATIVE_INT32, memory, space, H5P_DEFAULT, row.data());
    H5Sclose(memory), H5Sclose(space), H5Dclose(dataset);
  });
  expect_refused({"/fclib_global/H/i[4] = 1000 is outside 0 to 7"});
}

TEST_F(FclibBad, WrongTypesAndShapes) {
  const std::int64_t wide[6] = {0, 3, std::int64_t{1} << 40, 0, 0, 0};
  const double number[6] = {3, 0, 0, 0, 0, 0};
  const struct {
    const char* name;
    hid_t type;
    std::vector<hsize_t> shape;
    const void* values;
    const char* part;
  } cases[] = {
      {"/fclib_local/spacedim", H5T_NATIVE_DOUBLE, {1}, number, "holds no integers"},
      {"/fclib_local/W/i", H5T_NATIVE_DOUBLE, {6}, number, "holds no integers"},
      {"/fclib_local/W/i", H5T_NATIVE_INT64, {6}, wide, "W/i[2] = 1099511627776 is beyond 32 bits"},
      {"/fclib_local/W/x", H5T_NATIVE_INT64, {6}, wide, "no floating-point numbers"},
      {"/fclib_local/vectors/q", H5T_NATIVE_INT32, {6}, wide, "no floating-point numbers"},
      {"/fclib_local/vectors/q", H5T_NATIVE_DOUBLE, {2, 3}, number, "several dimensions"},
      {"/fclib_local/info/title", H5T_NATIVE_DOUBLE, {1}, number, "holds no text"},
      {"/fclib_local/vectors/q", H5T_NATIVE_DOUBLE, {1000000000}, nullptr, "more than the file holds"},
      {"/fclib_local/W/i", H5T_NATIVE_INT32, {4000000000}, nullptr, "more than the file holds"},
  };
  for (const auto& c : cases) {
    small_local().write(path_);
    edit([&](hid_t file) { replace(file, c.name, c.type, c.shape, c.values); });
    expect_refused({c.name, c.part});
  }
}

TEST_F(FclibBad, OddButHarmlessEncodingsAreRead) {
  small_local().write(path_);
  edit([](hid_t file) {
    const std::int64_t three = 3;
    replace(file, "/fclib_local/spacedim", H5T_STD_I64BE, {1}, &three);
    const float q[6] = {-1, 0, 0, -1, 0.5, 0};
    replace(file, "/fclib_local/vectors/q", H5T_NATIVE_FLOAT, {6}, q);
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    const char* title = "of variable length";
    replace(file, "/fclib_local/info/title", type, {1}, &title);
    H5Tclose(type);
  });
  // The big-endian 3 was written from a buffer in native order: it must be read as the value it encodes.
  expect_refused({"spacedim", "beyond 32 bits"});
  edit([](hid_t file) {
    const std::uint16_t three = 3;
    replace(file, "/fclib_local/spacedim", H5T_NATIVE_UINT16, {1}, &three);
  });
  const ContactProblem problem = read_fclib(path_).problem;
  EXPECT_EQ(problem.q[4], 0.5);
  EXPECT_EQ(problem.title, "of variable length");
}

TEST_F(FclibBad, GroupsLinksAndOtherFilesInTheWay) {
  small_local().write(path_);
  edit([](hid_t file) {
    H5Ldelete(file, "/fclib_local/W/x", H5P_DEFAULT);
    H5Gclose(H5Gcreate2(file, "/fclib_local/W/x", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  });
  expect_refused({"W/x", "is no dataset"});
  edit([](hid_t file) {
    H5Ldelete(file, "/fclib_local/W/x", H5P_DEFAULT);
    H5Lcreate_soft("/fclib_local/W/x", file, "/fclib_local/W/x", H5P_DEFAULT, H5P_DEFAULT);
  });
  expect_refused({"W/x", "is missing"});
  edit([&](hid_t file) {
    H5Ldelete(file, "/fclib_local/W/x", H5P_DEFAULT);
    const hsize_t eight = 8;
    const hid_t space = H5Screate_simple(1, &eight, nullptr), how = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(how, "/etc/passwd", 0, 64);
    H5Dclose(H5Dcreate2(file, "/fclib_local/W/x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, how, H5P_DEFAULT));
    H5Pclose(how), H5Sclose(space);
  });
  expect_refused({"W/x", "other files"});
}

TEST_F(FclibBad, FilesThatAreNone) {
  expect_refused({"no such file"});
  std::ofstream(path_) << "";
  expect_refused({"is empty"});
  std::ofstream(path_) << "{\"W\": 3}";
  expect_refused({"is no HDF5 file"});
  path_ = folder_.root;
  expect_refused({"is a folder"});
}

TEST_F(FclibBad, EveryCutIsRefused) {
  FclibFile file = testing::random_local(3, 3, 4);
  testing::add_impulses(file, 4);
  write_fclib(path_, file);
  const std::string bytes = bytes_of(path_);
  for (std::size_t length = 0; length < bytes.size(); length += length < 2048 ? 64 : 997) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(length));
    EXPECT_NE(refusal(), "") << length;
  }
}

/// Headers that claim a billion values: the count and the length in bytes of one dataset are replaced. No
/// other length in the file has that value.
TEST_F(FclibBad, SizesBeyondTheDataAreRefused) {
  constexpr std::uint64_t kCount = 1013;
  RawFile raw = small_local();
  raw.data["/fclib_local/W/x"] = std::vector<double>(kCount, 1.0);
  raw.write(path_);
  EXPECT_EQ(refusal().find("claims"), std::string::npos);
  const std::string bytes = bytes_of(path_);
  const auto put = [](std::string& text, std::uint64_t from, std::uint64_t to) {
    int places = 0;
    for (std::size_t at = 0; at + 8 <= text.size(); ++at)
      if (std::memcmp(text.data() + at, &from, 8) == 0) {
        std::memcpy(text.data() + at, &to, 8);
        ++places;
      }
    return places;
  };
  for (const std::uint64_t claim : {std::uint64_t{1} << 30, std::uint64_t{1} << 60, ~std::uint64_t{0} / 8}) {
    for (const bool length_too : {false, true}) {
      std::string changed = bytes;
      ASSERT_EQ(put(changed, kCount, claim), 2);  // the extent, and its maximum
      if (length_too) {
        ASSERT_EQ(put(changed, 8 * kCount, 8 * claim), 1);
      }
      std::ofstream(path_, std::ios::binary | std::ios::trunc) << changed;
      expect_refused({"/fclib_local/W/x"});
    }
  }
}

}  // namespace
}  // namespace stickslip
