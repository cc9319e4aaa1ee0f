// Bundle the page into cube_nb/play/static: one script that needs no network, and the licences of what is in it.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { build } from 'esbuild'

const SOURCES = ['play.js', 'play.css', 'build.mjs', 'package-lock.json']  // tests/test_play.py knows them too
const STATIC = new URL('../cube_nb/play/static/', import.meta.url)
const made = createHash('sha256').update(SOURCES.map(name => readFileSync(new URL(name, import.meta.url))).join('')).digest('hex')

const { metafile } = await build({
  entryPoints: ['play.js'], outfile: new URL('play.js', STATIC).pathname,
  bundle: true, minify: true, format: 'esm', target: 'es2022', charset: 'utf8', loader: { '.css': 'text' }, metafile: true,
  legalComments: 'none', banner: { js: `// Built from widget/ (sources ${made}). Third-party code and its licences: LICENSES.txt` },
})

const names = new Set(Object.keys(metafile.inputs).map(path => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1]).filter(Boolean))
const about = name => JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8'))
const licence = name => name === 'cubing' ? [readFileSync('MPL-2.0.txt', 'utf8').trimEnd()]  // its package carries no text, and we take the first of its two licences
  : readdirSync(`node_modules/${name}`).filter(file => /^(licen[sc]e|copying)/i.test(file)).map(file => readFileSync(`node_modules/${name}/${file}`, 'utf8').trim())
const notices = [...names].sort().map(name => {
  const { version, license, repository, homepage } = about(name)
  const source = (repository?.url ?? repository ?? homepage ?? '').replace(/^git\+/, '').replace(/\.git$/, '')
  return [`${name} ${version}\nLicence: ${license}\nSource: ${source}, and the npm package of that name and version`, ...licence(name)].join('\n\n')
})
writeFileSync(new URL('LICENSES.txt', STATIC), `play.js holds the following packages, unmodified but for bundling and minifying.\n\n${notices.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`)
console.log([...names].sort().join(', '))
