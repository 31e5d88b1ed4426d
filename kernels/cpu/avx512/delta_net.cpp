#include "kernels/cpu/delta_net.h"

#include "kernel_table.h"
#include "kernels/cpu/avx512/vector.h"

namespace halogen::kernel::avx512 {

void convolution(const ConvolutionRun& run) {
  Delta<Vector>::convolution(run);
}

const DeltaNet delta_net{Delta<Vector>::scratch_bytes, Delta<Vector>::run};

}  // namespace halogen::kernel::avx512
