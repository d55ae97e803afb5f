// SPDX-License-Identifier: MIT
#include "testbench/sweep/engine/slurm_engine.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <climits>
#include <cstdio>
#include <cstdlib>

#include "heddle/config/error.h"
#include "heddle/config/ini_reader.h"
#include "testbench/files/result_files.h"
#include "testbench/sweep/engine/stop_signals.h"
#include "testbench/text/shell_words.h"

namespace heddle::testbench {

namespace {

// Quotes a text as one shell word.
std::string word(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string own_program() {
  char path[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0) throw input_error("cannot find out where this program lies, which Slurm is to run");
  return std::string(path, static_cast<std::size_t>(length));
}

std::string absolute(const std::string& path) {
  if (path[0] == '/') return path;
  char here[PATH_MAX];
  if (!::getcwd(here, sizeof here)) throw input_error("cannot find out in which folder this runs");
  return std::string(here) + "/" + path;
}

struct command_output {
  int code = -1;
  std::string text;
};

[[noreturn]] void no_sbatch() {
  throw input_error("--engine slurm: there is no sbatch on this machine; --shard I/N serves any other scheduler");
}

command_output output_of(const std::string& line) {
  std::fflush(nullptr);
  command_output result;
  std::FILE* pipe = ::popen(line.c_str(), "re");
  if (!pipe) return result;
  char buffer[512];
  while (std::fgets(buffer, sizeof buffer, pipe)) result.text += buffer;
  const int status = ::pclose(pipe);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

}  // namespace

slurm_engine::slurm_engine(const sweep_plan& plan, const result_store& store, slurm_request request)
    : plan_(plan),
      store_(store),
      request_(std::move(request)),
      arguments_(shell_words(request_.arguments, "--slurm-args")) {
  if (output_of("command -v sbatch").code != 0) no_sbatch();
}

std::string slurm_engine::script() const {
  std::string text = "#!/bin/sh\n# One task of the sweep: its shard of the points.\nexec " + word(own_program()) +
                     " sweep " + word(request_.sweep_file) + " --shard \"$SLURM_ARRAY_TASK_ID/" +
                     std::to_string(request_.tasks) + "\" --jobs \"${SLURM_CPUS_PER_TASK:-1}\" --progress never";
  if (request_.resume) text += " --resume";
  if (request_.checkpoint_every != 0) text += " --checkpoint-every " + std::to_string(request_.checkpoint_every);
  if (request_.any_size) text += " --yes";
  if (!request_.confine.empty()) text += " --confine " + word(request_.confine);
  return text + "\n";
}

std::string slurm_engine::submit() {
  const std::string folder = absolute(store_.folder()) + "/slurm";
  ::mkdir(folder.c_str(), 0777);
  const std::string file = folder + "/" + plan_.file().name + ".sh";
  result_files files;
  files.add(file, script());
  files.commit();
  std::string line = "sbatch --parsable --array=1-" + std::to_string(request_.tasks) +
                     " --job-name=" + word("heddle-" + plan_.file().name) + " --output=" + word(folder + "/%A_%a.out");
  for (const std::string& argument : arguments_) line += " " + word(argument);
  const command_output o = output_of(line + " " + word(file) + " 2>&1");
  if (o.code == 127) no_sbatch();
  // The output is "1234" or "1234;cluster", possibly after other messages.
  std::string job;
  std::size_t begin = 0;
  for (std::size_t end; o.code == 0 && begin < o.text.size(); begin = end + 1) {
    end = std::min(o.text.find('\n', begin), o.text.size());
    const std::string line = o.text.substr(begin, end - begin);
    const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
    if (digits > 0 && (digits == line.size() || line[digits] == ';')) job = line.substr(0, digits);
  }
  if (job.empty()) {
    std::remove(file.c_str());
    ::rmdir(folder.c_str());
    const std::string said = o.text.substr(0, o.text.find_last_not_of(" \n") + 1);
    throw input_error("--engine slurm: sbatch refused the job, expected its number: " + printable(said));
  }
  return job;
}

bool slurm_engine::queued(const std::string& job) const {
  const command_output o = output_of("squeue --noheader --jobs=" + job + " --format=%T 2>&1");
  if (o.code == 0) return o.text.find_first_not_of(" \n") != std::string::npos;
  // A job unknown to Slurm has ended; other errors may be temporary.
  return o.text.find("Invalid job id") == std::string::npos;
}

int slurm_engine::wait(const std::string& job, const std::vector<std::size_t>& points, sweep_progress& progress) {
  const stop_signals signals;
  std::vector<std::size_t> open = points;
  unsigned pause = 100;  // milliseconds: short at first for short sweeps, then longer to spare the Slurm controller
  for (bool going = true; going;) {
    const int number = signals.wait(pause);
    if (number != 0 && number != SIGCHLD) {
      output_of("scancel " + job + " 2>&1");
      return number;
    }
    if (number == SIGCHLD) continue;  // one of our child processes has ended
    pause = std::min(2 * pause, 5000u);
    going = queued(job);
    std::vector<std::size_t> still;
    for (const std::size_t p : open) {
      const point_status status = store_.status(plan_.id_text(p));
      if (status == point_status::missing) {
        still.push_back(p);
      } else {
        progress.finished(status);
      }
    }
    open.swap(still);
    progress.show();
  }
  return 0;
}

}  // namespace heddle::testbench
