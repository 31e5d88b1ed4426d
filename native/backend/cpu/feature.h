// What this processor can do, and how many threads suit it.
#pragma once
#include <set>
#include <string>
#include <vector>

namespace halogen::backend::cpu {

// Names as in kernels/manifest.json, e.g. "avx2". Only what the operating system has enabled too.
std::set<std::string> features();

std::string processor_name();

// One logical CPU per physical core that this process may run on, in ascending order.
std::vector<int> usable_cores();

// Physical cores, limited by affinity and by the cgroup's CPU quota; at least 1.
int default_threads();

}  // namespace halogen::backend::cpu
