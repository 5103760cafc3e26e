#include "app/process/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace stickslip {
namespace {

using Clock = std::chrono::steady_clock;

/// Whether `socket` accepts bytes or is closed within `limit`; 0: no limit.
bool is_writable(int socket, ChildProcess::Limit limit) {
  if (limit.count() <= 0) return true;
  const Clock::time_point start = Clock::now();
  for (;;) {
    const ChildProcess::Limit left = limit - (Clock::now() - start);
    if (left.count() <= 0) return false;
    pollfd waiting{socket, POLLOUT, 0};
    const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(left).count() + 1;
    const int ready = poll(&waiting, 1, static_cast<int>(std::min<long long>(milliseconds, 1'000'000)));
    if (ready > 0 || (ready < 0 && errno != EINTR)) return true;
  }
}

}  // namespace

std::optional<std::filesystem::path> find_program(const std::string& program) {
  const auto runs = [](const std::filesystem::path& file) { return access(file.c_str(), X_OK) == 0; };
  if (program.find('/') != std::string::npos)
    return runs(program) ? std::optional<std::filesystem::path>(program) : std::nullopt;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const std::filesystem::path file = std::filesystem::path(folder) / program; runs(file)) return file;
  return std::nullopt;
}

ChildProcess::ChildProcess(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                           Group group)
    : own_group_(group == Group::own) {
  // A socket instead of a pipe: writing to a program that has ended is an error code, not a signal.
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::runtime_error(std::string("cannot make a pipe: ") + std::strerror(errno));
  error_output_ = memfd_create("errors", MFD_CLOEXEC);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  if (error_output_ >= 0) posix_spawn_file_actions_adddup2(&actions, error_output_, STDERR_FILENO);
  std::string name = program.string();
  std::vector<std::string> words = arguments;
  std::vector<char*> argv = {name.data()};
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  if (group == Group::own) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const int error = posix_spawn(&pid_, name.c_str(), &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  input_ = ends[0];
  if (error == 0) return;
  close(input_);
  if (error_output_ >= 0) close(error_output_);
  throw std::runtime_error("cannot start '" + name + "': " + std::strerror(error));
}

ChildProcess::~ChildProcess() {
  if (input_ >= 0) close(input_);
  if (pid_ > 0) {
    stop();
    waitpid(pid_, nullptr, 0);
  }
  if (error_output_ >= 0) close(error_output_);
}

/// Valid only before the process has been waited for: until then its id and group id are not reused.
void ChildProcess::stop() { kill(own_group_ ? -pid_ : pid_, SIGKILL); }

bool ChildProcess::write(std::span<const std::uint8_t> bytes, Limit limit) {
  while (!bytes.empty()) {
    if (!is_writable(input_, limit)) {
      timed_out_ = true;
      return false;
    }
    const ssize_t sent =
        send(input_, bytes.data(), bytes.size(), MSG_NOSIGNAL | (limit.count() > 0 ? MSG_DONTWAIT : 0));
    if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (sent <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
  return true;
}

bool ChildProcess::finish(Limit limit) {
  close(input_);
  input_ = -1;
  int status = 0;
  if (limit.count() > 0) {
    const Clock::time_point start = Clock::now();
    auto pause = std::chrono::milliseconds(1);
    pid_t ended = 0;
    while ((ended = waitpid(pid_, &status, WNOHANG)) == 0 && Clock::now() - start < limit) {
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, std::chrono::milliseconds(50));
    }
    if (ended == 0) {
      timed_out_ = true;
      stop();
    }
    if (ended > 0) pid_ = -1;
  }
  while (pid_ > 0 && waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  if (error_output_ >= 0) {
    errors_.resize(static_cast<std::size_t>(lseek(error_output_, 0, SEEK_END)));
    const ssize_t got = pread(error_output_, errors_.data(), errors_.size(), 0);
    errors_.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace stickslip
