// SPDX-License-Identifier: MIT
// Runs whose page is served (--serve), and requests to it.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/common/program_run.h"
#include "tests/system/common/text_file.h"

namespace live_page_test {

namespace fs = std::filesystem;
using heddle::test::content;
using heddle::test::outcome;
using json = nlohmann::json;
using words = std::vector<std::string>;

// Each thread sums loaded values `turns` times and stores the sum. Line 17 adds up an address.
inline const char* const long_kernel = R"(.version 7.0
.target sm_60
.address_size 64
.visible .entry adds(.param .u64 data, .param .u32 turns)
{
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [turns];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r2, %r2, %r3, %r4;
again:
  and.b32 %r5, %r2, 16383;
  mad.wide.u32 %rd2, %r5, 4, %rd1;
  ld.global.u32 %r6, [%rd2];
  add.u32 %r2, %r2, %r6;
  add.u32 %r2, %r2, 67;
  st.global.u32 [%rd2], %r2;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p, %r1, 0;
  @%p bra again;
  ret;
}
)";

// ----- HTTP -----

struct answer {
  int status = 0;  // 0: none
  std::string type, body;
};

/// A connection to a port of this machine.
class line {
 public:
  explicit line(unsigned port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval patience{100, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in at = local(port);
    open_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0;
  }
  line(const line&) = delete;
  line& operator=(const line&) = delete;
  ~line() { ::close(socket_); }
  static sockaddr_in local(unsigned port) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<std::uint16_t>(port));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return at;
  }
  void send(const std::string& text, bool last = false) const {
    for (std::size_t done = 0; open_ && done < text.size();) {
      const ssize_t n = ::send(socket_, text.data() + done, text.size() - done, MSG_NOSIGNAL);
      if (n <= 0) break;
      done += static_cast<std::size_t>(n);
    }
    if (last) ::shutdown(socket_, SHUT_WR);
  }
  /// What comes up to `end`, or until the connection ends.
  [[nodiscard]] std::string receive(const std::string& end = "") const {
    std::string text;
    char block[1 << 16];
    for (ssize_t n = 0; open_ && (end.empty() || text.find(end) == std::string::npos) &&
                        (n = ::recv(socket_, block, sizeof block, 0)) > 0;)
      text.append(block, static_cast<std::size_t>(n));
    return text;
  }

 private:
  int socket_;
  bool open_ = false;
};

inline answer answer_of(const std::string& text) {
  answer a;
  const std::size_t head = text.find("\r\n\r\n"), type = text.find("Content-Type: ");
  if (text.rfind("HTTP/1.1 ", 0) != 0 || head == std::string::npos) return a;
  a.status = std::atoi(text.c_str() + 9);
  if (type < head) a.type = text.substr(type + 14, text.find('\r', type) - type - 14);
  a.body = text.substr(head + 4);
  return a;
}

inline answer ask(unsigned port, const std::string& method_and_target,
                  const std::string& headers = "Host: 127.0.0.1\r\n") {
  const line to(port);
  to.send(method_and_target + " HTTP/1.1\r\n" + headers + "Connection: close\r\n\r\n");
  return answer_of(to.receive());
}

inline const char* const by_page = "Host: localhost\r\nX-Heddle: 1\r\nContent-Length: 0\r\n";

// ----- Runs -----

class live_page : public ::testing::Test {
 protected:
  live_page() {
    std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::replace(name.begin(), name.end(), '/', '_');
    place_ = fs::path(HEDDLE_SCRATCH "/live_page") / name;
    fs::remove_all(place_);
    fs::create_directories(place_);
    write("k.ptx", long_kernel);
  }
  ~live_page() override { end(SIGKILL); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(place_ / name, std::ios::binary) << text;
  }
  [[nodiscard]] json metrics(const std::string& name) const {
    json m = json::parse(content(place_ / name), nullptr, false);
    EXPECT_TRUE(m.is_object()) << name;
    m.erase("host");
    return m;
  }
  /// A job of 12 blocks; a turn takes a few hundred cycles, 300 of them about a second of processor time.
  words job(unsigned turns, const std::string& gpu = "v100") const {
    const json launch = {
        {"kernel", "adds"}, {"grid", {12}}, {"block", {128}}, {"args", {{{"buffer", "b"}}, {{"u32", turns}}}}};
    write("job.json", json({{"module", "k.ptx"},
                            {"buffers", {{"b", {{"bytes", 65536}}}}},
                            {"launches", {launch}},
                            {"outputs", {{{"buffer", "b"}, {"file", "b.bin"}}}}})
                          .dump());
    return {"run", "job.json", "--gpu", gpu, "--quiet", "--metrics", "m.json"};
  }

  [[nodiscard]] heddle::test::program_start how() const { return {place_, "stdout", "stderr", 300}; }
  /// `options` stand behind the command's name.
  static words command(words arguments, const words& options = {}) {
    arguments.insert(arguments.begin() + 1, options.begin(), options.end());
    arguments.insert(arguments.begin(), HEDDLE_PROGRAM);
    return arguments;
  }
  [[nodiscard]] outcome run(const words& arguments, const words& options = {}) const {
    return heddle::test::run_program(command(arguments, options), how());
  }
  /// Starts it and waits for the page's address.
  void serve(const words& arguments, words options = {"--serve-control"}) {
    options.insert(options.end(), {"--serve", "0"});
    fs::remove(place_ / "stderr");  // an earlier run's names another port
    child_ = heddle::test::start_program(command(arguments, options), how());
    const std::string before = "heddle: the page of this run: http://127.0.0.1:";
    for (;; ::usleep(1000)) {
      const std::string said = content(place_ / "stderr");
      const std::size_t at = said.find(before), end = said.find("/\n", at);
      if (at != std::string::npos && end != std::string::npos) {
        port_ = static_cast<unsigned>(std::stoul(said.substr(at + before.size())));
        return;
      }
      if (::waitpid(child_, nullptr, WNOHANG) == 0) continue;
      child_ = -1;
      throw std::runtime_error("the run has ended: " + said);
    }
  }
  void serve_and_pause_before(std::uint64_t cycle);
  /// The exit code; `number`: a signal before.
  int end(int number = 0) {
    if (child_ <= 0) return -1;
    if (number != 0) ::kill(child_, number);
    const int code = heddle::test::exit_code_of(child_);
    child_ = -1;
    return code;
  }

  [[nodiscard]] answer get(const std::string& target) const { return ask(port_, "GET " + target); }
  [[nodiscard]] json got(const std::string& target) const {
    const answer a = get(target);
    EXPECT_EQ(a.status, 200) << target << " " << a.body.substr(0, 1000);
    EXPECT_EQ(a.type, "application/json");
    return json::parse(a.body, nullptr, false);
  }
  json order(const std::string& target) const {
    const answer a = ask(port_, "POST " + target, by_page);
    EXPECT_EQ(a.status, 200) << target << " " << a.body.substr(0, 1000);
    return json::parse(a.body, nullptr, false);
  }
  /// The state as soon as the run is paused.
  json paused() const {
    for (;; ::usleep(1000)) {
      json s = got("/state");
      if (!s.is_object() || s["paused"] == true || HasFailure()) return s;
    }
  }
  json paused_at(const std::string& where) const {
    EXPECT_EQ(order("/break?" + where)["break"].is_string(), true);
    order("/resume");
    return paused();
  }

  /// Waits until it answers: it has at most 64 connections, and notices after a while that a browser has gone.
  [[nodiscard]] bool answers_again() const {
    for (unsigned k = 0; k < 10000; ++k, ::usleep(1000))
      if (get("/state").status == 200) return true;
    return false;
  }

  void looks_everywhere(const json& s) const {
    EXPECT_EQ(get("/").type, "text/html; charset=utf-8");
    EXPECT_EQ(got("/metrics")["snapshot_cycle"], s["cycle"]);
    EXPECT_EQ(got("/report")["files"].size(), 1u);
    for (std::size_t k = 0; k < s["sms"].size(); ++k) {
      const json sm = got("/sm?number=" + std::to_string(k));
      EXPECT_EQ(sm["cycle"], s["cycle"]);
      EXPECT_EQ(sm["warps"].size(), s["sms"][k]["warps"]) << k;
    }
    const line events(port_);
    events.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const std::string text = events.receive("}\n\n");
    const std::size_t data = text.find("\r\n\r\ndata: ");
    ASSERT_NE(data, std::string::npos) << text.substr(0, 1000);
    EXPECT_EQ(json::parse(text.substr(data + 10), nullptr, false)["cycle"], s["cycle"]);
  }

  /// A run that is asked and paused has the results of one that is not served.
  void is_undisturbed(const words& arguments, const words& files) {
    const outcome alone = run(arguments);
    ASSERT_EQ(alone.code, 0) << alone.err;
    const json expected = metrics("m.json");
    std::vector<std::string> contents;
    for (const std::string& file : files) contents.push_back(content(place_ / file));
    serve(arguments);
    order("/pause");
    json s = paused();
    EXPECT_EQ(s["paused_by"], "asked by the page");
    const std::uint64_t middle = s["cycle"].get<std::uint64_t>() + 3000;
    s = paused_at("cycle=" + std::to_string(middle));
    ASSERT_EQ(s["cycle"], middle);
    looks_everywhere(s);
    for (const std::uint64_t n : {1u, 7u, 1500u}) {
      const std::uint64_t before = s["cycle"];
      order("/step?cycles=" + std::to_string(n));
      s = paused();
      ASSERT_EQ(s["cycle"], before + n);
      EXPECT_EQ(s["paused_by"], "step");
    }
    EXPECT_EQ(order("/resume")["paused"], false);
    unsigned answered = 0;
    for (const char* target = "/state"; get(target).status == 200; ++answered)
      target = answered % 8 == 5 ? "/metrics" : answered % 8 == 7 ? "/sm?number=1" : "/state";
    EXPECT_GT(answered, 0u);
    EXPECT_EQ(end(), 0);
    EXPECT_EQ(content(place_ / "stdout"), alone.out);
    EXPECT_TRUE(metrics("m.json") == expected) << json::diff(expected, metrics("m.json")).dump(1).substr(0, 2000);
    for (std::size_t k = 0; k < files.size(); ++k) EXPECT_TRUE(content(place_ / files[k]) == contents[k]) << files[k];
  }

  fs::path place_;
  pid_t child_ = -1;
  unsigned port_ = 0;
};

}  // namespace live_page_test
