// SPDX-License-Identifier: MIT
// The runtime: nodes of graphs that run other graphs if a word is set, while it is, or by its value.
#include <algorithm>

#include "testbench/cuda/core/graph_params.h"
#include "testbench/cuda/core/host_memory.h"

using namespace heddle;
using namespace heddle::cuda;

error_t heddle::cuda::conditional_of(graph& g, any_node_params& p, node_work& w) {
  const auto& c = p.of.conditional;
  const auto found = std::find_if(g.conditions.begin(), g.conditions.end(),
                                  [&c](const auto& own) { return address_number(own->word) == c.handle; });
  const unsigned most = c.type == conditional_work::while_set ? 1 : c.type == conditional_work::if_set ? 2 : ~0u;
  if (found == g.conditions.end() || c.type < conditional_work::if_set || c.type > conditional_work::by_number ||
      c.size == 0 || c.size > most)
    return error::invalid_value;
  conditional_work made{*found, c.type, {}, std::make_shared<std::vector<graph*>>()};
  for (unsigned k = 0; k < c.size; ++k) {
    made.bodies.push_back(std::make_shared<graph>());
    made.shown->push_back(made.bodies.back().get());
    note_inner(made.bodies.back().get());
  }
  p.of.conditional.bodies = made.shown->data();
  w = std::move(made);
  return error::none;
}

/// The handle is the address of the word, which kernels set.
HEDDLE_CUDA error_t cudaGraphConditionalHandleCreate(unsigned long long* handle, graph* g, unsigned initial,
                                                     unsigned flags) {
  constexpr unsigned assigned = 1;
  if (handle == nullptr || !is_known(g) || flags > assigned) return noted(error::invalid_value);
  void* word = nullptr;
  if (const error_t e = allocate_device(&word, sizeof initial); e != error::none) return e;
  g->conditions.push_back(std::make_shared<condition>(word, initial, flags == assigned));
  *handle = address_number(word);
  return noted(error::none);
}
