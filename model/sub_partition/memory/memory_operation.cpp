// SPDX-License-Identifier: MIT
// Memory operations in a state image.
#include "heddle/sub_partition/memory/memory_operation.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

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

// Of all objects: whether each is in use, and the places of the others in the order in which they are free.
template <class T, class Free>
std::vector<std::uint32_t> free_places(const std::vector<std::unique_ptr<T>>& all, const Free& free,
                                       std::vector<std::uint8_t>& is_used) {
  std::unordered_map<const T*, std::uint32_t> place;
  for (const auto& o : all) place.emplace(o.get(), static_cast<std::uint32_t>(place.size()));
  is_used.assign(all.size(), 1);
  std::vector<std::uint32_t> places;
  for (const T* o : free) {
    places.push_back(place.at(o));
    is_used[places.back()] = 0;
  }
  return places;
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

template <class F>
void memory_operation_pool::each_in_use(F&& f) {
  std::unordered_set<const memory_operation*> free;
  for (memory_operation* o = free_operation_; o != nullptr; o = o->first.operation) free.insert(o);
  for (const auto& o : operations_)
    if (free.count(o.get()) == 0) f(*o);
}

template <class F>
void memory_operation_pool::each_further_in_use(F&& f) {
  const std::unordered_set<const lsu_transaction*> free(free_transactions_.begin(), free_transactions_.end());
  for (const auto& t : transactions_)
    if (free.count(t.get()) == 0) f(*t);
}

void memory_operation_pool::exchange(state_image& image) {
  std::vector<const memory_operation*> free;
  for (memory_operation* o = free_operation_; o != nullptr; o = o->first.operation) free.push_back(o);
  std::vector<std::uint8_t> operations, transactions;
  std::vector<std::uint32_t> free_operations = free_places(operations_, free, operations),
                             free_transactions = free_places(transactions_, free_transactions_, transactions);
  image(operations, free_operations, transactions, free_transactions);
  if (image.reading()) make_all(operations, free_operations, transactions, free_transactions);
  each_in_use([&image](memory_operation& o) {
    image.name(&o);
    image.name(&o.first);
  });
  each_further_in_use([&image](lsu_transaction& t) { image.name(&t); });
}

// The last one that is given back is the first one that is taken.
void memory_operation_pool::make_all(const std::vector<std::uint8_t>& operations,
                                     const std::vector<std::uint32_t>& free_operations,
                                     const std::vector<std::uint8_t>& transactions,
                                     const std::vector<std::uint32_t>& free_transactions) {
  if (!operations_.empty() || !transactions_.empty()) throw state_error("a state is read into a pool that was used");
  while (operations_.size() < operations.size()) {
    memory_operation& o = make(operations_);
    o.first.operation = &o;
  }
  in_use_ = operations_.size();
  for (auto i = free_operations.rbegin(); i != free_operations.rend(); ++i) give_back(*operations_.at(*i));
  while (transactions_.size() < transactions.size()) make(transactions_);
  for (const std::uint32_t i : free_transactions) {
    set_poison(*transactions_.at(i));
    free_transactions_.push_back(transactions_[i].get());
  }
}

void memory_operation_pool::exchange_contents(state_image& image) {
  each_in_use([&image](memory_operation& o) { image(o); });
  each_further_in_use([&image](lsu_transaction& t) {
    image(t);
    if (t.instruction->has_policy()) image(t.policy);
  });
}

}  // namespace heddle
