// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/issue/register_file.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "heddle/config/error.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

void register_file::aligned_free::operator()(row* p) const { ::operator delete[](p, std::align_val_t{64}); }

register_file::register_file(const part_name& name, unsigned slots, unsigned capacity)
    : module_part(name), slots_(slots), capacity_(capacity) {}

std::uint32_t* register_file::allocate(unsigned slot, unsigned registers, unsigned allocated) {
  storage& s = slots_[slot];
  invariant(s.allocated == 0, "a register file slot was given twice");
  s.allocated = allocated;
  in_use_ += allocated;
  invariant(in_use_ <= capacity_, "a sub-partition holds more registers than it has");
  registers = std::max(registers, 1u);
  if (s.size < registers) {
    s.rows.reset(static_cast<row*>(::operator new[](registers * sizeof(row), std::align_val_t{64})));
    s.size = registers;
  }
  std::memset(s.rows.get(), 0, registers * sizeof(row));
  return s.rows[0].lanes;
}

void register_file::release(unsigned slot) {
  in_use_ -= slots_[slot].allocated;
  slots_[slot].allocated = 0;
}

std::uint32_t* register_file::exchange(unsigned slot, unsigned registers, state_image& image) {
  unsigned allocated = slots_[slot].allocated;
  image(allocated);
  if (image.reading()) allocate(slot, registers, allocated);
  std::uint32_t* const first = slots_[slot].rows[0].lanes;
  image.raw(first, registers * sizeof(row));
  return first;
}

void register_file::trace(sc_core::sc_trace_file* file) const {
  sc_core::sc_trace(file, in_use_, name() + ".in_use");
  sc_core::sc_trace(file, conflict_cycles, name() + ".bank_conflicts");
  if (traced_by_ != nullptr) traced_by_->traced(file);
}

}  // namespace heddle
