// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/frontend/ptx/syntax/ast.h"
#include "heddle/simt/execute.h"
#include "tests/conformance/families.h"

namespace heddle::conformance {

/// A kernel around one case that loads its operands (bytes 0 to 15 of the buffer: one word each) and stores its result
/// (bytes 16 to 23). Only operands that the case uses are loaded: %h0 as u16, %r0 as u32.
std::string straight_module_of(const conformance_case& c);

/// The operands of 32 threads, one word each, grouped by operand, and their results.
using warp_operands = std::array<std::array<std::uint32_t, simt::warp_size>, 4>;
struct warp_results {
  std::array<std::uint32_t, simt::warp_size> low{}, high{};
  [[nodiscard]] std::uint64_t of(unsigned lane) const { return low[lane] | std::uint64_t{high[lane]} << 32; }
};

/// The kernel of straight_module_of, lowered for a GPU and executed one warp at a time by the functions that the SMs
/// use, but without SMs: operands are placed in the destinations of the loads, results are taken from the source of
/// the store. For cases without branches.
class straight_kernel {
 public:
  /// Throws input_error if the lowering rejects the case, internal_error if it is not straight-line code.
  straight_kernel(const conformance_case& c, const std::shared_ptr<const ptx::ast_module>& module,
                  const gpu_config& gpu);
  straight_kernel(const straight_kernel&) = delete;
  straight_kernel& operator=(const straight_kernel&) = delete;

  void run(const warp_operands& in, warp_results& out) {
    for (const input& i : inputs_)
      std::copy(in[i.operand].begin(), in[i.operand].end(), &warp_.regs[i.reg * simt::warp_size]);
    for (const step& s : steps_)
      s.execute(*s.what, warp_, s.what->guarded() ? simt::guarded(*s.what, warp_) : simt::all_lanes);
    for (unsigned k = 0; k < simt::warp_size; ++k)
      out.low[k] = warp_.regs[result_ * simt::warp_size + k] & result_mask_;
    if (wide_) std::copy_n(&warp_.regs[(result_ + 1) * simt::warp_size], simt::warp_size, out.high.begin());
  }

  /// The machine instructions from operands to result, with value numbers instead of registers: kernels with the same
  /// text compute the same result by the same functions.
  [[nodiscard]] const std::string& values() const { return renamed_ ? values_ : text_; }

 private:
  struct step {
    const isa::instruction* what;
    simt::execute_function execute;
  };
  struct input {
    unsigned operand, reg;
  };
  void take(const isa::instruction& i);
  void note(isa::instruction i);
  void check_loads();

  std::shared_ptr<const isa::program> program_;
  simt::launch_context launch_;
  simt::block_context block_;
  simt::warp_state warp_;
  std::vector<std::uint32_t> storage_;
  std::vector<step> steps_;
  std::vector<input> inputs_;
  std::vector<const isa::instruction*> loads_;
  unsigned result_ = 0;
  std::uint32_t result_mask_ = 0xffffffffu;
  bool wide_ = false;
  bool stored_ = false;
  std::string values_, text_;  // with value numbers; with registers
  bool renamed_ = true;
  std::array<std::uint8_t, 256> value_of_{};  // by register
  std::uint8_t next_value_ = 0;
};

}  // namespace heddle::conformance
