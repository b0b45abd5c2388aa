/*===- image.h - A codec of images ---------------------------------------===
 *
 * Data from anywhere cannot be trusted: a codec first finds out the sizes, within bounds that keep all products of them
 * far from overflow, and never reads past the data.
 *
 *===---------------------------------------------------------------------===*/
#ifndef KILN_SRC_CALL_IMAGE_IMAGE_H
#define KILN_SRC_CALL_IMAGE_IMAGE_H

#include "kiln/call.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* A larger image is taken for one that is meant to fill the memory. */
#define KILN_MOST_IMAGE_SIDE 65535
#define KILN_MOST_IMAGE_PIXELS (1 << 28)

typedef struct kiln_image {
  const unsigned char *data;
  size_t bytes;
  kiln_scratch *scratch;
  int64_t height, width; /* 0 until a codec has found them out */
} kiln_image;

/* Finds out the sizes of an image. If `rgb` is not NULL, it has room for the sizes that the image has by now, and this
 * writes height * width times red, green and blue there. Returns NULL, or what is wrong. */
typedef const char *kiln_image_codec(kiln_image *image, unsigned char *rgb);

kiln_image_codec kiln_image_bmp, kiln_image_jpeg, kiln_image_jpeg2000, kiln_image_png, kiln_image_pnm, kiln_image_tiff,
    kiln_image_webp;

#define KILN_IMAGE_ENDS "its data ends too early"
/* A codec of a runtime that was built without its library. */
#define KILN_WITHOUT_CODEC(FUNCTION, WORD, PACKAGE)                                                                    \
  const char *FUNCTION(kiln_image *image, unsigned char *rgb) {                                                        \
    (void)image;                                                                                                       \
    (void)rgb;                                                                                                         \
    return "its runtime was built without its codec; build that with KILN_WITH_" WORD " defined, kiln where " PACKAGE  \
           " is installed";                                                                                            \
  }
#define KILN_IMAGE_NO_MEMORY "no memory to decode it"

/* Notes sizes, or the second time compares them. */
static inline const char *kiln_set_image_size(kiln_image *image, int64_t height, int64_t width) {
  if (height < 1 || width < 1 || height > KILN_MOST_IMAGE_SIDE || width > KILN_MOST_IMAGE_SIDE ||
      height * width > KILN_MOST_IMAGE_PIXELS)
    return "its sizes are not within 1 and 65535, or it has more than 2^28 pixels";
  if (image->height && (image->height != height || image->width != width))
    return "it has other sizes than before";
  image->height = height;
  image->width = width;
  return NULL;
}

/* The library's message, kept with the results. */
const char *kiln_image_cause(kiln_scratch *scratch, const char *text);

#endif
