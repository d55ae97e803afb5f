// SPDX-License-Identifier: MIT
// The C library's functions that this library calls and that a program may define for itself: `send`, `poll`, `link`.
// A program's definition precedes the C library's, so the calls by name would reach it. The functions here are hidden:
// this library, and the C++ library linked into it, are bound to them. They do without the C library's headers, whose
// declarations differ in exception specifications.
#include <sys/syscall.h>

#include <cerrno>
#include <cstdarg>
#include <cstddef>

#pragma GCC visibility push(hidden)

extern "C" {

__attribute__((visibility("default"))) long syscall(long, ...) noexcept;

namespace {
constexpr long here = -100;               // AT_FDCWD
constexpr long no_symbolic_link = 0x100;  // AT_SYMLINK_NOFOLLOW
constexpr long a_folder = 0x200;          // AT_REMOVEDIR
constexpr long of_the_file = 0x1000;      // AT_EMPTY_PATH

struct time_span {
  long seconds, nanoseconds;
};
}  // namespace

// Sockets.
int socket(int domain, int type, int protocol) { return static_cast<int>(syscall(SYS_socket, domain, type, protocol)); }
int socketpair(int domain, int type, int protocol, int* pair) {
  return static_cast<int>(syscall(SYS_socketpair, domain, type, protocol, pair));
}
int connect(int socket, const void* address, unsigned size) {
  return static_cast<int>(syscall(SYS_connect, socket, address, size));
}
long send(int socket, const void* bytes, std::size_t count, int flags) {
  return syscall(SYS_sendto, socket, bytes, count, flags, nullptr, 0L);
}
long recv(int socket, void* bytes, std::size_t count, int flags) {
  return syscall(SYS_recvfrom, socket, bytes, count, flags, nullptr, nullptr);
}
int poll(void* files, unsigned long count, int milliseconds) {
  time_span most{milliseconds / 1000, milliseconds % 1000 * 1000000L};
  return static_cast<int>(syscall(SYS_ppoll, files, count, milliseconds < 0 ? nullptr : &most, nullptr, 8L));
}

// Files.
int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  return static_cast<int>(syscall(SYS_openat, here, path, flags, mode));
}
int openat(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  return static_cast<int>(syscall(SYS_openat, folder, path, flags, mode));
}
int fcntl(int file, int command, ...) {
  va_list rest;
  va_start(rest, command);
  const long argument = va_arg(rest, long);
  va_end(rest);
  return static_cast<int>(syscall(SYS_fcntl, file, command, argument));
}
int ioctl(int file, unsigned long command, ...) {
  va_list rest;
  va_start(rest, command);
  const long argument = va_arg(rest, long);
  va_end(rest);
  return static_cast<int>(syscall(SYS_ioctl, file, command, argument));
}
int close(int file) { return static_cast<int>(syscall(SYS_close, file)); }
long read(int file, void* bytes, std::size_t count) { return syscall(SYS_read, file, bytes, count); }
long write(int file, const void* bytes, std::size_t count) { return syscall(SYS_write, file, bytes, count); }
long writev(int file, const void* parts, int count) { return syscall(SYS_writev, file, parts, count); }
long sendfile(int to, int from, void* offset, std::size_t count) {
  return syscall(SYS_sendfile, to, from, offset, count);
}
int dup2(int from, int to) {
  if (from == to) return syscall(SYS_fcntl, from, 1L /* F_GETFD */) < 0 ? -1 : to;
  return static_cast<int>(syscall(SYS_dup3, from, to, 0L));
}
int truncate(const char* path, long size) { return static_cast<int>(syscall(SYS_truncate, path, size)); }
int ftruncate(int file, long size) { return static_cast<int>(syscall(SYS_ftruncate, file, size)); }
int stat(const char* path, void* facts) { return static_cast<int>(syscall(SYS_newfstatat, here, path, facts, 0L)); }
int lstat(const char* path, void* facts) {
  return static_cast<int>(syscall(SYS_newfstatat, here, path, facts, no_symbolic_link));
}
int fstat(int file, void* facts) { return static_cast<int>(syscall(SYS_newfstatat, file, "", facts, of_the_file)); }

// Names of files.
int access(const char* path, int mode) { return static_cast<int>(syscall(SYS_faccessat, here, path, mode)); }
int chdir(const char* path) { return static_cast<int>(syscall(SYS_chdir, path)); }
int mkdir(const char* path, unsigned mode) { return static_cast<int>(syscall(SYS_mkdirat, here, path, mode)); }
int link(const char* from, const char* to) { return static_cast<int>(syscall(SYS_linkat, here, from, here, to, 0L)); }
int symlink(const char* target, const char* path) {
  return static_cast<int>(syscall(SYS_symlinkat, target, here, path));
}
long readlink(const char* path, char* text, std::size_t size) {
  return syscall(SYS_readlinkat, here, path, text, size);
}
int rename(const char* from, const char* to) {
  return static_cast<int>(syscall(SYS_renameat2, here, from, here, to, 0L));
}
int unlinkat(int folder, const char* path, int flags) {
  return static_cast<int>(syscall(SYS_unlinkat, folder, path, flags));
}
int remove(const char* path) {
  if (syscall(SYS_unlinkat, here, path, 0L) == 0) return 0;
  if (errno != EISDIR) return -1;
  return static_cast<int>(syscall(SYS_unlinkat, here, path, a_folder));
}

// Memory and processes.
void* mmap(void* at, std::size_t size, int protection, int flags, int file, long offset) {
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, size, protection, flags, file, offset));
}
int munmap(void* at, std::size_t size) { return static_cast<int>(syscall(SYS_munmap, at, size)); }
int mprotect(void* at, std::size_t size, int protection) {
  return static_cast<int>(syscall(SYS_mprotect, at, size, protection));
}
int msync(void* at, std::size_t size, int flags) { return static_cast<int>(syscall(SYS_msync, at, size, flags)); }
int madvise(void* at, std::size_t size, int advice) { return static_cast<int>(syscall(SYS_madvise, at, size, advice)); }
int getpid() { return static_cast<int>(syscall(SYS_getpid)); }
int setsid() { return static_cast<int>(syscall(SYS_setsid)); }
int waitpid(int process, int* status, int options) {
  return static_cast<int>(syscall(SYS_wait4, process, status, options, nullptr));
}
int nanosleep(const void* time, void* left) { return static_cast<int>(syscall(SYS_nanosleep, time, left)); }

}  // extern "C"

#pragma GCC visibility pop
