// SPDX-License-Identifier: MIT
// The program's own main(), because SystemC's prints a banner first.
#include <cstdlib>
#include <systemc>

#include "testbench/program/command_line.h"
#include "testbench/program/heap.h"

int sc_main(int argc, char* argv[]) { return heddle::testbench::run_program({argv + (argc > 0), argv + argc}); }

int main(int argc, char* argv[]) {
  heddle::testbench::use_huge_pages();
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
  return sc_core::sc_elab_and_sim(argc, argv);
}
