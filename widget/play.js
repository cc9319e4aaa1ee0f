// A puzzle to play with: the front of the notebook widget and of the page alike. Which puzzles there are, how they are drawn and
// how they are solved, it asks of Python, by messages.
import css from './play.css'

const TURN = 240, PAUSE = 380  // milliseconds that a turn takes, and from the start of one turn to the next

const LAYOUT = `
<section class="play" aria-label="Puzzle player">
  <div class="stage">
    <div class="switch" data-part="puzzles" role="group" aria-label="Puzzle"></div>
    <div class="scene" data-part="scene"></div>
    <p class="note" data-part="note" role="status"></p>
    <div class="busy" aria-hidden="true"></div>
  </div>
  <div class="panel"><fieldset>
    <div class="turns" data-part="turns" role="group" aria-label="Moves of the puzzle"></div>
    <form class="row" data-part="start">
      <label class="grow">Scramble <input data-part="word" placeholder="solved: type a word, e.g. R U F'" autocomplete="off" spellcheck="false"></label>
      <button>Set</button>
    </form>
    <form class="row" data-part="scramble">
      <label>Length <input data-part="length" type="number" min="0" max="1000" value="20" required></label>
      <button>Scramble</button>
      <button type="button" data-part="reset">Reset</button>
    </form>
    </fieldset><form class="row" data-part="solve"><fieldset>
      <label class="grow">Solver <select data-part="solver"></select></label>
      <label class="grow">Network <select data-part="model"></select></label>
      <span class="break"></span>
      <label>Seconds <input data-part="seconds" type="number" min="0.1" step="any" required></label>
      </fieldset><button class="main" data-part="main">Solve</button>
    </form>
  </div>
  <div class="line">
    <div class="caption"><span data-part="caption"></span><span class="transport" data-part="transport" role="group" aria-label="Go through the moves">
      <button data-go="start" aria-label="To the start" title="To the start"><svg viewBox="0 0 16 16"><path d="M3 3h2v10H3zM13 3v10L6 8z"/></svg></button>
      <button data-go="back" aria-label="One move back" title="One move back"><svg viewBox="0 0 16 16"><path d="M11 3v10L4 8z"/></svg></button>
      <button data-go="play" aria-label="Play" title="Play"><svg viewBox="0 0 16 16"><path class="if-still" d="M4 2.5v11L14 8z"/><path class="if-playing" d="M4 3h3v10H4zM9 3h3v10H9z"/></svg></button>
      <button data-go="next" aria-label="One move on" title="One move on"><svg viewBox="0 0 16 16"><path d="M5 3v10l7-5z"/></svg></button>
      <button data-go="end" aria-label="To the end" title="To the end"><svg viewBox="0 0 16 16"><path d="M11 3h2v10h-2zM3 3v10l7-5z"/></svg></button>
    </span></div>
    <div class="word" data-part="moves" aria-label="Moves"></div>
  </div>
</section>`

const inverse = move => move.endsWith("'") ? move.slice(0, -1) : move + "'"
const label = drawn => drawn.replace(/(?<=\d)x/g, '×')  // 3x3x3 as people write it
const count = (n, thing) => `${n.toLocaleString('en')} ${thing}${n === 1 ? '' : 's'}`

// A notebook runs this file once for each widget, but an element can be defined only once: the copies share the first one's.
const SHARED = Symbol.for('cube_nb.play')
const player = () => globalThis[SHARED] ??= import('cubing/twisty').then(twisty => twisty.TwistyPlayer)

// Build the player in `host`. `ask(message)` is a promise of Python's answer. Returns a function that takes it down again.
// While it solves, the only thing to press is the button that cancels.
export async function mount(host, ask) {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
  const light = document.body.dataset.jpThemeLight  // JupyterLab's theme, which may differ from the system's
  if (light) host.style.colorScheme = light === 'true' ? 'light' : 'dark'
  root.innerHTML = `<style>${css}</style>${LAYOUT}`
  const part = name => root.querySelector(`[data-part="${name}"]`)
  const card = root.querySelector('.play')

  // The state: `base`, the moves that led from solved to where `line` begins, and how many moves of the line are done.
  let puzzle, twisty, offered, base = [], line = [], at = 0, solution = null, timer = null
  let search = null  // the name of the search that is going on

  const state = () => [...base, ...line.slice(0, at)]
  const pattern = () => twisty.experimentalModel.currentPattern.get()
  const solved = async ignorePuzzleOrientation => (await pattern()).experimentalIsSolved({ ignorePuzzleOrientation, ignoreCenterOrientation: true })

  function note(text = '', kind = '') {
    part('note').textContent = text
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
    const clock = () => { const s = (performance.now() - begin) / 1000; note(s < 1 ? `${what}…` : `${what}… ${s.toFixed(0)} s`) }
    const look = async () => { const { stage } = await ask({ ask: 'progress', search }).catch(() => ({})); what = stage ?? what }
    const ticking = [setInterval(clock, 250), ...(search ? [setInterval(look, 500)] : [])]
    stop(); clock()
    be('busy'); render()
    let answer
    try { answer = await ask(message) } catch (error) { answer = { error: `no answer from Python: ${error.message}` } }
    ticking.forEach(clearInterval); note()
    search = null
    be('ready')
    if (answer.error) note(answer.error, 'error')
    render()
    return answer.error ? null : answer
  }

  // What is shown below the cube follows from the state.
  function render() {
    const busy = card.dataset.state === 'busy'
    part('word').value = base.join(' ')
    part('moves').replaceChildren(...line.map((move, k) => {
      const chip = document.createElement('button')
      chip.textContent = move; chip.disabled = busy
      chip.className = k < at ? 'done' : ''
      if (k === at - 1) chip.setAttribute('aria-current', 'step')
      chip.onclick = () => { stop(); go(k + 1) }
      return chip
    }))
    part('caption').textContent = solution ? caption(solution) : line.length ? `Moves: ${count(line.length, 'move')}` : 'Moves'
    for (const button of part('transport').children)
      button.disabled = busy || (['start', 'back'].includes(button.dataset.go) ? at === 0 : at === line.length && !(button.dataset.go === 'play' && line.length))
    card.dataset.playing = timer !== null
    const play = part('transport').querySelector('[data-go=play]')
    play.title = timer === null ? 'Play' : 'Pause'
    play.setAttribute('aria-label', play.title)
  }

  const caption = ({ moves, solver, model, seconds, generated }) =>
    [`Solution: ${count(moves.length, 'move')}`, model ? `${solver} with ${model}` : solver, `${seconds.toFixed(2)} s`, ...(generated ? [count(generated, 'node')] : [])].join(' · ')

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

  async function arrived() {
    const there = line
    const [done, upright] = [await solved(true), await solved(false)]
    if (!done || line !== there || at !== line.length) return
    solution.upright = upright
    note('Solved', 'good')
  }

  function stop() { clearInterval(timer); timer = null }

  async function cancel() {  // the search's own answer says the rest
    try { if (search) await ask({ ask: 'cancel', search }) } catch { /* nobody is there who searches */ }
  }

  const takeDown = () => { stop(); cancel() }

  function play() {
    if (timer !== null) { stop(); return render() }
    if (at === line.length) { at = 0; jump() }
    timer = setInterval(() => { if (at + 1 >= line.length) stop(); go(at + 1) }, PAUSE)
    render()
  }

  async function turn(move) {  // by hand: the line goes on from where it is
    stop(); note()
    if (solution) { base = solution.upright && at === line.length ? [] : state(); line = []; at = 0; solution = null }
    line = [...line.slice(0, at), move]
    go(at + 1)
  }

  function begin(word) { stop(); base = word; line = []; at = 0; solution = null; jump(); render() }

  async function choose(name, word = []) {
    puzzle = name
    const { drawn, moves, solvers, solver, model } = offered.puzzles[name]
    for (const button of part('puzzles').children) button.setAttribute('aria-pressed', button.value === name)
    part('turns').replaceChildren(...moves.map(move => {
      const button = document.createElement('button')
      button.type = 'button'; button.textContent = move; button.onclick = () => turn(move)
      return button
    }))
    part('solver').replaceChildren(...Object.keys(solvers).map(s => new Option(s, s, s === solver, s === solver)))
    networks(model)
    twisty.puzzle = drawn
    note(); begin(word)
  }

  function networks(chosen) {
    const names = offered.puzzles[puzzle].solvers[part('solver').value]
    part('model').replaceChildren(...(names.length ? names : ['none']).map(n => new Option(n, n, n === chosen, n === chosen)))
    part('model').disabled = !names.length
  }

  const submitted = (name, action) => { part(name).onsubmit = event => { event.preventDefault(); action() } }
  submitted('start', async () => {
    const answer = await working('Reading', { ask: 'read', puzzle, word: part('word').value })
    if (answer) begin(answer.moves)
  })
  submitted('scramble', async () => {
    const answer = await working('Scrambling', { ask: 'scramble', puzzle, length: part('length').valueAsNumber })
    if (answer) begin(answer.moves)
  })
  submitted('solve', async () => {
    if (search) return cancel()
    search = String(Math.random())
    const model = part('model').disabled ? null : part('model').value
    const answer = await working('Solving', { ask: 'solve', puzzle, word: state().join(' '), solver: part('solver').value, model, time_limit: part('seconds').valueAsNumber, search })
    if (!answer) return
    base = await solved(false) ? [] : state()
    line = answer.moves; at = 0; solution = answer
    jump(); render()
    if (line.length) play(); else note('Solved: nothing to do', 'good')
  })
  part('reset').onclick = () => { note(); begin([]) }
  part('solver').onchange = () => networks(offered.puzzles[puzzle].model)
  part('transport').onclick = event => {
    const to = event.target.closest('button')?.dataset.go
    if (to === 'play') return play()
    stop()
    if (to) go({ start: 0, back: at - 1, next: at + 1, end: line.length }[to])
  }

  const TwistyPlayer = await player()
  twisty = new TwistyPlayer({ visualization: 'PG3D', cameraDistance: 5.7, cameraLatitude: 30, background: 'none', controlPanel: 'none', hintFacelets: 'none', viewerLink: 'none', experimentalMovePressInput: 'none', tempoScale: 500 / TURN })
  part('scene').append(twisty)
  offered = await working('Starting', { ask: 'about' })
  if (!offered) return takeDown
  part('seconds').value = offered.seconds
  part('puzzles').append(...Object.entries(offered.puzzles).map(([name, { drawn }]) => {
    const button = document.createElement('button')
    button.value = name; button.textContent = label(drawn)
    button.onclick = () => card.dataset.state === 'ready' && choose(name)
    return button
  }))
  choose(offered.puzzle)
  return takeDown
}

// The widget of a notebook. Messages carry a random number: one widget can be on the screen twice, and each asks for itself.
export default {
  async render({ model, el }) {
    const waiting = new Map()
    const answered = ({ number, answer }) => { waiting.get(number)?.(answer); waiting.delete(number) }
    model.on('msg:custom', answered)
    const ask = message => new Promise(resolve => {
      const number = Math.random()
      waiting.set(number, resolve)
      model.send({ number, message })
    })
    const takeDown = await mount(el, ask)
    return () => { takeDown(); model.off('msg:custom', answered) }
  },
}
