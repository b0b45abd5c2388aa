/*===- image.h - The binaries of one model's kernels ---------------------===
 *
 * kiln_place.code of a program for the device "cuda": a cuda_images, its entries, then their bytes. All numbers as the
 * program's CPU has them.
 *
 *===---------------------------------------------------------------------===*/
#ifndef KILN_DEVICE_CUDA_IMAGE_H
#define KILN_DEVICE_CUDA_IMAGE_H

#include <stdint.h>

/* "kiln", then the version of this layout. */
#define KILN_CUDA_MAGIC UINT64_C(0x000000016e6c696b)

typedef enum cuda_image_kind {
  CUDA_IMAGE_CUBIN = 0, /* machine code: for GPUs of the same major and no smaller minor number */
  CUDA_IMAGE_EXACT = 1, /* machine code for this number alone, as of sm_90a */
  CUDA_IMAGE_PTX = 2    /* text that the driver compiles: for GPUs of no smaller number */
} cuda_image_kind;

typedef struct cuda_image {
  uint32_t kind;          /* cuda_image_kind */
  uint32_t arch;          /* compute capability: major * 10 + minor */
  uint64_t offset, bytes; /* from the beginning of cuda_images; PTX ends in a 0 that is counted */
} cuda_image;

typedef struct cuda_images {
  uint64_t magic;
  uint32_t toolkit; /* the version of CUDA that made them: major * 1000 + minor * 10 */
  uint32_t count;   /* of the cuda_image that follow */
} cuda_images;

#endif
