# KilnOnnxProto: the classes that protoc makes from the ONNX schema, as #include "onnx-ml.pb.h".
# The schema is fetched, not kept in the tree; KILN_ONNX_PROTO names another one.

set(KILN_ONNX_PROTO ${PROJECT_SOURCE_DIR}/.setup/onnx-ml.proto CACHE FILEPATH "The onnx-ml.proto to read models with")
if(NOT EXISTS ${KILN_ONNX_PROTO})
  message(FATAL_ERROR "no ONNX schema at ${KILN_ONNX_PROTO}: run tools/setup, which fetches it, or set KILN_ONNX_PROTO")
endif()

find_package(Protobuf 3.21 REQUIRED)

set(onnx_proto_dir ${PROJECT_BINARY_DIR}/onnx)
configure_file(${KILN_ONNX_PROTO} ${onnx_proto_dir}/onnx-ml.proto COPYONLY)
# The lite classes read and write all that the full ones do; without descriptors they start sooner.
add_custom_command(
  OUTPUT ${onnx_proto_dir}/onnx-ml.pb.cc ${onnx_proto_dir}/onnx-ml.pb.h
  COMMAND protobuf::protoc --cpp_out=lite:${onnx_proto_dir} -I ${onnx_proto_dir} onnx-ml.proto
  DEPENDS ${onnx_proto_dir}/onnx-ml.proto
  COMMENT "Generating the ONNX schema's classes")

add_library(KilnOnnxProto STATIC ${onnx_proto_dir}/onnx-ml.pb.cc ${onnx_proto_dir}/onnx-ml.pb.h)
target_compile_options(KilnOnnxProto PRIVATE -w ${KILN_HARDENING})
target_include_directories(KilnOnnxProto SYSTEM PUBLIC ${onnx_proto_dir})
find_library(KILN_ARCHIVE_protobuf libprotobuf-lite.a)
target_link_libraries(KilnOnnxProto PUBLIC $<IF:${KILN_IF_CARRIES},${KILN_ARCHIVE_protobuf},protobuf::libprotobuf-lite>)
