// SPDX-License-Identifier: MIT
// A graph: recorded work with dependencies. A launch submits the work to streams; events represent dependencies
// between streams.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <mutex>
#include <variant>
#include <vector>

#include "testbench/cuda/core/graph_types.h"
#include "testbench/cuda/core/operations.h"

namespace heddle::cuda {

struct graph;

/// Memory allocated by a graph node. Its address is reserved as long as a graph refers to it.
struct graph_memory {
  graph_memory(void* p, std::size_t n);
  ~graph_memory();
  graph_memory(const graph_memory&) = delete;
  graph_memory& operator=(const graph_memory&) = delete;
  void* const pointer;
  const std::size_t bytes;
  bool live = false;  // allocated by a launch and not yet freed
};

struct child_work {
  std::shared_ptr<graph> inner;
};
struct empty_work {};
struct wait_work {
  event_t event;
};
struct record_work {
  event_t event;
};
struct allocate_work {
  std::shared_ptr<graph_memory> memory;
};
struct free_work {
  std::shared_ptr<graph_memory> memory;
};
/// A word of device memory that kernels set, and that decides about the graphs of a node.
struct condition {
  condition(void* w, unsigned i, bool a) : word(w), initial(i), is_assigned(a) {}
  ~condition();
  condition(const condition&) = delete;
  condition& operator=(const condition&) = delete;
  void* const word;
  const unsigned initial;
  const bool is_assigned;  // the initial value, by each launch
};
struct conditional_work {
  enum kind : int { if_set, while_set, by_number };
  std::shared_ptr<condition> decides;
  int what = if_set;
  std::vector<std::shared_ptr<graph>> bodies;
  std::shared_ptr<std::vector<graph*>> shown;  // the bodies, as the program gets them
};
/// In the order of CUDA's node types, except for the last four.
using node_work = std::variant<kernel_work, copy_work, fill_work, host_work, child_work, empty_work, wait_work,
                               record_work, allocate_work, free_work, conditional_work, word_work>;

struct graph_node {
  graph* owner = nullptr;
  node_work work;
  std::vector<graph_node*> after;        // the nodes it depends on, without duplicates
  const graph_node* original = nullptr;  // the node of which it is a copy
  bool enabled = true;
  copy_3d box{};                 // as the program specified it
  std::size_t pitch = 0;         // of a fill, as the program specified it
  std::vector<void*> arguments;  // pointers to a kernel's arguments, for queries
  std::map<int, launch_attribute> attributes;
};
/// True if an instantiated node of the first kind of work may be given the second: a fill stays one of a row or of
/// several, and a copy stays between the memories of host and device that it is between.
bool may_become(const node_work& w, const node_work& next);
/// The parameters of a copy in the form in which the program can query them.
copy_3d shown(const copy_work& w);
/// The node's cudaGraphNodeType.
int type_of(const graph_node& n);

/// Resources of the program that it counts references to and wants destroyed with the last one.
struct user_object;
/// The references of one owner, which its copies have, too.
class object_references {
 public:
  object_references() = default;
  object_references(const object_references& other);
  object_references& operator=(const object_references&) = delete;
  ~object_references();
  void add(user_object* o, unsigned count) { counts_[o] += count; }
  /// False: it has not as many.
  bool remove(user_object* o, unsigned count);

 private:
  std::map<user_object*, unsigned> counts_;
};

struct graph {
  graph() = default;
  ~graph();
  graph(const graph&) = delete;
  graph& operator=(const graph&) = delete;
  explicit graph(const object_references& o) : objects(o) {}
  object_references objects;
  std::vector<std::unique_ptr<graph_node>> nodes;  // in the order of creation
  graph_node* add(node_work work, const std::vector<graph_node*>& after);
  [[nodiscard]] std::unique_ptr<graph> clone() const;
  /// True if it, or a graph in it, allocates or frees memory: CUDA allows one instance of it, and no change.
  [[nodiscard]] bool has_memory() const;
  /// True if CUDA allows one instance of it and no copy: it has memory or conditions.
  [[nodiscard]] bool is_single() const;
  std::vector<std::shared_ptr<condition>> conditions;
  std::weak_ptr<void> instance;  // of such a graph
  bool is_free = true;           // not instantiated: its nodes may become anything
};

/// Writes a graph as text in Graphviz' language.
void write_picture(std::ostream& out, const graph& g);

/// An instantiated graph. Independent work of one launch is placed in separate streams.
class graph_exec {
 public:
  /// Null: the graph's dependencies are cyclic.
  [[nodiscard]] static std::unique_ptr<graph_exec> make(const graph& g, unsigned long long flags);
  ~graph_exec();

  error_t launch(std::uint32_t stream);
  /// The copy of a node of the original graph; null: none.
  [[nodiscard]] graph_node* copy_of(const graph_node* original) const;
  /// Takes over the node parameters of a graph with the same topology. Returns a cudaGraphExecUpdateResult; `where` is
  /// the node that differs.
  int update(const graph& g, const graph_node*& where);
  static bool update_child(graph& to, const graph& from);
  /// A copy of the launched graph.
  [[nodiscard]] std::shared_ptr<graph> content() const { return copy_->clone(); }
  unsigned long long flags = 0;
  std::shared_ptr<void> instance;

 private:
  struct step {
    graph_node* node = nullptr;  // null: the end of a child graph
    std::vector<std::size_t> after;
    std::size_t lane = 0;
    bool is_waited_for = false;  // by a step in another lane
    bool is_last = false;        // no step depends on it
    std::uint32_t event = 0;
    std::vector<std::unique_ptr<graph_exec>> bodies;  // of a condition
  };
  graph_exec() = default;
  bool flatten(const graph& g, const std::vector<std::size_t>& before, std::vector<std::size_t>& ends);
  void place();
  error_t run(const step& s, std::uint32_t stream);
  error_t decide(const conditional_work& w, const step& s, std::uint32_t stream);

  std::unique_ptr<graph> copy_;
  std::vector<step> steps_;           // in topological order
  std::vector<std::uint32_t> lanes_;  // streams; the first one is the stream of the launch
  std::uint32_t begin_event_ = 0, end_event_ = 0;
  bool launched_ = false;
};

/// State of graphs and pools.
std::mutex& graph_mutex();
bool is_known(const graph* g);
/// The program is given a graph that belongs to a node.
void note_inner(const graph* g);
bool is_known(const graph_exec* e);
graph* keep(std::unique_ptr<graph> g);
graph_exec* keep(std::unique_ptr<graph_exec> e);
bool drop(graph* g);
bool drop(graph_exec* e);
/// The graph memory that begins at this address; null: none.
[[nodiscard]] std::shared_ptr<graph_memory> graph_memory_at(const void* p);
void note_graph_memory(const std::shared_ptr<graph_memory>& m);
void for_each_graph_memory(const std::function<void(const graph_memory&)>& visit);

}  // namespace heddle::cuda
