// SPDX-License-Identifier: MIT
#include "testbench/correlate/correlation_runs.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "heddle/config/config.h"
#include "heddle/config/error.h"
#include "heddle/config/parameter_table.h"
#include "testbench/files/temporary_file.h"
#include "testbench/run/run_command.h"
#include "testbench/sweep/engine/point_runner.h"
#include "testbench/sweep/plan/job_digest.h"
#include "testbench/sweep/plan/sha256.h"
#include "testbench/text/shell_words.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

namespace fs = std::filesystem;

/// Makes a folder the working directory during its lifetime: what a row names is relative to the folder of its file.
class working_folder {
 public:
  explicit working_folder(const std::string& folder) : before_(fs::current_path()) {
    if (!folder.empty()) fs::current_path(folder);
  }
  ~working_folder() {
    std::error_code ignored;
    fs::current_path(before_, ignored);
  }
  working_folder(const working_folder&) = delete;
  working_folder& operator=(const working_folder&) = delete;

 private:
  fs::path before_;
};

// Options that a row cannot have: results, views and the GPU belong to the command.
void refuse_others(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == "--") break;
    for (const char* option :
         {"--gpu", "--metrics", "--report", "--vcd", "--timeline", "--pipeline", "--trace-scope", "--trace-window",
          "--progress", "--log-level", "--quiet", "--environment", "--help", "--skip-functional", "-h"})
      if (word.substr(0, word.find('=')) == option)
        throw input_error("run: " + word +
                          " cannot be given here, expected JOB.json, --kernel FILE.ptx[:ENTRY] and "
                          "its options, or -- PROGRAM and its arguments");
  }
}

// Outputs are compared (`expect`) but not written: a row is run for its metrics.
void drop_outputs(job& j) {
  for (output& o : j.outputs) o.file.clear();
  j.outputs.erase(std::remove_if(j.outputs.begin(), j.outputs.end(), [](const output& o) { return o.expect.empty(); }),
                  j.outputs.end());
}

std::string program_digest(const std::string& program) {
  std::error_code ignored;
  return fs::is_regular_file(program, ignored) ? read_file(program, "run") : "";
}

// An override "key=value" by the key's present name: its former one was warned of already.
std::string with_current_name(const std::string& override) {
  const std::size_t equals = override.find('=');
  if (equals == std::string::npos) return override;
  return current_name(override.substr(0, equals)) + override.substr(equals);
}

// Its messages go to a file.
[[noreturn]] void start_program(const std::string& folder, const std::vector<std::string>& arguments,
                                const std::string& messages) {
#if defined(__linux__)
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  std::vector<char*> list;
  for (const std::string& a : arguments) list.push_back(const_cast<char*>(a.c_str()));
  list.push_back(nullptr);
  ::setenv("HEDDLE_THREADS", "1", 0);  // the runs are parallel
  const int file = ::open(messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file >= 0) ::dup2(file, 2);
  if (folder.empty() || ::chdir(folder.c_str()) == 0) ::execv("/proc/self/exe", list.data());
  ::_exit(127);
}

// The first error of Heddle in the file; empty: none.
std::string error_in(const std::string& messages) {
  const std::string mark = "heddle: error: ";
  std::ifstream in(messages);
  for (std::string line; std::getline(in, line);)
    if (line.compare(0, mark.size(), mark) == 0) return line.substr(mark.size());
  return "";
}

}  // namespace

correlation_runs::correlation_runs(const std::vector<measured_launch>& launches,
                                   const std::vector<std::string>& overrides, const std::string& version) {
  std::map<std::string, std::size_t> known;  // by what the row says
  for (const measured_launch& m : launches) {
    const auto [at, fresh] = known.try_emplace(m.folder + "\n" + m.gpu + "\n" + m.run, runs_.size());
    if (fresh) {
      try {
        runs_.push_back(read(m, overrides, version));
      } catch (const input_error& e) {
        throw input_error(m.where + ": " + e.what());
      } catch (const fs::filesystem_error& e) {
        throw input_error(m.where + ": " + e.what());
      }
    }
    run_of_.push_back(at->second);
  }
}

correlation_runs::one_run correlation_runs::read(const measured_launch& m, const std::vector<std::string>& overrides,
                                                 const std::string& version) const {
  one_run r;
  r.where = m.where;
  r.folder = m.folder;
  r.words = shell_words(m.run, "run");
  refuse_others(r.words);
  r.is_program = std::find(r.words.begin(), r.words.end(), "--") != r.words.end();
  const working_folder here(r.folder);
  std::string help;
  r.is_program ? parse_exec(r.words, r.options, help) : parse_run(r.words, r.options, help);
  if (!r.options.threads_named) r.options.threads = 1;  // the runs are parallel
  r.options.gpu = m.gpu;
  r.options.overrides.insert(r.options.overrides.end(), overrides.begin(), overrides.end());
  file_roles roles;
  r.config = machine_of(r.options, roles);
  sha256 hash;
  hash.field("heddle.correlate/1").field(version).field(to_ini(r.config));
  if (r.is_program) {
    hash.field("program").field(program_digest(r.options.arguments[0]));
    for (const std::string& word : r.words) hash.field(word);
  } else {
    r.what = make_job(r.options);
    drop_outputs(r.what);
    const bool from_file = !r.options.job_file.empty();
    hash.field(job_digest(from_file ? read_file(r.options.job_file, "run") : m.run, r.what));
    hash.field(std::to_string(r.options.max_cycles));
    validate(r.what);
  }
  r.id = hex(hash.finish(), 16);
  return r;
}

void correlation_runs::add_inputs(file_roles& roles) const {
  for (const one_run& r : runs_) {
    const working_folder here(r.folder);
    config_reading how;
    load_config(r.options.gpu, {}, how);
    for (const std::string& file : how.files) roles.add_input(file, "a GPU");
    if (r.is_program) roles.add_input(r.options.arguments[0], "a program");
    else add_files(r.what, roles);
  }
}

void correlation_runs::run(std::size_t run, const result_store& store) const {
  const one_run& r = runs_[run];
  store.write(r.id, result_of([&] {
                return r.is_program ? run_program(r, store) : simulate_job(r.options, r.what, r.config);
              }));
}

// The program runs with a simulator of its own, as `heddle exec` runs it.
point_result correlation_runs::run_program(const one_run& r, const result_store& store) {
  const temporary_file metrics(fs::absolute(store.folder() + "/" + random_word() + ".metrics.json").string());
  const temporary_file messages(metrics.name() + ".messages");
  std::vector<std::string> arguments = {"heddle",      "exec",      "--quiet",     "--gpu",
                                        r.options.gpu, "--metrics", metrics.name()};
  for (const std::string& o : r.options.overrides) arguments.insert(arguments.end(), {"--set", with_current_name(o)});
  for (std::size_t i = 0; i < r.words.size(); ++i) {
    const bool set = r.words[i] == "--set";
    if (r.words[i] == "--") {
      arguments.insert(arguments.end(), r.words.begin() + static_cast<std::ptrdiff_t>(i), r.words.end());
      break;
    }
    if (set) ++i;  // among the overrides
    else if (r.words[i].compare(0, 6, "--set=") != 0) arguments.push_back(r.words[i]);
  }
  const pid_t process = ::fork();
  if (process < 0) throw input_error("cannot start a process");
  if (process == 0) start_program(r.folder, arguments, messages.name());
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
  std::error_code ignored;
  const auto results = [&] { return nlohmann::ordered_json::parse(read_file(metrics.name(), "run")); };
  const bool wrote = fs::exists(metrics.name(), ignored);
  if (r.options.end_after != 0 && wrote && results().value("stopped", "") == "--end-after")
    return {point_status::stopped, "the limit of cycles was reached", ""};
  // The message of a kernel that has failed, which the program may have survived.
  std::string failure;
  if (wrote) {
    const auto all = results();
    for (const auto& k : all["kernels"])
      if (k.contains("failed") && failure.empty()) failure = ": " + k["failed"].get<std::string>();
  }
  std::string end;
  if (!WIFEXITED(status)) end = " ended with signal " + std::to_string(WTERMSIG(status));
  else if (WEXITSTATUS(status) != 0) end = " ended with exit code " + std::to_string(WEXITSTATUS(status));
  // Why the program has not even started, or what has stopped it.
  if (failure.empty() && !end.empty())
    if (const std::string error = error_in(messages.name()); !error.empty()) failure = ": " + error;
  if (!end.empty() || !failure.empty())
    return {point_status::failed, "'" + r.options.arguments[0] + "'" + end + failure, ""};
  if (!wrote) return {point_status::failed, "'" + r.options.arguments[0] + "' has launched nothing", ""};
  nlohmann::ordered_json all = results();
  all.erase("host");
  return {point_status::done, "", all.dump()};
}

}  // namespace heddle::testbench
