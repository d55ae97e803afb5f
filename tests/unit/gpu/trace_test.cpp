// SPDX-License-Identifier: MIT
// Every module can be traced to a trace file that is not Heddle's: SystemC's own, in a user's simulation.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>

#include "heddle/config/config.h"
#include "heddle/gpu/gpu.h"
#include "heddle/gpu/host/host_driver.h"
#include "heddle/observe/vcd_writer.h"
#include "heddle/tlm/kernel/clock_domain.h"
#include "tests/unit/common/fresh_simulation.h"
#include "tests/unit/common/store_kernel.h"

namespace heddle::test {
namespace trace_test {

namespace fs = std::filesystem;

class traces : public fresh_simulation {};

/// Number of changes of each signal in a VCD file, by hierarchical name.
std::map<std::string, unsigned> changes_in(const fs::path& file) {
  std::map<std::string, std::string> names;
  std::map<std::string, unsigned> changes;
  std::string scope;
  bool declared = false;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string first, type, width, id, name;
    words >> first;
    if (first == "$scope") {
      words >> type >> name;
      scope += name + ".";
    } else if (first == "$upscope") {
      scope.erase(scope.rfind('.', scope.size() - 2) + 1);
    } else if (first == "$var") {
      words >> type >> width >> id >> name;
      names[id] = scope.substr(scope.find('.') + 1) + name;  // within the scope SystemC
      changes[names[id]] = 0;
    } else if (!declared) {
      declared = first == "$enddefinitions";
    } else if (!first.empty() && first[0] == 'b') {
      words >> id;
      ++changes[names.at(id)];
    } else if (!first.empty() && (first[0] == '0' || first[0] == '1')) {
      ++changes[names.at(first.substr(1))];
    }
  }
  return changes;
}

// Modules below `object` without a signal of their own or in their submodules.
void silent_modules(const sc_core::sc_object& object, const std::map<std::string, unsigned>& signals,
                    std::set<std::string>& silent) {
  for (const sc_core::sc_object* child : object.get_child_objects()) {
    if (dynamic_cast<const sc_core::sc_module*>(child) == nullptr) continue;
    if (dynamic_cast<const unit_clock*>(child) != nullptr) continue;  // it only keeps time
    const std::string prefix = std::string(child->name()) + ".";
    const auto next = signals.lower_bound(prefix);
    if (next == signals.end() || next->first.compare(0, prefix.size(), prefix) != 0) silent.insert(child->name());
    silent_modules(*child, signals, silent);
  }
}

TEST_F(traces, hold_every_module_of_a_gpu_and_its_levels) {
  const fs::path file = fs::temp_directory_path() / ("heddle_trace_" + std::to_string(::getpid()));
  const gpu_config config = load_config("gtx1080", {"gpu.sm_count=1", "memory.channels=2"});
  auto g = std::make_unique<gpu>("gpu", config);
  auto driver = std::make_unique<host_driver>("driver", config);
  driver->host_socket.bind(g->host_socket);
  sc_core::sc_trace_file* trace = sc_core::sc_create_vcd_trace_file(file.c_str());
  g->trace(trace);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);

  launch_request r;
  r.module = driver->load_module(store_kernel, "store.ptx");
  r.kernel = "store";
  r.grid[0] = 4;
  r.block[0] = 128;
  r.argument(driver->allocate(512));
  driver->launch(r);
  sc_core::sc_start(sc_core::sc_time(100, sc_core::SC_US));
  EXPECT_TRUE(g->idle());
  sc_core::sc_close_vcd_trace_file(trace);

  const fs::path written = file.string() + ".vcd";
  const auto signals = changes_in(written);
  std::set<std::string> silent;
  silent_modules(*g, signals, silent);
  for (const std::string& module : silent) ADD_FAILURE() << module << " puts nothing into the file";
  // Signals derived from times change as well as stored ones.
  for (const char* name :
       {"gpu.sm0.partition0.issued", "gpu.sm0.partition0.warp0_state", "gpu.sm0.partition0.warp_scheduler.selected",
        "gpu.sm0.partition0.fetch.buffered", "gpu.sm0.partition0.int.busy", "gpu.cwd.blocks_placed",
        "gpu.sm0.resource_manager.slot0_warps", "gpu.l2_slice0.requests_waiting"})
    EXPECT_GT(signals.count(name) ? signals.at(name) : 0, 2u) << name;
  std::error_code ignored;
  fs::remove(written, ignored);
}

TEST_F(traces, hold_whole_numbers_and_refuse_the_rest_by_name) {
  const fs::path file = fs::temp_directory_path() / ("heddle-types-" + std::to_string(::getpid()) + ".vcd");
  vcd_writer writer(file.string());
  const bool yes = true;
  const int number = -1;
  writer.trace(yes, "yes");
  writer.trace(number, "number", 32);
  EXPECT_EQ(writer.signals().size(), 2u);
  const auto refused = [&](const auto& value) {
    try {
      writer.trace(value, "of.other.type");
    } catch (const internal_error& e) {
      return std::string(e.what()).find("of.other.type") != std::string::npos;
    }
    return false;
  };
  EXPECT_TRUE(refused(1.0f));
  EXPECT_TRUE(refused(1.0));
  EXPECT_TRUE(refused(sc_dt::sc_bit(true)));
  EXPECT_TRUE(refused(sc_dt::sc_logic(true)));
  EXPECT_TRUE(refused(sc_dt::sc_int<5>(1)));
  EXPECT_TRUE(refused(sc_dt::sc_uint<5>(1)));
  EXPECT_TRUE(refused(sc_dt::sc_bigint<70>(1)));
  EXPECT_TRUE(refused(sc_dt::sc_biguint<70>(1)));
  EXPECT_TRUE(refused(sc_dt::sc_bv<5>("01010")));
  EXPECT_TRUE(refused(sc_dt::sc_lv<5>("01010")));
  EXPECT_EQ(writer.signals().size(), 2u);
  writer.close(1);
  fs::remove(file);
}

}  // namespace trace_test
}  // namespace heddle::test
