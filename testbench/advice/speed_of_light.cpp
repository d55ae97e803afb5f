// SPDX-License-Identifier: MIT
#include "testbench/advice/speed_of_light.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "heddle/sub_partition/account/warp_state.h"

namespace heddle::testbench {

namespace {

using json = nlohmann::ordered_json;

// Cycles of another clock per core cycle.
double clock_ratio(const machine_parameters& m, const char* clock) {
  return ratio(m.number(clock), m.number("gpu.core_clock_mhz"));
}

// The narrower side of the interconnect: each SM and each slice has one port.
double ports(const machine_parameters& m) { return std::min(l2_slices(m), m.number("gpu.sm_count")); }

double dram_bytes_per_cycle(const machine_parameters& m) {
  const double channels = m.number("memory.channels");
  if (m.config().memory.model != choice::memory_model::dram) return channels * m.number("memory.bytes_per_cycle");
  return channels * m.number("dram.bytes_per_cycle") * clock_ratio(m, "dram.clock_mhz");
}

double l2_bytes_per_cycle(const machine_parameters& m) {
  const double slice = m.number("interconnect.response_bytes_per_cycle") * clock_ratio(m, "interconnect.clock_mhz");
  const double sm = m.number("interconnect.sm_response_bytes_per_cycle");
  const double ports = std::min(l2_slices(m) * slice, m.number("gpu.sm_count") * (sm > 0 ? sm : slice));
  const double gpc = m.number("interconnect.gpc_response_bytes_per_cycle");
  return gpc > 0 ? std::min(ports, m.number("gpu.gpc_count") * gpc) : ports;
}

double l1_bytes_per_cycle(const machine_parameters& m) {
  return m.number("gpu.sm_count") * m.number("l1.banks") * m.number("l1.sector_bytes") /
         std::max(1.0, m.number("l1.read_cycles"));
}

double issue_per_cycle(const machine_parameters& m) {
  return m.number("gpu.sm_count") * m.number("sm.sub_partitions") *
         std::max(1.0, m.number("sub_partition.issue_width"));
}

// Cycles that the packets of a kernel occupy the ports between SMs and L2 slices: requests (writes carry their data)
// and responses (reads carry theirs). A packet takes whole cycles; the mean packet size is used because the metrics
// have no distribution.
struct packet_cycles {
  double requests;
  double responses;
};

packet_cycles packets(const json& kernel, const machine_parameters& m) {
  const auto l2 = [&](const char* key) { return number_at(kernel, {"memory", "l2", key}); };
  const double count = l2("requests") > 0 ? l2("requests") : l2("accesses");
  const double moved = l2("read_bytes") + l2("write_bytes"), header = m.number("interconnect.header_bytes");
  const double writes = count * ratio(l2("write_bytes"), moved), data = ratio(moved, count);
  const auto cycles = [&](double bytes, const char* key) {
    return std::max(1.0, std::ceil(ratio(bytes, m.number(key))));
  };
  const auto share = [&](double full, const char* key) {
    return full * cycles(header + data, key) + (count - full) * cycles(header, key);
  };
  return {share(writes, "interconnect.request_bytes_per_cycle"),
          share(count - writes, "interconnect.response_bytes_per_cycle")};
}

/// Collects the parts of the chip.
struct use_list {
  std::vector<resource_use> all;
  double cycles;

  void add(const std::string& name, double amount, double peak, const char* unit) {
    if (peak <= 0) return;
    const double used = ratio(amount, cycles);
    all.push_back({name, std::min(1.0, used / peak), used, peak, unit});
  }
};

void add_units(use_list& list, const json& kernel, const machine_parameters& m) {
  const double sms = m.number("gpu.sm_count"), parts = m.number("sm.sub_partitions");
  const std::pair<const char*, double> lanes[] = {
      {"fp32", m.number("fp32.lanes") + ratio(m.number("fp32.shared_lanes"), parts)},
      {"int", m.number("int.lanes") + ratio(m.number("int.shared_lanes"), parts)},
      {"fp64", m.number("fp64.lanes")},
      {"half", m.number("half.lanes")},
      {"sfu", m.number("sfu.lanes")},
      {"ldst", m.number("ldst.lanes")},
      {"texture", m.number("texture.lanes")}};
  for (const auto& [unit, width] : lanes)
    if (const double n = number_at(kernel, {"instructions", unit}); n > 0)
      list.add(unit, 32 * n, width * parts * sms, "lanes");
}

void add_memory(use_list& list, const json& kernel, const machine_parameters& m) {
  const double passes = number_at(kernel, {"metrics", "shared_load_transactions"}) +
                        number_at(kernel, {"metrics", "shared_store_transactions"});
  if (passes > 0)
    list.add("shared memory", passes, m.number("gpu.sm_count") / std::max(1.0, m.number("shared_memory.pass_cycles")),
             "passes");
  if (const double hits = number_at(kernel, {"memory", "l1", "hits"}); hits > 0)
    list.add("L1", hits * m.number("l1.sector_bytes"), l1_bytes_per_cycle(m), "bytes");
  if (number_at(kernel, {"memory", "l2", "accesses"}) > 0) {
    const packet_cycles cycles = packets(kernel, m);
    const double peak = ports(m) * clock_ratio(m, "interconnect.clock_mhz");
    list.add("SMs to L2", cycles.requests, peak, "cycles of a port");
    list.add("L2 to SMs", cycles.responses, peak, "cycles of a port");
  }
  list.add("DRAM",
           number_at(kernel, {"memory", "dram", "read_bytes"}) + number_at(kernel, {"memory", "dram", "write_bytes"}),
           dram_bytes_per_cycle(m), "bytes");
}

}  // namespace

double l2_slices(const machine_parameters& m) { return slices_of(m.config()); }

bool has(const json& j, std::initializer_list<const char*> path) {
  const json* at = &j;
  for (const char* key : path) {
    const auto found = at->is_object() ? at->find(key) : at->end();
    if (found == at->end()) return false;
    at = &*found;
  }
  return true;
}

double number_at(const json& j, std::initializer_list<const char*> path) {
  const json* at = &j;
  for (const char* key : path) {
    const auto found = at->is_object() ? at->find(key) : at->end();
    if (found == at->end()) return 0;
    at = &*found;
  }
  return at->is_number() ? at->get<double>() : 0;
}

double ratio(double a, double b) { return b > 0 ? a / b : 0; }

std::vector<resource_use> speed_of_light(const json& kernel, const machine_parameters& m) {
  use_list list{{}, number_at(kernel, {"cycles"})};
  list.add("issue slots", number_at(kernel, {"metrics", "issue_slots"}),
           m.number("gpu.sm_count") * m.number("sm.sub_partitions"), "slots");
  add_units(list, kernel, m);
  add_memory(list, kernel, m);
  return std::move(list.all);
}

bool is_queue(const std::string& state) {
  warp_stall s{};
  return find_stall(state, s) && is_queue(s);
}

std::vector<wait_share> waits(const json& kernel) {
  std::vector<wait_share> out;
  const auto states = kernel.find("warp_states");
  if (states == kernel.end() || !states->is_object()) return out;
  double all = 0;
  for (const auto& state : states->items()) {
    const double n = state.value().is_number() ? state.value().get<double>() : 0;
    all += n;
    if (state.key() != name_of(warp_stall::selected)) out.push_back({state.key(), n});
  }
  for (wait_share& w : out) w.share = ratio(w.share, all);
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
  return out;
}

json roofline(const json& kernel, const machine_parameters& m) {
  const double hertz = m.number("gpu.core_clock_mhz") * 1e6, executed = number_at(kernel, {"metrics", "inst_executed"});
  json out = {{"rate", ratio(executed, number_at(kernel, {"cycles"})) * hertz},
              {"issue_peak", issue_per_cycle(m) * hertz},
              {"levels", json::array()}};
  const auto level = [&](const char* name, const char* key, double bytes_per_cycle) {
    const double bytes =
        number_at(kernel, {"memory", key, "read_bytes"}) + number_at(kernel, {"memory", key, "write_bytes"});
    if (bytes > 0 && bytes_per_cycle > 0)
      out["levels"].push_back(
          {{"name", name}, {"bytes", bytes}, {"peak", bytes_per_cycle * hertz}, {"intensity", executed / bytes}});
  };
  level("L1", "l1", l1_bytes_per_cycle(m));
  level("L2", "l2", l2_bytes_per_cycle(m));
  level("DRAM", "dram", dram_bytes_per_cycle(m));
  return out;
}

}  // namespace heddle::testbench
