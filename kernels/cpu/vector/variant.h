// Vector and Lanes of the variant that a file of this folder is compiled for: the operations its templates are over.
#pragma once
#if defined(__AVX512VNNI__)
#include "kernels/cpu/avx512/lanes.h"
#include "kernels/cpu/avx512/vector.h"
#elif defined(__AVX2__)
#include "kernels/cpu/avx2/lanes.h"
#include "kernels/cpu/avx2/vector.h"
#else
#error "No vector operations for this instruction set: see kernels/README.md."
#endif
