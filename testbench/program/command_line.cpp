// SPDX-License-Identifier: MIT
#include "testbench/program/command_line.h"

#include <cstdio>
#include <cstring>
#include <new>
#include <systemc>

#include "heddle/config/error.h"
#include "heddle/config/message.h"
#include "testbench/exec/server/exec_command.h"
#include "testbench/options/log.h"
#include "testbench/program/command_table.h"
#include "testbench/program/completion.h"
#include "testbench/program/wrong_file.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

int run(const std::vector<std::string>& arguments) {
  if (arguments.empty())
    throw input_error("expected a command: " + join(command_names(), ", ") + " (see heddle --help)");
  std::string name = arguments[0];
  if (name == "-h") name = "--help";
  if (name == "--help" || name == "--version") {
    if (arguments.size() > 1) throw input_error("unexpected argument '" + arguments[1] + "' after " + arguments[0]);
    std::fputs(name == "--help" ? program_help().c_str() : "heddle " HEDDLE_VERSION "\n", stdout);
    return 0;
  }
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (name == completion_request) return complete_command(rest);
  if (name == attach_request) return attach_command();
  const command& c = command_named(name);
  refuse_wrong_files(c, rest);
  return c.run(rest);
}

int internal_fault(const std::string& what) {
  message_log::error("internal fault: " + what);
  std::fputs(
      "This is a fault in Heddle itself, not in your input. Please report it to its developers, with the command,\n"
      "the files that it reads, the lines above and what heddle --version says.\n",
      stderr);
  return 3;
}

int guarded(const std::vector<std::string>& arguments) {
  try {
    return run(arguments);
  } catch (const input_error& e) {
    message_log::error(one_line(e.what()));
    return 2;
  } catch (const program_error& e) {
    message_log::error(e.what());
    return 1;
  } catch (const std::bad_alloc&) {
    message_log::error("out of memory on this machine; a smaller job or GPU needs less");
    return 2;
  } catch (const sc_core::sc_report& e) {
    if (std::strcmp(e.get_msg_type(), "/heddle/input") == 0) {
      message_log::error(one_line(e.get_msg()));
      return 2;
    }
    return internal_fault(std::string(e.get_msg_type()) + ": " + e.get_msg() +
                          (e.get_process_name() ? std::string(" (in ") + e.get_process_name() + ")" : ""));
  } catch (const std::exception& e) {
    return internal_fault(e.what());
  }
}

}  // namespace

int run_program(const std::vector<std::string>& arguments) {
  message_log::install(log_level::warning);
  int code = guarded(arguments);
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    message_log::error("cannot write to standard output");
    if (code == 0) code = 2;
  }
  message_log::flush();
  return code;
}

}  // namespace heddle::testbench
