// SPDX-License-Identifier: MIT
#include "testbench/report/changes.h"

#include <fmt/format.h>

#include <algorithm>

#include "heddle/config/parameters.h"
#include "heddle/occupancy/limiter.h"
#include "heddle/sub_partition/account/warp_state.h"
#include "testbench/report/candidate_changes.h"

namespace heddle::testbench {

namespace {

using json = nlohmann::ordered_json;

found only_if(bool condition, const found& f) { return condition ? f : std::nullopt; }

// A unit that the sub-partitions share has the lanes of all.
found more_lanes(const judged& j, const std::string& key) {
  const bool shared = j.machine.is_set(key.substr(0, key.find('.')) + ".shared");
  const double parts = shared ? j.machine.number("sm.sub_partitions") : 1;
  return only_if(is_warp_rate(2 * j.machine.number(key) * parts), twice(j, key, "the unit limits the throughput"));
}
found more_sms(const judged& j, const char* why) { return twice(j, "gpu.sm_count", why); }
found wider_issue(const judged& j) {
  found f = twice(j, "sub_partition.issue_width", "more instructions are ready than schedulers can issue", 2);
  // A second instruction issues only if the dual-issue rule allows some pairs.
  if (f && j.config().sub_partition.dual_issue == choice::dual_issue::none)
    f->also.emplace_back("sub_partition.dual_issue", name_of("sub_partition.dual_issue", choice::dual_issue::any));
  return f;
}
found one_pass(const judged& j) {
  return only_if(j.number("shared_memory.pass_cycles") > 1,
                 change_to(j, "shared_memory.pass_cycles", 1, "a pass occupies the banks for less time"));
}

// A cache without evictions was large enough: its misses were cold misses. Files of older versions do not have this
// count.
bool evicted(const judged& j, const char* cache) {
  return !has(j.kernel, {"memory", cache, "evictions"}) || j.of_kernel({"memory", cache, "evictions"}) > 0;
}
found more_l2(const judged& j) {
  return only_if(evicted(j, "l2"), twice(j, "l2.size_bytes", "what misses the L2 goes to the memory"));
}

// True if bytes were read from the L2 several times, so that a larger L1 could have kept some.
bool reused(const judged& j) {
  if (!has(j.kernel, {"memory", "l2", "read_bytes"})) return true;
  const double from_memory = j.of_kernel({"memory", "dram", "read_bytes"});
  return from_memory > 0 && j.of_kernel({"memory", "l2", "read_bytes"}) >= 2 * from_memory;
}
bool loads_bypass_l1(const judged& j) { return !j.config().l1.cache_global_loads; }
found l1_on(const judged& j) {
  return only_if(loads_bypass_l1(j) && j.of_kernel({"metrics", "gld_transactions"}) > 0 && reused(j),
                 change_to(j, "l1.cache_global_loads", true, "global loads bypass the L1"));
}

// If L1 and shared memory are unified, the unified capacity grows, too.
found grown(const judged& j, const char* key, const char* why) {
  found f = twice(j, key, why);
  const double unified = j.number("shared_memory.unified_bytes");
  if (f && unified > 0) f->also.emplace_back("shared_memory.unified_bytes", as_number(unified + j.number(key)));
  return f;
}
found more_l1(const judged& j) {
  return only_if(evicted(j, "l1"), grown(j, "l1.size_bytes", "what misses the L1 goes to the L2"));
}
found more_shared(const judged& j, const char* why) {
  found f = grown(j, "shared_memory.size_bytes", why);
  if (f) {
    const std::string carveouts = value_text(j.machine.value("shared_memory.carveouts_kb"));
    f->also.emplace_back("shared_memory.carveouts_kb",
                         carveouts + "," + value_text(as_number(f->to.get<double>() / 1024)));
  }
  return f;
}

// The number of ports is limited by slices or by SMs: each SM and each slice has one.
found more_ports(const judged& j) {
  return l2_slices(j.machine) <= j.number("gpu.sm_count")
             ? twice(j, "l2.slices_per_channel", "more L2 slices side by side")
             : more_sms(j, "more ports to the L2");
}
found wider_requests(const judged& j) {
  return twice(j, "interconnect.request_bytes_per_cycle", "requests and stores leave the SM sooner");
}

// The resource that limits the warps of an SM, if more warps would hide latency.
found more_warps(const judged& j) {
  // A grid that does not fill the SMs gains nothing from more capacity.
  if (j.of_kernel({"theoretical_occupancy"}) >= 0.99 || (has(j.kernel, {"waves"}) && j.of_kernel({"waves"}) < 1))
    return std::nullopt;
  static constexpr const char* why = "more warps would hide the latency; this limits them";
  const auto limiters = j.kernel.find("occupancy_limiters");
  if (limiters == j.kernel.end() || !limiters->is_array() || limiters->empty()) return std::nullopt;
  for (std::size_t k = 0; k < limiters->size(); ++k)
    for (const limiter_row& row : limiter_rows) {
      if ((*limiters)[k] != row.name) continue;
      if (row.what != limiter::shared_memory) return twice(j, row.parameter, why);
      if (k == 0) return more_shared(j, why);
    }
  return std::nullopt;
}

/// Of the bytes from the L2, those that came from the memory.
double from_memory(const judged& j) {
  return ratio(j.of_kernel({"memory", "dram", "read_bytes"}), j.of_kernel({"memory", "l2", "read_bytes"}));
}

// The latency of the memory itself, if at least a quarter of the bytes from the L2 came from the memory.
found memory_latency(const judged& j) {
  if (from_memory(j) < 0.25) return std::nullopt;
  return half(j,
              j.config().memory.model == choice::memory_model::dram ? "dram.controller_latency_cycles"
                                                                    : "memory.latency_cycles",
              "what misses the L2 waits for the memory");
}

/// Whether the memory's data bus moves data for most of the time from the first to the last byte: then its rate, and
/// not its latency, is what warps wait for, if only in a part of the kernel's time.
bool memory_is_busy(const judged& j) {
  const double moved = j.of_kernel({"memory", "dram", "busy_cycles"});
  double all = 0;
  for (const char* part : {"busy_cycles", "idle_cycles", "row_cycles", "turnaround_cycles", "refresh_cycles"})
    all += j.of_kernel({"memory", "dram", part});
  return moved > 0.8 * all;
}

found faster_bus(const judged& j) {
  const char* why = "misses of the L2 come in a burst, which the memory's bus moves faster";
  for (const resource_use& u : speed_of_light(j.kernel, j.machine))
    if (u.name == "DRAM" && u.share > 0.5) why = "the memory's bus moves data most of the time";
  return only_if(memory_is_busy(j), twice(j, "dram.clock_mhz", why));
}

bool often_misses_l2(const judged& j) {
  return ratio(j.of_kernel({"memory", "l2", "misses"}), j.of_kernel({"memory", "l2", "accesses"})) > 0.2;
}

found other_order(const judged& j, const char* why) {
  const bool greedy = j.config().sub_partition.scheduler == choice::scheduler::gto;
  return change_to(j, "sub_partition.scheduler",
                   name_of("sub_partition.scheduler", greedy ? choice::scheduler::lrr : choice::scheduler::gto), why);
}

std::vector<change> memory_wait(const judged& j) {
  const double hits = j.of_kernel({"memory", "l1", "hits"});
  return first({l1_on(j), more_warps(j),
                only_if(hits > 0 && ratio(hits, j.of_kernel({"memory", "l1", "accesses"})) < 0.9, more_l1(j)),
                only_if(often_misses_l2(j), more_l2(j)), faster_bus(j), only_if(memory_is_busy(j), memory_latency(j)),
                half(j, "l2.latency_cycles", "warps wait for the round trip to the L2"), memory_latency(j)});
}

std::vector<change> shared_memory_wait(const judged& j) {
  return first(
      {only_if(j.of_kernel({"memory", "shared", "bank_conflicts"}) > 0,
               half(j, "shared_memory.conflict_cycles", "bank conflicts occupy the banks")),
       only_if(j.of_kernel({"memory", "shared", "accesses"}) > 0,
               half_but_for_address(j, "shared_memory.latency_cycles", "warps wait for data from shared memory")),
       only_if(j.instructions("sfu") > 0, more_lanes(j, "sfu.lanes")), more_warps(j)});
}

std::vector<change> arithmetic_latency(const judged& j) {
  const char* most = "fp32";
  for (const char* unit : {"int", "fp64", "half"})
    if (j.instructions(unit) > j.instructions(most)) most = unit;
  return first({more_warps(j), half(j, std::string(most) + ".latency_cycles",
                                    "each instruction waits for the result of the previous one")});
}

std::vector<change> narrow_unit(const judged& j) {
  std::vector<resource_use> units;
  for (const resource_use& u : speed_of_light(j.kernel, j.machine))
    for (const char* unit : {"fp32", "int", "fp64", "half", "sfu", "texture"})
      if (u.name == unit) units.push_back(u);
  std::stable_sort(units.begin(), units.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
  std::vector<change> out;
  for (std::size_t i = 0; i < std::min<std::size_t>(2, units.size()); ++i)
    if (const found f = more_lanes(j, units[i].name + ".lanes")) out.push_back(*f);
  return out;
}

std::vector<change> memory_queue(const judged& j) {
  return first({more_lanes(j, "ldst.lanes"),
                twice(j, "ldst.queue_entries", "warps with memory instructions wait for a place in the queue"),
                one_pass(j)});
}

std::vector<change> global_accesses(const judged& j) {
  // Loads that bypass the L1 take no MSHR, and stores never take one.
  return first({only_if(!loads_bypass_l1(j), twice(j, "l1.mshr_entries", "more misses can be outstanding")),
                more_ports(j), wider_requests(j),
                twice(j, "l1.miss_queue_entries", "more requests wait for the interconnect instead of in the unit"),
                more_lanes(j, "ldst.lanes")});
}

std::vector<change> texture_queue(const judged& j) {
  return first({more_lanes(j, "texture.lanes"),
                twice(j, "texture.queue_entries", "more texture instructions can be outstanding")});
}

std::vector<change> barriers(const judged& j) {
  return first({more_warps(j), other_order(j, "warps of a block reach the barrier in another order"),
                half(j, "sm.barrier_latency_cycles", "warps leave a barrier sooner")});
}

std::vector<change> fences(const judged& j) {
  return first({half(j, "l2.latency_cycles", "a fence waits for the L2"),
                half(j, "interconnect.latency_cycles", "and for the interconnect in both directions")});
}

std::vector<change> branches(const judged& j) {
  return first({half(j, "branch.latency_cycles", "a warp continues sooner after a branch"), more_warps(j)});
}

std::vector<change> instructions_missing(const judged& j) {
  // A source line makes one or two instructions: if the whole kernel fits the cache, its misses were cold misses.
  const auto lines = j.kernel.find("lines");
  const double count = lines != j.kernel.end() && lines->is_array() ? 2.0 * static_cast<double>(lines->size()) : 0;
  constexpr const char* slow = "instructions that miss take long to fetch";
  const double bytes = count * j.number("instruction_cache.instruction_bytes");
  const bool fits = bytes > 0 && bytes <= j.number("instruction_cache.size_bytes");
  return first({only_if(!fits, twice(j, "instruction_cache.size_bytes", "the program does not fit")),
                half(j, "instruction_cache.second_level_miss_latency_cycles", slow),
                twice(j, "instruction_cache.prefetch_lines", "instructions are asked for too late"),
                half(j, "instruction_cache.miss_latency_cycles", slow)});
}

std::vector<change> constants_missing(const judged& j) {
  return first({half(j, "constant_cache.miss_latency_cycles", "misses take long"),
                twice(j, "constant_cache.size_bytes", "constants do not fit")});
}

std::vector<change> dispatch_conflicts(const judged& j) {
  return first({twice(j, "sub_partition.register_banks", "sources of an instruction conflict in a bank"),
                other_order(j, "the policy keeps warps from issuing")});
}

std::vector<change> last_stores(const judged& j) { return first({more_ports(j), wider_requests(j)}); }
std::vector<change> sleeping_changes(const judged&) { return {}; }
std::vector<change> contexts(const judged& j) {
  return first({only_if(j.config().context.preemption != choice::preemption::block,
                        twice(j, "context.lines_in_flight", "contexts are saved and restored faster"))});
}
std::vector<change> schedulers(const judged& j) { return first({wider_issue(j), more_sms(j, "more schedulers")}); }

std::vector<change> cluster_barriers(const judged& j) {
  return first({half(j, "cluster.barrier_latency_cycles", "a faster barrier of clusters")});
}

std::vector<change> mbarriers(const judged& j) {
  return first({twice(j, "tma.requests_in_flight", "bulk copies have more requests in flight", 1024), more_warps(j)});
}

std::vector<change> earlier_launches(const judged&) { return {}; }

// A state in which most warps wait: its name, and the changes that would shorten it.
struct wait_rule {
  warp_stall state;
  const char* name;
  lister changes;
};
constexpr wait_rule of_wait[] = {
    {warp_stall::long_scoreboard, "the latency of global memory", memory_wait},
    {warp_stall::short_scoreboard, "the latency of shared memory and special functions", shared_memory_wait},
    {warp_stall::wait, "the latency of arithmetic", arithmetic_latency},
    {warp_stall::math_pipe_throttle, "arithmetic units that are busy in bursts", narrow_unit},
    {warp_stall::mio_throttle, "the queue of the load/store unit", memory_queue},
    {warp_stall::lg_throttle, "the number of outstanding global accesses", global_accesses},
    {warp_stall::tex_throttle, "the texture unit", texture_queue},
    {warp_stall::barrier, "waiting at barriers", barriers},
    {warp_stall::membar, "fences", fences},
    {warp_stall::branch_resolving, "the latency of branches", branches},
    {warp_stall::no_instruction, "instruction fetch", instructions_missing},
    {warp_stall::imc_miss, "misses of the constant cache", constants_missing},
    {warp_stall::dispatch_stall, "conflicts at dispatch", dispatch_conflicts},
    {warp_stall::drain, "memory accesses of warps that have exited", last_stores},
    {warp_stall::sleeping, "sleeping warps", sleeping_changes},
    {warp_stall::cluster_barrier, "barriers of clusters", cluster_barriers},
    {warp_stall::mbarrier, "bulk copies and mbarriers", mbarriers},
    {warp_stall::grid_dependency, "the end of the launch before", earlier_launches},
    {warp_stall::misc, "context switches", contexts},
    {warp_stall::not_selected, "the number of schedulers", schedulers},
};

// Each state in which a warp waits has its rule.
constexpr bool has_all_waits() {
  bool has[static_cast<std::size_t>(warp_stall::count)] = {};
  has[static_cast<std::size_t>(warp_stall::selected)] = true;
  for (const wait_rule& w : of_wait) has[static_cast<std::size_t>(w.state)] = true;
  for (const bool one : has)
    if (!one) return false;
  return true;
}
static_assert(has_all_waits(), "a state of warps has no changes that would shorten it");

std::vector<change> more_of_unit(const judged& j, const char* key) {
  return first({more_lanes(j, key), more_sms(j, "more units")});
}

std::vector<change> wider_responses(const judged& j) {
  return first({twice(j, "interconnect.response_bytes_per_cycle", "wider responses from the L2"), l1_on(j), more_l1(j),
                more_ports(j)});
}
std::vector<change> faster_memory(const judged& j) {
  return first({twice(j, "memory.channels", "more channels side by side"), only_if(often_misses_l2(j), more_l2(j)),
                j.config().memory.model == choice::memory_model::dram
                    ? twice(j, "dram.clock_mhz", "a faster memory")
                    : twice(j, "memory.bytes_per_cycle", "a wider memory")});
}

// A busy part of the chip: the changes that widen it or reduce its load.
struct resource_rule {
  const char* resource;
  lister changes;
};
constexpr resource_rule of_resource[] = {
    {"issue slots", schedulers},
    {"fp32", [](const judged& j) { return more_of_unit(j, "fp32.lanes"); }},
    {"int", [](const judged& j) { return more_of_unit(j, "int.lanes"); }},
    {"fp64", [](const judged& j) { return more_of_unit(j, "fp64.lanes"); }},
    {"half", [](const judged& j) { return more_of_unit(j, "half.lanes"); }},
    {"sfu", [](const judged& j) { return more_of_unit(j, "sfu.lanes"); }},
    {"ldst", [](const judged& j) { return more_of_unit(j, "ldst.lanes"); }},
    {"texture", [](const judged& j) { return more_of_unit(j, "texture.lanes"); }},
    {"shared memory",
     [](const judged& j) {
       return first({one_pass(j), more_sms(j, "more shared memories")});
     }},
    {"L1",
     [](const judged& j) {
       return first({twice(j, "l1.banks", "more sectors in a cycle", 4), more_sms(j, "more L1s")});
     }},
    {"SMs to L2",
     [](const judged& j) {
       return first({wider_requests(j), more_ports(j)});
     }},
    {"L2 to SMs", wider_responses},
    {"DRAM", faster_memory},
};

}  // namespace

std::vector<change> changes_for_resource(const std::string& resource, const json& kernel,
                                         const machine_parameters& machine) {
  for (const resource_rule& r : of_resource)
    if (r.resource == resource) return r.changes({kernel, machine});
  return {};
}

std::vector<change> changes_for_wait(const std::string& state, const json& kernel, const machine_parameters& machine) {
  for (const wait_rule& w : of_wait)
    if (name_of(w.state) == state) return w.changes({kernel, machine});
  return {};
}

std::string name_of_wait(const std::string& state) {
  for (const wait_rule& w : of_wait)
    if (name_of(w.state) == state) return w.name;
  return "";
}

std::vector<change> changes_for_launch(const machine_parameters& machine) {
  const json none = json::object();
  return first({half({none, machine}, "cwd.launch_latency_cycles", "the launch takes longer than the kernel")});
}

std::vector<change> all_changes(const machine_parameters& machine) {
  const json kernel = {
      {"metrics", {{"gld_transactions", 1}}},
      {"memory",
       {{"l1", {{"hits", 1}, {"accesses", 9}}},
        {"l2", {{"misses", 9}, {"accesses", 9}, {"read_bytes", 2}}},
        {"dram", {{"read_bytes", 1}}},
        {"shared", {{"bank_conflicts", 1}, {"accesses", 9}}}}},
      {"instructions", {{"fp32", 1}, {"int", 1}, {"fp64", 1}, {"half", 1}, {"sfu", 1}, {"texture", 1}}},
      {"cycles", 1}};
  std::vector<change> all = changes_for_launch(machine);
  const auto take = [&all](const std::vector<change>& more) { all.insert(all.end(), more.begin(), more.end()); };
  for (const limiter_row& row : limiter_rows) {
    const json limited = {{"occupancy_limiters", {row.name}}};
    if (const found f = more_warps({limited, machine})) all.push_back(*f);
  }
  for (const resource_rule& r : of_resource) take(r.changes({kernel, machine}));
  for (const wait_rule& w : of_wait) take(w.changes({kernel, machine}));
  return all;
}

}  // namespace heddle::testbench
