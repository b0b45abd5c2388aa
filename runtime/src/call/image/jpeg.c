/*===- jpeg.c - JPEG, through libjpeg-turbo -------------------------------===*/
#include "image.h"

#ifdef KILN_WITH_JPEG

#include <setjmp.h>

#include <jpeglib.h> /* after stdio.h, which it needs */

/* How the library reports: an error leaves the codec. */
typedef struct jpeg_ending {
  struct jpeg_error_mgr errors;
  jmp_buf end;
  const char *cause;
  kiln_scratch *scratch;
} jpeg_ending;

static void end_jpeg(j_common_ptr decoder) {
  jpeg_ending *ending = (jpeg_ending *)decoder->err;
  char text[JMSG_LENGTH_MAX];
  ending->errors.format_message(decoder, text);
  ending->cause = kiln_image_cause(ending->scratch, text);
  longjmp(ending->end, 1);
}

/* A level of -1 is corrupt data; after it the library goes on with invented pixels. */
static void heed_jpeg_warning(j_common_ptr decoder, int level) {
  if (level < 0)
    end_jpeg(decoder);
}

static void read_jpeg(struct jpeg_decompress_struct *decoder, jpeg_ending *ending, kiln_image *image,
                      unsigned char *rgb) {
  jpeg_mem_src(decoder, image->data, (unsigned long)image->bytes);
  jpeg_read_header(decoder, TRUE);
  ending->cause = kiln_set_image_size(image, decoder->image_height, decoder->image_width);
  if (!ending->cause && (decoder->jpeg_color_space == JCS_CMYK || decoder->jpeg_color_space == JCS_YCCK))
    ending->cause = "its four colours are those of print";
  if (ending->cause || !rgb)
    return;
  decoder->out_color_space = JCS_RGB;
  jpeg_start_decompress(decoder);
  while (decoder->output_scanline < decoder->output_height) {
    JSAMPROW row = rgb + (size_t)decoder->output_scanline * (size_t)image->width * 3;
    jpeg_read_scanlines(decoder, &row, 1);
  }
  jpeg_finish_decompress(decoder);
}

const char *kiln_image_jpeg(kiln_image *image, unsigned char *rgb) {
  struct jpeg_decompress_struct decoder;
  jpeg_ending ending;
  memset(&decoder, 0, sizeof decoder);
  decoder.err = jpeg_std_error(&ending.errors);
  ending.errors.error_exit = end_jpeg;
  ending.errors.emit_message = heed_jpeg_warning;
  ending.scratch = image->scratch;
  ending.cause = NULL;
  if (setjmp(ending.end) == 0) {
    jpeg_create_decompress(&decoder);
    read_jpeg(&decoder, &ending, image, rgb);
  }
  jpeg_destroy_decompress(&decoder);
  return ending.cause;
}

#else

KILN_WITHOUT_CODEC(kiln_image_jpeg, "JPEG", "libjpeg62-turbo-dev")

#endif
