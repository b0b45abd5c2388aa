/*===- ports.c - Queries of a model's inputs and outputs ------------------===*/
#include "kiln/program.h"

int32_t kiln_input_count(const kiln_model *model) { return model->input_count; }
int32_t kiln_output_count(const kiln_model *model) { return model->output_count; }

static kiln_status port_info(const kiln_port *ports, int32_t count, int32_t index, kiln_port_info *info) {
  if (index < 0 || index >= count || ports[index].rank > KILN_MAX_RANK)
    return KILN_INVALID_ARGUMENT;
  const kiln_port *port = &ports[index];
  *info = (kiln_port_info){.name = port->name,
                           .dtype = port->dtype,
                           .rank = port->rank,
                           .has_default = port->value != NULL,
                           .optional_axes = port->optional_axes};
  for (int32_t axis = 0; axis < port->rank; axis++) {
    info->dims[axis] = port->dims[axis].size;
    info->dim_texts[axis] = port->dims[axis].text;
  }
  return KILN_OK;
}

int32_t kiln_alias_count(const kiln_model *model) { return model->alias_count; }

kiln_status kiln_alias_info(const kiln_model *model, int32_t index, kiln_alias *info) {
  if (index < 0 || index >= model->alias_count)
    return KILN_INVALID_ARGUMENT;
  *info = model->aliases[index];
  return KILN_OK;
}

kiln_status kiln_input_info(const kiln_model *model, int32_t index, kiln_port_info *info) {
  return port_info(model->inputs, model->input_count, index, info);
}
kiln_status kiln_output_info(const kiln_model *model, int32_t index, kiln_port_info *info) {
  return port_info(model->outputs, model->output_count, index, info);
}
