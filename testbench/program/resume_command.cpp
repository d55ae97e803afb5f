// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include "heddle/config/error.h"
#include "heddle/config/message.h"
#include "heddle/tlm/kernel/state_image.h"
#include "testbench/checkpoint/checkpoint.h"
#include "testbench/options/option_groups.h"
#include "testbench/options/options.h"
#include "testbench/run/replay_command.h"
#include "testbench/run/run_command.h"

namespace heddle::testbench {

namespace {

// The words that belong to a run, not to what it simulates; new ones replace those of the checkpoint.
void replace_words(const option_parser& p, std::vector<std::string>& words) {
  std::vector<std::string> fresh;
  for (const option_group& g : p.groups())
    for (const option_entry& o : g.options) {
      if (!p.has(o.name)) continue;
      const std::string word = "--" + o.name, begin = word + "=";
      const auto end = std::find(words.begin(), words.end(), "--");
      words.erase(
          std::remove_if(words.begin(), end,
                         [&](const std::string& w) { return w == word || w.compare(0, begin.size(), begin) == 0; }),
          end);
      const bool is_file = o.meaning.compare(0, 4, "FILE") == 0 && p.text(o.name) != "-";
      if (o.meaning.empty()) fresh.push_back(word);
      else fresh.push_back(begin + (is_file ? std::filesystem::absolute(p.text(o.name)).string() : p.text(o.name)));
    }
  words.insert(words.begin(), fresh.begin(), fresh.end());
}

void enter(const std::string& folder, const std::string& file) {
  std::error_code failed;
  std::filesystem::current_path(folder, failed);
  if (failed)
    throw input_error(printable(file) + ": the run was started in '" + printable(folder) +
                      "', which cannot be entered: " + failed.message());
}

}  // namespace

option_parser options_of_resume() {
  option_parser p(
      "resume", "resume CHECKPOINT [options]",
      "Goes on with a run from a checkpoint that heddle run or heddle replay has written with --checkpoint. "
      "Its results are those of a run without a stop.");
  p.operands("CHECKPOINT");
  p.group("Instead of what the run was started with");
  p.value("metrics", "FILE.json", "write the metrics; when SIGUSR1 comes, those so far");
  p.value("report", "FILE.html", "write the report, a page for a browser");
  p.flag("quiet", "no summary");
  p.value("max-cycles", "N", "stop with exit code 1 when reached");
  p.value("threads", "N", "host threads; results do not depend on it");
  p.value("progress", "auto|always|never|json", "a progress line on stderr");
  p.value("serve", "PORT", "a page of the run for browsers on this machine");
  p.flag("serve-control", "that page may also pause the run, step by cycles, and stop at a line or condition");
  p.value("log-level", "error|warning|info|debug", "which messages are written to stderr (default: warning)");
  add_checkpoints(p);
  p.flag("help,h", "this text");
  p.note(
      "The run is the same one: its files are read again where it was started, and a parameter or a file that has changed "
      "since is refused. Any number of threads may go on with it.");
  p.example("resume run.ckpt", "to the end, with the results that the run was to write");
  return p;
}

int resume_command(const std::vector<std::string>& arguments) {
  option_parser p = options_of_resume();
  if (p.parse(arguments)) {
    std::fputs(p.help().c_str(), stdout);
    return 0;
  }
  if (p.positionals().empty()) p.fail("expected a checkpoint, which heddle run --checkpoint FILE writes");
  const std::string& file = p.positionals()[0];
  auto c = std::make_shared<checkpoint>(read_checkpoint(file));
  if (c->command == command_of_points)
    throw input_error(printable(file) +
                      ": the checkpoint of a sweep's point, expected the command of the sweep, which goes on with it");
  replace_words(p, c->arguments);
  enter(c->folder, file);
  const std::shared_ptr<const checkpoint> from = c;
  try {
    return c->command == "replay" ? replay_from(from->arguments, from) : run_from(from->arguments, from);
  } catch (const state_error& e) {
    throw input_error(printable(file) + ": the checkpoint is not of this machine: " + e.what());
  }
}

}  // namespace heddle::testbench
