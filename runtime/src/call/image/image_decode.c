/*===- image_decode.c - Pixels of an image of any kind -------------------===*/
#include "image.h"
#include "image_memory.h"

const char *kiln_image_cause(kiln_scratch *scratch, const char *text) {
  size_t length = strcspn(text, "\n");
  char *kept = scratch->keep(scratch, (int64_t)length + 1);
  if (!kept)
    return KILN_IMAGE_NO_MEMORY;
  memcpy(kept, text, length);
  kept[length] = 0;
  return kept;
}

typedef struct image_kind {
  const char *name;
  const char *start; /* of its data; a blank stands for any byte */
  size_t start_bytes;
  kiln_image_codec *codec;
} image_kind;

static const image_kind image_kinds[] = {
    {"BMP", "BM", 2, kiln_image_bmp},
    {"JPEG", "\xff\xd8\xff", 3, kiln_image_jpeg},
    {"JPEG 2000", "\0\0\0\x0cjP  \x0d\x0a\x87\x0a", 12, kiln_image_jpeg2000},
    {"JPEG 2000", "\xff\x4f\xff\x51", 4, kiln_image_jpeg2000},
    {"PNG", "\x89PNG\x0d\x0a\x1a\x0a", 8, kiln_image_png},
    {"PNM", "P1", 2, kiln_image_pnm},
    {"PNM", "P2", 2, kiln_image_pnm},
    {"PNM", "P3", 2, kiln_image_pnm},
    {"PNM", "P4", 2, kiln_image_pnm},
    {"PNM", "P5", 2, kiln_image_pnm},
    {"PNM", "P6", 2, kiln_image_pnm},
    {"TIFF", "II*\0", 4, kiln_image_tiff},
    {"TIFF", "MM\0*", 4, kiln_image_tiff},
    {"WebP", "RIFF    WEBP", 12, kiln_image_webp},
};

static const image_kind *kind_of_image(const kiln_image *image) {
  for (size_t i = 0; i < sizeof image_kinds / sizeof *image_kinds; i++) {
    const image_kind *kind = &image_kinds[i];
    size_t same = 0;
    while (same < kind->start_bytes && same < image->bytes &&
           (kind->start[same] == ' ' || image->data[same] == (unsigned char)kind->start[same]))
      same++;
    if (same == kind->start_bytes)
      return kind;
  }
  return NULL;
}

/* Has the image's codec read it. The cause names the kind. */
static const char *read_image(kiln_image *image, unsigned char *rgb) {
  const image_kind *kind = kind_of_image(image);
  if (!kind)
    return "its data is not an image in BMP, JPEG, JPEG 2000, PNG, PNM, TIFF or WebP";
  kiln_image_memory memory;
  kiln_enter_codec(&memory);
  const char *cause = setjmp(memory.end) ? KILN_IMAGE_NO_MEMORY : kind->codec(image, rgb);
  kiln_leave_codec(&memory);
  if (!cause)
    return NULL;
  size_t bytes = strlen(kind->name) + strlen(cause) + sizeof "a  image: ";
  char *text = image->scratch->keep(image->scratch, (int64_t)bytes);
  if (!text)
    return cause;
  snprintf(text, bytes, "a %s image: %s", kind->name, cause);
  return text;
}

const char *kiln_call_image_size(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
  int64_t *result = buffers[0];
  kiln_image image = {buffers[1], (size_t)sizes[0], scratch, 0, 0};
  const char *cause = read_image(&image, NULL);
  result[0] = image.height;
  result[1] = image.width;
  return cause;
}

/* As ITU-R BT.601 weighs them, in 65536ths. */
static unsigned char luma_of_pixel(const unsigned char *rgb) {
  return (unsigned char)((rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16);
}

const char *kiln_call_image_decode(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
  unsigned char *result = buffers[0], *rgb = result;
  kiln_image image = {buffers[1], (size_t)sizes[0], scratch, sizes[1], sizes[2]};
  int64_t pixels = image.height * image.width;
  if (sizes[3] == KILN_PIXEL_GRAYSCALE && !(rgb = scratch->reserve(scratch, pixels * 3)))
    return "no memory for its colours";
  const char *cause = read_image(&image, rgb);
  if (cause)
    return cause;
  for (int64_t i = 0; i < pixels && sizes[3] == KILN_PIXEL_GRAYSCALE; i++)
    result[i] = luma_of_pixel(rgb + 3 * i);
  for (int64_t i = 0; i < pixels && sizes[3] == KILN_PIXEL_BGR; i++) {
    unsigned char red = rgb[3 * i];
    rgb[3 * i] = rgb[3 * i + 2];
    rgb[3 * i + 2] = red;
  }
  return NULL;
}
