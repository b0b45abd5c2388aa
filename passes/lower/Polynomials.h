//===- Polynomials.h - Coefficients of the mathematical functions ---------===//
//
// Written by tools/fit-polynomials; the lowest power comes first.
//
//===----------------------------------------------------------------------===//
#pragma once

namespace kiln::lower {

/// ln 2; integers of 10 bits times the first are exact
inline constexpr float kLn2High = 6.9317627e-1f, kLn2Low = -2.90889711e-5f;
/// 1/ln 2
inline constexpr float kLog2EHigh = 1.44287109f, kLog2ELow = -1.76052854e-4f;
/// (e^r - 1 - r) / r² for |r| up to half of ln 2; the fit's error is 2^-27.72
inline constexpr float kExp[] = {4.9999994e-1f, 1.66665196e-1f, 4.16683927e-2f, 8.36875942e-3f, 1.3814522e-3f};
/// (2^r - 1) / r for |r| up to 1/2; the fit's error is 2^-25.9
inline constexpr float kExp2[] = {6.93147182e-1f, 2.40226477e-1f, 5.55033237e-2f,
                                  9.61843692e-3f, 1.33988692e-3f, 1.53534216e-4f};
/// (ln(1+f) - f + f²/2) / f³ for |f| up to 1/3; the fit's error is 2^-28.66
inline constexpr float kLog[] = {3.33333343e-1f,  -2.49998212e-1f, 1.99995995e-1f,  -1.66795313e-1f, 1.43044233e-1f,
                                 -1.21963918e-1f, 1.07546113e-1f,  -1.28425002e-1f, 1.20057456e-1f};
/// erf(x) / x - 1 in x² for |x| up to 0.9; the fit's error is 2^-30.12
inline constexpr float kErfNear[] = {1.28379166e-1f, -3.76126349e-1f, 1.12837151e-1f, -2.68605091e-2f,
                                     5.20385941e-3f, -8.17564025e-4f, 8.51310688e-5f};
/// -ln(1 - erf(x)) for x from 0.9 to 4; the fit's error is 2^-27.09
inline constexpr float kErfFar[] = {1.66461381e-4f,  1.12779713f,    6.36976242e-1f, 1.04113542e-1f,
                                    -2.23151371e-2f, 3.06546828e-3f, -1.9821708e-4f};
/// (sin(r) - r) / r³ in r² for |r| up to π/4; the fit's error is 2^-26.79
inline constexpr float kSin[] = {-1.66666552e-1f, 8.33215658e-3f, -1.95147019e-4f};
/// (cos(r) - 1 + r²/2) / r⁴ in r² for |r| up to π/4; the fit's error is 2^-30.91
inline constexpr float kCos[] = {4.16666456e-2f, -1.38873642e-3f, 2.44379789e-5f};
/// log2((1+s)/(1-s)) / s in s², for 1+s over 1-s from 2/3 to 4/3; the fit's error is 2^-40.86
inline constexpr double kLog2Wide[] = {2.8853900817774245,    9.6179669482455421e-1, 5.7707775592687538e-1,
                                       4.1222613906324285e-1, 3.1928633422313962e-1, 2.9081516859174661e-1};
/// 2^r for |r| up to 1/2; the fit's error is 2^-34.53
inline constexpr double kExp2Wide[] = {9.9999999996168232e-1, 6.9314718072840509e-1, 2.4022651198167691e-1,
                                       5.5504103535231955e-2, 9.6180272523278768e-3, 1.3333922518980767e-3,
                                       1.546929152740556e-4,  1.5201930156775764e-5};
/// 2/π, without what makes multiples of 4 of any float that is at least 1, 2^24, 2^50, 2^76 and 2^102: two
/// pieces of 29 bits, whose products with a float are exact in a double, and the rest.
inline constexpr double kTwoOverPi[][3] = {{6.3661977089941502e-1, 1.4681663246252086e-9, 2.2760100730783962e-18},
                                           {6.3661976903676987e-1, 3.3308114738561656e-9, 2.2760100730783962e-18},
                                           {2.5682553250749862e-8, 1.6153797803925804e-17, 7.6967048640395723e-26},
                                           {2.9370955375341979e-16, 2.8376220084145199e-25, 9.3720065444097656e-34},
                                           {6.074026479468182e-24, 1.0181664371599596e-32, 1.5900112874617742e-41}};

} // namespace kiln::lower
