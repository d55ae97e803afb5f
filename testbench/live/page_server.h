// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace heddle::testbench {

/// A request of a browser: "/step", {"cycles": "100"}.
struct page_request {
  bool changes = false;  // POST; else GET
  std::string path;
  std::map<std::string, std::string> parameters;
};

struct page_answer {
  unsigned status = 200;
  const char* type = "application/json";
  std::string body;
};

/// Takes the answer to a request; may be called on any thread, once.
using page_reply = std::function<void(page_answer)>;

/// Answers the requests to a page_server.
class page_handler {
 public:
  /// Called on the server's thread, which it must not hold up.
  virtual void answer(const page_request& r, const page_reply& reply) = 0;

 protected:
  ~page_handler() = default;
};

/// An HTTP server for programs of this machine alone: it listens on 127.0.0.1, and refuses requests whose Host is
/// another one, which come from pages of other places. It runs on a thread of its own.
class page_server {
 public:
  /// A GET of `events_path` is answered by server-sent events: once a second, what `handler` says to this path.
  /// `port` 0: a free one. `handler` outlives the server. Throws input_error, naming `option`, if the port cannot be
  /// used.
  page_server(std::uint16_t port, const std::string& option, std::string events_path, page_handler& handler);
  /// Ends all connections.
  ~page_server();
  page_server(const page_server&) = delete;
  page_server& operator=(const page_server&) = delete;

  [[nodiscard]] std::uint16_t port() const;

 private:
  class implementation;
  std::unique_ptr<implementation> own_;
};

}  // namespace heddle::testbench
