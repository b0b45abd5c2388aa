/*===- inputs.c - From files and seeds to tensors -------------------------===
 *
 * An input is read from a file, has a default in the model, or is filled at random. Open sizes tie inputs
 * together: x [n, 3] from a file gives n, and z [2*n] has to be made to match. So all files are read first; then
 * each symbol gets its size from the files, else from --at, else its default; only then can the missing inputs be
 * made.
 * An input whose memory an output is to share gets room for its whole capacity at the end.
 *
 *===----------------------------------------------------------------------===*/
#define _POSIX_C_SOURCE 200809L
#include "../alloc.h"
#include "../bind.h"
#include "../context.h"
#include "../dtype.h"
#include "../sequence.h"
#include "../size.h"
#include "cli.h"
#include "kiln/npy.h"
#include "literal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file has the codes of a narrow dtype, but not which one it is. */
static void name_dtype(const kiln_port *port, kiln_tensor *tensor) {
  if (tensor->data && tensor->dtype == KILN_UINT8 && kiln_dtype_is_narrow(port->dtype))
    tensor->dtype = port->dtype;
}

/* An argument that is no file may be values that are written wrong. */
static kiln_status not_there(kiln_text *reason) {
  kiln_text_add(reason, "cannot be read: %s; name a .npy file, or give values as 3, '[1, 2]' or 2x2xf32=0",
                strerror(errno));
  return KILN_IO_ERROR;
}

/* The argument for a port: a literal, a file, or for a sequence a folder. */
static kiln_status read_file(const kiln_port *port, const char *path, kiln_tensor *tensor, char *error, size_t room) {
  kiln_text reason = kiln_text_in(error, room);
  if (kiln_is_literal(path))
    return kiln_parse_literal(port, path, tensor, &reason);
  if (!port->element && access(path, F_OK) != 0)
    return not_there(&reason);
  if (kiln_takes_bytes(port, path))
    return kiln_read_bytes(path, tensor, &reason);
  kiln_status status =
      kiln_is_sequence(port) ? kiln_sequence_read(path, tensor, error, room) : kiln_npy_read(path, tensor, error, room);
  if (status || !port->element) {
    name_dtype(port, tensor);
    return status;
  }
  if (!kiln_is_sequence(port)) {
    kiln_tensor one = *tensor;
    if ((status = kiln_sequence_make(&one, 1, tensor))) {
      kiln_text cause = kiln_text_in(error, room);
      kiln_text_add(&cause, "no memory for its list");
      return status;
    }
  }
  tensor->dtype = port->dtype;
  kiln_sequence list = *(const kiln_sequence *)tensor->data;
  for (int64_t i = 0; i < list->count; i++)
    name_dtype(kiln_tensor_port(port), (kiln_tensor *)&list->tensors[i]);
  return KILN_OK;
}

static kiln_status read_files(const kiln_model *model, const kiln_args *args, kiln_tensor *tensors, kiln_text *cause) {
  for (int32_t i = 0; i < model->input_count; i++) {
    char error[KILN_TEXT_BYTES];
    kiln_status status =
        args->files[i] ? read_file(&model->inputs[i], args->files[i], &tensors[i], error, sizeof error) : KILN_OK;
    if (status) {
      kiln_text_add(cause, "%s: %s", args->files[i], error);
      return status;
    }
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
    kiln_text_add(cause, "; choose smaller sizes by --at, or end other programs");
    return KILN_OUT_OF_MEMORY;
  }
  kiln_random_fill(tensor, seed, (uint64_t)index, /*mean=*/0);
  return KILN_OK;
}

/* Three tensors; a size that is not fixed is 2, a rank 1. */
static kiln_status fill_sequence(const kiln_port *port, int32_t index, uint64_t seed, kiln_tensor *tensor,
                                 kiln_text *cause) {
  enum { TENSORS = 3, SIZE = 2 };
  const kiln_port *wanted = kiln_tensor_port(port);
  kiln_tensor tensors[TENSORS] = {0};
  for (int32_t i = 0; i < TENSORS; i++) {
    kiln_tensor *made = &tensors[i];
    made->dtype = wanted->dtype;
    made->rank = wanted->rank >= 0 ? wanted->rank : 1;
    for (int32_t axis = 0; axis < made->rank; axis++)
      made->dims[axis] = wanted->rank >= 0 && wanted->dims[axis].size >= 0 ? wanted->dims[axis].size : SIZE;
    int64_t count = kiln_element_count(made->dtype, made->rank, made->dims);
    made->data = count < 0 ? NULL : kiln_allocate(NULL, count * (int64_t)kiln_dtype_size(made->dtype), KILN_ALIGNMENT);
    if (!made->data) {
      while (i-- > 0)
        free(tensors[i].data);
      kiln_text_add(cause, "input '%s': no memory for its tensors", port->name);
      return KILN_OUT_OF_MEMORY;
    }
    kiln_random_fill(made, seed, (uint64_t)index + ((uint64_t)i + 1) * UINT64_C(0x100000000), /*mean=*/0);
  }
  kiln_status status = kiln_sequence_make(tensors, TENSORS, tensor);
  if (status)
    kiln_text_add(cause, "input '%s': no memory for its list", port->name);
  return status;
}

static kiln_status fill_missing(const kiln_model *model, const kiln_args *args, const int64_t *sizes,
                                kiln_tensor *tensors, bool *wrong_use, kiln_text *cause) {
  for (int32_t i = 0; i < model->input_count; i++) {
    const kiln_port *port = &model->inputs[i];
    if (args->files[i] || port->value)
      continue;
    if (!args->random && !args->bench) {
      kiln_text_add_wanted(cause, port);
      kiln_text_add(cause, ", given none; give it with --input %s=%s, or all with --random", port->name,
                    kiln_is_sequence(port) ? "FOLDER" : "FILE.npy or values as '[1, 2]'");
      *wrong_use = true;
      return KILN_INVALID_ARGUMENT;
    }
    kiln_status status = port->element ? fill_sequence(port, i, args->seed, &tensors[i], cause)
                                       : fill(model, i, args->seed, sizes, &tensors[i], cause);
    if (status)
      return status;
  }
  return KILN_OK;
}

kiln_status kiln_cli_inputs(const kiln_model *model, const kiln_args *args, kiln_tensor *tensors, int64_t *sizes,
                            bool *wrong_use, kiln_text *cause) {
  char error[KILN_TEXT_BYTES];
  kiln_text mismatch = kiln_text_in(error, sizeof error);
  int32_t bad;
  /* --at gives a symbol that no file has. */
  kiln_model chosen = *model;
  kiln_symbol *symbols = calloc((size_t)model->symbol_count + 1, sizeof *symbols);
  if (!symbols) {
    kiln_text_add(cause, "no memory for %" PRId32 " symbols", model->symbol_count);
    return KILN_OUT_OF_MEMORY;
  }
  for (int32_t i = 0; i < model->symbol_count; i++) {
    symbols[i] = model->symbols[i];
    if (args->sizes[i] >= 0)
      symbols[i].value = args->sizes[i];
  }
  chosen.symbols = symbols;
  kiln_status status = read_files(model, args, tensors, cause);
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
  for (int32_t i = 0; i < model->alias_count && !status; i++)
    if (!kiln_room_give(&model->aliases[i], &tensors[model->aliases[i].input])) {
      kiln_text_add(cause, "input '%s': no memory for its capacity of %" PRId64,
                    model->inputs[model->aliases[i].input].name, model->aliases[i].capacity);
      status = KILN_OUT_OF_MEMORY;
    }
  free(symbols);
  return status;
}

void kiln_cli_release(kiln_tensor *input) {
  if (input->dtype == KILN_SEQUENCE || input->dtype == KILN_OPTIONAL)
    kiln_sequence_free(input);
  else
    free(input->data);
}
