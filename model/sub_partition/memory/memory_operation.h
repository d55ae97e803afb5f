// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "heddle/simt/texture/texture.h"
#include "heddle/sub_partition/dependence/decoded_program.h"
#include "heddle/sub_partition/warp/copy_groups.h"
#include "heddle/tlm/protocol/lsu_protocol.h"
#include "heddle/tlm/protocol/object_pool.h"
#include "heddle/tlm/protocol/poison.h"

namespace heddle {

/// A memory instruction in flight. It consists of one transaction; or of one per word, if lanes access more than a word
/// of local memory (local memory is interleaved by words, so a lane's 64 bits are not contiguous); or of one per texel;
/// or of a load that becomes a store, one after the other.
/// The fields here are not used if `first` is the only transaction: its own fields suffice, which saves a cache line.
struct memory_operation {
  enum class parts : std::uint8_t { words, texels, copy };
  simt::lane_mask global_mask = 0;
  simt::lane_mask local_mask = 0;  // lanes of global_mask that are local memory
  unsigned remaining = 0;          // transactions not yet answered
  parts consists_of = parts::words;
  lsu_transaction first;  // the only one if it is `sole`; always names the instruction
  using word_rows = std::array<std::uint32_t[32], 4>;
  // Kept for reuse:
  std::unique_ptr<word_rows> words;               // the loaded words
  std::unique_ptr<simt::texture_access> texture;  // the texels to fetch
  std::unique_ptr<copy_target> target;            // of a copy

  /// Of an operation in flight.
  void exchange(state_image& image);
};

/// Of a transaction in a pool: under AddressSanitizer all of it is poisoned, otherwise its lane data. These are not
/// zeroed either, because trace-driven warps never touch them.
struct lane_data_poison {
  static constexpr bool zeroed = false;
  static void set(lsu_transaction& t) {
    if constexpr (poison::finds == poison::found::accesses) return poison::set_object(t);
    poison::set(t.own_addresses, sizeof t.own_addresses);
    poison::set(t.words, sizeof t.words);
  }
  static void lift(lsu_transaction& t) {
    if constexpr (poison::finds == poison::found::accesses) return poison::lift_object(t);
    poison::lift(t.own_addresses, sizeof t.own_addresses);
    poison::lift(t.words, sizeof t.words);
  }
};

/// The same of an operation's first transaction; of the rest of the operation, under AddressSanitizer only.
struct operation_poison {
  static constexpr bool zeroed = false;
  static void set(memory_operation& o) {
    lane_data_poison::set(o.first);
    poison::set_object(o);
  }
  static void lift(memory_operation& o) {
    poison::lift_object(o);
    lane_data_poison::lift(o.first);
  }
};

/// The operations of a sub-partition, and the transactions of operations that have several.
class memory_operation_pool {
 public:
  memory_operation& operation() {
    memory_operation& o = operations_.take();
    o.first.operation = &o;
    return o;
  }
  lsu_transaction& further(memory_operation& o) {
    lsu_transaction& t = further_.take();
    t.operation = &o;
    return t;
  }
  void give_back(memory_operation& o) { operations_.give_back(o); }
  void give_back(lsu_transaction& t) {
    if (&t != &t.operation->first) further_.give_back(t);
  }
  [[nodiscard]] std::size_t in_use() const { return operations_.in_use(); }
  /// Which operations and transactions are in use, and the order in which the others are taken. Names those in use. It
  /// is read into a pool that was never used.
  void exchange(state_image& image);
  /// What those in use hold.
  void exchange_contents(state_image& image);

 private:
  object_pool<memory_operation, memory_operation, operation_poison> operations_;
  object_pool<lsu_transaction, lsu_transaction, lane_data_poison> further_;
};

}  // namespace heddle
