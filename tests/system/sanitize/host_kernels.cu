// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -std=c++17 -O3 -lineinfo -o host_kernels.ptx host_kernels.cu
// Kernels that host_program.c launches, and kernels of textures and surfaces, in pairs as in races.cu.
#define PAIR(name, parameters, arguments)                                          \
  extern "C" __global__ void race_##name parameters { name<false> arguments; }   \
  extern "C" __global__ void free_##name parameters { name<true> arguments; }

extern "C" __global__ void fill(unsigned* to, unsigned value) { to[blockIdx.x * 64 + threadIdx.x] = value + threadIdx.x; }
extern "C" __global__ void sum(unsigned* out, const unsigned* in) {
  out[blockIdx.x * 64 + threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x] + in[blockIdx.x * 64 + 63 - threadIdx.x];
}
extern "C" __global__ void count(unsigned* counter) { atomicAdd(counter, 1u); }
extern "C" __global__ void fetch(unsigned* out, cudaTextureObject_t t) {
  out[blockIdx.x * 64 + threadIdx.x] = tex1Dfetch<unsigned>(t, static_cast<int>(blockIdx.x * 64 + threadIdx.x));
}
// Bytes of words that others write in part.
extern "C" __global__ void fill_bytes(unsigned char* to, unsigned odd) { to[2 * threadIdx.x + odd] = odd + 1; }

// A texture is read while another thread writes the memory behind it.
template <bool good>
__device__ void texture_and_store(unsigned* image, unsigned* out, cudaTextureObject_t t) {
  const unsigned k = threadIdx.x;
  const unsigned v = tex2D<unsigned>(t, k % 8, k / 8);
  (good ? out : image)[63 - k] = v + 1;
}
PAIR(texture_and_store, (unsigned* image, unsigned* out, cudaTextureObject_t t, cudaSurfaceObject_t), (image, out, t))

// A barrier does not help: texture caches do not follow stores of the launch.
template <bool good>
__device__ void texture_after_store(unsigned* image, unsigned* out, cudaTextureObject_t t) {
  const unsigned k = threadIdx.x;
  (good ? out : image)[k] = k + 1;
  __syncthreads();
  out[64 + k] = tex2D<unsigned>(t, k % 8, k / 8);
}
PAIR(texture_after_store, (unsigned* image, unsigned* out, cudaTextureObject_t t, cudaSurfaceObject_t), (image, out, t))

template <bool good>
__device__ void texture_after_surface(unsigned* out, cudaTextureObject_t t, cudaSurfaceObject_t s) {
  const unsigned k = threadIdx.x;
  if (!good) surf2Dwrite(k + 1, s, static_cast<int>(k % 8 * 4), static_cast<int>(k / 8));
  __syncthreads();
  out[k] = tex2D<unsigned>(t, k % 8, k / 8);
}
PAIR(texture_after_surface, (unsigned*, unsigned* out, cudaTextureObject_t t, cudaSurfaceObject_t s), (out, t, s))

// Neighbours' texels of a surface.
template <bool good>
__device__ void surface_neighbours(unsigned* out, cudaSurfaceObject_t s) {
  const unsigned k = threadIdx.x;
  surf2Dwrite(k + 1, s, static_cast<int>(k % 8 * 4), static_cast<int>(k / 8));
  if (good) __syncthreads();
  out[k] = surf2Dread<unsigned>(s, static_cast<int>((63 - k) % 8 * 4), static_cast<int>((63 - k) / 8));
}
PAIR(surface_neighbours, (unsigned*, unsigned* out, cudaTextureObject_t, cudaSurfaceObject_t s), (out, s))

template <bool good>
__device__ void surface_one_texel(cudaSurfaceObject_t s) {
  const unsigned k = good ? threadIdx.x : threadIdx.x / 2;
  surf2Dwrite(threadIdx.x + 1, s, static_cast<int>(k % 8 * 4), static_cast<int>(k / 8));
}
PAIR(surface_one_texel, (unsigned*, unsigned*, cudaTextureObject_t, cudaSurfaceObject_t s), (s))

template <bool good>
__device__ void surface_and_store(unsigned* image, unsigned* out, cudaSurfaceObject_t s) {
  const unsigned k = threadIdx.x;
  (good ? out : image)[k] = k;
  surf2Dwrite(k + 1, s, static_cast<int>((63 - k) % 8 * 4), static_cast<int>((63 - k) / 8));
}
PAIR(surface_and_store, (unsigned* image, unsigned* out, cudaTextureObject_t, cudaSurfaceObject_t s), (image, out, s))
