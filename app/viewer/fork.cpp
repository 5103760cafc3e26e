#include "app/viewer/fork.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <limits>
#include <utility>

#include "app/viewer/background_job.h"
#include "app/viewer/step_text.h"

namespace stickslip {
namespace {

// [s] Times that differ by less are the same: sums of time steps round.
constexpr double kSameTime = 1e-7;

std::size_t bytes_of(const Snapshot& snapshot) {
  return snapshot.positions.size() * sizeof(Vec3f) + snapshot.poses.size() * sizeof(Pose) +
         snapshot.contacts.size() * sizeof(ContactRecord) + snapshot.tree.size() * sizeof(TreeBox) +
         snapshot.stiffness.size() * sizeof(float);
}

/// Adds what differs between two structs of the same table of parameters.
void add_differences(std::span<const ParamInfo> table, const void* a, const void* b,
                     std::vector<SettingDifference>& out) {
  for (const ParamInfo& info : table) {
    const std::string before = param_text(a, info), after = param_text(b, info);
    if (before != after) out.push_back({std::string(info.name), before, after});
  }
}

bool are_alike(const SettingDifference& a, const SettingDifference& b) {
  return a.name == b.name && a.fork == b.fork && a.run == b.run;
}

/// With the name of the material, unless several changed alike.
void add_materials(const Model& before, const std::vector<Material>& now,
                   std::vector<SettingDifference>& out) {
  std::vector<std::pair<std::string, SettingDifference>> found;  // material, difference
  for (std::size_t m = 0; m < std::min(before.materials.size(), now.size()); ++m) {
    std::vector<SettingDifference> own;
    add_differences(material_table(), &before.materials[m], &now[m], own);
    for (SettingDifference& one : own) found.emplace_back(before.material_names[m], std::move(one));
  }
  for (const auto& entry : found) {
    const SettingDifference& one = entry.second;
    const bool shared =
        std::ranges::count_if(found, [&](const auto& other) { return are_alike(other.second, one); }) > 1;
    const SettingDifference named{shared ? one.name : entry.first + "." + one.name, one.fork, one.run};
    if (std::ranges::none_of(out, [&](const SettingDifference& other) { return are_alike(other, named); }))
      out.push_back(named);
  }
}

}  // namespace

const ForkStep* ForkStatus::before(double time) const {
  const auto after = std::ranges::upper_bound(steps, time + kSameTime, {}, &ForkStep::time);
  return after == steps.begin() ? nullptr : &*std::prev(after);
}

std::vector<Vec3f> ForkStatus::positions_at(double time) const {
  const auto right = std::ranges::upper_bound(steps, time + kSameTime, {}, &ForkStep::time);
  if (right == steps.begin()) return {};
  const auto left = std::prev(right);
  if (!left->snapshot) return {};
  const std::vector<Vec3f>& from = left->snapshot->positions;
  if (time - left->time <= kSameTime) return from;
  if (right == steps.end() || !right->snapshot) return {};
  const std::vector<Vec3f>& to = right->snapshot->positions;
  std::vector<Vec3f> out(from.size());
  const auto share = static_cast<float>((time - left->time) / (right->time - left->time));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = (1 - share) * from[i] + share * to[i];
  return out;
}

bool ForkStatus::has_reached(double time) const {
  return !steps.empty() && steps.back().time >= time - kSameTime;
}

Fork::Fork(EngineFactory make_engine, std::shared_ptr<const CapturedState> from,
           std::function<void()> on_change, std::size_t limit)
    : make_engine_(std::move(make_engine)),
      from_(std::move(from)),
      on_change_(std::move(on_change)),
      limit_(limit),
      wanted_(from_->start.state.time),
      thread_([this] { run(); }) {}

Fork::~Fork() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
    cancel_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Fork::follow(double time) {
  {
    const std::lock_guard lock(mutex_);
    if (time <= wanted_) return;
    wanted_ = time;
  }
  wake_.notify_one();
}

void Fork::want(const ForkMarks& marks) {
  {
    const std::lock_guard lock(mutex_);
    if (marks == wanted_marks_) return;
    wanted_marks_ = marks;
  }
  wake_.notify_one();
}

bool Fork::update() {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(news_, false)) return false;
  seen_ = status_;
  return true;
}

void Fork::add(ForkStep step) {
  {
    const std::lock_guard lock(mutex_);
    bytes_ += bytes_of(*step.snapshot);
    status_.steps.push_back(std::move(step));
    for (ForkStep& old : status_.steps) {
      if (bytes_ <= limit_ || &old == &status_.steps.back()) break;
      if (!old.snapshot) continue;
      bytes_ -= bytes_of(*old.snapshot);
      old.snapshot = nullptr;
    }
    news_ = true;
  }
  if (on_change_) on_change_();
}

void Fork::replace_snapshot(std::shared_ptr<const Snapshot> snapshot) {
  {
    const std::lock_guard lock(mutex_);
    ForkStep& newest = status_.steps.back();
    bytes_ += bytes_of(*snapshot) - bytes_of(*newest.snapshot);
    newest.snapshot = std::move(snapshot);
    news_ = true;
  }
  if (on_change_) on_change_();
}

std::shared_ptr<const Snapshot> Fork::snapshot_of(Engine& engine, bool stepped) {
  auto snapshot = std::make_shared<Snapshot>();
  {
    const std::lock_guard lock(mutex_);
    marks_ = wanted_marks_;
  }
  snapshot->wants_contacts = marks_.contacts;
  snapshot->wants_tree = marks_.tree && stepped;
  snapshot->wants_stiffness = marks_.stiffness && stepped;
  engine.snapshot(*snapshot);
  return snapshot;
}

std::optional<bool> Fork::wait_for_step(double time) {
  std::unique_lock lock(mutex_);
  const auto has_more = [&] { return wanted_ > time + kSameTime; };
  wake_.wait(lock, [&] { return quit_ || has_more() || !marks_.cover(wanted_marks_); });
  if (quit_) return std::nullopt;
  return has_more();
}

void Fork::go_on(Engine& engine) {
  double time = from_->start.state.time;
  bool stepped = false;
  while (const std::optional<bool> is_step = wait_for_step(time)) {
    if (!*is_step) {
      replace_snapshot(snapshot_of(engine, stepped));
      continue;
    }
    const StepReport report = engine.step();
    stepped = true;
    time = report.time;
    add({report.frame, report.time, report.kinetic_energy + report.elastic_energy + report.gravity_energy,
         report.converged, result_text(report), error_limit(report, engine.params()),
         snapshot_of(engine, stepped)});
  }
}

void Fork::run() {
  run_below_all_others();
  try {
    const std::unique_ptr<Engine> engine = make_engine_();
    engine->set_cancel(&cancel_);
    const StepRaceStart& start = from_->start;
    engine->set_params(start.params);
    engine->set_contact_params(start.contact);
    engine->load(start.model);
    engine->set_state(start.state);
    add({start.state.frame, start.state.time, std::numeric_limits<double>::quiet_NaN(), true, "",
         std::numeric_limits<float>::infinity(), snapshot_of(*engine, false)});
    go_on(*engine);
  } catch (const std::exception& error) {
    if (cancel_) return;
    spdlog::error("fork of frame {}: {}", start(), error.what());
    {
      const std::lock_guard lock(mutex_);
      status_.error = error.what();
      news_ = true;
    }
    if (on_change_) on_change_();
  }
}

std::optional<ForkDistance> node_distance(const Model& model, std::span<const Vec3f> a,
                                          std::span<const Vec3f> b) {
  if (a.size() != b.size() || a.size() != model.node_object.size()) return std::nullopt;
  ForkDistance distance;
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (model.objects[static_cast<std::size_t>(model.node_object[i])].is_collider()) continue;
    const auto d2 = static_cast<double>(norm2(a[i] - b[i]));
    sum += d2;
    distance.largest = std::max(distance.largest, d2);
    ++count;
  }
  if (count == 0) return std::nullopt;
  distance.mean = std::sqrt(sum / static_cast<double>(count));
  distance.largest = std::sqrt(distance.largest);
  return distance;
}

void Forks::add(std::shared_ptr<const CapturedState> from) {
  if (entries_.size() == kMost) entries_.erase(entries_.begin());
  int number = 1;
  while (std::ranges::count(entries_, number, &Entry::number) > 0) ++number;
  entries_.push_back({number, std::make_unique<Fork>(make_engine_, std::move(from), on_change_), {}});
}

void Forks::remove(int number) {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.number == number; });
}

bool Forks::update(int frame, double time) {
  frame_ = frame;
  time_ = time;
  bool news = false;
  for (Entry& entry : entries_) {
    entry.fork->follow(time);
    news |= entry.fork->update();
  }
  return news;
}

int Forks::leash() const {
  int last = INT_MAX;
  for (const Entry& entry : entries_) {
    const ForkStatus& status = entry.fork->status();
    if (!status.error.empty()) continue;
    last = std::min(last, status.has_reached(time_) ? frame_ + 1 : frame_);
  }
  return last;
}

void Forks::want(const ForkMarks& marks) {
  for (Entry& entry : entries_) entry.fork->want(marks);
}

void Forks::compare(const SimulationFrame& frame) {
  if (!frame.scene || entries_.empty()) return;
  const std::span<const Vec3f> here = frame.positions();
  for (Entry& entry : entries_) {
    const std::vector<Vec3f> there = entry.fork->status().positions_at(frame.snapshot.time);
    const std::optional<ForkDistance> distance = node_distance(frame.scene->model, here, there);
    if (!distance) continue;
    entry.distances[frame.snapshot.frame] = *distance;
    entry.distances[frame.snapshot.frame].time = frame.snapshot.time;
  }
}

std::vector<SettingDifference> setting_differences(const CapturedState& from, const Settings& now) {
  std::vector<SettingDifference> all;
  add_differences(param_table(), &from.start.params, &now.params, all);
  add_differences(lab_param_table(), &from.start.contact, &now.contact_params, all);
  add_materials(from.start.model, now.materials, all);
  const auto& planes = from.start.model.half_spaces;
  const auto text = [](double mu) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%g", mu);
    return std::string(digits);
  };
  for (std::size_t i = 0; i < std::min(planes.size(), now.half_space_mu.size()); ++i)
    if (planes[i].mu != now.half_space_mu[i])
      all.push_back(
          {"mu of half-space " + std::to_string(i + 1), text(planes[i].mu), text(now.half_space_mu[i])});
  return all;
}

std::string seed_text(const CapturedState& from) {
  if (from.seed == 0) return {};
  char text[64];
  std::snprintf(text, sizeof text, "seed %llu, %g m/s", static_cast<unsigned long long>(from.seed),
                from.perturbation);
  return text;
}

std::string differing_settings(const CapturedState& from, const Settings& now, std::size_t most) {
  std::vector<std::string> all;
  if (from.seed != 0) all.push_back(seed_text(from));
  for (const SettingDifference& one : setting_differences(from, now))
    all.push_back(std::string(one.name).append(" ").append(one.fork).append(" / ").append(one.run));
  std::string text;
  for (std::size_t i = 0; i < std::min(most, all.size()); ++i) text += (i > 0 ? ", " : "") + all[i];
  return all.size() > most ? text + ", ..." : text;
}

// ---- GhostMesh ----

GhostMesh::GhostMesh(const Model& model) {
  add(model, [&](std::int32_t node) {
    return !model.objects[static_cast<std::size_t>(model.node_object[static_cast<std::size_t>(node)])]
                .is_collider();
  });
}

GhostMesh::GhostMesh(const Model& model, int object) {
  add(model, [&](std::int32_t node) { return model.node_object[static_cast<std::size_t>(node)] == object; });
}

/// Edges of triangles, and segments, whose first node is `drawn`.
template <class Drawn>
void GhostMesh::add(const Model& model, const Drawn& drawn) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> known;
  for (const Vec3i& t : model.triangles) {
    if (!drawn(t[0])) continue;
    for (int c = 0; c < 3; ++c) {
      const std::int32_t a = t[c], b = t[(c + 1) % 3];
      const auto [place, is_new] = known.try_emplace(std::minmax(a, b), edges_.size());
      if (is_new) edges_.push_back({a, b, {t, {-1, -1, -1}}});
      else edges_[place->second].faces[1] = t;
    }
  }
  for (const Vec2i& segment : model.segments)
    if (drawn(segment[0])) segments_.push_back(segment);
}

std::vector<GhostMesh::Line> GhostMesh::lines(std::span<const Vec3f> positions, std::span<const Vec3f> here,
                                              const Vec3f& eye) const {
  constexpr float kSharp = 0.7f;    // cosine of the angle between two faces
  constexpr float kSeen = 0.0015f;  // of the distance to the eye: about a pixel
  const auto at = [&](std::int32_t node) { return positions[static_cast<std::size_t>(node)]; };
  const auto differs = [&](std::int32_t node) {
    if (here.size() != positions.size()) return true;
    const Vec3f x = at(node);
    return norm2(x - here[static_cast<std::size_t>(node)]) > kSeen * kSeen * norm2(x - eye);
  };
  std::vector<Line> out;
  for (const Edge& edge : edges_) {
    if (!differs(edge.a) && !differs(edge.b)) continue;
    const Vec3f a = at(edge.a), b = at(edge.b);
    bool outline = edge.faces[1][0] < 0, sharp = false;
    if (!outline) {
      Vec3f normal[2];
      bool faces_eye[2];
      for (int f = 0; f < 2; ++f) {
        const Vec3i& t = edge.faces[f];
        normal[f] = cross(at(t[1]) - at(t[0]), at(t[2]) - at(t[0]));
        faces_eye[f] = dot(normal[f], eye - a) > 0;
      }
      outline = faces_eye[0] != faces_eye[1];
      const float sizes = norm(normal[0]) * norm(normal[1]);
      sharp = !outline && sizes > 0 && dot(normal[0], normal[1]) < kSharp * sizes;
    }
    if (outline || sharp) out.push_back({a, b, sharp});
  }
  for (const Vec2i& segment : segments_)
    if (differs(segment[0]) || differs(segment[1])) out.push_back({at(segment[0]), at(segment[1]), false});
  return out;
}

}  // namespace stickslip
