#include "app/io/fclib/hdf5_file.h"

#include <hdf5.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "app/io/file/byte_cursor.h"
#include "app/io/file/input_error.h"
#include "app/io/file/memory.h"

namespace stickslip {
namespace {

static_assert(sizeof(hid_t) == sizeof(std::int64_t), "HDF5 1.10 or newer");

constexpr std::size_t kLongestText = std::size_t{1} << 20;
/// Deflate, HDF5's usual filter, expands one byte to at most 1032.
constexpr double kMostInflation = 1100;

/// Suppresses HDF5's own messages during its lifetime.
class Quiet {
 public:
  Quiet() {
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Quiet() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

/// Owns any HDF5 object and closes it.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&&) = delete;

  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// " (CAUSE)", from HDF5's error stack; empty without an error.
std::string cause() {
  std::string text;
  const auto keep_innermost = [](unsigned depth, const H5E_error2_t* error, void* out) -> herr_t {
    if (depth == 0 && error->desc) *static_cast<std::string*>(out) = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_innermost, &text);
  return text.empty() ? "" : " (" + text + ")";
}

/// Of the thread that uses HDF5.
std::unique_lock<std::recursive_mutex> wait_for_turn() {
  static std::recursive_mutex mutex;
  return std::unique_lock(mutex);
}

bool is_number(hid_t type, H5T_class_t kind) { return H5Tget_class(type) == kind && H5Tget_size(type) <= 8; }

}  // namespace

struct Hdf5Reader::Dataset {
  Handle id, type, space;
  std::size_t count = 0;
};

Hdf5Reader::Hdf5Reader(std::filesystem::path file) : turn_(wait_for_turn()), path_(std::move(file)) {
  bytes_ = size_of_readable(path_);
  const Quiet quiet;
  if (H5Fis_hdf5(path_.c_str()) <= 0) throw InputError(path_.string() + ": is no HDF5 file");
  file_ = H5Fopen(path_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file_ < 0) throw InputError(path_.string() + ": is damaged or cut short" + cause());
}

Hdf5Reader::~Hdf5Reader() {
  const Quiet quiet;
  if (file_ >= 0) H5Fclose(file_);
}

void Hdf5Reader::fail(const std::string& name, const std::string& what) const {
  throw InputError(path_.string() + ": " + name + " " + what);
}

bool Hdf5Reader::has(const std::string& name) const {
  const Quiet quiet;
  // Each group on the path is checked in turn: HDF5 reports an error if a parent is missing.
  for (std::size_t end = name.find('/', 1);; end = name.find('/', end + 1)) {
    const std::string part = name.substr(0, end);
    if (H5Lexists(file_, part.c_str(), H5P_DEFAULT) <= 0) return false;
    if (H5Oexists_by_name(file_, part.c_str(), H5P_DEFAULT) <= 0) return false;  // a link without a target
    if (end == std::string::npos) return true;
  }
}

Hdf5Reader::Dataset Hdf5Reader::open(const std::string& name) const {
  if (!has(name)) fail(name, "is missing");
  Handle id(H5Oopen(file_, name.c_str(), H5P_DEFAULT), H5Oclose);
  if (id < 0) fail(name, "cannot be opened" + cause());
  if (H5Iget_type(id) != H5I_DATASET) fail(name, "is no dataset");
  Handle type(H5Dget_type(id), H5Tclose), space(H5Dget_space(id), H5Sclose);
  if (type < 0 || space < 0) fail(name, "cannot be read" + cause());
  Dataset dataset{std::move(id), std::move(type), std::move(space)};
  dataset.count = checked_count(dataset, name);
  return dataset;
}

/// The number of elements. Throws if they would need more memory than the file's size justifies.
std::size_t Hdf5Reader::checked_count(const Dataset& dataset, const std::string& name) const {
  if (H5Sget_simple_extent_ndims(dataset.space) > 1) fail(name, "has several dimensions, not one");
  const hssize_t count = H5Sget_simple_extent_npoints(dataset.space);
  if (count < 0) fail(name, "cannot be read" + cause());
  const Handle how(H5Dget_create_plist(dataset.id), H5Pclose);
  if (H5Pget_layout(how) == H5D_VIRTUAL || H5Pget_external_count(how) > 0)
    fail(name, "keeps its values in other files");
  const double claimed = static_cast<double>(count) * static_cast<double>(H5Tget_size(dataset.type)),
               stored = static_cast<double>(H5Dget_storage_size(dataset.id));
  const double inflation = H5Pget_nfilters(how) > 0 ? kMostInflation : 1,
               length = static_cast<double>(bytes_);
  // A dataset that was never written reads as zeros (published files have some); its limit is the file's
  // size.
  if (stored > length || claimed > (stored == 0 ? length : inflation * stored))
    fail(name, "claims " + std::to_string(count) + " values, more than the file holds");
  if (const std::string shortage = memory_shortage(2 * claimed); !shortage.empty()) fail(name, shortage);
  return static_cast<std::size_t>(count);
}

template <class T>
std::vector<T> Hdf5Reader::read(const std::string& name, const Dataset& dataset,
                                std::int64_t memory_type) const {
  std::vector<T> values(dataset.count);
  if (dataset.count > 0 && H5Dread(dataset.id, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
    fail(name, "cannot be read" + cause());
  return values;
}

std::vector<std::int32_t> Hdf5Reader::integers(const std::string& name) const {
  const Quiet quiet;
  const Dataset dataset = open(name);
  if (!is_number(dataset.type, H5T_INTEGER)) fail(name, "holds no integers");
  if (H5Tget_size(dataset.type) <= 4 && H5Tget_sign(dataset.type) == H5T_SGN_2)
    return read<std::int32_t>(name, dataset, H5T_NATIVE_INT32);
  const std::vector<std::int64_t> wide = read<std::int64_t>(name, dataset, H5T_NATIVE_INT64);
  for (std::size_t k = 0; k < wide.size(); ++k)
    if (!std::in_range<std::int32_t>(wide[k]))
      fail(name + "[" + std::to_string(k) + "]", "= " + std::to_string(wide[k]) + " is beyond 32 bits");
  return {wide.begin(), wide.end()};
}

std::int32_t Hdf5Reader::integer(const std::string& name) const {
  const std::vector<std::int32_t> values = integers(name);
  if (values.size() != 1) fail(name, "holds " + std::to_string(values.size()) + " integers, not one");
  return values[0];
}

std::vector<double> Hdf5Reader::reals(const std::string& name) const {
  const Quiet quiet;
  const Dataset dataset = open(name);
  if (!is_number(dataset.type, H5T_FLOAT)) fail(name, "holds no floating-point numbers");
  std::vector<double> values = read<double>(name, dataset, H5T_NATIVE_DOUBLE);
  for (std::size_t k = 0; k < values.size(); ++k)
    if (!std::isfinite(values[k]))
      fail(name + "[" + std::to_string(k) + "]", std::isnan(values[k]) ? "is not a number" : "is infinite");
  return values;
}

std::string Hdf5Reader::text(const std::string& name) const {
  const Quiet quiet;
  const Dataset dataset = open(name);
  if (H5Tget_class(dataset.type) != H5T_STRING) fail(name, "holds no text");
  if (dataset.count != 1) fail(name, "holds " + std::to_string(dataset.count) + " texts, not one");
  if (H5Tis_variable_str(dataset.type) > 0) {
    char* bytes = nullptr;
    if (H5Dread(dataset.id, dataset.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &bytes) < 0)
      fail(name, "cannot be read" + cause());
    const std::unique_ptr<char, herr_t (*)(void*)> owner(bytes, H5free_memory);
    const std::string whole = bytes ? bytes : "";
    return whole.substr(0, kLongestText);
  }
  const std::size_t length = H5Tget_size(dataset.type);
  if (length > kLongestText) fail(name, "is longer than 1 MiB");
  std::vector<char> bytes(length);
  if (H5Dread(dataset.id, dataset.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) < 0)
    fail(name, "cannot be read" + cause());
  return std::string(bytes.begin(), std::find(bytes.begin(), bytes.end(), '\0'));
}

Hdf5Writer::Hdf5Writer(std::filesystem::path file) : turn_(wait_for_turn()), pending_(std::move(file)) {
  const Quiet quiet;
  // In memory until it is complete: after a failed write the library crashes at program exit.
  const Handle memory(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_core(memory, 1 << 16, false);
  file_ = H5Fcreate(pending_.temporary().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, memory);
  if (file_ < 0) throw OutputError(pending_.path().string() + ": cannot be written" + cause());
}

Hdf5Writer::~Hdf5Writer() {
  const Quiet quiet;
  if (file_ >= 0) H5Fclose(file_);
}

void Hdf5Writer::fail(const std::string& name) const {
  throw OutputError(pending_.path().string() + ": writing " + name + " failed" + cause());
}

void Hdf5Writer::group(const std::string& name) {
  const Quiet quiet;
  const Handle group(H5Gcreate2(file_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
  if (group < 0) fail(name);
}

void Hdf5Writer::list(const std::string& name, std::int64_t file_type, std::int64_t memory_type,
                      const void* values, std::size_t count) {
  const Quiet quiet;
  const hsize_t length = count;
  const Handle space(H5Screate_simple(1, &length, nullptr), H5Sclose),
      how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(how, false);  // the same problem gives the same bytes
  const Handle dataset(H5Dcreate2(file_, name.c_str(), file_type, space, H5P_DEFAULT, how, H5P_DEFAULT),
                       H5Dclose);
  if (dataset < 0) fail(name);
  if (count > 0 && H5Dwrite(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) fail(name);
}

void Hdf5Writer::integers(const std::string& name, std::span<const std::int32_t> values) {
  list(name, H5T_STD_I32LE, H5T_NATIVE_INT32, values.data(), values.size());
}

void Hdf5Writer::reals(const std::string& name, std::span<const double> values) {
  list(name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values.data(), values.size());
}

void Hdf5Writer::text(const std::string& name, const std::string& bytes) {
  const Quiet quiet;
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose), space(H5Screate(H5S_SCALAR), H5Sclose),
      how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(how, false);
  H5Tset_size(type, bytes.size() + 1);
  const Handle dataset(H5Dcreate2(file_, name.c_str(), type, space, H5P_DEFAULT, how, H5P_DEFAULT), H5Dclose);
  if (dataset < 0 || H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.c_str()) < 0) fail(name);
}

void Hdf5Writer::commit() {
  const Quiet quiet;
  if (H5Fflush(file_, H5F_SCOPE_GLOBAL) < 0) fail("its end");
  const ssize_t size = H5Fget_file_image(file_, nullptr, 0);
  std::vector<char> bytes(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  if (size <= 0 || H5Fget_file_image(file_, bytes.data(), bytes.size()) != size) fail("its end");
  if (H5Fclose(std::exchange(file_, -1)) < 0) fail("its end");
  std::ofstream out(pending_.temporary(), std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) throw OutputError(pending_.path().string() + ": writing failed: " + std::strerror(errno));
  pending_.commit();
}

}  // namespace stickslip
