/*===- webp.c - WebP, through libwebp ---------------------------------------===*/
#include "image.h"

#ifdef KILN_WITH_WEBP

#include <webp/decode.h>

const char *kiln_image_webp(kiln_image *image, unsigned char *rgb) {
  WebPBitstreamFeatures features;
  VP8StatusCode status = WebPGetFeatures(image->data, image->bytes, &features);
  if (status == VP8_STATUS_NOT_ENOUGH_DATA)
    return KILN_IMAGE_ENDS;
  if (status != VP8_STATUS_OK)
    return "its header is corrupt";
  if (features.has_animation)
    return "it is several pictures that follow one another";
  const char *cause = kiln_set_image_size(image, features.height, features.width);
  if (cause || !rgb)
    return cause;
  size_t row = (size_t)image->width * 3;
  return WebPDecodeRGBInto(image->data, image->bytes, rgb, row * (size_t)image->height, (int)row)
             ? NULL
             : "its data is corrupt or ends too early, or there is no memory to decode it";
}

#else

KILN_WITHOUT_CODEC(kiln_image_webp, "WEBP", "libwebp-dev")

#endif
