// SPDX-License-Identifier: MIT
#include "heddle/gpu/register_map.h"

#include <cstdint>
#include <cstdio>

#include "heddle/gpu/host/host_registers.h"

namespace heddle {

namespace {

/// Fields narrower than the register: bits of status and of the interrupt registers.
struct bit_row {
  const char* name;
  unsigned bit;
  const char* meaning;
};
constexpr bit_row status_bits[] = {
#define HEDDLE_X(name, bit, meaning) {#name, bit, meaning},
    HEDDLE_HOST_STATUS_BITS(HEDDLE_X)};
constexpr bit_row interrupt_bits[] = {HEDDLE_HOST_INTERRUPT_BITS(HEDDLE_X)
#undef HEDDLE_X
};

std::string hex(std::uint64_t n) {
  char text[20];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(n));
  return text;
}

std::string quoted(const std::string& text) {
  std::string all = "\"";
  for (const char c : text) all += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  return all + "\"";
}

/// What software may do with a field, and what hardware does. onread and onwrite: effects of an access.
std::string properties(register_access access) {
  switch (access) {
    case register_access::read_only: return "sw = r; hw = w;";
    case register_access::write_only: return "sw = w; hw = r;";
    case register_access::read_write: return "sw = rw; hw = r;";
    case register_access::read_takes: return "sw = r; hw = w; onread = ruser;";
    case register_access::write_1_clears: return "sw = rw; hw = w; onwrite = woclr;";
  }
  return "";
}

template <std::size_t n>
std::string fields(const bit_row (&bits)[n], const std::string& how) {
  std::string text;
  for (const bit_row& b : bits) {
    const std::string place = std::to_string(b.bit);
    text +=
        "    field { desc = " + quoted(b.meaning) + "; " + how + " } " + b.name + "[" + place + ":" + place + "];\n";
  }
  return text;
}

std::string fields_of(const host_register_row& r) {
  const std::string how = properties(r.access);
  if (r.offset == host_register::status) return fields(status_bits, how);
  if (r.offset == host_register::interrupt_enable || r.offset == host_register::interrupt_pending)
    return fields(interrupt_bits, how);
  return "    field { " + how + " } value[63:0];\n";
}

std::string text_window(const char* name, std::uint64_t offset, std::uint64_t bytes, const char* meaning) {
  return std::string("  external mem {\n    desc = ") + quoted(meaning) +
         ";\n    mementries = " + std::to_string(bytes / 8) + ";\n    memwidth = 64;\n    sw = r;\n  } " + name +
         " @ " + hex(offset) + ";\n";
}

}  // namespace

std::string register_map() {
  std::string text = R"(// SPDX-License-Identifier: MIT
// SystemRDL 2.0. Made from the rows of <heddle/gpu/host/host_registers.h>; docs/library/host_interface.md explains them.
addrmap heddle_gpu {
  name = "Heddle GPU, host socket";
  desc = "An access may have any length and offset, and byte enables; one that reaches several registers acts in their order. A read takes only what it begins at.";
  littleendian;
  default regwidth = 64;

)";
  for (const host_register_row& r : host_register_rows)
    // What a read takes is up to the hardware, which SystemRDL has for external registers only.
    text += std::string(r.access == register_access::read_takes ? "  external reg {" : "  reg {") +
            "\n    desc = " + quoted(r.meaning) + ";\n" + fields_of(r) + "  } " + r.name + " @ " + hex(r.offset) +
            ";\n";
  text += "\n" +
          text_window("message", host_register::message, host_register::message_size,
                      "text of the last error or fault, message_bytes long") +
          text_window("print", host_register::print, host_register::print_size,
                      "the first bytes of the printed text that the host has not taken");
  return text + "};\n";
}

}  // namespace heddle
