// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "simt/texture.h"
#include "sub_partition/decoded_program.h"
#include "tlm/lsu_protocol.h"

namespace heddle {

struct partition_transaction;

/// A memory instruction in flight. It is one transaction, or, when lanes of local memory move more than a word, one per
/// word (local memory is interleaved by words, so a lane's 64 bits do not lie together).
struct memory_operation {
  const decoded_instruction* instruction = nullptr;
  unsigned slot = 0;
  simt::lane_mask global_mask = 0;
  simt::lane_mask local_mask = 0;          // lanes of global_mask that are local memory
  unsigned remaining = 0;                  // transactions not yet answered
  bool split = false;
  bool is_texture = false;
  std::unique_ptr<simt::texture_access> texture;   // is_texture: what is fetched; kept for the next one
  std::uint32_t words[4][32];              // split: the loaded words
};

struct partition_transaction : lsu_transaction {
  memory_operation* operation = nullptr;
  unsigned word = 0;                       // split: which word this one moves
};

/// Recycles operations and transactions.
class memory_operation_pool {
 public:
  memory_operation& operation() { return take(operations_, free_operations_); }
  partition_transaction& transaction() { return take(transactions_, free_transactions_); }
  void give_back(memory_operation& o) { free_operations_.push_back(&o); }
  void give_back(partition_transaction& t) { free_transactions_.push_back(&t); }
  std::size_t in_use() const { return transactions_.size() - free_transactions_.size(); }

 private:
  template <class T>
  T& take(std::vector<std::unique_ptr<T>>& all, std::vector<T*>& free) {
    if (free.empty()) {
      all.push_back(std::make_unique<T>());
      return *all.back();
    }
    T* t = free.back();
    free.pop_back();
    return *t;
  }
  std::vector<std::unique_ptr<memory_operation>> operations_;
  std::vector<memory_operation*> free_operations_;
  std::vector<std::unique_ptr<partition_transaction>> transactions_;
  std::vector<partition_transaction*> free_transactions_;
};

}  // namespace heddle
