// The search, beside the page: it loads the network when it starts, and then answers one question at a time.
import * as ort from './ort.wasm.bundle.min.mjs'
import { prepare, solve } from './search.js'

const BATCH = 512  // states that the network is asked about at once

ort.env.wasm.numThreads = 1  // more would need headers that static hosts do not send

async function load() {
  const [told, network] = await Promise.all([fetch('puzzle.json'), fetch('network.onnx')])
  const { puzzle, puzzles } = await told.json()
  const session = await ort.InferenceSession.create(await network.arrayBuffer(), { executionProviders: ['wasm'] })
  return [prepare(puzzles[puzzle]), session]
}

const loading = load()
loading.catch(() => { /* whoever searches hears of it */ })
let wanted = null  // the search that somebody waits for

const pause = () => new Promise(resolve => { setTimeout(resolve) })  // so that a message can come in

// What the network says of states, in batches; between them it may turn out that nobody waits any more.
async function evaluate(puzzle, session, isWanted, states, size) {
  const scores = new Float32Array(size * puzzle.moves)
  for (let at = 0; at < size; at += BATCH) {
    const count = Math.min(BATCH, size - at)
    const part = Int32Array.from(states.subarray(at * puzzle.count, (at + count) * puzzle.count))
    const told = await session.run({ places: new ort.Tensor('int32', part, [count, puzzle.count]) })
    scores.set(told.scores.data, at * puzzle.moves)
  }
  await pause()
  if (!isWanted()) throw new Error('the search was cancelled')
  return scores
}

async function run({ search, permutation, seconds }) {
  const [puzzle, session] = await loading
  const began = performance.now(), passed = () => (performance.now() - began) / 1000
  postMessage({ search, stage: 'Solving' })
  const ask = (states, size) => evaluate(puzzle, session, () => wanted === search, states, size)
  const tell = moves => postMessage({ search, best: moves.length })
  const answer = await solve(puzzle, permutation, ask, () => seconds - passed(), tell)
  return { ...answer, seconds: passed() }
}

onmessage = ({ data: question }) => {
  const { search } = question
  wanted = search
  if (!search) return
  const failed = ({ message }) => postMessage({ search, error: message })
  run(question).then(answer => postMessage({ search, answer }), failed)
}
