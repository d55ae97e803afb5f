// SPDX-License-Identifier: MIT
#include "observe/gtkwave_layout.h"

#include <algorithm>

namespace heddle {

namespace {

std::string base_of(const std::string& vcd_name) {
  const std::size_t dot = vcd_name.rfind(".vcd");
  return dot != std::string::npos && dot + 4 == vcd_name.size() ? vcd_name.substr(0, dot) : vcd_name;
}

bool ends_with(const std::string& s, const std::string& end) {
  return s.size() >= end.size() && s.compare(s.size() - end.size(), end.size(), end) == 0;
}

// Values in hexadecimal as GTKWave shows them, a colour, and the word.
constexpr const char* phase_filter =
    "00 ?gray30?empty\n01 ?goldenrod?waiting\n02 ?forest green?ready\n03 ?firebrick?barrier\n"
    "04 ?purple?fence\n05 ?steel blue?sleeping\n06 ?gray50?exited\n"
    "07 ?olive drab?held\n08 ?gray40?stopped\n09 ?dark green?replaying\n";
constexpr const char* unit_filter =
    "00 ?forest green?fp32\n01 ?steel blue?int\n02 ?dark green?fp64\n03 ?olive drab?half\n"
    "04 ?purple?sfu\n05 ?goldenrod?tensor\n06 ?firebrick?ldst\n07 ?gray40?branch\n08 ?DarkSeaGreen?texture\n";

std::string module_of(const std::string& signal) { return signal.substr(0, signal.rfind('.')); }

// What one looks at first stands first: the distributor, the blocks of an SM, its sub-partitions; the rest stays folded.
enum class place { chip, distributor, blocks, sub_partition, scheduler, rest };

place place_of(const std::string& module) {
  if (module.find('.') == std::string::npos) return place::chip;
  if (ends_with(module, ".cwd")) return place::distributor;
  if (ends_with(module, ".resource_manager")) return place::blocks;
  const std::size_t partition = module.rfind(".partition");
  if (partition != std::string::npos && module.find('.', partition + 1) == std::string::npos) return place::sub_partition;
  if (ends_with(module, ".warp_scheduler")) return place::scheduler;
  return place::rest;
}

std::string group(const std::string& title, bool open, const std::string& lines) {
  return (open ? "@800200\n-" : "@c00200\n-") + title + "\n" + lines + (open ? "@1000200\n-" : "@1401200\n-") + title + "\n";
}

std::string line_of(const vcd_writer::signal& s) {
  return s.name + (s.width > 1 ? "[" + std::to_string(s.width - 1) + ":0]" : std::string()) + "\n";
}

}  // namespace

std::vector<std::string> gtkwave_layout_names(const std::string& vcd_name) {
  const std::string base = base_of(vcd_name);
  return {base + ".gtkw", base + ".phase.filter", base + ".unit.filter"};
}

std::vector<std::pair<std::string, std::string>> gtkwave_layout(const std::string& vcd_name,
                                                                const std::vector<vcd_writer::signal>& signals,
                                                                std::uint64_t start) {
  const auto names = gtkwave_layout_names(vcd_name);
  std::string text = "[dumpfile] \"" + vcd_name + "\"\n[timestart] " + std::to_string(start) +
                     "\n[size] 1600 900\n[pos] -1 -1\n*-16.000000 " + std::to_string(start) +
                     " -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n[sst_width] 220\n[signals_width] 320\n";
  std::vector<std::string> modules;
  for (const auto& s : signals) {
    const std::string m = module_of(s.name);
    if (std::find(modules.begin(), modules.end(), m) == modules.end()) modules.push_back(m);
  }
  std::stable_sort(modules.begin(), modules.end(),
                   [](const std::string& a, const std::string& b) { return place_of(a) < place_of(b); });
  for (const std::string& m : modules) {
    std::string lines, per_sm;
    for (const auto& s : signals) {
      if (module_of(s.name) != m) continue;
      if (ends_with(s.name, "_phase"))
        lines += "@2022\n^1 " + names[1] + "\n" + line_of(s);
      else if (ends_with(s.name, ".issued_unit"))
        lines += "@2022\n^2 " + names[2] + "\n" + line_of(s);
      else if (place_of(m) == place::distributor && ends_with(s.name, "_blocks"))
        per_sm += "@24\n" + line_of(s);
      else if (ends_with(s.name, "_mask") || ends_with(s.name, "_lanes") || ends_with(s.name, ".active") ||
               ends_with(s.name, ".ready") || ends_with(s.name, ".eligible") || s.name.find(".free_warps") != std::string::npos)
        lines += "@22\n" + line_of(s);
      else
        lines += (s.width == 1 ? "@28\n" : "@24\n") + line_of(s);
    }
    if (!per_sm.empty()) lines += group("blocks by SM", false, per_sm);
    text += group(m, place_of(m) < place::scheduler, lines);
  }
  return {{names[0], text}, {names[1], phase_filter}, {names[2], unit_filter}};
}

}  // namespace heddle
