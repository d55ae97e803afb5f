// SPDX-License-Identifier: MIT
#include "heddle/functional/functional_memory.h"

#include <algorithm>
#include <cstring>

#include "heddle/config/error.h"

namespace heddle {

functional_memory::page& functional_memory::load_page(std::uint64_t address) {
  const std::uint64_t number = address / region_bytes;
  if (number != last_number_) {
    region& r = regions_[number];
    if (r.empty()) r.resize(region_bytes / page_bytes);
    last_number_ = number;
    last_ = r.data();
  }
  std::unique_ptr<page>& p = last_[address % region_bytes / page_bytes];
  if (!p) {
    p.reset(new page);  // not zeroed, as it is filled below
    ++pages_;
    const std::uint64_t begin = address / page_bytes * page_bytes;
    invariant(below_(false, begin, p->bytes, page_bytes) == page_bytes, "device memory gave less than a page");
  }
  return *p;
}

functional_memory::page* functional_memory::find(std::uint64_t address) {
  const auto r = regions_.find(address / region_bytes);
  return r == regions_.end() ? nullptr : r->second[address % region_bytes / page_bytes].get();
}

unsigned functional_memory::exchange(bool write, std::uint64_t address, std::uint8_t* data, unsigned bytes) {
  unsigned done = 0;
  while (done < bytes) {
    const std::uint64_t a = address + done;
    unsigned n = std::min<unsigned>(bytes - done, static_cast<unsigned>(page_bytes - a % page_bytes));
    if (page* p = find(a)) {
      std::uint8_t* const here = p->bytes + a % page_bytes;
      if (write) {
        std::memcpy(here, data + done, n);
        p->dirty = true;
      } else {
        std::memcpy(data + done, here, n);
      }
    } else {
      // The whole run of bytes without pages here, in one access.
      while (done + n < bytes && find(a + n) == nullptr)
        n = static_cast<unsigned>(std::min<std::uint64_t>(bytes - done, n + page_bytes));
      const unsigned moved = below_(write, a, data + done, n);
      if (moved < n) return done + moved;
    }
    done += n;
  }
  return done;
}

void functional_memory::close() {
  for (const auto& [number, r] : regions_)
    for (std::size_t k = 0; k < r.size(); ++k)
      if (r[k] && r[k]->dirty)
        invariant(below_(true, number * region_bytes + k * page_bytes, r[k]->bytes, page_bytes) == page_bytes,
                  "device memory took less than a page");
  regions_.clear();
  last_number_ = ~std::uint64_t{0};
  last_ = nullptr;
  pages_ = 0;
}

}  // namespace heddle
