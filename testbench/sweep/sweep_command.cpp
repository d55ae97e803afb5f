// SPDX-License-Identifier: MIT
#include "testbench/sweep/sweep_command.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>

#include "heddle/config/error.h"
#include "heddle/config/message.h"
#include "testbench/files/file_roles.h"
#include "testbench/options/host_cores.h"
#include "testbench/options/log.h"
#include "testbench/run/replay_command.h"
#include "testbench/sweep/engine/local_engine.h"
#include "testbench/sweep/engine/point_runner.h"
#include "testbench/sweep/engine/slurm_engine.h"
#include "testbench/sweep/store/gather.h"
#include "testbench/sweep/sweep_options.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

constexpr unsigned usual_tasks = 16;

/// The points of a plan, whose results the store gets.
class planned_points final : public engine_points {
 public:
  planned_points(const sweep_plan& plan, const result_store& store, const point_running& how)
      : plan_(plan), store_(store), how_(how) {}
  [[nodiscard]] std::string id(std::size_t point) const override { return plan_.id_text(point); }
  void run(std::size_t point) const override { run_point(plan_, store_, point, how_); }

 private:
  const sweep_plan& plan_;
  const result_store& store_;
  const point_running how_;
};

/// One run of the command.
class sweep_run {
 public:
  explicit sweep_run(const sweep_options& o)
      : options_(o),
        plan_(
            file_of(o), HEDDLE_VERSION, [](const std::string& list) { return job_of_traces(list, false); }, o.any_size),
        store_(plan_.file().store, HEDDLE_VERSION) {
    file_roles roles;
    plan_.add_inputs(roles);
    const std::string& where = plan_.file().settings_where.at("store");
    roles.add_output(store_.database(), where);
    roles.add_output(store_.csv(), where);
    try {
      store_.check();
    } catch (const input_error& e) {
      throw input_error(where + ": " + e.what());
    }
  }

  int run() {
    if (plan_.size() == 0)
      throw input_error(options_.file + ": the constraints drop all " + grouped(plan_.product()) + " points");
    warn_of_former_names(plan_.file().former_names);
    for (const std::string& text : plan_.idle_axes()) message_log::warning(text);
    find_work();
    if (options_.dry_run) return list();
    std::optional<slurm_engine> engine;
    if (options_.slurm && !work_.empty()) engine.emplace(plan_, store_, request_of_slurm());
    store_.create();
    sweep_progress progress(options_.progress, work_.size());
    const int signal = engine ? run_slurm(*engine, progress) : options_.slurm ? 0 : run_local(progress);
    progress.clear_line();
    if (submitted_) return 0;
    const int code = options_.shard ? finish_shard() : finish();
    if (signal == 0) return code;
    message_log::warning("stopped by signal " + std::to_string(signal) +
                         "; finished points are kept, and the same command continues from there");
    message_log::flush();
    std::fflush(stdout);
    ::signal(signal, SIG_DFL);
    ::raise(signal);  // so that the parent sees the signal in the exit status
    return code;
  }

 private:
  static sweep_file file_of(const sweep_options& o) {
    sweep_file file = load_sweep_file(o.file);
    file.confine = o.confine;
    return file;
  }

  // Finds the points of this shard that have no result yet, or one that is to be replaced. Of points with equal ids
  // only the first is run.
  void find_work() {
    std::set<sweep_plan::point_id> seen;
    for (std::size_t p = 0; p < plan_.size(); ++p) {
      if (!seen.insert(plan_.id(p)).second) continue;
      if (!is_mine(p)) continue;
      ++points_;
      const point_status status = store_.status(plan_.id_text(p));
      if (status == point_status::missing || (options_.resume && status != point_status::done)) work_.push_back(p);
    }
  }

  [[nodiscard]] int list() const {
    for (std::size_t p = 0; p < plan_.size(); ++p) {
      std::printf("%s %s %s\n", plan_.id_text(p).c_str(), name_of(store_.status(plan_.id_text(p))),
                  plan_.description(p).c_str());
    }
    if (!options_.quiet) std::fputs(head().c_str(), stdout);
    return 0;
  }

  int run_local(sweep_progress& progress) {
    const unsigned jobs = options_.jobs ? options_.jobs : host_cores();
    // Where fewer points are simulated at a time than there are cores, each gets its share of them.
    const auto at_once = static_cast<unsigned>(std::clamp<std::size_t>(work_.size(), 1, jobs));
    const unsigned threads = std::max(1u, std::min(host_cores() / at_once, most_usual_threads));
    const std::uint64_t every = options_.checkpoint_every;
    const planned_points points(plan_, store_, {threads, every});
    local_engine engine(store_, points, {plan_.file().timeout_seconds, jobs, options_.resume, every != 0});
    const int signal = engine.run(work_, progress);
    run_ = engine.started();
    return signal;
  }

  [[nodiscard]] slurm_request request_of_slurm() const {
    slurm_request request;
    request.sweep_file = options_.file;
    request.tasks =
        static_cast<unsigned>(std::min<std::size_t>(options_.jobs ? options_.jobs : usual_tasks, plan_.size()));
    request.resume = options_.resume;
    request.checkpoint_every = options_.checkpoint_every;
    request.any_size = options_.any_size;
    request.confine = options_.confine;
    request.arguments = options_.slurm_arguments;
    return request;
  }

  int run_slurm(slurm_engine& engine, sweep_progress& progress) {
    // A point that is run again has no result until its task has run it.
    if (options_.resume)
      for (const std::size_t p : work_)
        if (store_.status(plan_.id_text(p)) != point_status::done) store_.remove(plan_.id_text(p));
    std::string job;
    try {
      job = engine.submit();
    } catch (const input_error&) {
      store_.remove_if_empty();
      throw;
    }
    if (options_.no_wait) {
      submitted_ = true;
      if (!options_.quiet) std::printf("%sjob %s was submitted\n", head().c_str(), job.c_str());
      return 0;
    }
    return engine.wait(job, work_, progress);
  }

  [[nodiscard]] std::string head() const {
    std::string text = plan_.file().name + ": " + grouped(plan_.size()) + " points";
    for (const auto& [name, count] : plan_.dropped()) {
      if (count) text += ", " + grouped(count) + " dropped by " + name;
    }
    text += "; " + grouped(options_.slurm || options_.dry_run ? work_.size() : run_) +
            (options_.dry_run   ? " to run"
             : options_.no_wait ? " submitted"
                                : " run");
    if (options_.shard)
      text += " of the " + grouped(points_) + " of shard " + std::to_string(options_.shard) + "/" +
              std::to_string(options_.shards);
    return text + "\n";
  }

  /// The exit code; unless it is 0, the reason of the first bad point is printed.
  [[nodiscard]] int judge(const status_counts& counts) const {
    const auto count = [&](point_status s) { return counts[static_cast<std::size_t>(s)]; };
    std::size_t all = 0;
    for (const std::size_t n : counts) all += n;
    const bool some_bad = count(point_status::done) + count(point_status::refused) != all;
    if (all == 0 || (count(point_status::done) > 0 && !some_bad)) return 0;
    for (std::size_t p = 0; p < plan_.size(); ++p) {
      const point_status status = store_.status(plan_.id_text(p));
      if (!is_mine(p) || status == point_status::done || (some_bad && status == point_status::refused)) continue;
      const std::string reason = store_.read(plan_.id_text(p)).reason;
      message_log::error(one_line(plan_.file().name + ": " + counts_text(counts) + "; point " + std::to_string(p) +
                                  " (" + name_of(status) + ")" + (reason.empty() ? "" : ": " + reason)));
      break;
    }
    return 1;
  }

  /// True unless the point is of another shard.
  [[nodiscard]] bool is_mine(std::size_t p) const {
    return options_.shard == 0 || p % options_.shards == options_.shard - 1;
  }

  static std::string counts_text(const status_counts& counts) {
    std::string text;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i])
        text += (text.empty() ? "" : ", ") + grouped(counts[i]) + " " + name_of(static_cast<point_status>(i));
    }
    return text.empty() ? "none" : text;
  }

  int finish_shard() {
    status_counts counts{};
    for (const std::size_t p : work_) ++counts[static_cast<std::size_t>(store_.status(plan_.id_text(p)))];
    if (!options_.quiet)
      std::printf("%s  %s; results are in %s\n", head().c_str(), counts_text(counts).c_str(), store_.folder().c_str());
    return judge(counts);
  }

  int finish() {
    const status_counts counts = gather(plan_, store_);
    if (!options_.quiet) {
      std::printf("%s  %s\n  %s\n  %s\n", head().c_str(), counts_text(counts).c_str(), store_.database().c_str(),
                  store_.csv().c_str());
    }
    return judge(counts);
  }

  const sweep_options& options_;
  sweep_plan plan_;
  result_store store_;
  std::vector<std::size_t> work_;
  std::size_t points_ = 0;  // of this shard; points with equal ids count once
  std::size_t run_ = 0;     // by this process; other processes may have run the rest of work_
  bool submitted_ = false;
};

}  // namespace

int sweep_command(const std::vector<std::string>& arguments) {
  sweep_options o;
  std::string help;
  if (parse_sweep(arguments, o, help)) {
    std::fputs(help.c_str(), stdout);
    return 0;
  }
  return sweep_run(o).run();
}

}  // namespace heddle::testbench
