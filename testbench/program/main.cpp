// SPDX-License-Identifier: MIT
// The program's own main(), because SystemC's prints a banner first.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <systemc>

#include "testbench/program/command_line.h"
#include "testbench/run/run_signals.h"

int sc_main(int argc, char* argv[]) { return heddle::testbench::run_program({argv + (argc > 0), argv + argc}); }

namespace {

// A file that is opened must not get the number of a standard stream that was closed: a message would be written to it.
// The stream fails as before, since /dev/null is opened for the other direction.
void occupy_standard_streams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(number, F_GETFD) < 0)
      ::open("/dev/null", (number == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);  // takes the lowest free number
}

}  // namespace

int main(int argc, char* argv[]) {
  heddle::testbench::run_signals::note_snapshots();
  std::signal(SIGCHLD, SIG_DFL);  // a parent may leave it ignored, and the exit states of children would be lost
  occupy_standard_streams();
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
  return sc_core::sc_elab_and_sim(argc, argv);
}
