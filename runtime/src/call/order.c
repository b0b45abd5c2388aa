/*===- order.c - The first elements of rows, in order --------------------===*
 *
 * A sort of a whole row would be wasted where a few of its elements are asked for. So a heap holds the first ones so
 * far, the last of these on top: an element that does not come before it costs one comparison.
 *
 *===---------------------------------------------------------------------===*/
#include "../dtype.h"
#include "kiln/call.h"

#include <string.h>

/* An element as a number of the same order, and its place in the row. */
typedef struct entry {
  uint64_t key;
  int64_t place;
} entry;

enum { KEYS_AT_A_TIME = 64 };
static const uint64_t kSign = (uint64_t)1 << 63;

/* Of two zeros neither comes first, and a NaN is above all. */
static uint64_t key_of_float(double value) {
  uint64_t bits;
  value += 0.0;
  memcpy(&bits, &value, sizeof bits);
  if (value != value)
    return UINT64_MAX;
  return bits & kSign ? ~bits : bits | kSign;
}

/* `flip` is all ones if the smallest is to have the highest key. */
static void make_keys(uint64_t *keys, const char *data, int64_t count, kiln_dtype dtype, uint64_t flip) {
  size_t bytes = kiln_dtype_size(dtype);
  if (dtype == KILN_FLOAT32) {
    for (int64_t i = 0; i < count; i++) {
      float value;
      memcpy(&value, data + (size_t)i * sizeof value, sizeof value);
      keys[i] = key_of_float(value) ^ flip;
    }
  } else if (kiln_dtype_is_float(dtype)) {
    for (int64_t i = 0; i < count; i++)
      keys[i] = key_of_float(kiln_load_float(data + (size_t)i * bytes, dtype)) ^ flip;
  } else {
    for (int64_t i = 0; i < count; i++)
      keys[i] = (uint64_t)kiln_load_int(data + (size_t)i * bytes, dtype) ^ (dtype == KILN_UINT64 ? 0 : kSign) ^ flip;
  }
}

static bool comes_after(entry a, entry b) { return a.key < b.key || (a.key == b.key && a.place > b.place); }

/* Puts `moved` where heap[at] was, or below, so that no entry comes after the one above it. */
static void sift_down(entry *heap, int64_t count, int64_t at, entry moved) {
  for (int64_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && comes_after(heap[child + 1], heap[child]))
      child++;
    if (!comes_after(heap[child], moved))
      break;
    heap[at] = heap[child];
  }
  heap[at] = moved;
}

static void order_row(int64_t *places, const char *row, const int64_t *sizes, entry *heap) {
  int64_t n = sizes[1], count = sizes[2], held = 0;
  kiln_dtype dtype = (kiln_dtype)sizes[3];
  size_t bytes = kiln_dtype_size(dtype);
  uint64_t keys[KEYS_AT_A_TIME], flip = sizes[4] ? 0 : UINT64_MAX;
  for (int64_t begin = 0; begin < n; begin += KEYS_AT_A_TIME) {
    int64_t some = n - begin < KEYS_AT_A_TIME ? n - begin : KEYS_AT_A_TIME;
    make_keys(keys, row + (size_t)begin * bytes, some, dtype, flip);
    for (int64_t i = 0; i < some; i++) {
      entry next = {keys[i], begin + i};
      if (held < count) {
        heap[held++] = next;
        if (held == count)
          for (int64_t at = count / 2; at-- > 0;)
            sift_down(heap, count, at, heap[at]);
      } else if (next.key > heap[0].key) { /* an equal one comes later */
        sift_down(heap, count, 0, next);
      }
    }
  }
  for (int64_t last = count - 1; last >= 0; last--) {
    places[last] = heap[0].place;
    sift_down(heap, last, 0, heap[last]);
  }
}

const char *kiln_call_order(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
  int64_t rows = sizes[0], n = sizes[1], count = sizes[2];
  if (count > n)
    return "it asks for more elements than an axis has";
  if (!rows || !count)
    return NULL;
  entry *heap = scratch->reserve(scratch, count * (int64_t)sizeof *heap);
  if (!heap)
    return "no memory to order the elements";
  size_t bytes = kiln_dtype_size((kiln_dtype)sizes[3]);
  for (int64_t row = 0; row < rows; row++)
    order_row((int64_t *)buffers[0] + row * count, (const char *)buffers[1] + (size_t)(row * n) * bytes, sizes, heap);
  return NULL;
}
