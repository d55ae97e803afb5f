// SPDX-License-Identifier: MIT
#include "heddle/frontend/sass_trace/own/recordable.h"

#include <algorithm>

#include "heddle/isa/opcode.h"

namespace heddle::sass_trace {

namespace {

// Of an atomic operation.
bool is_arrival(const isa::instruction& i) { return static_cast<isa::atomic_op>(i.sub) == isa::atomic_op::arrive; }

// Null: its step determines its time.
const char* obstacle(const isa::instruction& i) {
  using rule = isa::trace_rule;
  switch (isa::info(i.op).trace) {
    case rule::yes: break;
    case rule::not_arrivals: return is_arrival(i) ? "mbarriers" : nullptr;
    case rule::of_threads: return i.offset == isa::copies::of_threads ? nullptr : "bulk copies";
    case rule::system_calls: return "calls of the device runtime, such as printf and malloc";
    case rule::bulk_copies: return "bulk copies";
    case rule::products: return "products of warpgroups";
    case rule::registers: return "changes of a warp's registers";
    case rule::textures: return "textures or surfaces";
    case rule::mbarriers: return "mbarriers";
    case rule::clusters: return "barriers of clusters";
    case rule::launches: return "programmatic launches";
  }
  return nullptr;
}

}  // namespace

std::string why_not_recordable(const isa::program& program) {
  const auto has = [&](const char* what) {
    return "kernel '" + program.kernel + "' has " + what + ", which a trace does not hold";
  };
  const auto& c = program.required_cluster;
  if (program.needs_cluster || program.leaves_block || std::max({c[0], c[1], c[2]}) > 1)
    return has("clusters of blocks");
  for (const isa::instruction& i : program.code)
    if (const char* const what = obstacle(i)) return has(what);
  return {};
}

}  // namespace heddle::sass_trace
