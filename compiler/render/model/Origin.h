//===- Origin.h - What an artefact says of itself -----------------------------------------===//
//
// A program is found on a machine years after it was made, and somebody asks what it is. So each artefact carries the
// answer: as kiln_origin, which `./model --version` prints, and as an ELF note, which `readelf -p .note.kiln` shows of
// an object, a library or a stripped program that this machine cannot run. There is no date: the same input gives the
// same bytes.
//
//===--------------------------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kiln::render {

/// Texts are "" and lists empty if something is not known.
struct Origin {
  std::string kiln;                   ///< the version of the compiler: 0.1.0; "": an artefact says nothing of itself
  std::string model;                  ///< the name of the model's file
  std::string digest;                 ///< of the model's files, as kiln_origin.digest
  std::vector<std::string> devices;   ///< as `kiln devices` calls them
  std::vector<std::string> cpus;      ///< as LLVM names them; none if a C compiler chooses
  std::string target;                 ///< the system: x86_64-linux-gnu; "" if a C compiler chooses
  std::vector<std::string> libraries; ///< that are part of it because operators need them: PCRE2
};

/// The members that are known, as one JSON object in one line.
std::string originJson(const Origin &origin);

/// The same for people, in one line: "kiln 0.1.0 made it of model.onnx (BLAKE3 0123…) for device cpu, CPU znver3, …".
std::string originSentence(const Origin &origin);

/// The ELF note of an artefact: its owner is kNoteOwner, and its description originJson and a 0.
inline constexpr char kNoteSection[] = ".note.kiln";
inline constexpr char kNoteOwner[8] = "kiln"; ///< padded to a multiple of 4
inline constexpr uint32_t kNoteOwnerBytes = 5, kNoteType = 1, kNoteAlignment = 4;

} // namespace kiln::render
