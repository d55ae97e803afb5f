// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "heddle/simt/texture/texture.h"
#include "heddle/sub_partition/dependence/decoded_program.h"
#include "heddle/sub_partition/warp/copy_groups.h"
#include "heddle/tlm/protocol/lsu_protocol.h"
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

/// Recycles operations, and the transactions of operations that have several. Those in the pool are poisoned
/// (poison.h).
class memory_operation_pool {
 public:
  memory_operation_pool() = default;
  memory_operation_pool(const memory_operation_pool&) = delete;
  memory_operation_pool& operator=(const memory_operation_pool&) = delete;
  ~memory_operation_pool() {
    if constexpr (poison::finds != poison::found::accesses) return;
    for (memory_operation* o = free_operation_; o != nullptr; o = o->first.operation) poison::lift_object(*o);
    for (lsu_transaction* t : free_transactions_) poison::lift_object(*t);
  }
  memory_operation& operation() {
    ++in_use_;
    if (free_operation_ == nullptr) {
      memory_operation& o = make(operations_);
      o.first.operation = &o;
      return o;
    }
    memory_operation& o = *free_operation_;
    free_operation_ = o.first.operation;
    poison::lift_object(o);
    lift_poison(o.first);
    o.first.operation = &o;
    return o;
  }
  lsu_transaction& further(memory_operation& o) {
    lsu_transaction& t = free_transactions_.empty() ? make(transactions_) : *free_transactions_.back();
    if (!free_transactions_.empty()) {
      free_transactions_.pop_back();
      lift_poison(t);
    }
    t.operation = &o;
    return t;
  }
  void give_back(memory_operation& o) {
    --in_use_;
    o.first.operation = free_operation_;
    free_operation_ = &o;
    set_poison(o.first);
    poison::set_object(o);
    poison::lift_object(o.first.operation);  // the list is linked through it
  }
  void give_back(lsu_transaction& t) {
    if (&t == &t.operation->first) return;
    set_poison(t);
    free_transactions_.push_back(&t);
  }
  [[nodiscard]] std::size_t in_use() const { return in_use_; }
  /// Which operations and transactions are in use, and the order in which the others are taken. Names those in use. It
  /// is read into a pool that was never used.
  void exchange(state_image& image);
  /// What those in use hold.
  void exchange_contents(state_image& image);

 private:
  void make_all(const std::vector<std::uint8_t>& operations, const std::vector<std::uint32_t>& free_operations,
                const std::vector<std::uint8_t>& transactions, const std::vector<std::uint32_t>& free_transactions);
  template <class F>
  void each_in_use(F&& f);
  template <class F>
  void each_further_in_use(F&& f);

  // Under AddressSanitizer the whole transaction, otherwise its lane data.
  static void set_poison(lsu_transaction& t) {
    if constexpr (poison::finds == poison::found::accesses) return poison::set_object(t);
    poison::set(t.own_addresses, sizeof t.own_addresses);
    poison::set(t.words, sizeof t.words);
  }
  static void lift_poison(lsu_transaction& t) {
    if constexpr (poison::finds == poison::found::accesses) return poison::lift_object(t);
    poison::lift(t.own_addresses, sizeof t.own_addresses);
    poison::lift(t.words, sizeof t.words);
  }
  // Lane data are not zeroed, because trace-driven warps never touch them.
  template <class T>
  T& make(std::vector<std::unique_ptr<T>>& all) {
    all.push_back(std::unique_ptr<T>(new T));
    return *all.back();
  }
  std::vector<std::unique_ptr<memory_operation>> operations_;
  memory_operation* free_operation_ =
      nullptr;  // head of a list; each links to the next in a cache line that its user touches anyway
  std::size_t in_use_ = 0;
  std::vector<std::unique_ptr<lsu_transaction>> transactions_;
  std::vector<lsu_transaction*> free_transactions_;
};

}  // namespace heddle
