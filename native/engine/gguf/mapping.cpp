#include "native/engine/gguf/mapping.h"

#ifdef _WIN32
#error "Mapping has no Windows half yet: CreateFileMappingW and MapViewOfFile belong here."
#endif

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "native/engine/error.h"

namespace halogen::gguf {
namespace {

[[noreturn]] void fail(const std::string& path, int error) {
  if (error == ENOENT || error == ENOTDIR) {
    throw Error(code::file_missing, "There is no file at " + path + ".", "It may have been moved, renamed or deleted.",
                {{"path", path}});
  }
  throw Error(code::file_unreadable, "The file " + path + " cannot be read: " + std::strerror(error) + ".",
              error == EACCES ? "Check who may read it." : "", {{"path", path}, {"errno", error}});
}

int open_for_reading(const std::string& path) {
  if (path.find('\0') != std::string::npos) fail(path, EINVAL);
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) fail(path, errno);
  return descriptor;
}

struct stat status_of(const std::string& path, int descriptor) {
  struct stat status{};
  if (fstat(descriptor, &status) != 0) fail(path, errno);
  return status;
}

}  // namespace

Reader::Reader(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {
  struct stat status{};
  if (fstat(descriptor_, &status) != 0) {
    const int error = errno;
    close(descriptor_);
    fail(path_, error);
  }
  size_ = static_cast<uint64_t>(status.st_size);
  seconds_ = status.st_mtim.tv_sec;
  nanoseconds_ = status.st_mtim.tv_nsec;
}

Reader::~Reader() {
  close(descriptor_);
}

void Reader::check_unchanged() const {
  const struct stat status = status_of(path_, descriptor_);
  if (static_cast<uint64_t>(status.st_size) == size_ && status.st_mtim.tv_sec == seconds_ &&
      status.st_mtim.tv_nsec == nanoseconds_) {
    return;
  }
  throw Error(code::file_unreadable, "The file " + path_ + " was changed while its model was loaded.",
              "Load the model again.",
              {{"path", path_}, {"size", size_}, {"sizeNow", static_cast<uint64_t>(status.st_size)}});
}

void Reader::read(uint64_t offset, uint64_t bytes, void* to) const {
  auto* at = static_cast<uint8_t*>(to);
  while (bytes > 0) {
    const ssize_t got = pread(descriptor_, at, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path_, errno);
    if (got == 0) {
      throw Error(code::file_unreadable, "The file " + path_ + " ended where its model still has weights.",
                  "Load the model again.", {{"path", path_}, {"offset", offset}, {"missing", bytes}});
    }
    at += got;
    offset += static_cast<uint64_t>(got);
    bytes -= static_cast<uint64_t>(got);
  }
}

Mapping::Mapping(const std::string& path) {
  const int descriptor = open_for_reading(path);
  reader_ = std::make_shared<const Reader>(path, descriptor);
  const struct stat status = status_of(path, descriptor);
  if (S_ISDIR(status.st_mode)) fail(path, EISDIR);
  if (!S_ISREG(status.st_mode)) {
    throw Error(code::file_unreadable, path + " is not a regular file.", "", {{"path", path}});
  }
  size_ = static_cast<uint64_t>(status.st_size);
  if (size_ == 0) return;
  void* mapped = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (mapped == MAP_FAILED) fail(path, errno);
  data_ = static_cast<const uint8_t*>(mapped);
}

Mapping::~Mapping() {
  if (data_ != nullptr) munmap(const_cast<uint8_t*>(data_), size_);
}

void Mapping::drop(uint64_t begin, uint64_t end) const {
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  begin = (begin + page - 1) / page * page;
  end = end / page * page;
  if (data_ != nullptr && begin < end && end <= size_)
    madvise(const_cast<uint8_t*>(data_) + begin, end - begin, MADV_DONTNEED);
}

void Mapping::prefetch(uint64_t begin, uint64_t end) const {
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  begin = begin / page * page;
  if (data_ != nullptr && begin < end && end <= size_)
    madvise(const_cast<uint8_t*>(data_) + begin, end - begin, MADV_WILLNEED);
}

}  // namespace halogen::gguf
