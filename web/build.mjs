// Put the page together: node build.mjs FOLDER, in which export.py has written its two files.
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const RUNTIME = 'node_modules/onnxruntime-web', PLAYER = '../cube_nb/play/static'
const folder = process.argv[2]
const read = (...path) => readFileSync(join(...path))
const text = (...path) => read(...path).toString()

const files = Object.fromEntries([
  ...['page.js', 'answers.js', 'stickers.js', 'search.js', 'worker.js'].map(name => [name, read(name)]),
  ...['puzzle.json', 'network.onnx'].map(name => [name, read(folder, name)]),
  ...['ort.wasm.bundle.min.mjs', 'ort-wasm-simd-threaded.wasm'].map(name => [name, read(RUNTIME, 'dist', name)]),
  ['play.js', read(PLAYER, 'play.js')],
])

// The runtime's package carries no text of its licence; ours is from the same version's package for Python.
const { version, license } = JSON.parse(text(RUNTIME, 'package.json'))
const runtime = [
  'ort.wasm.bundle.min.mjs and ort-wasm-simd-threaded.wasm are the following package, unmodified.',
  `onnxruntime-web ${version}\nLicence: ${license}\nSource: https://github.com/microsoft/onnxruntime, and the npm package`,
].join('\n\n')
files['LICENSES.txt'] = [
  text(PLAYER, 'LICENSES.txt').trim(),
  runtime,
  text('licences', 'onnxruntime.txt').trim(),
  `What is built into it:\n\n${text('licences', 'onnxruntime-third-party.txt').trim()}\n`,
].join(`\n\n${'-'.repeat(80)}\n\n`)

const megabytes = sizes => `${(sizes.reduce((sum, size) => sum + size) / 1e6).toFixed(1)} MB`
const { 'LICENSES.txt': _, ...needed } = files
const sizes = {
  SIZE: megabytes(Object.values(needed).map(content => content.length)),
  COMPRESSED: megabytes(Object.values(needed).map(content => gzipSync(content).length)),
  NETWORK: megabytes([needed['network.onnx'].length]),
}
files['index.html'] = text('index.html').replace(/\{([A-Z]+)\}/g, (_, name) => sizes[name])

const made = createHash('sha256')
for (const content of Object.values(files)) made.update(content)
files['offline.js'] = text('offline.js')
  .replace("VERSION = ''", `VERSION = 'cube_nb ${made.digest('hex').slice(0, 16)}'`)
  .replace('FILES = []', `FILES = ${JSON.stringify(['./', ...Object.keys(files)])}`)

for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
const { SIZE, COMPRESSED, NETWORK } = sizes
console.log(`${Object.keys(files).length} files, ${SIZE} to load (${COMPRESSED} compressed), ${NETWORK} of them the network`)
