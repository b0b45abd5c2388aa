//===- AccessLog.h - Which accesses no barrier orders -----------------------===//
#pragma once

#include <cstdint>
#include <optional>

namespace kiln::interp {

/// An item at a point of its run: it has passed `phase` barriers.
struct Actor {
  uint32_t group = 0, phase = 0;
  int32_t item = -1; // within its group; -1: nobody
  bool writes = false;

  /// Whether a device may run the two accesses in either order.
  bool isUnordered(const Actor &other) const {
    return item >= 0 && (group != other.group || (item != other.item && phase == other.phase));
  }
};

/// Who touched one element so far. Two readers that are not ordered suffice to find every later write that races: it
/// can be ordered with one of them at most.
class ElementLog {
public:
  /// Notes the access; gives the earlier one that it races with, if any.
  std::optional<Actor> note(const Actor &actor) {
    if (writer_.isUnordered(actor))
      return writer_;
    if (!actor.writes) {
      if (!reader_.isUnordered(actor))
        reader_ = actor;
      else
        otherReader_ = actor;
      return std::nullopt;
    }
    for (const Actor &reader : {reader_, otherReader_})
      if (reader.isUnordered(actor))
        return reader;
    writer_ = actor;
    reader_ = otherReader_ = Actor();
    return std::nullopt;
  }

private:
  Actor writer_, reader_, otherReader_;
};

} // namespace kiln::interp
