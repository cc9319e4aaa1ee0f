// The page of `cube_nb play`: the player, its messages carried by HTTP to the Python process that serves it.
import { mount } from './play.js'

const ask = async message => (await fetch('ask', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(message) })).json()
mount(document.getElementById('play'), ask)
