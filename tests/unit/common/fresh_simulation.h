// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <systemc>
#include <vector>

namespace heddle {

/// Gives each test a simulation of its own, so that one process can elaborate many. No state passes from one test to
/// the next.
class fresh_simulation : public ::testing::Test {
 public:
  ~fresh_simulation() override { sc_core::sc_curr_simcontext = sc_core::sc_default_global_context = before_; }

 protected:
  fresh_simulation() : before_(sc_core::sc_curr_simcontext) { restart(); }

  /// Starts another simulation within the same test; modules of the previous one must be destroyed.
  static void restart() {
    // Kept until the process ends, and never destroyed: kernel objects may refer to them, and thread stacks belong to
    // parts of the kernel that are already destroyed by then.
    static auto& contexts = *new std::vector<std::unique_ptr<sc_core::sc_simcontext>>;
    contexts.push_back(std::make_unique<sc_core::sc_simcontext>());
    sc_core::sc_curr_simcontext = contexts.back().get();
    sc_core::sc_default_global_context = contexts.back().get();
  }

 private:
  sc_core::sc_simcontext* const before_;
};

}  // namespace heddle
