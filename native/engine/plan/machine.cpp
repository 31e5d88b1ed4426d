#include "native/engine/plan/machine.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace halogen::plan {
namespace {

std::optional<uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  uint64_t value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

// A named line "Name: 123 kB" or "name 123" of a file, as a number.
std::optional<uint64_t> line_of(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name)) continue;
    std::istringstream rest(line.substr(name.size()));
    uint64_t value = 0;
    if (rest >> value) return value;
  }
  return std::nullopt;
}

struct Group {
  const char* limit;
  const char* used;
  const char* stat;
};

constexpr Group groups[] = {
    {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat"},
    {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes",
     "/sys/fs/cgroup/memory/memory.stat"},
};

}  // namespace

Memory machine_memory() {
  Memory memory{line_of("/proc/meminfo", "MemTotal:").value_or(0) * 1024,
                line_of("/proc/meminfo", "MemAvailable:").value_or(0) * 1024};
  if (memory.total == 0) {
    const long pages = sysconf(_SC_PHYS_PAGES);
    if (pages > 0) memory.total = static_cast<uint64_t>(pages) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    memory.available = memory.total;
  }
  for (const Group& group : groups) {
    const std::optional<uint64_t> limit = number_in(group.limit);
    if (!limit || *limit >= memory.total) continue;
    // File pages count as used in a group but are given back on demand.
    const uint64_t cache =
        line_of(group.stat, "inactive_file ").value_or(line_of(group.stat, "total_inactive_file ").value_or(0));
    const uint64_t used = number_in(group.used).value_or(0);
    const uint64_t held = used > cache ? used - cache : 0;
    memory.total = *limit;
    memory.available = std::min(memory.available, *limit > held ? *limit - held : 0);
  }
  return memory;
}

uint64_t process_memory() {
  std::ifstream file("/proc/self/statm");
  uint64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace halogen::plan
