/*===- affine.h - A model written by hand --------------------------------===
 *
 * y[b] = sum over j of (x[b,j] * weight[j] + bias[j]), as two kernels with a product in the arena between them: what
 * kiln would generate for a small model with a symbolic size, a weight, and an input with a stored default.
 *
 *===---------------------------------------------------------------------===*/
#ifndef KILN_TEST_AFFINE_H
#define KILN_TEST_AFFINE_H

#include "kiln/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Inputs x: float32 [batch, 3], batch from 1 to 64; bias: float32 [3], by default {1, 2, 3}. Output y: float32 [batch].
 * The weight "layer.weight" is {1, 10, 100}. One chunk a row. */
extern const kiln_model affine_model;

/* The same with its weights in a file. */
extern const kiln_model affine_model_without_weights;

#ifdef __cplusplus
}
#endif
#endif
