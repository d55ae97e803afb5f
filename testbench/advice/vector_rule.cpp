// SPDX-License-Identifier: MIT
// Advice about neighbouring words that a thread accesses one by one, and about bytes and halves of neighbouring
// threads.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <tuple>

#include "testbench/advice/advice.h"
#include "testbench/advice/carried_values.h"
#include "testbench/advice/line_registers.h"
#include "testbench/advice/rules.h"

namespace heddle::testbench {

namespace {

constexpr long widest = 16;  // bytes of a thread's access

/// "ld.global.f32 %f1, [%rd2+4];": what is accessed, and where.
struct operand {
  std::string access;  // "ld.global"
  std::string base;
  long offset = 0;
  long bytes = 0;
};

bool read(const std::string& text, operand& to) {
  static const std::regex form(R"(\b(ld|st)\.global(?:\.nc)?\.[a-z]+(\d+)\s[^\[]*\[(%\w+)(?:\+(-?\d+))?\])");
  std::smatch m;
  if (!std::regex_search(text, m, form)) return false;
  to = {m[1].str() + ".global", m[3].str(), m[4].matched ? std::stol(m[4].str()) : 0, std::stol(m[2].str()) / 8};
  return true;
}

constexpr double word_bytes = 4;

// Bytes that a thread accesses, of a line of PTX such as "ld.global.nc.u8 %rs1, [%rd3];"; 0: four or more.
double narrow_bytes(const std::string& text) {
  static const std::regex form(R"(\b(?:ld|st)\.global\S*\.(?:[bsuf]|bf)(8|16)\s)"), vector(R"(\.v[248]\.)");
  std::smatch m;
  return std::regex_search(text, m, form) && !std::regex_search(text, vector) ? std::stod(m[1].str()) / 8 : 0;
}

/// Code of a loop, or of a kernel without loops, whose threads access single bytes or halves of neighbouring elements.
struct narrow_block {
  double bytes = 0;                           // of the widest of these
  double look_ups = 0, from_dram = 0;         // of these; sectors
  double l2_reads = 0, l2_writes = 0;         // of these, accesses that reach the L2
  double l2_sectors = 0;                      // theirs
  double executed = 0, ldst = 0, cycles = 0;  // of what is done once for several elements
  double halves = 0;                          // arithmetic of single halves, which an instruction does for two
  unsigned worst = 0;                         // line of the PTX
};

bool is_single_half(const machine_step& step) {
  return (step.is("HFMA2") || step.is("HADD2") || step.is("HMUL2")) && step.text.find(".F16 ") != std::string::npos;
}

// The work on what was loaded is done for each element; addresses, loops and waits for loads come once for several.
narrow_block narrow_accesses(const time_model& t, const code_block& block) {
  narrow_block found;
  double most = 0;
  bool is_spread = false;  // some access is known to be of different elements
  std::set<std::string> data;
  for (std::size_t k = block.first; k <= block.last; ++k) {
    const machine_step& step = t.code.steps[k];
    for (const char* opcode : {"ATOM", "RED", "BAR", "LDS", "STS", "LDL", "STL", "SHFL", "VOTE", "MATCH"})
      if (step.is(opcode)) return {};
    const bool access = step.is("LDG") || step.is("STG");
    const std::size_t line = t.index_of(step.line);
    const double bytes = access && line < t.lines.size() ? narrow_bytes(t.lines[line].texts) : 0;
    // A coalesced access has as many sectors as an element has bytes. A load of one sector may be of one byte.
    if (bytes > 0 && (step.l1_sectors > worth_telling * bytes * step.executed ||
                      worth_telling * step.l1_sectors < bytes * step.executed))
      return {};
    is_spread |= bytes > 1 || (bytes > 0 && step.is("STG"));
    const operands o = operands_of(step);
    const bool on_data = !access && meets(o.read, data);
    if (step.is("LDG") || on_data) data.insert(o.written.begin(), o.written.end());
    const bool single_half = on_data && is_single_half(step);
    const bool once = !on_data || single_half || step.is("LOP3");  // for all bits of a word
    found.cycles += once ? step.cycles() : step.loads;
    if (once) found.executed += step.executed;
    if (single_half) found.halves += step.executed;
    if (access) found.ldst += step.executed;
    if (bytes == 0) continue;
    found.bytes = std::max(found.bytes, bytes);
    found.look_ups += step.look_ups;
    found.from_dram += step.dram_sectors;
    found.l2_sectors += step.l2_sectors;
    (step.is("STG") ? found.l2_writes : found.l2_reads) += step.l2_sectors / bytes;  // which are so many of each
    if (found.worst != 0 && step.cycles() <= most) continue;
    most = step.cycles();
    found.worst = step.line;
  }
  return is_spread ? found : narrow_block{};
}

// What is saved of the cycles of a port that takes so many bytes in each, if packets carry the bytes of `elements`
// packets. `full`: packets with data; `empty`: requests of reads, acknowledgements of writes.
double saved_on_port(const time_model& t, const char* bytes_per_cycle, double full, double empty, double data,
                     double elements) {
  const double header = t.machine.number("interconnect.header_bytes"), width = t.machine.number(bytes_per_cycle);
  const auto cycles = [&](double bytes) { return std::max(1.0, std::ceil(ratio(header + bytes, width))); };
  const double now = full * cycles(data) + empty * cycles(0),
               then = (full * cycles(elements * data) + empty * cycles(0)) / elements;
  return now > 0 ? 1 - then / now : 0;
}

void relieve_ports(relief& r, const time_model& t, const narrow_block& b, double elements) {
  const double share = ratio(b.l2_sectors, t.moved(line_count::l2_sectors)), data = warp_threads * b.bytes;
  r.parts["SMs to L2"] =
      share * saved_on_port(t, "interconnect.request_bytes_per_cycle", b.l2_writes, b.l2_reads, data, elements);
  r.parts["L2 to SMs"] =
      share * saved_on_port(t, "interconnect.response_bytes_per_cycle", b.l2_reads, b.l2_writes, data, elements);
}

bool is_in_loop(const time_model& t, const code_block& block) {
  const double once = 1.5 * number_at(t.kernel, {"warps"});
  const auto first = t.code.steps.begin() + static_cast<std::ptrdiff_t>(block.first),
             end = t.code.steps.begin() + static_cast<std::ptrdiff_t>(block.last) + 1;
  return std::all_of(first, end, [once](const machine_step& step) { return step.executed > once; });
}

// Loops; without any, the whole program.
std::vector<code_block> repeated_code(const time_model& t) {
  std::vector<code_block> all;
  for (const code_block& block : t.code.blocks)
    if (is_in_loop(t, block)) all.push_back(block);
  if (all.empty() && !t.code.steps.empty()) all.push_back({0, t.code.steps.size() - 1, {}});
  return all;
}

}  // namespace

std::vector<vector_of_words> vectors_of_words(const time_model& t) {
  using key = std::tuple<std::string, std::string, double, long>;
  std::map<key, std::map<long, const place_sums*>> by_base;
  for (const place_sums& line : t.lines) {
    operand at;
    if (line.accesses == 0 || !read(line.texts, at)) continue;
    by_base[{at.access, at.base, line.accesses, at.bytes}][at.offset] = &line;
  }
  std::vector<vector_of_words> all;
  for (const auto& [of, words] : by_base) {
    const long bytes = std::get<3>(of);
    for (auto word = words.begin(); word != words.end();) {
      vector_of_words v;
      long next = word->first;
      for (; word != words.end() && word->first == next && bytes * static_cast<long>(v.words.size() + 1) <= widest;
           ++word) {
        v.words.push_back(word->second);
        next += bytes;
      }
      if (v.words.size() == 3) v.words.pop_back();  // vectors have two words or four
      if (v.words.size() > 1) all.push_back(v);
    }
  }
  return all;
}

void unused_vectors(const time_model& t, std::vector<advice>& to) {
  std::map<std::string, std::pair<double, place_sums>> by_place;  // words of a vector, and sums
  for (const vector_of_words& v : vectors_of_words(t))
    for (const place_sums* word : v.words) {
      auto& [words, sums] = by_place[word->name];
      words = std::max(words, static_cast<double>(v.words.size()));
      sums.add(*word);
    }
  for (const auto& [place, found] : by_place) {
    const auto& [words, sums] = found;
    const double saved = 1 - 1 / words;
    relief r;
    r.parts["L1 look-ups"] = saved * ratio(sums.count(line_count::l1_requests), t.moved(line_count::l1_requests));
    r.parts["L1"] = saved * ratio(sums.count(line_count::l1_hits), t.moved(line_count::l1_hits));
    // Threads touch each sector again for its other words, or vectors, and find it in the L1 as often as now.
    const double sectors = sums.count(line_count::l2_sectors), touched = sums.count(line_count::l1_sectors),
                 different = std::min(sectors, sums.count(line_count::requested_bytes) / sector_bytes),
                 missed_again = std::min(1.0, ratio(sectors - different, touched - different)),
                 least = different + missed_again * std::max(0.0, touched / words - different);
    r.parts["SMs to L2"] = r.parts["L2 to SMs"] =
        ratio(sectors - std::min(sectors, least), t.moved(line_count::l2_sectors));
    r.parts["ldst"] = saved * ratio(sums.executed, number_at(t.kernel, {"instructions", "ldst"}));
    r.parts["issue slots"] = saved * ratio(sums.executed, number_at(t.kernel, {"metrics", "inst_executed"}));
    relieve_memory_waits(r, t);
    to.push_back(
        {"unused vector width", place, fmt::format("a thread accesses {:.0f} neighbouring words one by one", words),
         words == 4 ? "use float4 or int4, aligned to 16 bytes" : "use float2 or int2", speedup_by_memory(r, t)});
  }
}

void narrow_elements(const time_model& t, std::vector<advice>& to) {
  for (const code_block& block : repeated_code(t)) {
    const narrow_block b = narrow_accesses(t, block);
    if (b.bytes == 0) continue;
    const double elements = word_bytes / b.bytes, saved = 1 - 1 / elements;
    // Without a loop there are fewer blocks: those of one wave end no sooner, and the first ones wait for code and
    // constants as before.
    const bool in_loop = is_in_loop(t, block);
    const double waves = number_at(t.kernel, {"waves"});
    const double fewer = in_loop ? saved : 1 - ratio(std::max(1.0, waves / elements), std::max(1.0, waves));
    const double first = in_loop ? 0 : t.share_of(warp_stall::no_instruction) + t.share_of(warp_stall::imc_miss);
    relief r;
    r.parts["L1 look-ups"] = saved * ratio(b.look_ups, t.moved(line_count::l1_requests));
    r.parts["ldst"] = saved * ratio(b.ldst, number_at(t.kernel, {"instructions", "ldst"}));
    r.parts["issue slots"] = saved * ratio(b.executed, number_at(t.kernel, {"metrics", "inst_executed"}));
    r.parts["int"] = saved * std::min(1.0, ratio(b.executed - b.ldst, number_at(t.kernel, {"instructions", "int"})));
    relieve_ports(r, t, b, elements);
    // Fewer, longer accesses open fewer rows.
    r.parts["DRAM rows"] = saved * ratio(b.from_dram, t.moved(line_count::dram_sectors));
    r.parts["half"] = ratio(b.halves / 2, number_at(t.kernel, {"instructions", "half"}));
    r.lifetime = fewer * std::max(0.0, ratio(b.cycles, number_at(t.kernel, {"warp_cycles", "active"})) - first);
    const bool single = b.bytes == 1;
    to.push_back({"unused vector width", t.place_of(b.worst),
                  fmt::format("a thread accesses {}: a warp's access moves {:.0f} bytes of a line",
                              single ? "single bytes" : "elements of two bytes", warp_threads * b.bytes),
                  fmt::format("let a thread take {:.0f} neighbouring elements: {}", elements,
                              single ? "uchar4, aligned to 4 bytes" : "half2 or ushort2, aligned to 4 bytes"),
                  speedup_by_memory(r, t)});
  }
}

}  // namespace heddle::testbench
