#include "native/backend/cpu/feature.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#ifdef __linux__
#include <sched.h>
#endif

namespace halogen::backend::cpu {
namespace {

#ifdef __linux__
std::vector<int> allowed_cpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// CPUs' worth of time per period; 0 when there is no limit. cgroup v2 first, then v1.
double cgroup_quota() {
  std::istringstream v2(first_line("/sys/fs/cgroup/cpu.max"));
  std::string quota;
  double period = 0;
  if (v2 >> quota >> period && quota != "max" && period > 0) return std::atof(quota.c_str()) / period;
  const double v1_quota = std::atof(first_line("/sys/fs/cgroup/cpu/cpu.cfs_quota_us").c_str());
  const double v1_period = std::atof(first_line("/sys/fs/cgroup/cpu/cpu.cfs_period_us").c_str());
  return v1_quota > 0 && v1_period > 0 ? v1_quota / v1_period : 0;
}
#endif

}  // namespace

std::set<std::string> features() {
  std::set<std::string> found;
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_cpu_init();
#define HALOGEN_FEATURE(name) \
  if (__builtin_cpu_supports(name)) found.insert(name);
  HALOGEN_FEATURE("avx")
  HALOGEN_FEATURE("avx2")
  HALOGEN_FEATURE("fma")
  HALOGEN_FEATURE("f16c")
  HALOGEN_FEATURE("bmi2")
  HALOGEN_FEATURE("avx512f")
  HALOGEN_FEATURE("avx512bw")
  HALOGEN_FEATURE("avx512dq")
  HALOGEN_FEATURE("avx512vl")
  HALOGEN_FEATURE("avx512vnni")
  HALOGEN_FEATURE("avx512vbmi")
  HALOGEN_FEATURE("avx512bf16")
#undef HALOGEN_FEATURE
#endif
  return found;
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) {
      const size_t colon = line.find(':');
      if (colon != std::string::npos && colon + 2 <= line.size()) return line.substr(colon + 2);
    }
  }
  return "CPU";
}

std::vector<int> usable_cores() {
#ifdef __linux__
  std::vector<int> cores;
  std::set<std::pair<std::string, std::string>> seen;
  for (const int cpu : allowed_cpus()) {
    const std::string topology = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    const std::string core = first_line(topology + "core_id");
    // A machine that hides its topology has each logical CPU counted as a core.
    if (core.empty() || seen.insert({first_line(topology + "physical_package_id"), core}).second) cores.push_back(cpu);
  }
  return cores;
#else
  return {};
#endif
}

int default_threads() {
  int threads = static_cast<int>(usable_cores().size());
  if (threads == 0) threads = static_cast<int>(std::thread::hardware_concurrency());
#ifdef __linux__
  const double quota = cgroup_quota();
  if (quota > 0) threads = std::min(threads, std::max(1, static_cast<int>(quota)));
#endif
  return std::max(1, threads);
}

}  // namespace halogen::backend::cpu
