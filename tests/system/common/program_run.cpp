// SPDX-License-Identifier: MIT
#include "program_run.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "sanitizer_remark.h"
#include "text_file.h"

namespace heddle::test {

pid_t start_program(std::vector<std::string> command, const program_start& how) {
  const pid_t child = fork();
  if (child != 0) return child;
  std::vector<char*> words;
  for (std::string& word : command) words.push_back(word.data());
  words.push_back(nullptr);
  if (how.own_group) setpgid(0, 0);
  if (chdir(how.folder.c_str()) != 0 || !freopen(how.out.c_str(), "w", stdout) ||
      !freopen(how.err.c_str(), "w", stderr))
    _exit(126);
  if (how.largest_file != 0) {
    const rlimit limit = {how.largest_file, how.largest_file};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  alarm(how.most_seconds);
  execvp(words[0], words.data());
  _exit(127);
}

int exit_code_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

outcome run_program(std::vector<std::string> command, const program_start& how) {
  const int code = exit_code_of(start_program(std::move(command), how));
  return {code, content(how.folder / how.out), without_sanitizer_remark(content(how.folder / how.err))};
}

}  // namespace heddle::test
