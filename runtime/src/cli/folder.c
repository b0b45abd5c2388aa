/*===- folder.c - Sequences as folders of files --------------------------===*/
#define _POSIX_C_SOURCE 200809L
#include "../alloc.h"
#include "../text.h"
#include "kiln/npy.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The target of a tensor that is a sequence. */
typedef struct owned_list {
  kiln_sequence reference; /* the tensor's one element */
  kiln_list list;
  kiln_tensor tensors[];
} owned_list;

static void free_tensors(kiln_tensor *tensors, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    free(tensors[i].data);
}

kiln_status kiln_sequence_make(kiln_tensor *tensors, int64_t count, kiln_tensor *tensor) {
  *tensor = (kiln_tensor){.dtype = KILN_SEQUENCE};
  owned_list *owned =
      kiln_allocate(NULL, (int64_t)sizeof *owned + count * (int64_t)sizeof *tensors, 64 /* used where it lies */);
  if (!owned) {
    free_tensors(tensors, count);
    return KILN_OUT_OF_MEMORY;
  }
  owned->list = (kiln_list){owned->tensors, count, 0};
  owned->reference = &owned->list;
  if (count > 0)
    memcpy(owned->tensors, tensors, (size_t)count * sizeof *tensors);
  tensor->data = owned;
  return KILN_OK;
}

void kiln_sequence_free(kiln_tensor *tensor) {
  owned_list *owned = tensor->data;
  if (owned)
    free_tensors(owned->tensors, owned->list.count);
  free(owned);
  tensor->data = NULL;
}

/* How many files of a folder are named by a number: 0.npy, 10.npy. -1: it cannot be read. */
static int64_t count_files(const char *folder) {
  DIR *open = opendir(folder);
  int64_t count = 0;
  if (!open)
    return -1;
  for (const struct dirent *entry; (entry = readdir(open));) {
    size_t digits = strspn(entry->d_name, "0123456789");
    if (digits > 0 && (entry->d_name[0] != '0' || digits == 1) && strcmp(entry->d_name + digits, ".npy") == 0)
      count++;
  }
  closedir(open);
  return count;
}

kiln_status kiln_sequence_read(const char *folder, kiln_tensor *tensor, char *error, size_t error_bytes) {
  kiln_text cause = kiln_text_in(error, error_bytes);
  *tensor = (kiln_tensor){.dtype = KILN_SEQUENCE};
  int64_t count = count_files(folder);
  if (count < 0) {
    kiln_text_add(&cause, "cannot be read: %s; a sequence is a folder of 0.npy, 1.npy and so on", strerror(errno));
    return KILN_IO_ERROR;
  }
  size_t room = strlen(folder) + 32;
  char *path = malloc(room), *reason = malloc(KILN_TEXT_BYTES);
  kiln_tensor *tensors = calloc((size_t)count + 1, sizeof *tensors);
  kiln_status status = path && reason && tensors ? KILN_OK : KILN_OUT_OF_MEMORY;
  int64_t read = 0;
  for (; !status && read < count; read++) {
    snprintf(path, room, "%s/%" PRId64 ".npy", folder, read);
    if ((status = kiln_npy_read(path, &tensors[read], reason, KILN_TEXT_BYTES))) {
      kiln_text_add(&cause, "%" PRId64 ".npy: %s", read, reason);
      break;
    }
  }
  if (status && tensors)
    free_tensors(tensors, read);
  if (!status)
    status = kiln_sequence_make(tensors, count, tensor);
  if (status == KILN_OUT_OF_MEMORY && cause.length == 0)
    kiln_text_add(&cause, "no memory for its list");
  free(tensors);
  free(reason);
  free(path);
  return status;
}
