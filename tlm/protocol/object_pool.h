// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/protocol/poison.h"

namespace heddle {

/// What an object_pool does with an object that is free: the object is poisoned (poison.h), a plain one as a whole; of
/// others `Watched`, T or a base of it, under AddressSanitizer only. `zeroed`: a new one is.
template <class T, class Watched = T>
struct whole_object {
  static constexpr bool zeroed = true;
  static void set(T& o) {
    if constexpr (is_plain) poison::set(&o, sizeof o);
    else poison::set_object(static_cast<Watched&>(o));
  }
  static void lift(T& o) {
    if constexpr (is_plain) poison::lift(&o, sizeof o);
    else poison::lift_object(static_cast<Watched&>(o));
  }

 private:
  static constexpr bool is_plain = std::is_trivially_copyable_v<T> && std::is_same_v<T, Watched>;
};

/// Objects that are used again, because making one for each use costs host time. Those in the pool are poisoned as
/// `Poison` says.
template <class T, class Watched = T, class Poison = whole_object<T, Watched>>
class object_pool {
 public:
  object_pool() = default;
  object_pool(const object_pool&) = delete;
  object_pool& operator=(const object_pool&) = delete;
  ~object_pool() {
    if constexpr (poison::finds != poison::found::accesses) return;
    for (T* o : free_) Poison::lift(*o);
  }
  /// An object whose values are undefined if it has been used before; if not, `arguments` construct it. Throws
  /// std::logic_error if it was written after it had been given back.
  template <class... Arguments>
  T& take(Arguments&&... arguments) {
    if (free_.empty()) return make(std::forward<Arguments>(arguments)...);
    T& o = *free_.back();
    free_.pop_back();
    Poison::lift(o);
    return o;
  }
  void give_back(T& o) {
    free_.push_back(&o);
    Poison::set(o);
  }
  /// Objects that are out of the pool.
  [[nodiscard]] std::size_t in_use() const { return all_.size() - free_.size(); }
  /// All objects, those in the pool too, in the order of their first use.
  [[nodiscard]] const std::vector<std::unique_ptr<T>>& all() const { return all_; }
  /// Calls f(object) for each object that is out of the pool, in the order of their first use.
  template <class F>
  void each_in_use(F&& f) const {
    const std::unordered_set<const T*> free(free_.begin(), free_.end());
    for (const auto& o : all_)
      if (free.count(o.get()) == 0) f(*o);
  }
  /// How many objects there are, which of them are out of the pool, and the order in which the others are taken; not
  /// what they hold. It is read into a pool of which none was ever taken; `arguments` construct its objects.
  template <class... Arguments>
  void exchange(state_image& image, const Arguments&... arguments) {
    std::unordered_map<const T*, std::uint32_t> index;
    for (const auto& o : all_) index.emplace(o.get(), static_cast<std::uint32_t>(index.size()));
    std::vector<std::uint8_t> is_out(all_.size(), 1);
    std::vector<std::uint32_t> order;
    for (const T* o : free_) {
      order.push_back(index[o]);
      is_out[order.back()] = 0;
    }
    image(is_out, order);
    if (!image.reading()) return;
    if (!all_.empty()) throw state_error("a state is read into a pool that was used");
    while (all_.size() < is_out.size()) make(arguments...);
    for (const std::uint32_t i : order) give_back(*all_.at(i));
  }

 private:
  template <class... Arguments>
  T& make(Arguments&&... arguments) {
    if constexpr (Poison::zeroed) all_.push_back(std::make_unique<T>(std::forward<Arguments>(arguments)...));
    else all_.push_back(std::unique_ptr<T>(new T));
    return *all_.back();
  }

  std::vector<std::unique_ptr<T>> all_;
  std::vector<T*> free_;
};

}  // namespace heddle
