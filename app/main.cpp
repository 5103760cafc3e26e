#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "app/cli/cli.h"

namespace {

/// A file that is opened while a standard stream is closed takes its place, and what the program says would
/// go into it. Writing to what is opened here fails instead.
void fill_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", O_RDONLY);  // the lowest number that is free: this one
}

}  // namespace

int main(int argc, char** argv) {
  // A file above the limit of its size is an error of the write, which has a message.
  std::signal(SIGXFSZ, SIG_IGN);
  fill_closed_streams();
  return stickslip::run_cli(argc, argv);
}
