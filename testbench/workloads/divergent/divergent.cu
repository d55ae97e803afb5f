// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -O3 -o divergent.ptx divergent.cu

// Data-dependent control flow in every form that a compiler keeps as branches: nested conditions, loops whose lanes
// leave in different iterations (by condition, break and continue), a switch, and lanes that return early.
__device__ __noinline__ unsigned collatz_steps(unsigned value, unsigned limit) {
  unsigned steps = 0;
  while (value > 1 && steps < limit) {
    if (value & 1) {
      value = 3 * value + 1;
    } else {
      value >>= 1;
    }
    ++steps;
  }
  return steps;
}

extern "C" __global__ void divergent(const unsigned* in, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned value = in[i];
  if ((value & 15) == 0) {
    out[i] = ~value;
    return;
  }
  unsigned result = 0;
  if (value & 16) {
    for (unsigned round = 0; round < (value >> 5 & 15); ++round) {
      if ((round & 3) == (value >> 9 & 3)) continue;
      if (result > 0xf0000000u) break;
      if (value & 0x800) {
        result = result * 5 + round;
        if (result & 0x40) result ^= in[(i + round) % n];
      } else {
        result += value >> round;
      }
    }
  } else if (value & 32) {
    result = collatz_steps(value >> 8 & 0xfff, 40);
  } else {
    result = value;
  }
  switch (value >> 28) {
    case 0: result += 17; break;
    case 1: result ^= 0x55555555; break;
    case 2: result = __popc(result); break;
    case 3: result = __brev(result);  // falls through to case 4
    case 4: result = result * result + 1; break;
    case 7: result -= value; break;
    case 9: result = (result << 3) | (result >> 29); break;
    case 11: {
      unsigned bit = 0;
      do {
        result += bit * value;
        ++bit;
      } while (bit < 32 && (result >> bit & 1));
      break;
    }
    case 13: out[i] = result; return;
    case 15: result = max(result, value >> 1); break;
    default: result = ~result;
  }
  if (threadIdx.x % 32 < 7) result += 1000;
  out[i] = result;
}
