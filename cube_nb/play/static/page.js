// The page of `cube_nb play`: the player, its messages carried by HTTP to the Python process that serves it.
import { mount } from './play.js'

// A page that is left closes its connections, even if the browser keeps it for a way back; so Python stops what it does for it.
let here = new AbortController()
addEventListener('pagehide', () => { here.abort(); here = new AbortController() })

const ask = async message => (await fetch('ask', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(message), signal: here.signal })).json()
mount(document.getElementById('play'), ask, { address: true })
