// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

namespace heddle {

/// Interface to the receiver of the text that kernels print.
class print_observer {
 public:
  virtual ~print_observer() = default;
  virtual void printed(const std::string& text) = 0;
  /// The text is of launches of that client; 0: of none.
  virtual void printed_by(std::uint32_t client, const std::string& text) {
    static_cast<void>(client);
    printed(text);
  }
};

/// What kernels have printed, in the order of execution, divided by clients.
class printed_text_queue {
 public:
  void add(std::uint32_t client, const std::string& text) {
    if (text.empty()) return;
    if (parts_.empty() || parts_.back().client != client) parts_.push_back({client, {}});
    parts_.back().text += text;
    bytes_ += text.size();
  }
  /// The text of one client that comes first; empty: there is none.
  [[nodiscard]] const std::string& first() const { return parts_.empty() ? none_ : parts_.front().text; }
  [[nodiscard]] std::uint32_t client() const { return parts_.empty() ? 0 : parts_.front().client; }
  /// Of all parts.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Drops the first bytes, at most those of the first part.
  void drop(std::uint64_t bytes) {
    if (parts_.empty()) return;
    std::string& text = parts_.front().text;
    const std::size_t n = std::min<std::uint64_t>(bytes, text.size());
    text.erase(0, n);
    bytes_ -= n;
    if (text.empty()) parts_.pop_front();
  }
  void clear() {
    parts_.clear();
    bytes_ = 0;
  }
  template <class Image>
  void exchange(Image& image) {
    image(parts_, bytes_);
  }

 private:
  struct part {
    std::uint32_t client = 0;
    std::string text;
    template <class Image>
    void exchange(Image& image) {
      image(client, text);
    }
  };
  std::deque<part> parts_;
  std::size_t bytes_ = 0;
  std::string none_;
};

}  // namespace heddle
