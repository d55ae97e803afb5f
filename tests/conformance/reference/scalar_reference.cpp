// SPDX-License-Identifier: MIT
#include "scalar_reference.h"

#include <algorithm>
#include <cstring>

#include "heddle/config/error.h"
#include "warp_reference.h"

namespace heddle::conformance {

namespace {

enum class status : std::uint8_t { running, at_barrier, at_warp, ended };

struct thread_state {
  std::vector<std::uint64_t> registers;
  std::vector<std::uint8_t> local;
  std::size_t pc = 0;
  std::uint64_t steps = 0;
  std::uint32_t index[3] = {};
  bool carry = false;
  status now = status::running;
};

std::uint64_t f64_to_f32_literal(std::uint64_t bits) {
  double d;
  std::memcpy(&d, &bits, sizeof d);
  const auto f = static_cast<float>(d);
  std::uint32_t u;
  std::memcpy(&u, &f, sizeof u);
  return u;
}

class block_run {
 public:
  block_run(const scalar_program& p, const scalar_launch& launch, const std::uint32_t* index,
            std::vector<memory_region>& memory, std::vector<std::uint8_t>& module_memory, std::uint64_t limit)
      : p_(p), launch_(launch), memory_(memory), module_memory_(module_memory), limit_(limit) {
    std::copy(index, index + 3, index_);
    shared_.resize(p.shared_bytes + launch.dynamic_shared_bytes);
    threads_.resize(std::size_t{launch.block[0]} * launch.block[1] * launch.block[2]);
    for (std::size_t k = 0; k < threads_.size(); ++k) {
      thread_state& t = threads_[k];
      t.registers.resize(p.registers.size());
      t.local.resize(p.local_bytes);
      t.index[0] = static_cast<std::uint32_t>(k % launch.block[0]);
      t.index[1] = static_cast<std::uint32_t>(k / launch.block[0] % launch.block[1]);
      t.index[2] = static_cast<std::uint32_t>(k / launch.block[0] / launch.block[1]);
    }
  }

  void run() {
    for (;;) {
      bool progress = false;
      for (std::size_t k = 0; k < threads_.size(); ++k) {
        progress |= threads_[k].now == status::running;
        while (threads_[k].now == status::running) step(k);
      }
      for (std::size_t w = 0; w < threads_.size(); w += 32) progress |= release_warp(w);
      if (progress) continue;
      const auto ended = [](const thread_state& t) { return t.now == status::ended; };
      if (std::all_of(threads_.begin(), threads_.end(), ended)) return;
      for (const thread_state& t : threads_)
        if (t.now == status::at_warp)
          throw program_error("reference: a warp instruction that not all its threads reach");
      release_barrier();
    }
  }

 private:
  [[nodiscard]] std::uint64_t special(const thread_state& t, std::uint32_t which) const {
    if (which < 3) return t.index[which];
    if (which < 6) return launch_.block[which - 3];
    if (which < 9) return index_[which - 6];
    if (which < 12) return launch_.grid[which - 9];
    const auto linear = static_cast<std::uint32_t>(&t - threads_.data());
    const std::uint32_t lane = linear % 32, bit = 1u << lane;
    switch (static_cast<special_register>(which)) {
      case special_register::laneid: return lane;
      case special_register::warpid: return linear / 32;
      case special_register::eq: return bit;
      case special_register::lt: return bit - 1;
      case special_register::le: return bit | (bit - 1);
      case special_register::gt: return static_cast<std::uint32_t>(~(bit | (bit - 1)));
      default: return static_cast<std::uint32_t>(~(bit - 1));
    }
  }

  [[nodiscard]] std::uint64_t value(const thread_state& t, const scalar_operand& o, isa::dtype type) const {
    switch (o.what) {
      case scalar_operand::kind::reg: return o.invert ? !t.registers[o.reg] : t.registers[o.reg];
      case scalar_operand::kind::integer:
      case scalar_operand::kind::f32: return o.bits;
      case scalar_operand::kind::f64: return type == isa::dtype::f32 ? f64_to_f32_literal(o.bits) : o.bits;
      case scalar_operand::kind::special: return special(t, o.reg);
      default: throw reference_limit("operand of " + std::to_string(static_cast<int>(o.what)));
    }
  }

  void write(thread_state& t, const scalar_operand& o, std::uint64_t v) const {
    if (o.what == scalar_operand::kind::sink) return;
    if (o.what != scalar_operand::kind::reg) throw reference_limit("destination");
    t.registers[o.reg] = truncated(p_.registers[o.reg], v);
  }

  std::uint8_t* inside(std::vector<std::uint8_t>& bytes, std::uint64_t at, unsigned size) const {
    if (at > bytes.size() || size > bytes.size() - at) throw program_error("reference: address outside");
    return bytes.data() + at;
  }

  std::uint8_t* place(thread_state& t, const scalar_step& s, const scalar_operand& a, unsigned size) {
    std::uint64_t at = (a.has_base ? t.registers[a.reg] : a.bits) + static_cast<std::uint64_t>(a.offset);
    ptx::state_space space = s.space;
    if (at % size != 0) throw program_error("reference: misaligned address");
    if (space == ptx::state_space::none || space == ptx::state_space::global) {
      const std::uint64_t window = at >> 56 << 56;
      if (window == shared_window) space = ptx::state_space::shared, at -= window;
      else if (window == local_window) space = ptx::state_space::local, at -= window;
      else if (window == module_window) return inside(module_memory_, at - window, size);
      else {
        for (memory_region& m : memory_)
          if (at >= m.address && at - m.address < m.bytes.size()) return inside(m.bytes, at - m.address, size);
        throw program_error("reference: global address outside, line " + std::to_string(s.line));
      }
    }
    if (space == ptx::state_space::shared) return inside(shared_, static_cast<std::uint32_t>(at), size);
    return inside(t.local, static_cast<std::uint32_t>(at), size);
  }

  const std::uint8_t* readable(thread_state& t, const scalar_step& s, const scalar_operand& a, unsigned size) {
    const bool constant = s.space == ptx::state_space::constant;
    if (!constant && s.space != ptx::state_space::param) return place(t, s, a, size);
    const std::uint64_t at = (a.has_base ? t.registers[a.reg] : a.bits) + static_cast<std::uint64_t>(a.offset);
    const auto& bytes = constant ? p_.constants : launch_.parameters;
    if (at > bytes.size() || size > bytes.size() - at) throw program_error("reference: constant address outside");
    return bytes.data() + at;
  }

  void load(thread_state& t, const scalar_step& s) {
    const unsigned size = isa::size_of(s.op.type);
    const std::uint8_t* from = readable(t, s, s.s[0], size * s.op.vector);
    for (unsigned k = 0; k < s.op.vector; ++k) {
      std::uint64_t v = 0;
      std::memcpy(&v, from + k * size, size);
      write(t, s.op.vector == 1 ? s.d[0] : s.d[0].list.at(k), extended(s.op.type, v));
    }
  }

  void store(thread_state& t, const scalar_step& s) {
    const unsigned size = isa::size_of(s.op.type);
    std::uint8_t* to = place(t, s, s.s[0], size * s.op.vector);
    for (unsigned k = 0; k < s.op.vector; ++k) {
      const std::uint64_t v = value(t, s.op.vector == 1 ? s.s[1] : s.s[1].list.at(k), s.op.type);
      std::memcpy(to + k * size, &v, size);
    }
  }

  void atomic(thread_state& t, const scalar_step& s) {
    const unsigned size = isa::size_of(s.op.type);
    std::uint8_t* at = place(t, s, s.s[0], size);
    std::uint64_t old = 0;
    std::memcpy(&old, at, size);
    const std::uint64_t c = s.s.size() > 2 ? value(t, s.s[2], s.op.type) : 0;
    const std::uint64_t now = evaluate_atomic(s.op, old, value(t, s.s[1], s.op.type), c);
    std::memcpy(at, &now, size);
    if (!s.d.empty()) write(t, s.d[0], old);
  }

  /// cp.async: copies the first `taken` bytes and fills the rest with zeros.
  void copy(thread_state& t, const scalar_step& s) {
    const auto bytes = static_cast<unsigned>(s.s[2].bits);
    std::uint64_t taken = bytes;
    if (s.s.size() > 3) taken = value(t, s.s[3], isa::dtype::u32);
    const bool ignored =
        s.s.size() > 3 && s.s[3].what == scalar_operand::kind::reg && p_.registers[s.s[3].reg] == isa::dtype::pred;
    if (ignored) taken = taken != 0 ? 0 : bytes;
    std::uint8_t data[16] = {};
    scalar_step global = s;
    global.space = ptx::state_space::global;
    if (taken != 0) std::memcpy(data, place(t, global, s.s[1], bytes), std::min<std::uint64_t>(taken, bytes));
    scalar_step shared = s;
    shared.space = ptx::state_space::shared;
    std::memcpy(place(t, shared, s.s[0], bytes), data, bytes);
  }

  void pack(thread_state& t, const scalar_step& s) {
    const scalar_operand& list = s.d[0].what == scalar_operand::kind::vector ? s.d[0] : s.s[0];
    const auto bits = static_cast<unsigned>(bits_of(s.op.type) / list.list.size());
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    if (&list == &s.d[0]) {
      const std::uint64_t v = value(t, s.s[0], s.op.type);
      for (std::size_t k = 0; k < list.list.size(); ++k) write(t, list.list[k], v >> (bits * k) & mask);
      return;
    }
    std::uint64_t v = 0;
    for (std::size_t k = 0; k < list.list.size(); ++k)
      v |= (value(t, list.list[k], isa::dtype::none) & mask) << (bits * k);
    write(t, s.d[0], v);
  }

  void compute(thread_state& t, const scalar_step& s) {
    std::uint64_t v[6] = {};
    unsigned n = 0;
    for (const scalar_operand& o : s.s)
      v[n++] = value(t, o, s.op.name == "cvt" || s.op.name == "set" ? s.op.type2 : s.op.type);
    const scalar_result r = evaluate(s.op, v, n, t.carry);
    if (s.d[0].what == scalar_operand::kind::vector) {
      write(t, s.d[0].list[0], r.value);
      write(t, s.d[0].list[1], r.second);
      return;
    }
    write(t, s.d[0], s.op.name == "cvt" ? extended(s.op.type, r.value) : r.value);
  }

  void to_generic(thread_state& t, const scalar_step& s) {
    const std::uint64_t window = s.space == ptx::state_space::shared  ? shared_window
                                 : s.space == ptx::state_space::local ? local_window
                                                                      : 0;
    const std::uint64_t v = value(t, s.s[0], s.op.type);
    write(t, s.d[0], s.op.has("to") ? v - window : v + window);
  }

  void step(std::size_t k) {
    thread_state& t = threads_[k];
    if (t.pc >= p_.steps.size()) {
      t.now = status::ended;
      return;
    }
    if (++t.steps > limit_) throw program_error("reference: the kernel does not end");
    const scalar_step& s = p_.steps[t.pc];
    if (s.guarded && (t.registers[s.guard] != 0) == s.guard_negate) {
      ++t.pc;
      return;
    }
    switch (s.what) {
      case scalar_step::kind::branch: t.pc = s.target; return;
      case scalar_step::kind::leave: t.now = status::ended; return;
      case scalar_step::kind::barrier: t.now = status::at_barrier; return;
      case scalar_step::kind::warp: t.now = status::at_warp; return;
      case scalar_step::kind::load: load(t, s); break;
      case scalar_step::kind::store: store(t, s); break;
      case scalar_step::kind::atomic: atomic(t, s); break;
      case scalar_step::kind::pack: pack(t, s); break;
      case scalar_step::kind::to_generic: to_generic(t, s); break;
      case scalar_step::kind::copy: copy(t, s); break;
      case scalar_step::kind::nothing: break;
      default: compute(t, s); break;
    }
    ++t.pc;
  }

  [[nodiscard]] std::uint32_t members(const thread_state& t, const scalar_step& s) const {
    if (!s.op.has("sync")) return ~std::uint32_t{0};
    return static_cast<std::uint32_t>(value(t, s.s.back(), isa::dtype::b32));
  }

  /// Executes one warp instruction that all its threads have reached.
  bool release_warp(std::size_t first) {
    const std::size_t end = std::min(first + 32, threads_.size());
    for (std::size_t k = first; k < end; ++k) {
      if (threads_[k].now != status::at_warp) continue;
      const scalar_step& s = p_.steps[threads_[k].pc];
      const std::uint32_t mask = members(threads_[k], s);
      bool all = true;
      for (std::size_t j = first; j < end; ++j)
        if ((mask >> (j - first) & 1) && threads_[j].now != status::ended)
          all &= threads_[j].now == status::at_warp && threads_[j].pc == threads_[k].pc;
      if (!all) continue;
      warp_instruction(s, first, end, mask);
      return true;
    }
    return false;
  }

  void warp_instruction(const scalar_step& s, std::size_t first, std::size_t end, std::uint32_t mask) {
    std::uint32_t present = 0;
    for (std::size_t j = first; j < end; ++j)
      if ((mask >> (j - first) & 1) && threads_[j].now == status::at_warp) present |= 1u << (j - first);
    const bool votes = s.op.name == "vote";
    lane_values values = {};
    if (votes || s.op.name == "match" || s.op.name == "redux")
      for (unsigned lane = 0; lane < 32; ++lane)
        if (present >> lane & 1)
          values[lane] = value(threads_[first + lane], s.s[0], votes ? isa::dtype::pred : s.op.type);
    lane_values results = {}, in_range = {};
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (!(present >> lane & 1)) continue;
      if (s.op.name == "shfl") shuffle(s, first, lane, present, results[lane], in_range[lane]);
      if (votes) results[lane] = vote(s.op, present, values);
      if (s.op.name == "match") results[lane] = match(s.op, present, values, lane, in_range[lane]);
      if (s.op.name == "redux") results[lane] = reduced(s.op, present, values);
      if (s.op.name == "elect") {
        results[lane] = static_cast<std::uint64_t>(__builtin_ctz(present));
        in_range[lane] = results[lane] == lane;
      }
    }
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (!(present >> lane & 1)) continue;
      thread_state& t = threads_[first + lane];
      if (s.d.size() == 1 && s.d[0].what == scalar_operand::kind::vector) {
        write(t, s.d[0].list[0], results[lane]);
        write(t, s.d[0].list[1], in_range[lane]);
      } else if (!s.d.empty()) {
        write(t, s.d[0], results[lane]);
      }
      ++t.pc;
      t.now = status::running;
    }
  }

  void shuffle(const scalar_step& s, std::size_t first, unsigned lane, std::uint32_t present, std::uint64_t& r,
               std::uint64_t& inside) {
    const thread_state& t = threads_[first + lane];
    const auto b = static_cast<int>(value(t, s.s[1], isa::dtype::b32) & 31);
    const auto c = static_cast<unsigned>(value(t, s.s[2], isa::dtype::b32));
    const unsigned segment = c >> 8 & 31, clamp = c & 31;
    const int most = static_cast<int>((lane & segment) | (clamp & ~segment & 31)),
              least = static_cast<int>(lane & segment);
    int from = static_cast<int>(lane);
    if (s.op.has("up")) from -= b, inside = from >= most;
    else if (s.op.has("down")) from += b, inside = from <= most;
    else if (s.op.has("bfly")) from ^= b, inside = from <= most;
    else from = least | (b & ~static_cast<int>(segment)), inside = from <= most;
    if (!inside) from = static_cast<int>(lane);
    if (from < 0 || from > 31 || !(present >> from & 1)) throw reference_limit("shfl from a thread that is not there");
    r = value(threads_[first + static_cast<unsigned>(from)], s.s[0], isa::dtype::b32);
  }

  void release_barrier() {
    std::size_t count = 0, set = 0;
    for (const thread_state& t : threads_) {
      if (t.now != status::at_barrier) continue;
      const scalar_step& s = p_.steps[t.pc];
      ++count;
      if (s.op.has("red")) set += value(t, s.s.back(), isa::dtype::pred) != 0;
    }
    for (thread_state& t : threads_) {
      if (t.now != status::at_barrier) continue;
      const scalar_step& s = p_.steps[t.pc];
      if (s.op.has("red")) write(t, s.d[0], s.op.has("popc") ? set : s.op.has("and") ? set == count : set != 0);
      ++t.pc;
      t.now = status::running;
    }
  }

  const scalar_program& p_;
  const scalar_launch& launch_;
  std::vector<memory_region>& memory_;
  std::vector<std::uint8_t>& module_memory_;
  std::uint64_t limit_;
  std::uint32_t index_[3];
  std::vector<std::uint8_t> shared_;
  std::vector<thread_state> threads_;
};

}  // namespace

std::uint64_t evaluate_atomic(const scalar_operation& o, std::uint64_t old, std::uint64_t b, std::uint64_t c) {
  scalar_operation plain = o;
  for (const char* name : {"add", "min", "max", "and", "or", "xor"}) {
    if (!o.has_word(name)) continue;
    plain.name = name;
    plain.ftz = o.type == isa::dtype::f32 &&
                o.has("global");  // additions in global memory flush denormals, those in shared memory do not
    const std::uint64_t s[3] = {old, b, 0};
    bool carry = false;
    return evaluate(plain, s, 2, carry).value;
  }
  const std::uint64_t limit = truncated(o.type, b);
  if (o.has("exch")) return b;
  if (o.has("cas")) return old == limit ? c : old;
  if (o.has("inc")) return old >= limit ? 0 : old + 1;
  if (o.has("dec")) return old == 0 || old > limit ? limit : old - 1;
  throw reference_limit(o.text);
}

void run_reference(const scalar_program& program, const scalar_launch& launch, std::vector<memory_region>& memory,
                   std::uint64_t limit) {
  std::vector<std::uint8_t> module_memory = program.globals;
  std::uint32_t index[3];
  for (index[2] = 0; index[2] < launch.grid[2]; ++index[2])
    for (index[1] = 0; index[1] < launch.grid[1]; ++index[1])
      for (index[0] = 0; index[0] < launch.grid[0]; ++index[0])
        block_run(program, launch, index, memory, module_memory, limit).run();
}

}  // namespace heddle::conformance
