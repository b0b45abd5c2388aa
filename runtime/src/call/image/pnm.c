/*===- pnm.c - Netpbm's portable maps: bits, grays and colours ----------===*/
#include "image.h"

/* The rest of the data. */
typedef struct pnm_text {
  const unsigned char *at, *end;
} pnm_text;

static bool is_pnm_blank(unsigned char letter) { return letter == ' ' || (letter >= '\t' && letter <= '\r'); }

/* Blanks, and comments up to the end of their lines. */
static void skip_pnm_blanks(pnm_text *text) {
  while (text->at < text->end && (is_pnm_blank(*text->at) || *text->at == '#'))
    if (*text->at++ == '#')
      while (text->at < text->end && *text->at != '\n')
        text->at++;
}

/* A number of at most `digits`; -1 if there is none. */
static int64_t read_pnm_number(pnm_text *text, int digits) {
  skip_pnm_blanks(text);
  int64_t number = 0;
  int count = 0;
  for (; text->at < text->end && *text->at >= '0' && *text->at <= '9' && count < digits; count++)
    number = number * 10 + (*text->at++ - '0');
  return count ? number : -1;
}

static unsigned char pnm_sample(int64_t value, int64_t most) {
  return (unsigned char)(((value < most ? value : most) * 255 + most / 2) / most);
}

static const char *read_pnm_words(pnm_text *text, int64_t samples, int64_t most, bool is_bits, unsigned char *out) {
  for (int64_t i = 0; i < samples; i++) {
    int64_t value = read_pnm_number(text, is_bits ? 1 : 9);
    if (value < 0)
      return text->at < text->end ? "a sample is not a number" : KILN_IMAGE_ENDS;
    out[i] = pnm_sample(is_bits ? !value : value, most);
  }
  return NULL;
}

static void read_pnm_bytes(const unsigned char *at, int64_t samples, int64_t most, unsigned char *out) {
  for (int64_t i = 0; i < samples; i++)
    out[i] = most < 256 ? pnm_sample(at[i], most) : pnm_sample(at[2 * i] << 8 | at[2 * i + 1], most);
}

/* 1 is black, and a row begins with a byte of its own. */
static void read_pnm_bits(const unsigned char *at, const kiln_image *image, unsigned char *out) {
  int64_t row = (image->width + 7) / 8;
  for (int64_t y = 0; y < image->height; y++)
    for (int64_t x = 0; x < image->width; x++)
      *out++ = at[y * row + x / 8] >> (7 - x % 8) & 1 ? 0 : 255;
}

const char *kiln_image_pnm(kiln_image *image, unsigned char *rgb) {
  int kind = image->data[1] - '0'; /* 1 to 3 as words, 4 to 6 as bytes: bits, grays, colours */
  bool is_words = kind <= 3, is_bits = kind % 3 == 1;
  int64_t channels = kind % 3 == 0 ? 3 : 1;
  pnm_text text = {image->data + 2, image->data + image->bytes};
  int64_t width = read_pnm_number(&text, 9), height = read_pnm_number(&text, 9);
  int64_t most = is_bits ? 1 : read_pnm_number(&text, 9);
  const char *cause = kiln_set_image_size(image, height, width);
  if (cause)
    return cause;
  if (most < 1 || most > 65535)
    return "its largest sample is not within 1 and 65535";
  int64_t samples = height * width * channels;
  if (!is_words && (text.at == text.end || !is_pnm_blank(*text.at++)))
    return KILN_IMAGE_ENDS;
  /* A word takes two bytes, except the last one; a bit as a word takes one. */
  int64_t least = is_words && is_bits ? samples
                  : is_words          ? 2 * samples - 1
                  : is_bits           ? (width + 7) / 8 * height
                                      : samples * (most < 256 ? 1 : 2);
  if (text.end - text.at < least)
    return KILN_IMAGE_ENDS;
  if (!rgb)
    return NULL;
  if (is_words)
    cause = read_pnm_words(&text, samples, most, is_bits, rgb);
  else if (is_bits)
    read_pnm_bits(text.at, image, rgb);
  else
    read_pnm_bytes(text.at, samples, most, rgb);
  for (int64_t i = height * width - 1; i >= 0 && channels == 1; i--)
    memset(rgb + 3 * i, rgb[i], 3);
  return cause;
}
