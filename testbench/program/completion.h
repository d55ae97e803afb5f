// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace heddle::testbench {

/// What makes a shell complete: a small script that asks the program itself, so that it knows the options, GPUs and
/// parameters of the program that is called.
std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

/// The command that these scripts call; no user needs it.
inline const std::string completion_request = "complete";

/// `heddle complete -- WORD...`: what the last word, which may be empty, can become; the words before it are as typed,
/// without the program's name. One candidate a line, with a tab and what it is where that is known. Last comes, where
/// files are meant, a line ":files" with the endings, or ":folders". Never fails: what it does not understand it has
/// nothing for.
int complete_command(const std::vector<std::string>& arguments);

}  // namespace heddle::testbench
