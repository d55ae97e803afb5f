// SPDX-License-Identifier: MIT
// Memory operations in a state image.
#include "heddle/sub_partition/memory/memory_operation.h"

#include <algorithm>

#include "heddle/isa/set_bits.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

namespace {

// Only an atomic that compares has a second operand.
void clear_operands(lsu_transaction& t) {
  const isa::instruction& i = *t.decoded->instruction;
  const bool compares = isa::is_atomic(i.op) && static_cast<isa::atomic_op>(i.sub) == isa::atomic_op::cas;
  if (!compares && t.kind != lsu_kind::load) t.clear_words(t.lanes(), std::max(1u, t.bytes_per_lane / 4u));
}

// The lanes of a texture instruction that have a value.
void exchange_texture(simt::texture_access& a, state_image& image) {
  image(a.bytes, a.count, a.lanes, a.mask);
  if (a.count > simt::texture_access::most) throw state_error("a texture instruction with too many texels");
  for (const unsigned lane : set_bits(a.lanes)) image(a.descriptor[lane]);
  const unsigned rows = std::min((a.bytes + 3) / 4, 4u);
  for (unsigned k = 0; k < a.count; ++k)
    for (const unsigned lane : set_bits(a.lanes)) {
      image(a.addresses[k][lane], a.weights[k][lane]);
      for (unsigned row = 0; row < rows; ++row) image(a.words[k][row][lane]);
    }
}

}  // namespace

// Of a texture instruction, `first` is not sent.
void memory_operation::exchange(state_image& image) {
  image(first.decoded);
  if (first.decoded->unit == isa::unit::texture) {
    consists_of = parts::texels;
    if (texture == nullptr) texture = std::make_unique<simt::texture_access>();
    image(global_mask, remaining);
    return exchange_texture(*texture, image);
  }
  if (!image.reading()) clear_operands(first);
  image(first);
  if (first.decoded->instruction->has_policy()) image(first.policy);
  if (first.local) image(local_mask);
  if (first.sole) return;
  image(consists_of);
  if (consists_of == parts::words) return image(global_mask, remaining, words);
  if (target == nullptr) target = std::make_unique<copy_target>();
  image(target->lanes, target->group);
  for (const unsigned lane : set_bits(target->lanes)) image(target->offsets[lane]);
}

void memory_operation_pool::exchange(state_image& image) {
  operations_.exchange(image);
  further_.exchange(image);
  operations_.each_in_use([&image](memory_operation& o) {
    o.first.operation = &o;  // as operation() has set it: of those that were read
    image.name(&o);
    image.name(&o.first);
  });
  further_.each_in_use([&image](lsu_transaction& t) { image.name(&t); });
}

void memory_operation_pool::exchange_contents(state_image& image) {
  operations_.each_in_use([&image](memory_operation& o) { image(o); });
  further_.each_in_use([&image](lsu_transaction& t) {
    image(t);
    if (t.instruction->has_policy()) image(t.policy);
  });
}

}  // namespace heddle
