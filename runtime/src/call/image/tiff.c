/*===- tiff.c - TIFF, through libtiff ----------------------------------------===
 *
 * The first picture of a file. JPEG pictures within it are not read, nor compressions rarer than LZW, Deflate, PackBits
 * and fax: libtiff has a table of these, and if all is one object the table is ours, so that their libraries are not
 * linked.
 *
 *===------------------------------------------------------------------------===*/
#include "image.h"

#ifdef KILN_WITH_TIFF

#include <stdlib.h>
#include <tiffio.h>

typedef struct tiff_reading {
  kiln_image *image;
  toff_t at;
  const char *cause;
} tiff_reading;

static tmsize_t read_tiff_bytes(thandle_t handle, void *to, tmsize_t bytes) {
  tiff_reading *reading = handle;
  size_t left = reading->at < reading->image->bytes ? reading->image->bytes - (size_t)reading->at : 0;
  size_t count = bytes < 0 ? 0 : (size_t)bytes < left ? (size_t)bytes : left;
  memcpy(to, reading->image->data + (left ? reading->at : 0), count);
  reading->at += count;
  return (tmsize_t)count;
}

static tmsize_t write_no_tiff(thandle_t handle, void *from, tmsize_t bytes) {
  (void)handle;
  (void)from;
  (void)bytes;
  return 0;
}

static toff_t seek_in_tiff(thandle_t handle, toff_t to, int whence) {
  tiff_reading *reading = handle;
  toff_t base = whence == SEEK_CUR ? reading->at : whence == SEEK_END ? (toff_t)reading->image->bytes : 0;
  return reading->at = base + to;
}

static toff_t size_of_tiff(thandle_t handle) { return (toff_t)((tiff_reading *)handle)->image->bytes; }

static int close_tiff(thandle_t handle) {
  (void)handle;
  return 0;
}

static int note_tiff_error(TIFF *tiff, void *user, const char *module, const char *format, va_list arguments) {
  (void)tiff;
  (void)module;
  tiff_reading *reading = user;
  char text[256];
  if (!reading->cause) {
    vsnprintf(text, sizeof text, format, arguments);
    reading->cause = kiln_image_cause(reading->image->scratch, text);
  }
  return 1;
}

static int pass_over_tiff_warning(TIFF *tiff, void *user, const char *module, const char *format, va_list arguments) {
  (void)tiff;
  (void)user;
  (void)module;
  (void)format;
  (void)arguments;
  return 1;
}

static TIFF *open_tiff(tiff_reading *reading) {
  TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
  if (!options)
    return NULL;
  TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)KILN_MOST_IMAGE_PIXELS * 4);
  TIFFOpenOptionsSetErrorHandlerExtR(options, note_tiff_error, reading);
  TIFFOpenOptionsSetWarningHandlerExtR(options, pass_over_tiff_warning, reading);
  TIFF *tiff = TIFFClientOpenExt("image", "rm", reading, read_tiff_bytes, write_no_tiff, seek_in_tiff, close_tiff,
                                 size_of_tiff, NULL, NULL, options);
  TIFFOpenOptionsFree(options);
  return tiff;
}

static const char *read_tiff(TIFF *tiff, tiff_reading *reading, unsigned char *rgb) {
  kiln_image *image = reading->image;
  uint32_t height = 0, width = 0;
  if (!TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height) || !TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width))
    return "it does not say its sizes";
  const char *cause = kiln_set_image_size(image, height, width);
  if (cause || !rgb)
    return cause;
  /* The library would mix transparent pixels with black. If the file says that colours are already mixed, they stay.
   */
  uint16_t others = 0, *meanings = NULL;
  if (TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &others, &meanings) && others == 1 &&
      meanings[0] == EXTRASAMPLE_UNASSALPHA)
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &(uint16_t){EXTRASAMPLE_ASSOCALPHA});
  size_t pixels = (size_t)height * width;
  uint32_t *words = malloc(pixels * sizeof *words);
  if (!words)
    return KILN_IMAGE_NO_MEMORY;
  if (!TIFFReadRGBAImageOriented(tiff, width, height, words, ORIENTATION_TOPLEFT, /*stop at errors*/ 1) ||
      reading->cause)
    cause = "its data is corrupt";
  for (size_t i = 0; i < pixels && !cause; i++) {
    rgb[3 * i] = TIFFGetR(words[i]);
    rgb[3 * i + 1] = TIFFGetG(words[i]);
    rgb[3 * i + 2] = TIFFGetB(words[i]);
  }
  free(words);
  return cause;
}

const char *kiln_image_tiff(kiln_image *image, unsigned char *rgb) {
  /* These would write errors that belong to no file to a stream that is not kiln's. They are NULL in all threads. */
  TIFFSetErrorHandler(NULL);
  TIFFSetWarningHandler(NULL);
  tiff_reading reading = {image, 0, NULL};
  TIFF *tiff = open_tiff(&reading);
  const char *cause = tiff ? read_tiff(tiff, &reading, rgb) : "its header is corrupt";
  if (tiff)
    TIFFClose(tiff);
  return cause && reading.cause ? reading.cause : cause;
}

#ifdef KILN_ONE_OBJECT
int TIFFInitCCITTFax3(TIFF *tiff, int scheme);
int TIFFInitCCITTFax4(TIFF *tiff, int scheme);
int TIFFInitCCITTRLE(TIFF *tiff, int scheme);
int TIFFInitDumpMode(TIFF *tiff, int scheme);
int TIFFInitLZW(TIFF *tiff, int scheme);
int TIFFInitPackBits(TIFF *tiff, int scheme);
int TIFFInitZIP(TIFF *tiff, int scheme);

int TIFFJPEGIsFullStripRequired(TIFF *tiff);

/* libtiff's own names from here on. */
extern const TIFFCodec _TIFFBuiltinCODECS[];
const TIFFCodec _TIFFBuiltinCODECS[] = {{"None", COMPRESSION_NONE, TIFFInitDumpMode},
                                        {"LZW", COMPRESSION_LZW, TIFFInitLZW},
                                        {"PackBits", COMPRESSION_PACKBITS, TIFFInitPackBits},
                                        {"CCITT RLE", COMPRESSION_CCITTRLE, TIFFInitCCITTRLE},
                                        {"CCITT Group 3", COMPRESSION_CCITTFAX3, TIFFInitCCITTFax3},
                                        {"CCITT Group 4", COMPRESSION_CCITTFAX4, TIFFInitCCITTFax4},
                                        {"Deflate", COMPRESSION_DEFLATE, TIFFInitZIP},
                                        {"AdobeDeflate", COMPRESSION_ADOBE_DEFLATE, TIFFInitZIP},
                                        {NULL, 0, NULL}};

/* Linked with the table in libtiff, which would bring that. */
int TIFFIsCODECConfigured(uint16_t scheme) {
  const TIFFCodec *codec = _TIFFBuiltinCODECS;
  while (codec->name && codec->scheme != scheme)
    codec++;
  return codec->name != NULL;
}

/* Only asked of pictures that are JPEG. */
int TIFFJPEGIsFullStripRequired(TIFF *tiff) {
  (void)tiff;
  return 0;
}
#endif

#else

KILN_WITHOUT_CODEC(kiln_image_tiff, "TIFF", "libtiff-dev")

#endif
