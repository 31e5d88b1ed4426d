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

struct Descriptor {
  int value;
  ~Descriptor() {
    if (value >= 0) close(value);
  }
};

[[noreturn]] void fail(const std::string& path, int error) {
  if (error == ENOENT || error == ENOTDIR) {
    throw Error(code::file_missing, "There is no file at " + path + ".", "It may have been moved, renamed or deleted.",
                {{"path", path}});
  }
  throw Error(code::file_unreadable, "The file " + path + " cannot be read: " + std::strerror(error) + ".",
              error == EACCES ? "Check who may read it." : "", {{"path", path}, {"errno", error}});
}

}  // namespace

Mapping::Mapping(const std::string& path) {
  if (path.find('\0') != std::string::npos) fail(path, EINVAL);
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.value < 0) fail(path, errno);
  struct stat status{};
  if (fstat(file.value, &status) != 0) fail(path, errno);
  if (S_ISDIR(status.st_mode)) fail(path, EISDIR);
  if (!S_ISREG(status.st_mode)) {
    throw Error(code::file_unreadable, path + " is not a regular file.", "", {{"path", path}});
  }
  size_ = static_cast<uint64_t>(status.st_size);
  if (size_ == 0) return;
  void* mapped = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.value, 0);
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
