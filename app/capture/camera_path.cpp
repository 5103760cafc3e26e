#include "app/capture/camera_path.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "app/io/file/input_error.h"
#include "app/io/file/output_file.h"

namespace stickslip {
namespace {

constexpr double kFarthest = 1e6;   // of times and coordinates
constexpr double kWidest = 170;     // [degrees]
constexpr float kNarrowest = 0.1f;  // [degrees] of what the spline passes through

/// The cubic with values a, b and slopes da, db [1/s] at the ends of an interval of `length` [s], at the
/// share s of it.
template <class T>
T hermite(const T& a, const T& b, const T& da, const T& db, double length, double s) {
  const double s2 = s * s, s3 = s2 * s;
  const auto f = [](double x) { return static_cast<float>(x); };
  return f(2 * s3 - 3 * s2 + 1) * a + f((s3 - 2 * s2 + s) * length) * da + f(3 * s2 - 2 * s3) * b +
         f((s3 - s2) * length) * db;
}

CameraKey key_of(const std::string& text, float fov, const std::string& place) {
  std::istringstream line(text);
  std::vector<double> numbers;
  for (std::string word; line >> word;) {
    std::size_t read = 0;
    double number = 0;
    try {
      number = std::stod(word, &read);
    } catch (const std::exception&) {
      read = 0;
    }
    if (read != word.size() || !(std::fabs(number) <= kFarthest))
      throw InputError(std::string(place).append(": '").append(word).append("' is not a number up to 1e6"));
    numbers.push_back(number);
  }
  if (numbers.size() != 7 && numbers.size() != 8)
    throw InputError(place + ": has " + std::to_string(numbers.size()) +
                     " numbers; a key is time, eye x y z, target x y z and, perhaps, the field of view");
  const auto n = [&](std::size_t i) { return static_cast<float>(numbers[i]); };
  CameraKey key{numbers[0], {n(1), n(2), n(3)}, {n(4), n(5), n(6)}, numbers.size() == 8 ? n(7) : fov};
  if (!(norm(key.eye - key.target) > 0)) throw InputError(place + ": eye and target are the same point");
  if (!(key.fov > 0 && key.fov < kWidest))
    throw InputError(place + ": the field of view must be between 0 and 170 degrees");
  return key;
}

}  // namespace

Camera CameraPath::at(double time) const {
  if (keys_.empty()) throw std::logic_error("CameraPath::at: there are no keys");
  const auto after = std::upper_bound(keys_.begin(), keys_.end(), time,
                                      [](double t, const CameraKey& key) { return t < key.time; });
  if (after == keys_.begin() || after == keys_.end()) {
    const CameraKey& rest = after == keys_.begin() ? keys_.front() : keys_.back();
    return Camera::look_at(rest.eye, rest.target, rest.fov);
  }
  const auto i = static_cast<std::size_t>(after - keys_.begin()) - 1;
  const CameraKey &a = keys_[i], &b = keys_[i + 1];
  const double length = b.time - a.time, share = (time - a.time) / length;
  const auto between = [&](const auto& of) {
    const auto slope = [&](std::size_t k) {
      const std::size_t before = k > 0 ? k - 1 : k, next = std::min(k + 1, keys_.size() - 1);
      return static_cast<float>(1 / (keys_[next].time - keys_[before].time)) *
             (of(keys_[next]) - of(keys_[before]));
    };
    return hermite(of(a), of(b), slope(i), slope(i + 1), length, share);
  };
  return Camera::look_at(
      between([](const CameraKey& k) { return k.eye; }), between([](const CameraKey& k) { return k.target; }),
      std::clamp(between([](const CameraKey& k) { return k.fov; }), kNarrowest, static_cast<float>(kWidest)));
}

CameraPath read_camera_path(const std::filesystem::path& file, float fov) {
  std::ifstream in(file);
  if (!in) throw InputError("cannot read '" + file.string() + "'");
  std::vector<CameraKey> keys;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (number == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);  // byte order mark
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string place = file.string() + ":" + std::to_string(number);
    const CameraKey key = key_of(line, keys.empty() ? fov : keys.front().fov, place);
    if (!keys.empty() && !(key.time > keys.back().time)) throw InputError(place + ": times must ascend");
    keys.push_back(key);
  }
  if (in.bad()) throw InputError("cannot read '" + file.string() + "'");
  if (keys.empty()) throw InputError(file.string() + ": there is no key in it");
  return CameraPath(std::move(keys));
}

void append_camera_key(const std::filesystem::path& file, const CameraKey& key) {
  std::string text;
  if (std::ifstream before(file); before) text.assign(std::istreambuf_iterator<char>(before), {});
  if (!text.empty() && text.back() != '\n') text += '\n';
  OutputFile out(file);
  if (text.empty()) out.stream() << "# time [s], eye x y z, target x y z [m], field of view [degrees]\n";
  out.stream() << text << camera_line(key) << "\n";
  out.commit();
}

std::string camera_line(const CameraKey& key) {
  char text[200];
  std::snprintf(text, sizeof text, "%.6g  %.6g %.6g %.6g  %.6g %.6g %.6g  %.6g", key.time,
                static_cast<double>(key.eye[0]), static_cast<double>(key.eye[1]),
                static_cast<double>(key.eye[2]), static_cast<double>(key.target[0]),
                static_cast<double>(key.target[1]), static_cast<double>(key.target[2]),
                static_cast<double>(key.fov));
  return text;
}

}  // namespace stickslip
