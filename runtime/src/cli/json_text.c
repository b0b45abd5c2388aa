/*===- json_text.c - Results for scripts to read -------------------------===*/
#include "json_text.h"

#include "cli.h"

#include <inttypes.h>
#include <string.h>

static void put_string(FILE *file, const char *text, const char *end) {
  putc('"', file);
  for (int bytes = 0; text < end; text += bytes) {
    unsigned char c = (unsigned char)text[0];
    bytes = kiln_cli_utf8(text);
    if (bytes == 0)
      fputs("\\ufffd", file);
    else if (c < 0x20 || c == 0x7f || c == '<')
      fprintf(file, "\\u%04x", c);
    else
      fprintf(file, "%s%.*s", c == '"' || c == '\\' ? "\\" : "", bytes, text);
    bytes = bytes > 0 ? bytes : 1;
  }
  putc('"', file);
}

void kiln_json_put(FILE *file, const char *text) { put_string(file, text, text + strlen(text)); }

void kiln_json_put_nodes(FILE *file, const char *origin) {
  putc('[', file);
  size_t length = strlen(origin);
  const char *name = origin + 2, *last = origin + length - 2;
  for (const char *end = name; length > 4 && end != last; name = end + 4) {
    end = strstr(name, "', '");
    end = end ? end : last;
    fputs(name > origin + 2 ? "," : "", file);
    put_string(file, name, end);
  }
  putc(']', file);
}

void kiln_json_begin(FILE *file, const kiln_model *model) {
  fprintf(file, "{\"version\":%d,\"model\":", KILN_JSON_VERSION);
  kiln_json_put(file, model->name);
}

void kiln_json_sizes(FILE *file, const kiln_model *model, const int64_t *sizes) {
  fputs(",\"sizes\":{", file);
  for (int32_t i = 0; i < model->symbol_count; i++) {
    fputs(i ? "," : "", file);
    kiln_json_put(file, model->symbols[i].name);
    fprintf(file, ":%" PRId64, sizes[i]);
  }
  putc('}', file);
}

void kiln_json_put_failure(FILE *file, const char *line) {
  fprintf(file, "{\"version\":%d,\"error\":", KILN_JSON_VERSION);
  kiln_json_put(file, line);
  fputs("}\n", file);
}
