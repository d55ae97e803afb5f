// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heddle/config/error.h"
#include "heddle/frontend/ptx/lower.h"
#include "heddle/isa/texture.h"
#include "heddle/simt/bulk/arrival_test.h"
#include "heddle/simt/bulk/bulk_copy.h"
#include "heddle/simt/execute.h"
#include "heddle/simt/scalar/arrival.h"
#include "heddle/simt/texture/texture.h"

namespace heddle {

/// Runs lowered kernels functionally, block after block, without timing, for the tests of lowering.
class ptx_machine {
 public:
  static constexpr std::uint64_t memory_base = isa::heap_base;

  explicit ptx_machine(const std::string& text, bool imad = true, unsigned max_registers = 0,
                       std::size_t memory_bytes = 1 << 20)
      : ptx_machine(ptx::parse(text, "test.ptx"), imad, max_registers, memory_bytes) {}

  explicit ptx_machine(const std::shared_ptr<const ptx::ast_module>& ast, bool imad = true, unsigned max_registers = 0,
                       std::size_t memory_bytes = 1 << 20)
      : max_registers_(max_registers), memory_(memory_bytes) {
    config_.integer.multiplier = imad ? choice::multiplier::imad : choice::multiplier::xmad;
    config_.integer.multiply_on_fp32 = imad;  // some moves, sums and shifts become IMADs
    config_.half.lanes = 32;
    config_.tma.requests_in_flight = 1;
    config_.gpu.compute_capability = choice::named<choice::compute_capability>("9.0");
    const std::uint64_t constants = memory_base + (ptx::global_bytes(*ast).all + 255) / 256 * 256;
    next_ = constants + (ptx::constant_bytes(*ast) + 255) / 256 * 256;
    module_ = ptx::place(ast, memory_base, constants);
    std::copy(module_.global_image.begin(), module_.global_image.end(), memory_.begin());
    std::copy(module_.constant_image.begin(), module_.constant_image.end(),
              memory_.begin() + static_cast<std::ptrdiff_t>(constants - memory_base));
  }

  /// The GPU for which kernels are lowered; change it before the first launch.
  gpu_config& config() { return config_; }

  /// Address of a new buffer with these contents.
  template <class T>
  std::uint64_t buffer(const std::vector<T>& contents) {
    const std::uint64_t at = next_;
    next_ += (contents.size() * sizeof(T) + 255) / 256 * 256;
    invariant(next_ - memory_base <= memory_.size(), "test memory is full");
    std::memcpy(memory_.data() + (at - memory_base), contents.data(), contents.size() * sizeof(T));
    return at;
  }

  template <class T>
  void write(std::uint64_t address, const T& value) {
    std::memcpy(memory_.data() + (address - memory_base), &value, sizeof value);
  }

  template <class T>
  [[nodiscard]] std::vector<T> read(std::uint64_t address, std::size_t count) const {
    std::vector<T> v(count);
    std::memcpy(v.data(), memory_.data() + (address - memory_base), count * sizeof(T));
    return v;
  }

  const isa::program& program(const std::string& kernel) {
    std::shared_ptr<const isa::program>& p = programs_[kernel];
    if (!p) p = ptx::lower(module_, kernel, config_, max_registers_);
    return *p;
  }

  /// Arguments are values, laid out according to the kernel's parameters.
  void run(const std::string& kernel, simt::dim3 grid, simt::dim3 block, const std::vector<std::uint64_t>& arguments,
           std::uint32_t dynamic_shared = 0) {
    program(kernel);
    simt::launch_context launch;
    launch.program = programs_[kernel];
    launch.grid = grid;
    launch.block = block;
    launch.dynamic_shared_bytes = dynamic_shared;
    launch.shared_bytes = launch.program->shared_bytes + dynamic_shared;
    launch.banks[0] = bank(*launch.program, grid, block, arguments, dynamic_shared);
    launch.banks[2] = launch.program->bank2;
    launch.banks[3] = module_.constant_image;
    launch.textures = std::make_shared<simt::texture_table>(textures);
    steps_ = 0;
    for (std::uint32_t z = 0; z < grid.z; ++z)
      for (std::uint32_t y = 0; y < grid.y; ++y)
        for (std::uint32_t x = 0; x < grid.x; ++x) run_block(launch, {x, y, z});
  }

  /// Lanes have their own program counters; they must not wait for each other.
  bool independent = false;

  /// The textures of handles 1, 2, ...
  simt::texture_table textures;

  [[nodiscard]] std::uint64_t steps() const { return steps_; }

 private:
  static std::vector<std::uint8_t> bank(const isa::program& p, simt::dim3 grid, simt::dim3 block,
                                        const std::vector<std::uint64_t>& arguments, std::uint32_t dynamic_shared) {
    std::vector<std::uint8_t> b(isa::bank0::parameters + p.parameter_bytes + 16);
    const auto put = [&](std::uint32_t at, const auto& v) {
      invariant(at + sizeof v <= b.size(), "bank 0 is too small");
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(&v);
      std::copy(bytes, bytes + sizeof v, b.begin() + at);
    };
    put(isa::bank0::ntid, std::array<std::uint32_t, 3>{block.x, block.y, block.z});
    put(isa::bank0::nctaid, std::array<std::uint32_t, 3>{grid.x, grid.y, grid.z});
    put(isa::bank0::cluster_nctaid, std::array<std::uint32_t, 4>{1, 1, 1, 1});
    put(isa::bank0::nclusterid, std::array<std::uint32_t, 3>{grid.x, grid.y, grid.z});
    put(isa::bank0::shared_window, isa::shared_window_base);
    put(isa::bank0::local_window, isa::local_window_base);
    put(isa::bank0::dynamic_shared, dynamic_shared);
    for (std::size_t k = 0; k < arguments.size() && k < p.parameters.size(); ++k)
      std::memcpy(b.data() + isa::bank0::parameters + p.parameters[k].offset, &arguments[k],
                  std::min<std::size_t>(p.parameters[k].size, 8));
    return b;
  }

  struct warp {
    simt::warp_state state;
    std::vector<std::uint32_t> storage;
    std::vector<std::uint8_t> local;  // one lane's after the other
    bool done = false, waits = false;
  };

  void run_block(const simt::launch_context& launch, simt::dim3 index) {
    std::vector<std::uint8_t> shared(launch.shared_bytes + 16);
    simt::block_context block;
    block.launch = &launch;
    block.index = index;
    block.shared = shared.data();
    block.shared_bytes = launch.shared_bytes;
    std::vector<warp> warps(launch.warps_per_block());
    const isa::program& p = *launch.program;
    for (std::uint32_t w = 0; w < warps.size(); ++w) {
      warps[w].storage.assign(p.registers * 32 + 16, 0xdeadbeef);
      auto address = reinterpret_cast<std::uintptr_t>(warps[w].storage.data());
      warps[w].state.regs = reinterpret_cast<std::uint32_t*>((address + 63) / 64 * 64);
      warps[w].state.predicates[isa::pt] = simt::all_lanes;
      const std::uint32_t threads = std::min(launch.threads_per_block() - w * 32, 32u);
      warps[w].state.start(threads == 32 ? simt::all_lanes : (1u << threads) - 1, independent);
      warps[w].state.block = &block;
      warps[w].state.warp_in_block = w;
      warps[w].local.assign(std::size_t{p.local_bytes} * 32, 0xcd);
    }
    for (bool progress = true; progress;) {
      progress = false;
      for (warp& w : warps)
        while (!w.done && !w.waits) step(w, launch), progress = true;
      if (std::all_of(warps.begin(), warps.end(), [](const warp& w) { return w.done || w.waits; }))
        for (warp& w : warps)
          if (w.waits) w.waits = false, progress = true;
    }
  }

  void step(warp& w, const simt::launch_context& launch) {
    const isa::program& p = *launch.program;
    invariant(++steps_ < 50'000'000, "the kernel does not end");
    invariant(w.state.pc < p.code.size(), "control leaves the program");
    const isa::instruction& i = p.code[w.state.pc];
    const simt::lane_mask mask = simt::guarded(i, w.state);
    switch (i.op) {
      case isa::opcode::bra: simt::branch(i, w.state, mask); return;
      case isa::opcode::exit:
        simt::exit_lanes(w.state, mask);
        w.done = w.state.live == 0;
        return;
      case isa::opcode::bar: w.waits = true; break;
      case isa::opcode::ld:
      case isa::opcode::st:
      case isa::opcode::atom:
      case isa::opcode::red: memory(i, w, mask, p); break;
      case isa::opcode::ldgsts: copy(i, w, mask, p); break;
      case isa::opcode::ublkcp:
      case isa::opcode::ublkred: bulk(i, w, mask, p); break;
      case isa::opcode::syncs: {
        unsigned bad_lane = 0;
        simt::write_arrival(i, w.state, mask, simt::test_arrival(i, w.state, mask, bad_lane).complete);
        break;
      }
      case isa::opcode::tex:
      case isa::opcode::tld4:
      case isa::opcode::suld:
      case isa::opcode::sust: texture(i, w, mask); break;
      default: simt::select(i)(i, w.state, mask); break;
    }
    simt::advance(w.state);
  }

  std::uint8_t* place(const isa::instruction& i, warp& w, std::uint64_t address, unsigned lane, unsigned bytes,
                      const isa::program& p) {
    isa::space s = i.mem_space;
    if (s == isa::space::generic && address - isa::shared_window_base < isa::window_bytes)
      s = isa::space::shared, address -= isa::shared_window_base;
    if (s == isa::space::generic && address - isa::local_window_base < isa::window_bytes)
      s = isa::space::local, address -= isa::local_window_base;
    if (s == isa::space::shared) {
      invariant(address + bytes <= w.state.block->shared_bytes, "shared access outside");
      return w.state.block->shared + address;
    }
    if (s == isa::space::local) {
      invariant(address + bytes <= p.local_bytes, "local access outside");
      return w.local.data() + std::size_t{p.local_bytes} * lane + address;
    }
    invariant(address >= memory_base && address + bytes <= memory_base + memory_.size(), "global access outside");
    invariant(address % bytes == 0, "misaligned access");
    return memory_.data() + (address - memory_base);
  }

  // A bulk copy of contiguous bytes is complete at once.
  void bulk(const isa::instruction& i, warp& w, simt::lane_mask mask, const isa::program& p) {
    std::uint8_t* const shared = w.state.block->shared;
    isa::instruction global;
    global.mem_space = isa::space::global;
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (!(mask >> lane & 1)) continue;
      const simt::bulk_request r = simt::request_of(i, w.state, lane);
      const std::string problem = simt::problem_of(r, w.state.block->shared_bytes);
      if (!problem.empty()) throw program_error(problem);
      const isa::dtype type = simt::reduction_type(r, nullptr);
      for (unsigned at = 0; at < r.bytes; at += 16) {
        std::uint8_t* const here = shared + r.shared + at;
        if (r.kind == simt::bulk_kind::cluster) {
          std::memmove(here, shared + r.source + at, 16);
          continue;
        }
        std::uint8_t* const there = place(global, w, r.global + at, lane, 16, p);
        if (r.kind == simt::bulk_kind::load) std::memcpy(here, there, 16);
        if (r.kind == simt::bulk_kind::store) std::memcpy(there, here, 16);
        for (unsigned k = 0; r.kind == simt::bulk_kind::reduction && k < 16; k += isa::size_of(type)) {
          std::uint64_t old = 0, operand = 0;
          std::memcpy(&old, there + k, isa::size_of(type));
          std::memcpy(&operand, here + k, isa::size_of(type));
          old = simt::atomic_result(r.op, type, old, operand, 0);
          std::memcpy(there + k, &old, isa::size_of(type));
        }
      }
      if (!r.signals()) continue;
      std::uint64_t object = 0;
      std::memcpy(&object, shared + r.barrier, sizeof object);
      object = simt::arrival::result(object, std::uint64_t{0u - r.bytes} << 32);
      std::memcpy(shared + r.barrier, &object, sizeof object);
    }
  }

  void texture(const isa::instruction& i, warp& w, simt::lane_mask mask) {
    if (mask == 0) return;
    auto a = std::make_unique<simt::texture_access>();
    unsigned bad_lane = 0;
    simt::plan_texture(i, w.state, mask, *a, bad_lane);
    for (unsigned k = 0; k < a->count; ++k)
      for (unsigned lane = 0; lane < 32; ++lane) {
        if (!(a->mask[k] >> lane & 1)) continue;
        const std::uint64_t at = a->addresses[k][lane];
        invariant(at >= memory_base && at + a->bytes <= memory_base + memory_.size(), "texture access outside");
        std::uint32_t cell[4] = {};
        for (unsigned n = 0; n < 4; ++n) cell[n] = a->words[k][n][lane];
        if (i.op == isa::opcode::sust) std::memcpy(memory_.data() + (at - memory_base), cell, a->bytes);
        else std::memcpy(cell, memory_.data() + (at - memory_base), a->bytes);
        for (unsigned n = 0; n < 4; ++n) a->words[k][n][lane] = cell[n];
      }
    if (i.op != isa::opcode::sust) simt::finish_texture(i, w.state, *a);
  }

  // A copy is complete at once.
  void copy(const isa::instruction& i, warp& w, simt::lane_mask mask, const isa::program& p) {
    std::uint64_t from[32], to[32];
    unsigned bad_lane = 0;
    const unsigned bytes = simt::access_bytes(i);
    simt::lane_addresses(i, w.state, mask, from);
    simt::copy_targets(i, w.state, mask, to, bad_lane);
    const simt::lane_mask copying = simt::copying_lanes(i, w.state, mask);
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (!(mask >> lane & 1)) continue;
      std::uint8_t* const at = w.state.block->shared + to[lane];
      if (copying >> lane & 1) std::memcpy(at, place(i, w, from[lane], lane, bytes, p), bytes);
      else std::memset(at, 0, bytes);
    }
  }

  void memory(const isa::instruction& i, warp& w, simt::lane_mask mask, const isa::program& p) {
    std::uint64_t addresses[32];
    std::uint32_t words[simt::operand_words][32] = {};
    const unsigned bytes = simt::access_bytes(i);
    simt::lane_addresses(i, w.state, mask, addresses);
    if (i.op != isa::opcode::ld) simt::lane_store_data(i, w.state, words);
    std::uint32_t loaded[4][32] = {};
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (!(mask >> lane & 1)) continue;
      std::uint8_t* at = place(i, w, addresses[lane], lane, bytes, p);
      std::uint32_t cell[4] = {};
      std::memcpy(cell, at, bytes);
      if (i.op == isa::opcode::st) {
        for (unsigned k = 0; k < 4; ++k) cell[k] = words[k][lane];
        std::memcpy(at, cell, bytes);
        continue;
      }
      for (unsigned k = 0; k < 4; ++k) loaded[k][lane] = cell[k];
      if (i.op == isa::opcode::ld) continue;
      if (bytes == 16) {
        const auto op = static_cast<isa::atomic_op>(i.sub);
        const simt::wide_cell after =
            simt::atomic_result(op, simt::cell_operand(loaded, 0, lane), simt::cell_operand(words, 0, lane),
                                op == isa::atomic_op::cas ? simt::cell_operand(words, 4, lane) : simt::wide_cell{});
        std::memcpy(at, &after, sizeof after);
        continue;
      }
      const unsigned wide = bytes == 8 ? 2 : 1;
      const auto value = [&](unsigned k) {
        return words[k][lane] | (wide == 2 ? std::uint64_t{words[k + 1][lane]} << 32 : 0);
      };
      const std::uint64_t old = cell[0] | (wide == 2 ? std::uint64_t{cell[1]} << 32 : 0);
      const std::uint64_t now =
          simt::atomic_result(static_cast<isa::atomic_op>(i.sub), i.type, old, value(0), value(wide));
      std::memcpy(at, &now, bytes);
    }
    if (i.dst_count > 0) simt::lane_write_back(i, w.state, mask, loaded);
  }

  gpu_config config_;
  unsigned max_registers_;
  std::vector<std::uint8_t> memory_;
  std::uint64_t next_ = memory_base;
  ptx::loaded_module module_;
  std::map<std::string, std::shared_ptr<const isa::program>> programs_;
  std::uint64_t steps_ = 0;
};

}  // namespace heddle
