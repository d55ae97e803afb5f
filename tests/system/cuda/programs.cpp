// SPDX-License-Identifier: MIT
// Several CUDA programs in one: `programs NAME` runs one and exits with 0 if CUDA's behaviour was met, else with 1 and
// a message. The kernels are those of kernels.cu, in the fat binary given by the argument KERNELS; the registration
// code that nvcc generates is written by hand here.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cuda_interface.h"

namespace {

char add, count, say, linger, wrong_address, claim, takes_struct, reverse, factor,
    counter;  // host stand-ins for the kernels and variables
int* shared_with_host = nullptr;
const char* kernels_file = nullptr;

struct {
  int magic = 0x466243b1, version = 1;
  const void* data = nullptr;
  void* file = nullptr;
} wrapper;

void** load(const char* file) {
  static std::vector<char> bytes;
  std::ifstream in(file, std::ios::binary);
  bytes.assign(std::istreambuf_iterator<char>(in), {});
  wrapper.data = bytes.data();
  void** handle = __cudaRegisterFatBinary(&wrapper);
  const std::pair<const char*, char*> kernels[] = {{"add", &add},
                                                   {"count", &count},
                                                   {"say", &say},
                                                   {"linger", &linger},
                                                   {"wrong_address", &wrong_address},
                                                   {"claim", &claim},
                                                   {"takes_struct", &takes_struct},
                                                   {"reverse", &reverse}};
  for (const auto& [name, stub] : kernels)
    __cudaRegisterFunction(handle, stub, const_cast<char*>(name), name, -1, nullptr, nullptr, nullptr, nullptr,
                           nullptr);
  __cudaRegisterVar(handle, &factor, nullptr, "factor", 0, 4, 1, 0);
  __cudaRegisterVar(handle, &counter, nullptr, "counter", 0, 4, 0, 0);
  __cudaRegisterManagedVar(handle, reinterpret_cast<void**>(&shared_with_host), nullptr, "shared_with_host", 0, 4, 0,
                           0);
  __cudaRegisterFatBinaryEnd(handle);
  return handle;
}

[[noreturn]] void fail(int line, const char* what, long got) {
  std::printf("line %d: %s: %ld\n", line, what, got);
  std::fflush(stdout);
  std::_Exit(1);
}
#define RIGHT(call)                                   \
  do {                                                \
    const int e_ = (call);                            \
    if (e_ != cudaSuccess) fail(__LINE__, #call, e_); \
  } while (0)
#define GIVES(expected, call)                        \
  do {                                               \
    const long e_ = (call);                          \
    if (e_ != (expected)) fail(__LINE__, #call, e_); \
  } while (0)
#define HOLDS(condition)                             \
  do {                                               \
    if (!(condition)) fail(__LINE__, #condition, 0); \
  } while (0)

template <class... T>
int launch(const char& kernel, unsigned blocks, unsigned threads, std::size_t shared, cudaStream_t stream,
           T... arguments) {
  void* list[] = {&arguments..., nullptr};
  return cudaLaunchKernel(&kernel, {blocks, 1, 1}, {threads, 1, 1}, list, shared, stream);
}

template <class T>
T* device(std::size_t count) {
  void* p = nullptr;
  RIGHT(cudaMalloc(&p, count * sizeof(T)));
  return static_cast<T*>(p);
}

void vectors() {
  const int n = 10000;
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) a[i] = i, b[i] = 3 * i;
  auto *x = device<float>(n), *y = device<float>(n), *z = device<float>(n);
  const float two = 2;
  RIGHT(cudaMemcpyToSymbol(&factor, &two, 4, 0, cudaMemcpyHostToDevice));
  RIGHT(cudaMemcpy(x, a.data(), 4 * n, cudaMemcpyHostToDevice));
  RIGHT(cudaMemcpy(y, b.data(), 4 * n, cudaMemcpyDefault));
  RIGHT(launch(add, (n + 127) / 128, 128, 0, nullptr, x, y, z, n));
  RIGHT(cudaMemcpy(c.data(), z, 4 * n, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) HOLDS(c[i] == 7.0f * i);
  RIGHT(cudaFree(x));
  GIVES(cudaErrorInvalidValue, cudaFree(x));
}

void arguments() {
  struct {
    char c = 1;
    double d = 0.5;
    short s[3] = {2, 3, 4};
  } m;
  auto* out = device<double>(32);
  RIGHT(launch(takes_struct, 1, 32, 0, nullptr, m, char{7}, out));
  double back[32];
  RIGHT(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
  HOLDS(back[31] == 17.5);
  // Dynamic shared memory; more than the default only on request.
  std::vector<int> data(15000), turned(15000);
  for (int i = 0; i < 15000; ++i) data[i] = i;
  auto* d = device<int>(data.size());
  RIGHT(cudaMemcpy(d, data.data(), 60000, cudaMemcpyHostToDevice));
  int optin = 0;
  RIGHT(cudaDeviceGetAttribute(&optin, 97, 0));
  GIVES(cudaErrorInvalidValue, launch(reverse, 1, 256, 60000, nullptr, d, 15000));
  GIVES(cudaErrorInvalidValue, cudaGetLastError());
  if (optin >= 60000) {
    RIGHT(cudaFuncSetAttribute(&reverse, 8, 60000));
    RIGHT(launch(reverse, 1, 256, 60000, nullptr, d, 15000));
    RIGHT(cudaMemcpy(turned.data(), d, 60000, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 15000; ++i) HOLDS(turned[i] == 14999 - i);
  }
}

void memory() {
  void* p = nullptr;
  std::size_t pitch = 0, before = 0, after = 0, total = 0;
  RIGHT(cudaMemGetInfo(&before, &total));
  RIGHT(cudaMallocPitch(&p, &pitch, 100, 20));
  HOLDS(pitch >= 100 && pitch % 256 == 0);
  RIGHT(cudaMemGetInfo(&after, &total));
  HOLDS(before - after == pitch * 20);
  unsigned char host[20][120] = {}, back[20][100] = {};
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 100; ++x) host[y][x] = static_cast<unsigned char>(y * 7 + x);
  RIGHT(cudaMemcpy2D(p, pitch, host, 120, 100, 20, cudaMemcpyHostToDevice));
  RIGHT(cudaMemset2D(static_cast<char*>(p) + 3 * pitch, pitch, 9, 50, 2));
  RIGHT(cudaMemcpy2D(back, 100, p, pitch, 100, 20, cudaMemcpyDeviceToHost));
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 100; ++x) HOLDS(back[y][x] == (x < 50 && (y == 3 || y == 4) ? 9 : host[y][x]));
  RIGHT(cudaFree(p));
  GIVES(cudaErrorMemoryAllocation, cudaMalloc(&p, total + 1));
  HOLDS(p == nullptr);
  RIGHT(cudaMalloc(&p, 0));
  cudaPointerAttributes a{};
  int local = 0;
  RIGHT(cudaPointerGetAttributes(&a, &local));
  HOLDS(a.type == 0);
  auto* d = device<int>(4);
  RIGHT(cudaPointerGetAttributes(&a, d + 3));
  HOLDS(a.type == 2 && a.devicePointer == d + 3);
  // Freed memory is reused.
  for (int k = 0; k < 1000; ++k) {
    RIGHT(cudaMalloc(&p, total / 2));
    RIGHT(cudaFree(p));
  }
}

void managed() {
  int* m = nullptr;
  RIGHT(cudaMallocManaged(reinterpret_cast<void**>(&m), 4096 * 4, 1));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4096; ++i) m[i] += i;
    RIGHT(launch(linger, 32, 128, 0, nullptr, m, 10));
    RIGHT(cudaDeviceSynchronize());
    for (int i = 0; i < 4096; ++i) HOLDS(m[i] == (round + 1) * (i + 1));
  }
  HOLDS(*shared_with_host == 5);
  *shared_with_host = 10;
  int back = 0, four = 4;
  RIGHT(launch(count, 1, 64, 0, nullptr, four));
  RIGHT(cudaMemcpyFromSymbol(&back, &counter, 4, 0, cudaMemcpyDeviceToHost));
  HOLDS(back == 256);
  HOLDS(*shared_with_host == 14);
  // Managed memory has its own pages, independent of earlier variables of modules: it can be freed and allocated
  // again.
  for (std::size_t round = 0; round < 3; ++round) {
    char *a = nullptr, *b = nullptr;
    RIGHT(cudaMallocManaged(reinterpret_cast<void**>(&a), 7424 + 4096 * round, 1));
    RIGHT(cudaMallocManaged(reinterpret_cast<void**>(&b), 100, 1));
    HOLDS(reinterpret_cast<std::uintptr_t>(a) % 4096 == 0 && reinterpret_cast<std::uintptr_t>(b) % 4096 == 0);
    a[0] = b[99] = 1;
    RIGHT(cudaFree(a));
    RIGHT(cudaFree(b));
  }
}

void pinned() {
  int* h = nullptr;
  RIGHT(cudaHostAlloc(reinterpret_cast<void**>(&h), 1024 * 4, 2));
  for (int i = 0; i < 1024; ++i) h[i] = i;
  void* seen = nullptr;
  RIGHT(cudaHostGetDevicePointer(&seen, h, 0));
  RIGHT(launch(linger, 8, 128, 0, nullptr, seen, 5));
  RIGHT(cudaDeviceSynchronize());
  for (int i = 0; i < 1024; ++i) HOLDS(h[i] == i + 1);
  RIGHT(cudaFreeHost(h));
  std::vector<int> own(1000, 6);
  RIGHT(cudaHostRegister(own.data(), 4000, 0));
  auto* d = device<int>(1000);
  cudaStream_t s = nullptr;
  RIGHT(cudaStreamCreate(&s));
  RIGHT(cudaMemcpyAsync(d, own.data(), 4000, cudaMemcpyHostToDevice, s));
  RIGHT(launch(linger, 10, 100, 0, s, d, 5));
  RIGHT(cudaMemcpyAsync(own.data(), d, 4000, cudaMemcpyDeviceToHost, s));
  HOLDS(own[0] == 6);  // copied when the operation runs
  RIGHT(cudaStreamSynchronize(s));
  for (const int w : own) HOLDS(w == 7);
  RIGHT(cudaHostUnregister(own.data()));
}

void streams() {
  auto *a = device<int>(4096), *b = device<int>(64);
  RIGHT(cudaMemset(a, 0, 4096 * 4));
  RIGHT(cudaMemset(b, 0, 64 * 4));
  RIGHT(cudaDeviceSynchronize());  // non-blocking streams would overtake them
  cudaStream_t one = nullptr, two = nullptr;
  RIGHT(cudaStreamCreateWithFlags(&one, 1));
  RIGHT(cudaStreamCreateWithFlags(&two, 1));
  cudaEvent_t begin = nullptr, middle = nullptr, end = nullptr, alone = nullptr;
  for (cudaEvent_t* e : {&begin, &middle, &end, &alone}) RIGHT(cudaEventCreate(e));
  float ms = 0;
  GIVES(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, begin, end));
  RIGHT(cudaEventRecord(begin, one));
  for (int k = 0; k < 3; ++k) RIGHT(launch(linger, 32, 128, 0, one, a, 400));
  RIGHT(cudaEventRecord(middle, one));
  GIVES(cudaErrorNotReady, cudaStreamQuery(one));
  // The second stream ends long before the first, except for operations that wait for it.
  RIGHT(launch(linger, 1, 64, 0, two, b, 1));
  RIGHT(cudaEventRecord(alone, two));
  RIGHT(cudaStreamWaitEvent(two, middle, 0));
  RIGHT(launch(linger, 1, 64, 0, two, b, 1));
  RIGHT(cudaEventRecord(end, two));
  RIGHT(cudaEventSynchronize(alone));
  GIVES(cudaErrorNotReady, cudaEventQuery(middle));
  int polls = 0;
  while (cudaEventQuery(end) == cudaErrorNotReady) HOLDS(++polls < 10'000'000);
  float whole = 0, first = 0, early = 0;
  RIGHT(cudaEventElapsedTime(&whole, begin, end));
  RIGHT(cudaEventElapsedTime(&first, begin, middle));
  RIGHT(cudaEventElapsedTime(&early, begin, alone));
  HOLDS(early > 0 && early < first && first < whole);
  std::vector<int> back(4096);
  RIGHT(cudaMemcpy(back.data(), a, 4096 * 4, cudaMemcpyDeviceToHost));
  for (const int w : back) HOLDS(w == 3);
  RIGHT(cudaMemcpy(back.data(), b, 64 * 4, cudaMemcpyDeviceToHost));
  HOLDS(back[63] == 2);
  for (const cudaStream_t s : {one, two}) RIGHT(cudaStreamDestroy(s));
  GIVES(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(one));
  // Blocking streams and the default stream wait for each other.
  cudaStream_t three = nullptr;
  RIGHT(cudaStreamCreate(&three));
  RIGHT(cudaMemset(b, 0, 64 * 4));
  for (int k = 0; k < 20; ++k) RIGHT(launch(linger, 1, 64, 0, k % 2 != 0 ? three : nullptr, b, 10 + 10 * (k % 3)));
  RIGHT(cudaDeviceSynchronize());
  RIGHT(cudaMemcpy(back.data(), b, 64 * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 64; ++i) HOLDS(back[i] == 20);
  std::printf("%.3f us\n", 1000.0 * whole);
}

std::mutex seen_mutex;
std::condition_variable seen_changed;
std::string seen;
void note(void* what) {
  const std::lock_guard<std::mutex> lock(seen_mutex);
  seen += *static_cast<const char*>(what);
  seen_changed.notify_all();
}

void host_functions() {
  auto* a = device<int>(4096);
  cudaStream_t s = nullptr;
  RIGHT(cudaStreamCreate(&s));
  static char letters[] = "abc";
  for (int k = 0; k < 3; ++k) {
    RIGHT(launch(linger, 32, 128, 0, s, a, 50));
    if (k == 1)
      RIGHT(cudaStreamAddCallback(
          s,
          [](cudaStream_t, int e, void* what) {
            HOLDS(e == 0);
            note(what);
          },
          letters + k, 0));
    else RIGHT(cudaLaunchHostFunc(s, note, letters + k));
  }
  // No CUDA function is called here; simulated time advances anyway.
  std::unique_lock<std::mutex> lock(seen_mutex);
  seen_changed.wait(lock, [] { return seen.size() == 3; });
  HOLDS(seen == "abc");
  lock.unlock();
  RIGHT(cudaStreamSynchronize(s));
}

void errors() {
  auto* a = device<int>(64);
  GIVES(cudaErrorInvalidConfiguration, launch(linger, 1, 2000, 0, nullptr, a, 1));
  GIVES(cudaErrorInvalidConfiguration, cudaPeekAtLastError());
  GIVES(cudaErrorInvalidConfiguration, cudaGetLastError());
  GIVES(cudaSuccess, cudaGetLastError());
  GIVES(cudaErrorInvalidConfiguration, launch(linger, 0, 32, 0, nullptr, a, 1));
  HOLDS(std::string(cudaGetErrorName(2)) == "cudaErrorMemoryAllocation" &&
        std::string(cudaGetErrorString(2)) == "out of memory");
  char handle[64];
  GIVES(801, cudaIpcGetMemHandle(handle, a));
  GIVES(801, cudaGetLastError());
  char unknown = 0;
  GIVES(98, launch(unknown, 1, 1, 0, nullptr));
  cudaGetLastError();
  int blocks = 0;
  RIGHT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &linger, 256, 0));
  HOLDS(blocks >= 4);
  cudaFuncAttributes f{};
  RIGHT(cudaFuncGetAttributes(&f, &linger));
  HOLDS(f.numRegs > 4 && f.maxThreadsPerBlock == 1024);
  // All later calls return the fault.
  RIGHT(launch(wrong_address, 1, 32, 0, nullptr, static_cast<int*>(nullptr)));
  GIVES(cudaErrorIllegalAddress, cudaDeviceSynchronize());
  void* p = nullptr;
  GIVES(cudaErrorIllegalAddress, cudaMalloc(&p, 4));
}

// Writes 64 bytes, half of them behind an allocation of whole pages, and 4 bytes two pages further.
void writes_behind() {
  constexpr int words = 8192 / 4;
  void *place = nullptr, *next = nullptr;
  RIGHT(cudaMalloc(&place, 8192));
  RIGHT(cudaMalloc(&next, 8192));
  int* const p = static_cast<int*>(place);
  RIGHT(cudaMemset(next, 7, 8192));
  RIGHT(launch(wrong_address, 1, 16, 0, nullptr, p + words - 8));
  const int behind = cudaDeviceSynchronize();
  std::printf("behind %d\n", behind);
  if (behind != cudaSuccess) return;
  std::vector<int> host(words);
  RIGHT(cudaMemcpy(host.data(), next, 8192, 2));
  for (const int word : host) HOLDS(word == 0x07070707);
  RIGHT(launch(wrong_address, 1, 1, 0, nullptr, p + words + 1024));
  std::printf("far behind %d\n", cudaDeviceSynchronize());
}

void fails_assertion() {
  RIGHT(launch(claim, 1, 32, 0, nullptr, 1));
  RIGHT(cudaDeviceSynchronize());
  RIGHT(launch(claim, 1, 32, 0, nullptr, 2));
  GIVES(cudaErrorAssert, cudaDeviceSynchronize());
}

void prints() {
  std::puts("before");
  RIGHT(launch(say, 1, 2, 0, nullptr, 1));
  RIGHT(cudaDeviceSynchronize());
  std::puts("between");
  RIGHT(launch(say, 1, 1, 0, nullptr, 2));
  RIGHT(cudaDeviceSynchronize());
  std::puts("behind");
}

void threads() {
  std::vector<std::thread> all;
  for (int t = 0; t < 4; ++t)
    all.emplace_back([t] {
      auto* a = device<int>(256);
      RIGHT(cudaMemset(a, 0, 1024));
      RIGHT(cudaDeviceSynchronize());
      cudaStream_t s = nullptr;
      RIGHT(cudaStreamCreateWithFlags(&s, 1));
      for (int k = 0; k <= t; ++k) RIGHT(launch(linger, 2, 128, 0, s, a, 20));
      RIGHT(cudaStreamSynchronize(s));
      int back[256];
      RIGHT(cudaMemcpy(back, a, 1024, cudaMemcpyDeviceToHost));
      HOLDS(back[255] == t + 1);
    });
  for (std::thread& t : all) t.join();
}

// A process that has not used CUDA may fork; then both it and its children may use CUDA.
void forks_once() {
  const pid_t child = ::fork();
  if (child == 0) {
    vectors();
    std::exit(0);
  }
  int status = 0;
  HOLDS(::waitpid(child, &status, 0) == child && status == 0);
}

void forks() {
  pid_t children[2];
  for (pid_t& c : children) {
    c = ::fork();
    if (c == 0) {
      vectors();
      std::_Exit(0);
    }
  }
  vectors();
  for (const pid_t c : children) {
    int status = 0;
    HOLDS(::waitpid(c, &status, 0) == c && status == 0);
  }
}

// A child of a process that has used CUDA calls CUDA itself.
void forks_late() {
  int devices = 0;
  RIGHT(cudaGetDeviceCount(&devices));
  auto* kept = device<int>(100);
  forks_once();
  RIGHT(cudaFree(kept));
  vectors();
}

// A launch that is not waited for is simulated after the program has ended.
void leaves_early() {
  auto* a = device<int>(4096);
  RIGHT(launch(linger, 32, 128, 0, nullptr, a, 100));
  std::_Exit(9);
}

// Allocates more than half of the device's memory and does not free it.
void keeps_memory() {
  std::size_t free = 0, total = 0;
  RIGHT(cudaMemGetInfo(&free, &total));
  device<char>(total / 8 * 5);
}

// exec() releases the program's resources on the GPU.
void replaces_itself() {
  keeps_memory();
  ::execl("/proc/self/exe", "programs", kernels_file, "keeps_memory", nullptr);
}

// Heddle's processes are not children of the program.
void has_no_children() {
  static volatile sig_atomic_t told = 0;
  ::signal(SIGCHLD, [](int) { told = 1; });
  vectors();
  GIVES(-1, ::waitpid(-1, nullptr, 0));
  HOLDS(errno == ECHILD && told == 0);
}

// Static objects are destroyed after thread-local ones.
void frees_at_exit() {
  static struct memory_at_exit {
    int* p = device<int>(100);
    ~memory_at_exit() { RIGHT(cudaFree(p)); }
  } m;
}

void unknown_name() { cudaGraphicsGLRegisterBuffer(nullptr, 0, 0); }

void crashes() {
  auto* a = device<int>(4096);
  RIGHT(launch(linger, 32, 128, 0, nullptr, a, 100));
  std::abort();
}

void nothing() {}

// Runs until it is stopped by a signal.
void endless() {
  auto* a = device<int>(4096);
  std::puts("started");
  std::fflush(stdout);
  for (;;) {
    RIGHT(launch(linger, 32, 128, 0, nullptr, a, 1000));
    RIGHT(cudaDeviceSynchronize());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<void()>> all = {{"vectors", vectors},
                                                            {"arguments", arguments},
                                                            {"memory", memory},
                                                            {"managed", managed},
                                                            {"pinned", pinned},
                                                            {"streams", streams},
                                                            {"host_functions", host_functions},
                                                            {"errors", errors},
                                                            {"fails_assertion", fails_assertion},
                                                            {"writes_behind", writes_behind},
                                                            {"prints", prints},
                                                            {"threads", threads},
                                                            {"forks", forks},
                                                            {"forks_late", forks_late},
                                                            {"keeps_memory", keeps_memory},
                                                            {"replaces_itself", replaces_itself},
                                                            {"has_no_children", has_no_children},
                                                            {"frees_at_exit", frees_at_exit},
                                                            {"leaves_early", leaves_early},
                                                            {"unknown_name", unknown_name},
                                                            {"crashes", crashes},
                                                            {"nothing", nothing},
                                                            {"endless", endless}};
  const auto found = all.find(argc > 2 ? argv[2] : "");
  if (found == all.end()) {
    std::printf("programs KERNELS.fatbin NAME\n");
    return 1;
  }
  if (found->first == "nothing") return 0;
  kernels_file = argv[1];
  void** handle = load(argv[1]);
  if (found->first == "managed") __cudaInitModule(handle);
  found->second();
  std::puts("right");
  return 0;
}
