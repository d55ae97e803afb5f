// SPDX-License-Identifier: MIT
// The runtime: objects of the program that live as long as graphs refer to them, and pictures of graphs.
#include <fstream>
#include <mutex>
#include <set>
#include <thread>

#include "testbench/cuda/core/client.h"
#include "testbench/cuda/core/graph.h"

using namespace heddle;
using namespace heddle::cuda;

namespace heddle::cuda {

struct user_object {
  void* data;
  void (*destroy)(void*);
  unsigned long long references;
};

namespace {

constexpr unsigned most_references = 0x7fffffff;
library_mutex user_objects_mutex;
std::set<user_object*>& user_objects() {
  static auto* all = new std::set<user_object*>;
  return *all;
}

bool can_have(user_object* o, unsigned count) {
  return count != 0 && count <= most_references && user_objects().count(o) != 0;
}

/// The mutex is held.
error_t add_references(user_object* o, unsigned count) {
  if (!can_have(o, count)) return error::invalid_value;
  o->references += count;
  return error::none;
}

/// The mutex is held. As in CUDA, another thread destroys the program's object, and must not make calls.
error_t drop_references(user_object* o, unsigned count) {
  if (!can_have(o, count) || count > o->references) return error::invalid_value;
  o->references -= count;
  if (o->references != 0) return error::none;
  user_objects().erase(o);
  std::thread([last = *o] {
    in_host_function = true;
    last.destroy(last.data);
  }).detach();
  delete o;
  return error::none;
}

}  // namespace

object_references::object_references(const object_references& other) : counts_(other.counts_) {
  const std::lock_guard<std::mutex> lock(user_objects_mutex);
  for (const auto& [o, count] : counts_) add_references(o, count);
}

object_references::~object_references() {
  const std::lock_guard<std::mutex> lock(user_objects_mutex);
  for (const auto& [o, count] : counts_) drop_references(o, count);
}

bool object_references::remove(user_object* o, unsigned count) {
  const auto found = counts_.find(o);
  if (found == counts_.end() || found->second < count) return false;
  if ((found->second -= count) == 0) counts_.erase(found);
  return true;
}

}  // namespace heddle::cuda

HEDDLE_CUDA error_t cudaUserObjectCreate(user_object** to, void* data, void (*destroy)(void*), unsigned references,
                                         unsigned flags) {
  constexpr unsigned destroyed_at_any_time = 1;
  if (to == nullptr || destroy == nullptr || references == 0 || references > most_references ||
      flags != destroyed_at_any_time)
    return noted(error::invalid_value);
  const std::lock_guard<std::mutex> lock(user_objects_mutex);
  *to = new user_object{data, destroy, references};
  user_objects().insert(*to);
  return noted(error::none);
}
HEDDLE_CUDA error_t cudaUserObjectRetain(user_object* o, unsigned count) {
  const std::lock_guard<std::mutex> lock(user_objects_mutex);
  return noted(add_references(o, count));
}
HEDDLE_CUDA error_t cudaUserObjectRelease(user_object* o, unsigned count) {
  const std::lock_guard<std::mutex> lock(user_objects_mutex);
  return noted(drop_references(o, count));
}
HEDDLE_CUDA error_t cudaGraphRetainUserObject(graph* g, user_object* o, unsigned count, unsigned flags) {
  constexpr unsigned moved = 1;  // from the caller's references
  const std::lock_guard<std::mutex> lock(user_objects_mutex);
  if (!is_known(g) || !can_have(o, count) || flags > moved || (flags == moved && count > o->references))
    return noted(error::invalid_value);
  if (flags != moved) add_references(o, count);
  g->objects.add(o, count);
  return noted(error::none);
}
HEDDLE_CUDA error_t cudaGraphReleaseUserObject(graph* g, user_object* o, unsigned count) {
  const std::lock_guard<std::mutex> lock(user_objects_mutex);
  if (!is_known(g) || !can_have(o, count) || !g->objects.remove(o, count)) return noted(error::invalid_value);
  return noted(drop_references(o, count));
}

/// The flags ask for more about each node; all get the same here.
HEDDLE_CUDA error_t cudaGraphDebugDotPrint(graph* g, const char* path, unsigned) {
  constexpr error_t operating_system = 304;
  if (!is_known(g) || path == nullptr) return noted(error::invalid_value);
  std::ofstream out(path);
  write_picture(out, *g);
  return noted(out.flush() ? error::none : operating_system);
}
