// SPDX-License-Identifier: MIT
// Stream capture: work of a captured stream goes into a graph instead of to the GPU.
#pragma once

#include "testbench/cuda/core/graph.h"

namespace heddle::cuda {

/// True: the call is complete, because its stream is being captured (or must not be used because of another capture),
/// and `result` is its return value.
bool captured(std::uint32_t stream, manner how, node_work work, error_t& result);
/// The same for calls that record or wait for events.
bool captured_record(std::uint32_t event, std::uint32_t stream, bool external, error_t& result);
/// `is_fresh`: the event has never been recorded.
bool captured_wait(std::uint32_t stream, std::uint32_t event, bool external, bool is_fresh, error_t& result);
/// A question about an event whose last record is in a capture.
bool captured_event_question(std::uint32_t event, bool invalidates, error_t& result);
/// A graph launch has recorded the event, which is no longer that of a capture that has ended.
void forget_captured_event(std::uint32_t event);
/// A query or a wait for work that is being captured: an error that invalidates the capture.
bool captured_question(wire::wait_kind kind, std::uint32_t number, error_t& result);
/// The error of a call that CUDA forbids during a capture because it may wait for the GPU, as an allocation does. The
/// capture is then invalid. none: no capture of this thread, or of all threads, forbids it.
error_t refused_by_capture();
/// The same for a call that no capture of this stream may have.
error_t refused_in(std::uint32_t stream);
/// True if the stream is being captured.
bool is_captured(std::uint32_t stream);
/// True if work is captured into the graph.
bool is_captured(const graph* g);
/// The stream is destroyed, and with it the capture that began in it.
void forget_captured(std::uint32_t stream);
/// An allocation in a captured stream; null: the stream is not captured, or `result` holds the error.
graph_node* captured_allocation(std::uint32_t stream, std::size_t bytes, void** pointer, error_t& result);

void captured_free(std::uint32_t stream, void* pointer, error_t& result);

/// Adds an allocation node; null: `result` holds the error.
graph_node* add_allocation(graph& g, const std::vector<graph_node*>& after, std::size_t bytes, error_t& result);
graph_node* add_free(graph& g, const std::vector<graph_node*>& after, void* pointer, error_t& result);

}  // namespace heddle::cuda
