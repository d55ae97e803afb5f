// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "heddle/simt/warp/warp_state.h"

namespace heddle::sanitize {

/// Who has accessed a word: a thread by its number in the block, plus one; lanes of a warp; its past, which is what
/// comes before all that its lanes do next; or several. Of tiles, which are as many lanes side by side: lanes of one,
/// and its past, which is known to the lanes of the tile alone.
namespace accessor {
using code = std::uint16_t;
constexpr code none = 0, lanes_of_warp = 0x8000, past_of_warp = 0x9000, past_of_tile = 0xa000, lanes_of_tile = 0xc000,
               excluded = 0xfffe, several = 0xffff;
constexpr unsigned most_warps = 64;
}  // namespace accessor

/// Loops that the compiler vectorises, over words side by side. They return 0 if all words let pass; words that others
/// write keep these. `Own` tells what lets whom pass.
template <class Own>
struct accessor_loops {
  using code = accessor::code;
  code read(const code* __restrict w, code* __restrict r, const std::uint16_t* __restrict owner,
            std::size_t count) const {
    const Own own = self();
    code bad = 0;
    for (std::size_t k = 0; k < count; ++k) {
      const auto t = static_cast<code>(own.first + owner[k]);
      bad = static_cast<code>(bad | (own.lets(w[k], t) ? 0 : 1));
      r[k] = own.with(r[k], t);
    }
    return bad;
  }
  code read_together(const code* __restrict w, code* __restrict r, std::size_t count) const {
    const Own own = self();
    code bad = 0;
    for (std::size_t k = 0; k < count; ++k) {
      bad = static_cast<code>(bad | (own.lets_all(w[k]) ? 0 : 1));
      r[k] = own.with_all(r[k]);
    }
    return bad;
  }
  code write(code* __restrict w, const code* __restrict r, const std::uint16_t* __restrict owner,
             std::size_t count) const {
    const Own own = self();
    code bad = 0;
    for (std::size_t k = 0; k < count; ++k) {
      const auto t = static_cast<code>(own.first + owner[k]);
      const code earlier = w[k];
      bad = static_cast<code>(bad | (own.lets(earlier, t) & own.lets(r[k], t) ? 0 : 1));
      w[k] = own.lets(earlier, t) ? t : earlier;
    }
    return bad;
  }
  void pass(code* t, std::size_t count) const {
    const Own own = self();
    for (std::size_t k = 0; k < count; ++k) t[k] = own.has(t[k]) ? own.past : t[k];
  }

 private:
  [[nodiscard]] Own self() const { return static_cast<const Own&>(*this); }
};

/// What words have of the accesses of a warp.
struct own_threads : accessor_loops<own_threads> {
  code first, lanes, past;  // lane 0; several lanes; all that comes before the warp's next access
  explicit own_threads(unsigned warp)
      : first(static_cast<code>(warp * isa::warp_size + 1)),
        lanes(static_cast<code>(accessor::lanes_of_warp + warp)),
        past(static_cast<code>(accessor::past_of_warp + warp)) {}
  [[nodiscard]] bool has(code t) const {
    return (static_cast<code>(t - first) < isa::warp_size) | (t == lanes) | (t == past);
  }
  [[nodiscard]] bool lets(code earlier, code t) const {
    return (earlier == accessor::none) | (earlier == t) | (earlier == past);
  }
  [[nodiscard]] bool lets_all(code earlier) const { return (earlier == accessor::none) | (earlier == past); }
  /// Who has read a word that thread t reads as well; or several lanes of the warp do.
  [[nodiscard]] code with(code readers, code t) const {
    const code others = has(readers) ? lanes : accessor::several;
    return lets(readers, t) ? t : others;
  }
  [[nodiscard]] code with_all(code readers) const { return with(readers, lanes); }
  code read_several(const code* w, code* r, const std::uint16_t*, unsigned, std::size_t count) const {
    return read_together(w, r, count);
  }
};

/// The same of a warp whose tiles of `size` lanes meet, each by itself.
struct tile_threads : accessor_loops<tile_threads> {
  code first, lanes, past;
  code tile_past, tile_lanes;  // of its first tile; those of others follow by their first lane
  code of_tile;                // the bits of a lane that are its tile's first one's
  unsigned size;
  tile_threads(unsigned warp, unsigned lanes_of_tile)
      : first(static_cast<code>(warp * isa::warp_size + 1)),
        lanes(static_cast<code>(accessor::lanes_of_warp + warp)),
        past(static_cast<code>(accessor::past_of_warp + warp)),
        of_tile(static_cast<code>(isa::warp_size - lanes_of_tile)),
        size(lanes_of_tile) {
    const auto kind = static_cast<unsigned>(__builtin_ctz(lanes_of_tile)) - 1;  // of 2, 4, 8 or 16 lanes
    const unsigned place = (kind * accessor::most_warps + warp) * isa::warp_size;
    tile_past = static_cast<code>(accessor::past_of_tile + place);
    tile_lanes = static_cast<code>(accessor::lanes_of_tile + place);
  }
  [[nodiscard]] code tile_of(code t) const { return static_cast<code>((t - first) & of_tile); }
  [[nodiscard]] bool has(code t) const {
    return (static_cast<code>(t - first) < isa::warp_size) | (t == lanes) | (t == past) |
           (static_cast<code>(t - tile_past) < isa::warp_size) | (static_cast<code>(t - tile_lanes) < isa::warp_size);
  }
  [[nodiscard]] bool lets(code earlier, code t) const {
    return (earlier == accessor::none) | (earlier == t) | (earlier == past) |
           (earlier == static_cast<code>(tile_past + tile_of(t)));
  }
  [[nodiscard]] bool lets_all(code earlier) const { return (earlier == accessor::none) | (earlier == past); }
  [[nodiscard]] bool of_same_tile(code readers, code t) const {
    const auto other = static_cast<code>(readers - first);
    return ((other < isa::warp_size) & ((other & of_tile) == tile_of(t))) |
           (readers == static_cast<code>(tile_lanes + tile_of(t)));
  }
  [[nodiscard]] code with(code readers, code t) const {
    const code others = has(readers) ? lanes : accessor::several;
    const code apart = of_same_tile(readers, t) ? static_cast<code>(tile_lanes + tile_of(t)) : others;
    return lets(readers, t) ? t : apart;
  }
  [[nodiscard]] code with_all(code readers) const {
    const code others = has(readers) ? lanes : accessor::several;
    return lets_all(readers) ? lanes : others;
  }
  /// Each word is read by several lanes, of which `owner` is one; they lie within `together` lanes.
  code read_several(const code* __restrict w, code* __restrict r, const std::uint16_t* __restrict owner,
                    unsigned together, std::size_t count) const {
    if (together > size) return read_together(w, r, count);
    code bad = 0;
    for (std::size_t k = 0; k < count; ++k) {
      const auto t = static_cast<code>(first + owner[k]);
      const auto tile = static_cast<code>(tile_lanes + tile_of(t));
      const code others = has(r[k]) ? lanes : accessor::several;
      bad = static_cast<code>(bad | (lets(w[k], t) ? 0 : 1));
      r[k] = lets(r[k], t) | of_same_tile(r[k], t) ? tile : others;
    }
    return bad;
  }
  /// The tiles meet: what their lanes have done is their past.
  void pass_tiles(code* t, std::size_t count) const {
    for (std::size_t k = 0; k < count; ++k) {
      const auto lane = static_cast<code>(t[k] - first), tile = static_cast<code>(t[k] - tile_lanes);
      const auto other = tile < isa::warp_size ? static_cast<code>(tile_past + tile) : t[k];
      t[k] = lane < isa::warp_size ? static_cast<code>(tile_past + (lane & of_tile)) : other;
    }
  }
};

}  // namespace heddle::sanitize
