// SPDX-License-Identifier: MIT
// GoogleTest under SystemC: replaces the library's main to suppress its banner.
#include <gtest/gtest.h>

#include <systemc>

int sc_main(int argc, char* argv[]) {
  ::testing::InitGoogleTest(&argc, argv);
  const int failed = RUN_ALL_TESTS();
  const auto& all = *::testing::UnitTest::GetInstance();
  const bool all_skipped = all.test_to_run_count() > 0 && all.skipped_test_count() == all.test_to_run_count();
  return failed == 0 && all_skipped ? 77 : failed;  // ctest treats this code as skipped
}

int main(int argc, char* argv[]) {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  return sc_core::sc_elab_and_sim(argc, argv);
}
