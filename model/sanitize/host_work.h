// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace heddle::sanitize {

/// By stream (host_work::key): how many of its operations happen before something.
using work_clock = std::map<std::uint64_t, std::uint64_t>;

/// An operation of a stream of the host: a launch, a copy, a fill.
struct host_work {
  std::uint64_t key = 0;     // of the stream: its number, or what tells it from those of other clients
  std::uint64_t number = 0;  // of the stream's operations, from 1 on; 0: not known, and ordered with all
  work_clock before;         // what happens before it
  work_clock host;           // what the host had waited for
  std::uint32_t launch = 0;  // number among the host's launches
  std::string what;          // "copy to the device"; of a launch empty
  std::string stream;        // "stream 1"; empty: after its key
};

/// Which operations of a host happen before others: in the order of their stream, by events, and because the host has
/// waited for them.
class host_order {
 public:
  /// The next operation of a stream.
  host_work add(std::uint64_t stream) {
    work_clock& own = streams_[stream];
    join(own, host_);
    host_work w;
    w.key = stream;
    w.number = own[stream] + 1;
    w.before = own;
    w.host = host_;
    own[stream] = w.number;
    return w;
  }
  /// Later operations of a stream come after what this clock names: after an event.
  void follows(std::uint64_t stream, const work_clock& earlier) { join(streams_[stream], earlier); }
  /// What the stream's next operation would come after.
  const work_clock& of(std::uint64_t stream) { return streams_[stream]; }
  /// The host waits.
  void waits(const work_clock& earlier) { join(host_, earlier); }
  void waits_for_all() {
    for (const auto& [number, clock] : streams_) join(host_, clock);
  }

 private:
  static void join(work_clock& to, const work_clock& from) {
    for (const auto& [stream, count] : from) {
      std::uint64_t& known = to[stream];
      if (known < count) known = count;
    }
  }
  std::map<std::uint64_t, work_clock> streams_;
  work_clock host_;
};

}  // namespace heddle::sanitize
