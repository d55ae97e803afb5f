// SPDX-License-Identifier: MIT
// Launches that begin before the launch before them has ended, directly and in a graph.
#include "check.cuh"

__global__ void step(const unsigned* in, unsigned* out, unsigned rounds) {
  const unsigned own = blockIdx.x * blockDim.x + threadIdx.x, count = gridDim.x * blockDim.x;
  cudaTriggerProgrammaticLaunchCompletion();
  unsigned v = own;
  for (unsigned k = 0; k < rounds; ++k) v = v * 1664525u + 1013904223u;
  cudaGridDependencySynchronize();
  out[own] = in[(own + blockDim.x) % count] + (v | 1);
}

constexpr unsigned blocks = 64, threads = 128, words = blocks * threads, rounds = 1000, steps = 4;

void launch_all(unsigned* a, unsigned* b, cudaStream_t stream, int programmatic) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = programmatic;
  cudaLaunchConfig_t c{};
  c.gridDim = dim3(blocks);
  c.blockDim = dim3(threads);
  c.stream = stream;
  c.attrs = &attribute;
  c.numAttrs = 1;
  for (unsigned k = 0; k < steps; ++k)
    CHECK(cudaLaunchKernelEx(&c, step, static_cast<const unsigned*>(k % 2 == 0 ? a : b), k % 2 == 0 ? b : a, rounds));
}

std::vector<unsigned> result_of(unsigned* a) {
  std::vector<unsigned> got(words);
  CHECK(cudaMemcpy(got.data(), a, 4 * words, cudaMemcpyDeviceToHost));
  CHECK(cudaMemset(a, 0, 4 * words));
  return got;
}

int main() {
  unsigned *a = nullptr, *b = nullptr;
  CHECK(cudaMalloc(&a, 4 * words));
  CHECK(cudaMalloc(&b, 4 * words));
  CHECK(cudaMemset(a, 0, 4 * words));
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaDeviceSynchronize());

  std::vector<unsigned> in(words), out(words);
  for (unsigned k = 0; k < steps; ++k) {
    for (unsigned own = 0; own < words; ++own) {
      unsigned v = own;
      for (unsigned r = 0; r < rounds; ++r) v = v * 1664525u + 1013904223u;
      out[own] = in[(own + threads) % words] + (v | 1);
    }
    in = out;
  }
  float milliseconds[2];
  for (int programmatic = 0; programmatic < 2; ++programmatic) {
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventRecord(begin, stream));
    launch_all(a, b, stream, programmatic);
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaEventElapsedTime(&milliseconds[programmatic], begin, end));
    EXPECT(result_of(a) == in);
  }
  EXPECT(milliseconds[1] < 0.75f * milliseconds[0]);

  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  launch_all(a, b, stream, 1);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  CHECK(cudaGraphLaunch(executable, stream));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(result_of(a) == in);
  std::puts(wrong == 0 ? "right" : "wrong");
  return wrong != 0;
}
