// SPDX-License-Identifier: MIT
#include "heddle/functional/functional_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "heddle/config/error.h"

namespace heddle {

namespace {
constexpr std::uint64_t pages_of_region = (std::uint64_t{1} << 30) / functional_memory::page_bytes;
constexpr std::size_t slab_bytes = std::size_t{2} << 20;
constexpr std::size_t slabs_kept = 128;
constexpr std::uint64_t regions_known = 1024;  // that a view finds without a lock
constexpr std::size_t images_kept = 64;        // of pages of other processes
constexpr std::size_t most_held = 16384;       // such pages, 1 GiB
constexpr std::size_t compared = 256;          // bytes of such a page at a time

bool is_next(const distant_memory::run& r, const std::uint8_t* here, std::uint64_t address) {
  return r.here + r.bytes == here && r.address + r.bytes == address;
}
}  // namespace

static_assert(std::is_trivially_destructible_v<functional_memory::page>);
static_assert(functional_memory::page_bytes == host_regions::unit);

void functional_memory::release_slab::operator()(std::uint8_t* p) const { std::free(p); }

// The first pages have memory of their own; for each further slab the system has a large page.
functional_memory::page* functional_memory::make_page() {
  if (!unused_.empty()) {
    own_page* const p = unused_.back();
    unused_.pop_back();
    return new (p) own_page;
  }
  constexpr std::uint64_t pages_of_slab = slab_bytes / sizeof(own_page);
  const std::uint64_t k = own_pages_++;
  const bool first = k < pages_of_slab;
  const std::uint64_t number = first ? k : k / pages_of_slab - 1;
  auto& all = first ? first_pages_ : slabs_;
  if (number == all.size()) {
    const std::size_t bytes = first ? sizeof(own_page) : slab_bytes;
    auto* const memory = static_cast<std::uint8_t*>(std::aligned_alloc(first ? alignof(own_page) : slab_bytes, bytes));
    if (memory == nullptr) throw std::bad_alloc();
    all.emplace_back(memory);
#if defined(__linux__)
    if (!first) madvise(memory, slab_bytes, MADV_HUGEPAGE);
#endif
  }
  const std::uint64_t within = first ? 0 : k % pages_of_slab * sizeof(own_page);
  return new (all[number].get() + within) own_page;  // not zeroed, as it is filled
}

void functional_memory::page::set_dirty() {
  static std::mutex copying;
  const std::lock_guard<std::mutex> lock(copying);
  if (dirty.load(std::memory_order_relaxed)) return;
  if (before != nullptr) std::memcpy(before, bytes, page_bytes);
  dirty.store(true, std::memory_order_release);
}

functional_memory::page* functional_memory::view::load(std::uint64_t address) {
  const bool is_distant = memory_.any_distant() && memory_.host_->is_distant(address);
  if (is_distant && !memory_.holds_) return nullptr;
  if (address / region_bytes != number_) {
    last_ = region_of(address);
    number_ = address / region_bytes;
  }
  std::atomic<page*>& here = last_[address % region_bytes / page_bytes];
  if (page* p = here.load(std::memory_order_acquire)) return p;
  return is_distant ? memory_.hold_page(address, here) : &memory_.load_page(address, here);
}

// Pages that have been used are left, or memory for more and for what else the simulator needs.
bool functional_memory::has_room() const {
#if defined(__linux__)
  constexpr std::size_t left = std::size_t{64} << 20;
  if (unused_.size() >= 2) return true;
  void* const memory = ::mmap(nullptr, left, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory != MAP_FAILED && ::munmap(memory, left) == 0;
#else
  return true;
#endif
}

// Null: it is shared, or enough are held.
functional_memory::page* functional_memory::hold_page(std::uint64_t address, std::atomic<page*>& here) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (page* p = here.load(std::memory_order_relaxed)) return p;
  if (held_.size() >= most_held || host_->is_shared(address) || !has_room()) return nullptr;
  const held_page h{address / page_bytes * page_bytes, &here, make_page(), make_page()};
  invariant(below_.access(false, h.address, h.now->bytes, page_bytes) == page_bytes,
            "a program's memory gave less than a page");
  h.now->before = h.before->bytes;
  pages_.fetch_add(1, std::memory_order_relaxed);
  held_.push_back(h);
  here.store(h.now, std::memory_order_release);
  return h.now;
}

void functional_memory::release_held() {
  holds_ = false;
  write_held_back();
}

void functional_memory::renew_held() {
  using std::chrono::steady_clock;
  if (held_.empty()) return;
  const auto begin = steady_clock::now();
  if (begin < renewed_ + renewal_) return;
  write_held_back();
  renewed_ = steady_clock::now();
  renewal_ = std::max<steady_clock::duration>(least_renewal, 10 * (renewed_ - begin));  // at most a tenth of the time
}

void functional_memory::write_held_back() {
  std::vector<distant_memory::run> changed;
  for (const held_page& h : held_) {
    h.slot->store(nullptr, std::memory_order_relaxed);
    pages_.fetch_sub(1, std::memory_order_relaxed);
    if (!h.now->dirty.load(std::memory_order_relaxed)) continue;
    std::uint8_t* const now = h.now->bytes;
    const auto differs = [&](std::size_t k) { return now[k] != h.before->bytes[k]; };
    for (std::size_t at = 0, end = 0; at < page_bytes; at = end) {
      end = at + 1;
      if (at % compared == 0 && std::memcmp(now + at, h.before->bytes + at, compared) == 0) end = at + compared;
      if (end > at + 1 || !differs(at)) continue;
      while (end < page_bytes && differs(end)) ++end;
      changed.push_back({h.address + at, now + at, end - at});
    }
  }
  if (!changed.empty()) host_->move(true, changed);
  for (const held_page& h : held_)
    for (page* const p : {h.now, h.before}) unused_.push_back(static_cast<own_page*>(p));
  held_.clear();
}

// Neighbours are read together. Images are of use while one instruction is executed.
std::uint8_t* functional_memory::view::image_of(std::uint64_t address, unsigned bytes, bool writes) {
  if (asked_.empty() && written_.empty() && images_.size() >= images_kept) images_.clear();
  std::unique_ptr<std::uint8_t[]>& image = images_[address / page_bytes];
  if (image == nullptr) image.reset(new std::uint8_t[page_bytes]);  // not zeroed, as it is filled
  std::uint8_t* const here = image.get() + address % page_bytes;
  if (!asked_.empty() && is_next(asked_.back(), here, address)) asked_.back().bytes += bytes;
  else asked_.push_back({address, here, bytes});
  if (writes) written_.push_back({{address, here, bytes}, not_read});
  return here;
}

void functional_memory::view::fetch_asked() {
  memory_.host_->move(false, asked_);
  asked_.clear();
  for (writing& w : written_) {
    if (w.before != not_read) continue;
    w.before = before_.size();
    before_.insert(before_.end(), w.bytes.here, w.bytes.here + w.bytes.bytes);
  }
}

// Bytes that stay the same are not written: the program may write them meanwhile.
void functional_memory::view::settle_written() {
  std::vector<distant_memory::run> runs;
  for (const auto& [r, before] : written_) {
    if (std::memcmp(r.here, before_.data() + before, r.bytes) == 0) continue;
    if (!runs.empty() && is_next(runs.back(), r.here, r.address)) runs.back().bytes += r.bytes;
    else runs.push_back(r);
  }
  written_.clear();
  before_.clear();
  if (!runs.empty()) memory_.host_->move(true, runs);
}

std::atomic<functional_memory::page*>* functional_memory::view::region_of(std::uint64_t address) {
  const std::uint64_t number = address / region_bytes;
  if (number >= regions_known) return memory_.region_of(address);
  if (number >= known_.size()) known_.resize(number + 1);
  if (known_[number] == nullptr) known_[number] = memory_.region_of(address);
  return known_[number];
}

std::atomic<functional_memory::page*>* functional_memory::region_of(std::uint64_t address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  region& r = regions_[address / region_bytes];
  if (!r) r.reset(new std::atomic<page*>[pages_of_region] {});
  return r.get();
}

functional_memory::page& functional_memory::load_page(std::uint64_t address, std::atomic<page*>& here) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (page* p = here.load(std::memory_order_relaxed)) return *p;  // another thread was first
  const std::uint64_t begin = address / page_bytes * page_bytes;
  std::uint8_t* const of_host = host_ != nullptr ? host_->find(begin) : nullptr;
  page* const p = of_host != nullptr ? &pages_of_host_.emplace_back(of_host) : make_page();
  invariant(of_host != nullptr || below_.access(false, begin, p->bytes, page_bytes) == page_bytes,
            "device memory gave less than a page");
  pages_.fetch_add(1, std::memory_order_relaxed);
  here.store(p, std::memory_order_release);
  return *p;
}

functional_memory::page* functional_memory::find(std::uint64_t address) {
  const auto r = regions_.find(address / region_bytes);
  return r == regions_.end() ? nullptr : r->second[address % region_bytes / page_bytes].load(std::memory_order_relaxed);
}

unsigned functional_memory::exchange(bool write, std::uint64_t address, std::uint8_t* data, unsigned bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  unsigned done = 0;
  while (done < bytes) {
    const std::uint64_t a = address + done;
    unsigned n = std::min<unsigned>(bytes - done, static_cast<unsigned>(page_bytes - a % page_bytes));
    if (page* p = find(a)) {
      std::uint8_t* const here = p->bytes + a % page_bytes;
      if (write) {
        p->mark_dirty();
        std::memcpy(here, data + done, n);
      } else {
        std::memcpy(data + done, here, n);
      }
    } else {
      // The whole run of bytes without pages here, in one access.
      while (done + n < bytes && find(a + n) == nullptr)
        n = static_cast<unsigned>(std::min<std::uint64_t>(bytes - done, n + page_bytes));
      const unsigned moved = below_.access(write, a, data + done, n);
      if (moved < n) return done + moved;
    }
    done += n;
  }
  return done;
}

void functional_memory::close() {
  release_held();
  for (const auto& [number, r] : regions_)
    for (std::size_t k = 0; k < pages_of_region; ++k)
      if (page* const p = r[k].load(std::memory_order_relaxed))
        if (p->dirty.load(std::memory_order_relaxed) &&
            (host_ == nullptr || host_->find(number * region_bytes + k * page_bytes) == nullptr))
          invariant(below_.access(true, number * region_bytes + k * page_bytes, p->bytes, page_bytes) == page_bytes,
                    "device memory took less than a page");
  drop_pages();
}

void functional_memory::drop_pages() {
  regions_.clear();
  pages_of_host_.clear();
  own_pages_ = 0;
  unused_.clear();
  pages_.store(0, std::memory_order_relaxed);
  if (slabs_.size() > slabs_kept) slabs_.resize(slabs_kept);
}

}  // namespace heddle
