// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "heddle/memory/common/host_regions.h"

namespace heddle {

/// The memory below that of functional execution.
class backing_memory {
 public:
  /// Reads or writes, and returns the number of bytes transferred. One thread calls it at a time.
  virtual unsigned access(bool write, std::uint64_t address, std::uint8_t* data, unsigned bytes) = 0;

 protected:
  ~backing_memory() = default;
};

/// Device memory for launches that are executed functionally: pages are fetched at the first access and written back
/// before a timed launch starts. While a page is held here it is newer than the memory, so all other untimed accesses
/// must use exchange(). Several threads may access it at the same time, each through its own view, but for close().
class functional_memory {
 public:
  static constexpr std::uint64_t page_bytes = 65536;

  struct page {
    explicit page(std::uint8_t* b) : bytes(b) {}
    std::uint8_t* const bytes;  // of `own_page`, or the host's memory
    std::atomic<bool> dirty{false};
    std::uint8_t* before = nullptr;  // gets the bytes before they are changed; null: they are not kept
    /// Call before the bytes are changed. Threads that only read the mark share its cache line.
    void mark_dirty() {
      if (!dirty.load(std::memory_order_acquire)) set_dirty();
    }
    void set_dirty();
  };
  /// `below` outlives it.
  explicit functional_memory(backing_memory& below) : below_(below) {}
  /// These are not held here, but accessed where they are. Call close() before one is added or removed.
  void access_in_place(const host_regions& regions) { host_ = &regions; }
  functional_memory(const functional_memory&) = delete;
  functional_memory& operator=(const functional_memory&) = delete;

  /// A thread's way to the pages. It keeps where it found the last one; close() makes that invalid.
  class view {
   public:
    explicit view(functional_memory& memory) : memory_(memory) {}
    /// The page that contains the address; null: it is in another process, and not held. Throws internal_error if the
    /// memory below does not have the whole page.
    page* at(std::uint64_t address) {
      if (__builtin_expect(address / region_bytes == number_, 1))
        if (page* p = last_[address % region_bytes / page_bytes].load(std::memory_order_acquire)) return p;
      return load(address);
    }
    /// Where bytes that do not cross a page's end are read. Call fetch() before, as they may be in another process.
    std::uint8_t* readable(std::uint64_t address, unsigned bytes) {
      page* const p = at(address);
      return p != nullptr ? p->bytes + address % page_bytes : image_of(address, bytes, false);
    }
    /// The same where they are read and written; call settle() after that.
    std::uint8_t* writable(std::uint64_t address, unsigned bytes) {
      page* const p = at(address);
      if (p == nullptr) return image_of(address, bytes, true);
      p->mark_dirty();
      return p->bytes + address % page_bytes;
    }
    /// Reads from other processes what readable() and writable() have asked for since the last call.
    void fetch() {
      if (!asked_.empty()) fetch_asked();
    }
    /// Writes to other processes what has been changed since fetch().
    void settle() {
      if (!written_.empty()) settle_written();
    }
    /// Held from fetch() to settle() if what is written depends on what was read, as other threads may write there,
    /// too.
    [[nodiscard]] std::unique_lock<std::mutex> alone() const {
      return asked_.empty() ? std::unique_lock<std::mutex>() : std::unique_lock<std::mutex>(memory_.changing_);
    }
    /// Call after close().
    void forget() {
      number_ = no_region;
      known_.clear();
    }

   private:
    static constexpr std::uint64_t no_region = ~std::uint64_t{0};
    static constexpr std::size_t not_read = ~std::size_t{0};
    struct writing {
      distant_memory::run bytes;
      std::size_t before;  // where these begin in before_; `not_read`: nowhere yet
    };
    page* load(std::uint64_t address);
    std::atomic<page*>* region_of(std::uint64_t address);
    std::uint8_t* image_of(std::uint64_t address, unsigned bytes, bool writes);
    void fetch_asked();
    void settle_written();
    functional_memory& memory_;
    std::uint64_t number_ = no_region;        // of the region of the last access
    std::atomic<page*>* last_ = nullptr;      // its pages
    std::vector<std::atomic<page*>*> known_;  // pages of regions by number; null: not asked for yet
    // Of memory in other processes: images of pages, by number; what is to be read; what may be written.
    std::map<std::uint64_t, std::unique_ptr<std::uint8_t[]>> images_;
    std::vector<distant_memory::run> asked_;
    std::vector<writing> written_;
    std::vector<std::uint8_t> before_;
  };

  /// While it lives, nothing but the launch changes memory of other processes, but for shared memory: its pages are
  /// held here, too, up to a number. At its end the bytes that have changed are written back.
  class hold {
   public:
    hold(functional_memory& memory, bool holds) : memory_(memory) {
      memory_.holds_ = holds;
      memory_.renewed_ = std::chrono::steady_clock::now();
      memory_.renewal_ = least_renewal;
    }
    ~hold() { memory_.release_held(); }
    hold(const hold&) = delete;
    hold& operator=(const hold&) = delete;

   private:
    functional_memory& memory_;
  };

  /// Twice a second, or less often if there are many, held pages of other processes are written back and read again, as
  /// a handler of a signal may write there. No other thread may access the memory.
  void renew_held();
  /// While it is held, no other thread calls the memory below.
  [[nodiscard]] std::unique_lock<std::mutex> below_alone() { return std::unique_lock<std::mutex>(mutex_); }
  /// Some of the memory is in other processes.
  [[nodiscard]] bool any_distant() const { return host_ != nullptr && host_->any_distant(); }
  /// True if pages are held.
  [[nodiscard]] bool open() const { return pages() != 0; }
  [[nodiscard]] std::uint64_t pages() const { return pages_.load(std::memory_order_relaxed); }
  /// An access from outside: to pages that are held here, otherwise to the memory below. Returns the number of bytes
  /// transferred.
  unsigned exchange(bool write, std::uint64_t address, std::uint8_t* data, unsigned bytes);
  /// Writes back all dirty pages and drops all pages. No other thread may access the memory.
  void close();

 private:
  static constexpr std::uint64_t region_bytes = std::uint64_t{1} << 30;
  static constexpr std::chrono::milliseconds least_renewal{500};
  using region = std::unique_ptr<std::atomic<page*>[]>;
  struct own_page : page {
    own_page() : page(storage) {}
    alignas(64) std::uint8_t storage[page_bytes];
  };
  struct held_page {
    std::uint64_t address = 0;
    std::atomic<page*>* slot = nullptr;
    page *now = nullptr, *before = nullptr;
  };
  struct release_slab {
    void operator()(std::uint8_t* p) const;
  };
  page* make_page();
  void drop_pages();
  [[nodiscard]] bool has_room() const;
  page* hold_page(std::uint64_t address, std::atomic<page*>& here);
  void release_held();
  void write_held_back();
  std::atomic<page*>* region_of(std::uint64_t address);
  page& load_page(std::uint64_t address, std::atomic<page*>& here);
  page* find(std::uint64_t address);

  backing_memory& below_;
  std::mutex mutex_;                         // guards what follows, and calls of below_
  std::map<std::uint64_t, region> regions_;  // by number; those made stay until close()
  // Host memory of the first pages, and slabs from which the others are cut; they serve again after close().
  std::vector<std::unique_ptr<std::uint8_t, release_slab>> first_pages_, slabs_;
  std::uint64_t own_pages_ = 0;
  std::deque<page> pages_of_host_;
  const host_regions* host_ = nullptr;
  std::mutex changing_;  // memory of other processes
  bool holds_ = false;
  std::vector<held_page> held_;    // of other processes
  std::vector<own_page*> unused_;  // made, and not in use any more
  std::chrono::steady_clock::time_point renewed_;
  std::chrono::steady_clock::duration renewal_ = least_renewal;  // the time until the next one
  std::atomic<std::uint64_t> pages_{0};
};

}  // namespace heddle
