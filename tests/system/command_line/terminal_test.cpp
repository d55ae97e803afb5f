// SPDX-License-Identifier: MIT
// Output on a terminal: the progress line, a summary within 80 columns, colours where enabled.
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <regex>
#include <string>
#include <system_error>
#include <vector>

namespace terminal_test {

struct session {
  std::string seen;
  int code = -1;
};

/// Runs the program on a pseudo terminal of 80 columns; `environment`: variables in addition to TERM, "NAME=VALUE".
session on_a_terminal(std::vector<std::string> arguments, const std::vector<std::string>& environment = {}) {
  arguments.insert(arguments.begin(), HEDDLE_PROGRAM);
  winsize size{};
  size.ws_row = 25;
  size.ws_col = 80;
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child < 0) throw std::system_error(errno, std::generic_category(), "forkpty");
  if (child == 0) {
    ::setenv("TERM", "xterm", 1);
    ::unsetenv("NO_COLOR");
    for (const std::string& e : environment) ::putenv(const_cast<char*>(e.c_str()));
    std::vector<char*> argv;
    for (std::string& a : arguments) argv.push_back(a.data());
    argv.push_back(nullptr);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  session s;
  char part[4096];
  for (ssize_t n; (n = ::read(terminal, part, sizeof part)) > 0 || (n < 0 && errno == EINTR);)
    if (n > 0) s.seen.append(part, static_cast<std::size_t>(n));
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(terminal);
  s.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return s;
}

/// The final content of each line of a terminal of 80 columns, and the largest width of any line; a carriage return
/// moves back to the start of the line.
std::vector<std::string> shown_lines(const std::string& seen, std::size_t& widest) {
  std::vector<std::string> lines(1);
  std::size_t column = 0;
  for (std::size_t k = 0; k < seen.size(); ++k) {
    const char c = seen[k];
    if (c == '\033') {
      k = seen.find('m', k);
    } else if (c == '\n') {
      lines.emplace_back();
      column = 0;
    } else if (c == '\r') {
      column = 0;
    } else {
      if (lines.back().size() <= column) lines.back().resize(column + 1, ' ');
      lines.back()[column++] = c;
      widest = std::max(widest, column);
    }
  }
  return lines;
}

/// These tests need a pseudo terminal, which is missing in a container without /dev/pts.
class terminal : public ::testing::Test {
 protected:
  void SetUp() override {
    int master = -1;
    int slave = -1;
    if (::openpty(&master, &slave, nullptr, nullptr, nullptr) != 0)
      GTEST_SKIP() << "no pseudo terminal can be had here (" << std::strerror(errno) << "): is /dev/pts mounted?";
    ::close(master);
    ::close(slave);
  }
};

const std::vector<std::string> run = {"run", HEDDLE_WORKLOADS "/sgemm/job.json", "--gpu", "gtx1080"};
const std::vector<std::string> short_run = {"run", HEDDLE_WORKLOADS "/vector_add/job.json", "--gpu", "gtx1080"};

TEST_F(terminal, shows_progress_and_clears_it_for_a_summary_that_fits) {
  const session s = on_a_terminal(run);
  ASSERT_EQ(0, s.code) << s.seen;
  const std::regex line(
      "\rcycle [0-9,]+, blocks ([0-9]+)/256, [0-9.e+]+ M warp instructions/s(, [0-9:]+ (s|min|h) left)?");
  std::vector<unsigned> blocks;
  for (std::sregex_iterator i(s.seen.begin(), s.seen.end(), line), end; i != end; ++i)
    blocks.push_back(static_cast<unsigned>(std::stoul((*i)[1].str())));
  ASSERT_FALSE(blocks.empty()) << s.seen;
  EXPECT_TRUE(std::is_sorted(blocks.begin(), blocks.end()));
  EXPECT_EQ(256u, blocks.back());
  std::size_t widest = 0;
  const auto lines = shown_lines(s.seen, widest);
  EXPECT_LE(widest, 80u);
  bool summary = false, verdict = false;
  for (const std::string& l : lines) {
    EXPECT_EQ(std::string::npos, l.find("blocks 256/256")) << "the progress line is still there: " << l;
    summary = summary || l.find("sgemm  grid 16x16 x block 16x16 on gtx1080") == 0;
    verdict = verdict || (summary && l.find("  verdict         Bound by ") == 0);
  }
  EXPECT_TRUE(summary && verdict) << s.seen;
}

// Many launches are shown as a table; each line has all columns.
TEST_F(terminal, shows_many_launches_as_a_table_that_fits) {
  const session s = on_a_terminal(
      {"run", HEDDLE_WORKLOADS "/bitonic_sort/job.json", "--gpu", "gtx1080", "--progress", "never"}, {"NO_COLOR=1"});
  ASSERT_EQ(0, s.code) << s.seen;
  std::size_t widest = 0;
  unsigned rows = 0;
  bool heads = false;
  for (const std::string& l : shown_lines(s.seen, widest)) {
    heads = heads || std::regex_search(l, std::regex("^  kernel .* blocks +kernel cycles +IPC +occup\\.$"));
    if (l.find("  verdict ") == 0) continue;  // the verdict also names a kernel
    if (l.find("  sort_in_block ") == std::string::npos && l.find("  merge_step ") == std::string::npos) continue;
    ++rows;
    EXPECT_TRUE(std::regex_search(l, std::regex(" [0-9]+ +[0-9,]+ +[0-9.]+ +[01]\\.[0-9]{2}$"))) << l;
  }
  EXPECT_TRUE(heads) << s.seen;
  EXPECT_EQ(6u, rows) << s.seen;
  EXPECT_LE(widest, 80u);
}

TEST_F(terminal, shows_errors_red_and_headings_bold) {
  const session wrong = on_a_terminal({"run", "nosuch.json"});
  EXPECT_EQ(2, wrong.code);
  EXPECT_NE(std::string::npos, wrong.seen.find("heddle: \033[31merror\033[0m: ")) << wrong.seen;
  EXPECT_NE(std::string::npos, on_a_terminal({"--help"}).seen.find("\033[1mCommands:\033[0m"));
  EXPECT_NE(std::string::npos, on_a_terminal({"run", "--help"}).seen.find("\033[1mResults:\033[0m"));
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"run", "nosuch.json"}, {"--help"}, {"run", "--help"}})
    EXPECT_EQ(std::string::npos, on_a_terminal(arguments, {"NO_COLOR=1"}).seen.find('\033'));
}

TEST_F(terminal, has_colours_unless_they_are_unwanted) {
  EXPECT_NE(std::string::npos, on_a_terminal(short_run).seen.find("\033["));
  for (const char* unwanted : {"NO_COLOR=1", "TERM=dumb"})
    EXPECT_EQ(std::string::npos, on_a_terminal(short_run, {unwanted}).seen.find("\033[")) << unwanted;
  EXPECT_NE(std::string::npos, on_a_terminal(short_run, {"NO_COLOR="}).seen.find("\033["))
      << "empty: as if it were not set";
}

TEST_F(terminal, shows_no_progress_where_none_is_wanted) {
  auto never = run;
  never.insert(never.end(), {"--progress", "never", "--quiet"});
  EXPECT_EQ("", on_a_terminal(never).seen);
}

}  // namespace terminal_test
