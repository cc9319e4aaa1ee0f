// Answers to the messages of the player, as cube_nb.play.messages gives them in Python, but here in the page.
import { areStickers, BLANK, checkPainted, inLetters, permutationOf } from './stickers.js'

const LOADING = 'Loading the solver'

export class Answers {
  constructor(told) {
    this.told = told  // by export.py
    this.worker = null
    this.searches = new Map()  // name -> { stage, best, resolve, reject }
  }

  // The answer to a message; with the key `error` if something was wrong, and `facelets` if it was somewhere.
  async answer(message) {
    try {
      return await this[message.ask](message, this.told.puzzles[message.puzzle])
    } catch (error) {
      return { error: error.message, facelets: error.facelets }
    }
  }

  about() { return this.told }

  read({ word }, puzzle) {
    if (!areStickers(puzzle, word)) return { moves: tokensOf(puzzle, word) }
    const stickers = inLetters(puzzle, word)
    permutationOf(puzzle, stickers)
    return { stickers }
  }

  paint({ stickers }, puzzle) {
    const ready = !stickers.includes(BLANK)
    try {
      checkPainted(puzzle, stickers)
      if (ready) permutationOf(puzzle, stickers)
      return { ready }
    } catch ({ message, facelets }) {
      return { wrong: message, facelets, ready: false }
    }
  }

  scramble({ length }, puzzle) {
    const moves = []
    while (moves.length < length) {
      const move = Math.floor(Math.random() * puzzle.moves.length)
      if (puzzle.inverses[move] !== moves.at(-1)) moves.push(move)
    }
    return { moves: spelled(puzzle, moves) }
  }

  async enter({ stickers, search }, puzzle) {
    const permutation = permutationOf(puzzle, stickers)
    const { moves } = await this.search({ search, permutation, seconds: 0 })  // the first that are found will do
    return { moves: spelled(puzzle, moves.toReversed().map(a => puzzle.inverses[a])) }
  }

  async solve({ word, time_limit, solver, model, search }, puzzle) {
    const turned = (now, token) => puzzle.tokens[token].map(f => now[f])
    const facelets = tokensOf(puzzle, word).reduce(turned, puzzle.solved)
    const stickers = inLetters(puzzle, facelets.map(colour => puzzle.faces[colour]).join(''))
    const permutation = permutationOf(puzzle, stickers)
    const { moves, generated, seconds } = await this.search({ search, permutation, seconds: time_limit })
    checkSolved(puzzle, stickers, moves)
    const tokens = spelled(puzzle, moves)
    const qtm = moves.reduce((sum, a) => sum + puzzle.smallest_turns[a], 0)
    return { moves: tokens, solver, model, seconds, generated, qtm, htm: tokens.length }
  }

  progress({ search }) {
    const { stage, best } = this.named(search)
    return { stage, best }
  }

  cancel({ search }) {
    this.named(search)
    this.worker.postMessage({ search: null })
    return { cancelled: search }
  }

  named(search) {
    if (!this.searches.has(search)) throw new Error(`there is no search '${search}': it has ended`)
    return this.searches.get(search)
  }

  // Start the worker, which loads the network, if it does not run.
  prepare() {
    if (this.worker) return
    this.worker = new Worker(new URL('worker.js', import.meta.url), { type: 'module' })
    this.worker.onmessage = ({ data }) => this.hear(data)
    this.worker.onerror = ({ message }) => this.lose(message ?? 'it did not load')
  }

  hear({ search, stage, best, answer, error }) {
    const asked = this.searches.get(search)
    if (!asked) return
    if (stage) asked.stage = stage
    if (best) asked.best = best
    if (answer) asked.resolve(answer)
    if (error && asked.stage === LOADING) this.lose(error)
    if (error) asked.reject(new Error(error))
  }

  lose(why) {  // the next search gets a new worker
    this.worker.terminate()
    this.worker = null
    for (const { reject } of this.searches.values()) reject(new Error(`the solver has stopped: ${why}`))
  }

  // Have the worker search. Throws if it finds nothing or is cancelled.
  async search(question) {
    this.prepare()
    const { search } = question
    try {
      const answer = await new Promise((resolve, reject) => {
        this.searches.set(search, { stage: LOADING, resolve, reject })
        this.worker.postMessage(question)
      })
      if (!answer.moves) throw new Error(`not solved: nothing was found in ${answer.seconds.toFixed(0)} s`)
      return answer
    } finally {
      this.searches.delete(search)
    }
  }
}

// The turns of a word, one by one. Throws for a text that is none, and says where.
export function tokensOf({ token, tokens, names }, word) {
  const plain = word.replaceAll('\u2019', "'")
  return [...plain.matchAll(new RegExp(token, 'g'))].map((match, k) => {
    if (match[0] in tokens) return match[0]
    const place = `token ${k + 1}, '${match[0].slice(0, 20)}' at column ${match.index + 1}`
    throw new Error(`${place}: expected one of ${names.join(' ')}, followed by nothing, ', 2 or 2'`)
  })
}

// Throws unless the moves solve the stickers.
function checkSolved({ permutations, faces, solved }, stickers, moves) {
  const end = moves.reduce((now, a) => permutations[a].map(f => now[f]), [...stickers])
  const isSolved = end.every((letter, f) => letter === faces[solved[f]])
  if (!isSolved) throw new Error('the answer was checked, and does not solve it')
}

// Moves by name, two that are one turn as one.
function spelled({ moves: names, doubled }, moves) {
  const tokens = []
  for (let k = 0; k < moves.length; k++) {
    const isPair = moves[k] === moves[k + 1] && doubled[moves[k]]
    tokens.push(isPair ? doubled[moves[k]] : names[moves[k]])
    if (isPair) k += 1
  }
  return tokens
}
