/*===- origin.c - What a program is: --version ---------------------------===*/
#include "cli.h"
#include "json_text.h"

#include <string.h>

static void put_row(const char *name, const char *value) {
  if (!value[0])
    return;
  printf("%s: ", name);
  kiln_cli_put(stdout, value);
  putchar('\n');
}

/* The names of the devices in one text, as other lists have them. */
static void name_devices(const kiln_model *model, kiln_text *text) {
  for (int32_t i = 0; i < model->device_count; i++)
    kiln_text_add(text, "%s%s", i ? "," : "", model->devices[i].device->name);
}

/* `,"cpus":["a","b"]` of the list "a,b". */
static void put_list_json(const char *name, const char *list) {
  if (!list[0])
    return;
  printf(",\"%s\":[", name);
  for (const char *at = list; *at;) {
    char word[KILN_TEXT_BYTES];
    size_t length = strcspn(at, ",");
    snprintf(word, sizeof word, "%.*s", (int)length, at);
    fputs(at == list ? "" : ",", stdout);
    kiln_json_put(stdout, word);
    at += length + (at[length] == ',');
  }
  putchar(']');
}

static void put_text_json(const char *name, const char *value) {
  if (!value[0])
    return;
  printf(",\"%s\":", name);
  kiln_json_put(stdout, value);
}

void kiln_cli_version(const kiln_model *model, bool as_json) {
  static const kiln_origin unknown = {"", "", "", "", ""};
  const kiln_origin *origin = model->origin ? model->origin : &unknown;
  char devices[KILN_TEXT_BYTES];
  kiln_text text = kiln_text_in(devices, sizeof devices);
  name_devices(model, &text);
  if (as_json) {
    kiln_json_begin(stdout, model);
    put_text_json("kiln", origin->kiln);
    put_text_json("blake3", origin->digest);
    put_list_json("devices", devices);
    put_list_json("cpus", origin->cpus);
    put_text_json("target", origin->target);
    put_list_json("libraries", origin->libraries);
    puts("}");
    return;
  }
  put_row("model", model->name);
  put_row("blake3", origin->digest);
  put_row("kiln", origin->kiln);
  put_row("device", devices);
  put_row("cpu", origin->cpus);
  put_row("target", origin->target);
  put_row("libraries", origin->libraries);
}
