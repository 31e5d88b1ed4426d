// A file mapped for reading. The only place that knows how an operating system maps files.
#pragma once
#include <cstdint>
#include <string>

namespace halogen::gguf {

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
  // Asks for the range to be read ahead.
  void prefetch(uint64_t begin, uint64_t end) const;

 private:
  const uint8_t* data_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace halogen::gguf
