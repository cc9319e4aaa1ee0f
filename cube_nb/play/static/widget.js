// The widget of a notebook. This file is saved in the notebook, so it is small: the script that draws comes by a message.
// Messages carry a random number: one widget can be on the screen twice, and each view asks for itself.
const PATIENCE = 15_000 // milliseconds; a kernel that runs a cell answers nobody

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
    const late = setTimeout(() => { el.textContent = 'No answer from the kernel yet: run the cell again.' }, PATIENCE)
    const { script } = await ask({ ask: 'script' })
    clearTimeout(late)
    el.textContent = ''
    const address = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }))
    const { mount } = await import(/* webpackIgnore: true */ address)
    URL.revokeObjectURL(address)
    const takeDown = await mount(el, ask)
    return () => { takeDown(); model.off('msg:custom', answered) }
  },
}
