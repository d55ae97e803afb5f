// SPDX-License-Identifier: MIT
// Models: the register file of a sub-partition: 32-lane registers of the resident warps, in banks.
// Sockets: none; execution units reach registers through the warp's state.
// One cycle: nothing; bank conflicts follow from the register numbers (decoded_program) and are counted at issue.
// Parameters: sub_partition.register_banks, register_bank_bytes. Source: Jia et al. 2018 (arXiv:1804.06826), table 3.1.
#pragma once

#include <cstdint>
#include <memory>
#include <systemc>
#include <vector>

#include "heddle/tlm/kernel/trace_observer.h"
#include "heddle/tlm/port/module_part.h"

namespace heddle {

class state_image;

class register_file final : public module_part {
 public:
  /// `capacity`: 32-lane registers that may be in use at once.
  register_file(const part_name& name, unsigned slots, unsigned capacity);

  /// Gives a slot `registers` zeroed 32-lane registers, 64-byte aligned; `allocated` counts against the capacity.
  std::uint32_t* allocate(unsigned slot, unsigned registers, unsigned allocated);
  void release(unsigned slot);
  [[nodiscard]] unsigned in_use() const { return in_use_; }
  /// The registers of a slot with a warp, of which `registers` hold values. Returns the first one.
  std::uint32_t* exchange(unsigned slot, unsigned registers, state_image& image);
  /// Extra operand-read cycles of the instruction issued in this cycle; updated only while traced.
  mutable unsigned conflict_cycles = 0;
  void observe(const trace_observer* observer) { traced_by_ = observer; }
  void trace(sc_core::sc_trace_file* file) const override;

 private:
  struct row {
    std::uint32_t lanes[32];
  };
  struct aligned_free {
    void operator()(row* p) const;
  };
  struct storage {
    std::unique_ptr<row[], aligned_free> rows;
    unsigned size = 0;
    unsigned allocated = 0;
  };
  std::vector<storage> slots_;
  unsigned capacity_;
  unsigned in_use_ = 0;
  const trace_observer* traced_by_ = nullptr;
};

}  // namespace heddle
