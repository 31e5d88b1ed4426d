#include "kernels/cpu/delta_net.h"

#include "kernel_table.h"
#include "kernels/cpu/vector/variant.h"

namespace halogen::kernel::HALOGEN_VARIANT {

void convolution(const ConvolutionRun& run) {
  Delta<Vector>::convolution(run);
}

const DeltaNet delta_net{Delta<Vector>::scratch_bytes, Delta<Vector>::run};

}  // namespace halogen::kernel::HALOGEN_VARIANT
