// SPDX-License-Identifier: MIT
#include "testbench/cuda/core/simulator_start.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "testbench/exec/wire.h"

extern char** environ;

namespace heddle::cuda {

namespace {

constexpr int line_number = 3;          // descriptor of the simulator's end of the lifeline socket
constexpr std::size_t most_name = 100;  // of a socket address

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
char own_address[most_name + 1];
// The other end of a socket pair. Its closing tells the simulator that this program and all processes forked from it
// have ended.
int line = -1;

// The environment's HEDDLE_ variables when the library was loaded: programs may clear theirs before their first call.
std::vector<char*>* at_load = nullptr;

// With the GNU C library, constructors get what main() gets. `environ` may not be set yet.
[[gnu::constructor]] void keep_settings(int, char**, char** environment) {
  at_load = new std::vector<char*>;  // for ever: calls may be made while the program's variables are destroyed
  for (char** e = environment; e != nullptr && *e != nullptr; ++e)
    if (std::strncmp(*e, "HEDDLE_", std::strlen("HEDDLE_")) == 0) at_load->push_back(::strdup(*e));
}

const char* setting(const std::string& name) {
  if (const char* now = std::getenv(name.c_str())) return now;
  if (at_load == nullptr) return nullptr;
  for (const char* e : *at_load)
    if (std::strncmp(e, (name + "=").c_str(), name.size() + 1) == 0) return e + name.size() + 1;
  return nullptr;
}

// True for an executable file; a folder of libraries has the same name.
bool is_program(const std::string& path) {
  struct stat s;
  return ::stat(path.c_str(), &s) == 0 && S_ISREG(s.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

/// The program's path relative to the library in a build tree and in an installed one, unless HEDDLE_PROGRAM names it.
std::string simulator_program() {
  if (const char* named = setting("HEDDLE_PROGRAM")) return named;
  Dl_info self;
  if (::dladdr(reinterpret_cast<void*>(&simulator_program), &self) == 0 || self.dli_fname == nullptr) return "";
  const std::string file = self.dli_fname;
  const std::size_t slash = file.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : file.substr(0, slash);
  for (const char* where : {"/../heddle", HEDDLE_PROGRAM_FOLDER "/heddle"})
    if (is_program(folder + where)) return folder + where;
  return "";
}

// fork() without the program's atfork handlers. No SIGCHLD is sent, a wait() in the program does not see the child,
// and a debugger is not notified.
pid_t quiet_fork() {
  return static_cast<pid_t>(
      ::syscall(SYS_clone, static_cast<unsigned long>(CLONE_UNTRACED), nullptr, nullptr, nullptr, nullptr));
}

// Runs in the new process, where only system calls are allowed.
[[noreturn]] void become_simulator(int end, char* const* arguments, char* const* environment) {
  if (quiet_fork() != 0) ::_exit(0);  // so that it is not a child of the program
  ::setsid();                         // own process group: Ctrl-C goes to the program or its debugger
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nothing = ::open("/dev/null", O_RDWR);
  ::dup2(nothing, 0);
  if (end != line_number) ::dup2(end, line_number);
  if (::syscall(SYS_close_range, line_number + 1, ~0U, 0) != 0)
    for (int fd = line_number + 1; fd < 1024; ++fd) ::close(fd);
  ::fcntl(line_number, F_SETFD, 0);
  ::execve(arguments[0], arguments, environment);
  ::_exit(127);
}

// Reads a line without its end. False: the line has no end.
bool read_line(int from, char* text, std::size_t most) {
  std::size_t got = 0;
  while (got < most) {
    char next = 0;
    const ssize_t n = ::read(from, &next, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    if (next == '\n') break;
    text[got++] = next;
  }
  text[got] = 0;
  return got < most;
}

// A file's name without the characters that a terminal interprets.
std::string shown(const std::string& name) {
  std::string text;
  for (const char c : name) {
    char code[8];
    std::snprintf(code, sizeof code, "\\x%02x", static_cast<unsigned char>(c));
    text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? std::string(code) : std::string(1, c);
  }
  return text;
}

[[noreturn]] void give_up() {
  std::fflush(stdout);
  ::_exit(2);
}

[[noreturn]] void give_up(const std::string& program, const char* why) {
  std::fprintf(stderr, "heddle: error: the simulator '%s'%s cannot be started: %s\n", shown(program).c_str(),
               setting("HEDDLE_PROGRAM") != nullptr ? ", which HEDDLE_PROGRAM names," : "", why);
  give_up();
}

bool start() {
  const std::string program = simulator_program();
  if (program.empty()) {
    static bool warned = false;
    if (!warned)
      std::fputs(
          "heddle: error: neither was the program started with heddle exec, nor does HEDDLE_PROGRAM name the program heddle\n",
          stderr);
    warned = true;
    return false;
  }
  struct stat status;
  if (::stat(program.c_str(), &status) != 0) give_up(program, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) give_up(program, "it is a directory");
  if (!is_program(program)) give_up(program, "it is not an executable file");
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
  // Not one of the first three descriptors, which are kept.
  const int theirs = ::fcntl(ends[1], F_DUPFD_CLOEXEC, line_number);
  ::close(ends[1]);
  std::vector<char*> environment;
  for (char** e = environ; e != nullptr && *e != nullptr; ++e)
    if (std::strncmp(*e, "LD_PRELOAD=", std::strlen("LD_PRELOAD=")) != 0) environment.push_back(*e);
  if (at_load != nullptr)
    for (char* e : *at_load)
      if (std::getenv(std::string(e, std::strchr(e, '=')).c_str()) == nullptr) environment.push_back(e);
  environment.push_back(nullptr);
  std::string path = program, request = "__attach";
  char* arguments[] = {path.data(), request.data(), nullptr};
  std::fflush(stdout);
  const pid_t process = quiet_fork();
  if (process == 0) become_simulator(theirs, arguments, environment.data());
  ::close(theirs);
  if (process > 0)
    while (::waitpid(process, nullptr, __WALL) < 0 && errno == EINTR) {}
  char first[most_name + 1];
  if (!read_line(ends[0], first, most_name) || wire::protocol_line() != first)
    give_up(program, "it is not this version of the program heddle");
  if (!read_line(ends[0], own_address, most_name)) give_up();  // the simulator has printed the reason
  line = ends[0];
  return true;
}

}  // namespace

const char* simulator_address() {
  if (const char* name = setting("HEDDLE_SOCKET")) return name;
  static const bool at_fork =
      ::pthread_atfork([] { ::pthread_mutex_lock(&mutex); }, [] { ::pthread_mutex_unlock(&mutex); },
                       [] { ::pthread_mutex_unlock(&mutex); }) == 0;
  static_cast<void>(at_fork);
  ::pthread_mutex_lock(&mutex);
  const bool there = line >= 0 || start();
  ::pthread_mutex_unlock(&mutex);
  return there ? own_address : nullptr;
}

bool simulator_is_own() { return line >= 0; }

void forget_simulator() {
  ::pthread_mutex_lock(&mutex);
  if (line >= 0) ::close(line);
  line = -1;
  ::pthread_mutex_unlock(&mutex);
}

}  // namespace heddle::cuda
