// A file mapped for reading, or read piece by piece. The only place that knows how an operating system does either.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

namespace halogen::gguf {

// Reads pieces of a file that stays open, also when its name is gone. Any thread.
class Reader {
 public:
  // Takes the descriptor over.
  Reader(std::string path, int descriptor);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // Throws file.unreadable when the file was written to since it was opened: its pieces no longer belong together.
  void check_unchanged() const;
  // Throws file.unreadable when the bytes are not all there.
  void read(uint64_t offset, uint64_t bytes, void* to) const;

 private:
  const std::string path_;
  const int descriptor_;
  uint64_t size_ = 0;
  int64_t seconds_ = 0, nanoseconds_ = 0;  // of the last write
};

class Mapping {
 public:
  // Throws file.missing or file.unreadable. An empty file has size 0 and no data.
  explicit Mapping(const std::string& path);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  const uint8_t* data() const { return data_; }
  uint64_t size() const { return size_; }
  // Gives the memory of whole pages inside the range back; they are read again from the file when touched.
  void drop(uint64_t begin, uint64_t end) const;
  // Outlives the mapping.
  const std::shared_ptr<const Reader>& reader() const { return reader_; }
  // Asks for the range to be read ahead.
  void prefetch(uint64_t begin, uint64_t end) const;

 private:
  std::shared_ptr<const Reader> reader_;
  const uint8_t* data_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace halogen::gguf
