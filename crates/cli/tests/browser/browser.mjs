// Just enough of the DevTools protocol to use a page as a person does: over a pipe, with no library.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';

const PHONE = { width: 390, height: 844, deviceScaleFactor: 1, mobile: true };
const DESK = { width: 1280, height: 900, deviceScaleFactor: 1, mobile: false };
const KEYS = { Enter: ['Enter', 13, '\r'], Escape: ['Escape', 27], Tab: ['Tab', 9], ' ': ['Space', 32, ' '], ArrowRight: ['ArrowRight', 39] };

export class Browser {
  static async start(program) {
    const profile = mkdtempSync(join(tmpdir(), 'heirloom-browser-'));
    const child = spawn(program, [
      '--headless=new', '--remote-debugging-pipe', '--no-sandbox', '--disable-gpu', '--no-first-run',
      '--disable-dev-shm-usage', '--disable-background-networking', '--disable-component-update',
      '--disable-sync', '--hide-scrollbars', '--force-color-profile=srgb',
      // The daemon is on loopback; nothing else is to be reached.
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
      `--user-data-dir=${profile}`, 'about:blank',
    ], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    return new Browser(child, profile);
  }

  constructor(child, profile) {
    Object.assign(this, { child, profile, next: 1, waiting: new Map(), tabs: new Map() });
    let text = '';
    child.stdio[4].setEncoding('utf8').on('data', part => {
      const all = (text + part).split('\0');
      text = all.pop();
      for (const one of all) this.hear(JSON.parse(one));
    });
    child.on('exit', code => { for (const { no } of this.waiting.values()) no(new Error(`the browser ended (${code})`)) });
  }

  hear(message) {
    const waits = this.waiting.get(message.id);
    if (waits) {
      this.waiting.delete(message.id);
      if (message.error) waits.no(new Error(`${waits.method}: ${message.error.message}`));
      else waits.yes(message.result);
    } else if (message.sessionId) this.tabs.get(message.sessionId)?.hear(message);
  }

  ask(method, params = {}, sessionId) {
    const id = this.next++;
    this.child.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + '\0');
    return new Promise((yes, no) => this.waiting.set(id, { yes, no, method }));
  }

  async tab() {
    const { targetId } = await this.ask('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.ask('Target.attachToTarget', { targetId, flatten: true });
    const tab = new Tab(this, sessionId);
    this.tabs.set(sessionId, tab);
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await tab.ask(`${domain}.enable`);
    await tab.desk();
    return tab;
  }

  async stop() {
    const gone = new Promise(done => this.child.once('exit', done));
    this.ask('Browser.close').catch(() => {});
    await gone;
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

class Tab {
  constructor(browser, id) { Object.assign(this, { browser, id, complaints: [], loads: [] }) }
  ask(method, params) { return this.browser.ask(method, params, this.id) }

  hear({ method, params }) {
    if (method === 'Page.loadEventFired') for (const done of this.loads.splice(0)) done();
    // What the page did wrong: an exception, something the policy forbade.
    if (method === 'Runtime.exceptionThrown') this.complaints.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === 'Log.entryAdded' && params.entry.level === 'error' && params.entry.source !== 'network') this.complaints.push(params.entry.text);
    if (method === 'Page.javascriptDialogOpening') this.ask('Page.handleJavaScriptDialog', { accept: true });
  }

  view(size) { return this.ask('Emulation.setDeviceMetricsOverride', size) }
  async desk() { await this.view(DESK); await this.ask('Emulation.setTouchEmulationEnabled', { enabled: false }); this.size = DESK }
  async phone() { await this.view(PHONE); await this.ask('Emulation.setTouchEmulationEnabled', { enabled: true }); this.size = PHONE }
  theme(value) { return this.ask('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value }] }) }

  /** Does something that leads to another page, and waits until that is there. */
  async going(act) {
    const loaded = new Promise(done => this.loads.push(done));
    await act();
    await loaded;
  }

  async open(url) {
    await this.going(async () => {
      const { errorText } = await this.ask('Page.navigate', { url });
      if (errorText) throw new Error(`${url}: ${errorText}`);
    });
  }

  async run(expression) {
    const { result, exceptionDetails } = await this.ask('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Waits until `expression` is true; the test that started this ends what never is. */
  async until(expression) {
    for (let tries = 0; ; tries++) {
      // In between the page may be another one.
      const value = await this.run(expression).catch(() => false);
      if (value) return value;
      if (tries === 1200) throw new Error(`never came true: ${expression}\n${await this.run('location.href + "\\n" + document.body.innerText')}`);
      await new Promise(done => setTimeout(done, 50));
    }
  }

  async key(key) {
    const [code, number, text] = KEYS[key] ?? [`Key${key.toUpperCase()}`, key.toUpperCase().charCodeAt(0), key];
    const one = { key, code, windowsVirtualKeyCode: number };
    await this.ask('Input.dispatchKeyEvent', { type: text ? 'keyDown' : 'rawKeyDown', text, ...one });
    await this.ask('Input.dispatchKeyEvent', { type: 'keyUp', ...one });
  }

  type(text) { return this.ask('Input.insertText', { text }) }

  /** Taps what a person sees at the middle of an element, whatever that is. */
  async tap(selector) {
    const at = await this.run(`(() => { const e = document.querySelector(${JSON.stringify(selector)}); if (!e) return null;
      e.scrollIntoView({ block: 'center' }); const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] })()`);
    if (!at) throw new Error(`there is no ${selector} to tap`);
    const [x, y] = at;
    if (this.size.mobile) {
      await this.ask('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x, y }] });
      await this.ask('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    } else {
      for (const type of ['mousePressed', 'mouseReleased']) await this.ask('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount: 1 });
    }
  }

  async picture() {
    const { data } = await this.ask('Page.captureScreenshot', { format: 'png' });
    return Buffer.from(data, 'base64');
  }
}
