// SPDX-License-Identifier: MIT
#pragma once

#include <fstream>
#include <map>
#include <utility>

#include "testbench/standards/transaction_log.h"

namespace standards {

/// The text database of the SystemC Verification Library (SCV), which its viewers read; needs no library.
class scv_text_log : public transaction_log {
 public:
  explicit scv_text_log(const std::string& file) : out_(file) {}
  [[nodiscard]] bool good() const { return out_.good(); }

  unsigned add_stream(const std::string& name) override {
    out_ << "scv_tr_stream (ID " << ++last_id_ << ", name \"" << name << "\", kind \"TLM\")\n";
    return last_id_;
  }
  std::uint64_t begin(unsigned stream, const std::string& kind, const sc_core::sc_time& when,
                      const attributes& known) override {
    const auto [generator, is_new] = generators_.emplace(std::pair(stream, kind), last_id_ + 1);
    if (is_new)
      out_ << "scv_tr_generator (ID " << ++last_id_ << ", name \"" << kind << "\", scv_tr_stream " << stream
           << ",\n)\n";
    open_[++last_transaction_] = generator->second;
    out_ << "tx_begin " << last_transaction_ << " " << generator->second << " " << when.to_string() << "\n";
    write(last_transaction_, known);
    return last_transaction_;
  }
  void end(std::uint64_t transaction, const sc_core::sc_time& when, const attributes& known) override {
    const auto generator = open_.find(transaction);
    write(transaction, known);
    out_ << "tx_end " << transaction << " " << generator->second << " " << when.to_string() << "\n";
    open_.erase(generator);
  }

 private:
  void write(std::uint64_t transaction, const attributes& known) {
    for (const auto& [name, value] : known) {
      out_ << "tx_record_attribute " << transaction << " \"" << name << "\" ";
      if (const auto* number = std::get_if<std::uint64_t>(&value)) out_ << "UNSIGNED = " << *number << "\n";
      else if (const auto* flag = std::get_if<bool>(&value)) out_ << "BOOLEAN = " << (*flag ? "true" : "false") << "\n";
      else out_ << "STRING = \"" << std::get<std::string>(value) << "\"\n";
    }
  }

  std::ofstream out_;
  unsigned last_id_ = 0;
  std::uint64_t last_transaction_ = 0;
  std::map<std::pair<unsigned, std::string>, unsigned> generators_;
  std::map<std::uint64_t, unsigned> open_;  // generator of each transaction that has not ended
};

}  // namespace standards
