// SPDX-License-Identifier: MIT
// Needs LWTR4SC (lightweight transaction recording for SystemC).
#pragma once

#include <lwtr/lwtr.h>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "testbench/standards/transaction_log.h"

namespace standards {

/// A database of LWTR: FILE.ftr, compressed. One at a time.
class lwtr_log : public transaction_log {
 public:
  explicit lwtr_log(const std::string& file) : database_(begun(file), sc_core::SC_PS) {}

  unsigned add_stream(const std::string& name) override {
    streams_.push_back(std::make_unique<lwtr::tx_fiber>(name, "TLM", &database_));
    return static_cast<unsigned>(streams_.size() - 1);
  }
  std::uint64_t begin(unsigned stream, const std::string& kind, const sc_core::sc_time& when,
                      const attributes& known) override {
    auto& generator = generators_[std::pair(stream, kind)];
    if (generator == nullptr) generator = std::make_unique<lwtr::tx_generator<>>(kind.c_str(), *streams_[stream]);
    open_[++last_] = generator->begin_tx_delayed(when);
    write(open_[last_], known);
    return last_;
  }
  void end(std::uint64_t transaction, const sc_core::sc_time& when, const attributes& known) override {
    const auto handle = open_.find(transaction);
    write(handle->second, known);
    handle->second.end_tx_delayed(when);
    open_.erase(handle);
  }

 private:
  static const std::string& begun(const std::string& file) {
    lwtr::tx_ftr_init(true);
    return file;
  }
  static void write(lwtr::tx_handle& handle, const attributes& known) {
    for (const auto& [name, value] : known) {
      const char* const attribute_name = name;
      std::visit([&](const auto& v) { handle.record_attribute(attribute_name, v); }, value);
    }
  }

  lwtr::tx_db database_;
  std::vector<std::unique_ptr<lwtr::tx_fiber>> streams_;
  std::map<std::pair<unsigned, std::string>, std::unique_ptr<lwtr::tx_generator<>>> generators_;
  std::map<std::uint64_t, lwtr::tx_handle> open_;
  std::uint64_t last_ = 0;
};

}  // namespace standards
