#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "app/cli/cli.h"

namespace {

/// A file opened while a standard stream is closed would get its descriptor, and messages would go into that
/// file. Opening /dev/null in its place makes such writes fail instead.
void fill_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", O_RDONLY);  // the lowest number that is free: this one
}

}  // namespace

int main(int argc, char** argv) {
  // Writing beyond the file size limit is then a write error, which has a message.
  std::signal(SIGXFSZ, SIG_IGN);
  fill_closed_streams();
  return stickslip::run_cli(argc, argv);
}
