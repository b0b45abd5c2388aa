// Any bytes are read or refused: no crash, no leak, no allocation beyond what they hold.
#include "kiln/npy.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  kiln_tensor tensor;
  char error[200];
  if (kiln_npy_parse(data, size, &tensor, error, sizeof error) == KILN_OK && !tensor.data)
    abort();
  free(tensor.data);
  return 0;
}
