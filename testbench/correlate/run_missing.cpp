// SPDX-License-Identifier: MIT
#include "testbench/correlate/run_missing.h"

#include <signal.h>
#include <unistd.h>

#include <set>
#include <string>

#include "heddle/config/message.h"
#include "testbench/options/host_cores.h"
#include "testbench/options/log.h"
#include "testbench/sweep/engine/local_engine.h"

namespace heddle::testbench {

namespace {

class measured_runs final : public engine_points {
 public:
  measured_runs(const correlation_runs& runs, const result_store& store) : runs_(runs), store_(store) {}
  [[nodiscard]] std::string id(std::size_t point) const override { return runs_.id(point); }
  void run(std::size_t point) const override { runs_.run(point, store_); }

 private:
  const correlation_runs& runs_;
  const result_store& store_;
};

}  // namespace

int run_missing(const correlation_runs& runs, const result_store& store, const run_manner& how) {
  std::vector<std::size_t> work;
  std::set<std::string> seen;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    if (!seen.insert(runs.id(r)).second) continue;
    const point_status status = store.status(runs.id(r));
    if (status == point_status::missing || (how.again && status != point_status::done)) work.push_back(r);
  }
  sweep_progress progress(how.progress, work.size());
  const measured_runs points(runs, store);
  local_engine engine(store, points, {how.timeout_seconds, how.jobs != 0 ? how.jobs : host_cores(), how.again, false});
  const int signal = engine.run(work, progress);
  progress.clear_line();
  return signal;
}

void end_by(int signal, bool kept) {
  message_log::warning("stopped by signal " + std::to_string(signal) +
                       (kept ? "; what is finished is kept, and the same command continues from there" : ""));
  message_log::flush();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
  ::_exit(128 + signal);
}

}  // namespace heddle::testbench
