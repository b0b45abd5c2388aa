// Any bytes are listed or refused, and what is listed lies within them.
extern "C" {
#include "runtime/src/safetensors.h"
}

#include <cstdlib>

namespace {

struct Range {
  const char *begin, *end;
};

kiln_status visit(void *user, const kiln_safetensors_entry *entry) {
  const Range &range = *static_cast<Range *>(user);
  if (entry->bytes < 0 || entry->data < range.begin || entry->data + entry->bytes > range.end)
    abort();
  return KILN_OK;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char error[200];
  kiln_text cause = kiln_text_in(error, sizeof error);
  kiln_safetensors file;
  const char *bytes = reinterpret_cast<const char *>(data);
  Range range = {bytes, bytes + size};
  if (kiln_safetensors_over(data, size, &file, &cause) == KILN_OK)
    kiln_safetensors_each(&file, visit, &range, &cause);
  return 0;
}
