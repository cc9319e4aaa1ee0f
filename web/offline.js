// The files of the page, kept by the browser, so that it opens without a connection. build.mjs says which they are.
const VERSION = ''
const FILES = []

const newest = () => FILES.map(file => new Request(file, { cache: 'no-cache' }))
const isOld = name => name.startsWith('cube_nb ') && name !== VERSION

async function fetchAll() {
  await (await caches.open(VERSION)).addAll(newest())
  await skipWaiting()
}

async function removeOld() {
  const names = await caches.keys()
  await Promise.all(names.filter(isOld).map(name => caches.delete(name)))
  await clients.claim()
}

async function answer(request) {
  const cache = await caches.open(VERSION)
  return await cache.match(request, { ignoreSearch: true }) ?? fetch(request)
}

addEventListener('install', event => event.waitUntil(fetchAll()))
addEventListener('activate', event => event.waitUntil(removeOld()))
addEventListener('fetch', event => event.respondWith(answer(event.request)))
