// A puzzle to play with: the front of the notebook widget and of the page alike. Which puzzles there are, how they are drawn and
// how they are solved, it asks of Python, by messages.
import css from './play.css'

const TURN = 240, PAUSE = 380  // milliseconds that a turn takes, and from the start of one turn to the next

const LAYOUT = `
<section class="play" aria-label="Puzzle player" tabindex="-1">
  <div class="top">
    <div class="switch" data-part="puzzles" role="group" aria-label="Puzzle"></div>
    <div class="small-only">
      <button type="button" data-part="flat" aria-pressed="false" aria-label="Flat net"><svg viewBox="0 0 16 16"><path d="M5 1h4v4h4v4H9v6H5V9H1V5h4z"/></svg></button>
      <button type="button" data-part="more" aria-expanded="false" aria-label="Options"><svg viewBox="0 0 16 16"><path d="M1 3h8v2H1zM13 3h2v2h-2zM10 2h2v4h-2zM1 11h2v2H1zM7 11h8v2H7zM4 10h2v4H4z"/></svg></button>
    </div>
  </div>
  <div class="stage">
    <div class="scene" data-part="scene" role="application" tabindex="0" aria-label="The puzzle: drag a sticker to turn a layer, drag beside it to look around" aria-describedby="keys"></div>
    <p class="unseen" id="keys">Letters turn, with Shift backwards, and 2 makes it a half turn. The arrows step through the moves, Space plays them, Backspace undoes. In the net the arrows go from sticker to sticker; while you paint, the letter of a face colours one, and Delete clears it.</p>
    <p class="unseen" data-part="said" role="status"></p>
    <div class="status"><p class="note" id="note" data-part="note"></p><div class="busy" aria-hidden="true"></div></div>
  </div>
  <div class="line">
    <div class="caption"><span data-part="caption"></span><span class="transport" data-part="transport" role="group" aria-label="Go through the moves">
      <button data-go="start" aria-label="To the start" title="To the start"><svg viewBox="0 0 16 16"><path d="M3 3h2v10H3zM13 3v10L6 8z"/></svg></button>
      <button data-go="back" aria-label="One move back" title="One move back"><svg viewBox="0 0 16 16"><path d="M11 3v10L4 8z"/></svg></button>
      <button data-go="play" aria-label="Play" title="Play"><svg viewBox="0 0 16 16"><path class="if-still" d="M4 2.5v11L14 8z"/><path class="if-playing" d="M4 3h3v10H4zM9 3h3v10H9z"/></svg></button>
      <button data-go="next" aria-label="One move on" title="One move on"><svg viewBox="0 0 16 16"><path d="M5 3v10l7-5z"/></svg></button>
      <button data-go="end" aria-label="To the end" title="To the end"><svg viewBox="0 0 16 16"><path d="M11 3h2v10h-2zM3 3v10l7-5z"/></svg></button>
    </span></div>
    <div class="word" data-part="moves" role="group" aria-label="Moves"></div>
  </div>
  <div class="net-box" data-part="netbox">
    <div class="net" data-part="net" role="application" aria-label="Stickers, unfolded" aria-describedby="keys"></div>
    <div class="paint-start"><button type="button" data-part="paint">Paint your own</button></div>
    <div class="paints" data-part="paints" role="group" aria-label="Paint"><div class="palette" data-part="palette" role="group" aria-label="Colour"></div>
      <div class="row"><button type="button" data-part="clear">Clear</button><button type="button" data-part="leave">Leave</button><button type="button" class="main" data-part="use" disabled>Use it</button></div>
    </div>
  </div>
  <div class="panel"><fieldset>
    <form class="row" data-part="start" novalidate>
      <label class="grow">Scramble or stickers <input data-part="word" aria-describedby="note" placeholder="R U2 M' x, or 54 letters" autocomplete="off" autocapitalize="off" spellcheck="false"></label>
      <button>Set</button>
    </form>
    <div class="turns" data-part="turns" role="group" aria-label="Turns"></div>
    </fieldset>
    <div class="row options"><fieldset>
      <form data-part="scramble" id="scramble" novalidate><label>Length <input data-part="length" type="number" min="0" max="1000" value="20" inputmode="numeric"></label></form>
      <form class="row grow" data-part="solve" id="solve" novalidate>
        <label class="grow">Solver <select data-part="solver"></select></label>
        <label class="grow">Network <select data-part="model"></select></label>
        <label>Views <select data-part="views" title="Views of the puzzle that the network is averaged over"></select></label>
        <label>Seconds <input data-part="seconds" type="number" step="any" inputmode="decimal"></label>
        <button type="button" data-part="adjust" aria-haspopup="dialog">Settings</button>
      </form></fieldset>
    </div>
    <div class="row actions"><fieldset>
      <button form="scramble">Scramble</button>
      <button type="button" data-part="undo" title="Undo (Backspace)">Undo</button>
      <button type="button" data-part="reset">Reset</button></fieldset>
      <button class="main" data-part="main" form="solve">Solve</button>
    </div>
  </div>
  <dialog data-part="settings" aria-labelledby="title"><form method="dialog" data-part="form">
    <h2 id="title" data-part="title"></h2>
    <div class="fields" data-part="fields"></div>
    <div class="row"><button type="button" data-part="usual">As usual</button><button type="button" data-part="drop">Cancel</button><button class="main" data-part="take">Take</button></div>
  </form></dialog>
</section>`

const DRAWN = { U: '#ffffff', R: '#ff0000', F: '#44ee00', D: '#f4f400', L: '#ff8000', B: '#2266ff' }  // as the twisty-player draws a cube
const inverse = move => move.endsWith("'") ? move.slice(0, -1) : move.endsWith('2') ? move : move + "'"
const label = drawn => drawn.replace(/(?<=\d)x/g, '×')  // 3x3x3 as people write it
const spoken = move => move.replace(/2$/, ' twice').replace(/'$/, ' prime')  // a screen reader says nothing of a prime
const count = (n, thing) => `${n.toLocaleString('en')} ${thing}${n === 1 ? '' : 's'}`

// The facelets after a turn: `offered` has the permutations of moves and whole turns, and what other turns are made of.
function turned(offered, facelets, token) {
  const [, name, twice, back] = token.match(/^(.*?)(2?)('?)$/)
  const times = (twice ? 2 : 1) * (back ? 3 : 1)
  if (offered.words[name]) {
    for (let k = 0; k < times; k++) for (const part of offered.words[name].split(' ').filter(Boolean)) facelets = turned(offered, facelets, part)
    return facelets
  }
  if (back && offered.turns[name + "'"]) return Array.from({ length: twice ? 2 : 1 }).reduce(now => offered.turns[name + "'"].map(i => now[i]), facelets)
  for (let k = 0; k < times; k++) facelets = offered.turns[name].map(i => facelets[i])
  return facelets
}

// Where a ray from the eye meets a cube of edge one, and which turn a drag from there means. Axes: x to R, y to U, z to F.
const EDGE = 0.5, TANGENT = Math.tan(Math.PI / 18)  // of half the camera's angle of view
const LAYERS = [['L', 'M', 'R'], ['D', 'E', 'U'], ['B', 'S', 'F']]
const minus = (a, b) => a.map((x, k) => x - b[k])
const dot = (a, b) => a.reduce((sum, x, k) => sum + x * b[k], 0)
const cross = ([a, b, c], [x, y, z]) => [b * z - c * y, c * x - a * z, a * y - b * x]
const scaled = (a, factor) => a.map(x => x * factor)
const unit = a => scaled(a, 1 / Math.hypot(...a))

function camera({ latitude, longitude, distance }, { width, height, left, top }) {
  const [up, around] = [latitude, longitude].map(degrees => degrees * Math.PI / 180)
  const eye = scaled([Math.cos(up) * Math.sin(around), Math.sin(up), Math.cos(up) * Math.cos(around)], distance)
  const ahead = unit(scaled(eye, -1)), right = unit(cross(ahead, [0, 1, 0])), above = cross(right, ahead)
  const scale = height / 2 / TANGENT
  return {
    project(point) {
      const to = minus(point, eye), depth = dot(to, ahead)
      return [left + width / 2 + scale * dot(to, right) / depth, top + height / 2 - scale * dot(to, above) / depth]
    },
    hit(x, y) {
      const ray = [0, 1, 2].map(k => ahead[k] + ((x - left - width / 2) * right[k] - (y - top - height / 2) * above[k]) / scale)
      for (const axis of [0, 1, 2]) {
        const side = Math.sign(eye[axis])
        const far = (side * EDGE - eye[axis]) / ray[axis]
        const point = ray.map((r, k) => eye[k] + far * r)
        if (far > 0 && point.every((c, k) => k === axis || Math.abs(c) <= EDGE)) return { axis, side, point }
      }
      return null
    },
  }
}

function dragged(view, { axis, side, point }, [dx, dy], size) {
  const ways = [0, 1, 2].filter(k => k !== axis).map(k => {
    const here = view.project(point), there = view.project(point.map((c, j) => c + (j === k ? 0.1 : 0)))
    const along = minus(there, here)
    return [dot(along, [dx, dy]) / Math.hypot(...along), k]
  })
  const [much, way] = ways.sort((a, b) => Math.abs(b[0]) - Math.abs(a[0]))[0]
  const basis = k => [0, 1, 2].map(j => +(j === k))
  const turn = cross(scaled(basis(axis), side), scaled(basis(way), Math.sign(much)))  // by the right-hand rule
  const about = turn.findIndex(c => c !== 0), layer = Math.min(size - 1, Math.floor((point[about] + EDGE) * size))
  const name = layer === size - 1 ? LAYERS[about][2] : layer === 0 ? LAYERS[about][0] : LAYERS[about][1]
  const clockwise = 'RUFS'.includes(name) ? turn[about] < 0 : turn[about] > 0
  return clockwise ? name : name + "'"
}

// A notebook runs this file once for each widget, but an element can be defined only once: the copies share the first one's.
const SHARED = Symbol.for('cube_nb.play.widget')
const player = () => globalThis[SHARED] ??= import('cubing/twisty').then(twisty => twisty.TwistyPlayer)

// Build the player in `host`. `ask(message)` is a promise of Python's answer. With `address`, what is shown stands in the page's
// address. Returns a function that takes it down again. While it solves, the only thing to press is the button that cancels.
export async function mount(host, ask, { address = false } = {}) {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
  const light = document.body.dataset.jpThemeLight  // JupyterLab's theme, which may differ from the system's
  if (light) host.style.colorScheme = light === 'true' ? 'light' : 'dark'
  host.dataset.lmSuppressShortcuts = 'true'  // JupyterLab has its own meaning for single letters
  root.innerHTML = `<style>${css}</style>${LAYOUT}`
  const part = name => root.querySelector(`[data-part="${name}"]`)
  const card = root.querySelector('.play')

  // The state: `base`, the turns that led from solved to where `line` begins, and how many turns of the line are done.
  // `text` is what the field shows for the base; `typed`: somebody has written something else there since.
  let puzzle, twisty, offered, base = [], line = [], at = 0, solution = null, timer = null, text = '', typed = false
  let search = null  // the name of the search that is going on
  let past = []  // what to go back to
  let painted = null, colour = 0  // letters of the net while it is painted, and the colour in the hand
  let wrong = []  // the facelets that the note speaks of

  const here = () => offered.puzzles[puzzle]
  const state = () => [...base, ...line.slice(0, at)]
  const facelets = () => state().reduce((now, token) => turned(here(), now, token), here().solved)
  const busy = () => card.dataset.state === 'busy'
  const each = () => here().solved.length / here().faces.length  // stickers of a face
  const isSolved = () => facelets().every((colour, f, all) => colour === all[f - f % each()])  // however it is held
  const isUpright = () => facelets().every((colour, f) => colour === here().solved[f])  // solved, as it was in the beginning
  const side = () => Math.sqrt(each())

  const say = words => { part('said').textContent = part('said').textContent === words ? `${words}\u00a0` : words }  // to a screen reader, the same again too

  function note(words = '', kind = '', facelets = [], aloud = true) {
    if (words && aloud) say(words)
    wrong = puzzle && here().net ? facelets : []
    card.dataset.places = wrong.length > 0  // where there is no room for both, the net is shown, and not the cube
    part('note').textContent = words
    part('note').className = `note ${kind}`
  }

  function be(what) {  // ready or busy
    card.dataset.state = what
    for (const fields of root.querySelectorAll('fieldset')) fields.disabled = what === 'busy'
    part('main').disabled = what === 'busy' && !search
    part('main').textContent = search ? 'Cancel' : 'Solve'
  }

  async function working(what, message) {  // ask, and show meanwhile that something goes on; null after an error
    const begin = performance.now()
    let best = null, least = null, stage = null
    const unit = puzzle && here().net ? 'quarter turn' : 'move'
    const clock = () => {
      const s = (performance.now() - begin) / 1000
      if (stage !== what) say(stage = what)  // and not each second again
      note([s < 1 ? `${what}…` : `${what}… ${s.toFixed(0)} s`, ...(best ? [`best so far: ${count(best, unit)}${least ? `, at least ${least} needed` : ''}`] : [])].join(' · '), '', [], false)
    }
    const look = async () => { const told = await ask({ ask: 'progress', search }).catch(() => ({})); what = told.stage ?? what; best = told.best ?? best; least = told.least ?? least }
    const ticking = [setInterval(clock, 250), ...(search ? [setInterval(look, 500)] : [])]
    stop(); clock()
    be('busy'); render()
    let answer
    try { answer = await ask(message) } catch (error) { answer = { error: `no answer from Python: ${error.message}` } }
    ticking.forEach(clearInterval); note()
    search = null
    be('ready')
    if (answer.error) note(answer.error, 'error', answer.facelets)
    render()
    return answer.error ? null : answer
  }

  // What is shown beside the cube follows from the state.
  function render() {
    if (!typed) part('word').value = text
    part('moves').replaceChildren(...line.map((move, k) => {
      const chip = document.createElement('button')
      chip.textContent = move; chip.disabled = busy()
      chip.setAttribute('aria-label', spoken(move))
      chip.className = k < at ? 'done' : ''
      if (k === at - 1) chip.setAttribute('aria-current', 'step')
      chip.onclick = () => { stop(); go(k + 1) }
      return chip
    }))
    const now = part('moves').querySelector('[aria-current]')
    if (now) part('moves').scrollTo({ left: now.offsetLeft - part('moves').clientWidth / 2, top: now.offsetTop - 60 })
    part('caption').textContent = solution ? caption(solution) : line.length ? count(line.length, 'turn') : ''
    for (const button of part('transport').children)
      button.disabled = busy() || (['start', 'back'].includes(button.dataset.go) ? at === 0 : at === line.length && !(button.dataset.go === 'play' && line.length))
    card.dataset.playing = timer !== null
    card.dataset.line = line.length > 0
    const play = part('transport').querySelector('[data-go=play]')
    play.title = timer === null ? 'Play' : 'Pause'
    play.setAttribute('aria-label', play.title)
    part('undo').disabled = !past.length
    if (puzzle && here().net) renderNet()
    if (address && puzzle) keepAddress()
  }

  const caption = ({ moves, solver, model, seconds, generated, qtm, htm, lower_bound, optimal }) => [
    qtm === undefined ? count(moves.length, 'turn') : qtm === htm ? count(qtm, 'move') : `${count(htm, 'turn')}, ${count(qtm, 'quarter turn')}`,
    ...(optimal ? ['none is shorter'] : lower_bound ? [`at least ${lower_bound} needed`] : []),
    ...(solver ? [model ? `${solver} with ${model}` : solver] : []), ...(seconds === undefined ? [] : [`${seconds.toFixed(1)} s`]),
    ...(generated ? [count(generated, 'node')] : [])].join(' · ')

  function jump() {  // show the state at once
    twisty.experimentalSetupAlg = state().join(' ')
    twisty.alg = ''
    twisty.jumpToEnd()
  }

  function go(to) {  // to a place in the line: one move away is turned, farther is jumped
    const from = at
    at = to
    if (to === from + 1) twisty.experimentalAddMove(line[from])
    else if (to === from - 1) twisty.experimentalAddMove(inverse(line[to]))
    else if (to !== from) jump()
    if (solution && at === line.length) arrived()
    render()
  }

  function arrived() {
    if (!isSolved()) return
    solution.upright = isUpright()
    note('Solved', 'good')
  }

  function stop() { clearInterval(timer); timer = null }

  async function cancel() {  // the search's own answer says the rest
    try { if (search) await ask({ ask: 'cancel', search }) } catch { /* nobody is there who searches */ }
  }

  function play() {
    if (timer !== null) { stop(); return render() }
    if (at === line.length) { at = 0; jump() }
    timer = setInterval(() => { if (at + 1 >= line.length) stop(); go(at + 1) }, PAUSE)
    render()
  }

  // Undo goes back by one turn, or to what was there before a scramble, a word, a solution or another puzzle, with what was
  // typed and not set. What is typed now stays.
  const unset = () => typed && part('word').value !== text ? part('word').value : null
  const remember = () => { past = [...past.slice(-199), { base, line, at, solution, text, puzzle, draft: unset() }] }

  function write(draft) {  // into the field; null: the word of the base
    typed = draft !== null
    if (typed) part('word').value = draft
    mark()
  }

  function undo() {
    if (busy() || !past.length) return
    stop(); note()
    const before = past.pop(), draft = unset() ?? before.draft
    const isOneBack = before.puzzle === puzzle && before.base === base && before.at === at - 1 && before.line.every((move, k) => move === line[k])
    const last = line[at - 1]
    if (before.puzzle !== puzzle) show(before.puzzle)
    ;({ base, line, at, solution, text } = before)
    write(draft)
    if (isOneBack) twisty.experimentalAddMove(inverse(last)); else jump()
    render()
  }

  function turn(move) {  // by hand: the line goes on from where it is
    if (busy() || painted) return
    stop(); note(); remember()
    if (solution) { base = solution.upright && at === line.length ? [] : state(); text = base.join(' '); line = []; at = 0; solution = null }
    line = [...line.slice(0, at), move]
    say(spoken(move))
    go(at + 1)
  }

  function double() {  // R and then 2 is R2
    const last = line[at - 1]
    if (busy() || painted || solution || !last || last.endsWith('2') || at !== line.length) return
    stop()
    line = [...line.slice(0, -1), `${last.replace("'", '')}2`]
    twisty.experimentalAddMove(last)
    render()
  }

  function begin(word, words = word.join(' ')) { stop(); base = word; line = []; at = 0; solution = null; text = words; write(null); jump(); render() }

  // The word or the stickers that somebody has typed. Text with an error stays, with the place marked.
  function mark(error = '') {
    const field = part('word')
    field.setAttribute('aria-invalid', error !== '')
    const place = error.match(/token \d+, (['"])(.*?)\1 at column (\d+)/)
    if (place) { field.focus(); field.setSelectionRange(place[3] - 1, place[3] - 1 + place[2].length) }
  }

  async function enter(stickers) {  // the turns to what somebody has painted or typed
    search = String(Math.random())
    return (await working('Setting it up', { ask: 'enter', puzzle, stickers, search }))?.moves
  }

  async function set() {  // whether what is typed is now on the puzzle
    const words = part('word').value
    typed = true
    const answer = await working('Reading', { ask: 'read', puzzle, word: words })
    const moves = answer && (answer.moves ?? await enter(answer.stickers))
    if (!moves) { mark(part('note').textContent); return false }
    remember(); begin(moves, answer.stickers ? words : moves.join(' '))
    return true
  }

  // A number in its limits; otherwise says in words what was expected, and is null.
  function number(name, what, least, most, unit = '') {
    const field = part(name), value = field.valueAsNumber
    const isRight = value >= least && value <= most && (name !== 'length' || Number.isInteger(value))
    field.setAttribute('aria-invalid', !isRight)
    if (isRight) return value
    options(true)
    note(`${what}: a number from ${least} to ${most.toLocaleString('en')}${unit}, please`, 'error')
    field.focus()
    return null
  }

  function choose(name, word = []) {  // another puzzle; what is typed may be meant for it
    const draft = unset()
    if (puzzle) remember()
    show(name); note(); begin(word)
    if (draft !== null && !word.length) write(draft)
  }

  function show(name) {
    leave()
    puzzle = name
    const { drawn, moves, turns, solvers, solver, model } = here()
    for (const button of part('puzzles').children) button.setAttribute('aria-pressed', button.value === name)
    const halves = here().net ? moves.filter(move => !move.endsWith("'")).map(move => move + '2') : []
    const wholes = Object.keys(turns).filter(turn => !moves.includes(turn)).flatMap(turn => [turn, turn + "'"])
    const inRows = [moves.filter(m => !m.endsWith("'")), moves.filter(m => m.endsWith("'")), halves, wholes]
    part('turns').style.setProperty('--columns', inRows[0].length)
    part('turns').replaceChildren(...inRows.flat().map(move => {
      const button = document.createElement('button')
      button.type = 'button'; button.textContent = move; button.onclick = () => turn(move)
      button.setAttribute('aria-label', spoken(move))
      if (wholes.includes(move)) { button.className = 'whole'; button.title = 'Turn the whole puzzle' }
      return button
    }))
    part('solver').replaceChildren(...Object.keys(solvers).map(s => new Option(s, s, s === solver, s === solver)))
    part('views').replaceChildren(...[1, here().views].map(n => new Option(n, n)))
    part('views').parentElement.hidden = !(here().views > 1)
    networks(model)
    part('netbox').hidden = part('flat').hidden = !here().net
    part('word').placeholder = here().net ? `R U2 F', or ${here().solved.length} stickers` : "R L' B"
    if (here().net) drawNet()
    twisty.puzzle = drawn
    twisty.cameraDistance = here().net ? 5.3 : 6.2
  }

  function networks(chosen) {
    const names = here().solvers[part('solver').value]
    const first = names.includes(chosen) ? chosen : names[0]
    part('model').replaceChildren(...(names.length ? names : ['none']).map(n => new Option(n, n, n === first, n === first)))
    part('model').disabled = part('views').disabled = !names.length
    showSettings()
  }

  // ---- The options of the solver: a form of what Python says of each.

  const wishes = {}  // solver -> option -> what is wanted in place of the usual
  const solver = () => part('solver').value
  const form = () => Object.entries(offered.forms[solver()] ?? {})
  const usual = (name, field) => here().options[solver()]?.[name] ?? field.default
  const wished = () => Object.fromEntries(form().filter(([name]) => name in (wishes[solver()] ?? {})).map(([name]) => [name, wishes[solver()][name]]))

  function showSettings() {
    const changed = Object.keys(wished()).length
    part('adjust').hidden = !form().length
    part('adjust').textContent = changed ? `Settings (${changed})` : 'Settings'
  }

  function inputOf({ type, choices, least }) {
    const input = document.createElement(choices ? 'select' : 'input')
    if (choices) input.append(...choices.map(choice => new Option(choice, choice)))
    else if (type === 'boolean') input.type = 'checkbox'
    else if (type !== 'string') Object.assign(input, { type: 'number', min: least ?? '', step: type === 'integer' ? 1 : 'any' })
    return input
  }

  function fieldOf([name, field]) {
    const label = document.createElement('label'), about = document.createElement('small'), input = inputOf(field)
    const value = usual(name, field), now = wished()[name] ?? value
    input.name = name
    if (input.type === 'checkbox') input.checked = now
    else { input.value = now ?? ''; input.placeholder = value ?? 'not set' }
    about.textContent = [field.about, ...(field.least === null ? [] : [`at least ${field.least}`])].join('; ')
    label.append(name.replaceAll('_', ' '), input, about)
    return label
  }

  function written(name, field) {  // in the form; an empty field is as usual
    const input = part('form').elements[name]
    if (input.type === 'checkbox') return input.checked
    if (input.value === '') return usual(name, field)
    return input.type === 'number' ? input.valueAsNumber : input.value
  }

  function fillForm() {
    part('title').textContent = `Settings of ${solver()}`
    part('fields').replaceChildren(...form().map(fieldOf))
  }
  part('adjust').onclick = () => { fillForm(); part('settings').showModal() }
  part('drop').onclick = () => part('settings').close()
  part('usual').onclick = () => { delete wishes[solver()]; fillForm(); showSettings() }
  part('form').onsubmit = () => {
    const changed = form().filter(([name, field]) => written(name, field) !== usual(name, field))
    wishes[solver()] = Object.fromEntries(changed.map(([name, field]) => [name, written(name, field)]))
    showSettings()
  }

  // ---- The flat net, which can be painted.

  function drawNet() {
    const n = side()
    const { net, faces } = here()
    part('net').style.setProperty('--side', n)
    part('net').replaceChildren(...[...faces].map((letter, face) => {
      const box = document.createElement('div')
      const cells = net.flatMap((place, f) => Math.floor(f / (n * n)) === face ? [f] : [])
      box.className = `face face-${letter}`
      box.style.gridArea = letter
      box.append(...cells.map(f => {
        const cell = document.createElement('button')
        cell.type = 'button'; cell.value = f; cell.className = 'cell'; cell.tabIndex = f ? -1 : 0
        return cell
      }))
      return box
    }))
    part('palette').replaceChildren(...[...faces, '?'].map((letter, k) => {
      const button = document.createElement('button')
      button.type = 'button'; button.value = letter; button.style.background = DRAWN[letter] ?? ''
      button.setAttribute('aria-label', letter === '?' ? 'Blank' : `Colour of ${letter}`)
      button.onclick = () => hold(k)
      return button
    }))
    hold(0)
  }

  function hold(k) {
    colour = k
    for (const [j, button] of [...part('palette').children].entries()) button.setAttribute('aria-pressed', j === k)
  }

  const isFixed = f => here().moves.every(move => here().turns[move][f] === f)

  function renderNet() {
    const { faces } = here()
    const letters = painted ?? facelets().map(c => faces[c])
    for (const cell of part('net').querySelectorAll('.cell')) {
      const f = +cell.value, c = faces.indexOf(letters[f])
      cell.style.background = c < 0 ? '' : DRAWN[faces[c]]
      cell.dataset.blank = c < 0
      cell.dataset.wrong = wrong.includes(f)
      cell.disabled = busy() || (painted !== null && isFixed(f))
      cell.dataset.letter = letters[f]
      cell.setAttribute('aria-label', `${faces[Math.floor(f / side() ** 2)]}${f % side() ** 2 + 1}: ${c < 0 ? 'blank' : letters[f]}${wrong.includes(f) ? ', wrong' : ''}`)
    }
  }

  function startPainting() {
    if (busy()) return
    stop()
    painted = facelets().map(c => here().faces[c])
    if (isFixed(4) && painted.some((letter, f) => isFixed(f) && letter !== here().faces[here().solved[f]])) painted = null
    const isSolved = painted === null || painted.every((letter, f) => letter === here().faces[here().solved[f]])
    if (isSolved) blank()
    card.dataset.painting = true
    flat(true)
    check()
  }

  function blank() { painted = here().solved.map((c, f) => isFixed(f) ? here().faces[c] : '?') }

  function leave() {
    painted = null
    card.dataset.painting = false
    part('use').disabled = true
  }

  let checks = 0
  async function check() {  // what is wrong so far is said while somebody paints
    const mine = ++checks
    renderNet()
    const left = painted.filter(letter => letter === '?').length
    const told = await ask({ ask: 'paint', puzzle, stickers: painted.join('') }).catch(error => ({ wrong: error.message }))
    if (mine !== checks || !painted) return
    part('use').disabled = !told.ready
    if (told.wrong || told.error) note(told.wrong ?? told.error, 'error', told.facelets)
    else note(told.ready ? 'This is a whole puzzle: use it' : `Choose a colour and paint: ${count(left, 'sticker')} left`, told.ready ? 'good' : '')
    renderNet()
  }

  function paint(cell) {
    const f = +cell.value, letter = [...here().faces, '?'][colour]
    if (isFixed(f) || painted[f] === letter) return
    painted[f] = letter
    check()
  }

  part('net').addEventListener('pointerdown', event => {
    const cell = event.target.closest('.cell')
    if (!cell || cell.disabled) return
    if (!painted) return startPainting()
    cell.releasePointerCapture?.(event.pointerId)
    paint(cell)
  })
  part('net').addEventListener('pointerover', event => { if (painted && event.buttons === 1 && event.target.closest('.cell')) paint(event.target.closest('.cell')) })
  part('net').addEventListener('click', event => {  // by keyboard
    const cell = event.target.closest('.cell')
    if (cell && event.detail === 0) painted ? paint(cell) : startPainting()
  })

  // The arrows go to the next sticker in the net, over gaps; a letter colours one and goes on to the next.
  const ARROWS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }
  const cellOf = f => part('net').querySelector(`[value="${f}"]`)
  function stepTo(cell) {
    for (const other of part('net').querySelectorAll('.cell')) other.tabIndex = other === cell ? 0 : -1
    cell.focus()
  }
  function neighbour(f, [down, right]) {
    const { net } = here(), [row, column] = net[f]
    for (let k = 1; k <= 4 * side(); k++) {
      const next = net.findIndex(([r, c]) => r === row + k * down && c === column + k * right)
      if (next >= 0 && !cellOf(next).disabled) return cellOf(next)
    }
    return cellOf(f)
  }
  part('net').addEventListener('keydown', event => {
    const cell = event.target.closest('.cell'), letter = event.key.toUpperCase()
    if (!cell || busy() || event.ctrlKey || event.metaKey || event.altKey) return
    const picked = { DELETE: '?', BACKSPACE: '?' }[letter] ?? letter
    const k = painted ? [...here().faces, '?'].indexOf(picked) : -1
    if (event.key in ARROWS) stepTo(neighbour(+cell.value, ARROWS[event.key]))
    else if (k >= 0) {
      hold(k); paint(cell)
      const next = [...part('net').querySelectorAll('.cell:enabled')].find(other => +other.value > +cell.value)
      if (next) stepTo(next)
    } else return
    event.preventDefault(); event.stopPropagation()
  })
  part('paint').onclick = startPainting
  part('clear').onclick = () => { blank(); check() }
  part('leave').onclick = () => { leave(); note(); flat(false); render() }
  part('use').onclick = async () => {
    const stickers = painted.join('')
    leave()
    const moves = await enter(stickers)
    if (!moves) return
    remember(); begin(moves); flat(false)
  }

  // A small screen has room for the flat net or for the options.
  function flat(is) {
    card.dataset.flat = is
    part('flat').setAttribute('aria-pressed', is)
    if (is) options(false)
  }
  function options(are) {
    card.dataset.more = are
    part('more').setAttribute('aria-expanded', are)
    if (are) flat(false)
  }
  part('flat').onclick = () => {
    const isFlat = card.dataset.flat === 'true' || wrong.length > 0
    if (painted) leave()
    if (isFlat) note()
    flat(!isFlat); render()
  }
  part('more').onclick = () => {
    if (painted) return
    if (wrong.length) note()
    options(card.dataset.more !== 'true')
    render()
  }

  // ---- By mouse, finger and keyboard.

  let grip = null  // where a sticker was taken hold of
  part('scene').addEventListener('pointerdown', async event => {
    if (!puzzle || !here().net || busy() || event.button) return
    const box = part('scene').getBoundingClientRect()
    const view = camera(orbit, box), hit = view.hit(event.clientX, event.clientY)
    if (!hit) return
    event.stopPropagation(); event.preventDefault()
    card.focus({ preventScroll: true })
    grip = { view, hit, x: event.clientX, y: event.clientY }
    part('scene').setPointerCapture(event.pointerId)
  }, true)
  part('scene').addEventListener('pointermove', event => {
    if (!grip) return
    const way = [event.clientX - grip.x, event.clientY - grip.y]
    if (Math.hypot(...way) < 14) return
    turn(dragged(grip.view, grip.hit, way, side()))
    grip = null
  }, true)
  for (const end of ['pointerup', 'pointercancel']) part('scene').addEventListener(end, () => { grip = null }, true)

  function pressed(event) {
    const target = event.composedPath()[0]
    if (!puzzle || part('settings').open || event.ctrlKey && event.key !== 'z' || event.metaKey && event.key !== 'z' || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return
    const letter = event.key.toUpperCase(), { turns, words } = here()
    const name = [letter, letter.toLowerCase()].find(n => n.length === 1 && (n in turns || n in words && /[MES]/.test(n)))
    const isButton = target.tagName === 'BUTTON'
    const action = {
      Backspace: undo, z: event.ctrlKey || event.metaKey ? undo : null, 2: double, Escape: search ? cancel : null,
      ' ': isButton || !line.length ? null : play, ArrowLeft: () => { stop(); if (at > 0) go(at - 1) }, ArrowRight: () => { stop(); if (at < line.length) go(at + 1) },
    }[event.key] ?? (name && !event.ctrlKey && !event.metaKey ? () => turn(event.shiftKey ? inverse(name) : name) : null)
    if (!action || busy() && action !== cancel) return
    event.preventDefault(); event.stopPropagation()
    action()
  }
  const listener = address ? document : card  // in a notebook only what is typed into the widget
  listener.addEventListener('keydown', pressed)

  // ---- The address of the page: a reload shows the same, and it can be sent to somebody.

  function keepAddress() {
    const kept = new URLSearchParams({ puzzle })
    if (base.length) kept.set('word', base.join(' '))
    if (line.length) { kept.set('moves', line.join(' ')); kept.set('at', timer === null ? at : 0) }
    if (solution) kept.set('solution', 1)
    const hash = `#${kept}`
    if (location.hash !== hash) history.replaceState(null, '', hash)
  }

  async function fromAddress() {  // whether something stood there that can be shown
    const kept = new URLSearchParams(location.hash.slice(1)), name = kept.get('puzzle')
    if (!(name in offered.puzzles)) return false
    const words = [kept.get('word') ?? '', kept.get('moves') ?? '']
    const read = await Promise.all(words.map(word => ask({ ask: 'read', puzzle: name, word }).catch(error => ({ error: error.message }))))
    choose(name, read[0].moves ?? [])
    const error = read.find(answer => !answer.moves)
    if (error) { note(`the address cannot be read: ${error.error ?? 'no word'}`, 'error'); return true }
    line = read[1].moves
    at = line.length
    jump()
    if (kept.has('solution') && line.length && isSolved()) solution = { moves: line, upright: isUpright() }
    at = Math.min(line.length, Math.max(0, Math.floor(+kept.get('at')) || 0))
    jump(); render()
    return true
  }
  const moved = () => { if (!busy()) fromAddress() }
  if (address) addEventListener('hashchange', moved)

  const submitted = (name, action) => { part(name).onsubmit = event => { event.preventDefault(); action() } }
  part('word').oninput = () => { typed = true; part('word').setAttribute('aria-invalid', 'false') }
  submitted('start', set)
  submitted('scramble', async () => {
    const length = number('length', 'Length', 0, 1000)
    if (length === null) return
    const answer = await working('Scrambling', { ask: 'scramble', puzzle, length })
    if (answer) { remember(); begin(answer.moves); say(`Scrambled: ${answer.moves.map(spoken).join(', ')}`) }
  })
  submitted('solve', async () => {
    if (search) return cancel()
    const time_limit = number('seconds', 'Seconds', 0.1, offered.longest)
    if (time_limit === null || unset() !== null && !await set()) return
    typed = false
    search = String(Math.random())
    const model = part('model').disabled ? null : part('model').value
    const views = model !== null && part('views').value > 1
    const question = { ask: 'solve', puzzle, word: state().join(' '), solver: solver(), model, time_limit, views, options: wished(), search }
    const answer = await working('Solving', question)
    if (!answer) return
    remember()
    base = isUpright() ? [] : state()
    text = base.join(' ')
    line = answer.moves; at = 0; solution = answer
    jump(); render()
    say(`${caption(answer)}: ${line.map(spoken).join(', ')}`)
    if (line.length) play(); else note('Solved: nothing to do', 'good')
  })
  part('reset').onclick = () => { note(); if (state().length || unset() !== null) remember(); begin([]) }
  part('undo').onclick = undo
  part('solver').onchange = () => networks(here().model)
  part('transport').onclick = event => {
    const to = event.target.closest('button')?.dataset.go
    if (to === 'play') return play()
    stop()
    if (to) go({ start: 0, back: at - 1, next: at + 1, end: line.length }[to])
  }

  const takeDown = () => { stop(); cancel(); listener.removeEventListener('keydown', pressed); removeEventListener('hashchange', moved) }
  const TwistyPlayer = await player()
  twisty = new TwistyPlayer({ visualization: 'PG3D', cameraDistance: 5.3, cameraLatitude: 30, background: 'none', controlPanel: 'none', hintFacelets: 'none', viewerLink: 'none', experimentalMovePressInput: 'none', tempoScale: 500 / TURN })
  part('scene').append(twisty)
  let orbit = { latitude: 30, longitude: 30, distance: 5.3 }
  twisty.experimentalModel.twistySceneModel.orbitCoordinates.addFreshListener(now => { orbit = now })
  offered = await working('Starting', { ask: 'about' })
  if (!offered) return takeDown
  part('seconds').value = offered.seconds
  part('puzzles').append(...Object.entries(offered.puzzles).map(([name, { drawn }]) => {
    const button = document.createElement('button')
    button.value = name; button.textContent = label(drawn)
    button.onclick = () => card.dataset.state === 'ready' && choose(name)
    return button
  }))
  if (!(address && await fromAddress())) choose(offered.puzzle)
  return takeDown
}
