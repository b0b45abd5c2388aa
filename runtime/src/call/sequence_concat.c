/*===- sequence_concat.c - The tensors of a sequence, joined -------------===*/
#include "sequence_element.h"

const char *kiln_call_sequence_concat_shape(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
  (void)scratch;
  int64_t *result = buffers[0], rank = sizes[1], axis = sizes[2], is_new = sizes[3];
  kiln_sequence sequence = *(const kiln_sequence *)buffers[1];
  if (sequence->count == 0)
    return "the sequence is empty: there is nothing to concatenate";
  const int64_t *first = sequence->tensors[0].dims;
  int64_t along = 0;
  for (int64_t i = 0; i < sequence->count; i++) {
    const kiln_tensor *tensor = &sequence->tensors[i];
    if (tensor->rank != rank || tensor->dtype != (kiln_dtype)sizes[0])
      return "a tensor has not the dtype and as many axes as the model says";
    for (int32_t k = 0; k < tensor->rank; k++)
      if (tensor->dims[k] != first[k] && (is_new || k != axis))
        return "the tensors of the sequence have different sizes";
    if (__builtin_add_overflow(along, is_new ? 1 : tensor->dims[axis], &along))
      return "the tensors of the sequence are too large together";
  }
  for (int64_t k = 0; k < rank + is_new; k++)
    result[k] = k == axis ? along : first[k - (is_new && k > axis)];
  return NULL;
}

const char *kiln_call_sequence_concat(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
  (void)scratch;
  int64_t outer = sizes[0], row = sizes[1], done = 0;
  kiln_sequence sequence = *(const kiln_sequence *)buffers[1];
  for (int64_t i = 0; outer > 0 && i < sequence->count; i++) {
    const kiln_tensor *tensor = &sequence->tensors[i];
    int64_t bytes = kiln_tensor_bytes(tensor) / outer, step = row * (int64_t)kiln_dtype_size(tensor->dtype);
    if (bytes > step - done)
      return "the tensors of the sequence are larger than they were";
    for (int64_t k = 0; k < outer; k++)
      kiln_copy_elements((char *)buffers[0] + k * step + done, (const char *)tensor->data + k * bytes, bytes,
                         tensor->dtype);
    done += bytes;
  }
  return NULL;
}
