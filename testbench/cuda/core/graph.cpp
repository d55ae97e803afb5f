// SPDX-License-Identifier: MIT
#include "testbench/cuda/core/graph.h"

#include <algorithm>
#include <set>

#include "testbench/cuda/core/client.h"
#include "testbench/cuda/core/host_memory.h"

using namespace heddle;

namespace heddle::cuda {

namespace {

std::set<const graph*>& graphs() {
  static auto* all = new std::set<const graph*>;
  return *all;
}
/// Graphs within nodes of others: the program may use them, and not destroy them.
std::set<const graph*>& inner_graphs() {
  static auto* all = new std::set<const graph*>;
  return *all;
}
std::set<const graph_exec*>& execs() {
  static auto* all = new std::set<const graph_exec*>;
  return *all;
}
std::map<const void*, std::weak_ptr<graph_memory>>& memories() {
  static auto* all = new std::map<const void*, std::weak_ptr<graph_memory>>;
  return *all;
}

}  // namespace

graph_memory::graph_memory(void* p, std::size_t n) : pointer(p), bytes(n) {}

graph_memory::~graph_memory() {
  {
    const std::lock_guard<std::mutex> lock(graph_mutex());
    memories().erase(pointer);
  }
  free_memory(pointer);
}

int type_of(const graph_node& n) {
  constexpr std::size_t allocation = 8;
  constexpr int words = 12, conditional = 13;
  if (std::holds_alternative<word_work>(n.work)) return words;
  if (std::holds_alternative<conditional_work>(n.work)) return conditional;
  const std::size_t k = n.work.index();
  return static_cast<int>(k >= allocation ? k + 2 : k);
}

graph_node* graph::add(node_work work, const std::vector<graph_node*>& after) {
  auto n = std::make_unique<graph_node>();
  n->owner = this;
  n->work = std::move(work);
  for (graph_node* a : after)
    if (std::find(n->after.begin(), n->after.end(), a) == n->after.end()) n->after.push_back(a);
  nodes.push_back(std::move(n));
  return nodes.back().get();
}

condition::~condition() { free_memory(word); }

bool graph::is_single() const { return has_memory() || !conditions.empty(); }

bool graph::has_memory() const {
  return std::any_of(nodes.begin(), nodes.end(), [](const auto& n) {
    const auto* child = std::get_if<child_work>(&n->work);
    return std::holds_alternative<allocate_work>(n->work) || std::holds_alternative<free_work>(n->work) ||
           (child != nullptr && child->inner->has_memory());
  });
}

copy_3d shown(const copy_work& w) {
  copy_3d b{};
  const bool is_row = w.height == 1 && w.depth == 1;  // without pitch and height
  b.source = {const_cast<void*>(w.from), w.from_pitch, w.width, w.from_pitch != 0 ? w.from_layer / w.from_pitch : 1};
  b.destination = {w.to, w.to_pitch, w.width, w.to_pitch != 0 ? w.to_layer / w.to_pitch : 1};
  if (is_row) b.source = {b.source.pointer, 0, 0, 0};
  if (is_row) b.destination = {b.destination.pointer, 0, 0, 0};
  b.extent = {w.width, w.height, w.depth};
  b.kind = w.kind;
  return b;
}

std::unique_ptr<graph> graph::clone() const {
  auto g = std::make_unique<graph>(objects);
  g->conditions = conditions;
  std::map<const graph_node*, graph_node*> made;
  for (const auto& n : nodes) {
    graph_node* c = g->add(n->work, {});
    c->original = n.get();
    c->enabled = n->enabled;
    c->box = n->box;
    c->pitch = n->pitch;
    c->attributes = n->attributes;
    if (const auto* child = std::get_if<child_work>(&n->work)) c->work = child_work{child->inner->clone()};
    if (auto* w = std::get_if<conditional_work>(&c->work))
      for (auto& body : w->bodies) body = body->clone();
    made[n.get()] = c;
  }
  for (const auto& n : nodes)
    for (const graph_node* a : n->after) made[n.get()]->after.push_back(made[a]);
  return g;
}

std::mutex& graph_mutex() {
  static auto* the_mutex = new library_mutex;
  return *the_mutex;
}
bool is_known(const graph* g) {
  const std::lock_guard<std::mutex> lock(graph_mutex());
  return graphs().count(g) != 0 || inner_graphs().count(g) != 0;
}
void note_inner(const graph* g) {
  const std::lock_guard<std::mutex> lock(graph_mutex());
  inner_graphs().insert(g);
}
graph::~graph() {
  const std::lock_guard<std::mutex> lock(graph_mutex());
  inner_graphs().erase(this);
}
bool is_known(const graph_exec* e) {
  const std::lock_guard<std::mutex> lock(graph_mutex());
  return execs().count(e) != 0;
}
graph* keep(std::unique_ptr<graph> g) {
  const std::lock_guard<std::mutex> lock(graph_mutex());
  graphs().insert(g.get());
  return g.release();
}
graph_exec* keep(std::unique_ptr<graph_exec> e) {
  const std::lock_guard<std::mutex> lock(graph_mutex());
  execs().insert(e.get());
  return e.release();
}
bool drop(graph* g) {
  {
    const std::lock_guard<std::mutex> lock(graph_mutex());
    if (graphs().erase(g) == 0) return false;
  }
  delete g;
  return true;
}
bool drop(graph_exec* e) {
  {
    const std::lock_guard<std::mutex> lock(graph_mutex());
    if (execs().erase(e) == 0) return false;
  }
  delete e;
  return true;
}
std::shared_ptr<graph_memory> graph_memory_at(const void* p) {
  const std::lock_guard<std::mutex> lock(graph_mutex());
  const auto found = memories().find(p);
  return found != memories().end() ? found->second.lock() : nullptr;
}
void note_graph_memory(const std::shared_ptr<graph_memory>& m) {
  const std::lock_guard<std::mutex> lock(graph_mutex());
  memories()[m->pointer] = m;
}
void for_each_graph_memory(const std::function<void(const graph_memory&)>& visit) {
  std::vector<std::shared_ptr<graph_memory>> all;  // may hold the last references
  {
    const std::lock_guard<std::mutex> lock(graph_mutex());
    for (const auto& [pointer, weak] : memories()) all.push_back(weak.lock());
  }
  for (const auto& m : all)
    if (m) visit(*m);
}

}  // namespace heddle::cuda
