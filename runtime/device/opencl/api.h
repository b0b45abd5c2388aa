/*===- api.h - OpenCL, found at run time ---------------------------------===*/
#ifndef KILN_DEVICE_OPENCL_API_H
#define KILN_DEVICE_OPENCL_API_H

#define CL_TARGET_OPENCL_VERSION 200
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <stdbool.h>
#include <stddef.h>

/* Functions that every OpenCL has. */
#define KILN_OPENCL_FUNCTIONS(F)                                                                                       \
  F(clGetPlatformIDs)                                                                                                  \
  F(clGetPlatformInfo)                                                                                                 \
  F(clGetDeviceIDs)                                                                                                    \
  F(clGetDeviceInfo)                                                                                                   \
  F(clCreateContext)                                                                                                   \
  F(clReleaseContext)                                                                                                  \
  F(clCreateCommandQueue)                                                                                              \
  F(clReleaseCommandQueue)                                                                                             \
  F(clFinish)                                                                                                          \
  F(clCreateProgramWithSource)                                                                                         \
  F(clBuildProgram)                                                                                                    \
  F(clGetProgramBuildInfo)                                                                                             \
  F(clReleaseProgram)                                                                                                  \
  F(clCreateKernel)                                                                                                    \
  F(clReleaseKernel)                                                                                                   \
  F(clSetKernelArg)                                                                                                    \
  F(clEnqueueNDRangeKernel)                                                                                            \
  F(clWaitForEvents)                                                                                                   \
  F(clGetEventProfilingInfo)                                                                                           \
  F(clReleaseEvent)                                                                                                    \
  F(clCreateBuffer)                                                                                                    \
  F(clCreateSubBuffer)                                                                                                 \
  F(clReleaseMemObject)                                                                                                \
  F(clEnqueueReadBuffer)                                                                                               \
  F(clEnqueueWriteBuffer)                                                                                              \
  F(clEnqueueCopyBuffer)

/* Functions of OpenCL 2.0; NULL if the library is older. */
#define KILN_OPENCL_SVM_FUNCTIONS(F)                                                                                   \
  F(clSVMAlloc)                                                                                                        \
  F(clSVMFree)                                                                                                         \
  F(clEnqueueSVMMemcpy)                                                                                                \
  F(clSetKernelArgSVMPointer)

#define KILN_OPENCL_MEMBER(NAME) __typeof__(NAME) *NAME;

typedef struct opencl_api {
  void *library;
  KILN_OPENCL_FUNCTIONS(KILN_OPENCL_MEMBER)
  KILN_OPENCL_SVM_FUNCTIONS(KILN_OPENCL_MEMBER)
} opencl_api;

/* Returns false with a cause in one line. */
bool kiln_opencl_api_open(opencl_api *api, char *error, size_t error_bytes);
void kiln_opencl_api_close(opencl_api *api);

/* "CL_OUT_OF_RESOURCES", or "error -9999". */
const char *kiln_opencl_error_name(cl_int code, char buffer[32]);

#endif
