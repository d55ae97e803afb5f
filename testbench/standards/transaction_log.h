// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <systemc>
#include <utility>
#include <variant>
#include <vector>

namespace standards {

/// Name and value of an attribute of a recorded transaction.
using attribute = std::pair<const char*, std::variant<std::uint64_t, bool, std::string>>;
using attributes = std::vector<attribute>;

/// Where transactions are recorded: text of SCV (scv_text_log.h), a database of LWTR (lwtr_log.h), one of your own.
class transaction_log {
 public:
  virtual ~transaction_log() = default;
  /// A new stream of transactions, such as the traffic of one socket. Returns its number.
  virtual unsigned add_stream(const std::string& name) = 0;
  /// A transaction of that stream and of a kind ("load") begins. Returns its number. `when` may be later than now.
  virtual std::uint64_t begin(unsigned stream, const std::string& kind, const sc_core::sc_time& when,
                              const attributes& known) = 0;
  /// It ends, which `when` may be later than now, with attributes that became known.
  virtual void end(std::uint64_t transaction, const sc_core::sc_time& when, const attributes& known) = 0;
};

}  // namespace standards
