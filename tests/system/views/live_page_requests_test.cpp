// SPDX-License-Identifier: MIT
// Requests that the page of a run in progress refuses, or survives.
#include <memory>
#include <random>
#include <utility>

#include "tests/system/views/live_page_fixture.h"

namespace live_page_test {

// ----- What it refuses -----

TEST_F(live_page, refuses_what_it_does_not_know) {
  serve_and_pause_before(3000);
  const std::string own = by_page, foreign = "Host: heddle.example:80\r\nX-Heddle: 1\r\nContent-Length: 0\r\n";
  const struct {
    const char* what;
    std::string headers;
    int status;
  } all[] = {{"GET /state", foreign, 403},
             {"GET /", "", 403},
             {"GET /", "Host: 127.0.0.1.example\r\n", 403},
             {"POST /resume", foreign, 403},
             {"POST /resume", "Host: localhost\r\nContent-Length: 0\r\n", 403},
             {"POST /resume", "Host: localhost\r\nX-Heddle: 2\r\nContent-Length: 0\r\n", 403},
             {"GET /resume", own, 404},
             {"GET /nothing", own, 404},
             {"GET /../etc/passwd", own, 404},
             {"POST /state", own, 404},
             {"POST /", own, 404},
             {"DELETE /state", own, 405},
             {"PUT /pause", own, 405},
             {"OPTIONS /resume", own, 405},
             {"GET /sm?number=80", own, 400},
             {"GET /sm?number=-1", own, 400},
             {"GET /sm?number=4294967296", own, 400},
             {"GET /sm?number=one", own, 400},
             {"POST /step?cycles=1.5", own, 400},
             {"POST /step?cycles=1000000001", own, 400},
             {"POST /step?cycles=", own, 400},
             {"POST /break", own, 400},
             {"POST /break?place=3", own, 400},
             {"POST /break?cycle=5000&line=k.ptx:17", own, 400},
             {"POST /break?cycle=3000", own, 400},
             {"POST /break?cycle=", own, 400},
             {"POST /break?cycle=99999999999999999999", own, 400},
             {"POST /break?line=k.ptx", own, 400},
             {"POST /break?line=:17", own, 400},
             {"POST /break?line=k.ptx:0", own, 400},
             {"POST /break?line=k.ptx:4294967296", own, 400},
             {"POST /break?condition=cycles", own, 400},
             {"POST /break?condition=cycles+%3E+1+2", own, 400},
             {"POST /break?condition=cycles+%3D%3E+1", own, 400},
             {"POST /break?condition=cycles+%3E+many", own, 400},
             {"POST /break?condition=kernels.0.nothing+%3E+1", own, 400},
             {"POST /break?condition=kernels.0+%3E+1", own, 400},
             {"POST /break?condition=kernels.18446744073709551615.cycles+%3E+1", own, 400},
             {"POST /break?condition=kernels.99999999999999999999.cycles+%3E+1", own, 400},
             {"POST /break?condition=kernels.007.cycles+%3E+1", own, 400},
             {"POST /break?condition=cycles+%3E+nan", own, 400},
             {"POST /break?condition=kernels.0%0A.%00~2+%3E+1", own, 400}};
  for (const auto& one : all) {
    const answer a = ask(port_, one.what, one.headers);
    EXPECT_EQ(a.status, one.status) << one.what << " " << a.body;
    EXPECT_EQ(a.type, "text/plain; charset=utf-8") << one.what;
    EXPECT_EQ(std::count(a.body.begin(), a.body.end(), '\n'), 1) << one.what << " " << a.body;
    EXPECT_GT(a.body.size(), 10u) << one.what;
  }
  const json s = got("/state");
  EXPECT_EQ(s["cycle"], 3000);
  EXPECT_EQ(s["break"], json());
}

TEST_F(live_page, cannot_be_steered_unless_that_was_allowed) {
  serve(job(100000), {});
  for (const char* target : {"/pause", "/resume", "/step", "/break?cycle=1000000000", "/unbreak"})
    EXPECT_EQ(ask(port_, std::string("POST ") + target, by_page).status, 403) << target;
  EXPECT_EQ(got("/state")["paused"], false);
}

TEST_F(live_page, is_refused_with_one_line_and_no_file) {
  sockaddr_in at = line::local(0);
  socklen_t size = sizeof at;
  const int taken = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(taken, reinterpret_cast<sockaddr*>(&at), size), 0);
  ASSERT_EQ(::listen(taken, 1), 0);
  ::getsockname(taken, reinterpret_cast<sockaddr*>(&at), &size);
  const words small = job(1);
  const words program = {"exec",
                         "--gpu",
                         "v100",
                         "--metrics",
                         "m.json",
                         "--",
                         HEDDLE_CUDA_PROGRAMS,
                         HEDDLE_SOURCE "/tests/system/cuda/kernels.fatbin",
                         "vectors"};
  const std::string in_use = std::to_string(ntohs(at.sin_port));
  for (const auto& [arguments, options] :
       {std::pair(small, words{"--serve", in_use}), std::pair(program, words{"--serve", in_use}),
        std::pair(small, words{"--serve-control"}), std::pair(small, words{"--serve", "70000"}),
        std::pair(small, words{"--serve", "-1"}), std::pair(small, words{"--serve", "http"})}) {
    const outcome o = run(arguments, options);
    EXPECT_EQ(o.code, 2) << options.back();
    EXPECT_EQ(o.err.rfind("heddle: error: --serve", 0), 0u) << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    EXPECT_EQ(o.out, "");
    for (const char* file : {"m.json", "b.bin"}) EXPECT_FALSE(fs::exists(place_ / file)) << file;
  }
  ::close(taken);
}

// ----- Whatever comes -----

class disorder {
 public:
  std::size_t below(std::size_t n) { return random_() % n; }
  std::string bytes(std::size_t n) {
    std::string text;
    while (text.size() < n) text += static_cast<char>(random_());
    return text;
  }
  std::string request() {
    static const words targets = {"GET /state",
                                  "GET /sm?number=7",
                                  "GET /sm?number=99",
                                  "GET /%00%ff%zz?&&=&%3d",
                                  "HEAD /",
                                  "POST /step?cycles=3",
                                  "POST /break?line=k.ptx:17",
                                  "POST /break?cycle=123456789012",
                                  "POST /break?condition=kernels.0.cycles+%3E+1e12",
                                  "POST /break?condition=nan",
                                  "POST /unbreak",
                                  "GET /metrics",
                                  "POST /pause",
                                  "POST /resume"};
    static const words headers = {"Host: localhost",
                                  "X-Heddle: 1",
                                  "Content-Length: 0",
                                  "Connection: close",
                                  "Content-Length: 99999999999",
                                  "Transfer-Encoding: chunked",
                                  "Expect: 100-continue",
                                  "Upgrade: h2c",
                                  "Host: 127.0.0.1:1",
                                  "no header",
                                  ": ",
                                  "\x80: \x80"};
    std::string text = targets[below(targets.size())] + (below(9) == 0 ? " HTTP/9.9" : " HTTP/1.1") + "\r\n";
    for (std::size_t k = 0; k < 4; ++k) text += headers[below(3) != 0 ? k : below(headers.size())] + "\r\n";
    if (below(20) == 0) text += "X: " + std::string(below(20000), 'x') + "\r\n";
    text += "\r\n";
    if (below(20) == 0) text += bytes(below(200000));
    if (below(4) == 0) text.resize(below(text.size()));
    for (std::size_t n = below(3) == 0 ? below(9) : 0; n > 0 && !text.empty(); --n)
      text[below(text.size())] = bytes(1)[0];
    return below(10) == 0 ? bytes(below(300)) : below(10) == 0 ? text + text : text;
  }

 private:
  std::mt19937 random_{27};
};

TEST_F(live_page, survives_any_request) {
  const char* const wanted = std::getenv("HEDDLE_LIVE_REQUESTS");
  const unsigned requests = wanted != nullptr ? static_cast<unsigned>(std::stoul(wanted)) : 2000;
  const words arguments = job(1000000);
  serve(arguments);
  disorder d;
  for (unsigned k = 0; k < requests && !HasFailure(); ++k) {
    if (k % 100 == 0 && answers_again()) order(k % 500 == 0 ? "/resume" : "/pause");
    const line to(port_);
    const bool last = d.below(4) != 0;  // else the server may wait for more of it
    to.send(k % 50 == 7 ? "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n" : d.request(), last);
    if (last && k % 50 != 7 && d.below(4) != 0) static_cast<void>(to.receive("\r\n\r\n"));
    if (k % 20 == 0) {
      ASSERT_TRUE(answers_again());
    }
  }
  std::vector<std::unique_ptr<line>> crowd;
  for (unsigned k = 0; k < 200; ++k) crowd.push_back(std::make_unique<line>(port_));
  crowd.clear();
  ASSERT_TRUE(answers_again());
  order("/pause");
  EXPECT_EQ(paused()["paused"], true);
  ASSERT_EQ(end(SIGINT), 130) << content(place_ / "stderr");
  json m = metrics("m.json");
  const std::uint64_t cycle = m["stopped_cycle"];
  RecordProperty("cycle", std::to_string(cycle));
  for (const char* mark : {"stopped", "stopped_cycle"}) m.erase(mark);
  EXPECT_EQ(run(arguments, {"--max-cycles", std::to_string(cycle)}).code, 1);
  EXPECT_TRUE(m == metrics("m.json")) << json::diff(m, metrics("m.json")).dump(1).substr(0, 2000);
}

}  // namespace live_page_test
