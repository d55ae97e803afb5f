// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "simt/texture.h"
#include "sub_partition/decoded_program.h"
#include "tlm/lsu_protocol.h"

namespace heddle {

/// A memory instruction in flight. It is one transaction, or, when lanes of local memory move more than a word, one per
/// word (local memory is interleaved by words, so a lane's 64 bits do not lie together), or one per texel.
/// What is said here of the whole is not looked at where `first` is all of it, and says it itself: that needs no further cache line.
struct memory_operation {
  simt::lane_mask global_mask = 0;
  simt::lane_mask local_mask = 0;          // lanes of global_mask that are local memory
  unsigned remaining = 0;                  // transactions not yet answered
  bool split = false;
  bool is_texture = false;
  std::unique_ptr<simt::texture_access> texture;   // is_texture: what is fetched; kept for the next one
  lsu_transaction first;                   // all of it (`sole`), if it is not split and no texture; names the instruction in any case
  using word_rows = std::array<std::uint32_t[32], 4>;
  std::unique_ptr<word_rows> words;        // split: the loaded words; kept for the next one
};

/// Recycles operations, and the transactions of those that are more than one.
class memory_operation_pool {
 public:
  memory_operation& operation() {
    memory_operation& o = take(operations_, free_operations_);
    o.first.operation = &o;
    return o;
  }
  lsu_transaction& further(memory_operation& o) {
    lsu_transaction& t = take(transactions_, free_transactions_);
    t.operation = &o;
    return t;
  }
  void give_back(memory_operation& o) { free_operations_.push_back(&o); }
  void give_back(lsu_transaction& t) {
    if (&t != &t.operation->first) free_transactions_.push_back(&t);
  }
  std::size_t in_use() const { return operations_.size() - free_operations_.size(); }

 private:
  // What they hold of lanes is not set to zero: recordings never touch it.
  template <class T>
  T& take(std::vector<std::unique_ptr<T>>& all, std::vector<T*>& free) {
    if (free.empty()) {
      all.push_back(std::unique_ptr<T>(new T));
      return *all.back();
    }
    T* t = free.back();
    free.pop_back();
    return *t;
  }
  std::vector<std::unique_ptr<memory_operation>> operations_;
  std::vector<memory_operation*> free_operations_;
  std::vector<std::unique_ptr<lsu_transaction>> transactions_;
  std::vector<lsu_transaction*> free_transactions_;
};

}  // namespace heddle
