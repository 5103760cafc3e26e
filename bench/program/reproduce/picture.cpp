#include "bench/program/reproduce/picture.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace stickslip {
namespace {

constexpr double kWidth = 720, kLeft = 80, kRight = 20, kTop = 66, kBottom = 48, kPlotHeight = 300;
constexpr double kRowHeight = 46;
const char* const kInk[] = {"#0b6bcb", "#d1570c", "#2a9d8f", "#b5488f", "#7a68c9", "#9aa528",
                            "#5b3f2b", "#6e7781", "#c62f3b", "#13294b", "#e0a800", "#4fb6e8"};

constexpr std::size_t kMostBands = 4;  // those of more curves would hide each other

std::string xml(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '&') out += "&amp;";
    else if (c == '"') out += "&quot;";
    else out += c;
  }
  return out;
}

std::string tick_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

/// One line of SVG, from a form with numbers.
template <class... Numbers>
std::string element(const char* form, Numbers... numbers) {
  char text[400];
  std::snprintf(text, sizeof text, form, numbers...);
  return std::string(text) + "\n";
}

std::string text_at(double x, double y, const std::string& text, const char* style = "") {
  char head[160];
  std::snprintf(head, sizeof head, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, style);
  return head + xml(text) + "</text>\n";
}

/// Maps values to pixels; logarithmic where all values are positive and it is asked for.
class Axis {
 public:
  Axis(bool log, double pixel_low, double pixel_high) : log_(log), from_(pixel_low), to_(pixel_high) {}
  void include(double value) {
    if (!std::isfinite(value) || (log_ && value <= 0)) return;
    low_ = std::min(low_, scaled(value));
    high_ = std::max(high_, scaled(value));
  }
  void close() {
    if (!(low_ <= high_)) low_ = 0, high_ = 1;
    if (high_ - low_ < 1e-12) low_ -= 0.5, high_ += 0.5;
  }
  bool shows(double value) const { return std::isfinite(value) && (!log_ || value > 0); }
  double pixel(double value) const { return from_ + (scaled(value) - low_) / (high_ - low_) * (to_ - from_); }
  std::vector<double> ticks() const {
    std::vector<double> values;
    if (log_) {
      const double step = std::max(1.0, std::ceil((high_ - low_) / 6));
      for (double e = std::ceil(low_); e <= high_ + 1e-9; e += step) values.push_back(std::pow(10, e));
      if (values.size() >= 2) return values;
      return {std::pow(10, low_), std::pow(10, high_)};
    }
    const double rough = (high_ - low_) / 5, magnitude = std::pow(10, std::floor(std::log10(rough)));
    const double share = rough / magnitude, step = magnitude * (share < 1.5   ? 1
                                                                : share < 3.5 ? 2
                                                                : share < 7.5 ? 5
                                                                              : 10);
    for (double v = std::ceil(low_ / step) * step; v <= high_ + 1e-9 * step; v += step) values.push_back(v);
    return values;
  }

 private:
  double scaled(double value) const { return log_ ? std::log10(value) : value; }

  bool log_;
  double from_, to_;
  double low_ = std::numeric_limits<double>::infinity(), high_ = -std::numeric_limits<double>::infinity();
};

std::string head(double height, const Claim& claim, const ClaimVerdict& verdict) {
  return element(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
             "font-family=\"sans-serif\" "
             "font-size=\"12\" fill=\"#1b1f24\">",
             kWidth, height) +
         element("<rect width=\"%.0f\" height=\"%.0f\" fill=\"#ffffff\"/>", kWidth, height) +
         text_at(16, 22, claim.name + ": " + claim.where, "font-size=\"15\" font-weight=\"bold\"") +
         text_at(16, 40, name_of(verdict.outcome), "fill=\"#6e7781\"");
}

std::string grid(const Axis& x, const Axis& y) {
  const double bottom = kTop + kPlotHeight;
  std::string text;
  for (const double v : x.ticks())
    text += element("<path d=\"M%.1f %.1fV%.1f\" stroke=\"#d8dee4\"/>", x.pixel(v), kTop, bottom) +
            text_at(x.pixel(v), bottom + 16, tick_text(v), "text-anchor=\"middle\"");
  for (const double v : y.ticks())
    text += element("<path d=\"M%.1f %.1fH%.1f\" stroke=\"#d8dee4\"/>", kLeft, y.pixel(v), kWidth - kRight) +
            text_at(kLeft - 6, y.pixel(v) + 4, tick_text(v), "text-anchor=\"end\"");
  return text;
}

/// The band of a curve, as a path along its upper and back along its lower end; empty where it has none.
std::string band_path(const Curve& curve, const Axis& x, const Axis& y) {
  std::string path;
  const auto go_to = [&](double a, double b) {
    if (x.shows(a) && y.shows(b))
      path += element("%s%.1f %.1f", path.empty() ? "M" : "L", x.pixel(a), y.pixel(b));
  };
  for (std::size_t i = 0; i < curve.band.size(); ++i) go_to(curve.points[i].first, curve.band[i].second);
  for (std::size_t i = curve.band.size(); i-- > 0;) go_to(curve.points[i].first, curve.band[i].first);
  return path;
}

std::string curves_picture(const Claim& claim, const Measurement& measured, const ClaimVerdict& verdict) {
  Axis x(measured.x_log, kLeft, kWidth - kRight), y(measured.y_log, kTop + kPlotHeight, kTop);
  for (const Curve& curve : measured.curves)
    for (const auto& [a, b] : curve.points) {
      x.include(a);
      y.include(b);
    }
  for (const Curve& curve : measured.curves)
    for (const auto& [low, high] : curve.band) {
      if (measured.curves.size() > kMostBands) break;
      y.include(low);
      y.include(high);
    }
  x.close();
  y.close();
  const double legend = kTop + kPlotHeight + kBottom;
  std::string text =
      head(legend + 18 * static_cast<double>(measured.curves.size()), claim, verdict) + grid(x, y);
  text += text_at(0.5 * (kLeft + kWidth), legend - 14, measured.x_name, "text-anchor=\"middle\"");
  text += text_at(kLeft, kTop - 4, measured.y_name, "fill=\"#6e7781\"");
  const bool few = measured.curves.size() <= kMostBands;
  for (std::size_t c = 0; c < measured.curves.size(); ++c) {
    const char* ink = kInk[c % std::size(kInk)];
    if (const std::string band = few ? band_path(measured.curves[c], x, y) : ""; !band.empty())
      text += "<path d=\"" + band + "Z\" fill=\"" + ink + "\" fill-opacity=\"0.15\"/>\n";
    std::string path;
    for (const auto& [a, b] : measured.curves[c].points)
      if (x.shows(a) && y.shows(b))
        path += element("%s%.1f %.1f", path.empty() ? "M" : "L", x.pixel(a), y.pixel(b));
    text += "<path d=\"" + path + "\" fill=\"none\" stroke=\"" + ink + "\" stroke-width=\"2\"/>\n";
    const double row = legend + 18 * static_cast<double>(c);
    text += element("<path d=\"M%.1f %.1fh24\" stroke=\"%s\" stroke-width=\"2\"/>", kLeft, row, ink) +
            text_at(kLeft + 32, row + 4, measured.curves[c].name);
  }
  return text + "</svg>\n";
}

/// Each row has its own scale: the quantities have different units.
std::string checks_picture(const Claim& claim, const ClaimVerdict& verdict) {
  std::string text =
      head(kTop + kRowHeight * static_cast<double>(verdict.checks.size()) + 34, claim, verdict);
  double row = kTop + 14;
  for (const CheckResult& result : verdict.checks) {
    text += text_at(16, row, result.check.meaning);
    if (result.seen.count > 0) {
      Axis x(false, 40, kWidth - 40);
      for (const double v : {0.0, result.seen.low, result.seen.high, result.check.claimed}) x.include(v);
      x.close();
      const double y = row + 14, seen = x.pixel(result.seen.median), claimed = x.pixel(result.check.claimed);
      text += element("<path d=\"M%.1f %.1fH%.1f\" stroke=\"#d8dee4\" stroke-width=\"2\"/>", 40.0, y,
                      kWidth - 40);
      text += element("<path d=\"M%.1f %.1fH%.1f\" stroke=\"%s\" stroke-width=\"3\"/>",
                      x.pixel(result.seen.low), y, x.pixel(result.seen.high), kInk[0]);
      text += element("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"%s\"/>", seen, y, kInk[0]);
      text +=
          element("<path d=\"M%.1f %.1fv16\" stroke=\"%s\" stroke-width=\"3\"/>", claimed, y - 8, kInk[1]);
      text += text_at(40, y + 16,
                      "seen " + tick_text(result.seen.median) + ", claimed " +
                          tick_text(result.check.claimed) + (result.holds ? "" : ": does not hold"),
                      "fill=\"#6e7781\"");
    }
    row += kRowHeight;
  }
  text += text_at(16, row + 6, "dot and bar: median and range of the starts; upright mark: the claimed value",
                  "fill=\"#6e7781\"");
  return text + "</svg>\n";
}

}  // namespace

std::string picture_of(const Claim& claim, const Measurement& measured, const ClaimVerdict& verdict) {
  return measured.curves.empty() ? checks_picture(claim, verdict) : curves_picture(claim, measured, verdict);
}

}  // namespace stickslip
