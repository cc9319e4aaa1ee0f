// The page of the solver: the player of `cube_nb play`, which is answered here and not by Python.
import { Answers } from './answers.js'
import { mount } from './play.js'

const isFramed = window.top !== window  // in a page about more: nothing large is loaded before it is wanted
if (isFramed) document.body.className = 'framed'

const answers = new Answers(await (await fetch('puzzle.json')).json())
const load = () => {
  answers.prepare()
  navigator.serviceWorker?.register('offline.js').catch(() => { /* then it needs a connection */ })
}

await mount(document.getElementById('play'), message => answers.answer(message), { address: !isFramed })
if (!isFramed) load()
else for (const kind of ['pointerdown', 'keydown']) addEventListener(kind, load, { once: true })
