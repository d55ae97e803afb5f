// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_80 -O3 -lineinfo -o races.ptx races.cu
// Kernels with a race, race_NAME, and look-alikes without one, free_NAME: one function, whose argument says which.
// Blocks have 64 threads, and grids 2 blocks, if sanitize_races_test.cpp does not say otherwise.
#define PAIR(name, parameters, arguments)                                          \
  extern "C" __global__ void race_##name parameters { name<false> arguments; }   \
  extern "C" __global__ void free_##name parameters { name<true> arguments; }

template <bool good>
__device__ void missing_barrier(unsigned* out) {
  __shared__ unsigned s[64];
  s[threadIdx.x] = threadIdx.x * 3 + 1;
  if (good) __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}
PAIR(missing_barrier, (unsigned* out), (out))

// The tile is filled again while others still read it.
template <bool good>
__device__ void tile_loop(unsigned* out) {
  __shared__ unsigned s[64];
  unsigned sum = 0;
  for (unsigned k = 1; k < 5; ++k) {
    s[threadIdx.x] = threadIdx.x * k + 1;
    __syncthreads();
    sum += s[63 - threadIdx.x];
    if (good) __syncthreads();
  }
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}
PAIR(tile_loop, (unsigned* out), (out))

template <bool good>
__device__ void reduction(unsigned* out) {
  __shared__ unsigned s[64];
  s[threadIdx.x] = threadIdx.x + 1;
  __syncthreads();
  for (unsigned d = 32; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    if (good || d < 32) __syncthreads();
  }
  if (threadIdx.x == 33) out[blockIdx.x] = s[0];
}
PAIR(reduction, (unsigned* out), (out))

// Lanes of a warp that diverge independently need __syncwarp.
template <bool good>
__device__ void warp_programming(unsigned* out) {
  __shared__ unsigned first[64];
  __shared__ unsigned second[2];
  first[threadIdx.x] = threadIdx.x + 1;
  if (good) __syncwarp();
  if (threadIdx.x % 32 == 0) {
    second[threadIdx.x / 32] = 0;
    for (unsigned k = 0; k < 32; ++k) second[threadIdx.x / 32] += first[threadIdx.x + k];
  }
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = second[0] + second[1];
}
PAIR(warp_programming, (unsigned* out), (out))

template <bool good>
__device__ void partial_syncwarp(unsigned* out) {
  __shared__ unsigned s[64];
  const unsigned lane = threadIdx.x % 32;
  s[threadIdx.x] = threadIdx.x + 5;
  if (good) __syncwarp();
  else if (lane < 16) __syncwarp(0xffff);
  out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x ^ 31];
}
PAIR(partial_syncwarp, (unsigned* out), (out))

template <bool good>
__device__ void shared_counter(unsigned* out) {
  __shared__ unsigned count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    if (good) atomicAdd(&count, threadIdx.x + 1);
    else count += threadIdx.x + 1;
  }
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = count;
}
PAIR(shared_counter, (unsigned* out), (out))

template <bool good>
__device__ void bytes_of_a_word(unsigned* out) {
  __shared__ unsigned char s[64];
  s[good ? threadIdx.x : threadIdx.x / 2] = static_cast<unsigned char>(threadIdx.x + 1);
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x / 2];
}
PAIR(bytes_of_a_word, (unsigned* out), (out))

// The first warp produces, the second consumes.
template <bool good>
__device__ void named_barriers(unsigned* out) {
  __shared__ unsigned s[32];
  if (threadIdx.x < 32) {
    s[threadIdx.x] = threadIdx.x + 1;
    asm volatile("barrier.sync 1, 64;" ::: "memory");
  } else {
    if (!good) out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x - 32];
    asm volatile("barrier.sync 1, 64;" ::: "memory");
    if (good) out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x - 32];
  }
}
PAIR(named_barriers, (unsigned* out), (out))

template <bool good>
__device__ void arrive_and_sync(unsigned* out) {
  __shared__ unsigned s[32];
  if (threadIdx.x < 32) {
    if (good) s[threadIdx.x] = threadIdx.x + 1;
    asm volatile("barrier.arrive 2, 64;" ::: "memory");
    if (!good) s[threadIdx.x] = threadIdx.x + 1;
  } else {
    asm volatile("barrier.sync 2, 64;" ::: "memory");
    out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x - 32];
  }
}
PAIR(arrive_and_sync, (unsigned* out), (out))

// Block 0 hands data to block 1.
template <bool good>
__device__ void message(unsigned* out, unsigned* data, unsigned* flag) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = threadIdx.x + 1;
    if (good) __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicExch(flag, 1u);
  } else {
    if (threadIdx.x == 0)
      while (atomicAdd(flag, 0u) == 0) {
      }
    __syncthreads();
    out[threadIdx.x] = data[63 - threadIdx.x];
  }
}
PAIR(message, (unsigned* out, unsigned* data, unsigned* flag), (out, data, flag))

template <bool good>
__device__ void narrow_fence(unsigned* out, unsigned* data, unsigned* flag) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      data[0] = 17;
      if (good) __threadfence();
      else __threadfence_block();
      *reinterpret_cast<volatile unsigned*>(flag) = 1;
    }
  } else if (threadIdx.x == 0) {
    while (*reinterpret_cast<volatile unsigned*>(flag) == 0) {
    }
    __threadfence();
    out[0] = data[0];
  }
}
PAIR(narrow_fence, (unsigned* out, unsigned* data, unsigned* flag), (out, data, flag))

// The last block to arrive adds up what all have stored.
template <bool good>
__device__ void last_block(unsigned* out, unsigned* parts, unsigned* ticket) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = blockIdx.x + 1;
    if (good) __threadfence();
    last = atomicInc(ticket, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 32) {
    unsigned sum = 0;
    for (unsigned k = 0; k < gridDim.x; ++k) sum += parts[k];
    out[0] = sum;
  }
}
PAIR(last_block, (unsigned* out, unsigned* parts, unsigned* ticket), (out, parts, ticket))

// Writes of one value do not depend on their order.
template <bool good>
__device__ void one_word(unsigned* out) {
  if (threadIdx.x == 0) out[0] = good ? 1 : blockIdx.x + 1;
}
PAIR(one_word, (unsigned* out), (out))

template <bool good>
__device__ void block_atomics(unsigned* out) {
  if (good) atomicAdd(out, threadIdx.x);
  else atomicAdd_block(out, threadIdx.x);
}
PAIR(block_atomics, (unsigned* out), (out))

template <bool good>
__device__ void plain_read_of_a_counter(unsigned* out, unsigned* count) {
  atomicAdd(count, 1u);
  const unsigned seen = good ? atomicAdd(count, 0u) : *count;
  out[blockIdx.x * 64 + threadIdx.x] = seen > 0;
}
PAIR(plain_read_of_a_counter, (unsigned* out, unsigned* count), (out, count))

template <bool good>
__device__ void grid_barrier(unsigned* out, unsigned* data, unsigned* count) {
  data[blockIdx.x * 64 + threadIdx.x] = threadIdx.x + 1;
  if (good) __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(count, 1u);
    while (*reinterpret_cast<volatile unsigned*>(count) < gridDim.x) {
    }
    __threadfence();
  }
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = data[((blockIdx.x + 1) % gridDim.x) * 64 + threadIdx.x];
}
PAIR(grid_barrier, (unsigned* out, unsigned* data, unsigned* count), (out, data, count))

// A stencil in place reads what its neighbours overwrite.
template <bool good>
__device__ void stencil(unsigned* out, unsigned* in) {
  const unsigned k = blockIdx.x * 64 + threadIdx.x;
  unsigned* const to = good ? out : in;
  to[k] = in[k] + in[k > 0 ? k - 1 : k] + 1;
}
PAIR(stencil, (unsigned* out, unsigned* in), (out, in))

template <bool good>
__device__ void lock(unsigned* out, unsigned* mutex) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(mutex, 0u, 1u) != 0) {
  }
  __threadfence();
  if (good) out[0] += blockIdx.x + 1;
  __threadfence();
  atomicExch(mutex, 0u);
  if (!good) out[0] += blockIdx.x + 1;
}
PAIR(lock, (unsigned* out, unsigned* mutex), (out, mutex))

// Two warps of a block, by a volatile flag.
template <bool good>
__device__ void flag_in_block(unsigned* out) {
  __shared__ unsigned data;
  __shared__ volatile unsigned flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 32) {
    data = out[8] + 9;
    if (good) __threadfence_block();
    flag = 1;
  }
  if (threadIdx.x == 0) {
    while (flag == 0) {
    }
    __threadfence_block();
    out[blockIdx.x] = data;
  }
}
PAIR(flag_in_block, (unsigned* out), (out))

// All lanes write in one instruction.
template <bool good>
__device__ void lanes_of_an_instruction(unsigned* out) {
  __shared__ unsigned s[32];
  if (threadIdx.x < 32) s[good ? threadIdx.x : 0] = threadIdx.x + 1;
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = s[0];
}
PAIR(lanes_of_an_instruction, (unsigned* out), (out))

__device__ unsigned address_of(const void* shared) { return static_cast<unsigned>(__cvta_generic_to_shared(shared)); }

template <bool good>
__device__ void transaction_barrier(unsigned* out) {
  __shared__ unsigned s[32];
  __shared__ unsigned long long barrier;
  const unsigned b = address_of(&barrier);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(b) : "memory");
  __syncthreads();
  if (threadIdx.x < 32) {
    if (good) s[threadIdx.x] = threadIdx.x + 1;
    asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" ::"r"(b) : "memory");
    if (!good) s[threadIdx.x] = threadIdx.x + 1;
  } else {
    unsigned done = 0;
    while (done == 0)
      asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(b)
                   : "memory");
    out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x - 32];
  }
}
PAIR(transaction_barrier, (unsigned* out), (out))

__device__ void copy_in(unsigned* to, const unsigned* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\n cp.async.commit_group;" ::"r"(address_of(to)), "l"(from)
               : "memory");
}

template <bool good>
__device__ void copy_without_wait(unsigned* out, const unsigned* in) {
  __shared__ unsigned s[64];
  copy_in(s + threadIdx.x, in + threadIdx.x);
  if (good) asm volatile("cp.async.wait_group 0;" ::: "memory");
  out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x];
}
PAIR(copy_without_wait, (unsigned* out, const unsigned* in), (out, in))

template <bool good>
__device__ void copy_without_barrier(unsigned* out, const unsigned* in) {
  __shared__ unsigned s[64];
  copy_in(s + threadIdx.x, in + threadIdx.x);
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  if (good) __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}
PAIR(copy_without_barrier, (unsigned* out, const unsigned* in), (out, in))

// The flag is set and polled without order: the reader needs a fence, or a load that acquires.
__device__ unsigned relaxed(const unsigned* p) {
  unsigned value;
  asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
  return value;
}
__device__ unsigned acquiring(const unsigned* p) {
  unsigned value;
  asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
  return value;
}
template <bool good>
__device__ void relaxed_poll(unsigned* out, unsigned* data, unsigned* flag) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    data[0] = 17;
    asm volatile("st.release.gpu.u32 [%0], 1;" ::"l"(flag) : "memory");
  } else {
    while ((good ? acquiring(flag) : relaxed(flag)) == 0) {
    }
    out[0] = data[0];
  }
}
PAIR(relaxed_poll, (unsigned* out, unsigned* data, unsigned* flag), (out, data, flag))

template <bool good>
__device__ void fence_of_reader(unsigned* out, unsigned* data, unsigned* flag) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    data[0] = 17;
    __threadfence();
    *reinterpret_cast<volatile unsigned*>(flag) = 1;
  } else {
    while (*reinterpret_cast<volatile unsigned*>(flag) == 0) {
    }
    if (good) __threadfence();
    else __threadfence_block();
    out[0] = data[0];
  }
}
PAIR(fence_of_reader, (unsigned* out, unsigned* data, unsigned* flag), (out, data, flag))

// Eighteen blocks read a word that the last one writes when they have said so; `silent` does not.
template <bool good>
__device__ void many_readers(unsigned* out, unsigned* word, unsigned* said, unsigned silent) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x + 1 < gridDim.x) {
    out[blockIdx.x] = word[0];
    __threadfence();
    if (good || blockIdx.x != silent) atomicAdd(said, 1);
  } else {
    while (atomicAdd(said, 0) < gridDim.x - (good ? 1 : 2)) {
    }
    __threadfence();
    word[0] = 77;
  }
}
PAIR(many_readers, (unsigned* out, unsigned* word, unsigned* said, unsigned silent), (out, word, said, silent))

// All warps of a block read a word. All but one synchronise with the first, which writes it.
template <bool good>
__device__ void many_warps(unsigned* out, unsigned* word, unsigned silent) {
  const unsigned value = word[0];
  out[threadIdx.x] = value;
  const unsigned threads = blockDim.x - (good ? 0 : 32);
  if (good || threadIdx.x / 32 != silent) asm volatile("barrier.sync 3, %0;" ::"r"(threads) : "memory");
  if (threadIdx.x == 0) word[0] = value + 9;
}
PAIR(many_warps, (unsigned* out, unsigned* word, unsigned silent), (out, word, silent))
