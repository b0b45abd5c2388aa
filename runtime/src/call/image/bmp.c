/*===- bmp.c - Windows' bitmaps -------------------------------------------===
 *
 * Rows from the bottom up, each padded to four bytes, of blue, green and red, of places in a palette, or of words that
 * bit masks divide. Runs of equal pixels (RLE) are refused, as are pictures within (JPEG, PNG).
 *
 *===---------------------------------------------------------------------===*/
#include "image.h"

typedef struct bmp_header {
  uint32_t pixels, info; /* where the pixels begin; the length of the header after the first 14 bytes */
  int64_t width, height;
  bool goes_down;
  uint32_t bits, compression, colours;
  uint32_t masks[3];
} bmp_header;

static uint32_t bmp_number(const unsigned char *at, int bytes) {
  uint32_t number = 0;
  for (int i = bytes - 1; i >= 0; i--)
    number = number << 8 | at[i];
  return number;
}

static const char *read_bmp_header(const kiln_image *image, bmp_header *header) {
  const unsigned char *at = image->data;
  if (image->bytes < 26)
    return KILN_IMAGE_ENDS;
  header->pixels = bmp_number(at + 10, 4);
  header->info = bmp_number(at + 14, 4);
  if (header->info != 12 && header->info < 40)
    return "its header is of no known kind";
  if (header->info > image->bytes - 14)
    return KILN_IMAGE_ENDS;
  if (header->info == 12) {
    header->width = bmp_number(at + 18, 2);
    header->height = bmp_number(at + 20, 2);
    header->bits = bmp_number(at + 24, 2);
    return NULL;
  }
  header->width = (int32_t)bmp_number(at + 18, 4);
  header->height = (int32_t)bmp_number(at + 22, 4);
  header->goes_down = header->height < 0;
  if (header->goes_down)
    header->height = -header->height;
  header->bits = bmp_number(at + 28, 2);
  header->compression = bmp_number(at + 30, 4);
  header->colours = bmp_number(at + 46, 4);
  return NULL;
}

/* The masks of a word of 16 or 32 bits. */
static const char *read_bmp_masks(const kiln_image *image, bmp_header *header) {
  static const uint32_t of_16[3] = {0x7c00, 0x3e0, 0x1f}, of_32[3] = {0xff0000, 0xff00, 0xff};
  memcpy(header->masks, header->bits == 16 ? of_16 : of_32, sizeof header->masks);
  if (header->compression != 3)
    return NULL;
  if (image->bytes < 66)
    return KILN_IMAGE_ENDS;
  for (int i = 0; i < 3; i++)
    header->masks[i] = bmp_number(image->data + 54 + 4 * i, 4);
  return NULL;
}

/* The bits of a mask, as a number from 0 to 255. */
static unsigned char bmp_channel(uint32_t word, uint32_t mask) {
  if (!mask)
    return 0;
  while (!(mask & 1)) {
    mask >>= 1;
    word >>= 1;
  }
  return (unsigned char)(((uint64_t)(word & mask) * 255 + mask / 2) / mask);
}

/* One row of places in the palette; those past its end are black. */
static void read_bmp_places(const kiln_image *image, const bmp_header *header, const unsigned char *row,
                            unsigned char *rgb) {
  size_t entry = header->info == 12 ? 3 : 4, start = 14 + (size_t)header->info;
  size_t most = (size_t)1 << header->bits, count = header->colours && header->colours < most ? header->colours : most;
  unsigned per_byte = 8 / header->bits, mask = (1u << header->bits) - 1;
  for (int64_t x = 0; x < header->width; x++, rgb += 3) {
    unsigned shift = 8 - header->bits * ((unsigned)(x % per_byte) + 1);
    size_t place = row[x / per_byte] >> shift & mask, at = start + place * entry;
    bool is_there = place < count && at + entry <= image->bytes;
    for (int i = 0; i < 3; i++)
      rgb[i] = is_there ? image->data[at + 2 - (size_t)i] : 0;
  }
}

static void read_bmp_row(const kiln_image *image, const bmp_header *header, const unsigned char *row,
                         unsigned char *rgb) {
  if (header->bits <= 8) {
    read_bmp_places(image, header, row, rgb);
    return;
  }
  for (int64_t x = 0, bytes = header->bits / 8; x < header->width; x++, row += bytes, rgb += 3)
    for (int i = 0; i < 3; i++)
      rgb[i] = bytes == 3 ? row[2 - i] : bmp_channel(bmp_number(row, (int)bytes), header->masks[i]);
}

const char *kiln_image_bmp(kiln_image *image, unsigned char *rgb) {
  bmp_header header = {0};
  const char *cause = read_bmp_header(image, &header);
  if (!cause)
    cause = kiln_set_image_size(image, header.height, header.width);
  if (cause)
    return cause;
  uint32_t bits = header.bits;
  bool has_words = bits == 16 || bits == 32;
  if (bits != 1 && bits != 4 && bits != 8 && bits != 24 && !has_words)
    return "a pixel has no known number of bits";
  if (header.compression != 0 && !(header.compression == 3 && has_words))
    return "it is compressed";
  if ((cause = read_bmp_masks(image, &header)))
    return cause;
  size_t row = ((size_t)header.width * bits + 31) / 32 * 4;
  if (header.pixels > image->bytes || (image->bytes - header.pixels) / row < (size_t)header.height)
    return KILN_IMAGE_ENDS;
  for (int64_t y = 0; rgb && y < header.height; y++) {
    int64_t from = header.goes_down ? y : header.height - 1 - y;
    read_bmp_row(image, &header, image->data + header.pixels + (size_t)from * row, rgb + 3 * y * header.width);
  }
  return NULL;
}
