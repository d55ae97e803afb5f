// SPDX-License-Identifier: MIT
#include "heddle/frontend/sass_trace/own/recordable.h"

#include <algorithm>

#include "heddle/isa/opcode.h"

namespace heddle::sass_trace {

namespace {

bool is_arrival(const isa::instruction& i) {
  return isa::is_atomic(i.op) && static_cast<isa::atomic_op>(i.sub) == isa::atomic_op::arrive;
}

// Null: its step determines its time.
const char* obstacle(const isa::instruction& i) {
  using op = isa::opcode;
  switch (isa::info(i.op).flow) {
    case isa::flow_kind::system_call: return "calls of the device runtime, such as printf and malloc";
    case isa::flow_kind::bulk_copy: return "bulk copies";
    case isa::flow_kind::product_fence:
    case isa::flow_kind::product_commit:
    case isa::flow_kind::product_wait: return "products of warpgroups";
    case isa::flow_kind::register_change: return "changes of a warp's registers";
    default: break;
  }
  switch (i.op) {
    case op::hgmma:
    case op::qgmma:
    case op::igmma:
    case op::bgmma: return "products of warpgroups";
    case op::tex:
    case op::tld4:
    case op::suld:
    case op::sust:
    case op::txq: return "textures or surfaces";
    case op::syncs: return "mbarriers";
    case op::ucgabar_arv:
    case op::ucgabar_wait: return "barriers of clusters";
    case op::acqbulk:
    case op::preexit: return "programmatic launches";
    case op::depbar: return i.offset == isa::copies::of_threads ? nullptr : "bulk copies";
    default: return is_arrival(i) ? "mbarriers" : nullptr;
  }
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
