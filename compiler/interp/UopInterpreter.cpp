//===- UopInterpreter.cpp - Items take turns, and each access is checked -----===//
// A group runs phase by phase: from one barrier to the next, each item in turn. On a device, it would depend on chance
// whether other items see the writes of a phase. So each element of shared memory remembers who touched it last, in
// which phase, and how (MemoryLog); two items that touch it in one phase, one of them to write, are a race whatever the
// order was. A read of memory that nobody wrote is reported only at the end of its phase: until then it may turn out to
// be one half of a race, which is the better message.
//===----------------------------------------------------------------------------===//

#include "interp/UopInterpreter.h"

#include "interp/AccessLog.h"
#include "interp/BankLog.h"
#include "interp/UopCode.h"
#include "support/Error.h"

#include <cstring>

using namespace kiln;
using namespace kiln::interp;

namespace {

using Position = std::array<int64_t, 3>;

/// The bytes of one memory while a group runs.
struct Room {
  char *data = nullptr;
  int64_t elements = 0;
  std::vector<char> bytes;       // local and register memory
  std::vector<bool> isWritten;   // of those, by element; register memory has a stretch for each item
  std::vector<ElementLog> local; // by element
  MemoryLog global;              // of a buffer that the kernel writes
  bool isScratch = false;
};

struct Item {
  std::vector<char> frame;
  uint32_t at = 0; // the next instruction
  int32_t number = 0;
  Position position{};
};

enum class Stop { Barrier, Shuffle, End, Failure };

class Launch {
public:
  Launch(const UopCode &code, llvm::ArrayRef<UopBuffer> buffers, llvm::ArrayRef<int64_t> sizes, BankLog *banks);
  llvm::Error run(const Position &grid);

private:
  bool runGroup();
  Stop runItem(Item &item);
  bool load(const Instruction &instruction, Item &item);
  bool store(const Instruction &instruction, Item &item);
  bool moveMatrix(const Instruction &instruction, Item &item, bool writes);
  /// The element that lane 0 touches.
  static int64_t index(const Instruction &instruction, const Item &item);
  static bool isOpen(const Instruction &instruction, const Item &item, uint32_t lane);
  /// Runs every item up to its next barrier or shuffle, which is done, or to its end; returns where they all stopped.
  Stop runPhase();
  void shuffle(const Instruction &instruction);
  /// Tells the log of banks, if there is one, of an access from an element on.
  void noteBanks(const Instruction &instruction, const Item &item, int64_t first, bool writes);
  /// Checks one element's access and returns its bytes; null if it is an error.
  char *touch(const Instruction &instruction, const Item &item, int64_t element, bool writes);
  bool fail(const Item &item, const llvm::Twine &what);
  char *failRace(const Item &item, const UopMemory &memory, int64_t element, bool writes, const Actor &other);
  std::string describe(const Position &position) const;

  const UopCode &code_;
  BankLog *banks_; // null: nobody asks
  std::vector<Room> rooms_;
  std::vector<Item> items_;
  Position group_{};
  uint32_t groupNumber_ = 0, phase_ = 0;
  bool hasOthers_ = false; // more than one item in the whole launch
  std::string error_;
  /// A read of memory that nothing had written. If another item writes it before the next barrier it is a race, and
  /// reported as one.
  std::string unwritten_;
  bool isRace_ = false;
};

} // namespace

static void writeIndex(char *slot, int64_t value, bool isWide) {
  if (isWide) {
    std::memcpy(slot, &value, 8);
  } else {
    int32_t narrow = int32_t(value);
    std::memcpy(slot, &narrow, 4);
  }
}

static int64_t readIndex(const char *slot, bool isWide) {
  if (isWide) {
    int64_t value;
    std::memcpy(&value, slot, 8);
    return value;
  }
  int32_t value;
  std::memcpy(&value, slot, 4);
  return value;
}

//===----------------------------------------------------------------------===//
// Groups and barriers
//===----------------------------------------------------------------------===//

Launch::Launch(const UopCode &code, llvm::ArrayRef<UopBuffer> buffers, llvm::ArrayRef<int64_t> sizes, BankLog *banks)
    : code_(code), banks_(banks), rooms_(code.memories.size()), items_(code.local[0] * code.local[1] * code.local[2]) {
  for (auto [number, item] : llvm::enumerate(items_)) {
    int64_t x = number % code.local[0], y = number / code.local[0] % code.local[1];
    item.position = {x, y, int64_t(number) / (code.local[0] * code.local[1])};
    item.number = number;
    item.frame = code.frame;
    for (auto [size, slot] : llvm::zip(sizes, code.sizes))
      writeIndex(&item.frame[slot.slot], size, slot.isWide);
    for (const UopCode::SpecialSlot &special : code.specials)
      if (special.isLocal)
        writeIndex(&item.frame[special.slot], item.position[special.axis], special.isWide);
  }
  for (auto [index, room] : llvm::enumerate(rooms_)) {
    const UopMemory &memory = code.memories[index];
    if (memory.kind == uop::Memory::Global) {
      room.data = static_cast<char *>(buffers[index].data);
      room.elements = buffers[index].bytes / memory.elementBytes;
      room.isScratch = buffers[index].isScratch;
      continue;
    }
    room.elements = memory.elements;
    size_t copies = memory.kind == uop::Memory::Register ? items_.size() : 1;
    room.bytes.resize(copies * memory.elements * memory.elementBytes);
    room.data = room.bytes.data();
  }
}

llvm::Error Launch::run(const Position &grid) {
  hasOthers_ = items_.size() > 1 || grid != Position{1, 1, 1};
  for (group_[2] = 0; group_[2] < grid[2]; ++group_[2])
    for (group_[1] = 0; group_[1] < grid[1]; ++group_[1])
      for (group_[0] = 0; group_[0] < grid[0]; ++group_[0]) {
        if (!runGroup())
          return failure("kernel '" + code_.name + "': " + error_);
        ++groupNumber_;
      }
  return llvm::Error::success();
}

bool Launch::runGroup() {
  for (auto [index, room] : llvm::enumerate(rooms_)) {
    const UopMemory &memory = code_.memories[index];
    if (room.isScratch) { // data that another group left there must not matter
      room.global = MemoryLog();
      std::memset(room.data, 0xff, room.elements * memory.elementBytes);
    }
    if (memory.kind == uop::Memory::Global)
      continue;
    room.isWritten.assign(room.bytes.size() / memory.elementBytes, false);
    if (memory.kind == uop::Memory::Local)
      room.local.assign(memory.elements, ElementLog());
  }
  for (Item &item : items_) {
    item.at = 0;
    for (const UopCode::SpecialSlot &special : code_.specials)
      if (!special.isLocal)
        writeIndex(&item.frame[special.slot], group_[special.axis], special.isWide);
  }
  for (phase_ = 0;;) {
    Stop stop = runPhase();
    if (banks_)
      banks_->finishPhase();
    // A shuffle orders no memory: a write to memory that was read before may still come.
    if (!unwritten_.empty() && !isRace_ && stop != Stop::Shuffle) {
      error_ = unwritten_;
      return false;
    }
    if (stop == Stop::Failure || stop == Stop::End)
      return stop == Stop::End;
    phase_ += stop == Stop::Barrier;
  }
}

void Launch::shuffle(const Instruction &instruction) {
  for (Item &item : items_) {
    const Item &other = items_[item.number ^ instruction.bit];
    std::memcpy(&item.frame[instruction.result], &other.frame[instruction.a], instruction.bytes);
  }
}

Stop Launch::runPhase() {
  const Item *ended = nullptr, *waiting = nullptr;
  Stop stop = Stop::End;
  for (Item &item : items_) {
    stop = runItem(item);
    if (stop == Stop::Failure)
      return stop;
    (stop == Stop::End ? ended : waiting) = &item;
    if (ended && waiting) {
      fail(*waiting, "waits at a barrier that item " + describe(ended->position) + " does not reach");
      return Stop::Failure;
    }
    if (item.at != items_.front().at) {
      fail(item, "waits at another barrier than item " + describe(items_.front().position));
      return Stop::Failure;
    }
  }
  if (stop == Stop::Shuffle)
    shuffle(code_.instructions[items_.front().at - 1]);
  return stop;
}

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

Stop Launch::runItem(Item &item) {
  char *frame = item.frame.data();
  const Instruction *instructions = code_.instructions.data();
  const void *operands[3];
  for (uint32_t at = item.at;; ++at) {
    const Instruction &instruction = instructions[at];
    switch (instruction.op) {
    case Opcode::Alu:
      operands[0] = frame + instruction.a;
      operands[1] = frame + instruction.b;
      operands[2] = frame + instruction.c;
      instruction.loop(operands, frame + instruction.result, instruction.lanes);
      break;
    case Opcode::Copy:
      std::memcpy(frame + instruction.result, frame + instruction.a, instruction.bytes);
      break;
    case Opcode::Fill:
      for (uint32_t lane = 0; lane < instruction.lanes; ++lane)
        std::memcpy(frame + instruction.result + lane * instruction.bytes, frame + instruction.a, instruction.bytes);
      break;
    case Opcode::PlainLoad: {
      const Room &room = rooms_[instruction.memory];
      int64_t element = index(instruction, item);
      if (uint64_t(element) >= uint64_t(room.elements)) {
        touch(instruction, item, element, /*writes=*/false);
        return Stop::Failure;
      }
      if (instruction.bytes == 4)
        std::memcpy(frame + instruction.result, room.data + element * 4, 4);
      else
        std::memcpy(frame + instruction.result, room.data + element * instruction.bytes, instruction.bytes);
      break;
    }
    case Opcode::Load:
      if (!load(instruction, item))
        return Stop::Failure;
      break;
    case Opcode::Store:
      if (!store(instruction, item))
        return Stop::Failure;
      break;
    case Opcode::Enter: {
      int64_t from = readIndex(frame + instruction.a, instruction.isWide);
      writeIndex(frame + instruction.result, from, instruction.isWide);
      if (from >= readIndex(frame + instruction.b, instruction.isWide))
        at = instruction.target - 1;
      break;
    }
    case Opcode::Next: {
      int64_t next = readIndex(frame + instruction.result, instruction.isWide) + 1;
      writeIndex(frame + instruction.result, next, instruction.isWide);
      if (next < readIndex(frame + instruction.b, instruction.isWide))
        at = instruction.target - 1;
      break;
    }
    case Opcode::Jump:
      at = instruction.target - 1;
      break;
    case Opcode::JumpIfFalse:
      if (!frame[instruction.a])
        at = instruction.target - 1;
      break;
    case Opcode::Barrier:
      item.at = at + 1;
      return Stop::Barrier;
    case Opcode::Shuffle:
      item.at = at + 1;
      return Stop::Shuffle;
    case Opcode::LoadMatrix:
    case Opcode::StoreMatrix:
      if (!moveMatrix(instruction, item, /*writes=*/instruction.op == Opcode::StoreMatrix))
        return Stop::Failure;
      break;
    case Opcode::Multiply: {
      const UopProduct &product = code_.products[instruction.product];
      product.loop(frame + instruction.a, frame + instruction.b, frame + instruction.c, frame + instruction.result,
                   product.sizes);
      break;
    }
    case Opcode::Dot: {
      const UopDot &dot = code_.dots[instruction.product];
      dot.loop(frame + instruction.a, frame + instruction.b, frame + instruction.c, frame + instruction.result,
               dot.sizes);
      break;
    }
    case Opcode::Lookup:
      for (uint32_t lane = 0; lane < instruction.lanes; ++lane) {
        auto element = uint8_t(frame[instruction.a + lane]);
        const Room &room = rooms_[instruction.memory];
        if (element >= room.elements) {
          touch(instruction, item, element, /*writes=*/false);
          return Stop::Failure;
        }
        frame[instruction.result + lane] = room.data[element];
      }
      break;
    case Opcode::End:
      item.at = at;
      return Stop::End;
    }
  }
}

int64_t Launch::index(const Instruction &instruction, const Item &item) {
  return readIndex(&item.frame[instruction.a], instruction.isWide);
}

bool Launch::isOpen(const Instruction &instruction, const Item &item, uint32_t lane) {
  return instruction.gateLanes == 0 || item.frame[instruction.b + (instruction.gateLanes > 1 ? lane : 0)];
}

void Launch::noteBanks(const Instruction &instruction, const Item &item, int64_t first, bool writes) {
  if (!banks_ || code_.memories[instruction.memory].kind != uop::Memory::Local)
    return;
  auto number = uint32_t(&instruction - code_.instructions.data());
  BankLog::Place place{number, instruction.memory, writes, instruction.gateLanes != 0};
  uint32_t together = instruction.gateLanes > 1 ? 1 : instruction.lanes; // lanes of one gate
  for (uint32_t lane = 0; lane < instruction.lanes; lane += together)
    if (isOpen(instruction, item, lane))
      banks_->note(place, item.number, (first + lane) * instruction.bytes, int64_t(together) * instruction.bytes);
}

bool Launch::load(const Instruction &instruction, Item &item) {
  int64_t first = index(instruction, item);
  char *result = &item.frame[instruction.result];
  noteBanks(instruction, item, first, /*writes=*/false);
  for (uint32_t lane = 0; lane < instruction.lanes; ++lane) {
    const char *from;
    if (isOpen(instruction, item, lane)) {
      from = touch(instruction, item, int64_t(uint64_t(first) + lane), /*writes=*/false);
      if (!from)
        return false;
    } else {
      from = &item.frame[instruction.c + lane * instruction.bytes];
    }
    std::memcpy(result + lane * instruction.bytes, from, instruction.bytes);
  }
  return true;
}

bool Launch::store(const Instruction &instruction, Item &item) {
  int64_t first = index(instruction, item);
  noteBanks(instruction, item, first, /*writes=*/true);
  for (uint32_t lane = 0; lane < instruction.lanes; ++lane) {
    if (!isOpen(instruction, item, lane))
      continue;
    char *to = touch(instruction, item, int64_t(uint64_t(first) + lane), /*writes=*/true);
    if (!to)
      return false;
    std::memcpy(to, &item.frame[instruction.c + lane * instruction.bytes], instruction.bytes);
  }
  return true;
}

bool Launch::moveMatrix(const Instruction &instruction, Item &item, bool writes) {
  uint64_t first = index(instruction, item), pitch = readIndex(&item.frame[instruction.b], instruction.isWide);
  char *held = &item.frame[writes ? instruction.c : instruction.result];
  for (uint32_t row = 0; row < instruction.rows; ++row)
    for (uint32_t column = 0; column < instruction.lanes; ++column, held += instruction.bytes) {
      char *memory = touch(instruction, item, int64_t(first + row * pitch + column), writes);
      if (!memory)
        return false;
      std::memcpy(writes ? memory : held, writes ? held : memory, instruction.bytes);
    }
  return true;
}

char *Launch::touch(const Instruction &instruction, const Item &item, int64_t element, bool writes) {
  const UopMemory &memory = code_.memories[instruction.memory];
  Room &room = rooms_[instruction.memory];
  if (element < 0 || element >= room.elements) {
    fail(item, (writes ? "writes element " : "reads element ") + llvm::Twine(element) + " of '" + memory.name +
                   "', which has " + llvm::Twine(room.elements));
    return nullptr;
  }
  if (memory.kind == uop::Memory::Global) {
    if (memory.isWritten && hasOthers_) {
      Actor actor{groupNumber_, item.number, phase_, writes};
      if (std::optional<Actor> other = room.global[element].note(actor))
        return failRace(item, memory, element, writes, *other);
    }
    return room.data + element * memory.elementBytes;
  }
  int64_t position = element;
  if (memory.kind == uop::Memory::Register) {
    position += item.number * memory.elements;
  } else {
    Actor actor{groupNumber_, item.number, phase_, writes};
    if (std::optional<Actor> other = room.local[element].note(actor))
      return failRace(item, memory, element, writes, *other);
  }
  if (writes) {
    room.isWritten[position] = true;
  } else if (!room.isWritten[position] && unwritten_.empty()) {
    fail(item, "reads element " + llvm::Twine(element) + " of '" + memory.name + "', which nothing has written");
    unwritten_ = error_;
    if (memory.kind == uop::Memory::Register)
      return nullptr;
  }
  return room.data + position * memory.elementBytes;
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

std::string Launch::describe(const Position &position) const {
  return "(" + std::to_string(position[0]) + ", " + std::to_string(position[1]) + ", " + std::to_string(position[2]) +
         ")";
}

bool Launch::fail(const Item &item, const llvm::Twine &what) {
  error_ = ("item " + describe(item.position) + " of group " + describe(group_) + " " + what).str();
  return false;
}

char *Launch::failRace(const Item &item, const UopMemory &memory, int64_t element, bool writes, const Actor &other) {
  isRace_ = true;
  std::string who = other.group == groupNumber_ ? "item " + describe(items_[other.item].position)
                                                : "an item of group number " + std::to_string(other.group);
  fail(item, (writes ? "writes element " : "reads element ") + llvm::Twine(element) + " of '" + memory.name +
                 "', which " + who + (other.writes ? " wrote" : " read") + " with no barrier between: a race");
  return nullptr;
}

llvm::Error UopProgram::launch(llvm::ArrayRef<UopBuffer> buffers, llvm::ArrayRef<int64_t> sizes,
                               llvm::ArrayRef<int64_t> grid, std::vector<LocalTurns> *turns) const {
  if (buffers.size() != code_->buffers || sizes.size() != code_->sizes.size() || grid.size() > 3)
    return failure("kernel '" + code_->name + "' takes " + llvm::Twine(code_->buffers) + " buffers and " +
                   llvm::Twine(code_->sizes.size()) + " sizes, not " + llvm::Twine(buffers.size()) + " and " +
                   llvm::Twine(sizes.size()));
  Position groups = {1, 1, 1};
  for (auto [axis, count] : llvm::enumerate(grid))
    groups[axis] = count;
  BankLog banks;
  llvm::Error failed = Launch(*code_, buffers, sizes, turns ? &banks : nullptr).run(groups);
  if (!failed && turns)
    for (auto [number, memory] : llvm::enumerate(code_->memories))
      if (memory.kind == uop::Memory::Local)
        turns->push_back({memory.name, banks.reads(number), banks.writes(number)});
  return failed;
}
