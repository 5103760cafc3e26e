// HDF5 files. Errors give file and dataset, sizes in headers are checked against the file, and HDF5's own
// messages do not reach the terminal. Names are absolute paths inside the file ("/fclib_local/W/x"). HDF5 is
// not thread safe: while one of these objects lives, other threads wait for it to make theirs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "app/io/file/output_file.h"

namespace stickslip {

class Hdf5Reader {
 public:
  /// Throws InputError when the file is missing, not HDF5, damaged or truncated.
  explicit Hdf5Reader(std::filesystem::path file);
  ~Hdf5Reader();
  Hdf5Reader(const Hdf5Reader&) = delete;
  Hdf5Reader& operator=(const Hdf5Reader&) = delete;

  bool has(const std::string& name) const;
  /// Lists of numbers, and a single number. Throw InputError when the dataset is missing, has another type or
  /// shape, claims more than the file holds, or has a number that is not finite or exceeds 32 bits.
  std::vector<std::int32_t> integers(const std::string& name) const;
  std::int32_t integer(const std::string& name) const;
  std::vector<double> reals(const std::string& name) const;
  /// A byte string of at most 1 MiB. Throws InputError.
  std::string text(const std::string& name) const;

  /// Throws InputError("FILE: NAME WHAT").
  [[noreturn]] void fail(const std::string& name, const std::string& what) const;

 private:
  /// An open dataset and its number of elements.
  struct Dataset;
  Dataset open(const std::string& name) const;
  std::size_t checked_count(const Dataset& dataset, const std::string& name) const;
  template <class T>
  std::vector<T> read(const std::string& name, const Dataset& dataset, std::int64_t memory_type) const;

  std::unique_lock<std::recursive_mutex> turn_;
  std::filesystem::path path_;
  std::uintmax_t bytes_ = 0;
  std::int64_t file_ = -1;
};

/// Writes datasets as HDF5's light interface for C does: lists of one dimension, strings of fixed length.
class Hdf5Writer {
 public:
  /// Throws InputError when the file cannot be created.
  explicit Hdf5Writer(std::filesystem::path file);
  ~Hdf5Writer();
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;

  /// All throw std::runtime_error when writing fails. The parent group must exist.
  void group(const std::string& name);
  void integers(const std::string& name, std::span<const std::int32_t> values);
  void integer(const std::string& name, std::int32_t value) { integers(name, {&value, 1}); }
  void reals(const std::string& name, std::span<const double> values);
  void text(const std::string& name, const std::string& bytes);
  /// Renames the file to its final name.
  void commit();

 private:
  void list(const std::string& name, std::int64_t file_type, std::int64_t memory_type, const void* values,
            std::size_t count);
  [[noreturn]] void fail(const std::string& name) const;

  std::unique_lock<std::recursive_mutex> turn_;
  PendingFile pending_;
  std::int64_t file_ = -1;
};

}  // namespace stickslip
