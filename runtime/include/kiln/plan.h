/*===- plan.h - Place tensors in one arena by their lifetimes ------------===
 *
 * If every size is a number, the compiler plans; if sizes are symbols, the program does, once for each set of sizes
 * that it runs with. Both call this, so the plan that the compiler prints is the one that the program uses.
 *
 *===---------------------------------------------------------------------===*/
#ifndef KILN_PLAN_H
#define KILN_PLAN_H

#include "kiln/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In bytes: of every tensor's offset. */
#define KILN_PLAN_ALIGNMENT 64

/* The steps of a program during which a tensor holds its value, the first and the last included. */
typedef struct kiln_lifetime {
  int32_t first, last;
} kiln_lifetime;

/* Gives each of `count` tensors of `bytes` an offset, so that no two share a byte at one step. Returns how many bytes
 * the arena must have; -1 if a size is negative, the sum passes 2^63 or no memory is left to plan with. That memory
 * comes from `memory`; NULL: the C library. */
int64_t kiln_plan(const kiln_lifetime *lifetimes, int32_t count, const int64_t *bytes, int64_t *offsets,
                  const kiln_allocator *memory);

#ifdef __cplusplus
}
#endif
#endif
