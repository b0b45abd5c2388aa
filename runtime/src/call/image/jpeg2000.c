/*===- jpeg2000.c - JPEG 2000, through OpenJPEG -----------------------------===*/
#include "image.h"

#ifdef KILN_WITH_OPENJPEG

#if __has_include(<openjpeg.h>)
#include <openjpeg.h>
#else
#include <openjpeg-2.5/openjpeg.h>
#endif

typedef struct jpeg2000_reading {
  kiln_image *image;
  size_t at;
  const char *cause;
} jpeg2000_reading;

static void note_jpeg2000_error(const char *text, void *user) {
  jpeg2000_reading *reading = user;
  if (!reading->cause)
    reading->cause = kiln_image_cause(reading->image->scratch, text);
}

static OPJ_SIZE_T read_jpeg2000_bytes(void *to, OPJ_SIZE_T bytes, void *user) {
  jpeg2000_reading *reading = user;
  size_t left = reading->image->bytes - reading->at;
  if (!left)
    return (OPJ_SIZE_T)-1;
  size_t count = bytes < left ? bytes : left;
  memcpy(to, reading->image->data + reading->at, count);
  reading->at += count;
  return count;
}

static OPJ_OFF_T skip_jpeg2000_bytes(OPJ_OFF_T bytes, void *user) {
  jpeg2000_reading *reading = user;
  size_t left = reading->image->bytes - reading->at;
  if (bytes < 0 || (size_t)bytes > left)
    return -1;
  reading->at += (size_t)bytes;
  return bytes;
}

static OPJ_BOOL seek_in_jpeg2000(OPJ_OFF_T to, void *user) {
  jpeg2000_reading *reading = user;
  if (to < 0 || (size_t)to > reading->image->bytes)
    return OPJ_FALSE;
  reading->at = (size_t)to;
  return OPJ_TRUE;
}

/* A sample of any precision as 0 to 255. */
static unsigned char jpeg2000_sample(const opj_image_comp_t *part, size_t place) {
  int64_t most = ((int64_t)1 << part->prec) - 1;
  int64_t value = part->data[place] + (part->sgnd ? (int64_t)1 << (part->prec - 1) : 0);
  value = value < 0 ? 0 : value > most ? most : value;
  return (unsigned char)(part->prec > 8 ? value >> (part->prec - 8) : value * 255 / most);
}

/* Whether the first parts are grays, or red, green and blue of each pixel. */
static bool is_plain_jpeg2000(const opj_image_t *decoded) {
  if (decoded->numcomps < 1 || decoded->color_space == OPJ_CLRSPC_SYCC || decoded->color_space == OPJ_CLRSPC_EYCC ||
      decoded->color_space == OPJ_CLRSPC_CMYK)
    return false;
  for (unsigned i = 0; i < (decoded->numcomps < 3 ? 1 : 3); i++) {
    const opj_image_comp_t *part = &decoded->comps[i];
    if (part->w != decoded->comps[0].w || part->h != decoded->comps[0].h || part->prec < 1 || part->prec > 31 ||
        part->dx != 1 || part->dy != 1)
      return false;
  }
  return true;
}

static const char *read_jpeg2000(opj_codec_t *codec, opj_stream_t *stream, opj_image_t **decoded, kiln_image *image,
                                 unsigned char *rgb) {
  if (!opj_read_header(stream, codec, decoded))
    return "its header is corrupt";
  if (!is_plain_jpeg2000(*decoded))
    return "its colours are not red, green and blue, or not all of each pixel's";
  const char *cause =
      kiln_set_image_size(image, (int64_t)(*decoded)->y1 - (*decoded)->y0, (int64_t)(*decoded)->x1 - (*decoded)->x0);
  if (cause || !rgb)
    return cause;
  if (!opj_decode(codec, stream, *decoded) || !opj_end_decompress(codec, stream))
    return "its data is corrupt or ends too early";
  unsigned parts = (*decoded)->numcomps < 3 ? 1 : 3;
  for (unsigned i = 0; i < parts; i++) {
    const opj_image_comp_t *part = &(*decoded)->comps[i];
    if (!part->data || part->w != image->width || part->h != image->height)
      return "its data is corrupt";
  }
  for (size_t i = 0, pixels = (size_t)(image->height * image->width); i < pixels; i++)
    for (unsigned k = 0; k < 3; k++)
      rgb[3 * i + k] = jpeg2000_sample(&(*decoded)->comps[parts == 3 ? k : 0], i);
  return NULL;
}

const char *kiln_image_jpeg2000(kiln_image *image, unsigned char *rgb) {
  jpeg2000_reading reading = {image, 0, NULL};
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  opj_codec_t *codec = opj_create_decompress(image->data[0] ? OPJ_CODEC_J2K : OPJ_CODEC_JP2);
  opj_stream_t *stream = opj_stream_default_create(OPJ_TRUE);
  opj_image_t *decoded = NULL;
  const char *cause = KILN_IMAGE_NO_MEMORY;
  if (codec && stream) {
    opj_codec_set_threads(codec, 0); /* whatever the environment says */
    opj_set_error_handler(codec, note_jpeg2000_error, &reading);
    opj_stream_set_user_data(stream, &reading, NULL);
    opj_stream_set_user_data_length(stream, image->bytes);
    opj_stream_set_read_function(stream, read_jpeg2000_bytes);
    opj_stream_set_skip_function(stream, skip_jpeg2000_bytes);
    opj_stream_set_seek_function(stream, seek_in_jpeg2000);
    if (opj_setup_decoder(codec, &parameters))
      cause = read_jpeg2000(codec, stream, &decoded, image, rgb);
  }
  if (decoded)
    opj_image_destroy(decoded);
  if (stream)
    opj_stream_destroy(stream);
  if (codec)
    opj_destroy_codec(codec);
  return cause && reading.cause ? reading.cause : cause;
}

#else

KILN_WITHOUT_CODEC(kiln_image_jpeg2000, "OPENJPEG", "libopenjp2-7-dev")

#endif
