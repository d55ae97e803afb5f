// SPDX-License-Identifier: MIT
// Streams whose work goes into a graph instead of to the GPU.
#pragma once

#include "testbench/cuda/core/graph.h"

namespace heddle::cuda {

/// True: the call is done with, since its stream is captured (or must not be used because of another one that is), and
/// `result` is what it returns.
bool captured(std::uint32_t stream, manner how, node_work work, error_t& result);
/// The same for what is not work of its own.
bool captured_record(std::uint32_t event, std::uint32_t stream, bool external, error_t& result);
bool captured_wait(std::uint32_t stream, std::uint32_t event, bool external, error_t& result);
/// A call that asks for or waits for work while it is captured: an error, which ends the capture.
bool captured_question(wire::wait_kind kind, std::uint32_t number, error_t& result);
/// The stream is captured.
bool is_captured(std::uint32_t stream);
/// An allocation in a stream that is captured; null: it is not, or `result` says why not.
graph_node* captured_allocation(std::uint32_t stream, std::size_t bytes, void** pointer, error_t& result);

void captured_free(std::uint32_t stream, void* pointer, error_t& result);

/// Copies as the program may ask for them again.
copy_3d shown(const copy_work& w);
/// Adds a node that allocates; null: `result` says why not.
graph_node* add_allocation(graph& g, const std::vector<graph_node*>& after, std::size_t bytes, error_t& result);
graph_node* add_free(graph& g, const std::vector<graph_node*>& after, void* pointer, error_t& result);

}  // namespace heddle::cuda
