// SPDX-License-Identifier: MIT
#include "observe/gtkwave_layout.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <set>

#include "isa/opcode.h"
#include "sub_partition/partition_levels.h"

namespace heddle {

namespace {

std::string base_of(const std::string& vcd_name) {
  const std::size_t dot = vcd_name.rfind(".vcd");
  return dot != std::string::npos && dot + 4 == vcd_name.size() ? vcd_name.substr(0, dot) : vcd_name;
}

bool ends_with(const std::string& s, const std::string& end) {
  return s.size() >= end.size() && s.compare(s.size() - end.size(), end.size(), end) == 0;
}

// Colours of GTKWave's (X11's) by state of a warp and by unit: green works, blue waits for a result, red for others, yellow for the
// memory, violet for the unit, grey for the front end.
const char* colour_of(warp_stall s) {
  switch (s) {
    case warp_stall::selected: return "forest green";
    case warp_stall::not_selected: return "dark olive green";
    case warp_stall::wait: return "steel blue";
    case warp_stall::short_scoreboard: return "slate blue";
    case warp_stall::long_scoreboard: return "midnight blue";
    case warp_stall::math_pipe_throttle:
    case warp_stall::dispatch_stall: return "purple";
    case warp_stall::mio_throttle:
    case warp_stall::lg_throttle:
    case warp_stall::tex_throttle: return "goldenrod";
    case warp_stall::barrier:
    case warp_stall::membar: return "firebrick";
    default: return "gray40";
  }
}

const char* colour_of(isa::unit u) {
  static constexpr const char* colours[] = {"forest green", "steel blue", "dark green", "olive drab", "purple",
                                            "maroon",       "goldenrod",  "gray40",     "firebrick"};
  return colours[static_cast<unsigned>(u)];
}

const char* word_of(isa::op_class c) {
  static constexpr const char* words[] = {
      "fp32_add",   "fp32_minmax", "fp32_compare",     "int_add",  "int_shift", "int_multiply", "int_minmax",   "int_compare",
      "special_register", "fp64_add", "fp64_fma",     "fp64_compare", "half_add", "half_compare", "sfu",        "bit_count",
      "bit_scan",   "conversion",  "tensor",           "load_store", "shuffle", "vote",         "texture",      "branch"};
  static_assert(sizeof words / sizeof words[0] == static_cast<std::size_t>(isa::op_class::count));
  return words[static_cast<unsigned>(c)];
}

// A line of a filter: a value in hexadecimal as GTKWave shows it, a colour, and the word.
std::string filter_line(unsigned value, const char* colour, const char* word) {
  char text[96];
  std::snprintf(text, sizeof text, "%02X ?%s?%s\n", value, colour, word);
  return text;
}

std::string state_filter() {
  std::string text = filter_line(0, "gray10", partition_levels::name_of(partition_levels::no_warp));
  for (unsigned s = 0; s < static_cast<unsigned>(warp_stall::count); ++s)
    text += filter_line(s + 1, colour_of(static_cast<warp_stall>(s)), name_of(static_cast<warp_stall>(s)));
  return text;
}

std::string operation_filter() {
  std::string text = filter_line(0, "gray10", "-");
  for (unsigned c = 0; c < static_cast<unsigned>(isa::op_class::count); ++c)
    text += filter_line(c + 1, colour_of(isa::unit_of(static_cast<isa::op_class>(c))), word_of(static_cast<isa::op_class>(c)));
  return text;
}

std::string step_filter() {
  static constexpr const char* words[] = {"idle", "quiescing", "saving", "waiting", "restoring"};
  static constexpr const char* colours[] = {"gray10", "goldenrod", "firebrick", "gray40", "forest green"};
  std::string text;
  for (unsigned k = 0; k < 5; ++k) text += filter_line(k, colours[k], words[k]);
  return text;
}

std::string module_of(const std::string& signal) { return signal.substr(0, signal.rfind('.')); }

// What one looks at first stands first: the distributor, the blocks of an SM, its sub-partitions; the rest stays folded.
enum class place { chip, distributor, blocks, scheduler, sub_partition, rest };

place place_of(const std::string& module) {
  if (module.find('.') == std::string::npos) return place::chip;
  if (ends_with(module, ".cwd")) return place::distributor;
  if (ends_with(module, ".resource_manager")) return place::blocks;
  if (ends_with(module, ".warp_scheduler")) return place::scheduler;
  const std::size_t partition = module.rfind(".partition");
  if (partition != std::string::npos && module.find('.', partition + 1) == std::string::npos) return place::sub_partition;
  return place::rest;
}

std::string group(const std::string& title, bool open, const std::string& lines) {
  return (open ? "@800200\n-" : "@c00200\n-") + title + "\n" + lines + (open ? "@1000200\n-" : "@1401200\n-") + title + "\n";
}

std::string line_of(const vcd_writer::signal& s) {
  return s.name + (s.width > 1 ? "[" + std::to_string(s.width - 1) + ":0]" : std::string()) + "\n";
}

bool is_mask(const std::string& name) {
  for (const char* end : {"_mask", "_lanes", ".active", ".ready", ".eligible", ".selected", ".buffered", "_waiting", "_raised", ".open_banks"})
    if (ends_with(name, end) && !ends_with(name, "requests_waiting") && !ends_with(name, "responses_waiting")) return true;
  return name.find(".free_warps") != std::string::npos;
}

// Levels that are drawn as a curve.
bool is_curve(const std::string& name) {
  for (const char* end : {".resident_warps", ".mshrs_used", ".pending", ".requests_waiting", ".lines_in_flight"})
    if (ends_with(name, end)) return true;
  return false;
}

std::string shown(const vcd_writer::signal& s, const std::vector<std::string>& files) {
  if (ends_with(s.name, "_state")) return "@2022\n^1 " + files[1] + "\n" + line_of(s);
  if (ends_with(s.name, "_operation")) return "@2022\n^2 " + files[2] + "\n" + line_of(s);
  if (ends_with(s.name, "context_engine.step")) return "@2022\n^3 " + files[3] + "\n" + line_of(s);
  if (is_mask(s.name)) return "@22\n" + line_of(s);
  if (is_curve(s.name)) return "@88024\n[color] 3\n" + line_of(s) + "@20000\n-\n-\n";
  return (s.width == 1 ? "@28\n[color] 4\n" : "@24\n") + line_of(s);
}

// Warps, CTA slots and SMs are many of a kind: each kind is a group that can be folded.
std::string kind_of(const std::string& module, const std::string& name) {
  const std::string leaf = name.substr(module.size() + 1);
  const auto counted = [&](const char* prefix) {
    const std::size_t n = std::strlen(prefix);
    return leaf.compare(0, n, prefix) == 0 && leaf.size() > n && leaf[n] >= '0' && leaf[n] <= '9';
  };
  const std::size_t bar = leaf.find('_');
  if (bar == std::string::npos) return "";
  const std::string what = leaf.substr(bar + 1);
  if (counted("warp")) return "warps: " + what;
  if (counted("slot")) return "CTA slots: " + what;
  if (counted("sm")) return "SMs: " + what;
  if (counted("block")) return "CTA slots: " + what;
  return "";
}

std::string module_group(const std::string& module, const std::vector<vcd_writer::signal>& signals, const std::vector<std::string>& files) {
  std::string lines;
  std::vector<std::pair<std::string, std::string>> kinds;
  for (const auto& s : signals) {
    if (module_of(s.name) != module) continue;
    const std::string kind = kind_of(module, s.name);
    if (kind.empty()) {
      lines += shown(s, files);
      continue;
    }
    auto k = std::find_if(kinds.begin(), kinds.end(), [&](const auto& known) { return known.first == kind; });
    if (k == kinds.end()) k = kinds.insert(kinds.end(), {kind, ""});
    k->second += shown(s, files);
  }
  for (const auto& [kind, text] : kinds) lines += group(kind, kind == "warps: state", text);
  const place p = place_of(module);
  return group(module, p != place::rest, lines);
}

}  // namespace

std::vector<std::string> gtkwave_layout_names(const std::string& vcd_name) {
  const std::string base = base_of(vcd_name);
  return {base + ".gtkw", base + ".state.filter", base + ".operation.filter", base + ".step.filter"};
}

std::vector<std::pair<std::string, std::string>> gtkwave_layout(const std::string& vcd_name,
                                                                const std::vector<vcd_writer::signal>& signals,
                                                                std::uint64_t start) {
  const auto names = gtkwave_layout_names(vcd_name);
  // GTKWave finds dump and filters beside the save file, wherever it is started, when the file names itself.
  std::string text = "[dumpfile] \"" + vcd_name + "\"\n[savefile] \"" + names[0] + "\"\n[timestart] " + std::to_string(start) +
                     "\n[size] 1600 900\n[pos] -1 -1\n*-16.000000 " + std::to_string(start) +
                     " -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n[sst_width] 220\n[signals_width] 320\n";
  std::vector<std::string> modules;
  std::set<std::string> known;
  for (const auto& s : signals) {
    const std::string m = module_of(s.name);
    if (known.insert(m).second) modules.push_back(m);
  }
  std::stable_sort(modules.begin(), modules.end(),
                   [](const std::string& a, const std::string& b) { return place_of(a) < place_of(b); });
  for (const std::string& m : modules) text += module_group(m, signals, names);
  return {{names[0], text}, {names[1], state_filter()}, {names[2], operation_filter()}, {names[3], step_filter()}};
}

}  // namespace heddle
