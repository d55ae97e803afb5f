// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace heddle::testbench {

/// Completion scripts for shells. Each script calls the program itself, so it offers the options, GPUs and parameters
/// of that version.
std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

/// The command that these scripts call; it is not for users.
inline const std::string completion_request = "complete";

/// `heddle complete -- WORD...` prints the completions of the last word, which may be empty. The words before it are
/// as typed, without the program's name. Each line is a candidate, followed by a tab and a description where there is
/// one. If files are expected, the last line is ":files" with the accepted endings, or ":folders". The command never
/// fails; for input that it cannot interpret it prints nothing.
int complete_command(const std::vector<std::string>& arguments);

}  // namespace heddle::testbench
