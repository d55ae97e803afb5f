// SPDX-License-Identifier: MIT
#include "testbench/live/page_server.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <csignal>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "heddle/config/error.h"

namespace heddle::testbench {

namespace {

namespace beast = boost::beast;
namespace http = beast::http;
namespace net = boost::asio;
using tcp = net::ip::tcp;
using error_code = boost::system::error_code;

constexpr std::size_t most_connections = 64, most_events = 32;
constexpr std::size_t most_header_bytes = 8192, most_body_bytes = 4096;
constexpr std::chrono::seconds silence(30);  // of a browser that keeps a connection
constexpr std::chrono::seconds event_interval(1);

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// "a%20b+c" is "a b c".
std::string decoded(std::string_view text) {
  std::string plain;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const bool escaped =
        text[k] == '%' && k + 2 < text.size() && digit_of(text[k + 1]) >= 0 && digit_of(text[k + 2]) >= 0;
    plain += escaped          ? static_cast<char>(digit_of(text[k + 1]) * 16 + digit_of(text[k + 2]))
             : text[k] == '+' ? ' '
                              : text[k];
    if (escaped) k += 2;
  }
  return plain;
}

page_request request_of(bool changes, std::string_view target) {
  page_request r;
  r.changes = changes;
  const std::size_t query = target.find('?');
  r.path = target.substr(0, query);
  std::string_view rest = query == std::string_view::npos ? std::string_view() : target.substr(query + 1);
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    const std::size_t equals = part.find('=');
    if (equals != std::string_view::npos)
      r.parameters[decoded(part.substr(0, equals))] = decoded(part.substr(equals + 1));
  }
  return r;
}

// A page of another place may have a name of its own that leads to this machine (DNS rebinding).
bool is_of_this_machine(std::string_view host) {
  const std::size_t port = host.rfind(':');
  const std::string_view name = host.substr(0, port);
  return name == "127.0.0.1" || name == "localhost";
}

page_answer refusal(unsigned status, const std::string& why) {
  return {status, "text/plain; charset=utf-8", why + "\n"};
}

using response = http::response<http::string_body>;

response response_of(page_answer a, unsigned version, bool keeps) {
  response r{static_cast<http::status>(a.status), version};
  r.set(http::field::content_type, a.type);
  r.set(http::field::cache_control, "no-store");
  r.set("X-Content-Type-Options", "nosniff");
  r.set("X-Frame-Options", "DENY");
  r.keep_alive(keeps);
  r.body() = std::move(a.body);
  r.prepare_payload();
  return r;
}

}  // namespace

class page_server::implementation {
 public:
  implementation(std::uint16_t port, const std::string& option, std::string events_path, page_handler& handler)
      : events_path_(std::move(events_path)), handler_(handler) {
    try {
      const tcp::endpoint place(net::ip::address_v4::loopback(), port);
      acceptor_.open(place.protocol());
      acceptor_.set_option(tcp::acceptor::reuse_address(true));
      acceptor_.bind(place);
      acceptor_.listen();
    } catch (const boost::system::system_error& e) {
      throw input_error(option + ": port " + std::to_string(port) + " cannot be used: " + e.code().message());
    }
    accept();
    // Signals are for the simulation's thread.
    sigset_t all{}, before{};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { context_.run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  ~implementation() {
    context_.stop();
    thread_.join();
  }

  [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

 private:
  // A connection lives as long as an operation on it has not ended.
  class connection : public std::enable_shared_from_this<connection> {
   public:
    connection(implementation& server, tcp::socket socket) : server_(server), stream_(std::move(socket)) {
      ++server_.connections_;
    }
    ~connection() {
      --server_.connections_;
      if (has_events_) --server_.events_;
    }

    void read() {
      parser_.emplace();
      parser_->header_limit(most_header_bytes);
      parser_->body_limit(most_body_bytes);
      stream_.expires_after(silence);
      http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](error_code error, std::size_t) {
        if (error == http::error::end_of_stream || error == beast::error::timeout) return;
        if (error) return self->write(refusal(400, "expected an HTTP request"), false);
        self->handle();
      });
    }

   private:
    void handle() {
      const auto& r = parser_->get();
      const bool keeps = r.keep_alive();
      const std::string_view host(r[http::field::host].data(), r[http::field::host].size());
      if (!is_of_this_machine(host)) return write(refusal(403, "expected 127.0.0.1 or localhost as the Host"), keeps);
      const bool changes = r.method() == http::verb::post;
      if (!changes && r.method() != http::verb::get) return write(refusal(405, "expected GET or POST"), keeps);
      // Browsers let pages of other places send POST, but not with a header of one's own.
      if (changes && r["X-Heddle"] != "1") return write(refusal(403, "expected the header X-Heddle: 1"), keeps);
      page_request asked = request_of(changes, {r.target().data(), r.target().size()});
      if (!changes && asked.path == server_.events_path_) return begin_events(std::move(asked));
      server_.ask(asked, [self = shared_from_this(), keeps](page_answer a) { self->write(std::move(a), keeps); });
    }

    void write(page_answer a, bool keeps) {
      response_ = response_of(std::move(a), parser_->get().version() == 10 ? 10 : 11, keeps);
      stream_.expires_after(silence);
      http::async_write(stream_, *response_, [self = shared_from_this(), keeps](error_code error, std::size_t) {
        if (error) return;
        if (keeps) return self->read();
        self->stream_.socket().shutdown(tcp::socket::shutdown_send, error);
      });
    }

    void begin_events(page_request asked) {
      if (server_.events_ == most_events)
        return write(refusal(503, "there are " + std::to_string(most_events) + " of these already"), false);
      ++server_.events_;
      has_events_ = true;
      asked_ = std::move(asked);
      write_text(
          "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
          "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
          std::chrono::seconds(0));
    }

    void write_text(std::string text, std::chrono::seconds pause) {
      text_ = std::move(text);
      stream_.expires_after(silence);
      net::async_write(stream_, net::buffer(text_), [self = shared_from_this(), pause](error_code error, std::size_t) {
        if (error) return;
        self->stream_.expires_never();
        self->timer_.expires_after(pause);
        self->timer_.async_wait([self](error_code ended) {
          if (!ended) self->write_event();
        });
      });
    }

    void write_event() {
      server_.ask(asked_, [self = shared_from_this()](const page_answer& a) {
        self->write_text("data: " + a.body + "\n\n", event_interval);
      });
    }

    implementation& server_;
    beast::tcp_stream stream_;
    beast::flat_buffer buffer_{most_header_bytes + most_body_bytes};
    std::optional<http::request_parser<http::string_body>> parser_;
    std::optional<response> response_;
    bool has_events_ = false;
    page_request asked_;  // of events
    std::string text_;
    net::steady_timer timer_{stream_.get_executor()};
  };

  void accept() {
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
      if (!error && connections_ < most_connections) std::make_shared<connection>(*this, std::move(socket))->read();
      if (acceptor_.is_open()) accept();
    });
  }

  // The answer may come on another thread.
  void ask(const page_request& asked, page_reply then) {
    // `then` holds the connection, which may end on the server's thread alone.
    handler_.answer(asked, [this, then = std::move(then)](page_answer a) mutable {
      net::post(context_, [then = std::move(then), a = std::move(a)]() mutable { then(std::move(a)); });
    });
  }

  const std::string events_path_;
  page_handler& handler_;
  std::size_t connections_ = 0, events_ = 0;
  net::io_context context_{1};
  tcp::acceptor acceptor_{context_};
  std::thread thread_;
};

page_server::page_server(std::uint16_t port, const std::string& option, std::string events_path, page_handler& handler)
    : own_(std::make_unique<implementation>(port, option, std::move(events_path), handler)) {}

page_server::~page_server() = default;

std::uint16_t page_server::port() const { return own_->port(); }

}  // namespace heddle::testbench
