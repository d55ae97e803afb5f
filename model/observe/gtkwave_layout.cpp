// SPDX-License-Identifier: MIT
#include "heddle/observe/gtkwave_layout.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <map>
#include <set>

#include "heddle/isa/op_class.h"
#include "heddle/isa/opcode.h"
#include "heddle/observe/ends_with.h"
#include "heddle/sub_partition/partition_signals.h"

namespace heddle {

namespace {

std::string base_of(const std::string& vcd_name) {
  const std::size_t dot = vcd_name.rfind(".vcd");
  return dot != std::string::npos && dot + 4 == vcd_name.size() ? vcd_name.substr(0, dot) : vcd_name;
}

// Colours of GTKWave (X11 names) by unit; those of states are in warp_state.h.
const char* colour_of(isa::unit u) {
  static constexpr const char* colours[] = {"forest green", "steel blue", "dark green", "olive drab", "purple",
                                            "maroon",       "goldenrod",  "gray40",     "firebrick"};
  return colours[static_cast<unsigned>(u)];
}

const char* word_of(isa::op_class c) {
  static constexpr const char* words[] = {
#define HEDDLE_X(name, ...) #name,
      HEDDLE_OP_CLASSES(HEDDLE_X)
#undef HEDDLE_X
  };
  return words[static_cast<unsigned>(c)];
}

// A line of a filter file: a value in hexadecimal as GTKWave shows it, a colour, and the name.
std::string filter_line(unsigned value, const char* colour, const char* word) {
  char text[96];
  std::snprintf(text, sizeof text, "%02X ?%s?%s\n", value, colour, word);
  return text;
}

std::string state_filter() {
  std::string text = filter_line(0, "gray10", partition_signals::name_of(partition_signals::no_warp));
  for (unsigned s = 0; s < static_cast<unsigned>(warp_stall::count); ++s)
    text += filter_line(s + 1, colour_of(static_cast<warp_stall>(s)), name_of(static_cast<warp_stall>(s)));
  return text;
}

std::string operation_filter() {
  std::string text = filter_line(0, "gray10", "-");
  for (unsigned c = 0; c < static_cast<unsigned>(isa::op_class::count); ++c)
    text += filter_line(c + 1, colour_of(isa::unit_of(static_cast<isa::op_class>(c))),
                        word_of(static_cast<isa::op_class>(c)));
  return text;
}

std::string step_filter() {
  static constexpr const char* words[] = {"idle", "quiescing", "saving", "waiting", "restoring", "quiet", "restored"};
  static constexpr const char* colours[] = {"gray10",       "goldenrod", "firebrick", "gray40",
                                            "forest green", "khaki",     "sea green"};
  std::string text;
  for (unsigned k = 0; k < std::size(words); ++k) text += filter_line(k, colours[k], words[k]);
  return text;
}

std::string line_filter(const std::vector<std::string>& places) {
  std::string text;
  char index[24];
  for (std::size_t pc = 0; pc < places.size(); ++pc) {
    std::snprintf(index, sizeof index, "%08zX ", pc);
    text += index + places[pc] + "\n";
  }
  return text;
}

std::string module_of(const std::string& signal) { return signal.substr(0, signal.rfind('.')); }

std::string group(const std::string& title, bool open, const std::string& lines) {
  return (open ? "@800200\n-" : "@c00200\n-") + title + "\n" + lines + (open ? "@1000200\n-" : "@1401200\n-") + title +
         "\n";
}

std::string line_of(const vcd_writer::signal& s) {
  return s.name + (s.width > 1 ? "[" + std::to_string(s.width - 1) + ":0]" : std::string()) + "\n";
}

bool is_mask(const std::string& name) {
  for (const char* end : {"_mask", "_lanes", ".active", ".ready", ".eligible", ".selected", ".buffered", "_waiting",
                          "_raised", ".open_banks"})
    if (ends_with(name, end) && !ends_with(name, "requests_waiting") && !ends_with(name, "responses_waiting"))
      return true;
  return name.find(".free_warps") != std::string::npos;
}

// Signals drawn as a curve.
bool is_curve(const std::string& name) {
  for (const char* end : {".resident_warps", ".mshrs_used", ".pending", ".requests_waiting", ".lines_in_flight"})
    if (ends_with(name, end)) return true;
  return false;
}

// A signal with its drawing mode, under `title` if one is given.
std::string shown(const vcd_writer::signal& s, const std::vector<std::string>& files, const std::string& title = "") {
  const std::string line = (title.empty() ? "" : "+{" + title + "} ") + line_of(s);
  if (ends_with(s.name, "_state")) return "@2022\n^1 " + files[1] + "\n" + line;
  if (ends_with(s.name, "_operation")) return "@2022\n^2 " + files[2] + "\n" + line;
  if (ends_with(s.name, "context_engine.step")) return "@2022\n^3 " + files[3] + "\n" + line;
  if (ends_with(s.name, "_pc") && files.size() > 4) return "@2022\n^4 " + files[4] + "\n" + line;
  if (is_mask(s.name)) return "@22\n" + line;
  if (is_curve(s.name)) return "@88024\n[color] 3\n" + line + "@20000\n-\n-\n";
  return (s.width == 1 ? "@28\n[color] 4\n" : "@24\n") + line;
}

// Signals that occur once per warp, CTA slot or SM are grouped by kind, and each group can be folded.
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

/// Puts each signal into one place of the layout.
class layout {
 public:
  layout(const std::vector<vcd_writer::signal>& signals, const std::vector<std::string>& files) : files_(files) {
    for (const auto& s : signals) {
      by_name_.emplace(s.name, &s);
      auto& of_module = by_module_[module_of(s.name)];
      if (of_module.empty()) modules_.push_back(module_of(s.name));
      of_module.push_back(&s);
    }
  }

  std::string text() {
    std::string first, text;
    for (const std::string& m : modules_)
      if (m.find('.') == std::string::npos) first += taken(m + ".cycle", "cycle");
    bool open = true;
    for (const std::string& m : modules_) {
      const std::string manager = ".resource_manager";
      if (ends_with(m, manager)) {
        text += multiprocessor(m.substr(0, m.size() - manager.size()), open);
        open = false;
      }
    }
    // Sub-partitions traced without their SM.
    for (const std::string& m : modules_)
      if (const std::string s = scheduler(m, open, open); !s.empty()) {
        text += s;
        open = false;
      }
    std::string rest;
    for (const std::string& m : modules_) rest += module(m, open);
    // If no warps are traced, as with the memory alone, the remaining signals come first and are open.
    if (open) return first + rest;
    return first + text + group("all other signals, by module", true, rest);
  }

 private:
  std::string taken(const std::string& name, const std::string& title) {
    const auto s = by_name_.find(name);
    if (s == by_name_.end() || !used_.insert(name).second) return "";
    return shown(*s->second, files_, title);
  }

  // An SM: the number of its warps, and its schedulers.
  std::string multiprocessor(const std::string& sm, bool open) {
    std::string lines = taken(sm + ".resource_manager.resident_warps", "warps on the SM");
    for (unsigned k = 0; by_module_.count(sm + ".partition" + std::to_string(k)) != 0; ++k)
      lines += scheduler(sm + ".partition" + std::to_string(k), true, k == 0);
    return group(sm, open, lines);
  }

  // A sub-partition: what issues in each cycle, which warps could issue, and what each of its warps waits for.
  std::string scheduler(const std::string& partition, bool open, bool warps_open) {
    std::string lines = taken(partition + ".issued", "instructions issued");
    if (lines.empty()) return "";
    lines += taken(partition + ".issue0_warp", "warp") + taken(partition + ".issue0_operation", "operation") +
             taken(partition + ".issue1_operation", "second operation") + taken(partition + ".issue0_pc", "line");
    lines += taken(partition + ".warp_scheduler.eligible", "eligible warps");
    std::string states;
    for (unsigned s = 0; by_name_.count(partition + ".warp" + std::to_string(s) + "_state") != 0; ++s)
      states += taken(partition + ".warp" + std::to_string(s) + "_state", "warp " + std::to_string(s));
    const std::string number = partition.substr(partition.rfind(".partition") + 10);
    return group("scheduler " + number, open, lines + group("warps of scheduler " + number, warps_open, states));
  }

  // The remaining signals of a module.
  std::string module(const std::string& name, bool open) {
    std::string lines;
    std::vector<std::pair<std::string, std::string>> kinds;
    for (const vcd_writer::signal* s : by_module_[name]) {
      if (!used_.insert(s->name).second) continue;
      const std::string kind = kind_of(name, s->name);
      if (kind.empty()) {
        lines += shown(*s, files_);
        continue;
      }
      auto k = std::find_if(kinds.begin(), kinds.end(), [&](const auto& known) { return known.first == kind; });
      if (k == kinds.end()) k = kinds.insert(kinds.end(), {kind, ""});
      k->second += shown(*s, files_);
    }
    for (const auto& [kind, text] : kinds) lines += group(kind, false, text);
    return lines.empty() ? "" : group(name, open, lines);
  }

  const std::vector<std::string>& files_;
  std::vector<std::string> modules_;  // in the order of their signals
  std::map<std::string, std::vector<const vcd_writer::signal*>> by_module_;
  std::map<std::string, const vcd_writer::signal*> by_name_;
  std::set<std::string> used_;
};

}  // namespace

std::vector<std::string> gtkwave_layout_names(const std::string& vcd_name) {
  const std::string base = base_of(vcd_name);
  return {base + ".gtkw", base + ".state.filter", base + ".operation.filter", base + ".step.filter",
          base + ".line.filter"};
}

std::vector<std::pair<std::string, std::string>> gtkwave_layout(const std::string& vcd_name,
                                                                const std::vector<vcd_writer::signal>& signals,
                                                                std::uint64_t start,
                                                                const std::vector<std::string>& places) {
  const auto names = gtkwave_layout_names(vcd_name);
  std::vector<std::string> filters = names;
  if (places.empty()) filters.pop_back();  // indices are shown
  // GTKWave finds dump and filters next to the save file, wherever it is started, if the save file names itself. The
  // zoom level shows a name within a few cycles.
  std::string text =
      "[dumpfile] \"" + vcd_name + "\"\n[savefile] \"" + names[0] + "\"\n[timestart] " + std::to_string(start) +
      "\n[size] 1600 1000\n[pos] -1 -1\n*-13.000000 " + std::to_string(start) +
      " -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n[sst_width] 1\n[signals_width] 480\n"
      "[sst_expanded] 0\n@200\n-1 ns = 1 core cycle\n";
  text += layout(signals, filters).text();
  return {{names[0], text},
          {names[1], state_filter()},
          {names[2], operation_filter()},
          {names[3], step_filter()},
          {names[4], line_filter(places)}};
}

}  // namespace heddle
