// SPDX-License-Identifier: MIT
#include "heddle/sanitize/sanitizer.h"

#include <cstring>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "heddle/config/error.h"
#include "heddle/functional/functional_executor.h"
#include "heddle/sanitize/launch_watcher.h"
#include "heddle/sanitize/sanitize_kinds.h"
#include "heddle/sanitize/work_check.h"

namespace heddle {

namespace {

// A launch that waits for something outside it would never end: it is given up after so many steps without a block that
// begins or ends.
constexpr std::uint64_t most_steps = std::uint64_t{1} << 26;

// Programmatic dependent launch.
bool has_early_launches(const gpu_config& config) { return compute_capability(config) >= 90; }

/// Ends a launch that waits without end, or that the user's observer ends.
class patience final : public functional_observer {
 public:
  virtual ~patience() = default;
  patience(const sanitize::launch_watcher& watcher, functional_observer* next) : watcher_(watcher), next_(next) {}
  bool wants_stop() override {
    lost = watcher_.steps_since_progress() > most_steps;
    return lost || (next_ != nullptr && next_->wants_stop());
  }
  bool lost = false;

 private:
  const sanitize::launch_watcher& watcher_;
  functional_observer* next_;
};

/// Pages as a launch leaves them, by address.
using page_images = std::unordered_map<std::uint64_t, std::vector<std::uint8_t>>;

// Reads zeros from the memory of malloc, and pages of `before` in place of those below. Pages that are written
// back go to `after`.
class copied_memory final : public backing_memory {
 public:
  copied_memory(backing_memory& below, const page_images& before, page_images& after)
      : below_(below), before_(before), after_(after) {}
  unsigned access(bool write, std::uint64_t address, std::uint8_t* data, unsigned bytes) override {
    const bool of_malloc = spaced_heap::contains(address);
    if (write) {
      if (!of_malloc) after_[address].assign(data, data + bytes);
      return bytes;
    }
    const auto earlier = before_.find(address);
    if (of_malloc) std::memset(data, 0, bytes);
    else if (earlier == before_.end()) return below_.access(write, address, data, bytes);
    else std::memcpy(data, earlier->second.data(), bytes);
    return bytes;
  }

 private:
  backing_memory& below_;
  const page_images& before_;
  page_images& after_;
};

}  // namespace

struct sanitizer::parts {
  parts(const gpu_config& c, unsigned k) : config(c), kinds(k), works(found), watcher(k, found, host, works) {}
  const gpu_config config;
  const unsigned kinds;
  findings found;
  sanitize::allocations host;
  sanitize::work_check works;
  sanitize::launch_watcher watcher;
  spaced_heap spaced;
  std::optional<std::uint32_t> checked;
  // What the last launch that was checked has left, by the key of its stream.
  std::unordered_map<std::uint64_t, page_images> left;
  std::vector<std::string> unchecked;
  std::vector<finding> intended;
  std::vector<finding> program_leaks;
  struct kept {
    std::uint64_t bytes;
    std::shared_ptr<const isa::program> program;
    std::uint32_t index, thread, launch;
    std::uint64_t block;
    simt::dim3 grid, block_size;
    std::uint32_t owner;  // of the heap
  };
  std::map<std::uint64_t, kept> heap;  // of the simulated GPU, by address
  std::set<std::uint32_t> owners;      // clients with a heap of their own

  [[nodiscard]] std::uint32_t owner_of(std::uint32_t client) const { return owners.count(client) != 0 ? client : 0; }
  [[nodiscard]] std::unordered_map<std::uint64_t, std::uint64_t> heap_of(std::uint32_t client) const {
    std::unordered_map<std::uint64_t, std::uint64_t> all;
    for (const auto& [address, k] : heap)
      if (k.owner == owner_of(client)) all[address] = k.bytes;
    return all;
  }
};

sanitizer::sanitizer(const gpu_config& config, unsigned kinds) : parts_(std::make_unique<parts>(config, kinds)) {}
sanitizer::~sanitizer() = default;

void sanitizer::allocated(std::uint64_t address, std::uint64_t bytes, const std::string& name, bool written,
                          std::uint32_t client) {
  parts_->works.forget(address, bytes);
  parts_->host.add(address, {bytes, name, written || (parts_->kinds & sanitize_kind::init) == 0, client, {}, {}});
}

void sanitizer::freed(std::uint64_t address) { parts_->host.remove(address); }
void sanitizer::written(std::uint64_t address, std::uint64_t bytes) {
  parts_->host.written(address, bytes, true);
  parts_->works.host_accesses(address, bytes, true);
}
void sanitizer::read(std::uint64_t address, std::uint64_t bytes) { parts_->works.host_accesses(address, bytes, false); }

void sanitizer::submits(const sanitize::host_work& work) { parts_->works.submits(work); }
void sanitizer::submitted(std::uint32_t launch) { parts_->works.submitted(launch); }
void sanitizer::transfers(bool now) { parts_->works.transfers(now); }
void sanitizer::several_streams() {
  if ((parts_->kinds & sanitize_kind::races) != 0) parts_->works.start();
}

void sanitizer::heap_placed(std::uint64_t address, std::uint64_t bytes, std::uint32_t client) {
  parts& p = *parts_;
  p.watcher.heap_placed(address, bytes, client);
  p.owners.insert(client);
  for (auto k = p.heap.begin(); k != p.heap.end();) k = k->second.owner == client ? p.heap.erase(k) : std::next(k);
}

void sanitizer::begin(const address_ranges& ranges, std::uint32_t client) {
  parts_->watcher.use(ranges);
  parts_->watcher.use(parts_->heap_of(client), parts_->owner_of(client));
}

void sanitizer::failed(const failure_cause& cause) { parts_->watcher.failed(cause); }

void sanitizer::end() { parts_->watcher.end(); }

execution_watcher& sanitizer::watcher() { return parts_->watcher; }

void sanitizer::check(const resident_launch& launch, const address_ranges& ranges, backing_memory& below,
                      program_services& services, std::uint64_t cycle, functional_observer* observer, bool early) {
  parts& p = *parts_;
  const auto say = [&](const std::string& why) {
    p.unchecked.push_back("launch " + std::to_string(launch.launch_id) + " of kernel '" + launch.program->kernel +
                          "' " + why);
  };
  p.checked = launch.launch_id;
  p.spaced.start();
  address_ranges with_heap = ranges;
  with_heap.add(spaced_heap::begin, spaced_heap::bytes);
  begin(with_heap, launch.client);
  page_images before, after;
  if (early) before = std::move(p.left[launch.stream_key()]);
  copied_memory pages(below, before, after);
  functional_memory copy(pages);
  functional_executor executor(p.config, copy, with_heap, services);
  patience limit(p.watcher, observer);
  executor.observe(&limit);
  executor.watch(&p.watcher);
  const functional_executor::outcome o = executor.execute(launch, cycle);
  const bool failed = o.how == functional_executor::ending::failed;
  // Other launches, which are in flight, may be what it waits for.
  const bool outside = failed && o.cause.what == failure_cause::kind::spinning && p.watcher.polls_global();
  limit.lost = limit.lost || outside;
  if (failed && !outside) p.watcher.failed(o.cause);
  // The next launch may begin before this one has ended in the simulation.
  if (has_early_launches(p.config)) copy.close();
  p.left[launch.stream_key()] = std::move(after);
  if (!p.watcher.unchecked().empty()) say("was not checked for races: " + p.watcher.unchecked());
  if (limit.lost) say("was not checked to its end: it waits for something outside it");
  end();
  p.checked.reset();
}

std::optional<std::uint32_t> sanitizer::checked() const { return parts_->checked; }

void sanitizer::heap_given(std::uint64_t address, std::uint64_t bytes, const simt::warp_state&, const isa::instruction&,
                           unsigned) {
  parts_->watcher.heap_given(address, bytes);
}

bool sanitizer::heap_misfreed(std::uint64_t address, const simt::warp_state& w, const isa::instruction& i,
                              unsigned lane) {
  return parts_->watcher.heap_misfreed(address, w, i, lane);
}

spaced_heap& sanitizer::spaced() { return parts_->spaced; }

void sanitizer::heap_freeing(std::uint64_t address, const simt::warp_state& w, const isa::instruction& i,
                             unsigned lane) {
  parts_->watcher.heap_freeing(address, w, i, lane);
}

void sanitizer::heap_freed(std::uint64_t address) { parts_->watcher.heap_freed(address); }

void sanitizer::heap_kept(std::uint64_t address, std::uint64_t bytes, const simt::warp_state& w,
                          const isa::instruction& i, unsigned lane) {
  if (address == 0) return;
  const simt::launch_context& l = *w.block->launch;
  const simt::dim3& b = w.block->index;
  const std::uint64_t block = (std::uint64_t{b.z} * l.grid.y + b.y) * l.grid.x + b.x;
  parts_->heap[address] = {bytes,          l.program,   static_cast<std::uint32_t>(&i - l.program->code.data()),
                           w.thread(lane), l.launch_id, block,
                           l.grid,         l.block,     parts_->owner_of(l.client)};
}

void sanitizer::heap_released(std::uint64_t address) { parts_->heap.erase(address); }

void sanitizer::leaked(std::uint64_t address, std::uint64_t bytes, const std::string& where) {
  if ((parts_->kinds & sanitize_kind::program_leaks) == 0) return;
  finding f;
  f.kind = sanitize_kind::leaks;
  f.place = where;
  f.what = "leak: " + std::to_string(bytes) + " bytes of device memory at " + hexadecimal(address) +
           " that the program has allocated were never freed";
  parts_->program_leaks.push_back(std::move(f));
}

void sanitizer::interrupted() { parts_->program_leaks.clear(); }

void sanitizer::finish() {
  parts& p = *parts_;
  for (finding& f : p.program_leaks) p.found.add(std::move(f));
  p.program_leaks.clear();
  p.intended = p.found.take_intended();
  p.found.join_by_line();
  if ((p.kinds & sanitize_kind::leaks) == 0) return;
  for (const auto& [address, k] : p.heap) {
    if (!p.found.counts({sanitize_kind::leaks, k.program.get(), k.index, 0, 0})) continue;
    finding f;
    f.kind = sanitize_kind::leaks;
    f.place = place_in_source(*k.program, k.program->code[k.index]);
    f.kernel = k.program->kernel;
    f.launch = k.launch;
    f.what = "leak: " + std::to_string(k.bytes) + " bytes of malloc at " + hexadecimal(address) + " were never freed";
    f.details.push_back(thread_text(k.grid, k.block_size, k.block, k.thread));
    p.found.add(std::move(f));
  }
  p.heap.clear();
}

unsigned sanitizer::kinds() const { return parts_->kinds; }
const std::vector<finding>& sanitizer::found() const { return parts_->found.all(); }
const std::vector<finding>& sanitizer::intended() const { return parts_->intended; }
const std::vector<std::string>& sanitizer::unchecked() const { return parts_->unchecked; }

}  // namespace heddle
