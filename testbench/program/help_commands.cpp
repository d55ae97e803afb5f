// SPDX-License-Identifier: MIT
#include "testbench/program/help_commands.h"

#include <cstdio>
#include <systemc>

#include "heddle/config/shipped.h"
#include "heddle/config/suggestion.h"
#include "testbench/files/result_files.h"
#include "testbench/options/option_tables.h"
#include "testbench/program/command_table.h"
#include "testbench/program/completion.h"
#include "testbench/program/man_page.h"
#include "testbench/program/places.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

int answer(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace

int help_command(const std::vector<std::string>& arguments) {
  option_parser p = options_of_help();
  if (p.parse(arguments)) return answer(p.help());
  if (p.positionals().empty()) return answer(program_help());
  return answer(command_named(p.positionals()[0]).options().help());
}

int version_command(const std::vector<std::string>& arguments) {
  option_parser p = options_of_version();
  if (p.parse(arguments)) return answer(p.help());
  std::string text =
      "heddle " HEDDLE_VERSION "\nSystemC " SC_VERSION "\nshipped GPUs: " + shipped_config_folder() + "\n";
  if (const std::string folder = docs_folder(); !folder.empty()) text += "pages: " + folder + "\n";
  return answer(text);
}

int completion_command(const std::vector<std::string>& arguments) {
  option_parser p = options_of_completion();
  if (p.parse(arguments)) return answer(p.help());
  const std::vector<std::string> shells = split(p.operand_meaning(), '|');
  if (p.positionals().empty()) p.fail("expected " + join(shells, " | "));
  const std::string& shell = p.positionals()[0];
  if (shell == "bash") return answer(bash_completion());
  if (shell == "zsh") return answer(zsh_completion());
  if (shell == "fish") return answer(fish_completion());
  p.fail("got '" + shell + "', expected " + join(shells, " | ") + suggestion(shell, shells));
}

int man_command(const std::vector<std::string>& arguments) {
  option_parser p = options_of_man();
  if (p.parse(arguments)) return answer(p.help());
  if (p.has("folder")) {
    if (!p.positionals().empty()) p.fail("--folder writes the pages of all commands; expected no command");
    result_files files;
    files.add(p.text("folder") + "/heddle.1", program_man_page());
    for (const command& c : command_table())
      files.add(p.text("folder") + "/heddle-" + c.name + ".1", command_man_page(c));
    files.commit();
    return 0;
  }
  return answer(p.positionals().empty() ? program_man_page() : command_man_page(command_named(p.positionals()[0])));
}

}  // namespace heddle::testbench
