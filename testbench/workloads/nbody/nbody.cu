// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -O3 -o nbody.ptx nbody.cu

// One time step of gravity among all pairs of bodies: bodies (x, y, z, mass) are loaded into shared memory one tile at
// a time.
constexpr int tile = 64;

extern "C" __global__ void nbody(const float4* bodies, float4* velocities, float4* moved, int count, float time) {
  __shared__ float4 others[tile];
  const int i = blockIdx.x * tile + threadIdx.x;
  const float4 own = bodies[i];
  float ax = 0;
  float ay = 0;
  float az = 0;
  for (int first = 0; first < count; first += tile) {
    others[threadIdx.x] = bodies[first + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < tile; ++j) {
      const float4 other = others[j];
      const float dx = other.x - own.x;
      const float dy = other.y - own.y;
      const float dz = other.z - own.z;
      const float squared = fmaf(dz, dz, fmaf(dy, dy, fmaf(dx, dx, 0.01f)));
      const float inverse = 1.0f / sqrtf(squared);
      const float pull = other.w * (inverse * inverse * inverse);
      ax = fmaf(dx, pull, ax);
      ay = fmaf(dy, pull, ay);
      az = fmaf(dz, pull, az);
    }
    __syncthreads();
  }
  float4 v = velocities[i];
  v.x = fmaf(ax, time, v.x);
  v.y = fmaf(ay, time, v.y);
  v.z = fmaf(az, time, v.z);
  velocities[i] = v;
  moved[i] = make_float4(fmaf(v.x, time, own.x), fmaf(v.y, time, own.y), fmaf(v.z, time, own.z), own.w);
}
