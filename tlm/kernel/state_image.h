// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <stdexcept>
#include <string>
#include <systemc>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "heddle/tlm/kernel/object_numbers.h"
#include "heddle/tlm/kernel/ring.h"

namespace heddle {

/// A state that is read is not one of this machine.
class state_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The state of a machine between two cycles, that is written to a checkpoint or read back. One description serves both
/// directions, so that exactly what is written is read: `image(member, ...)` appends the members' values, or replaces
/// them by those in the image. A class describes its state in `void exchange(state_image&)`, parameters and what the
/// constructor connects left out; it is read into an object that was constructed with the same parameters. A pointer is
/// described by the number of its object, which the object's owner has named before (`name`).
class state_image {
 public:
  /// Starts writing an empty image.
  state_image() = default;
  /// Starts reading.
  explicit state_image(std::vector<std::uint8_t> bytes) : bytes_(std::move(bytes)), reading_(true) {}

  [[nodiscard]] bool reading() const { return reading_; }
  /// What was written; the image is empty then.
  [[nodiscard]] std::vector<std::uint8_t> take() { return std::exchange(bytes_, {}); }
  /// All has been read.
  [[nodiscard]] bool at_end() const { return at_ == bytes_.size(); }

  /// Throws state_error if the image that is read ends too soon or holds what this state cannot be.
  template <class... T>
  void operator()(T&... members) {
    (item(members), ...);
  }
  /// Pointers may point to `count` objects from `first` on from now on. The same are named in the same order when
  /// writing and when reading.
  template <class T>
  void name(T* first, std::size_t count = 1) {
    using object = std::remove_const_t<T>;
    objects_[&kind<object>].add(const_cast<object*>(first), count, sizeof(T));
  }
  /// The items of a vector whose indices are not in `free`, which has been described.
  template <class T, class Index>
  void taken(std::vector<T>& items, const std::vector<Index>& free) {
    std::vector<std::uint8_t> is_taken(items.size(), 1);
    for (const Index i : free)
      if (!reading_) is_taken.at(i) = 0;
    item(is_taken);
    if (reading_) items.assign(is_taken.size(), T{});
    for (std::size_t i = 0; i < items.size(); ++i)
      if (is_taken[i] != 0) item(items[i]);
  }
  /// Copies `count` bytes unchanged.
  void raw(void* data, std::size_t count);
  /// Copies 64-bit words, of which most are 0, so that these take little room. `bytes`: of all of them.
  void sparse(void* words, std::size_t bytes);
  /// The part of a unit begins. Throws state_error if that of another one is in the image.
  void part(const char* unit);
  /// A number that the machine's parameters give. Throws state_error if another one is in the image.
  void same(std::uint64_t value, const char* what);
  /// The items of a container whose size the machine's parameters give.
  template <class Container>
  void each(Container& items) {
    same(std::size(items), "items");
    for (auto& i : items) item(i);
  }
  /// A struct of 64-bit numbers and nothing else.
  template <class T>
  void numbers(T& counters) {
    static_assert(std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T> &&
                  sizeof(T) % sizeof(std::uint64_t) == 0 && alignof(T) >= alignof(std::uint64_t));
    sparse(static_cast<void*>(&counters), sizeof counters);
  }

 private:
  template <class T, class = void>
  struct describes_itself : std::false_type {};
  template <class T>
  struct describes_itself<T, std::void_t<decltype(std::declval<T&>().exchange(std::declval<state_image&>()))>>
      : std::true_type {};
  template <class Queue>
  struct open_queue : Queue {
    static auto& items(Queue& q) { return q.*&open_queue::c; }
  };

  template <class T>
  void item(T& v) {
    static_assert(!std::is_const_v<T>, "parameters are not state");
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) raw(&v, sizeof v);
    else if constexpr (describes_itself<T>::value) v.exchange(*this);
    else container(v);
  }
  template <class T>
  void item(T*& pointer) {
    using object = std::remove_const_t<T>;
    pointer = static_cast<object*>(pointed(objects_[&kind<object>], pointer));
  }
  void item(bool& v) {
    std::uint8_t byte = v ? 1 : 0;
    raw(&byte, 1);
    if (byte > 1) fail("a byte that is neither true nor false");
    v = byte != 0;
  }
  void item(std::string& v) { sized(v); }
  void item(sc_core::sc_time& v) {
    sc_core::sc_time::value_type ticks = v.value();
    raw(&ticks, sizeof ticks);
    v = sc_core::sc_time::from_value(ticks);
  }
  template <class T, std::size_t n>
  void item(std::array<T, n>& v) {
    sequence(v.data(), n);
  }
  template <class T, std::size_t n>
  void item(T (&v)[n]) {
    sequence(v, n);
  }
  template <class A, class B>
  void item(std::pair<A, B>& v) {
    item(v.first);
    item(v.second);
  }

  template <class T>
  void container(std::vector<T>& v) {
    sized(v);
  }
  void container(std::vector<bool>& v) {
    v.resize(size(v.size()));
    for (std::size_t i = 0; i < v.size(); ++i) {
      bool b = v[i];
      item(b);
      v[i] = b;
    }
  }
  template <class T>
  void container(std::deque<T>& v) {
    v.resize(size(v.size()));
    for (T& i : v) item(i);
  }
  template <class T>
  void container(std::optional<T>& v) {
    bool there = v.has_value();
    item(there);
    if (reading_) there ? v.emplace() : v.reset();
    if (there) item(*v);
  }
  template <class T>
  void container(std::unique_ptr<T>& v) {
    bool there = v != nullptr;
    item(there);
    if (reading_) v = there ? std::make_unique<T>() : nullptr;
    if (there) item(*v);
  }
  template <class T, class C, class O>
  void container(std::priority_queue<T, C, O>& v) {
    item(open_queue<std::priority_queue<T, C, O>>::items(v));
  }
  template <class T>
  void container(ring<T>& v) {
    std::size_t count = size(v.size());
    if (reading_)
      for (v = ring<T>(); v.size() < count;) v.push(T{});
    for (std::size_t i = 0; i < count; ++i) item(v[i]);
  }
  template <class T, class O>
  void container(std::set<T, O>& v) {
    keyed(v);
  }
  template <class K, class V, class O>
  void container(std::map<K, V, O>& v) {
    keyed(v);
  }
  // In the order of the keys, which the order in the table is not.
  template <class K, class V, class H>
  void container(std::unordered_map<K, V, H>& v) {
    std::map<K, V> sorted;
    if (!reading_) sorted.insert(v.begin(), v.end());
    keyed(sorted);
    if (reading_) v = {sorted.begin(), sorted.end()};
  }

  template <class Container>
  void sized(Container& v) {
    v.resize(size(v.size()));
    sequence(v.data(), v.size());
  }
  template <class T>
  void sequence(T* data, std::size_t count) {
    if constexpr ((std::is_arithmetic_v<T> || std::is_enum_v<T>)&&!std::is_same_v<T, bool>)
      raw(data, count * sizeof(T));
    else
      for (std::size_t i = 0; i < count; ++i) item(data[i]);
  }
  template <class Value>
  struct of_key {
    using type = Value;
  };
  template <class K, class V>
  struct of_key<std::pair<const K, V>> {
    using type = std::pair<K, V>;
  };
  template <class Container>
  void keyed(Container& v) {
    using value = typename of_key<typename Container::value_type>::type;
    const std::size_t count = size(v.size());
    if (!reading_) {
      for (const auto& i : v) {
        value copy = i;
        item(copy);
      }
      return;
    }
    v.clear();
    for (std::size_t i = 0; i < count; ++i) {
      value next{};
      item(next);
      v.insert(v.end(), std::move(next));
    }
  }
  // Its address stands for the type, which need not be complete.
  template <class T>
  inline static char kind = 0;
  void* pointed(object_numbers& objects, const void* now);
  /// Each item has a byte at least.
  std::size_t size(std::size_t now);
  [[noreturn]] void fail(const std::string& what) const;

  std::vector<std::uint8_t> bytes_;
  std::size_t at_ = 0;
  bool reading_ = false;
  std::string part_;
  std::unordered_map<const char*, object_numbers> objects_;  // by type
};

}  // namespace heddle
