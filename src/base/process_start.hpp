// The child side of SystemProcess: from fork to exec.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include "base/process.hpp"

namespace sb {

struct Pipe {
  int read_end = -1;
  int write_end = -1;

  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_read();
    close_write();
  }
  bool open() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    read_end = ends[0];
    write_end = ends[1];
    return true;
  }
  void close_read() { close_one(read_end); }
  void close_write() { close_one(write_end); }
  static void close_one(int& descriptor) {
    if (descriptor >= 0) ::close(descriptor);
    descriptor = -1;
  }
};

struct Pipes {
  Pipe input, output, errors;
};

// Returns the process to wait for, leader of its own group; -1 with errno on failure. With `kill_descendants` it is the
// guard: SIGTERM makes it end everything, and it exits with the program's code.
pid_t start_process(const Command& command, Pipes& pipes);

}  // namespace sb
