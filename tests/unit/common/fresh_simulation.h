// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <systemc>
#include <vector>

namespace heddle {

/// Gives each test a simulation of its own, so that one process can elaborate many. What a test began is not the next
/// one's.
class fresh_simulation : public ::testing::Test {
 protected:
  fresh_simulation() : before_(sc_core::sc_curr_simcontext) { restart(); }
  ~fresh_simulation() override { sc_core::sc_curr_simcontext = sc_core::sc_default_global_context = before_; }

  /// Begins another simulation within the same test; modules of the one before must be gone.
  static void restart() {
    // Kept until the process ends, and never destroyed: objects of the kernel may refer to them, and threads' stacks
    // belong to parts of the kernel that are gone by then.
    static auto& contexts = *new std::vector<std::unique_ptr<sc_core::sc_simcontext>>;
    contexts.push_back(std::make_unique<sc_core::sc_simcontext>());
    sc_core::sc_curr_simcontext = contexts.back().get();
    sc_core::sc_default_global_context = contexts.back().get();
  }

 private:
  sc_core::sc_simcontext* const before_;
};

}  // namespace heddle
