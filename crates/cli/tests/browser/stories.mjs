// What people do on the page, in a real browser. `node stories.mjs STORY`; what it needs is in the environment.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Browser } from './browser.mjs';

const { HEIRLOOM_BROWSER, HEIRLOOM_AXE, HEIRLOOM_LINK, HEIRLOOM_PICTURES, HEIRLOOM_ADDRESSES } = process.env;
const home = new URL('/', HEIRLOOM_LINK).origin;
const heading = 'document.querySelector("h1")?.innerText';
const focused = 'document.activeElement?.innerText || document.activeElement?.id';

async function signIn(tab) {
  await tab.open(HEIRLOOM_LINK);
  assert.equal(await tab.run('location.pathname + location.search'), '/', 'the code is gone from the address');
  assert.equal(await tab.run('document.cookie'), '', 'no script can read the cookie');
}

async function picture(tab, name) {
  if (HEIRLOOM_PICTURES) writeFileSync(join(HEIRLOOM_PICTURES, `${name}.png`), await tab.picture());
}

/** What axe finds against WCAG 2.2 AA, in words. */
async function faults(tab) {
  await tab.run(readFileSync(HEIRLOOM_AXE, 'utf8') + ';0');
  const found = await tab.run(`axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
    .then(r => r.passes.length < 5 ? ['axe: hardly anything was looked at'] : r.violations.map(v => v.id + ': ' + v.help + '\\n    ' + v.nodes.map(n => n.html.slice(0, 160) + ' ' + (n.any[0]?.message ?? '')).join('\\n    ')))`);
  const wide = await tab.run('document.documentElement.scrollWidth > innerWidth && `${document.documentElement.scrollWidth} px wide`');
  return wide ? [...found, `reflow: the page is ${wide}`] : found;
}

const stories = {
  /** Every page, light and dark, on a desk and on a phone. */
  async accessible(tab) {
    await signIn(tab);
    const wrong = [];
    for (const path of JSON.parse(HEIRLOOM_ADDRESSES)) {
      await tab.desk();
      await tab.open(home + path);
      for (const [size, theme] of [['desk', 'light'], ['desk', 'dark'], ['phone', 'light'], ['phone', 'dark']]) {
        await tab[size]();
        await tab.theme(theme);
        for (const fault of await faults(tab)) wrong.push(`${path} (${size}, ${theme}) ${fault}`);
      }
    }
    assert.equal(wrong.join('\n'), '');
  },

  /** Somebody who never saw it decides and continues, without a mouse. */
  async keyboard(tab) {
    await signIn(tab);
    assert.equal(await tab.run(heading), '1 thing needs you');
    await picture(tab, 'page-home');
    await tab.going(() => tab.key('a'));
    assert.match(await tab.run(heading), /^auth-v1 asks to run a command$/);
    // A key that was still held decides nothing, nor does one that only leads to the button.
    await tab.key('a');
    await tab.until('!document.querySelector("[data-go=approve]").disabled');
    await picture(tab, 'page-approval');
    await tab.key('a');
    assert.match(await tab.run(focused), /^Approve as asked/);
    assert.equal(await tab.run('location.pathname.startsWith("/approvals/")'), true);
    await tab.going(() => tab.key('Enter'));
    assert.match(await tab.run('document.querySelector("#outcome").innerText'), /^approved/);
    // The session goes on, and the page says so by itself.
    await tab.going(() => tab.key('v'));
    await tab.until('document.querySelector("#state").innerText.includes("completed")');
    assert.match(await tab.run('document.querySelector("#said").innerText'), /Bash[^]*done/);
    // Reading is folded, a key unfolds it, and it stays so.
    assert.equal(await tab.run('document.querySelector("#said details").open'), false);
    await tab.key('O');
    assert.equal(await tab.run('document.querySelector("#said details").open'), true);
    await tab.key('O');
    await picture(tab, 'page-session');
    await tab.going(() => tab.key('c'));
    assert.match(await tab.run(heading), /auth-v1/);
    const title = 'fieldset[data-field=title]';
    assert.match(await tab.run(`document.querySelector("${title}").closest("tr").innerText`), /Push it[^]*auth-v1/, 'what is inherited, and from where');
    await picture(tab, 'page-continue');
    await tab.run(`document.querySelector("${title} input:checked").focus()`);
    await tab.key('o');
    assert.equal(await tab.run('document.activeElement.value'), 'Push it', 'overriding begins with what is inherited');
    await tab.run('document.activeElement.select()');
    await tab.type('Push again');
    await tab.until('/title[^]*Push again[^]*set here/.test(document.querySelector("#difference").innerText)');
    await tab.run('document.querySelector("fieldset[data-field=allowed_tools] input:checked").focus()');
    await tab.key('o');
    await tab.type('Bash');
    await tab.until('/allowed tools[^]*Bash[^]*wider/.test(document.querySelector("#difference").innerText)');
    await tab.key('Escape');
    await tab.run('document.querySelector("fieldset[data-field=allowed_tools] input:checked").focus()');
    await tab.key('i');
    await tab.until('!document.querySelector("#difference").innerText.includes("wider")');
    await tab.key('p');
    assert.equal(await tab.run('document.activeElement.id'), 'prompt');
    await tab.type('and once more');
    await tab.going(() => tab.run('document.activeElement.form.requestSubmit()'));
    await tab.until('document.querySelector("h1")?.innerText === "Push again"');
    await tab.until('document.querySelector("#asks").innerText.includes("Bash")');
    // Search, from anywhere.
    await tab.run('document.activeElement.blur()');
    await tab.key('/');
    assert.equal(await tab.run('document.activeElement.id'), 'q');
    await tab.type('rotate tokens');
    await tab.going(() => tab.key('Enter'));
    assert.match(await tab.run('document.querySelector("main").innerText'), /rotate tokens[^]*holds/);
    await picture(tab, 'page-recall');
    await tab.run('document.activeElement.blur()');
    await tab.key('?');
    await tab.until('document.querySelector("#keys").open');
    await tab.key('Escape');
    await tab.until('!document.querySelector("#keys").open');
    await tab.going(async () => { await tab.key('g'); await tab.key('h') });
    await tab.theme('dark');
    await picture(tab, 'page-home-dark');
  },

  /** The same decision on a phone, by touch: this time it is no. */
  async phone(tab) {
    await tab.phone();
    await signIn(tab);
    await picture(tab, 'page-phone-home');
    await tab.going(() => tab.tap('.item .act a'));
    assert.match(await tab.run(heading), /asks to run a command$/);
    const small = await tab.run(`[...document.querySelectorAll('main a.btn, main button, .tabs a')].filter(e => e.offsetHeight && e.offsetHeight < 44).map(e => e.innerText)`);
    assert.deepEqual(small, [], 'everything to tap is large enough');
    await tab.until('!document.querySelector("[data-go=deny]").disabled');
    await picture(tab, 'page-phone-approval');
    // Without a reason it is said what is missing, and nothing is decided.
    await tab.going(() => tab.tap('[data-go=deny]'));
    assert.match(await tab.run('document.querySelector("[role=alert]").innerText'), /reason/);
    await tab.until('!document.querySelector("[data-go=deny]").disabled');
    await tab.run('document.querySelector("#reason").focus()');
    await tab.type('not on a Friday');
    await tab.going(() => tab.tap('[data-go=deny]'));
    assert.match(await tab.run('document.querySelector("#outcome").innerText'), /^denied/);
    assert.match(await tab.run('document.querySelector("main").innerText'), /not on a Friday/);
  },

  /** Somebody looks at another tab: only who asked for it is told on the desktop, and nothing of what is asked. */
  async notified(tab) {
    // What is told is written down on its way to the desktop.
    await tab.ask('Page.addScriptToEvaluateOnNewDocument', { source: `{
      const real = Notification; window.told = [];
      window.Notification = new Proxy(real, { construct(of, given) { const one = new real(...given); told.push({ title: given[0], ...given[1] }); return one } });
    }` });
    await signIn(tab);
    await tab.until('document.querySelector(".live").innerText.includes("live")');
    const other = await tab.browser.tab();
    await other.ask('Page.bringToFront');
    await tab.until('document.hidden');
    console.log('ready');
    await tab.until('document.title.startsWith("(1) ")');
    assert.deepEqual(await tab.run('told'), [], 'nobody asked for it');
    console.log('quiet');
    await tab.until('document.querySelector("h1").innerText === "Nothing needs you"');
    await tab.ask('Page.bringToFront');
    await tab.browser.ask('Browser.grantPermissions', { origin: home, permissions: ['notifications'] });
    await tab.open(home + '/settings');
    // Each kind by itself: who asks for failures is not told of approvals.
    await tab.tap('[data-setting=notify-failed]');
    await tab.until('localStorage.getItem("notify-failed") === "on"');
    assert.equal(await tab.run('localStorage.getItem("notify-approvals")'), null);
    await tab.tap('[data-setting=notify-approvals]');
    await tab.until('localStorage.getItem("notify-approvals") === "on"');
    await tab.open(home + '/');
    await tab.until('document.querySelector(".live").innerText.includes("live")');
    await other.ask('Page.bringToFront');
    await tab.until('document.hidden');
    console.log('allowed');
    await tab.until('told.length === 1');
    assert.deepEqual(await tab.run('told'), [{ title: 'heirloom', body: '1 approval is waiting', tag: 'heirloom-approvals' }]);
  },

  /** The page of a session is told what becomes of it, and of those that continue it. */
  async relatives(tab) {
    await signIn(tab);
    await tab.open(home + '/sessions/auth-v1');
    await tab.until('document.querySelector(".live").innerText.includes("live")');
    await tab.run('document.querySelector("#prompt").focus()');
    await tab.type('half a sentence');
    await tab.run('document.activeElement.blur()');
    console.log('ready');
    await tab.until('document.querySelector("#lineage").innerText.includes("auth-v2")');
    await tab.until('document.querySelector("#config").innerText.includes("auto accept edits")');
    await tab.until('document.querySelector("h1").innerText === "Greet"');
    assert.equal(await tab.run('document.querySelector("#prompt").value'), 'half a sentence');
    // It is made anew, and still says what was typed.
    await tab.run(`{ const old = document.querySelector('#prompted'), fresh = old.cloneNode(true); fresh.dataset.version = 'other'; put(old, fresh) }`);
    assert.equal(await tab.run('document.querySelector("#prompt").value'), 'half a sentence');
  },

  /** A page that lies open hears what others do, and says so once. */
  async live(tab) {
    await signIn(tab);
    await tab.until('document.querySelector(".live").innerText.includes("live")');
    assert.equal(await tab.run(heading), 'Nothing needs you');
    console.log('ready');
    await tab.until('document.title.startsWith("(1) ")');
    assert.equal(await tab.run(heading), '1 thing needs you');
    await tab.until('document.querySelector("#voice").innerText === "1 needs you"');
    console.log('seen');
    await tab.until('document.querySelector("h1").innerText === "Nothing needs you"');
    // A server that does not answer is asked less and less often, and one that does as often as before.
    await tab.run(`{
      window.reached = fetch; window.waits = []; const later = setTimeout;
      window.fetch = () => Promise.reject(0);
      window.setTimeout = (what, ms) => { if (what === rested) waits.push(ms); return later(what, what === rested ? 1 : ms) };
      want({ type: 'note' });
    }`);
    await tab.until('waits.filter(ms => ms > 250).length > 8');
    const waits = await tab.run('waits.filter(ms => ms > 250).slice(0, 8)');
    assert.deepEqual(waits, [500, 1000, 2000, 4000, 8000, 16000, 30000, 30000]);
    await tab.run('window.fetch = reached, null');
    await tab.until('again === 250');
  },
};

const browser = await Browser.start(HEIRLOOM_BROWSER);
try {
  const tab = await browser.tab();
  await stories[process.argv[2]](tab);
  assert.deepEqual(tab.complaints, [], 'the page did something that was not allowed');
} finally {
  await browser.stop();
}
