// From stickers to the permutation that shows them, or to what is wrong with them. All of it follows from the puzzle's moves,
// pieces and colours, as export.py told them.

export const BLANK = '?'

// What is wrong with stickers, and on which facelets.
export class Wrong extends Error {
  constructor(message, facelets = []) {
    super(message)
    this.facelets = facelets
  }
}

const symbolsOf = text => text.replace(/[\s-]+/g, '')
const countOf = (list, thing) => list.filter(other => other === thing).length
const homeOf = ({ faces, solved }) => solved.map(colour => faces[colour])  // the letter of each facelet's own face

// Whether a text is meant as stickers, and not as a word: one letter or digit for each facelet.
export function areStickers({ solved, faces }, text) {
  const symbols = [...symbolsOf(text)], kinds = new Set(symbols)
  if (symbols.length !== solved.length || kinds.size > faces.length) return false
  if (!symbols.every(symbol => /[\p{L}\p{N}]/u.test(symbol))) return false
  const oneByOne = text.trim().split(/\s+/).length === symbols.length
  return !oneByOne || [...kinds].every(symbol => countOf(symbols, symbol) === solved.length / faces.length)
}

// The stickers as letters of the faces: the facelets that no move moves say which symbol is which.
export function inLetters(puzzle, text) {
  const { faces, solved, permutations } = puzzle
  const symbols = [...symbolsOf(text)]
  const fixed = solved.map((_, f) => f).filter(f => permutations.every(move => move[f] === f))
  if (new Set(fixed.map(f => solved[f])).size < faces.length) return symbols.join('')
  const named = new Map(fixed.map(f => [symbols[f], faces[solved[f]]]))
  if (named.size < faces.length) {
    throw new Wrong(`two centres have the same colour: ${fixed.map(f => symbols[f]).join(' ')}`, fixed)
  }
  const strange = symbols.findIndex(symbol => !named.has(symbol))
  if (strange >= 0) throw new Wrong(`${symbols[strange]} is the colour of no centre`, [strange])
  return symbols.map(symbol => named.get(symbol)).join('')
}

// The piece that has these letters and how often it is turned clockwise; null if none has.
function pieceWith(puzzle, kind, letters) {
  const home = homeOf(puzzle)
  for (const [number, facelets] of puzzle.pieces[kind].entries()) {
    for (let turn = 0; turn < facelets.length; turn++) {
      if (facelets.every((facelet, k) => home[facelet] === letters[(k + turn) % facelets.length])) return { number, turn }
    }
  }
  return null
}

// Throws if there is too much of a colour.
function checkCounts(puzzle, letters) {
  const home = homeOf(puzzle)
  for (const letter of puzzle.faces) {
    const count = countOf(letters, letter), right = countOf(home, letter)
    const facelets = letters.flatMap((other, f) => other === letter ? [f] : [])
    if (count > right) throw new Wrong(`${letter} is on ${count} facelets, and belongs on ${right}`, facelets)
  }
}

// The pieces in their places, those without blanks. Throws for the first mistake.
function piecesIn(puzzle, letters) {
  checkCounts(puzzle, letters)
  const home = homeOf(puzzle), nameOf = place => place.map(f => home[f]).join('')
  return puzzle.pieces.flatMap((places, kind) => {
    const seen = new Map()  // piece -> its place
    return places.filter(place => place.every(f => letters[f] !== BLANK)).map(place => {
      const colours = place.map(f => letters[f]), name = `${puzzle.kinds[kind]} ${nameOf(place)}`
      const held = pieceWith(puzzle, kind, colours)
      if (!held) throw new Wrong(`no ${name}: ${colours.join('')} is on no piece`, place)
      const before = seen.get(held.number)
      if (before) throw new Wrong(`the ${name} is the same piece as ${nameOf(before)}`, [...before, ...place])
      seen.set(held.number, place)
      return { kind, place, ...held }
    })
  })
}

// Throws for the first mistake in stickers, of which some may be blank.
export const checkPainted = (puzzle, stickers) => { piecesIn(puzzle, [...stickers]) }

// Which solved facelet's sticker is where. Throws for stickers that no turning leads to.
export function permutationOf(puzzle, stickers) {
  const permutation = puzzle.solved.map((_, f) => f), held = piecesIn(puzzle, [...stickers])
  for (const { kind, place, number, turn } of held) {
    const piece = puzzle.pieces[kind][number]
    piece.forEach((facelet, k) => { permutation[place[(k + turn) % place.length]] = facelet })
  }
  if (!isReachable(puzzle, permutation)) {
    throw new Wrong(`all pieces are there, but no turning leads here: ${reason(puzzle, held)}`)
  }
  return permutation
}

// Whether turning reaches a permutation: it is taken apart along the stabiliser chain of the moves.
function isReachable({ chain }, permutation) {
  let rest = permutation
  for (const { facelet, choices } of chain) {
    const choice = choices.find(p => p[facelet] === rest[facelet])
    if (!choice) return false
    const back = new Map(choice.map((from, to) => [from, to]))
    rest = rest.map(f => back.get(f))
  }
  return rest.every((from, to) => from === to)
}

// The turns of all pieces of a kind add up to whole ones, whatever moves are made. Otherwise two pieces are exchanged.
function reason({ kinds, pieces }, held) {
  const turnsOf = kind => held.filter(piece => piece.kind === kind).reduce((sum, piece) => sum + piece.turn, 0)
  const twisted = kinds.find((_, kind) => turnsOf(kind) % pieces[kind][0].length)
  return twisted ? `one ${twisted} is turned in its place` : 'two pieces are exchanged'
}
