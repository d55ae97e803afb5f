// SPDX-License-Identifier: MIT
// Instantiated graphs and their launches.
#include <algorithm>

#include "testbench/cuda/core/capture.h"
#include "testbench/cuda/core/graph.h"
#include "testbench/cuda/core/streams.h"

using namespace heddle;

namespace heddle::cuda {

namespace {

// The maximum number of streams of one launch; further independent work shares a stream.
constexpr std::size_t most_lanes = 32;

graph_node* find_copy(const graph& g, const graph_node* original) {
  for (const auto& n : g.nodes) {
    if (n->original == original) return n.get();
    if (const auto* child = std::get_if<child_work>(&n->work))
      if (graph_node* inside = find_copy(*child->inner, original)) return inside;
    if (const auto* choice = std::get_if<conditional_work>(&n->work))
      for (const auto& body : choice->bodies)
        if (graph_node* inside = find_copy(*body, original)) return inside;
  }
  return nullptr;
}

std::uint32_t make(wire::call what, const wire::writer& arguments) {
  const reply r = call(what, arguments);
  return r.status == error::none ? r.read().get<std::uint32_t>() : 0;
}
error_t record(std::uint32_t event, std::uint32_t stream) {
  return call(wire::call::record_event, wire::writer().put(event).put(stream)).status;
}
error_t wait_for(std::uint32_t stream, std::uint32_t event) {
  return call(wire::call::wait_event, wire::writer().put(stream).put(event)).status;
}

// Values of cudaGraphExecUpdateResult.
constexpr int updated = 0, topology_changed = 2, type_changed = 3, parameters_changed = 5, not_supported = 6;

}  // namespace

bool may_become(const node_work& w, const node_work& next) {
  if (const auto* f = std::get_if<fill_work>(&w)) return (f->height > 1) == (std::get<fill_work>(next).height > 1);
  if (const auto* c = std::get_if<copy_work>(&w)) return on_host(*c) == on_host(std::get<copy_work>(next));
  return true;
}

namespace {

int take_over(graph& to, const graph& from, const graph_node*& where) {
  if (to.nodes.size() != from.nodes.size()) return topology_changed;
  for (std::size_t k = 0; k < to.nodes.size(); ++k) {
    graph_node& t = *to.nodes[k];
    const graph_node& f = *from.nodes[k];
    where = &f;
    if (t.work.index() != f.work.index()) return type_changed;
    if (t.after.size() != f.after.size()) return topology_changed;
    for (std::size_t d = 0; d < t.after.size(); ++d) {
      const auto is = [](const graph_node* n) {
        return [n](const std::unique_ptr<graph_node>& m) { return m.get() == n; };
      };
      const auto a = std::find_if(to.nodes.begin(), to.nodes.end(), is(t.after[d])) - to.nodes.begin();
      const auto b = std::find_if(from.nodes.begin(), from.nodes.end(), is(f.after[d])) - from.nodes.begin();
      if (a != b) return topology_changed;
    }
    if (std::holds_alternative<conditional_work>(t.work)) return not_supported;
    if (!may_become(t.work, f.work)) {
      where = &t;
      return parameters_changed;
    }
    if (const auto* child = std::get_if<child_work>(&t.work))
      if (const int r = take_over(*child->inner, *std::get<child_work>(f.work).inner, where); r != updated) return r;
  }
  for (std::size_t k = 0; k < to.nodes.size(); ++k) {
    if (!std::holds_alternative<child_work>(to.nodes[k]->work)) to.nodes[k]->work = from.nodes[k]->work;
    to.nodes[k]->attributes = from.nodes[k]->attributes;
    to.nodes[k]->box = from.nodes[k]->box;
    to.nodes[k]->pitch = from.nodes[k]->pitch;
  }
  where = nullptr;
  return updated;
}

}  // namespace

std::unique_ptr<graph_exec> graph_exec::make(const graph& g, unsigned long long flags) {
  std::unique_ptr<graph_exec> e(new graph_exec);
  e->flags = flags;
  e->copy_ = g.clone();
  e->copy_->is_free = false;
  std::vector<std::size_t> ends;
  if (!e->flatten(*e->copy_, {}, ends)) return nullptr;
  e->place();
  return e;
}

graph_exec::~graph_exec() {
  for (std::size_t k = 1; k < lanes_.size(); ++k)
    if (lanes_[k] != 0) call(wire::call::drop_stream, wire::writer().put(lanes_[k]));
  const auto drop_event = [](std::uint32_t e) {
    if (e != 0) call(wire::call::drop_event, wire::writer().put(e));
  };
  for (const step& s : steps_) drop_event(s.event);
  drop_event(begin_event_);
  drop_event(end_event_);
}

// Orders the nodes topologically and otherwise by creation, with child graphs expanded in place. False: the graph is
// cyclic.
bool graph_exec::flatten(const graph& g, const std::vector<std::size_t>& before, std::vector<std::size_t>& ends) {
  std::map<const graph_node*, std::size_t> placed;
  std::map<const graph_node*, std::size_t> open;
  std::map<const graph_node*, std::vector<const graph_node*>> next;
  std::map<const graph_node*, std::size_t> order;
  std::map<std::size_t, graph_node*> ready;
  for (std::size_t k = 0; k < g.nodes.size(); ++k) {
    graph_node* n = g.nodes[k].get();
    order[n] = k;
    open[n] = n->after.size();
    for (const graph_node* a : n->after) next[a].push_back(n);
    if (n->after.empty()) ready[k] = n;
  }
  while (!ready.empty()) {
    graph_node* n = ready.begin()->second;
    ready.erase(ready.begin());
    std::vector<std::size_t> after = n->after.empty() ? before : std::vector<std::size_t>();
    for (const graph_node* a : n->after) after.push_back(placed.at(a));
    step s;
    s.node = n;
    if (const auto* child = std::get_if<child_work>(&n->work)) {
      std::vector<std::size_t> inner_ends;
      if (!flatten(*child->inner, after, inner_ends)) return false;
      s.node = nullptr;
      if (!inner_ends.empty()) after = inner_ends;
    }
    if (const auto* choice = std::get_if<conditional_work>(&n->work))
      for (const auto& body : choice->bodies) {
        s.bodies.push_back(make(*body, flags));
        if (!s.bodies.back()) return false;
      }
    s.after = std::move(after);
    placed[n] = steps_.size();
    steps_.push_back(std::move(s));
    for (const graph_node* later : next[n])
      if (--open[later] == 0) ready[order[later]] = g.nodes[order[later]].get();
  }
  for (const auto& n : g.nodes)
    if (next[n.get()].empty() && placed.count(n.get()) != 0) ends.push_back(placed.at(n.get()));
  return placed.size() == g.nodes.size();
}

// Assigns a step to a lane whose last step it depends on; otherwise to a lane whose last step already has a successor
// in another lane, or to a new lane.
void graph_exec::place() {
  std::vector<std::size_t> tail;  // last step of each lane
  std::vector<bool> followed(steps_.size(), false);
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    step& s = steps_[k];
    s.is_last = true;
    std::size_t lane = tail.size();
    for (const std::size_t a : s.after) {
      const auto found = std::find(tail.begin(), tail.end(), a);
      if (found != tail.end()) lane = std::min<std::size_t>(lane, static_cast<std::size_t>(found - tail.begin()));
    }
    if (lane == tail.size())
      for (std::size_t t = tail.size(); t-- > 0;)
        if (followed[tail[t]]) lane = t;
    if (lane == tail.size() && lane == most_lanes) lane = k % most_lanes;
    if (lane == tail.size()) tail.push_back(k);
    tail[lane] = k;
    s.lane = lane;
    for (const std::size_t a : s.after) {
      followed[a] = true;
      steps_[a].is_last = false;
      if (steps_[a].lane != lane) steps_[a].is_waited_for = true;
    }
  }
  for (step& s : steps_)
    if (s.is_last && s.lane != 0) s.is_waited_for = true;
  lanes_.assign(std::max<std::size_t>(tail.size(), 1), 0);
}

error_t graph_exec::run(const step& s, std::uint32_t stream) {
  if (s.node == nullptr || !s.node->enabled) return error::none;
  const node_work& w = s.node->work;
  if (const auto* k = std::get_if<kernel_work>(&w)) return cuda::launch(*k, stream, manner::graph);
  if (const auto* c = std::get_if<copy_work>(&w)) return copy(*c, stream, manner::graph);
  if (const auto* f = std::get_if<fill_work>(&w)) return fill(*f, stream, manner::graph);
  if (const auto* h = std::get_if<host_work>(&w)) return run_on_host(*h, stream, manner::graph);
  if (const auto* v = std::get_if<word_work>(&w)) return use_words(*v, stream);
  if (const auto* e = std::get_if<wait_work>(&w)) return wait_for(stream, event_number(e->event));
  if (const auto* e = std::get_if<record_work>(&w)) {
    note_record(event_number(e->event));
    forget_captured_event(event_number(e->event));
    return record(event_number(e->event), stream);
  }
  if (const auto* m = std::get_if<allocate_work>(&w)) m->memory->live = true;
  if (const auto* m = std::get_if<free_work>(&w)) m->memory->live = false;
  if (const auto* c = std::get_if<conditional_work>(&w)) return decide(*c, s, stream);
  return error::none;
}

// The host decides, when the work before the node has ended.
error_t graph_exec::decide(const conditional_work& w, const step& s, std::uint32_t stream) {
  for (bool first = true;; first = false) {
    unsigned value = 0;
    error_t e = copy(copy_of_row(&value, w.decides->word, sizeof value, device_to_host), stream, manner::graph);
    if (e == error::none) e = wait(wire::wait_kind::stream, stream);
    if (e != error::none) return e;
    const std::size_t body = w.what == conditional_work::by_number ? value : value != 0 ? 0 : 1;
    const bool is_over = body >= s.bodies.size() || (w.what != conditional_work::while_set && !first);
    if (is_over) return error::none;
    if (e = s.bodies[body]->launch(stream); e != error::none) return e;
    if (w.what != conditional_work::while_set) return error::none;
  }
}

error_t graph_exec::launch(std::uint32_t stream) {
  constexpr unsigned long long free_before_launch = 1;
  for (const step& s : steps_) {
    const auto* m = s.node != nullptr ? std::get_if<allocate_work>(&s.node->work) : nullptr;
    if (m != nullptr && m->memory->live && (flags & free_before_launch) == 0) return error::invalid_value;
  }
  if (begin_event_ == 0) {
    begin_event_ = cuda::make(wire::call::make_event, wire::writer());
    end_event_ = cuda::make(wire::call::make_event, wire::writer());
    for (std::size_t k = 1; k < lanes_.size(); ++k)
      lanes_[k] =
          cuda::make(wire::call::make_stream, wire::writer().put(wire::stream_flag::non_blocking).put(std::int32_t{0}));
    for (step& s : steps_)
      if (s.is_waited_for) s.event = cuda::make(wire::call::make_event, wire::writer());
  }
  lanes_[0] = stream;
  error_t e = error::none;
  const auto also = [&e](error_t next) { e = e != error::none ? e : next; };
  // Launches of one graph are serialised across streams.
  if (launched_) also(wait_for(stream, end_event_));
  launched_ = true;
  for (const auto& c : copy_->conditions)
    if (c->is_assigned) also(fill({c->word, 4, 4, c->initial, 4, 4, 1, 1}, stream, manner::graph));
  if (lanes_.size() > 1) also(record(begin_event_, stream));
  for (const step& s : steps_) {
    const std::uint32_t own = lanes_[s.lane];
    if (s.after.empty() && s.lane != 0) also(wait_for(own, begin_event_));
    for (const std::size_t a : s.after)
      if (steps_[a].lane != s.lane) also(wait_for(own, steps_[a].event));
    also(run(s, own));
    if (s.is_waited_for) also(record(s.event, own));
  }
  for (const step& s : steps_)
    if (s.is_last && s.lane != 0) also(wait_for(stream, s.event));
  also(record(end_event_, stream));
  return e;
}

graph_node* graph_exec::copy_of(const graph_node* original) const {
  graph_node* own = find_copy(*copy_, original);
  for (const step& s : steps_)
    for (const auto& body : s.bodies)
      if (graph_node* inside = own != nullptr ? body->copy_of(own) : nullptr) return inside;
  return own;
}

bool graph_exec::update_child(graph& to, const graph& from) {
  const graph_node* where = nullptr;
  return take_over(to, from, where) == updated;
}

int graph_exec::update(const graph& g, const graph_node*& where) { return take_over(*copy_, g, where); }

}  // namespace heddle::cuda
