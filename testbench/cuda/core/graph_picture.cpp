// SPDX-License-Identifier: MIT
// A graph as text in Graphviz' language.
#include <ostream>
#include <string>

#include "testbench/cuda/core/graph.h"

namespace heddle::cuda {

namespace {

std::string text_of(const graph_node& n) {
  constexpr const char* names[] = {"KERNEL",    "MEMCPY",     "MEMSET",       "HOST",       "GRAPH",
                                   "EMPTY",     "EVENT_WAIT", "EVENT_RECORD", nullptr,      nullptr,
                                   "MEM_ALLOC", "MEM_FREE",   "BATCH_MEM_OP", "CONDITIONAL"};
  std::string text = names[type_of(n)];
  if (const auto* k = std::get_if<kernel_work>(&n.work)) {
    const auto sizes = [](const dim3_t& d) {
      return std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z);
    };
    text += "\\n" + k->function->name + "\\n<<<{" + sizes(k->grid) + "},{" + sizes(k->block) + "}," +
            std::to_string(k->shared_bytes) + ">>>";
  }
  return text;
}

/// Nodes are named by their graph's place and their own, so that the text does not depend on addresses.
void write_graph(std::ostream& out, const graph& g, const std::string& place) {
  const auto name = [&](std::size_t k) { return "\"graph_" + place + "_node_" + std::to_string(k) + "\""; };
  out << "subgraph cluster_" << place << " {\nlabel=\"graph_" << place << "\" graph[style=\"dashed\"];\n";
  for (std::size_t k = 0; k < g.nodes.size(); ++k) {
    const graph_node& n = *g.nodes[k];
    out << name(k) << "[shape=\"rectangle\" label=\"" << k << "\\n" << text_of(n) << "\"];\n";
    if (const auto* child = std::get_if<child_work>(&n.work))
      write_graph(out, *child->inner, place + "_" + std::to_string(k));
  }
  for (std::size_t from = 0; from < g.nodes.size(); ++from)
    for (std::size_t to = 0; to < g.nodes.size(); ++to)
      for (const graph_node* a : g.nodes[to]->after)
        if (a == g.nodes[from].get()) out << name(from) << " -> " << name(to) << ";\n";
  out << "}\n";
}

}  // namespace

void write_picture(std::ostream& out, const graph& g) {
  out << "digraph dot {\n";
  write_graph(out, g, "1");
  out << "}\n";
}

}  // namespace heddle::cuda
