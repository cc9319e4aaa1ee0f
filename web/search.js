// A beam search over any permutation puzzle whose pieces can be told apart. What it knows of the puzzle comes from
// export.py; what it knows of distances, from `evaluate(states, count)`: a score for each move of each state.
//
// A state is a byte for each piece: the place of its first sticker, by number. A permutation is what Python calls one:
// `permutation[i]` is the facelet of the solved puzzle whose sticker facelet i shows.

const NOBODY = 255  // in a table: nothing is kept in this slot
const RADIUS = 5  // moves, of the table of all states near solved
const WINDOW = 3  // moves that a stretch of a solution may be longer than that, to be made shortest
const FIRST_WIDTH = 1024  // beam width of the first round
const GROWTH = 4  // beam width of a round to that of the one before, at most
const PATIENCE = 20  // seconds more to find any solution at all, on a slow machine

const compose = (one, other) => other.map(i => one[i])  // first `one`, then `other`

const inverted = permutation => {
  const inverse = new Array(permutation.length)
  permutation.forEach((from, to) => { inverse[from] = to })
  return inverse
}

// ---- The puzzle in the form in which it is searched.

export function prepare(told) {
  const { permutations, inverses, symmetries, symmetric_moves, pieces, places, longest, horizon, step } = told
  const moves = permutations.length, count = pieces.flat().length
  const random = crypto.getRandomValues(new Uint32Array(2 * count * places))  // two words for each piece and place
  const puzzle = { moves, inverses, symmetries, symmetric_moves, count, places, random, longest, horizon, step }
  const numbers = pieces.flatMap(kind => {  // for each piece: the number of the place that a facelet belongs to
    const numberOf = new Map(kind.flat().map((facelet, number) => [facelet, number]))
    return kind.map(() => numberOf)
  })
  puzzle.after = placesAfter(permutations, numbers, places)
  const firsts = pieces.flat().map(piece => piece[0])  // each piece's first sticker, at home
  puzzle.placesOf = permutation => {
    const at = inverted(permutation)
    return Uint8Array.from(firsts, (facelet, p) => numbers[p].get(at[facelet]))
  }
  puzzle.solved = puzzle.placesOf(permutations[0].map((_, i) => i))
  puzzle.near = nearSolved(puzzle)
  return puzzle
}

function placesAfter(permutations, numbers, places) {  // by move, piece and place: the place after the move
  const after = new Uint8Array(permutations.length * numbers.length * places)
  for (const [a, goesTo] of permutations.map(inverted).entries()) {
    for (const [p, numberOf] of numbers.entries()) {
      const start = (a * numbers.length + p) * places
      for (const [facelet, number] of numberOf) after[start + number] = numberOf.get(goesTo[facelet])
    }
  }
  return after
}

// ---- States near each other.

// A set of states, each with a small number. Two random words stand for a state. That two states have the same ones is so
// unlikely that it is left to the check of the answer.
class Table {
  constructor(capacity) {
    this.mask = 2 ** Math.ceil(Math.log2(2 * capacity + 2)) - 1
    this.low = new Uint32Array(this.mask + 1)
    this.high = new Uint32Array(this.mask + 1)
    this.values = new Uint8Array(this.mask + 1).fill(NOBODY)
  }

  slot(low, high) {
    let slot = low & this.mask
    while (this.values[slot] !== NOBODY && (this.low[slot] !== low || this.high[slot] !== high)) {
      slot = (slot + 1) & this.mask
    }
    return slot
  }

  get(low, high) { return this.values[this.slot(low, high)] }

  add(low, high, value) {  // whether it was new
    const slot = this.slot(low, high)
    if (this.values[slot] !== NOBODY) return false
    this.low[slot] = low; this.high[slot] = high; this.values[slot] = value
    return true
  }
}

// States one after the other in one array, with their fingerprints, and how each came from the layer before.
class Layer {
  constructor(puzzle, capacity) {
    this.puzzle = puzzle
    this.size = 0
    this.states = new Uint8Array(capacity * puzzle.count)
    this.low = new Uint32Array(capacity)
    this.high = new Uint32Array(capacity)
    this.parents = new Uint32Array(capacity)
    this.moves = new Uint8Array(capacity)
  }

  static of(puzzle, state) {
    const layer = new Layer(puzzle, 1)
    layer.states.set(state)
    layer.print(0)
    layer.size = 1
    return layer
  }

  print(row) {  // the fingerprint of the state in a row
    const { count, places, random } = this.puzzle
    let low = 0, high = 0
    for (let p = 0; p < count; p++) {
      const at = 2 * (p * places + this.states[row * count + p])
      low ^= random[at]; high ^= random[at + 1]
    }
    this.low[row] = low; this.high[row] = high
  }

  put(from, parent, move) {  // a state of another layer after a move, in the next row; it counts once it is kept
    const { count, places, after } = this.puzzle
    const mine = this.size * count, theirs = parent * count
    for (let p = 0; p < count; p++) this.states[mine + p] = after[(move * count + p) * places + from.states[theirs + p]]
    this.parents[this.size] = parent; this.moves[this.size] = move
    this.print(this.size)
  }

  keep() { this.size += 1 }

  state(row) { return this.states.subarray(row * this.puzzle.count, (row + 1) * this.puzzle.count) }

  nearest() {  // [row, distance] of the state nearest to solved by the table; null if none is in it
    const { near } = this.puzzle
    let best = null
    for (let row = 0; row < this.size; row++) {
      const distance = near.get(this.low[row], this.high[row])
      if (distance !== NOBODY && (!best || distance < best[1])) best = [row, distance]
    }
    return best
  }
}

function child(puzzle, state, move) {
  const { count, places, after } = puzzle
  return state.map((place, p) => after[(move * count + p) * places + place])
}

// All states that are one move farther from where the layers began.
function wider(puzzle, layer, seen, value) {
  const next = new Layer(puzzle, layer.size * puzzle.moves + 1)
  for (let row = 0; row < layer.size; row++) {
    for (let move = 0; move < puzzle.moves; move++) {
      next.put(layer, row, move)
      if (seen.add(next.low[next.size], next.high[next.size], value)) next.keep()
    }
  }
  return next
}

function nearSolved(puzzle) {
  const most = Math.min(puzzle.moves ** RADIUS, 2 ** 21)  // states, which then need 40 MB
  const table = new Table(most)
  let layer = Layer.of(puzzle, puzzle.solved)
  table.add(layer.low[0], layer.high[0], 0)
  for (let distance = 1; distance <= RADIUS; distance++) layer = wider(puzzle, layer, table, distance)
  return table
}

function traced(layers, row) {  // the moves that led to a row of the last layer
  const moves = []
  for (const layer of layers.slice(1).reverse()) {
    moves.push(layer.moves[row])
    row = layer.parents[row]
  }
  return moves.reverse()
}

function wayHome(puzzle, state, distance) {  // a shortest solution of a state of the table
  const moves = []
  for (let left = distance - 1; left >= 0; left--) {
    const isNearer = (_, a) => Layer.of(puzzle, child(puzzle, state, a)).nearest()?.[1] === left
    const move = puzzle.inverses.findIndex(isNearer)
    state = child(puzzle, state, move)
    moves.push(move)
  }
  return moves
}

function through(layers, [row, distance]) {  // the solution through a row of the last layer
  const { puzzle } = layers[0]
  return [...traced(layers, row), ...wayHome(puzzle, layers.at(-1).state(row), distance)]
}

// A shortest solution of at most `depth` moves more than the table reaches; null if there is none.
export function shortest(puzzle, state, depth) {
  const layers = [Layer.of(puzzle, state)]
  const seen = new Table(puzzle.moves ** depth + 1)
  seen.add(layers[0].low[0], layers[0].high[0], 0)
  for (let k = 0; ; k++) {
    const found = layers[k].nearest()
    if (found) return through(layers, found)
    if (k === depth) return null
    layers.push(wider(puzzle, layers[k], seen, 0))
  }
}

// The word without stretches that could be shorter.
export function improved(puzzle, word) {
  const size = RADIUS + WINDOW
  for (let start = 0; start + 2 <= word.length; start++) {
    const stretch = word.slice(start, start + size)
    const undone = stretch.toReversed().map(a => puzzle.inverses[a])  // what the stretch solves
    const state = undone.reduce((now, a) => child(puzzle, now, a), puzzle.solved)
    const better = shortest(puzzle, state, WINDOW)
    if (better.length < stretch.length) {
      return improved(puzzle, [...word.slice(0, start), ...better, ...word.slice(start + size)])
    }
  }
  return word
}

// ---- The beam.

// The children with the least scores, without those that a table has seen.
function best(puzzle, layer, scores, width, seen) {
  const total = layer.size * puzzle.moves
  const bar = total > width ? scores.slice(0, total).sort()[width - 1] : Infinity
  const next = new Layer(puzzle, Math.min(total, width) + 1), mine = new Table(width)
  for (let k = 0; k < total && next.size < width; k++) {
    if (scores[k] > bar) continue
    next.put(layer, Math.floor(k / puzzle.moves), k % puzzle.moves)
    const print = [next.low[next.size], next.high[next.size]]
    if (seen.every(table => table.get(...print) === NOBODY) && mine.add(...print, 0)) next.keep()
  }
  return [next, mine]
}

// One beam from one state: the moves, or null, and how many states it generated.
async function beam(puzzle, state, evaluate, width, longest, clock) {
  const layers = [Layer.of(puzzle, state)], start = new Table(1)
  start.add(layers[0].low[0], layers[0].high[0], 0)
  let seen = [start], generated = 0, took = 0
  for (;;) {
    const layer = layers.at(-1), began = clock()
    const found = layer.nearest()
    if (found) {
      const isShort = layers.length - 1 + found[1] <= longest
      return { moves: isShort ? through(layers, found) : null, generated }
    }
    const noneIsShort = layers.length + RADIUS > longest
    if (!layer.size || noneIsShort || began < took) return { moves: null, generated }
    const scores = await evaluate(layer.states, layer.size)
    generated += layer.size * puzzle.moves
    const [next, mine] = best(puzzle, layer, scores, width, seen)
    seen = [...seen.slice(-1), mine]
    layers.push(next)
    took = began - clock()
  }
}

// ---- Views: a puzzle seen from another side, or backwards, is as good as itself, but the network errs elsewhere.

const seenAs = (puzzle, permutation, symmetry, backwards) => {
  const turned = puzzle.symmetries[symmetry]
  const seen = compose(compose(inverted(turned), permutation), turned)
  return backwards ? inverted(seen) : seen
}

const unseen = (puzzle, moves, symmetry, backwards) => {
  const forward = backwards ? moves.toReversed().map(a => puzzle.inverses[a]) : moves
  return forward.map(a => puzzle.symmetric_moves[symmetry].indexOf(a))
}

// About how many full layers a beam has on its way.
const fullLayers = (puzzle, width, length) => Math.max(1, length - RADIUS - Math.log(width) / Math.log(puzzle.moves - 1))

// The width of the next round, of which `budget` places can be searched; 0 if it would be much narrower than the last.
function nextWidth(puzzle, width, length, budget) {
  const fit = Math.floor(0.9 * budget / fullLayers(puzzle, width, length))
  return fit < width / 4 ? 0 : Math.min(fit, width * GROWTH)
}

// Solve, and go on to shorter solutions while `clock()`, the seconds that are left, is more than nothing. `tell(moves)`
// hears of each that is shorter than the one before. A round is two beams, of the puzzle and of its inverse.
export async function solve(puzzle, permutation, evaluate, clock, tell) {
  let known = shortest(puzzle, puzzle.placesOf(permutation), RADIUS)
  if (known) return { moves: known, generated: 0 }
  let generated = 0, width = FIRST_WIDTH, rate = 0
  const left = () => known ? clock() : clock() + PATIENCE
  for (let turn = 0; left() > 0; turn++) {
    const symmetry = Math.floor(turn / 2) % puzzle.symmetries.length, backwards = turn % 2 === 1
    const longest = known ? known.length - puzzle.step : puzzle.longest
    if (longest <= 2 * RADIUS) break  // `shortest` has shown that there is none
    const hoped = Math.min(longest, puzzle.horizon)
    if (turn && !backwards) width = nextWidth(puzzle, width, hoped, left() * rate / 2)
    if (!width) break
    const began = clock(), state = puzzle.placesOf(seenAs(puzzle, permutation, symmetry, backwards))
    const found = await beam(puzzle, state, evaluate, width, longest, left)
    generated += found.generated
    const reached = found.moves?.length ?? hoped
    rate = Math.max(rate, width * fullLayers(puzzle, width, reached) / (began - clock()))
    if (!found.moves) continue
    known = improved(puzzle, unseen(puzzle, found.moves, symmetry, backwards))
    tell(known)
  }
  return { moves: known, generated }
}
