//===- AccessLog.h - Find accesses that no barrier orders -------------------===//
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace kiln::interp {

/// An item at a point of its run: it has passed `phase` barriers.
struct Actor {
  uint32_t group = 0;
  int32_t item = -1; // within its group; -1: nobody
  uint32_t phase : 31 = 0;
  bool writes : 1 = false;

  /// Whether a device may run the two accesses in either order.
  bool isUnordered(const Actor &other) const {
    return item >= 0 && (group != other.group || (item != other.item && phase == other.phase));
  }
};

static_assert(sizeof(Actor) == 12, "there are three for each element that is touched");

/// The accesses to one element so far. Two readers that are not ordered suffice to find every later write that races:
/// it can be ordered with one of them at most.
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

/// The logs of a memory's elements: there may be many, and few are touched, mostly neighbours.
class MemoryLog {
public:
  ElementLog &operator[](int64_t element) {
    size_t page = size_t(element) / kPage;
    if (page >= pages_.size())
      pages_.resize(page + 1);
    if (!pages_[page])
      pages_[page] = std::make_unique<std::array<ElementLog, kPage>>();
    return (*pages_[page])[size_t(element) % kPage];
  }

private:
  static constexpr size_t kPage = 256;
  std::vector<std::unique_ptr<std::array<ElementLog, kPage>>> pages_;
};

} // namespace kiln::interp
