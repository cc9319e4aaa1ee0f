"A headless chromium for tests of pages, driven over its own debugging protocol: no driver to be kept in step with it."

import base64
import json
import os
import shutil
import subprocess
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from time import monotonic, sleep
from urllib.request import urlopen

import pytest
import websocket

SIZES = dict(wide=(1280, 900), tall=(390, 844))
# code of the page: whether all is on the screen, what has no name to be read aloud, what is too small for a finger
INSIDE = 'document.documentElement.scrollHeight <= innerHeight && document.documentElement.scrollWidth <= innerWidth'
UNNAMED = '() => [...root.querySelectorAll("button, input, select")].filter(e => !(e.textContent.trim() || e.getAttribute("aria-label") || e.labels?.length)).map(e => e.outerHTML)'
TOO_SMALL = 'least => [...root.querySelectorAll("button, input, select")].filter(e => e.getClientRects().length).filter(e => { const { width, height } = e.getBoundingClientRect(); return Math.min(width, height) < least }).map(e => [e.outerHTML, e.getBoundingClientRect().width, e.getBoundingClientRect().height])'
NAMES = 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
SOLVED = """pattern => pattern.kpuzzle.definition.experimentalIsPatternSolved
  ? pattern.experimentalIsSolved({ ignorePuzzleOrientation: true, ignoreCenterOrientation: true })
  : pattern.isIdentical(pattern.kpuzzle.defaultPattern())"""
FLAGS = """
--headless=new --remote-debugging-port=0 --no-first-run --disable-dev-shm-usage
--disable-background-networking --disable-component-update --use-angle=swiftshader --enable-unsafe-swiftshader
--hide-scrollbars --force-color-profile=srgb
"""


class Browser:
    "A headless chromium without a network, told what to do over its own debugging protocol."

    def __init__(self, folder):
        offline = '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'
        sandbox = ['--no-sandbox'] if hasattr(os, 'geteuid') and os.geteuid() == 0 else []
        command = [CHROMIUM, *FLAGS.split(), offline, *sandbox, f'--user-data-dir={folder}', 'about:blank']
        nowhere = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.process = subprocess.Popen(command, **nowhere)
        port_file = Path(folder) / 'DevToolsActivePort'
        port = self.wait(lambda: port_file.exists() and port_file.read_text().split('\n')[0])
        tab = next(t for t in json.load(urlopen(f'http://127.0.0.1:{port}/json/list')) if t['type'] == 'page')
        address = tab['webSocketDebuggerUrl']
        self.socket = websocket.create_connection(address, timeout=30, suppress_origin=True)
        self.number, self.complaints, self.requests = 0, [], []
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            self.tell(f'{domain}.enable')

    def tell(self, method, **parameters):
        self.number += 1
        self.socket.send(json.dumps(dict(id=self.number, method=method, params=parameters)))
        while True:
            message = json.loads(self.socket.recv())
            if message.get('id') == self.number:
                break
            self.notice(message['method'], message['params'])
        assert 'error' not in message, message
        return message['result']

    def notice(self, method, event):
        if method == 'Network.requestWillBeSent':
            self.requests.append(event['request']['url'])
        level = event['entry']['level'] if method == 'Log.entryAdded' else None
        kind = event['type'] if method == 'Runtime.consoleAPICalled' else None
        if method == 'Runtime.exceptionThrown' or level == 'error' or kind in ('error', 'assert'):
            self.complaints.append(event)

    def wait(self, condition, seconds=60):
        end = monotonic() + seconds
        while not (met := condition()):
            assert monotonic() < end, 'waited in vain'
            sleep(0.02)
        return met

    def run(self, code):
        "The value of an expression on the page, where `part` finds what is in the player."
        code = f'(async () => {{ const root = document.querySelector("#play").shadowRoot, part = name => root.querySelector(`[data-part="${{name}}"]`); return {code} }})()'
        result = self.tell('Runtime.evaluate', expression=code, awaitPromise=True, returnByValue=True)
        assert 'exceptionDetails' not in result, result
        return result['result'].get('value')

    def evaluate(self, expression):
        "The value of an expression on whatever page there is; None if it has none."
        result = self.tell('Runtime.evaluate', expression=expression, returnByValue=True)
        return result['result'].get('value')

    def show(self, address, width, height, dark=False):
        "Begin to load a page on a screen of some size."
        size = dict(width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.tell('Emulation.setDeviceMetricsOverride', **size)
        scheme = dict(name='prefers-color-scheme', value='dark' if dark else 'light')
        self.tell('Emulation.setEmulatedMedia', features=[scheme])
        self.tell('Page.navigate', url=address)

    def open(self, address, width=1200, height=800, dark=False):
        "Load a page with a player, and wait for its buttons."
        self.show(address, width, height, dark)
        turns = 'document.querySelector("#play")?.shadowRoot?.querySelector("[data-part=turns]")'
        self.wait(lambda: self.evaluate(f'{turns}?.children.length >= 8'))

    def reload(self, width, height):
        "Open the address that is shown now, as a new page."
        self.open(self.evaluate('location.href').replace('#', '?again#'), width, height)

    def ask(self, name, **fields):
        "Fill in the fields of a form, send it, and wait for the answer."
        for field, value in fields.items():
            (self.type if field == 'word' else self.pick)(field, value)
        self.run(f'void part("{name}").requestSubmit()')
        self.wait(lambda: self.run('root.querySelector(".play").dataset.state') == 'ready')

    def solve(self, **fields):
        "Ask for a solution, and wait until it has been played."
        self.ask('solve', **fields)
        self.wait(lambda: self.note() == 'Solved')

    def value(self, field):
        return self.run(f'part("{field}").value')

    def state(self):
        return self.run('root.querySelector(".play").dataset.state')

    def enter(self, field, value, event):
        at = f'part("{field}")'
        self.run(f'void ({at}.value = {json.dumps(value)}, {at}.dispatchEvent(new Event("{event}")))')

    def type(self, field, text):
        self.enter(field, text, 'input')

    def uncover(self, field):
        "Open the options on a small screen if the field is among them, or close them again."
        at = f'part("{field}")'
        is_small = self.run('part("more").getClientRects().length > 0')
        if is_small and self.run(f'!{at}.getClientRects().length && !{at}.closest("[hidden]")'):
            self.click('more')
        assert self.run(f'part("{field}").getClientRects().length > 0'), f'{field} cannot be seen'

    def pick(self, field, value):
        self.uncover(field)
        self.enter(field, value, 'change')

    def click(self, name):
        self.run(f'void part("{name}").click()')

    def choose(self, puzzle):
        self.run(f'void [...part("puzzles").children].find(b => b.value === "{puzzle}").click()')

    def key(self, key, shift=False):
        key = key.upper() if shift else key
        self.tell('Input.dispatchKeyEvent', type='keyDown', key=key, modifiers=8 * shift)
        self.tell('Input.dispatchKeyEvent', type='keyUp', key=key, modifiers=8 * shift)

    def mouse(self, kind, x, y, buttons):
        button = 'left' if kind != 'mouseMoved' else 'none'
        at = dict(x=x, y=y, button=button, buttons=buttons, clickCount=1)
        self.tell('Input.dispatchMouseEvent', type=kind, **at)

    def drag(self, x, y, right, down):
        self.mouse('mousePressed', x, y, 1)
        for k in range(1, 6):
            self.mouse('mouseMoved', x + right * k / 5, y + down * k / 5, 1)
        self.mouse('mouseReleased', x + right, y + down, 0)

    def middle(self, element):
        "Where the middle of an element is on the screen."
        return self.run(f'(r => [r.x + r.width / 2, r.y + r.height / 2])({element}.getBoundingClientRect())')

    def paint(self, facelet, letter):
        "Take a colour, and press on a sticker as a finger does."
        self.run(f'void part("palette").querySelector("[value={letter}]").click()')
        x, y = self.middle(f'part("net").querySelector(".cell[value=\\"{facelet}\\"]")')
        self.mouse('mousePressed', x, y, 1)
        self.mouse('mouseReleased', x, y, 0)

    def paint_whole(self, stickers):
        "Paint every sticker that is not fixed, and use what was painted."
        if self.run('root.querySelector(".play").dataset.painting') != 'true':
            self.click('paint')
        for f in self.run('[...part("net").querySelectorAll(".cell:enabled")].map(cell => +cell.value)'):
            self.paint(f, stickers[f])
        self.wait(lambda: not self.run('part("use").disabled'))
        self.click('use')
        self.wait(lambda: self.state() == 'ready' and self.net() == stickers and not self.solved(), 90)

    def net(self):
        "The letters of the stickers in the flat net."
        cells = '[...part("net").querySelectorAll(".cell")].sort((a, b) => a.value - b.value)'
        return self.run(f'{cells}.map(c => c.dataset.letter).join("")')

    def press(self, *texts):
        self.uncover('turns')
        for text in map(json.dumps, texts):
            self.run(f'void [...part("turns").children].find(b => b.textContent === {text}).click()')

    def solved(self):
        "Whether the drawn puzzle is solved; the library that draws it tells of cubes only how they are held."
        pattern = 'root.querySelector("twisty-player").experimentalModel.currentPattern'
        return self.run(f'({SOLVED})(await {pattern}.get())')

    def note(self):
        return self.run('part("note").textContent')

    def moves(self):
        return self.run('part("moves").textContent')

    def picture(self):
        "A PNG of the player, once the last turn has been drawn."
        sleep(0.3)
        box = self.run('root.querySelector(".play").getBoundingClientRect().toJSON()')
        clip = {key: box[key] for key in ('x', 'y', 'width', 'height')} | dict(scale=1)
        shot = self.tell('Page.captureScreenshot', captureBeyondViewport=True, clip=clip)
        return base64.b64decode(shot['data'])

    def close(self):
        self.socket.close()
        self.process.terminate()
        self.process.wait(10)


@contextmanager
def browsing(address):
    "A browser. What it showed must be without an error, and nothing of it from elsewhere than the address."
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder)
        browser.address = address
        try:
            yield browser
        finally:
            browser.close()
    foreign = [url for url in browser.requests if not url.startswith((address, 'data:', 'blob:'))]
    assert browser.complaints == foreign == [], (browser.complaints, foreign)


@contextmanager
def serving(server):
    "A server at work in a thread."
    with server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


class Files(SimpleHTTPRequestHandler):
    "A static host: files, and no headers that isolate a page."

    kinds = {'.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm'}
    extensions_map = SimpleHTTPRequestHandler.extensions_map | kinds

    def log_message(self, *args):
        "Say nothing."


@contextmanager
def hosted(pages, place):
    "The address of a folder of pages on a host that has it in a folder of its own, and the server."
    with TemporaryDirectory() as top:
        there = Path(top) / place
        there.parent.mkdir(exist_ok=True)
        there.symlink_to(pages)
        with serving(ThreadingHTTPServer(('127.0.0.1', 0), partial(Files, directory=top))) as server:
            yield f'http://127.0.0.1:{server.server_port}/{place}/', server


def with_browser(test):
    "A test that needs a browser."
    unseen = pytest.mark.skipif(CHROMIUM is None, reason='no chromium or chrome on this machine')
    return pytest.mark.slow(unseen(test))


def at_both_sizes(test):
    "The same on a desk and on a telephone."
    return with_browser(pytest.mark.parametrize('size', SIZES)(test))
