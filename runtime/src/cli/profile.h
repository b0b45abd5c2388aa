/*===- profile.h - Where the time of a program's runs goes ---------------===*/
#ifndef KILN_CLI_PROFILE_H
#define KILN_CLI_PROFILE_H

#include "args.h"

#include <stdbool.h>

/* The spans of runs, as kiln_options.span tells them. */
typedef struct kiln_profile kiln_profile;

/* NULL: no memory. */
kiln_profile *kiln_profile_create(void);
void kiln_profile_destroy(kiln_profile *profile);

/* kiln_options.span and its user. */
void kiln_profile_span(void *profile, const kiln_span *span);

/* Runs the model a few times to warm up, then `runs` times, and keeps the spans of the latter. */
kiln_status kiln_profile_runs(kiln_profile *profile, kiln_context *context, const kiln_model *model,
                              const kiln_tensor *inputs, int32_t runs, kiln_text *cause);

/* The functions below are called after the context and its threads have ended. */

/* A row for each node and for other work, the largest share first: the first twenty, or with args->profile_kernels all,
 * each with a row for each of its kernels. With args->kernels those of these alone. At the end the runs, at `sizes` of
 * the model's symbols. */
kiln_status kiln_profile_print(const kiln_profile *profile, const kiln_model *model, const kiln_args *args,
                               const int64_t *sizes, kiln_text *cause);

/* The same as JSON, with each kernel of all nodes. */
kiln_status kiln_profile_print_json(const kiln_profile *profile, const kiln_model *model, const kiln_args *args,
                                    const int64_t *sizes, kiln_text *cause);

/* A file of Chrome's trace events, for chrome://tracing or Perfetto: a row for the launches and one for each thread. */
kiln_status kiln_profile_write(const kiln_profile *profile, const kiln_model *model, const char *path,
                               kiln_text *cause);

#endif
