// HDF5 files whose readers complain with file and dataset, believe no header, and keep HDF5's own printing
// out of the terminal. Names are absolute paths inside the file ("/fclib_local/W/x"). Not thread safe: HDF5
// is not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "app/io/file/output_file.h"

namespace stickslip {

class Hdf5Reader {
 public:
  /// Throws InputError when it is missing, no HDF5 file, damaged or cut short.
  explicit Hdf5Reader(std::filesystem::path file);
  ~Hdf5Reader();
  Hdf5Reader(const Hdf5Reader&) = delete;
  Hdf5Reader& operator=(const Hdf5Reader&) = delete;

  bool has(const std::string& name) const;
  /// Lists of numbers, and one. Throw InputError when the dataset is missing, of another type or shape,
  /// claims more than the file holds, or has a number that is not finite or beyond 32 bits.
  std::vector<std::int32_t> integers(const std::string& name) const;
  std::int32_t integer(const std::string& name) const;
  std::vector<double> reals(const std::string& name) const;
  /// One string of bytes, at most 1 MiB. Throws InputError.
  std::string text(const std::string& name) const;

  /// Throws InputError("FILE: NAME WHAT").
  [[noreturn]] void fail(const std::string& name, const std::string& what) const;

 private:
  /// An open dataset with so many elements.
  struct Dataset;
  Dataset open(const std::string& name) const;
  std::size_t checked_count(const Dataset& dataset, const std::string& name) const;
  template <class T>
  std::vector<T> read(const std::string& name, const Dataset& dataset, std::int64_t memory_type) const;

  std::filesystem::path path_;
  std::uintmax_t bytes_ = 0;
  std::int64_t file_ = -1;
};

/// Writes what C programs write through HDF5's light interface: lists of one dimension, strings of fixed
/// length.
class Hdf5Writer {
 public:
  /// Throws InputError when the file cannot be made.
  explicit Hdf5Writer(std::filesystem::path file);
  ~Hdf5Writer();
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;

  /// All throw std::runtime_error when writing fails. The group above must be there.
  void group(const std::string& name);
  void integers(const std::string& name, std::span<const std::int32_t> values);
  void integer(const std::string& name, std::int32_t value) { integers(name, {&value, 1}); }
  void reals(const std::string& name, std::span<const double> values);
  void text(const std::string& name, const std::string& bytes);
  /// Gives the file its name.
  void commit();

 private:
  void list(const std::string& name, std::int64_t file_type, std::int64_t memory_type, const void* values,
            std::size_t count);
  [[noreturn]] void fail(const std::string& name) const;

  PendingFile pending_;
  std::int64_t file_ = -1;
};

}  // namespace stickslip
