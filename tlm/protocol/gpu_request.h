// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <tlm>
#include <typeinfo>
#include <vector>

namespace heddle {

constexpr unsigned line_bytes = 128;
constexpr unsigned sector_bytes = 32;
constexpr unsigned sectors_per_line = line_bytes / sector_bytes;

/// An atomic or reduction on up to 32 lanes within one 128-byte line: exists only between an SM and an L2 slice
/// (command TLM_IGNORE_COMMAND). Lanes are performed in the order of the list.
struct atomic_request {
  std::uint8_t operation = 0;  // isa::atomic_op
  std::uint8_t type = 0;       // isa::dtype
  bool returns = false;        // false: reduction, no old values come back
  unsigned count = 0;
  std::array<std::uint8_t, 32> lane{};
  std::array<std::uint8_t, 32> offset{};  // byte offset of the cell in the line
  std::array<std::uint64_t, 32> operand{};
  std::array<std::uint64_t, 32> swap{};    // cas: the new value (operand is the compare value)
  std::array<std::uint64_t, 32> result{};  // old values, written by the slice
};

/// Ignorable extension of the generic payload in the memory path: who asks and why. A target that ignores it behaves
/// right; ours use it for statistics, policy and atomics.
struct gpu_request : tlm::tlm_extension<gpu_request> {
  /// fence: a TLM_IGNORE_COMMAND without atomic; answered when what was stored before is in memory that others see, and
  /// nothing that they may have written since is held. Whoever holds nothing may answer at once.
  enum class kind : std::uint8_t { load, store, atomic, texture, constant, instruction, context, fence };
  kind what = kind::load;
  unsigned sm = 0;
  unsigned warp = 0;
  std::uint8_t cache = 0;            // isa::cache_op
  bool system = false;               // others than the GPU share the bytes: read and written in the memory itself
  std::uint8_t sectors = 0;          // bit s: sector s of the 128-byte line is asked for (loads) or touched (stores)
  std::uint32_t launch = 0;          // launch_context::launch_id
  std::uint64_t token = 0;           // the initiator's own
  atomic_request* atomic = nullptr;  // owned by the payload

  tlm::tlm_extension_base* clone() const override { return new gpu_request(*this); }
  void copy_from(const tlm::tlm_extension_base& o) override { *this = static_cast<const gpu_request&>(o); }
};

/// A generic payload with room for one line, its byte enables and the extension, drawn from a payload_pool.
class line_payload final : public tlm::tlm_generic_payload {
 public:
  explicit line_payload(tlm::tlm_mm_interface* mm);
  /// The payload given, which must come from a payload_pool.
  static line_payload& of(tlm::tlm_generic_payload& p) { return static_cast<line_payload&>(p); }

  /// The payload given if it is one of these; else null. Without a look at the extensions, which lie elsewhere.
  static line_payload* if_one(tlm::tlm_generic_payload& p) {
    return typeid(p) == typeid(line_payload) ? &of(p) : nullptr;
  }
  static const line_payload* if_one(const tlm::tlm_generic_payload& p) {
    return typeid(p) == typeid(line_payload) ? static_cast<const line_payload*>(&p) : nullptr;
  }

  /// Makes it a read of the sectors of `sectors` (bit per sector) in the line at `address`: the smallest aligned
  /// power-of-two run of bytes; byte enables only when that run has holes.
  void make_read(std::uint64_t line_address, std::uint8_t sectors);
  /// Makes it a write of the bytes of `data` with enables set (0xff / 0x00 per byte) in the line at `address`.
  void make_write(std::uint64_t line_address);
  /// Makes it an atomic on the line at `address`: command TLM_IGNORE_COMMAND, request.atomic to be filled in.
  void make_atomic(std::uint64_t line_address);
  /// Makes it a fence to the slice that has the line at `address`.
  void make_fence(std::uint64_t line_address);

  /// Data pointer of byte `offset` of the line that a read or write lies in.
  std::uint8_t* line_data() { return data_.data(); }
  std::uint8_t* line_enables() { return enables_.data(); }

  gpu_request request;
  /// Where it came from, for the interconnect that has it; payloads of others carry that in an extension.
  struct route_state {
    const void* owner = nullptr;  // none: not under way
    unsigned sm = 0;
    unsigned slice = 0;
    std::uint64_t number = 0;  // among the requests of its SM
  };
  route_state route;

 private:
  friend class payload_pool;
  void make_ignored(std::uint64_t line_address);  // command TLM_IGNORE_COMMAND: the request says what it is

  alignas(64) std::array<std::uint8_t, line_bytes> data_{};
  alignas(64) std::array<std::uint8_t, line_bytes> enables_{};
  std::unique_ptr<atomic_request> atomic_;  // from its first atomic on: few payloads ever are one
};

/// What the payload says of who asks and why; null: nothing.
inline const gpu_request* request_of(const tlm::tlm_generic_payload& p) {
  const line_payload* own = line_payload::if_one(p);
  return own != nullptr ? &own->request : p.get_extension<gpu_request>();
}

/// Memory manager of line payloads: acquire() gives one with reference count 1; release to zero brings it back.
/// One pool per initiator, never shared. Must outlive its payloads.
class payload_pool : public tlm::tlm_mm_interface {
 public:
  payload_pool() = default;
  payload_pool(const payload_pool&) = delete;
  payload_pool& operator=(const payload_pool&) = delete;
  ~payload_pool() override;

  line_payload& acquire();
  void free(tlm::tlm_generic_payload* p) override;
  /// Payloads out of the pool now.
  std::size_t in_use() const { return all_.size() - free_.size(); }

 private:
  std::vector<std::unique_ptr<line_payload>> all_;
  std::vector<line_payload*> free_;
};

}  // namespace heddle
