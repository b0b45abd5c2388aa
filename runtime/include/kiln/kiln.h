/*===- kiln.h - Run a compiled model -----------------------------------===
 *
 * A compiled model is a constant `kiln_model`. A `kiln_context` holds what a run needs: a device, memory, threads. Two
 * threads may run the same model with two contexts; one context belongs to one thread at a time. Every function that
 * can fail returns a status; kiln_context_error() then has the cause in one line. The library prints nothing.
 *
 * If every size of a model is fixed, only a context's first run allocates memory and starts threads; so does the first
 * that reads another run's output.
 *
 *===--------------------------------------------------------------------===*/
#ifndef KILN_KILN_H
#define KILN_KILN_H

#include "kiln/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `options` may be NULL. On failure *context is NULL and, where `error` is not NULL, up to error_bytes of the cause are
 * written there. */
kiln_status kiln_context_create(const kiln_model *model, const kiln_options *options, kiln_context **context,
                                char *error, size_t error_bytes);
void kiln_context_destroy(kiln_context *context);

/* Runs the model. `inputs` are in declared order; an entry whose data is NULL takes the input's stored default, and so
 * do all if input_count is 0. `outputs` are written in declared order. If an entry's data is NULL or its capacity is
 * KILN_CONTEXT_MEMORY, it is set to memory of the context, valid until the next run or the context's end; else the
 * result goes to `data`, which has room for `capacity` bytes and shares none with another output. dtype, rank and dims
 * are set in either case, so that the same array serves the next run as it is. A run may leave out an output's last
 * axes (optional_axes): `rank` counts those that are there, and the size of each of the others is -1.
 *
 * An output in memory of the context may be an input of the next run: nothing is copied for that, and it is valid until
 * that run ends. Outputs in the caller's memory may overlap inputs; they are copied then. */
kiln_status kiln_run(kiln_context *context, const kiln_tensor *inputs, int32_t input_count, kiln_tensor *outputs,
                     int32_t output_count);

/* The cause of the last failure in one line, or "". */
const char *kiln_context_error(const kiln_context *context);

/* A model's inputs and outputs. `info` is filled for 0 <= index < count, its strings are the model's; for other indices
 * the status is KILN_INVALID_ARGUMENT. */
int32_t kiln_input_count(const kiln_model *model);
int32_t kiln_output_count(const kiln_model *model);
kiln_status kiln_input_info(const kiln_model *model, int32_t index, kiln_port_info *info);
kiln_status kiln_output_info(const kiln_model *model, int32_t index, kiln_port_info *info);

/* Which outputs lie in an input's memory, for 0 <= index < count; else as above. Such an input's data are the caller's,
 * maybe with a capacity, and share no byte with another. The output's entry has no memory of its own, and gets the
 * input's. If the device cannot use that memory in place, it is copied there and back in every run. */
int32_t kiln_alias_count(const kiln_model *model);
kiln_status kiln_alias_info(const kiln_model *model, int32_t index, kiln_alias *info);

size_t kiln_dtype_size(kiln_dtype dtype);
const char *kiln_dtype_name(kiln_dtype dtype);
const char *kiln_status_name(kiln_status status); /* "out of memory" */

#ifdef __cplusplus
}
#endif
#endif
