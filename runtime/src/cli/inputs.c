/*===- inputs.c - From files and seeds to tensors ------------------------===*/
#include "../alloc.h"
#include "../bind.h"
#include "../context.h"
#include "../dtype.h"
#include "../size.h"
#include "cli.h"
#include "kiln/npy.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static kiln_status read_files(const kiln_model *model, const kiln_args *args, kiln_tensor *tensors, kiln_text *cause) {
  for (int32_t i = 0; i < model->input_count; i++) {
    char error[KILN_TEXT_BYTES];
    kiln_status status = args->files[i] ? kiln_npy_read(args->files[i], &tensors[i], error, sizeof error) : KILN_OK;
    if (status) {
      kiln_text_add(cause, "%s: %s", args->files[i], error);
      return status;
    }
    /* A file has the codes of a narrow dtype, but not which one it is. */
    if (tensors[i].data && tensors[i].dtype == KILN_UINT8 && kiln_dtype_is_narrow(model->inputs[i].dtype))
      tensors[i].dtype = model->inputs[i].dtype;
  }
  return KILN_OK;
}

static kiln_status fill(const kiln_model *model, int32_t index, uint64_t seed, const int64_t *sizes,
                        kiln_tensor *tensor, kiln_text *cause) {
  const kiln_port *port = &model->inputs[index];
  tensor->dtype = port->dtype;
  tensor->rank = port->rank;
  for (int32_t axis = 0; axis < port->rank; axis++) {
    const kiln_dim *dim = &port->dims[axis];
    tensor->dims[axis] = dim->size >= 0 ? dim->size : dim->symbol >= 0 ? sizes[dim->symbol] : -1;
    if (tensor->dims[axis] < 0 && !kiln_evaluate_size(model, dim->text, sizes, &tensor->dims[axis]))
      tensor->dims[axis] = -1;
  }
  int64_t count = kiln_element_count(tensor->dtype, tensor->rank, tensor->dims);
  if (count < 0) {
    kiln_text_add(cause, "input '%s': the sizes of ", port->name);
    kiln_text_add_port(cause, port);
    kiln_text_add(cause, " cannot be chosen at random; give it with --input %s=FILE", port->name);
    return KILN_INVALID_ARGUMENT;
  }
  tensor->data = kiln_allocate(NULL, count * (int64_t)kiln_dtype_size(tensor->dtype), KILN_ALIGNMENT);
  if (!tensor->data) {
    kiln_text_add(cause, "input '%s': no memory for ", port->name);
    kiln_text_add_tensor(cause, tensor);
    return KILN_OUT_OF_MEMORY;
  }
  kiln_random_fill(tensor, seed, (uint64_t)index, /*mean=*/0);
  return KILN_OK;
}

static kiln_status fill_missing(const kiln_model *model, const kiln_args *args, const int64_t *sizes,
                                kiln_tensor *tensors, bool *wrong_use, kiln_text *cause) {
  for (int32_t i = 0; i < model->input_count; i++) {
    const kiln_port *port = &model->inputs[i];
    if (args->files[i] || port->value)
      continue;
    if (!args->random && !args->bench) {
      kiln_text_add(cause, "input '%s': wanted ", port->name);
      kiln_text_add_port(cause, port);
      kiln_text_add(cause, ", given none; give it with --input %s=FILE.npy, or all with --random", port->name);
      *wrong_use = true;
      return KILN_INVALID_ARGUMENT;
    }
    kiln_status status = fill(model, i, args->seed, sizes, &tensors[i], cause);
    if (status)
      return status;
  }
  return KILN_OK;
}

kiln_status kiln_cli_inputs(const kiln_model *model, const kiln_args *args, kiln_tensor *tensors, bool *wrong_use,
                            kiln_text *cause) {
  char error[KILN_TEXT_BYTES];
  kiln_text mismatch = kiln_text_in(error, sizeof error);
  int32_t bad;
  /* What --at chooses is what a symbol is where no file has it. */
  kiln_model chosen = *model;
  kiln_symbol *symbols = calloc((size_t)model->symbol_count + 1, sizeof *symbols);
  int64_t *sizes = calloc((size_t)model->symbol_count + 1, sizeof *sizes);
  kiln_status status = KILN_OUT_OF_MEMORY;
  if (!sizes || !symbols) {
    kiln_text_add(cause, "no memory for %" PRId32 " symbols", model->symbol_count);
    goto done;
  }
  for (int32_t i = 0; i < model->symbol_count; i++) {
    symbols[i] = model->symbols[i];
    if (args->sizes[i] >= 0)
      symbols[i].value = args->sizes[i];
  }
  chosen.symbols = symbols;
  status = read_files(model, args, tensors, cause);
  if (!status && (status = kiln_bind(&chosen, tensors, sizes, &bad, &mismatch)))
    kiln_text_add(cause, "%s: %s; --list shows what the model takes", args->files[bad], error);
  for (int32_t i = 0; i < model->symbol_count && !status; i++)
    if (args->sizes[i] >= 0 && sizes[i] != args->sizes[i]) {
      kiln_text_add(cause, "--at %s=%" PRId64 ": the files have the size %" PRId64 "; leave it out",
                    model->symbols[i].name, args->sizes[i], sizes[i]);
      *wrong_use = true;
      status = KILN_INVALID_ARGUMENT;
    }
  if (!status)
    status = fill_missing(&chosen, args, sizes, tensors, wrong_use, cause);
done:
  free(sizes);
  free(symbols);
  return status;
}
