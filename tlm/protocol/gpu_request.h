// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <tlm>
#include <typeinfo>
#include <vector>

namespace heddle {

class interconnect;
class state_image;

constexpr unsigned line_bytes = 128;
constexpr unsigned sector_bytes = 32;
constexpr unsigned sectors_per_line = line_bytes / sector_bytes;

/// An atomic or reduction on up to 32 lanes within one 128-byte line, used only between an SM and an L2 slice (command
/// TLM_IGNORE_COMMAND). Lanes are performed in the order of the list.
struct atomic_request {
  std::uint8_t operation = 0;  // isa::atomic_op
  std::uint8_t type = 0;       // isa::dtype
  bool returns = false;        // false: reduction, no old values are returned
  bool wide = false;           // cells of 16 bytes
  unsigned count = 0;
  std::array<std::uint8_t, 32> lane{};
  std::array<std::uint8_t, 32> offset{};  // byte offset of the cell in the line
  std::array<std::uint64_t, 32> operand{};
  std::array<std::uint64_t, 32> swap{};    // cas: the new value (operand is the compare value)
  std::array<std::uint64_t, 32> result{};  // old values, written by the slice
  // Of wide cells, the upper eight bytes of each.
  std::array<std::uint64_t, 32> operand_high{};
  std::array<std::uint64_t, 32> swap_high{};
  std::array<std::uint64_t, 32> result_high{};
};

/// What became of a request's sectors in the L2, written by the slice. A load's or an atomic's miss may be in flight
/// already. `fetched`: sectors read from device memory for it, neighbours included.
struct l2_outcome {
  std::uint8_t hits = 0;
  std::uint8_t misses = 0;
  std::uint8_t fetched = 0;
};

/// Ignorable extension of the generic payload in the memory path: the origin and the purpose of a request. A target
/// that ignores it behaves correctly; Heddle's targets use it for statistics, policies and atomics.
struct gpu_request : tlm::tlm_extension<gpu_request> {
  /// fence: a TLM_IGNORE_COMMAND without atomic. It is answered when earlier stores are in the memory that other agents
  /// see, and no data is held that they may have overwritten. A target that holds no data may answer at once.
  enum class kind : std::uint8_t { load, store, atomic, texture, constant, instruction, context, fence };
  kind what = kind::load;
  unsigned sm = 0;
  unsigned warp = 0;
  std::uint8_t cache = 0;  // isa::cache_op
  bool system = false;  // system scope: other agents share the bytes, so they are read and written in the memory itself
  std::uint8_t sectors = 0;          // bit s: sector s of the 128-byte line is requested (loads) or written (stores)
  bool parts = false;                // of a store: some sector is written in part
  l2_outcome l2;                     // zeros: the memory side does not tell
  std::uint32_t policy = 0;          // of the L2's replacement (isa/cache_policy.h); 0: none
  std::uint32_t launch = 0;          // launch_context::launch_id
  std::uint64_t token = 0;           // for the initiator's use
  atomic_request* atomic = nullptr;  // owned by the payload

  [[nodiscard]] tlm::tlm_extension_base* clone() const override { return new gpu_request(*this); }
  void copy_from(const tlm::tlm_extension_base& o) override { *this = static_cast<const gpu_request&>(o); }
};

/// A generic payload with storage for one line, its byte enables and the extension; from a payload_pool.
class line_payload final : public tlm::tlm_generic_payload {
 public:
  explicit line_payload(tlm::tlm_mm_interface* mm);
  /// Casts a payload that comes from a payload_pool.
  static line_payload& of(tlm::tlm_generic_payload& p) { return static_cast<line_payload&>(p); }

  /// The payload as line_payload if it is one, else null. Does not access the extensions, which lie elsewhere in
  /// memory.
  static line_payload* if_one(tlm::tlm_generic_payload& p) {
    return typeid(p) == typeid(line_payload) ? &of(p) : nullptr;
  }
  static const line_payload* if_one(const tlm::tlm_generic_payload& p) {
    return typeid(p) == typeid(line_payload) ? static_cast<const line_payload*>(&p) : nullptr;
  }

  /// Makes it a read of the sectors in `sectors` (bit per sector) of the line at `address`: the smallest aligned
  /// power-of-two run of bytes, with byte enables only if that run has holes.
  void make_read(std::uint64_t line_address, std::uint8_t sectors);
  /// Makes it a write of the enabled bytes of `data` (0xff / 0x00 per byte) in the line at `address`.
  void make_write(std::uint64_t line_address);
  /// Makes it an atomic on the line at `address`: command TLM_IGNORE_COMMAND; the caller fills in request.atomic.
  void make_atomic(std::uint64_t line_address);
  /// Makes it a fence for the slice that owns the line at `address`.
  void make_fence(std::uint64_t line_address);

  /// The bytes of the line in which the read or write lies.
  std::uint8_t* line_data() { return data_.data(); }
  std::uint8_t* line_enables() { return enables_.data(); }

  gpu_request request;
  /// The route within the interconnect that has accepted it; other payloads carry it in an extension.
  struct route_state {
    const interconnect* owner = nullptr;  // null: not in an interconnect
    unsigned sm = 0;
    unsigned slice = 0;
    std::uint64_t number = 0;  // among the requests of its SM
  };
  route_state route;

  /// Of a payload that is not in its pool; bytes that have no value yet are left out.
  void exchange(state_image& image);
  /// For its pool: the payload's bytes are poisoned while it is not in use (poison.h).
  void set_poison();
  void lift_poison();

 private:
  void exchange_request(state_image& image);
  void exchange_data(state_image& image);
  void exchange_atomic(state_image& image);
  void make_ignored(std::uint64_t line_address);  // command TLM_IGNORE_COMMAND: the extension tells the purpose

  alignas(64) std::array<std::uint8_t, line_bytes> data_{};
  alignas(64) std::array<std::uint8_t, line_bytes> enables_{};
  std::unique_ptr<atomic_request> atomic_;  // allocated at its first atomic, as few payloads ever are one
};

/// The payload's gpu_request, or null if it has none.
inline const gpu_request* request_of(const tlm::tlm_generic_payload& p) {
  const line_payload* own = line_payload::if_one(p);
  return own != nullptr ? &own->request : p.get_extension<gpu_request>();
}

inline gpu_request* request_of(tlm::tlm_generic_payload& p) {
  line_payload* own = line_payload::if_one(p);
  return own != nullptr ? &own->request : p.get_extension<gpu_request>();
}

/// Memory manager of line payloads: acquire() returns one with reference count 1; it returns to the pool when the count
/// reaches zero, and the automatic extensions that others added are freed. One pool per initiator, never shared. Must
/// outlive its payloads. Payloads in the pool are poisoned (poison.h).
class payload_pool : public tlm::tlm_mm_interface {
 public:
  payload_pool() = default;
  payload_pool(const payload_pool&) = delete;
  payload_pool& operator=(const payload_pool&) = delete;
  ~payload_pool() override;

  [[nodiscard]] line_payload& acquire();
  void free(tlm::tlm_generic_payload* p) override;
  /// Payloads that are presently out of the pool.
  [[nodiscard]] std::size_t in_use() const { return all_.size() - free_.size(); }
  /// Which payloads are out of the pool, and the order in which the others are taken. It is read into a pool of which
  /// none was ever taken. Names those that are out of it, as line_payload and as generic payload.
  void exchange(state_image& image);
  /// What the payloads hold that are out of the pool.
  void exchange_payloads(state_image& image);

 private:
  template <class F>
  void each_in_use(F&& f);

  std::vector<std::unique_ptr<line_payload>> all_;
  std::vector<line_payload*> free_;
};

}  // namespace heddle
