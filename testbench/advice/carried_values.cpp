// SPDX-License-Identifier: MIT
#include "testbench/advice/carried_values.h"

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

namespace heddle::testbench {

namespace {

using registers = std::set<std::string>;

// "R2.64" is R2 and R3.
void add_registers(const std::string& text, registers& to) {
  static const std::regex form(R"(\b(R|P)(\d+)(?:\.(\d+))?)");
  for (std::sregex_iterator m(text.begin(), text.end(), form); m != std::sregex_iterator(); ++m) {
    const unsigned first = static_cast<unsigned>(std::stoul((*m)[2].str()));
    const unsigned width = (*m)[3].matched ? static_cast<unsigned>(std::stoul((*m)[3].str())) / 32 : 1;
    for (unsigned k = 0; k < std::max(1u, width); ++k) to.insert((*m)[1].str() + std::to_string(first + k));
  }
}

bool writes_nothing(const machine_step& step) {
  for (const char* opcode : {"ST", "RED", "BRA", "BAR", "EXIT", "BSSY", "BSYNC", "MEMBAR"})
    if (step.is(opcode)) return true;
  return false;
}

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < text.size();) {
    at = std::min(text.find_first_not_of(' ', at), text.size());
    const std::size_t end = std::min(text.find(',', at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

}  // namespace

// "@P0 IADD3 R2, P1, R2, R4, RZ": the first operand is written, and the second if one of them is a predicate.
operands operands_of(const machine_step& step) {
  operands o;
  std::string text = step.text;
  const auto cut_word = [&text] {
    const std::size_t end = std::min(text.find(' '), text.size());
    std::string word = text.substr(0, end);
    text.erase(0, end + 1);
    return word;
  };
  if (!text.empty() && text[0] == '@') add_registers(cut_word(), o.read);
  o.guarded = !o.read.empty();
  cut_word();
  const std::vector<std::string> parts = parts_of(text);
  const auto is_predicate = [&parts](std::size_t k) { return k < parts.size() && parts[k].rfind('P', 0) == 0; };
  const std::size_t written = writes_nothing(step) ? 0 : is_predicate(0) || is_predicate(1) ? 2 : 1;
  for (std::size_t k = 0; k < parts.size(); ++k) add_registers(parts[k], k < written ? o.written : o.read);
  return o;
}

namespace {

registers address_of(const machine_step& step) {
  registers found;
  const std::size_t open = step.text.find('[');
  if (open != std::string::npos) add_registers(step.text.substr(open, step.text.find(']') - open), found);
  return found;
}

bool meets(const registers& a, const registers& b) {
  return std::any_of(a.begin(), a.end(), [&b](const std::string& r) { return b.count(r) != 0; });
}

}  // namespace

bool follows_itself(const machine_code& code, std::size_t first, std::size_t last, std::size_t load) {
  registers from = operands_of(code.steps[load]).written;
  const std::size_t size = last - first + 1;
  for (std::size_t n = 1; n <= 2 * size; ++n) {
    const std::size_t k = first + (load - first + n) % size;
    if (k == load && meets(address_of(code.steps[k]), from)) return true;
    const operands o = operands_of(code.steps[k]);
    const bool carries = k == load || meets(o.read, from);
    for (const std::string& r : o.written)
      if (carries) from.insert(r);
      else if (!o.guarded) from.erase(r);
  }
  return false;
}

bool follows_loaded_values(const machine_code& code, const std::set<std::size_t>& blocks) {
  registers loaded;  // and what was computed from it
  for (unsigned pass = 0; pass < 2; ++pass)
    for (const std::size_t block : blocks)
      for (std::size_t k = code.blocks[block].first; k <= code.blocks[block].last; ++k) {
        const machine_step& step = code.steps[k];
        const operands o = operands_of(step);
        const bool load = step.is("LD") && !step.is("LDC");
        if (load && meets(address_of(step), loaded)) return true;
        if (step.is("BRA") && meets(o.read, loaded)) return true;
        const bool from = load || meets(o.read, loaded);
        for (const std::string& r : o.written)
          if (from) loaded.insert(r);
          else if (!o.guarded) loaded.erase(r);
      }
  return false;
}

namespace {

// Gives each thread or block a value of its own.
bool is_varying(const machine_step& step) {
  if (step.is("S2R"))
    return step.text.find("SR_NTID") == std::string::npos && step.text.find("NCTAID") == std::string::npos;
  return step.is("ATOM") || step.is("SYSCALL") || (step.is("LD") && !step.is("LDC")) || step.is("TEX") ||
         step.is("TLD") || step.is("SULD");
}

// Blocks that only some threads execute: behind a branch that varies, up to where its paths meet.
std::set<std::size_t> paths_of_branch(const machine_code& code, std::size_t block) {
  std::set<std::size_t> paths;
  for (const std::size_t next : code.blocks[block].next) {
    if (next >= code.blocks.size() || next == code.meeting(block)) continue;
    const std::set<std::size_t> more = code.reached(next, code.meeting(block));
    paths.insert(next);
    paths.insert(more.begin(), more.end());
  }
  return paths;
}

// Whether some step is, with the registers that vary before it: step, block, registers, whether it reads one of them or
// gives a varying value itself.
template <class Is>
bool any_varying(const machine_code& code, Is&& is) {
  registers varying;
  std::set<std::size_t> partial;  // blocks that some threads alone execute
  for (unsigned pass = 0; pass < 3; ++pass)
    for (std::size_t block = 0; block < code.blocks.size(); ++block)
      for (std::size_t k = code.blocks[block].first; k <= code.blocks[block].last; ++k) {
        const machine_step& step = code.steps[k];
        const operands o = operands_of(step);
        const bool from = is_varying(step) || meets(o.read, varying);
        if (is(step, block, varying, from)) return true;
        if (step.is("BRA") && from) {
          const std::set<std::size_t> paths = paths_of_branch(code, block);
          partial.insert(paths.begin(), paths.end());
        }
        for (const std::string& r : o.written)
          if (from || partial.count(block) != 0) varying.insert(r);
          else if (!o.guarded) varying.erase(r);
      }
  return false;
}

}  // namespace

bool has_loops_by_thread(const machine_code& code) {
  return any_varying(code, [&code](const machine_step& step, std::size_t block, const registers&, bool reads) {
    const std::vector<std::size_t>& next = code.blocks[block].next;
    return step.is("BRA") && reads && std::any_of(next.begin(), next.end(), [&](std::size_t n) { return n <= block; });
  });
}

bool has_local_arrays_by_thread(const machine_code& code) {
  return any_varying(code, [](const machine_step& step, std::size_t, const registers& varying, bool) {
    return (step.is("LDL") || step.is("STL")) && meets(address_of(step), varying);
  });
}

}  // namespace heddle::testbench
