/*===- png.c - PNG, through libpng -----------------------------------------===*/
#include "image.h"

#ifdef KILN_WITH_PNG

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>

/* The argument of the library's functions. */
typedef struct png_reading {
  kiln_image *image;
  size_t read; /* bytes */
  const char *cause;
} png_reading;

static void end_png(png_structp decoder, png_const_charp text) {
  png_reading *reading = png_get_error_ptr(decoder);
  if (!reading->cause)
    reading->cause = kiln_image_cause(reading->image->scratch, text);
  png_longjmp(decoder, 1);
}

static void pass_over_png_warning(png_structp decoder, png_const_charp text) {
  (void)decoder;
  (void)text;
}

static void read_png_bytes(png_structp decoder, png_bytep to, size_t bytes) {
  png_reading *reading = png_get_io_ptr(decoder);
  if (reading->image->bytes - reading->read < bytes)
    png_error(decoder, KILN_IMAGE_ENDS);
  memcpy(to, reading->image->data + reading->read, bytes);
  reading->read += bytes;
}

/* All kinds of pixels become bytes of red, green and blue; a transparent pixel counts as its colour. */
static void read_png(png_structp decoder, png_infop info, png_reading *reading, unsigned char *rgb) {
  kiln_image *image = reading->image;
  png_set_user_limits(decoder, KILN_MOST_IMAGE_SIDE, KILN_MOST_IMAGE_SIDE);
  png_set_read_fn(decoder, reading, read_png_bytes);
  png_read_info(decoder, info);
  reading->cause = kiln_set_image_size(image, png_get_image_height(decoder, info), png_get_image_width(decoder, info));
  if (reading->cause || !rgb)
    return;
  png_set_expand(decoder);
  png_set_strip_16(decoder);
  png_set_strip_alpha(decoder);
  png_set_gray_to_rgb(decoder);
  int passes = png_set_interlace_handling(decoder);
  png_read_update_info(decoder, info);
  if (png_get_rowbytes(decoder, info) != (size_t)image->width * 3)
    png_error(decoder, "its pixels are of no known kind");
  for (int pass = 0; pass < passes; pass++)
    for (int64_t y = 0; y < image->height; y++)
      png_read_row(decoder, rgb + (size_t)y * (size_t)image->width * 3, NULL);
  png_read_end(decoder, NULL);
}

const char *kiln_image_png(kiln_image *image, unsigned char *rgb) {
  png_reading reading = {image, 0, NULL};
  png_structp decoder = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reading, end_png, pass_over_png_warning);
  png_infop info = decoder ? png_create_info_struct(decoder) : NULL;
  if (!info)
    reading.cause = KILN_IMAGE_NO_MEMORY;
  else if (setjmp(png_jmpbuf(decoder)) == 0)
    read_png(decoder, info, &reading, rgb);
  if (decoder)
    png_destroy_read_struct(&decoder, &info, NULL);
  return reading.cause;
}

#else

KILN_WITHOUT_CODEC(kiln_image_png, "PNG", "libpng-dev")

#endif
