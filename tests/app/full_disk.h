// A disk that is full, for writers of files.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "app/io/file/output_file.h"

namespace stickslip {

/// Calls `f` in a child process with a file size limit of `bytes`. True when it throws OutputError.
template <class F>
bool fails_beyond(rlim_t bytes, F&& f) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      f();
    } catch (const OutputError&) {
      _exit(1);
    } catch (...) {
      _exit(2);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

}  // namespace stickslip
